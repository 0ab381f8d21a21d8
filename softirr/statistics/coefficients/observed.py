"""Observed agreement: the mean over items of the mean equivalence of their pairs of answers."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, item_means
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined
from softirr.statistics.draws import Draws

__all__ = ["DEFINITION", "chosen_agreement", "observed_agreement"]


def observed_agreement(ratings: Ratings, scores: Floats) -> Estimate:
    """Mean over items of the mean equivalence of their pairs.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    """
    if reason := missing(ratings):
        return undefined(reason)
    return _mean(ratings, item_means(ratings, scores), ratings.comparable_items)


def chosen_agreement(ratings: Ratings, scores: Floats, chosen: Ints) -> Estimate:
    """Mean over items of the mean equivalence of some of their pairs, such as all pairs of a rater.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chosen : shape (n,)
        Numbers of the pairs.
    """
    if not len(chosen):
        return undefined(Undefined.NO_OTHER_RATER)
    items, place = np.unique(ratings.comparisons.item[chosen], return_inverse=True)
    return _mean(ratings, np.bincount(place, weights=scores[chosen]) / np.bincount(place), items)


def _mean(ratings: Ratings, values: Floats, items: Ints) -> Estimate:
    """Mean of one value per item, by the items' weights."""
    own = ratings.weight[items]
    mean = float(np.average(values, weights=own))
    return Estimate(mean, own / own.mean() * (values - mean), floor=0.0, items=items)


def _over_draws(draws: Draws) -> Floats:
    return draws.observed()


DEFINITION = Definition(
    key="observed_agreement",
    name="Observed agreement",
    short="observed agreement",
    meaning="Mean equivalence of two answers to the same {item}, not corrected for chance.",
    formula="the mean over items of the mean equivalence of their pairs of answers",
    observed="mean over items of the mean over their pairs",
    expected="",
    references=(),
    estimate=lambda ratings, scores, chance: observed_agreement(ratings, scores),
    over_draws=_over_draws,
    audited=True,
)
