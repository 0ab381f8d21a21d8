"""Calibration of P on pairs with a known truth: reliability curve and expected calibration error.

References
----------
Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from softirr.errors import InputError

__all__ = ["BINS", "ReliabilityBin", "expected_calibration_error", "reliability"]

BINS = 10


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs with P in (low, high]; the first bin includes 0.

    Attributes
    ----------
    mean_p : float or None
        Mean P of the pairs. None for an empty bin.
    share_same : float or None
        Mean truth of the pairs: 1 same, 0 different.
    """

    low: float
    high: float
    n_pairs: int
    mean_p: float | None
    share_same: float | None


def reliability(p: ArrayLike, truth: ArrayLike, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Reliability curve over bins of equal width, from the lowest P to the highest (Guo et al. 2017, Fig. 1).

    Parameters
    ----------
    p, truth : array_like, shape (n,)
        Equivalence of each pair by the measure, and its true equivalence from 0 to 1.
    bins : int
        Number of bins, at least 1.
    """
    x, y = np.asarray(p, dtype=np.float64).ravel(), np.asarray(truth, dtype=np.float64).ravel()
    if bins < 1:
        raise InputError(f"The number of bins is {bins}, but must be at least 1.")
    # rounded first: 0.3 and 0.1 + 0.2 belong to the same bin
    bin_index = np.clip(np.ceil(np.round(x * bins, 9)).astype(np.int64) - 1, 0, bins - 1)
    n = np.bincount(bin_index, minlength=bins)
    p_sum, y_sum = (np.bincount(bin_index, weights=values, minlength=bins) for values in (x, y))
    return tuple(
        ReliabilityBin(
            b / bins,
            (b + 1) / bins,
            int(n[b]),
            float(p_sum[b] / n[b]) if n[b] else None,
            float(y_sum[b] / n[b]) if n[b] else None,
        )
        for b in range(bins)
    )


def expected_calibration_error(p: ArrayLike, truth: ArrayLike, *, bins: int = BINS) -> float:
    """ECE: mean over pairs of |mean P - mean truth| of their bin (Guo et al. 2017, Eq. 3).

    Parameters
    ----------
    p, truth : array_like, shape (n,)
        As for :func:`reliability`.
    bins : int
        Number of bins, at least 1.

    Raises
    ------
    InputError
        If pairs are missing.
    """
    curve = reliability(p, truth, bins=bins)
    n_pairs = sum(bin_.n_pairs for bin_ in curve)
    if not n_pairs:
        raise InputError("There are no pairs to compute a calibration error from.")
    return sum(bin_.n_pairs * abs((bin_.mean_p or 0.0) - (bin_.share_same or 0.0)) for bin_ in curve) / n_pairs
