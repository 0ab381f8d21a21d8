"""Soft Scott's pi: Fleiss' kappa of exactly two raters."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Definition, Reference
from softirr.statistics.coefficients.estimate import Undefined, missing, no_variation
from softirr.statistics.coefficients.fleiss import DEFINITION as FLEISS


def _reason(ratings: Ratings, chance: Chance) -> Undefined | None:
    if reason := missing(ratings):
        return reason
    return Undefined.MORE_THAN_TWO_RATERS if len(np.unique(ratings.rater)) > 2 else no_variation(ratings, chance)


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
    over_draws=FLEISS.over_draws,
    by_chance=FLEISS.by_chance,
    reason=_reason,
    chance="fleiss",
    marginals="chosen",
    audited=True,
)
