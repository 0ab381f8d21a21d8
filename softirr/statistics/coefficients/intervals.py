"""Standard errors and confidence intervals over items, from influence functions.

The items are a sample of the items that a project could have had. Raters are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.statistics.coefficients.estimate import Estimate

__all__ = [
    "Coefficient",
    "Details",
    "Interval",
    "Sample",
    "analytic",
    "of_mean",
    "standard_error",
    "wald",
]

_NO_SKEW = 20
"""Shrinkage of the skewness, in items without skewness: the skewness of a few items is mostly noise."""
_CERTAIN = 1e-12


@dataclass(frozen=True)
class Interval(JsonObject):
    """A value of a coefficient by one route, with its standard error and 95% interval."""

    value: float | None
    standard_error: float | None = None
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class Details(JsonObject):
    """What a coefficient rests on, for those who want more than the value and the interval to report.

    Attributes
    ----------
    items_only : Interval
        By the measure alone, as if it made no errors: the interval covers the sampling of items only.
    judgments_only : Interval or None
        By the judged pairs alone, for a number of judgments that was fixed beforehand.
    by_measure : float or None
        The value by the measure alone.
    """

    items_only: Interval
    judgments_only: Interval | None = None
    by_measure: float | None = None


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its standard error and interval, as in reports.

    Attributes
    ----------
    value, standard_error : float or None
        None if the coefficient, or its error, is undefined.
    ci95 : (float, float) or None
        The 95% interval to report.
    undefined : str or None
        Why there is no value.
    judgments : int
        Judged pairs of texts behind it.
    details : Details or None
        The same by single routes; None where there is one route only.

    Examples
    --------
    >>> kappa = Coefficient(0.5, 0.05, (0.4, 0.6))
    >>> float(kappa), kappa > 0.3
    (0.5, True)
    """

    value: float | None
    standard_error: float | None = None
    ci95: tuple[float, float] | None = None
    undefined: str | None = None
    judgments: int = 0
    details: Details | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise InputError(f"The coefficient has no value: {self.undefined or 'there is nothing to compare'}.")
        return self.value

    def __lt__(self, other: float | Coefficient) -> bool:
        return float(self) < float(other)

    def __le__(self, other: float | Coefficient) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: float | Coefficient) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: float | Coefficient) -> bool:
        return float(self) >= float(other)

    @property
    def items_only(self) -> Interval:
        """The interval as if the measure made no errors."""
        if self.details is not None:
            return self.details.items_only
        return Interval(self.value, self.standard_error, self.ci95)

    def to_dict(self) -> dict[str, Any]:
        """The object C of the JSON contract."""
        details = self.details or Details(self.items_only, by_measure=self.value)
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "judgments": self.judgments,
            "undefined": self.undefined,
            "details": details.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Sample:
    """A coefficient, and the items that it rests on.

    Attributes
    ----------
    coefficient : Coefficient
        With its interval.
    draws : shape (K,)
        The coefficient in each draw; empty if it has no value. An item has the same weights in every sample.
    items : tuple of str
        Ids of the items.
    """

    coefficient: Coefficient
    draws: Floats
    items: tuple[str, ...]


def standard_error(estimate: Estimate) -> float | None:
    """Standard error over items, including the error of sampled chance agreement.

    ``sqrt(Σ ψ² / (N (N - 1)) - noise / N + chance_error²)`` for influences ψ: the first-order jackknife (Efron and
    Stein 1981). Where chance is sampled, the ψ vary with the sample; ``noise`` subtracts that part.

    Returns
    -------
    float or None
        None with fewer than two items.
    """
    n = len(estimate.influence)
    if estimate.value is None or n < 2:
        return None
    centered = estimate.influence - estimate.influence.mean()
    variance = float(np.sum(centered**2)) / (n * (n - 1)) - estimate.noise / n
    return float(np.sqrt(max(variance, 0.0) + estimate.chance_error**2))


def wald(value: float, error: float, *, df: float = np.inf, level: float = 0.95) -> tuple[float, float]:
    """Interval value ± quantile × error, with Student's t of ``df`` degrees of freedom, truncated at 1.

    Parameters
    ----------
    value, error : float
        The coefficient and its standard error.
    df : float
        Degrees of freedom; infinity is the normal distribution.
    level : float
        Share of intervals that hold the true value.

    Returns
    -------
    tuple of (float, float)
        Lower and upper end.
    """
    half = _quantile(df, level) * error
    return value - half, min(value + half, 1.0)


def analytic(estimate: Estimate, *, level: float = 0.95) -> Coefficient:
    """A coefficient with its analytic interval.

    Student's t with N - 1 degrees of freedom around value + ``shift``, moved by Johnson's (1978) correction for
    skewness, ``error × γ / √N × (1 + 2 t²) / 6``. γ is the skewness of the influences, shrunk towards 0 as if 20 items
    without skewness were added. Few disagreements among many items skew the influences to the left: the interval then
    extends further down.

    Where all items agree, or all add the same, every influence is 0 and the standard error is uninformative; see
    :func:`_without_variation`.

    Parameters
    ----------
    level : float
        Coverage of the interval.
    """
    if estimate.value is None:
        return Coefficient(None, undefined=estimate.undefined)
    error = standard_error(estimate)
    if error is None:
        return Coefficient(estimate.value)
    if estimate.value >= 1 - _CERTAIN or error < _CERTAIN:
        return _without_variation(estimate, error, level)
    n = len(estimate.influence)
    t = _quantile(n - 1, level)
    skewness = _skewness(estimate.influence) * n / (n + _NO_SKEW)
    center = estimate.value + estimate.shift + error * skewness * (1 + 2 * t**2) / 6
    return _bounded(estimate, error, center - t * error, center + t * error)


def of_mean(values: Floats, *, floor: float = -np.inf, expected: float | None = None) -> Coefficient:
    """The mean of what items add to a coefficient, with its analytic interval.

    Parameters
    ----------
    values : shape (n,)
        Single ones may be outside the coefficient's range.
    floor : float
        Lowest value of the coefficient; the highest is 1.
    expected : float, optional
        Agreement by chance, where the coefficient is corrected for it.

    Examples
    --------
    >>> lower, upper = of_mean(np.array([0.5, 0.75, 1.0, 1.0]), floor=0.0).ci95
    >>> round(lower, 2), upper
    (0.41, 1.0)
    """
    mean = float(values.mean())
    return analytic(Estimate(min(max(mean, floor), 1.0), values - mean, expected=expected, floor=floor))


def _without_variation(estimate: Estimate, error: float, level: float) -> Coefficient:
    """An interval for items that all agree, or that all add the same to the coefficient.

    A share of other items that N items miss with probability ``1 - level`` is at most ``1 - (1 - level)^(1/N)``. They
    move the mean agreement by no more than this share, and the coefficient by this share divided by the expected
    disagreement.
    """
    assert estimate.value is not None
    unseen = 1 - (1 - level) ** (1 / len(estimate.influence))
    reach = unseen / (1 - (estimate.expected or 0.0))
    low, high = estimate.value - reach, estimate.value + reach
    return Coefficient(estimate.value, error, (max(low, estimate.floor), min(high, 1.0)))


def _bounded(estimate: Estimate, error: float, low: float, high: float) -> Coefficient:
    """The interval truncated to possible values and extended to contain the value."""
    assert estimate.value is not None
    low, high = max(min(low, estimate.value), estimate.floor), min(max(high, estimate.value), 1.0)
    return Coefficient(estimate.value, error, (low, high))


def _skewness(influence: Floats) -> float:
    """Skewness of the mean of the influences; 0 where they do not vary."""
    centered = influence - influence.mean()
    variance = float(np.sum(centered**2))
    return 0.0 if variance <= 0 else float(np.sum(centered**3)) / variance**1.5


def _quantile(df: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))
