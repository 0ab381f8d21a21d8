"""What the page shows of a report: its parts by the names that the templates know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.numbers import number
from softirr.plural import plural
from softirr.report.headline import headline_facts
from softirr.report.next_step import advice
from softirr.report.page.formats import count
from softirr.report.page.sentences import coefficient_rows, headline_sentence, tendency_words
from softirr.report.terminal_report import rater_pair_sentences, what_if_sentences
from softirr.report.triage import in_triage_order
from softirr.statistics.coefficients.registry import coefficient_title
from softirr.text import printable

__all__ = ["histogram_bins", "how_computed", "page_view"]

MOST_ITEMS = 2000
"""Items that the page lists, those to look at first."""
MOST_EXCLUDED = 200
_METHODS = {
    "exact": "exactly, from every pair of answers",
    "permutation": "by permutation",
    "stratified": "from a stratified sample of pairs",
    "audit": "corrected by judgments",
}


def page_view(report: Mapping[str, Any], *, source: str | None = None) -> dict[str, Any]:
    """The variables of ``file.html``.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the heading.

    Returns
    -------
    dict
    """
    compared = in_triage_order(report["items"])
    return {
        "title": "" if source is None else printable(source),
        "measure": report["measure"],
        "n_items": report["n_items"],
        "n_compared": len(compared),
        "n_raters": report["n_raters"],
        "headline": _headline(report, len(compared)),
        "warnings": report["warnings"],
        "coefficients": coefficient_rows(report),
        "raters": _raters(report),
        "rater_pairs": [
            {**pair, "ci95": pair["observed_agreement_ci95"], "link": None} for pair in report["rater_pairs"]
        ],
        "histogram": histogram_bins(item["agreement"] for item in compared),
        "distributions": report.get("distributions"),
        "reasons": _reasons(report, len(compared)),
        "items": [_item(item) for item in compared[:MOST_ITEMS]],
        "first_tasks": [_first(item) for item in compared[:3]],
        "excluded": _excluded(report["excluded"]),
        "facts": [*how_computed(report["provenance"], report["expected_agreement"]), *_facts_of_file(report)],
        "provenance": report["provenance"],
    }


def histogram_bins(values: Any) -> list[dict[str, Any]]:
    """Number of values in each of ten equal ranges of [0, 1].

    Parameters
    ----------
    values : iterable of float

    Returns
    -------
    list of dict
        ``low``, ``high`` and ``n``.

    Examples
    --------
    >>> [one["n"] for one in histogram_bins([0.0, 0.05, 0.7999999999999999, 1.0])]
    [2, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    bins = [0] * 10
    for value in values:
        bins[min(9, max(0, int(round(value * 10, 9))))] += 1  # 0.8 is often 0.7999999999999999
    return [{"low": i / 10, "high": (i + 1) / 10, "n": n} for i, n in enumerate(bins)]


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


def _facts_of_file(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Seed, hash of the input, and how many texts the terminologies know."""
    provenance, coverage = report["provenance"], report.get("terminology")
    facts = [
        ("Seed", provenance.get("seed")),
        ("SHA-256 of the input", provenance.get("input_sha256")),
        ("Texts that the terminologies know", coverage and f"{coverage['known_texts']:,} of {coverage['texts']:,}"),
        ("softirr", provenance.get("softirr")),
    ]
    return [(term, str(value)) for term, value in facts if value is not None]


def _headline(report: Mapping[str, Any], n: int) -> dict[str, Any]:
    fits = not report.get("misfits")
    facts = headline_facts(report, name_of=printable, fits=fits)
    if facts is None:
        alpha = report["coefficients"].get("krippendorff_alpha") or {}
        reason = alpha.get("undefined") or "there is nothing to compare"
        return {"name": None, "value": None, "sentence": f"There is no agreement to report yet: {reason}."}
    key = facts["name"]
    return {
        **facts,
        "key": key,
        "name": coefficient_title(key),
        "n_tasks": n,
        "sentence": headline_sentence(key, facts, report, n, fits=fits),
        "next": advice(report),
    }


def _raters(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each rater, lowest agreement first."""
    left_out = Counter(one["rater"] for one in report["excluded"])
    tendency = (report.get("reasons") or {}).get("tendency", {})
    rows = []
    for one in report["raters"]:
        leaning = tendency.get(one["id"], {"more_general": 0, "more_specific": 0})
        general, specific = leaning["more_general"], leaning["more_specific"]
        rows.append(
            {
                "id": one["id"],
                "name": printable(one["id"]),
                "n_items": one["n_items"],
                "agreement": one["agreement"],
                "ci95": one["agreement_ci95"],
                "cohen_kappa": one["cohen_kappa"]["value"],
                "left_out": left_out[one["id"]],
                "general": general,
                "specific": specific,
                "tendency": tendency_words(general, specific) if tendency else None,
            }
        )
    return sorted(rows, key=lambda one: (one["agreement"] is None, one["agreement"] or 0.0, one["name"]))


def _reasons(report: Mapping[str, Any], n: int) -> dict[str, Any] | None:
    reasons = report.get("reasons")
    if not reasons:
        return None
    kinds = [{**one, "tasks": one["items"], "share": one["items"] / n if n else 0.0} for one in reasons["kinds"]]
    sentences = [*rater_pair_sentences(reasons["rater_pairs"]), *what_if_sentences(reasons["what_if"])]
    return {"kinds": sorted(kinds, key=lambda one: -one["tasks"]), "sentences": sentences}


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item with its groups of texts: those that match first, then what one rater alone has."""
    groups = [
        {
            "texts": [(printable(rater), text) for rater, text in match["texts"].items()],
            "equivalence": match["equivalence"],
            "said": match["relation"],
        }
        for match in item["matches"]
    ]
    groups += [
        {"texts": [(printable(rater), text)], "equivalence": None, "said": "no match"}
        for rater, texts in item["unmatched"].items()
        for text in texts
    ]
    kinds = dict.fromkeys(one["kind"] for one in item["reasons"])
    return {
        "id": printable(item["id"]),
        "agreement": item["agreement"],
        "groups": groups,
        "reasons": [REASON_NAMES.get(kind, kind) for kind in kinds],
        "words": next((one["words"] for one in item["reasons"]), ""),
    }


def _first(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as the card of those to look at shows it."""
    texts = [text for match in item["matches"] for text in match["texts"].values()]
    texts += [text for own in item["unmatched"].values() for text in own]
    return {
        "name": printable(item["id"]),
        "agreement": item["agreement"],
        "text": printable(next(iter(texts), "")),
        "link": None,
    }


def _excluded(excluded: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "n": len(excluded),
        "reasons": [
            {"reason": reason, "n": n} for reason, n in Counter(one["reason"] for one in excluded).most_common()
        ],
        "answers": [
            {"task": printable(one["item"]), "name": printable(one["rater"]), "reason": one["reason"]}
            for one in excluded[:MOST_EXCLUDED]
        ],
    }
