"""Paired permutation tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats

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
