"""Soft Scott's pi: Fleiss' kappa of exactly two raters."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Definition, Reference
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined
from softirr.statistics.coefficients.fleiss import fleiss
from softirr.statistics.draws import Draws, corrected_draws

__all__ = ["DEFINITION", "scott"]


def scott(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Scott's pi: Fleiss' kappa of two raters (Wullschleger et al. 2026).

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    Estimate
        Undefined with more than two raters.
    """
    if reason := missing(ratings):
        return undefined(reason)
    if len(np.unique(ratings.rater)) > 2:
        return undefined(Undefined.MORE_THAN_TWO_RATERS)
    return fleiss(ratings, scores, chance)


def _over_draws(draws: Draws) -> Floats:
    return corrected_draws(draws.observed(), draws.pooled)


DEFINITION = Definition(
    key="scott_pi",
    name="Scott's pi",
    short="Scott's pi",
    meaning="Beyond chance, for exactly two {rater}s with habits in common.",
    formula="observed agreement of two raters corrected for the agreement by chance of their pooled answers",
    observed="as Fleiss, of two raters",
    expected="as Fleiss",
    references=(
        Reference(
            key="scott1955",
            authors="Scott, W. A.",
            short="Scott",
            year=1955,
            title="Reliability of content analysis: the case of nominal scale coding",
            where="Public Opinion Quarterly",
        ),
        WULLSCHLEGER_2026,
    ),
    estimate=scott,
    over_draws=_over_draws,
    chance="fleiss",
    marginals="chosen",
    audited=True,
)
