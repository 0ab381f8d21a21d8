"""Paired permutation tests, and calibration of P on pairs with a known truth.

References
----------
Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.answers.ratings import Floats
from softirr.errors import InputError

PERMUTATIONS = 10_000
"""Of tests over everything together (bold marks and asterisks in Wullschleger et al. 2026)."""
PERMUTATIONS_EACH = 1_000
"""Of tests within one terminology (stars in Wullschleger et al. 2026)."""
LEVEL = 0.05


def signs(n: int, permutations: int = PERMUTATIONS, seed: int = 0) -> NDArray[np.int8]:
    """Random signs, shape (permutations, n), the same on every machine and in every version of NumPy."""
    words = -(-n // 64)
    raw = np.random.PCG64(seed).random_raw(permutations * words).astype("<u8").reshape(permutations, words)
    bits = np.unpackbits(raw.view(np.uint8), axis=1)[:, :n]
    return (bits.astype(np.int8) * 2 - 1).astype(np.int8)


def paired_permutation(differences: Floats, *, permutations: int = PERMUTATIONS, seed: int = 0) -> float:
    """Two-sided p value of "the mean difference is 0" when the sign of each difference is random.

    Parameters
    ----------
    differences : shape (n,)
        Of paired values, such as two measures' errors on the same populations.

    Returns
    -------
    float
        (1 + permutations at least as far from 0) / (1 + permutations); 1 for no pairs.
    """
    if not len(differences):
        return 1.0
    observed = abs(float(differences.mean()))
    flipped = np.abs(signs(len(differences), permutations, seed).astype(np.float64) @ differences) / len(differences)
    return float((1 + np.sum(flipped >= observed - 1e-12)) / (1 + permutations))


def ties(errors: Mapping[str, Floats], *, permutations: int = PERMUTATIONS, seed: int = 0) -> frozenset[str]:
    """The name with the lowest mean, and all names with paired errors that are not significantly different.

    Parameters
    ----------
    errors : mapping of str to array
        Arrays of one length and order.
    """
    best = min(errors, key=lambda name: (float(errors[name].mean()), name))
    return frozenset(
        name
        for name, errors_of_name in errors.items()
        if name == best
        or paired_permutation(errors_of_name - errors[best], permutations=permutations, seed=seed) >= LEVEL
    )


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


def reliability(p: ArrayLike, truth: ArrayLike) -> tuple[ReliabilityBin, ...]:
    """Reliability curve over ten bins of equal width, from the lowest P to the highest (Guo et al. 2017, Fig. 1).

    Parameters
    ----------
    p, truth : array_like, shape (n,)
        Equivalence of each pair by the measure, and its true equivalence from 0 to 1.
    """
    x, y = np.asarray(p, dtype=np.float64).ravel(), np.asarray(truth, dtype=np.float64).ravel()
    # rounded first: 0.3 and 0.1 + 0.2 belong to the same bin
    bin_index = np.clip(np.ceil(np.round(x * BINS, 9)).astype(np.int64) - 1, 0, BINS - 1)
    n = np.bincount(bin_index, minlength=BINS)
    p_sum, y_sum = (np.bincount(bin_index, weights=values, minlength=BINS) for values in (x, y))
    return tuple(
        ReliabilityBin(
            b / BINS,
            (b + 1) / BINS,
            int(n[b]),
            float(p_sum[b] / n[b]) if n[b] else None,
            float(y_sum[b] / n[b]) if n[b] else None,
        )
        for b in range(BINS)
    )


def expected_calibration_error(p: ArrayLike, truth: ArrayLike) -> float:
    """ECE: mean over pairs of |mean P - mean truth| of their bin (Guo et al. 2017, Eq. 3).

    Parameters
    ----------
    p, truth : array_like, shape (n,)
        As for :func:`reliability`.

    Raises
    ------
    InputError
        If pairs are missing.
    """
    curve = reliability(p, truth)
    n_pairs = sum(bin_.n_pairs for bin_ in curve)
    if not n_pairs:
        raise InputError("There are no pairs to compute a calibration error from.")
    return sum(bin_.n_pairs * abs((bin_.mean_p or 0.0) - (bin_.share_same or 0.0)) for bin_ in curve) / n_pairs
