"""Soft Cohen's kappa: the mean over rater pairs, each corrected for the chance agreement of its two raters."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import CERTAIN, WULLSCHLEGER_2026, Definition, Reference, Undefined
from softirr.statistics.draws import Draws


def cohen(draws: Draws) -> Floats:
    """Soft Cohen's kappa: the mean over rater pairs, each over the items both answered (Wullschleger et al. 2026).

    The mean excludes pairs without a kappa: pairs that share one item, and pairs with equivalent answers only.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.

    Examples
    --------
    The second example of Cohen (1960), p. 45, two raters and 200 items:

    >>> import numpy as np
    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    >>> items = [[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    >>> round(matrix_agreement(np.array(items)).coefficients["cohen_kappa"].value, 3)
    0.492
    """
    return draws.kappa_of(np.arange(len(draws.usable)))


def _by_chance(draws: Draws) -> Floats:
    usable = draws.usable if draws.usable.any() else slice(None)
    return np.asarray(draws.pair_expected[usable].mean(axis=0))


def reason_of_pairs(ratings: Ratings, chance: Chance, pairs: Ints) -> Undefined | None:
    """Reason why the mean kappa of some rater pairs is undefined, or None."""
    if not len(pairs):
        return Undefined.NO_OTHER_RATER
    shared = ratings.comparisons.shared[pairs]
    if ((shared >= 2) & (1 - chance.cohen[pairs] > CERTAIN)).any():
        return None
    if len(pairs) > 1:
        return Undefined.NO_PAIR_DEFINED
    return Undefined.ONE_ITEM if shared[0] < 2 else Undefined.NO_VARIATION


COHEN_KAPPA = Definition(
    key="cohen_kappa",
    name="Cohen's kappa",
    meaning="Beyond chance, mean over pairs of {rater}s, each with their own habits.",
    formula="the mean over rater pairs of observed agreement corrected for the two raters' own agreement by chance",
    observed="of a rater pair, over the items that both answered",
    expected=r"$p_r^\top S\, p_s$, over the same items",
    references=(
        Reference(
            "Cohen, J.",
            1960,
            "A coefficient of agreement for nominal scales",
            "Educational and Psychological Measurement",
        ),
        WULLSCHLEGER_2026,
    ),
    own_draws=cohen,
    by_chance=_by_chance,
    reason=lambda ratings, chance: reason_of_pairs(ratings, chance, np.arange(len(chance.cohen))),
    chance="cohen",
)
