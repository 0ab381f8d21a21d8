"""Observed agreement: the mean over items of the mean equivalence of their pairs of answers."""

from __future__ import annotations

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.estimate import Undefined, missing
from softirr.statistics.draws import Draws


def observed_agreement(draws: Draws) -> Floats:
    """Mean over items of the mean equivalence of their pairs, in each draw: shape (K,)."""
    return draws.observed()


def _reason(ratings: Ratings, chance: Chance) -> Undefined | None:
    return missing(ratings)


DEFINITION = Definition(
    key="observed_agreement",
    name="Observed agreement",
    short="observed agreement",
    meaning="Mean equivalence of two answers to the same {item}, not corrected for chance.",
    formula="the mean over items of the mean equivalence of their pairs of answers",
    observed="mean over items of the mean over their pairs",
    expected="",
    references=(),
    over_draws=observed_agreement,
    reason=_reason,
    floor=0.0,
    audited=True,
)
