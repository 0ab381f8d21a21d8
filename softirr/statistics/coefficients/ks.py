"""KS (Braylan et al. 2022): the largest gap between same-item and different-item equivalences."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition
from softirr.statistics.coefficients.distributions import pair_influence, same_and_different, tail_influence
from softirr.statistics.coefficients.estimate import Estimate

__all__ = ["DEFINITION", "ks"]


def ks(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """One-sided two-sample Kolmogorov-Smirnov statistic: max over e of P(same >= e) - P(different >= e).

    As in Braylan et al. (2022), but over all different-item pairs instead of a sample.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance

    Returns
    -------
    Estimate
        In [0, 1].
    """
    both = same_and_different(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    distinct, place = np.unique(steps, return_inverse=True)
    count = sums(place, ratings.weight[ratings.comparisons.item], len(distinct))
    same_tail = np.cumsum(count[::-1])[::-1] / count.sum()
    lead = same_tail - known.tail[distinct]
    best = int(np.argmax(lead))
    if lead[best] <= 0:
        nothing = np.zeros(len(ratings.comparable_items))
        return Estimate(0.0, nothing, floor=0.0, items=ratings.comparable_items)
    at = int(distinct[best])
    influence = pair_influence(ratings, (steps >= at).astype(np.float64)) - tail_influence(ratings, known, at)
    expected = float(known.tail[at])
    return Estimate(
        float(lead[best]),
        influence,
        expected=expected,
        chance_error=known.error(expected),
        floor=0.0,
        items=ratings.comparable_items,
    )


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
)
