"""The order in which a person should look at items, one for all screens, files and tabs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2
from typing import Any

GAIN = 0.15
"""Least gain of agreement by leaving one rater out that is mentioned."""


def priority(agreement: float, n_raters: int, without: float | None = None) -> float:
    """How much a review of an item helps: the higher, the sooner.

    A review helps most if agreement is low and many raters are concerned, and is quickest if one rater differs
    from others who agree. So the priority is (1 - agreement) (1 + log2(n) / 4), plus half of what leaving out the
    dissenter would gain.

    Parameters
    ----------
    without : float, optional
        Agreement without the :func:`dissenter`, where there is one.

    Returns
    -------
    float
        To two decimals, so that a column of the priorities has the same order as every other screen.

    Examples
    --------
    >>> priority(0.3, 2), priority(0.3, 4), priority(0.3, 3, 0.9)
    (0.88, 1.05, 1.28)
    """
    gain = 0.0 if without is None else without - agreement
    return round((1.0 - agreement) * (1.0 + log2(max(2, n_raters)) / 4.0) + gain / 2.0, 2)


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


def item_priority(item: Mapping[str, Any]) -> float | None:
    """The priority of an entry of ``items``; None if fewer than two raters answered it.

    Parameters
    ----------
    item : mapping
        An entry of ``items`` of ``AgreementReport.to_dict()``.
    """
    agreement = item["agreement"]
    if agreement is None:
        return None
    pairs = [(*pair["raters"], pair["equivalence"]) for pair in item["pairs"]]
    _, without = dissenter(agreement, pairs) or (None, None)
    return priority(agreement, item["n_raters"], without)


def in_triage_order(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The items that two raters answered, those to look at first at the start; ties in the order of the table.

    Parameters
    ----------
    items : iterable of mapping
        ``items`` of ``AgreementReport.to_dict()``. Items with a higher ``turn`` come later, whatever their priority.
    """
    scored = [(item.get("turn", 0), -value, item) for item in items if (value := item_priority(item)) is not None]
    return [item for _, _, item in sorted(scored, key=lambda entry: entry[:2])]
