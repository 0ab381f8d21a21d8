"""Every coefficient of a project, its raters and its rater pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.cohen import mean_cohen
from softirr.statistics.coefficients.distributions import beyond_chance
from softirr.statistics.coefficients.estimate import Estimate, Undefined, undefined
from softirr.statistics.coefficients.observed import chosen_agreement, observed_agreement

__all__ = ["MOST_RATER_PAIRS", "Summary", "summarize"]

Trio = tuple[Estimate, Estimate, Estimate]

MOST_RATER_PAIRS = 50_000
"""Most rater pairs that a summary lists (317 raters who share items with each other); each takes a kilobyte."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of every coefficient of the project, its raters and its rater pairs.

    Attributes
    ----------
    coefficients : dict of str to Estimate
        The project's coefficients.
    raters, rater_pairs : tuple of (Estimate, Estimate, Estimate)
        Observed agreement, Cohen's kappa, and sigma against the chance distribution of the whole project, for each
        rater and rater pair. ``rater_pairs`` is empty where there are more than ``MOST_RATER_PAIRS``.
    beyond_chance : shape (P,), or None where there is no chance distribution
        See :func:`softirr.statistics.coefficients.distributions.beyond_chance`.
    """

    coefficients: dict[str, Estimate]
    raters: tuple[Trio, ...]
    rater_pairs: tuple[Trio, ...]
    beyond_chance: Floats | None = None


def summarize(ratings: Ratings, scores: Floats, chance: Chance | None, pooled: Chance | None = None) -> Summary:
    """Compute every coefficient from the scores.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance or None
        None where no answers can be compared.
    pooled : Chance, optional
        Chance computed with other marginals, for the coefficients that take them.
    """
    if chance is None:
        observed = observed_agreement(ratings, scores)
        missing = undefined(observed.undefined or Undefined.NO_OVERLAP)
        alone = undefined(Undefined.NO_OTHER_RATER)
        coefficients = dict.fromkeys(registry.coefficient_keys(), missing) | {"observed_agreement": observed}
        return Summary(coefficients, ((alone, alone, alone),) * ratings.n_raters, ())
    by_marginals = {"answers": chance, "chosen": pooled or chance}
    known = chance.distribution
    beyond = None if known is None or len(ratings.comparable_items) < 2 else beyond_chance(scores, known)
    no_sigma = undefined(Undefined.ONE_ITEM)
    comparisons = ratings.comparisons
    n_pairs = len(comparisons.rater_pairs)

    def trio(pairs: Ints) -> Trio:
        mine = comparisons.of_pairs(pairs)
        return (
            chosen_agreement(ratings, scores, mine),
            mean_cohen(ratings, scores, chance, pairs),
            no_sigma if beyond is None else chosen_agreement(ratings, beyond, mine),
        )

    return Summary(
        coefficients={
            one.key: one.estimate(ratings, scores, by_marginals[one.marginals]) for one in registry.DEFINITIONS
        },
        raters=tuple(trio(comparisons.pairs_of_rater(rater)) for rater in range(ratings.n_raters)),
        rater_pairs=tuple(trio(np.array([pair])) for pair in range(n_pairs if n_pairs <= MOST_RATER_PAIRS else 0)),
        beyond_chance=beyond,
    )
