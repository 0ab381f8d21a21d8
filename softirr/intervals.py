"""Standard errors and confidence intervals from influence functions over items.

Items are the unit that is sampled: a project's items stand for the items it might have had. Raters are taken as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.coefficients import Estimate, Undefined

FEW_ITEMS = 30
"""Below this many items a report warns that its intervals are rough."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its interval, as reports carry it.

    Attributes
    ----------
    value : float or None
    standard_error : float or None
    ci95 : (float, float) or None
        Confidence interval.
    undefined : str or None
        Why there is no value.
    """

    value: float | None
    standard_error: float | None = None
    ci95: tuple[float, float] | None = None
    undefined: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The object C of the JSON contract."""
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "undefined": self.undefined,
        }


def standard_error(estimate: Estimate) -> float | None:
    """Standard error over items, with the error of sampled chance agreement added; None with fewer than two items.

    ``sqrt(Σ ψ² / (N (N - 1)) - noise / N + chance_error²)`` for influences ψ: the jackknife's to first order (Efron and Stein 1981). Where
    chance is sampled, sampling also scatters the ψ, and ``noise`` takes that part off again.
    """
    n = len(estimate.influence)
    if estimate.value is None or n < 2:
        return None
    centred = estimate.influence - estimate.influence.mean()
    variance = float(np.sum(centred**2)) / (n * (n - 1)) - estimate.noise / n
    return float(np.sqrt(max(variance, 0.0) + estimate.chance_error**2))


def wald(value: float, error: float, *, df: float = np.inf, level: float = 0.95) -> tuple[float, float]:
    """value ± quantile × error, with Student's t of ``df`` degrees of freedom, cut at the highest possible value 1."""
    from scipy.stats import t

    half = float(t.ppf(0.5 + level / 2, df)) * error
    return value - half, min(value + half, 1.0)


def analytic(estimate: Estimate, *, level: float = 0.95) -> Coefficient:
    """A coefficient with its analytic interval: Student's t with N - 1 degrees of freedom.

    Where no item disagrees, every influence is 0 and the standard error says nothing; the interval then reaches down to the mean
    disagreement that N items would show not once in ``1 - level`` of all projects, ``1 - (1 - level)^(1/N)``, over the expected one.
    """
    if estimate.value is None:
        return Coefficient(None, undefined=estimate.undefined)
    error = standard_error(estimate)
    if error is None:
        return Coefficient(estimate.value)
    n = len(estimate.influence)
    if estimate.value >= 1 - 1e-12:
        unseen = 1 - (1 - level) ** (1 / n)
        room = 1 - (estimate.expected or 0.0)
        return Coefficient(estimate.value, error, (1 - unseen / room, 1.0))
    low, high = wald(estimate.value, error, df=n - 1, level=level)
    return Coefficient(estimate.value, error, (max(low, estimate.floor), high))


def no_interval(reason: Undefined | str) -> Coefficient:
    """A coefficient without a value."""
    return Coefficient(None, undefined=str(reason))
