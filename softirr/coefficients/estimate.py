"""What a coefficient is before its interval: a value, the influence of each item, and the value of resampled tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from softirr.tables.ratings import Floats, Ratings


class Undefined(StrEnum):
    """Why a coefficient or an interval has no value."""

    ONE_RATER = "only one rater"
    NO_OVERLAP = "no item has answers of two raters"
    ONE_ITEM = "only one item has answers of two raters: agreement by chance cannot be told from agreement"
    NO_VARIATION = "agreement by chance is 1: all answers are equivalent"
    ONE_CATEGORY = "all answers are the same"
    MORE_THAN_TWO_RATERS = "defined for two raters"
    NO_PAIR_DEFINED = "no pair of raters shares two items on which their answers differ"
    NO_OTHER_RATER = "no item was answered by this rater and another one"


Replicate = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A coefficient before its interval.

    Attributes
    ----------
    value : float or None
    influence : shape (N,)
        Influence of each of the N items it rests on: mean zero, and variance N times that of the value.
    undefined : str or None
        Why there is no value.
    expected : float or None
        Agreement expected by chance.
    chance_error : float
        Standard error that comes from chance agreement having been sampled.
    noise : float
        Mean variance that this sampling adds to one influence; taken off again by the intervals.
    floor : float
        Lowest value that the coefficient can take; the highest is 1.
    shift : float
        What the value gains when chance agreement leaves out pairs of answers to the same item: its bias to first order, with the sign
        turned. Intervals are centred on value + shift.
    replicate : callable, optional
        From weights of the N items, shape (B, N), each row summing to N, to the value of each of B resampled tables, nan where it has none.
        Nothing is scored for it: chance agreement is taken to first order in the weights.
    """

    value: float | None
    influence: Floats
    undefined: str | None = None
    expected: float | None = None
    chance_error: float = 0.0
    noise: float = 0.0
    floor: float = -np.inf
    shift: float = 0.0
    replicate: Replicate | None = None


def undefined(reason: str, expected: float | None = None) -> Estimate:
    """An estimate without a value."""
    return Estimate(None, np.zeros(0), str(reason), expected)


def missing(ratings: Ratings) -> Undefined | None:
    """Why nothing can be compared, if so."""
    if len(np.unique(ratings.rater)) < 2:
        return Undefined.ONE_RATER
    return Undefined.NO_OVERLAP if not len(ratings.comparable_items) else None
