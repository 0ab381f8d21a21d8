"""Ratings of some pairs of raters: of one rater with the others, or of the others with each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Comparisons, Ratings


@dataclass(frozen=True, eq=False)
class RatingsOfPairs(Ratings):
    """Ratings in which only some pairs of raters are compared.

    Attributes
    ----------
    of_rater : int
        Index of the rater that selects the pairs.
    with_rater : bool
        Whether the pairs with this rater are compared, or those without.
    """

    of_rater: int
    with_rater: bool

    @cached_property
    def comparisons(self) -> Comparisons:
        """The pairs of answers to one item by these pairs of raters."""
        all_comparisons = Ratings(
            self.item, self.rater, self.answer, self.n_items, self.n_raters, self.n_answers
        ).comparisons
        is_compared = (all_comparisons.rater_pairs == self.of_rater).any(axis=1) == self.with_rater
        compared = np.flatnonzero(is_compared[all_comparisons.rater_pair])
        number = np.cumsum(is_compared) - 1
        return Comparisons(
            all_comparisons.left_rows[compared],
            all_comparisons.right_rows[compared],
            all_comparisons.item[compared],
            number[all_comparisons.rater_pair[compared]],
            all_comparisons.rater_pairs[is_compared],
            all_comparisons.shared[is_compared],
        )
