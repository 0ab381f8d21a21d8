"""Tests of several hypotheses at once, and of several coefficients being the same.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure.
Fleiss, J. L. (1981). Statistical methods for rates and proportions, chapter 13 (homogeneity of kappas).
Vanbelle, S. and Albert, A. (2008). A bootstrap method for comparing correlated kappa coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softirr.json_object import JsonObject
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.comparisons.difference import covariance

__all__ = ["Equality", "equality", "holm", "holm_levels"]

_CERTAIN = 1e-9


def holm(p: Sequence[float | None]) -> list[float | None]:
    """P values adjusted for their number (Holm 1979); None stays None and does not count.

    Parameters
    ----------
    p : sequence of (float or None)
        P values in any order.

    Returns
    -------
    list of (float or None)
        Adjusted p values in the order of ``p``, at most 1.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ranked = sorted((value, index) for index, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, index) in enumerate(ranked):
        highest = max(highest, min((len(ranked) - rank) * value, 1.0))
        adjusted[index] = highest
    return adjusted


def holm_levels(p: Sequence[float | None], level: float = 0.05) -> list[float]:
    """The level at which Holm's procedure tests each of several hypotheses.

    The smallest of m p values is tested at ``level / m``, the next one at ``level / (m - 1)``, and so on until a
    hypothesis is not rejected; all others are tested at the level of that hypothesis.

    Parameters
    ----------
    p : sequence of (float or None)
        None does not count, and has the level of a single hypothesis.
    level : float
        Probability of rejecting any true hypothesis, such as 0.05.

    Returns
    -------
    list of float
        Levels in the order of ``p``.

    Examples
    --------
    >>> [round(level, 4) for level in holm_levels([0.001, None, 0.3, 0.2])]
    [0.0167, 0.05, 0.025, 0.025]
    """
    ranked = sorted((value, index) for index, value in enumerate(p) if value is not None)
    levels = [level] * len(p)
    n_remaining, going = len(ranked), True
    for value, index in ranked:
        levels[index] = level / n_remaining
        going = going and value < levels[index]
        n_remaining -= going
    return levels


@dataclass(frozen=True)
class Equality(JsonObject):
    """A test that several coefficients are the same.

    Attributes
    ----------
    statistic : float
        Wald's chi-square, or Hotelling's T².
    df : int
        One less than the number of coefficients.
    p : float
        Probability of a statistic at least this large if the coefficients are the same.
    """

    statistic: float
    df: int
    p: float


def equality(samples: Sequence[Sample], *, independent: bool = False) -> Equality | None:
    """Test that three or more coefficients are the same.

    With different items it is Fleiss's (1981) chi-square test, with the same items Hotelling's T² test (Vanbelle and
    Albert 2008). None if a standard error is 0.

    Parameters
    ----------
    samples : sequence of Sample
        Coefficients with their draws; undefined ones are left out.
    independent : bool
        Whether items of the same id are different items.

    Returns
    -------
    Equality or None
        None for fewer than three coefficients, if a standard error is 0, or if they are copies of one another.
    """
    from scipy.stats import chi2, f

    usable = [s for s in samples if s.coefficient.value is not None and s.coefficient.standard_error]
    k = len(usable)
    if k < 3 or k < len([s for s in samples if s.coefficient.value is not None]):
        return None
    matrix = np.diag([float(s.coefficient.standard_error or 0.0) ** 2 for s in usable])
    for i in range(k):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = covariance(usable[i], usable[j], independent=independent)
    values = np.array([float(s.coefficient.value or 0.0) for s in usable])
    contrast = np.eye(k)[1:] - np.eye(k)[0]
    apart, spread = contrast @ values, contrast @ matrix @ contrast.T
    if np.linalg.eigvalsh(spread)[0] <= _CERTAIN * np.trace(matrix):  # copies of one another
        return None
    statistic = float(apart @ np.linalg.solve(spread, apart))
    n = min(len(s.items) for s in usable)
    if not independent and all(set(s.items) == set(usable[0].items) for s in usable) and n > k:
        return Equality(statistic, k - 1, float(f.sf(statistic * (n - k + 1) / ((n - 1) * (k - 1)), k - 1, n - k + 1)))
    return Equality(statistic, k - 1, float(chi2.sf(statistic, k - 1)))
