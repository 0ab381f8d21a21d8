"""The ratings of a table in the order of the ids, so that random pairs do not depend on the order of a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Ints, Ratings
from softirr.answers.table import AnnotationTable


@dataclass(frozen=True, eq=False)
class OrderedRatings:
    """Ratings with items and raters numbered by their sorted ids.

    Attributes
    ----------
    ratings : Ratings
        Sorted by item, then by rater.
    rows : shape (n,)
        The table's row of each row of ``ratings``.
    """

    ratings: Ratings
    rows: Ints

    @classmethod
    def of(cls, table: AnnotationTable) -> OrderedRatings:
        """The ratings of a table."""
        unordered = Ratings.of(table)
        items, raters = _ranks(table.items), _ranks(table.raters)
        rows = np.lexsort((raters[unordered.rater], items[unordered.item]))
        columns = items[unordered.item[rows]], raters[unordered.rater[rows]], unordered.answer[rows]
        weights = None if unordered.weights is None else unordered.weights[np.argsort(items)]
        sizes = unordered.n_items, unordered.n_raters, unordered.n_answers
        return cls(Ratings(*columns, *sizes, weights=weights), rows)


def _ranks(ids: tuple[str, ...]) -> Ints:
    """Rank of each id in sorted order, from 0."""
    result = np.empty(len(ids), dtype=np.int64)
    result[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return result
