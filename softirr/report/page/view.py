"""How a report was computed, as terms and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.meaning.policy.rules import Policy
from softirr.numbers import number
from softirr.plural import plural
from softirr.report.page.formats import count

__all__ = ["how_computed"]

_METHODS = {
    "exact": "exactly, from every pair of answers",
    "permutation": "by permutation",
    "stratified": "from a sample of pairs",
    "audit": "corrected by judgments",
}


def how_computed(provenance: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Measure, policy, model and chance of a report as terms and values; what is not known is left out.

    Parameters
    ----------
    provenance, expected : mapping
        ``provenance`` and ``expected_agreement`` of a report.

    Returns
    -------
    list of (str, str)
    """
    chance = _METHODS.get(expected["method"], expected["method"])
    if expected["method"] != "exact":
        chance += f", standard error {number(expected['standard_error'], 4)}"
    policy = provenance.get("policy")
    used = provenance.get("terminologies") or ()
    facts: list[tuple[str, Any]] = [
        ("Measure", provenance.get("measure")),
        ("What counts as the same", Policy.from_dict(policy).describe() if policy else None),
        ("Terminologies", ", ".join(f"{one['name']} (SHA-256 {one['sha256'][:12]})" for one in used)),
        ("Model", provenance.get("model")),
        ("SHA-256 of the model", provenance.get("model_sha256")),
        ("Label order of the model", provenance.get("label_order")),
        ("Device", " ".join(filter(None, (provenance.get("device"), provenance.get("precision"))))),
        (
            "Texts cut to fit the model",
            count(provenance["truncated_texts"]) if provenance.get("truncated_texts") else None,
        ),
        ("Expected agreement", f"{chance}; {plural(expected['pairs_scored'], 'pair')} compared"),
    ]
    return [(term, str(value)) for term, value in facts if value]
