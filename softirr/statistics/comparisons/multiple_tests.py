"""Tests of several hypotheses at once.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure.
"""

from __future__ import annotations

from collections.abc import Sequence


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
