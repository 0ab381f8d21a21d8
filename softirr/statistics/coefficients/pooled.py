"""Observed agreement, alone and corrected for the agreement by chance of pooled answers.

Fleiss' kappa is for any number of raters (Wullschleger et al. 2026), Scott's pi for exactly two.

Examples
--------
The diagnoses of Fleiss (1971): 30 patients, 6 psychiatrists, 5 diagnoses.

>>> import numpy as np
>>> from softirr.statistics.coefficients.matrix import matrix_agreement
>>> rows = (
...     "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
...     "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
... )
>>> result = matrix_agreement(np.array([[int(diagnosis) - 1 for diagnosis in row] for row in rows.split()]))
>>> round(result.coefficients["fleiss_kappa"].value, 2)
0.43
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from softirr.answers.ratings import Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Definition, Reference, Undefined, one_item

OBSERVED_AGREEMENT = Definition(
    key="observed_agreement",
    name="Observed agreement",
    short="observed agreement",
    meaning="Mean equivalence of two answers to the same {item}, not corrected for chance.",
    formula="the mean over items of the mean equivalence of their pairs of answers",
    observed="mean over items of the mean over their pairs",
    reason=lambda *_: None,
    floor=0.0,
)


FLEISS_KAPPA = Definition(
    key="fleiss_kappa",
    name="Fleiss' kappa",
    meaning="Beyond chance, any number of {rater}s with habits in common.",
    formula="observed agreement corrected for the agreement by chance of pooled answers",
    observed="mean over items of the mean over their pairs",
    expected=r"$\pi^\top S\, \pi$",
    references=(
        Reference(
            "Fleiss, J. L.", 1971, "Measuring nominal scale agreement among many raters", "Psychological Bulletin"
        ),
        WULLSCHLEGER_2026,
    ),
    by_chance=attrgetter("pooled"),
    chance="fleiss",
    marginals="chosen",
)


def _two_raters(ratings: Ratings, chance: Chance) -> Undefined | None:
    return Undefined.MORE_THAN_TWO_RATERS if len(np.unique(ratings.rater)) > 2 else one_item(ratings, chance)


SCOTT_PI = Definition(
    key="scott_pi",
    name="Scott's pi",
    meaning="Beyond chance, for exactly two {rater}s with habits in common.",
    formula="observed agreement of two raters corrected for the agreement by chance of their pooled answers",
    observed="as Fleiss, of two raters",
    expected="as Fleiss",
    references=(
        Reference(
            "Scott, W. A.",
            1955,
            "Reliability of content analysis: the case of nominal scale coding",
            "Public Opinion Quarterly",
        ),
        WULLSCHLEGER_2026,
    ),
    by_chance=attrgetter("pooled"),
    reason=_two_raters,
    chance="fleiss",
    marginals="chosen",
)
