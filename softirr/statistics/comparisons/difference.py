"""The difference of two coefficients: its interval, its tests, and the adjustment for several tests.

The interval comes from the differences of the draws. An item has the same weight in both coefficients, so their common
variation cancels.

References
----------
Vanbelle, S. and Albert, A. (2008). A bootstrap method for comparing correlated kappa coefficients.
Gwet, K. L. (2016). Testing the difference of correlated agreement coefficients for statistical significance.
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for assessing the
equivalence of average bioavailability.
Holm, S. (1979). A simple sequentially rejective multiple test procedure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from softirr.answers.ratings import Floats
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import NORMAL, Coefficient, Sample, student_quantile, unseen_items

_CERTAIN = 1e-9
_TAIL = 0.025


def difference(a: Estimate | Sample, b: Estimate | Sample, *, independent: bool = False) -> Coefficient:
    """Coefficient b minus coefficient a, with its 95% interval.

    Parameters
    ----------
    a, b : Estimate or Sample
        Coefficients with their draws; a is subtracted from b.
    independent : bool
        Items of the same id are different items.

    Returns
    -------
    Coefficient
        Undefined if one of the two is.

    Examples
    --------
    >>> nothing = Sample(Coefficient(None, undefined="only one rater"), np.zeros(0), ())
    >>> difference(nothing, nothing).undefined
    'only one rater'
    """
    first, second = a.coefficient, b.coefficient
    if first.value is None or second.value is None:
        return Coefficient(None, undefined=first.undefined if first.value is None else second.undefined)
    value = second.value - first.value
    if first.ci95 is None or second.ci95 is None or not len(a.draws) or not len(b.draws):
        return Coefficient(value)
    changes = _draws(b, 2) - (np.roll(_draws(a, 1), 1) if independent else _draws(a, 1))
    stretch = student_quantile(max(min(len(a.items), len(b.items)) - 1, 1)) / NORMAL
    low, high = (value + stretch * (end - value) for end in np.quantile(changes, (_TAIL, 1 - _TAIL)).tolist())
    return Coefficient(value, float(np.std(changes)), (min(low, value), max(high, value)))


def _draws(sample: Estimate | Sample, seed: int) -> Floats:
    """Draws of a coefficient; if all items add the same, they vary as its interval does."""
    is_constant = float(np.std(sample.draws)) <= _CERTAIN
    return sample.draws + (unseen_items(sample.coefficient, len(sample.draws), seed) if is_constant else 0)


def p_value(change: Coefficient, n: int) -> float | None:
    """Two-sided p of the hypothesis of no difference: below 0.05 if and only if the 95% interval excludes 0.

    Parameters
    ----------
    change : Coefficient
        The difference.
    n : int
        Items of the smaller of the two samples; the test has n - 1 degrees of freedom.

    Returns
    -------
    float or None
        None without an interval, and for fewer than two items.
    """
    return doubled(one_sided(change, n, 0.0, above=(change.value or 0.0) > 0))


def doubled(p: float | None) -> float | None:
    """Two-sided p from the p of the side on which the value lies."""
    return None if p is None else min(2 * p, 1.0)


def one_sided(change: Coefficient, n: int, limit: float, *, above: bool) -> float | None:
    """P of the test that a difference is above a limit, or below it.

    Parameters
    ----------
    change : Coefficient
        The difference, with its 95% interval.
    n : int
        Items; the test has n - 1 degrees of freedom.

    Returns
    -------
    float or None
        None without an interval, and for fewer than two items.
    """
    from scipy.special import stdtr

    if change.value is None or change.ci95 is None or n < 2:
        return None
    sign, end = (1, change.ci95[0]) if above else (-1, change.ci95[1])
    distance, reach = sign * (change.value - limit), sign * (change.value - end)
    if reach <= 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(n - 1, -distance / reach * student_quantile(n - 1)))


def equivalence_p(change: Coefficient, n: int, margin: float) -> float | None:
    """P of two one-sided tests that a difference lies within plus or minus a margin (Schuirmann 1987).

    Parameters
    ----------
    change : Coefficient
        The difference, with its 95% interval.
    n : int
        Items; the tests have n - 1 degrees of freedom.
    margin : float
        Largest difference that counts as equivalent, on the scale of the coefficients.

    Returns
    -------
    float or None
        Below 0.05 if and only if the 90% interval lies within the margin.

    Examples
    --------
    >>> equivalence_p(Coefficient(0.0, 0.01, (-0.02, 0.02)), 100, 0.05) < 0.001
    True
    """
    above, below = one_sided(change, n, -margin, above=True), one_sided(change, n, margin, above=False)
    return None if above is None or below is None else max(above, below)


def at_levels(change: Coefficient, n: int, lower: float, upper: float) -> Coefficient:
    """A difference with the limits of its interval at other levels, scaled from 95% by quantiles of Student's t.

    Parameters
    ----------
    change : Coefficient
        The difference, with its 95% interval; without an interval it is returned as it is.
    n : int
        Items; t has n - 1 degrees of freedom. Fewer than two change nothing.
    lower, upper : float
        One minus the coverage of the intervals that the two limits belong to, such as 0.05.
    """
    value = change.value
    if value is None or change.ci95 is None or n < 2:
        return change
    low, high = (
        value + (end - value) * (student_quantile(n - 1, level / 2) / student_quantile(n - 1))
        for end, level in zip(change.ci95, (lower, upper), strict=True)
    )
    return replace(change, ci95=(low, high))


def within_range(change: Coefficient, floor: float) -> Coefficient:
    """A difference with an interval that the difference of two coefficients can have.

    Tests need the interval before this, which may exceed the range if there are few items.

    Parameters
    ----------
    floor : float
        Lowest value of the coefficients; the highest is 1.
    """
    if change.value is None or change.ci95 is None:
        return change
    limit = max(1 - floor, abs(change.value))
    low, high = change.ci95
    return replace(change, ci95=(max(low, -limit), min(high, limit)))


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
