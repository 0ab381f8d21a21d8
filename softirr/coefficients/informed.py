"""A coefficient with what is known about its measure: a prior from benchmark populations, updated by judgements where there are some.

The prior is a distribution of the table's true coefficient (:class:`softirr.measures.known_errors.KnownError`), the likelihood that of the audit's
estimate. The product is the posterior; the items' sampling error is added to it, because the items are a sample. Two intervals result:

- The posterior's own 95% interval. Over projects like the benchmark populations it holds the truth in 95%, at any number of judgements and
  wherever one stops, because a posterior does not depend on the reason for stopping (Bayes-assisted prediction-powered inference: Cortinovis and
  Caron 2025).
- A confidence sequence: the values whose posterior density is at least 5% of their prior density (Robbins' mixtures; Kilian, Cortinovis and Caron
  2025). By Ville's inequality all of its intervals together hold the truth in 95%, for any project and any prior; a good prior only makes it narrower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.coefficients.intervals import Coefficient
from softirr.measures.known_errors import KnownError
from softirr.tables.ratings import Floats

__all__ = ["Informed", "grid", "informed", "unaudited"]

_STEP = 0.001
_WIDEST = 1.0
"""Most standard error of the items that is added; wider than the range of a coefficient, it says nothing more."""
_REACH = 8.0


@dataclass(frozen=True)
class Informed:
    """A coefficient with what is known about its measure.

    Attributes
    ----------
    value : float
        The posterior's median.
    ci95 : (float, float)
        The posterior's interval.
    ci95_any_time : (float, float)
        The confidence sequence.
    """

    value: float
    ci95: tuple[float, float]
    ci95_any_time: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"value": self.value, "ci95": list(self.ci95), "ci95_any_time": list(self.ci95_any_time)}


def grid(coefficient: str) -> Floats:
    """The possible values of a coefficient in steps of 0.001: observed agreement is a share, and no coefficient is below -1.

    Parameters
    ----------
    coefficient : str
        Its name, as in the JSON.

    Returns
    -------
    shape (n,)
    """
    least = 0.0 if coefficient == "observed_agreement" else -1.0
    return np.asarray(np.linspace(least, 1.0, round((1 - least) / _STEP) + 1), dtype=np.float64)


def informed(
    prior: Floats, likelihood: Floats, at: Floats, error: float, freedom: float, level: float = 0.95
) -> Informed:
    """The intervals of a coefficient of the population that the items were drawn from.

    Parameters
    ----------
    prior, likelihood : shape (n,)
        Logarithms of both, up to a constant, for the coefficient of the table.
    at : shape (n,)
        The values of ``grid``.
    error, freedom : float
        Standard error over items, and its degrees of freedom.
    level : float

    Returns
    -------
    Informed

    Examples
    --------
    >>> at = grid("cohen_kappa")
    >>> found = informed(-(((at - 0.5) / 0.1) ** 2) / 2, np.zeros_like(at), at, 0.0, 99.0)
    >>> [round(x, 2) for x in (*found.ci95, *found.ci95_any_time)]
    [0.3, 0.7, -1.0, 1.0]
    """
    after = _share(prior + likelihood)
    before = _share(prior)
    held = np.flatnonzero(after >= (1 - level) * before)
    error = min(error, _WIDEST)
    values, mass = at, after
    tail = (1 - level) / 2
    reach = 0.0
    if error > _STEP / 2:
        from scipy.special import stdtrit

        steps = np.arange(-round(_REACH * error / _STEP), round(_REACH * error / _STEP) + 1)
        z = steps * _STEP / error
        mass = np.asarray(np.convolve(after, _share(-(freedom + 1) / 2 * np.log1p(z * z / freedom))), dtype=np.float64)
        values = at[0] + _STEP * np.arange(len(mass)) + steps[0] * _STEP
        reach = float(stdtrit(freedom, 1 - tail)) * error
    below = np.cumsum(mass) - mass / 2
    low, value, high = np.clip(np.interp([tail, 0.5, 1 - tail], below / mass.sum(), values), at[0], 1.0).tolist()
    first, last = float(at[held[0]]), float(at[held[-1]])
    center = min(max(float(after @ at), first), last)
    sequence = (
        max(center - float(np.hypot(center - first, reach)), float(at[0])),
        min(center + float(np.hypot(last - center, reach)), 1.0),
    )
    return Informed(value, (low, high), sequence)


def unaudited(
    name: str, coefficient: Coefficient, known: KnownError | None, n_items: int
) -> tuple[float, float] | None:
    """The 95% interval of a coefficient that nobody has audited: the items' sampling error and the measure's error.

    It holds the interval of the items alone. None where the coefficient has no value or standard error, or nothing is known about the measure's error.

    Parameters
    ----------
    name : str
        The coefficient's name, as in the JSON.
    coefficient : Coefficient
    known : KnownError or None
        What is known about the measure's error.
    n_items : int

    Returns
    -------
    tuple of (float, float) or None

    Examples
    --------
    >>> narrow = Coefficient(0.5, 0.03, (0.44, 0.56))
    >>> low, high = unaudited("cohen_kappa", narrow, KnownError("indel", 0.0, 1.0, 0.08, 4.0), 200)
    >>> round(low, 2), round(high, 2)
    (0.27, 0.72)
    """
    if known is None or coefficient.value is None or coefficient.standard_error is None:
        return None
    at = grid(name)
    # the true coefficient varies with the items as the measure's one does, times the slope between the two
    error = coefficient.standard_error * max(known.slope, 1.0)
    prior = known.log_density(coefficient.value, at)
    low, high = informed(prior, np.zeros_like(at), at, error, max(n_items - 1.0, 1.0)).ci95
    if coefficient.ci95 is None:
        return low, high
    # with a handful of items the interval of the items alone can be the wider one; an interval with more in it never is narrower
    return min(low, coefficient.ci95[0]), max(high, coefficient.ci95[1])


def _share(log: Floats) -> Floats:
    """Densities that sum to 1."""
    density = np.exp(log - log.max())
    return np.asarray(density / density.sum())
