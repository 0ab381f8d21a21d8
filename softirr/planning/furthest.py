"""Items on which a rater or model is furthest from the others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.report.scoring import Scored

__all__ = ["MOST_ITEMS", "FarItem", "furthest_items"]

MOST_ITEMS = 10


@dataclass(frozen=True)
class FarItem(JsonObject):
    """An item on which a rater is far from the others.

    Attributes
    ----------
    rater, item : str
    agreement : float
        Mean equivalence of the rater's answer with the answers of the others.
    others : float
        Mean equivalence of the answers of two others.
    texts : tuple of str
        The rater's answer.
    """

    rater: str
    item: str
    agreement: float
    others: float
    texts: tuple[str, ...]


def furthest_items(table: AnnotationTable, scored: Scored, rater: str, others: Collection[str]) -> tuple[FarItem, ...]:
    """Items on which a rater agrees least with the others; of equal ones, first where the others agree most.

    Parameters
    ----------
    table : AnnotationTable
    scored : Scored
        Its scores.
    rater : str
    others : collection of str

    Returns
    -------
    tuple of FarItem
        ``MOST_ITEMS`` at most: items that the rater and two others answered, and where the rater agrees less.
    """
    comparisons = scored.ratings.comparisons
    first, second = scored.ratings.rater[comparisons.left], scored.ratings.rater[comparisons.right]
    own, n_items = table.raters.index(rater), len(table.items)
    is_other = np.isin(np.array(table.raters), list(others))
    with_own = ((first == own) & is_other[second]) | ((second == own) & is_other[first])
    means = []
    for chosen in (with_own, is_other[first] & is_other[second]):
        counts = np.bincount(comparisons.item[chosen], minlength=n_items)
        sums = np.bincount(comparisons.item[chosen], scored.scores[chosen], n_items)
        means.append(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
    agreement, among = means
    answers = {
        item: answer
        for item, who, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
        if who == own
    }
    ranked = sorted(np.flatnonzero(agreement < among).tolist(), key=lambda i: (agreement[i], -among[i], i))
    return tuple(
        FarItem(rater, table.items[i], float(agreement[i]), float(among[i]), table.texts_of(answers[i]))
        for i in ranked[:MOST_ITEMS]
    )
