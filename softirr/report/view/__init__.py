"""One view of a report: every sentence, number, order and link that a surface shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from softirr.defaults import THRESHOLD
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.numbers import number, plural
from softirr.report.fields import field_row, left_out_lines
from softirr.report.key_figures import is_exact
from softirr.report.view import rows
from softirr.report.view.advice import cause_of, next_step_of
from softirr.report.view.names import Links, Names, adapted
from softirr.report.view.parts import View
from softirr.report.view.verdict import verdict_of
from softirr.statistics.coefficients.registry import coefficient_title
from softirr.text import printable

__all__ = ["Links", "Names", "View", "adapted", "verdict_of", "view"]

_CHANCE = {
    "exact": "exactly, from every pair of answers",
    "permutation": "by permutation",
    "sample": "from a sample of pairs",
    "audit": "corrected by judgments",
}
_LEAST_CHANGE = 0.005
"""Minimum gain of a coefficient without an attribute that is worth a sentence."""


def view(report: Mapping[str, Any], names: Names | None = None, links: Links | None = None) -> View:
    """Build the view of a report; surfaces render it and compute nothing.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``. It may also have ``target`` (``value`` and ``source``), ``fields``
        (entries of :func:`softirr.report.fields.field_row`), ``meanings``, ``models`` (a comparison of models with
        people) and ``median_seconds`` by rater. Its items may have ``sentence``, ``note``, ``turn``
        and ``is_done``.
    names : Names, optional
        Shown names of raters and items, and the words for both.
    links : Links, optional
        Addresses of items, raters and pages.

    Examples
    --------
    >>> import softirr
    >>> texts = {"ann": ["fever", "cough", "rash"], "bob": ["fever", "cough", "rash"], "cem": ["pain", "itch", "rash"]}
    >>> rows = [softirr.Answer(str(i), who, text) for who, answers in texts.items() for i, text in enumerate(answers)]
    >>> report = softirr.agreement(softirr.AnnotationTable.from_answers(rows), "exact")
    >>> shown = view(report.to_dict())
    >>> shown.verdict.state, [(row.name, row.agreement) for row in shown.items]
    ('undecided', [('0', 0.3333333333333333), ('1', 0.3333333333333333), ('2', 1.0)])
    >>> shown.items[0].sentence
    'cem has “pain” instead of “fever”.'
    """
    names, links = names or Names(), links or Links()
    verdict = verdict_of(report, names)
    cause = cause_of(report, names, links)
    items, reason_counts = rows.in_triage_order(report["items"]), report.get("reasons") or {}
    reasons = [(kind.get("name", kind["kind"]), kind["items"]) for kind in reason_counts.get("kinds") or ()]
    fields = report.get("fields") or ([field_row("answers", report)] if is_exact(report) else ())
    item_row = partial(rows.item_row, names=names, links=links, threshold=1.0 if is_exact(report) else THRESHOLD)
    return View.of(
        report,
        verdict=verdict,
        cause=cause,
        next_step=next_step_of(report, verdict, cause, names, links),
        fields=tuple(rows.field_row(field, names) for field in fields),
        people=rows.person_rows(report, names, links),
        pairs=rows.pair_rows(report, names),
        items=tuple(map(item_row, items)),
        uncompared=tuple(item_row(item) for item in report["items"] if item["agreement"] is None),
        order=_order(items, names),
        meanings=tuple(rows.meaning_row(cluster, names, links) for cluster in report.get("meanings") or ()),
        coefficients=tuple(rows.coefficient_rows(report, names)),
        audit=tuple(_audit(report.get("audit"))),
        what_if=tuple(_what_if(reason_counts.get("what_if") or ())),
        reasons=tuple(sorted(reasons, key=lambda row: -row[1])),
        excluded=tuple(Counter(entry["reason"] for entry in report["excluded"]).most_common()),
        facts=tuple(_facts(report)),
        misfits=tuple(adapted(sentence, names) for sentence in report.get("misfits", ())),
        warnings=tuple(adapted(sentence, names) for sentence in (*report.get("warnings", ()), *left_out_lines(fields))),
        item_word=names.item,
        rater_word=names.rater,
        part_word=names.counted_word,
        n_compared=len(items),
    )


def _order(items: Sequence[Mapping[str, Any]], names: Names) -> str:
    """Which items come first, and why."""
    order = (
        f"First those that a review helps most: agreement is low, or one {names.rater} differs from others who agree."
    )
    if not any(item.get("turn") for item in items):
        return order
    return f"{order} {names.item.capitalize()}s that wait for answers, were sent back or are done come last."


def _audit(audit: Mapping[str, Any] | None) -> Iterable[str]:
    """Sentences about the judgments."""
    if audit is None:
        return
    yield f"Corrected by {plural(audit['judgments'], 'judgment')} of {plural(audit['asked'], 'pair')} in the sheets."
    if judges := audit.get("judges_agreement"):
        alpha = number(judges["krippendorff_alpha"], none="not defined")
        yield (
            f"The {audit['judges']} judges agree on {judges['observed_agreement']:.0%} of "
            f"{plural(judges['pairs'], 'pair')} (alpha {alpha})."
        )


def _what_if(entries: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The headline coefficient without each attribute that lowers it, from ``reasons.what_if``."""
    for entry in entries:
        changed, present = (number(entry[key]) for key in ("value", "instead_of"))
        if changed != present and entry["value"] - entry["instead_of"] >= _LEAST_CHANGE:
            title, attribute = coefficient_title(entry["coefficient"]), KIND_NAMES[entry["attribute"]]
            yield f"If {attribute} did not count, {title} would be {changed} instead of {present}."


def _terminologies(report: Mapping[str, Any]) -> str:
    names = ", ".join(term["name"] for term in report["provenance"].get("terminologies") or ())
    coverage = report.get("terminology")
    if not names or coverage is None:
        return names
    return f"{names}: {coverage['known_texts']:,} of {plural(coverage['texts'], 'text')} known"


def _facts(report: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    provenance, expected = report["provenance"], report["expected_agreement"]
    policy = provenance.get("policy")
    observed = report["coefficients"].get("observed_agreement", {}).get("value")
    by_chance = ", ".join(
        f"{name.capitalize()} {number(expected[name])}"
        for name in ("cohen", "fleiss", "krippendorff")
        if expected.get(name) is not None
    )
    method = _CHANCE.get(expected["method"], expected["method"])
    if expected.get("standard_error"):
        method += f", standard error {number(expected['standard_error'], 4)}"
    facts: Sequence[tuple[str, Any]] = (
        ("Observed agreement", number(observed)),
        ("Expected by chance", f"{by_chance or 'not defined'} ({method}; {plural(expected['pairs_scored'], 'pair')})"),
        ("Measure", provenance.get("measure")),
        ("What counts as the same", Policy.from_dict(policy).describe() if policy else None),
        ("Terminologies", _terminologies(report)),
        ("Model", provenance.get("model")),
        ("Precision", " ".join(filter(None, (provenance.get("precision"), provenance.get("device"))))),
        ("Texts cut to fit the model", provenance.get("truncated_texts") or None),
        ("Seed", provenance.get("seed")),
        ("SHA-256 of the input", provenance.get("input_sha256")),
        ("softirr", provenance.get("softirr")),
    )
    return [(term, printable(str(value))) for term, value in facts if value not in (None, "")]
