"""KS (Braylan et al. 2022): the largest gap between same-item and different-item equivalences."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.errors import InputError
from softirr.statistics.chance.expected import Chance, ChanceDistribution
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition
from softirr.statistics.coefficients.distributions import pair_influence, same_and_different, tail_influence
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.draws import Draws

__all__ = ["DEFINITION", "ks"]


def ks(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """One-sided two-sample Kolmogorov-Smirnov statistic: max over e of P(same >= e) - P(different >= e).

    As in Braylan et al. (2022), but over all different-item pairs instead of a sample.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    Estimate
        In [0, 1].
    """
    both = same_and_different(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    at, lead = _best(ratings, steps, known)
    if lead <= 0:
        nothing = np.zeros(len(ratings.comparable_items))
        return Estimate(0.0, nothing, floor=0.0, items=ratings.comparable_items)
    influence = pair_influence(ratings, (steps >= at).astype(np.float64)) - tail_influence(ratings, known, at)
    expected = float(known.tail[at])
    return Estimate(
        lead,
        influence,
        expected=expected,
        chance_error=known.error(expected),
        floor=0.0,
        items=ratings.comparable_items,
    )


def _best(ratings: Ratings, steps: Ints, known: ChanceDistribution) -> tuple[int, float]:
    """The step with the largest difference of the two tails, and that difference."""
    distinct, place = np.unique(steps, return_inverse=True)
    count = sums(place, ratings.weight[ratings.comparisons.item], len(distinct))
    lead = np.cumsum(count[::-1])[::-1] / count.sum() - known.tail[distinct]
    best = int(np.argmax(lead))
    return int(distinct[best]), float(lead[best])


def _over_draws(draws: Draws) -> Floats:
    both = same_and_different(draws.ratings, draws.by_measure, draws.chance)
    if isinstance(both, Estimate):
        raise InputError(str(both.undefined))
    steps, known = both
    at, lead = _best(draws.ratings, steps, known)
    if lead <= 0:
        return np.zeros(draws.weights.shape[1])
    chance = float(known.tail[at]) + draws.mean_over_items(tail_influence(draws.ratings, known, at))
    return draws.mean_over_pairs((steps >= at).astype(np.float64)) - chance


DEFINITION = Definition(
    key="ks",
    name="KS (Braylan et al. 2022)",
    short="KS",
    meaning="Greatest gap between same-{item} and different-{item} pairs (Braylan et al. 2022).",
    formula=(
        "the largest difference between the distributions of the equivalence of answers "
        "to one item and to different items"
    ),
    observed="largest difference between the cumulative distributions of same-item and different-item equivalences",
    expected="",
    references=(BRAYLAN_2022,),
    estimate=ks,
    over_draws=_over_draws,
)
