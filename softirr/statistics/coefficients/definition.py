"""The definition of a coefficient, and its estimate by the measure alone: a value, and an interval from draws.

The command line, JSON, screens, papers and documentation derive from the definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.chance.permutation import EXPECTATIONS
from softirr.statistics.coefficients.intervals import Coefficient, coefficient_of_draws
from softirr.statistics.draws import Draws

CERTAIN = 1e-12
_UNSEEN = 0.05
"""Probability that the items of a table miss a share of the population of items."""


class Undefined(StrEnum):
    """Why a coefficient or an interval has no value."""

    ONE_RATER = "only one rater"
    NO_OVERLAP = "no item has answers of two raters"
    ONE_ITEM = "only one item has answers of two raters: agreement by chance needs two items"
    NO_VARIATION = "agreement by chance is 1: all answers are equivalent"
    ONE_CATEGORY = "all answers are the same"
    MORE_THAN_TWO_RATERS = "it needs exactly two raters"
    NO_PAIR_DEFINED = "no pair of raters shares two items on which their answers differ"
    NO_OTHER_RATER = "no item was answered by this rater and another one"


@dataclass(frozen=True, eq=False)
class Estimate:
    """A coefficient by the measure alone.

    Attributes
    ----------
    value : float or None
        The coefficient with equal item weights; None if it is undefined.
    undefined : str or None
        Reason for the missing value.
    expected : float or None
        Agreement expected by chance.
    items : shape (N,)
        The items that the coefficient is computed from.
    draw : callable or None
        Returns the coefficient in each draw of the item weights, shape (K,).
    floor : float
        Lowest value that the coefficient can take; the highest is 1.
    """

    value: float | None
    undefined: str | None = None
    expected: float | None = None
    items: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    draw: Callable[[], Floats] | None = None
    floor: float = -1.0

    @cached_property
    def draws(self) -> Floats:
        """The coefficient in each draw of the item weights, shape (K,); empty without a value."""
        return np.zeros(0) if self.value is None or self.draw is None else self.draw()

    @cached_property
    def coefficient(self) -> Coefficient:
        """The value with its 95% interval; without one for fewer than two items."""
        n = len(self.items)
        if self.value is None or n < 2 or not len(self.draws):
            return Coefficient(self.value, undefined=self.undefined)
        floor = min(self.floor, self.value)
        from_draws = coefficient_of_draws(self.value, self.draws, floor, n_items=n)
        if self.value < 1 - CERTAIN and (from_draws.standard_error or 0.0) >= CERTAIN:
            return from_draws
        # If all items contribute the same value, draws of them do not vary. With a probability of 5%, n items miss all
        # of a share 1 - 0.05^(1/n) of the population. Such items move the mean agreement by at most this share, and the
        # coefficient by this share divided by the disagreement by chance.
        reach = (1 - _UNSEEN ** (1 / n)) / (1 - (self.expected or 0.0))
        ci95 = max(self.value - reach, floor), min(self.value + reach, 1.0)
        return Coefficient(self.value, from_draws.standard_error, ci95)


def undefined(reason: str, expected: float | None = None) -> Estimate:
    """An estimate without a value.

    Parameters
    ----------
    reason : str
        Reason for the missing value, as JSON and screens show it.
    expected : float, optional
        Expected agreement, if known.
    """
    return Estimate(None, str(reason), expected)


def one_item(ratings: Ratings, chance: Chance) -> Undefined | None:
    """Reason why a coefficient that needs the chance agreement of different items is undefined, or None."""
    return Undefined.ONE_ITEM if len(ratings.comparable_items) < 2 else None


def no_chance(draws: Draws) -> Floats:
    """Agreement by chance of a coefficient that is not corrected for it: 0 in each draw."""
    return np.zeros(len(draws.sampling))


@dataclass(frozen=True)
class Reference:
    """A work of the literature.

    Attributes
    ----------
    authors : str
        As BibTeX has them.
    year : int
        Year of publication.
    where : str
        Journal or publisher.
    """

    authors: str
    year: int
    title: str
    where: str = ""

    @property
    def short(self) -> str:
        """The authors as running text has them."""
        surnames = [author.partition(",")[0] for author in self.authors.split(" and ")]
        return " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."

    def entry(self) -> str:
        """The entry of a reference list."""
        where = f" {self.where}." if self.where else ""
        return f"{self.authors.replace(' and ', '; ')} ({self.year}). {self.title}.{where}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Definition:
    """A coefficient of agreement.

    Attributes
    ----------
    key : str
        In JSON, CSV and options.
    name : str
        For tables.
    short : str
        For running text; by default the name.
    meaning : str
        One sentence for screens; ``{item}`` and ``{rater}`` are replaced by the screen's terms.
    formula : str
        In words that continue "which is …", for the methods of a paper.
    observed, expected : str
        Formulas of its two terms in Markdown, for the table of the documentation; empty if it lacks the term.
    references : tuple of Reference
        Works that define the coefficient, which reports and the documentation cite.
    own_draws : callable, optional
        Returns the coefficient in each draw of equivalences, chance and item weights; by default it is observed
        agreement corrected for agreement by chance.
    by_chance : callable
        Returns the agreement expected by chance in each draw.
    reason : callable
        Returns why the coefficient of a table with comparisons is undefined, or None. If agreement by chance is 1, it
        is undefined in any case.
    floor : float
        Lowest value; the highest is 1.
    chance : {"cohen", "fleiss", "krippendorff"} or None
        The key of ``expected_agreement`` in reports for its agreement by chance.
    marginals : {"answers", "chosen"}
        Whether chance always pools all answers that count, or those that the option ``marginals`` chooses.
    audited : bool
        Whether judgments correct it.
    """

    key: str
    name: str
    short: str = ""
    meaning: str
    formula: str
    observed: str
    expected: str = ""
    references: tuple[Reference, ...] = ()
    own_draws: Callable[[Draws], Floats] | None = None
    by_chance: Callable[[Draws], Floats] = no_chance
    reason: Callable[[Ratings, Chance], Undefined | None] = one_item
    floor: float = -1.0
    chance: Literal["cohen", "fleiss", "krippendorff"] | None = None
    marginals: Literal["answers", "chosen"] = "answers"
    audited: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "short", self.short or self.name)

    def over_draws(self, draws: Draws) -> Floats:
        """The coefficient in each draw, shape (K,); its value comes from a single draw with equal weights."""
        if self.own_draws is not None:
            return self.own_draws(draws)
        return draws.corrected(draws.observed(), self.by_chance(draws))

    @property
    def expectations(self) -> tuple[str, ...]:
        """What its agreement by chance is made of, as `softirr.statistics.chance.permutation.EXPECTATIONS` names it."""
        return EXPECTATIONS if self.chance is None else ("cohen" if self.chance == "cohen" else "pooled",)

    @property
    def title(self) -> str:
        """The name on screens: a capital first, typographic apostrophes."""
        return (self.short[0].upper() + self.short[1:]).replace("'", "’")


WULLSCHLEGER_2026 = Reference(
    "Wullschleger, P. and Kreis, C. and Walter, M. A. and Foster, J. and Pouly, M.",
    2026,
    "Consensus measures for unstructured biomedical text annotations",
)
BRAYLAN_2022 = Reference(
    "Braylan, A. and Alonso, O. and Lease, M.",
    2022,
    "Measuring annotator agreement generally across complex structured, multi-object, and free-text annotation tasks",
    "Proceedings of the ACM Web Conference 2022",
)
