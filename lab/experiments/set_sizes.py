"""Sizes of pairs of sets and their number of shared concepts (Wullschleger et al. 2026, appendix)."""

from __future__ import annotations

import math

from lab.experiments.draw import Draw

SMALLEST, LARGEST = 2, 5
"""Bounds of the size of a set."""


def nearest(value: float) -> int:
    """The nearest whole number, halves rounded up."""
    return math.floor(value + 0.5)


def size_gap(target: float, size: int) -> int:
    """The largest difference in size, g_α.

    The smaller of the population's budget and the pair's (Wullschleger et al. 2026, appendix).

    Parameters
    ----------
    target : float
        α
    size : int
        |A|
    """
    population = nearest((1 - target) * (LARGEST - SMALLEST))
    return min(population, math.floor((1 - target) * size))


def shared_count(target: float, m: int, n: int) -> float:
    """k*, the number of shared concepts at which two sets of m and n have the Jaccard coefficient α.

    α (m + n) / (1 + α).
    """
    return target * (m + n) / (1 + target)


def set_sizes(target: float, draw: Draw) -> tuple[int, int, int]:
    """|A|, |B| and the number of shared concepts of one pair of sets (Wullschleger et al. 2026, appendix)."""
    m = SMALLEST + draw.below(LARGEST - SMALLEST + 1)
    gap = size_gap(target, m)
    n = min(max(m + draw.below(2 * gap + 1) - gap, SMALLEST), LARGEST)
    n_shared = shared_count(target, m, n)
    k = math.floor(n_shared) + (draw.unit() < n_shared - math.floor(n_shared))
    return m, n, min(k, m, n)
