"""The rows of a view, and the order in which a person should look at items: one for all screens, files and tabs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from typing import Any

from softirr.answers.answer import MODEL
from softirr.answers.labelstudio_results import readable_name
from softirr.report.key_figures import by_measure, expected_agreement, raters_below_the_others
from softirr.report.task_sentence import task_sentence
from softirr.report.view.names import Links, Names
from softirr.report.view.parts import CoefficientRow, ConfusedRow, FieldRow, ItemRow, MeaningRow, PairRow, PersonRow
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_name, coefficient_title, definition
from softirr.text import printable

GAIN = 0.15
"""Least gain of agreement by leaving one rater out that is mentioned."""


def coefficient_rows(report: Mapping[str, Any], names: Names) -> Iterable[CoefficientRow]:
    """The coefficients of a report, in its order."""
    for key, coefficient in report["coefficients"].items():
        meaning = definition(key).meaning if key in coefficient_keys() else ""
        yield CoefficientRow.of(
            coefficient,
            key=key,
            name=coefficient_name(key),
            title=coefficient_title(key),
            meaning=meaning.format(item=names.item, rater=names.rater),
            expected=None if coefficient["value"] is None else expected_agreement(report, key),
            by_measure=by_measure(coefficient) if coefficient.get("judgments") else None,
        )


def person_rows(report: Mapping[str, Any], names: Names, links: Links) -> tuple[PersonRow, ...]:
    """The raters of a report, people before models, lowest agreement first."""
    left_out = Counter(entry["rater"] for entry in report["excluded"])
    tendency = (report.get("reasons") or {}).get("tendency") or {}
    below = {rater["id"] for rater in raters_below_the_others(report)}
    seconds = report.get("median_seconds") or {}
    verdicts = {entry["b"]: entry["verdict"] for entry in (report.get("models") or {}).get("differences") or ()}
    rows = []
    for rater in report["raters"]:
        key, leaning = rater["id"], tendency.get(rater["id"]) or {}
        rows.append(
            PersonRow.of(
                rater,
                name=names.of_rater(key),
                is_model=key.startswith(MODEL),
                ci95=rater["agreement_ci95"],
                left_out=left_out[key],
                detail=level_of_detail(leaning.get("more_general", 0), leaning.get("more_specific", 0)),
                seconds=seconds.get(key),
                stands_out=key in below,
                model_verdict=verdicts.get(key),
                link=links.rater(key),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.is_model, row.agreement is None, row.agreement or 0.0, row.name)))


def pair_rows(report: Mapping[str, Any], names: Names) -> tuple[PairRow, ...]:
    """The pairs of raters of a report, lowest agreement first."""
    rows = [
        PairRow.of(
            pair,
            raters=tuple(pair["raters"]),
            names=tuple(map(names.of_rater, pair["raters"])),
            agreement=pair["observed_agreement"],
            ci95=pair["observed_agreement_ci95"],
            expected=pair.get("expected_agreement"),
        )
        for pair in report["rater_pairs"]
        if pair["observed_agreement"] is not None
    ]
    return tuple(sorted(rows, key=lambda row: (row.agreement, row.names)))


def level_of_detail(general: int, specific: int) -> str:
    """Whether a rater tends to more general or more specific texts, by a sign test at 5%.

    Parameters
    ----------
    general, specific : int
        How often the rater's text is the more general, and the more specific one of two.

    Returns
    -------
    str
        Empty without differences.

    Examples
    --------
    >>> level_of_detail(9, 1), level_of_detail(2, 1), level_of_detail(0, 0)
    ('more general', 'no tendency', '')
    """
    n, majority = general + specific, max(general, specific)
    if not n:
        return ""
    if n <= 1000:
        tail = sum(math.comb(n, k) for k in range(majority, n + 1)) / 2**n
    else:
        tail = math.erfc((2 * majority - n - 1) / math.sqrt(2 * n)) / 2
    if tail > 0.05:
        return "no tendency"
    return "more general" if general > specific else "more specific"


def item_row(item: Mapping[str, Any], names: Names, links: Links, *, threshold: float) -> ItemRow:
    """An item; its sentence is computed unless it has one. Values of exact fields are the same only from 1."""
    sentence = item.get("sentence")
    if sentence is None:
        answers = _answers(item)
        shown_names = {rater: names.of_rater(rater) for rater in answers["raters"]}
        sentence = task_sentence(answers, shown_names, threshold=threshold, rater=names.rater)
    return ItemRow.of(
        item,
        name=names.of_item(item["id"]),
        reasons=list(dict.fromkeys(reason["kind"] for reason in item.get("reasons") or ())),
        sentence=sentence,
        priority=priority(item),
        link=links.item(item["id"]),
    )


def _answers(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as :func:`task_sentence` reads it."""
    matched = dict.fromkeys(rater for match in item["matches"] for rater in match["texts"])
    raters = dict.fromkeys(rater for pair in item.get("pairs") or () for rater in pair["raters"])
    raters |= matched | dict.fromkeys(item["unmatched"])
    empty = [rater for rater in raters if rater not in matched and not item["unmatched"].get(rater)]
    return {**item, "raters": list(raters), "empty": empty}


def field_row(field: Mapping[str, Any], names: Names) -> FieldRow:
    """A field, from an entry of ``fields`` (:func:`softirr.report.fields.field_row`)."""
    matrix = field.get("confusion_matrix") or {}
    below = field.get("deviates")
    return FieldRow.of(
        field,
        name=printable(readable_name(field["name"])),
        kind=printable(field["kind"]),
        title=None if field["coefficient"] is None else coefficient_title(field["coefficient"]),
        expected=field.get("expected_agreement"),
        item_word=field.get("item_word") or names.item,
        below="" if below is None else names.of_rater(below),
        confused=tuple(_confused(entry, names) for entry in field.get("confusions") or ()),
        categories=[printable(category) for category in matrix.get("categories") or ()],
        confusion=matrix.get("pairs") or (),
        labels={names.of_rater(rater): counts for rater, counts in (matrix.get("labels") or {}).items()},
    )


def _confused(entry: Mapping[str, Any], names: Names) -> ConfusedRow:
    a, b = map(printable, entry["values"])
    example = names.of_item(entry["examples"][0])
    return ConfusedRow(values=(a, b), n_pairs=entry["pairs"], n_items=entry["items"], example=example)


def meaning_row(cluster: Mapping[str, Any], names: Names, links: Links) -> MeaningRow:
    """A cluster of equivalent texts, from an entry of ``meanings``."""
    return MeaningRow(
        name=printable(cluster["name"]),
        texts=tuple((printable(text), n) for text, n in cluster["texts"].items()),
        raters=tuple((names.of_rater(rater), n) for rater, n in cluster["raters"].items()),
        n_items=len(cluster["items"]),
        link=links.items(list(cluster["items"]), cluster["name"]),
    )


def priority(item: Mapping[str, Any]) -> float | None:
    """How much a review of an item helps: the higher, the sooner; None if fewer than two raters answered it.

    A review helps most if agreement is low and many raters are concerned, and is quickest if one rater differs
    from others who agree. So the priority is (1 - agreement) (1 + log2(n) / 4), plus half of what leaving out the
    dissenter would gain.

    Parameters
    ----------
    item : mapping
        An entry of ``items`` of ``AgreementReport.to_dict()``; its pairs show the :func:`dissenter`.

    Returns
    -------
    float or None
        To two decimals, so that a column of the priorities has the same order as every other screen.

    Examples
    --------
    >>> values = {("ann", "ben"): 0.9, ("ann", "cleo"): 0.0, ("ben", "cleo"): 0.0}
    >>> pairs = [{"raters": raters, "equivalence": value} for raters, value in values.items()]
    >>> [priority({"agreement": 0.3, "n_raters": n_raters, "pairs": []}) for n_raters in (2, 4)]
    [0.88, 1.05]
    >>> priority({"agreement": 0.3, "n_raters": 3, "pairs": pairs})
    1.28
    """
    agreement = item["agreement"]
    if agreement is None:
        return None
    pairs = ((*pair["raters"], pair["equivalence"]) for pair in item["pairs"])
    _, without = dissenter(agreement, pairs) or (None, agreement)
    gain = without - agreement
    return round((1.0 - agreement) * (1.0 + log2(max(2, item["n_raters"])) / 4.0) + gain / 2.0, 2)


def dissenter(agreement: float, pairs: Iterable[Sequence[Any]]) -> tuple[str, float] | None:
    """The rater without whom agreement on an item rises most, and that agreement.

    Parameters
    ----------
    agreement : float
        The item's.

    Returns
    -------
    (str, float) or None
        None if it rises little, and of two raters.

    Examples
    --------
    >>> dissenter(0.3, [("ann", "ben", 0.9), ("ann", "cleo", 0.0), ("ben", "cleo", 0.0)])
    ('cleo', 0.9)
    """
    of_rater: dict[str, list[float]] = {}
    total, n = 0.0, 0
    for rater_a, rater_b, value in pairs:
        of_rater.setdefault(str(rater_a), []).append(float(value))
        of_rater.setdefault(str(rater_b), []).append(float(value))
        total, n = total + float(value), n + 1
    if len(of_rater) <= 2:
        return None
    # rounded, so that raters who differ alike are tied
    without = {
        rater: round((total - sum(values)) / (n - len(values)), 12) if len(values) < n else 0.0
        for rater, values in sorted(of_rater.items())
    }
    rater = max(without, key=without.__getitem__)
    return (rater, without[rater]) if without[rater] - agreement >= GAIN else None


def in_triage_order(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The items that two raters answered, those to look at first at the start; ties in the order of the table.

    Parameters
    ----------
    items : iterable of mapping
        ``items`` of ``AgreementReport.to_dict()``. Items with a higher ``turn`` come later, whatever their priority.
    """
    scored = [(item.get("turn", 0), -value, item) for item in items if (value := priority(item)) is not None]
    return [item for _, _, item in sorted(scored, key=lambda entry: entry[:2])]
