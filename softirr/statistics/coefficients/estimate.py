"""The estimate of a coefficient: its value, and the influence of each item."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings

__all__ = ["Estimate", "Undefined", "missing", "undefined"]


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


@dataclass(frozen=True, eq=False)
class Estimate:
    """A coefficient before its interval.

    Attributes
    ----------
    influence : shape (N,)
        Influence of each of the N items used: mean zero, and N times the variance of the value.
    undefined : str or None
        Why there is no value.
    expected : float or None
        Agreement expected by chance.
    chance_error : float
        Standard error caused by sampling the chance agreement.
    noise : float
        Mean variance that this sampling adds to one influence; the intervals subtract it.
    floor : float
        Lowest value that the coefficient can take; the highest is 1.
    shift : float
        Minus the first-order bias of the value: the change of the value when chance agreement leaves out pairs of
        answers to the same item. Intervals are centered on value + shift.
    items : shape (N,), optional
        The item of each influence: what two estimates of the same items are compared by.
    """

    value: float | None
    influence: Floats
    undefined: str | None = None
    expected: float | None = None
    chance_error: float = 0.0
    noise: float = 0.0
    floor: float = -np.inf
    shift: float = 0.0
    items: Ints | None = None


def undefined(reason: str, expected: float | None = None) -> Estimate:
    """An estimate without a value.

    Parameters
    ----------
    reason : str
        Why there is no value, as JSON and screens show it.
    expected : float, optional
        Expected agreement, where it is known nevertheless.
    """
    return Estimate(None, np.zeros(0), str(reason), expected)


def missing(ratings: Ratings) -> Undefined | None:
    """Reason why no answers can be compared, or None."""
    if len(np.unique(ratings.rater)) < 2:
        return Undefined.ONE_RATER
    return Undefined.NO_OVERLAP if not len(ratings.comparable_items) else None
