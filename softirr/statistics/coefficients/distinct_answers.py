"""Coefficients with an agreement by chance that depends on the mean equivalence of the distinct answers.

The Brennan-Prediger coefficient (1981) takes every distinct answer as equally likely: ``Pe`` is the mean of S over all
q × q pairs of distinct answers, which do not vary with the items. With S in {0, 1} it is ``1 / q``. For Gwet's AC2
(2008, 2014) it is ``q / (q - 1)`` times this mean times ``Σ π_k (1 - π_k)``. AC2 is AC1 with equivalences of 0 and 1.

Examples
--------
Two categories, and agreement on three of four items:

>>> from softirr.statistics.coefficients.matrix import matrix_agreement
>>> result = matrix_agreement([[0, 0], [1, 1], [0, 1], [1, 1]])
>>> result.coefficients["brennan_prediger"].value
0.5
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import Definition, Reference, Undefined, one_item
from softirr.statistics.draws import Draws


def _needs_categories(ratings: Ratings, chance: Chance) -> Undefined | None:
    """Reason why a coefficient that takes the mean equivalence of the distinct answers is undefined, or None."""
    return one_item(ratings, chance) or (Undefined.ONE_CATEGORY if chance.distinct < 2 else None)


BRENNAN_PREDIGER = Definition(
    key="brennan_prediger",
    name="Brennan-Prediger coefficient",
    meaning="Beyond chance, as if every distinct answer were equally likely.",
    formula=(
        "observed agreement corrected for the mean equivalence of all distinct answers, each as likely as any other"
    ),
    observed="as Fleiss",
    expected=r"$\bar{S}$: for equivalences of 0 and 1, $1 / q$",
    references=(
        Reference(
            "Brennan, R. L. and Prediger, D. J.",
            1981,
            "Coefficient kappa: some uses, misuses, and alternatives",
            "Educational and Psychological Measurement",
        ),
    ),
    by_chance=attrgetter("similarity"),
    reason=_needs_categories,
    marginals="chosen",
)


def _gwet_by_chance(draws: Draws) -> Floats:
    pooling, answer = draws.chance.pooling, draws.ratings.answer
    frequency = sums(answer[pooling.rows], pooling.weights, draws.ratings.n_answers)
    spread = draws.mean_over_rows(1 - 2 * frequency[answer[pooling.rows]]) + float(np.sum(frequency**2))
    return draws.similarity * draws.chance.distinct / (draws.chance.distinct - 1) * spread


GWET_AC2 = Definition(
    key="gwet_ac2",
    name="Gwet's AC2",
    meaning="Beyond chance; stays high where nearly all answers are alike.",
    formula="observed agreement corrected for the agreement by chance of answers that are hard to give",
    observed="as Fleiss",
    expected=(
        r"$\bar{S} \cdot (1 - \sum_k \pi_k^2) \cdot q / (q - 1)$, where $q$ is the number of distinct answers and "
        r"$\bar{S}$ the mean of $S$"
    ),
    references=(
        Reference(
            "Gwet, K. L.",
            2008,
            "Computing inter-rater reliability and its variance in the presence of high agreement",
            "British Journal of Mathematical and Statistical Psychology",
        ),
    ),
    by_chance=_gwet_by_chance,
    reason=_needs_categories,
    marginals="chosen",
)
