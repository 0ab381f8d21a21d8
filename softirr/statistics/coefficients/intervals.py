"""Coefficients with standard errors and 95% intervals, which come from draws.

The items are a sample of the items that a project could have had. Raters are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.errors import InputError
from softirr.json_object import JsonObject

_TAIL = 0.025
NORMAL = 1.959964
"""Half of a 95% interval in standard errors."""
_LARGEST_BIAS = 0.5


@dataclass(frozen=True)
class Interval(JsonObject):
    """A value of a coefficient by one route, with its standard error and 95% interval.

    Attributes
    ----------
    value : float or None
        The coefficient by this route; None if it is undefined.
    standard_error : float or None
        None without an interval.
    ci95 : (float, float) or None
        Lower and upper end; None if it cannot be estimated, as for fewer than two items.
    """

    value: float | None
    standard_error: float | None = None
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class Details(JsonObject):
    """Details of a coefficient beyond the value and the interval to report.

    Attributes
    ----------
    items_only : Interval
        The estimate by the measure alone, as if it made no errors. The interval covers the sampling of items only.
    judgments_only : Interval or None
        The estimate from judged pairs alone. Valid if the number of judgments was fixed beforehand.
    by_measure : float or None
        The value by the measure alone.
    """

    items_only: Interval
    judgments_only: Interval | None = None
    by_measure: float | None = None


@dataclass(frozen=True)
class Coefficient(Interval):
    """A coefficient with its standard error and interval, as in reports.

    Attributes
    ----------
    value : float or None
        None if it is undefined, for the reason ``undefined``.
    standard_error : float or None
        Standard deviation of the value over all draws; None without an interval.
    ci95 : (float, float) or None
        The 95% interval to report.
    judgments : int
        Number of judged pairs of texts that it uses.
    undefined : str or None
        Reason for the missing value.
    details : Details or None
        Estimates by each route; None if only one exists.

    Examples
    --------
    >>> kappa = Coefficient(0.5, 0.05, (0.4, 0.6))
    >>> float(kappa), kappa > 0.3
    (0.5, True)
    """

    judgments: int = 0
    undefined: str | None = None
    details: Details | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise InputError(f"The coefficient has no value: {self.undefined or 'there is nothing to compare'}.")
        return self.value

    def __lt__(self, bound: float | Coefficient) -> bool:
        return float(self) < float(bound)

    def __le__(self, bound: float | Coefficient) -> bool:
        return float(self) <= float(bound)

    def __gt__(self, bound: float | Coefficient) -> bool:
        return float(self) > float(bound)

    def __ge__(self, bound: float | Coefficient) -> bool:
        return float(self) >= float(bound)

    @property
    def items_only(self) -> Interval:
        """The interval as if the measure made no errors."""
        if self.details is not None:
            return self.details.items_only
        return Interval(self.value, self.standard_error, self.ci95)

    def to_dict(self) -> dict[str, Any]:
        """The object C of the JSON contract."""
        details = self.details or Details(self.items_only, by_measure=self.value)
        return {**super().to_dict(), "details": details.to_dict()}


@dataclass(frozen=True, eq=False)
class Sample:
    """A coefficient and the items that it is computed from.

    Attributes
    ----------
    coefficient : Coefficient
        With its interval.
    draws : shape (K,)
        The coefficient in each draw; empty if it has no value. An item has the same weights in every sample.
    items : sequence of str or shape (n,)
        Ids or numbers of the items.
    """

    coefficient: Coefficient
    draws: Floats
    items: Sequence[str] | Ints


def coefficient_of_draws(value: float, draws: Floats, floor: float, *, n_items: int | None = None) -> Coefficient:
    """A value with the standard error and the 95% interval of its draws, which contains the value.

    Parameters
    ----------
    value : float
        The coefficient with equal item weights.
    draws : shape (K,)
    floor : float
        Lowest value of the draws, and of the interval unless the value is below; the highest is 1.
    n_items : int, optional
        Number of items, if only the item weights are drawn. The quantiles are then corrected for bias and skewness
        (Efron 1987), and the interval is wider for few items, by the quantile of Student's t relative to the normal
        one.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association 82,
    171-185.
    """
    bounded = np.clip(draws, floor, 1.0)
    tails = (_TAIL, 1 - _TAIL) if n_items is None else _corrected_tails(value, bounded)
    low, high = np.quantile(bounded, tails).tolist()
    if n_items is not None:
        stretch = student_quantile(n_items - 1) / NORMAL
        low, high = value - stretch * (value - low), value + stretch * (high - value)
    ci95 = min(max(low, floor), value), min(max(high, value), 1.0)
    return Coefficient(value, float(np.std(bounded)), ci95)


def unseen_items(coefficient: Coefficient, n_draws: int, seed: int) -> Floats:
    """Deviations of draws because of unseen items, if all items contribute the same (cf. the rule of three).

    Parameters
    ----------
    coefficient : Coefficient
        With the interval that allows for them; without an interval, nothing deviates.
    """
    if coefficient.value is None or coefficient.ci95 is None:
        return np.zeros(n_draws)
    reach = max(coefficient.value - coefficient.ci95[0], coefficient.ci95[1] - coefficient.value)
    return reach / NORMAL * np.random.default_rng(seed).standard_normal(n_draws)


def _corrected_tails(value: float, draws: Floats) -> tuple[float, float]:
    """Shares of the draws below the ends of the interval, by bias and acceleration (Efron 1987, equation 3.9)."""
    from scipy.special import ndtr, ndtri

    deviations = draws - draws.mean()
    spread = float(np.std(draws))
    if spread == 0.0:
        return _TAIL, 1 - _TAIL
    # ties count half, whatever the order in which their terms were added
    below = (1 - float(np.mean(np.sign(np.round(draws - value, 12))))) / 2
    # draws of KS are nearly all above its value: only so much of that is bias
    bias = min(max(float(ndtri(below)), -_LARGEST_BIAS), _LARGEST_BIAS)
    # exponential weights have the skewness 2, and the acceleration is a sixth of the skewness of the items' influence
    acceleration = float(np.mean(deviations**3)) / spread**3 / 12
    low, high = (bias + (bias + z) / (1 - acceleration * (bias + z)) for z in (-NORMAL, NORMAL))
    return float(ndtr(low)), float(ndtr(high))


def student_quantile(df: int, tail: float = 0.025) -> float:
    """Upper quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - tail))
