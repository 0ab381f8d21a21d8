"""KS (Braylan et al. 2022): the largest gap between same-item and different-item equivalences."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.expected import ChanceDistribution
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition
from softirr.statistics.coefficients.distributions import one_item, same_and_different, tail_shift
from softirr.statistics.draws import Draws


def ks(draws: Draws) -> Floats:
    """One-sided two-sample Kolmogorov-Smirnov statistic: max over e of P(same >= e) - P(different >= e).

    As in Braylan et al. (2022), but over all different-item pairs instead of a sample. The gap stays at the point where
    it is largest with equal weights: the maximum of each draw would be larger on average.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.
    """
    steps, chance = same_and_different(draws)
    point, lead = _largest_gap(draws.ratings, steps, chance)
    if lead <= 0:
        return np.zeros(len(draws.sampling))
    expected = float(chance.tail[point])
    by_chance = expected + tail_shift(draws, chance, point) + chance.error(expected) * draws.sampling
    return draws.mean_over_pairs((steps >= point).astype(np.float64)) - by_chance


def _largest_gap(ratings: Ratings, steps: Ints, chance: ChanceDistribution) -> tuple[int, float]:
    """The step with the largest difference of the two tails, and that difference."""
    distinct, index = np.unique(steps, return_inverse=True)
    count = sums(index, ratings.weight[ratings.comparisons.item], len(distinct))
    lead = np.cumsum(count[::-1])[::-1] / count.sum() - chance.tail[distinct]
    largest = int(np.argmax(lead))
    return int(distinct[largest]), float(lead[largest])


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
    over_draws=ks,
    reason=one_item,
    floor=0.0,
)
