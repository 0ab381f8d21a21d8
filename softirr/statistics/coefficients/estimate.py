"""A coefficient by the measure alone: its value, and an interval from draws of the item weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.intervals import Coefficient, coefficient_of_draws

CERTAIN = 1e-12
_UNSEEN = 0.05
"""Probability that the items of a table miss a share of the population of items."""


class Undefined(StrEnum):
    """Why a coefficient or an interval has no value."""

    ONE_RATER = "only one rater"
    NO_OVERLAP = "no item has answers of two raters"
    ONE_ITEM = "only one item has answers of two raters: agreement by chance needs two items"
    NO_VARIATION = "agreement by chance is 1: all answers are equivalent"
    ONE_CATEGORY = "all answers are the same"
    MORE_THAN_TWO_RATERS = "it needs exactly two raters"
    NO_PAIR_DEFINED = "no pair of raters shares two items on which their answers differ"
    NO_OTHER_RATER = "no item was answered by this rater and another one"


def _no_items() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A coefficient by the measure alone.

    Attributes
    ----------
    value : float or None
        The coefficient with equal item weights; None if it is undefined.
    undefined : str or None
        Reason for the missing value.
    expected : float or None
        Agreement expected by chance.
    items : shape (N,)
        The items that the coefficient is computed from.
    draw : callable or None
        Returns the coefficient in each draw of the item weights, shape (K,).
    floor : float
        Lowest value that the coefficient can take; the highest is 1.
    """

    value: float | None
    undefined: str | None = None
    expected: float | None = None
    items: Ints = field(default_factory=_no_items)
    draw: Callable[[], Floats] | None = None
    floor: float = -1.0

    @cached_property
    def draws(self) -> Floats:
        """The coefficient in each draw of the item weights, shape (K,); empty without a value."""
        return np.zeros(0) if self.value is None or self.draw is None else self.draw()

    @cached_property
    def coefficient(self) -> Coefficient:
        """The value with its 95% interval; without one for fewer than two items."""
        n = len(self.items)
        if self.value is None or n < 2 or not len(self.draws):
            return Coefficient(self.value, undefined=self.undefined)
        floor = min(self.floor, self.value)
        from_draws = coefficient_of_draws(self.value, self.draws, floor, n_items=n)
        if self.value < 1 - CERTAIN and (from_draws.standard_error or 0.0) >= CERTAIN:
            return from_draws
        # If all items contribute the same value, draws of them do not vary. With a probability of 5%, n items miss all
        # of a share 1 - 0.05^(1/n) of the population. Such items move the mean agreement by at most this share, and the
        # coefficient by this share divided by the disagreement by chance.
        reach = (1 - _UNSEEN ** (1 / n)) / (1 - (self.expected or 0.0))
        ci95 = max(self.value - reach, floor), min(self.value + reach, 1.0)
        return Coefficient(self.value, from_draws.standard_error, ci95)


def undefined(reason: str, expected: float | None = None) -> Estimate:
    """An estimate without a value.

    Parameters
    ----------
    reason : str
        Reason for the missing value, as JSON and screens show it.
    expected : float, optional
        Expected agreement, if known.
    """
    return Estimate(None, str(reason), expected)


def missing(ratings: Ratings) -> Undefined | None:
    """Reason why no answers can be compared, or None."""
    if len(np.unique(ratings.rater)) < 2:
        return Undefined.ONE_RATER
    return Undefined.NO_OVERLAP if not len(ratings.comparable_items) else None


def uncomparable(ratings: Ratings) -> Undefined | None:
    """Reason why a coefficient of pooled answers is undefined, or None."""
    if reason := missing(ratings):
        return reason
    return Undefined.ONE_ITEM if len(ratings.comparable_items) < 2 else None


def no_variation(ratings: Ratings, chance: Chance) -> Undefined | None:
    """Reason why a coefficient that is corrected for pooled chance is undefined, or None."""
    if reason := uncomparable(ratings):
        return reason
    return Undefined.NO_VARIATION if 1 - chance.pooled <= CERTAIN else None
