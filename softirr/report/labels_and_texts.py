"""Labels beside the texts that explain them: items where raters agree on one and not on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from softirr.answers.cells import csv_text
from softirr.answers.kinds import find_kind
from softirr.defaults import THRESHOLD
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.numbers import in_terminal, interval, number
from softirr.report.results import AgreementReport
from softirr.report.terminal_report import table_lines
from softirr.text import printable

__all__ = [
    "LabelsAndTexts",
    "association",
    "labels_and_texts",
    "labels_and_texts_csv",
    "labels_and_texts_lines",
    "labels_and_texts_of_items",
]

_SAME = 1e-9
_MOST_ITEMS = 40
_SHOWN = 10


@dataclass(frozen=True)
class LabelsAndTexts(JsonObject):
    """Agreement on labels and on texts, item by item.

    Attributes
    ----------
    both, only_labels, only_texts, neither : int
        Number of items on which the labels of all raters are equal, the agreement of their texts is at least 0.5, both
        or neither.
    only_labels_items : tuple of str
        Items with equal labels and different texts, the lowest agreement of the texts first, 40 at most.
    only_texts_items : tuple of str
        The reverse, the highest agreement of the texts first.
    where_equal, where_different : float or None
        Mean agreement of the texts of items with equal labels, and of the others; None without such items.
    difference : float or None
        The first less the second: 0 where texts agree as far whatever the labels.
    ci95 : (float, float) or None
        Its 95% interval over items (Welch); None with fewer than two items of each.
    items : tuple of (str, float, float)
        Each item with its agreement on the labels and on the texts.
    """

    both: int
    only_labels: int
    only_texts: int
    neither: int
    only_labels_items: tuple[str, ...]
    only_texts_items: tuple[str, ...]
    where_equal: float | None
    where_different: float | None
    difference: float | None
    ci95: tuple[float, float] | None
    items: tuple[tuple[str, float, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without ``items``."""
        values = super().to_dict()
        del values["items"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What `to_dict` gave; other keys are ignored."""
        known = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        own: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
        }
        return cls(**own)


def labels_and_texts(labels: AgreementReport, texts: AgreementReport) -> LabelsAndTexts:
    """Compare the agreement on labels with the agreement on texts of the same items.

    Parameters
    ----------
    labels : AgreementReport
        Of a field with categories.
    texts : AgreementReport
        Of the texts that explain them, with the same item ids.

    Returns
    -------
    LabelsAndTexts

    Raises
    ------
    InputError
        If the first report is not of categories, or the second not of texts.

    Examples
    --------
    >>> import pandas, softirr
    >>> given = {"item": [1, 1, 2, 2], "rater": ["ann", "ben"] * 2, "side": ["left", "left", "left", "right"]}
    >>> frame = pandas.DataFrame(given | {"text": ["fever", "rash", "cough", "cough"]})
    >>> labels = softirr.agreement(frame, text="side", reading=softirr.ReadOptions(kind="nominal"))
    >>> one = labels_and_texts(labels, softirr.agreement(frame, "exact"))
    >>> one.only_labels_items, one.only_texts_items, one.difference
    (('1',), ('2',), -1.0)
    """
    kind, of_texts = find_kind(labels.provenance.kind), find_kind(texts.provenance.kind)
    if not kind.confusions:
        raise InputError(f"Labels are categories, but the first report has {kind.name} values.")
    if not of_texts.is_text:
        raise InputError(f"The second report has {of_texts.name} values, but texts are needed.")
    of_labels, of_items = (
        {item.id: item.agreement for item in report.items if item.agreement is not None} for report in (labels, texts)
    )
    return labels_and_texts_of_items(of_labels, of_items)


def labels_and_texts_of_items(labels: Mapping[str, float], texts: Mapping[str, float]) -> LabelsAndTexts:
    """Compare the agreement on labels with the agreement on texts, item by item.

    Parameters
    ----------
    labels, texts : mapping of str to float
        Agreement of each item that has one.

    Returns
    -------
    LabelsAndTexts
        Of the items that have both.
    """
    compared = [(item, labels[item], agreement) for item, agreement in texts.items() if item in labels]
    equal = np.array([_all_equal(agreement) for _, agreement, _ in compared], dtype=bool)
    of_text = np.array([agreement for _, _, agreement in compared], dtype=float)
    agreed = of_text >= THRESHOLD
    order = np.argsort(of_text, kind="stable")

    def ids(chosen: np.ndarray[Any, Any]) -> tuple[str, ...]:
        return tuple(compared[at][0] for at in chosen[:_MOST_ITEMS].tolist())

    means = [float(of_text[group].mean()) if group.any() else None for group in (equal, ~equal)]
    return LabelsAndTexts(
        int((equal & agreed).sum()),
        int((equal & ~agreed).sum()),
        int((~equal & agreed).sum()),
        int((~equal & ~agreed).sum()),
        ids(order[(equal & ~agreed)[order]]),
        ids(order[::-1][(~equal & agreed)[order[::-1]]]),
        means[0],
        means[1],
        None if means[0] is None or means[1] is None else means[0] - means[1],
        _interval(of_text[equal], of_text[~equal]),
        tuple(compared),
    )


def _all_equal(agreement: float) -> bool:
    return agreement >= 1 - _SAME


def _interval(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> tuple[float, float] | None:
    """Welch's 95% interval of the difference of two means.

    The function of scipy.stats warns where one group has equal values.
    """
    from scipy.stats import t

    if min(len(a), len(b)) < 2 or max(np.ptp(a), np.ptp(b)) < _SAME:
        return None
    parts = [float(group.var(ddof=1)) / len(group) for group in (a, b)]
    variance = sum(parts)
    freedom = variance**2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, (a, b), strict=True))
    difference, half = float(a.mean() - b.mean()), float(t.ppf(0.975, freedom)) * variance**0.5
    return max(difference - half, -1.0), min(difference + half, 1.0)


def labels_and_texts_lines(compared: Sequence[tuple[str, str, LabelsAndTexts]]) -> list[str]:
    """The lines for a terminal.

    Parameters
    ----------
    compared : sequence of (str, str, LabelsAndTexts)
        Names of the field of labels and of the field of texts, and how they compare.

    Returns
    -------
    list of str
    """
    head = ("labels", "texts", "both agree", "only labels", "only texts", "neither")
    rows = [
        (
            printable(label),
            printable(text),
            *(f"{count:,}" for count in (one.both, one.only_labels, one.only_texts, one.neither)),
        )
        for label, text, one in compared
    ]
    lines = [
        f"Items on which all labels are equal, and on which the agreement of the texts is at least {THRESHOLD:g}:",
        *table_lines(head, rows),
    ]
    for label, text, one in compared:
        lines += [in_terminal(sentence)] if (sentence := association(printable(label), printable(text), one)) else []
        for title, items, n in (
            (f"Equal {label}, different {text}", one.only_labels_items, one.only_labels),
            (f"Different {label}, equivalent {text}", one.only_texts_items, one.only_texts),
        ):
            if n:
                more = f" and {n - _SHOWN:,} more" if n > _SHOWN else ""
                lines.append(f"{printable(title)}: {', '.join(map(printable, items[:_SHOWN]))}{more}.")
    return lines


def association(label: str, text: str, one: LabelsAndTexts) -> str | None:
    """A sentence on the mean agreement of the texts where labels are equal and where they differ.

    Parameters
    ----------
    label, text : str
        Names of the fields, as they are shown.
    one : LabelsAndTexts

    Returns
    -------
    str or None
        None where there are not both kinds of items.
    """
    if one.where_equal is None or one.where_different is None:
        return None
    numbers = f"difference {number(one.difference, sign=True)}"
    if one.ci95:
        numbers += f", 95% interval {interval(one.ci95, sign=True)}"
    return (
        f"Mean agreement on {text}: {number(one.where_equal)} where {label} is equal, "
        f"{number(one.where_different)} where it differs ({numbers})."
    )


def labels_and_texts_csv(compared: Sequence[tuple[str, str, LabelsAndTexts]]) -> str:
    """All items as a CSV file: whether labels are equal, and the agreement of the texts.

    Parameters
    ----------
    compared : sequence of (str, str, LabelsAndTexts)
        Names of the field of labels and of the field of texts, and how they compare.

    Returns
    -------
    str

    Examples
    --------
    >>> one = LabelsAndTexts(0, 1, 0, 0, ("1",), (), 0.2, None, None, None, (("1", 1.0, 0.2),))
    >>> print(labels_and_texts_csv([("side", "text", one)]), end="")
    labels,texts,item,labels_agreement,labels_equal,texts_agreement,texts_agree
    side,text,1,1.0,True,0.2,False
    """
    head = ("labels", "texts", "item", "labels_agreement", "labels_equal", "texts_agreement", "texts_agree")
    return csv_text(
        [
            head,
            *(
                (label, text, item, of_labels, _all_equal(of_labels), of_texts, of_texts >= THRESHOLD)
                for label, text, one in compared
                for item, of_labels, of_texts in one.items
            ),
        ]
    )
