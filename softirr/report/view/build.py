"""The view of a report: the one function that decides what surfaces show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.numbers import number
from softirr.plural import plural
from softirr.report.headline import expected_agreement
from softirr.report.task_sentence import task_sentence
from softirr.report.triage import in_triage_order
from softirr.report.view.parts import CoefficientRow, FieldRow, ItemRow, Links, MeaningRow, Names, View
from softirr.report.view.people import pair_rows, person_rows
from softirr.report.view.verdict import cause_of, next_step_of, verdict_of
from softirr.report.view.words import adapted, what_if_sentences
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_title, definition
from softirr.text import printable

__all__ = ["view"]

_CHANCE = {
    "exact": "exactly, from every pair of answers",
    "permutation": "by permutation",
    "stratified": "from a sample of pairs",
    "sample": "from a sample of pairs",
    "audit": "corrected by judgments",
}


def view(report: Mapping[str, Any], names: Names | None = None, links: Links | None = None) -> View:
    """Build the view of a report; surfaces render it and compute nothing.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``. It may also have ``target`` (``value`` and ``source``), ``fields``
        (entries of :func:`softirr.report.fields.field_row`), ``meanings``, ``models`` (a comparison of models with
        people) and ``median_seconds`` by rater. Its items may have ``sentence``, ``priority`` and ``is_done``.
    names : Names, optional
        Shown names of raters and items, and the words for both.
    links : Links, optional
        Addresses of items, raters and pages.

    Returns
    -------
    View

    Examples
    --------
    >>> import softirr
    >>> texts = {"ann": ["fever", "cough", "rash"], "bob": ["fever", "cough", "rash"], "cem": ["pain", "itch", "rash"]}
    >>> rows = [softirr.Answer(str(i), who, text) for who, own in texts.items() for i, text in enumerate(own)]
    >>> report = softirr.agreement(softirr.AnnotationTable.from_answers(rows), "exact")
    >>> shown = view(report.to_dict())
    >>> shown.verdict.state, [(row.name, row.agreement) for row in shown.items]
    ('undecided', [('0', 0.3333333333333333), ('1', 0.3333333333333333), ('2', 1.0)])
    >>> shown.items[0].sentence
    'Only cem has “pain”; cem lacks “fever”.'
    """
    names, links = names or Names(), links or Links()
    verdict = verdict_of(report, names)
    cause = cause_of(report, names, links)
    items = in_triage_order(report["items"])
    return View(
        verdict=verdict,
        cause=cause,
        next_step=next_step_of(report, verdict, cause, names, links),
        fields=tuple(_field(row, names, links) for row in report.get("fields") or ()),
        people=person_rows(report, names, links),
        pairs=pair_rows(report, names),
        items=tuple(_item(item, names, links) for item in items),
        meanings=tuple(_meaning(cluster, names, links) for cluster in report.get("meanings") or ()),
        coefficients=tuple(_coefficients(report, names)),
        what_if=tuple(what_if_sentences((report.get("reasons") or {}).get("what_if") or ())),
        reasons=_reasons(report),
        excluded=tuple(Counter(entry["reason"] for entry in report["excluded"]).most_common()),
        facts=tuple(_facts(report)),
        warnings=tuple(adapted(sentence, names) for sentence in report.get("warnings", ())),
        item_word=names.item,
        rater_word=names.rater,
        n_items=report["n_items"],
        n_compared=len(items),
        n_raters=report["n_raters"],
    )


def _item(item: Mapping[str, Any], names: Names, links: Links) -> ItemRow:
    sentence = item.get("sentence")
    if sentence is None:
        sentence = task_sentence(_answers(item), {rater: names.of_rater(rater) for rater in _raters(item)})
    return ItemRow(
        item["id"],
        names.of_item(item["id"]),
        item["agreement"],
        sentence,
        bool(item.get("is_done")),
        links.item(item["id"]),
    )


def _raters(item: Mapping[str, Any]) -> list[str]:
    pairs = item.get("pairs") or ()
    raters = dict.fromkeys(rater for pair in pairs for rater in pair["raters"])
    raters |= dict.fromkeys(rater for match in item["matches"] for rater in match["texts"])
    return list(raters | dict.fromkeys(item["unmatched"]))


def _answers(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as :func:`task_sentence` reads it."""
    raters = _raters(item)
    with_text = {rater for match in item["matches"] for rater in match["texts"]}
    with_text |= {rater for rater, texts in item["unmatched"].items() if texts}
    return {**item, "raters": raters, "empty": [rater for rater in raters if rater not in with_text]}


def _field(row: Mapping[str, Any], names: Names, links: Links) -> FieldRow:
    matrix = row.get("confusion_matrix") or {}
    return FieldRow(
        name=printable(row["name"]),
        kind=row["kind"],
        coefficient=row["coefficient"],
        title=None if row["coefficient"] is None else coefficient_title(row["coefficient"]),
        value=row["value"],
        ci95=None if row["ci95"] is None else (row["ci95"][0], row["ci95"][1]),
        n_items=row["n_items"],
        categories=tuple(map(printable, matrix.get("categories") or ())),
        confusion=tuple(tuple(counts) for counts in matrix.get("pairs") or ()),
        labels={names.of_rater(rater): tuple(counts) for rater, counts in (matrix.get("labels") or {}).items()},
        link=links.field(row["name"]),
    )


def _meaning(cluster: Mapping[str, Any], names: Names, links: Links) -> MeaningRow:
    return MeaningRow(
        printable(cluster["name"]),
        tuple((printable(text), n) for text, n in cluster["texts"].items()),
        tuple((names.of_rater(rater), n) for rater, n in cluster["raters"].items()),
        len(cluster["items"]),
        links.items(list(cluster["items"]), cluster["name"]),
    )


def _coefficients(report: Mapping[str, Any], names: Names) -> Iterable[CoefficientRow]:
    for key, coefficient in report["coefficients"].items():
        known = key in coefficient_keys()
        value, ci95 = coefficient["value"], coefficient["ci95"]
        yield CoefficientRow(
            key,
            coefficient_title(key),
            definition(key).meaning.format(item=names.item, rater=names.rater) if known else "",
            value,
            None if ci95 is None else (ci95[0], ci95[1]),
            None if value is None else expected_agreement(report, key),
            coefficient["undefined"],
        )


def _reasons(report: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    kinds = (report.get("reasons") or {}).get("kinds") or ()
    rows = [(REASON_NAMES.get(kind["kind"], kind["kind"]), kind["items"]) for kind in kinds]
    return tuple(sorted(rows, key=lambda row: -row[1]))


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
