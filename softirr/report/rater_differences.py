"""Each rater's agreement with the others, compared with the agreement of the others with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from softirr.answers.ratings import Ints
from softirr.report.scoring import Estimated
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.intervals import Coefficient, Sample, analytic
from softirr.statistics.coefficients.observed import chosen_agreement
from softirr.statistics.comparisons.difference import difference, limit

__all__ = ["MOST_RATERS", "rater_contrasts"]

MOST_RATERS = 50
"""Maximum number of raters that are compared one by one with the others."""
_LEVEL = 0.05

Contrast = tuple[Coefficient | None, Coefficient | None]


def rater_contrasts(estimates: Estimated, agreements: Sequence[Coefficient]) -> list[Contrast]:
    """The agreement of the others with each other, and each rater's difference from it.

    Errors of the measure are largely the same on both sides of a difference, so its interval covers the sampling of the
    items only, at a level that is adjusted for the number of raters (Bonferroni).

    Parameters
    ----------
    agreements : sequence of Coefficient
        Agreement of each rater with the others, as the report shows it.

    Returns
    -------
    list of (Coefficient or None, Coefficient or None)
        (None, None) with fewer than three raters, with more than ``MOST_RATERS``, or if the others share no item.
    """
    n_raters = len(agreements)
    if not 3 <= n_raters <= MOST_RATERS or estimates.scored.chance is None:
        return [(None, None)] * n_raters
    return [_contrast(estimates, rater, agreement, _LEVEL / n_raters) for rater, agreement in enumerate(agreements)]


def _contrast(estimates: Estimated, rater: int, agreement: Coefficient, level: float) -> Contrast:
    ratings, scores = estimates.scored.ratings, estimates.scored.scores
    with_rater = ratings.comparisons.of_rater(rater)
    without_rater = np.setdiff1d(np.arange(len(scores)), with_rater, assume_unique=True)
    if agreement.value is None or not len(without_rater):
        return None, None
    of_rater, among = (chosen_agreement(ratings, scores, pairs) for pairs in (with_rater, without_rater))
    others = analytic(among)
    if estimates.evidence is not None:
        all_pairs = np.arange(len(ratings.comparisons.rater_pairs))
        pairs = np.setdiff1d(all_pairs, ratings.comparisons.pairs_of_rater(rater), assume_unique=True)
        others = estimates.evidence.estimates.parts.of_pairs(pairs, others, others)[0]
    samples = [
        _sample(estimates, estimate, pairs) for estimate, pairs in ((among, without_rater), (of_rater, with_rater))
    ]
    change = difference(*samples)
    if others.value is None or change.value is None:
        return others, None
    shift = agreement.value - others.value - change.value
    n_items = min(len(sample.items) for sample in samples)
    low, high = (limit(change, n_items, level, upper=upper) for upper in (False, True))
    ci95 = None if low is None or high is None else (low + shift, high + shift)
    return others, replace(change, value=agreement.value - others.value, ci95=ci95)


def _sample(estimates: Estimated, estimate: Estimate, pairs: Ints) -> Sample:
    items = () if estimate.items is None else tuple(map(str, estimate.items.tolist()))
    draws = estimates.scored.item_draws
    drawn_values = np.zeros(0) if draws is None else draws.over(lambda item_draws: item_draws.observed_of(pairs))
    return Sample(analytic(estimate), drawn_values, items)
