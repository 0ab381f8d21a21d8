"""Soft Cohen's kappa: the mean over rater pairs, each corrected for the chance agreement of its own two raters."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.chance_correction import CERTAIN, corrected_all, lowest
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Definition, Reference
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined
from softirr.statistics.draws import Draws

__all__ = ["DEFINITION", "mean_cohen"]


def mean_cohen(ratings: Ratings, scores: Floats, chance: Chance, pairs: Ints | None = None) -> Estimate:
    """Soft Cohen's kappa: the mean over rater pairs, each over the items both answered (Wullschleger et al. 2026).

    The influence of an item on a pair's kappa is ``[(s_i - Po) - (1 - κ) (h_s(a_i) + h_r(b_i) - 2 Pe)] / (1 - Pe)``,
    where h_s(a) is the mean equivalence of a with the answers of s. It gives the variance of weighted kappa by Fleiss,
    Cohen and Everitt (1969).

    Pairs that share one item, or whose answers are all equivalent, have no kappa: the mean excludes them. ``expected``
    is the mean over the same pairs.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Expected agreement of each rater pair.
    pairs : shape (m,), optional
        Numbers of the rater pairs, ascending; all by default.

    Returns
    -------
    Estimate
        Influence in the order of the items that the defined pairs share.

    Examples
    --------
    The second example of Cohen (1960), p. 45, two raters and 200 items:

    >>> import numpy as np
    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    >>> items = [[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    >>> found = matrix_agreement(np.array(items))
    >>> round(mean_cohen(found.ratings, found.scores, found.chance).value, 3)
    0.492
    """
    if reason := missing(ratings):
        return undefined(reason)
    comparisons = ratings.comparisons
    wanted: Ints = np.arange(len(comparisons.rater_pairs)) if pairs is None else pairs
    mine = comparisons.of_pairs(wanted)
    if not len(wanted):
        return undefined(Undefined.NO_OTHER_RATER)
    met = chance.cohen[wanted]
    expected = float(met.mean())
    m = len(wanted)
    count = comparisons.shared[wanted]
    pair, own = np.searchsorted(wanted, comparisons.rater_pair[mine]), scores[mine]
    weight = ratings.weight[comparisons.item[mine]]
    mass = sums(pair, weight, m)
    observed = sums(pair, weight * own, m) / mass
    defined = (count >= 2) & (1 - met > CERTAIN)
    if not defined.any():
        of_one = Undefined.ONE_ITEM if count[0] < 2 else Undefined.NO_VARIATION
        return undefined(of_one if m == 1 else Undefined.NO_PAIR_DEFINED, expected)
    attainable = np.where(defined, 1 - met, 1.0)
    kappa = (observed - met) / attainable
    slope = (1 - kappa) / attainable
    k = int(defined.sum())

    by_chance = chance.cohen_left[mine] + chance.cohen_right[mine]
    mean_by_chance = sums(pair, weight * by_chance, m) / mass
    one = (own - observed[pair]) / attainable[pair] - slope[pair] * (by_chance - mean_by_chance[pair])
    used = np.flatnonzero(defined[pair])
    items, place = np.unique(comparisons.item[mine[used]], return_inverse=True)
    share = len(items) / (k * mass[pair[used]])
    influence = sums(place, share * weight[used] * one[used], len(items))
    # rater pairs sample their chance pairs independently of each other, so their noise adds up
    noisy = chance.cohen_noise[wanted[defined]]
    squares = sums(pair, weight**2, m) / mass**2  # 1 / count where all items weigh the same
    noise = float(np.sum(slope[defined] ** 2 * noisy * len(items) * squares[defined] / k**2))
    error = chance.cohen_sum_error(np.where(defined, slope, 0.0), wanted) / k
    with_itself = sums(pair, weight**2 * own, m) / mass**2
    different = np.divide(met - with_itself, 1 - squares, out=met.copy(), where=squares < 1 - CERTAIN)
    by_different_items = corrected_all(observed, different)
    shift = np.where(np.isfinite(by_different_items), by_different_items - kappa, 0.0)[defined]
    return Estimate(
        float(kappa[defined].mean()),
        influence,
        None,
        float(met[defined].mean()),
        error,
        noise,
        floor=lowest(float(kappa[defined].mean())),
        shift=float(shift.mean()),
        items=items,
    )


def _over_draws(draws: Draws) -> Floats:
    return draws.kappa_of(np.arange(len(draws.usable)))


DEFINITION = Definition(
    key="cohen_kappa",
    name="Cohen's kappa",
    short="Cohen's kappa",
    meaning="Beyond chance, mean over pairs of {rater}s, each with their own habits.",
    formula="the mean over rater pairs of observed agreement corrected for the two raters' own agreement by chance",
    observed="of a rater pair, over the items that both answered",
    expected=r"$p_r^\top S\, p_s$, over the same items",
    references=(
        Reference(
            key="cohen1960",
            authors="Cohen, J.",
            short="Cohen",
            year=1960,
            title="A coefficient of agreement for nominal scales",
            where="Educational and Psychological Measurement",
        ),
        WULLSCHLEGER_2026,
    ),
    estimate=mean_cohen,
    over_draws=_over_draws,
    chance="cohen",
    audited=True,
)
