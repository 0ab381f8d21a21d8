"""The rows of a view: coefficients, fields, raters, pairs of raters, items and meanings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from softirr.answers.answer import MODEL
from softirr.answers.labelstudio_results import readable_name
from softirr.report.key_figures import by_measure, expected_agreement, raters_below_the_others
from softirr.report.task_sentence import task_sentence
from softirr.report.triage import item_priority
from softirr.report.view.names import Links, Names
from softirr.report.view.parts import CoefficientRow, ConfusedRow, FieldRow, ItemRow, MeaningRow, PairRow, PersonRow
from softirr.report.view.verdict import ends
from softirr.statistics.coefficients.registry import (
    coefficient_keys,
    coefficient_name,
    coefficient_title,
    definition,
)
from softirr.text import printable


def coefficient_rows(report: Mapping[str, Any], names: Names) -> Iterable[CoefficientRow]:
    """The coefficients of a report, in its order."""
    for key, coefficient in report["coefficients"].items():
        meaning = definition(key).meaning if key in coefficient_keys() else ""
        value = coefficient["value"]
        yield CoefficientRow(
            key=key,
            name=coefficient_name(key),
            title=coefficient_title(key),
            meaning=meaning.format(item=names.item, rater=names.rater),
            value=value,
            standard_error=coefficient.get("standard_error"),
            ci95=ends(coefficient["ci95"]),
            expected=None if value is None else expected_agreement(report, key),
            by_measure=by_measure(coefficient) if coefficient.get("judgments") else None,
            undefined=coefficient["undefined"],
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
            PersonRow(
                id=key,
                name=names.of_rater(key),
                is_model=key.startswith(MODEL),
                agreement=rater["agreement"],
                ci95=ends(rater["agreement_ci95"]),
                cohen_kappa=_value(rater, "cohen_kappa"),
                sigma=_value(rater, "sigma"),
                n_items=rater["n_items"],
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
        PairRow(
            raters=(a, b),
            names=(names.of_rater(a), names.of_rater(b)),
            agreement=pair["observed_agreement"],
            ci95=ends(pair["observed_agreement_ci95"]),
            expected=pair.get("expected_agreement"),
            cohen_kappa=_value(pair, "cohen_kappa"),
            sigma=_value(pair, "sigma"),
            n_items=pair["n_items"],
        )
        for pair in report["rater_pairs"]
        if pair["observed_agreement"] is not None
        for a, b in (pair["raters"],)
    ]
    return tuple(sorted(rows, key=lambda row: (row.agreement, row.names)))


def _value(entry: Mapping[str, Any], key: str) -> float | None:
    value: float | None = (entry.get(key) or {}).get("value")
    return value


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


def item_row(item: Mapping[str, Any], names: Names, links: Links) -> ItemRow:
    """An item; its sentence is computed unless it has one."""
    sentence = item.get("sentence")
    if sentence is None:
        shown_names = {rater: names.of_rater(rater) for rater in _raters(item)}
        sentence = task_sentence(_answers(item), shown_names, rater=names.rater)
    return ItemRow(
        id=item["id"],
        name=names.of_item(item["id"]),
        agreement=item["agreement"],
        kappa=item.get("kappa"),
        sigma=item.get("sigma"),
        n_raters=item["n_raters"],
        suggestion=tuple(item.get("suggestion") or ()),
        reasons=tuple(dict.fromkeys(reason["kind"] for reason in item.get("reasons") or ())),
        sentence=sentence,
        note=item.get("note", ""),
        priority=item_priority(item),
        is_done=bool(item.get("is_done")),
        link=links.item(item["id"]),
    )


def _raters(item: Mapping[str, Any]) -> list[str]:
    raters = dict.fromkeys(rater for pair in item.get("pairs") or () for rater in pair["raters"])
    raters |= dict.fromkeys(rater for match in item["matches"] for rater in match["texts"])
    return list(raters | dict.fromkeys(item["unmatched"]))


def _answers(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as :func:`task_sentence` reads it."""
    raters = _raters(item)
    with_text = {rater for match in item["matches"] for rater in match["texts"]}
    with_text |= {rater for rater, texts in item["unmatched"].items() if texts}
    return {**item, "raters": raters, "empty": [rater for rater in raters if rater not in with_text]}


def field_row(field: Mapping[str, Any], names: Names, links: Links) -> FieldRow:
    """A field, from an entry of ``fields`` (:func:`softirr.report.fields.field_row`)."""
    matrix = field.get("confusion_matrix") or {}
    below = field.get("deviates")
    return FieldRow(
        name=printable(readable_name(field["name"])),
        kind=printable(field["kind"]),
        coefficient=field["coefficient"],
        title=None if field["coefficient"] is None else coefficient_title(field["coefficient"]),
        value=field["value"],
        ci95=ends(field["ci95"]),
        expected=field.get("expected_agreement"),
        n_items=field["n_items"],
        item_word=field.get("item_word") or names.item,
        n_left_out=field.get("n_left_out") or 0,
        below="" if below is None else names.of_rater(below),
        confused=tuple(_confused(entry, names) for entry in field.get("confusions") or ()),
        categories=tuple(map(printable, matrix.get("categories") or ())),
        confusion=tuple(tuple(counts) for counts in matrix.get("pairs") or ()),
        labels={names.of_rater(rater): tuple(counts) for rater, counts in (matrix.get("labels") or {}).items()},
        link=links.field(field["name"]),
    )


def _confused(entry: Mapping[str, Any], names: Names) -> ConfusedRow:
    a, b = (printable(value) for value in entry["values"])
    return ConfusedRow((a, b), entry["pairs"], entry["items"], names.of_item(entry["examples"][0]))


def meaning_row(cluster: Mapping[str, Any], names: Names, links: Links) -> MeaningRow:
    """A cluster of equivalent texts, from an entry of ``meanings``."""
    return MeaningRow(
        printable(cluster["name"]),
        tuple((printable(text), n) for text, n in cluster["texts"].items()),
        tuple((names.of_rater(rater), n) for rater, n in cluster["raters"].items()),
        len(cluster["items"]),
        links.items(list(cluster["items"]), cluster["name"]),
    )
