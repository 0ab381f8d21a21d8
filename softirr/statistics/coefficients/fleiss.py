"""Soft Fleiss' kappa: any number of raters; the agreement by chance pools their answers."""

from __future__ import annotations

from softirr.answers.ratings import Floats
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Definition, Reference
from softirr.statistics.draws import Draws


def fleiss(draws: Draws) -> Floats:
    """Soft Fleiss' kappa (Wullschleger et al. 2026), with any number of answers per item.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.

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
    return draws.corrected(draws.observed(), draws.pooled)


def _by_chance(draws: Draws) -> Floats:
    return draws.pooled


DEFINITION = Definition(
    key="fleiss_kappa",
    name="Fleiss' kappa",
    short="Fleiss' kappa",
    meaning="Beyond chance, any number of {rater}s with habits in common.",
    formula="observed agreement corrected for the agreement by chance of pooled answers",
    observed="mean over items of the mean over their pairs",
    expected=r"$\pi^\top S\, \pi$",
    references=(
        Reference(
            key="fleiss1971",
            authors="Fleiss, J. L.",
            short="Fleiss",
            year=1971,
            title="Measuring nominal scale agreement among many raters",
            where="Psychological Bulletin",
        ),
        WULLSCHLEGER_2026,
    ),
    over_draws=fleiss,
    by_chance=_by_chance,
    chance="fleiss",
    marginals="chosen",
    audited=True,
)
