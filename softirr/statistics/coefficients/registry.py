"""Every coefficient, and the estimates of all of them for a table by the measure alone.

The command line, JSON, screens, papers and documentation go through the list of this module.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.braylan import KS, SIGMA, beyond_chance
from softirr.statistics.coefficients.cohen import COHEN_KAPPA, reason_of_pairs
from softirr.statistics.coefficients.definition import CERTAIN, Definition, Estimate, Undefined, undefined
from softirr.statistics.coefficients.distinct_answers import BRENNAN_PREDIGER, GWET_AC2
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.krippendorff import KRIPPENDORFF_ALPHA
from softirr.statistics.coefficients.pooled import FLEISS_KAPPA, OBSERVED_AGREEMENT, SCOTT_PI
from softirr.statistics.draws import Draws
from softirr.statistics.weights_and_scores import ItemWeights

DEFINITIONS: tuple[Definition, ...] = (
    OBSERVED_AGREEMENT,
    COHEN_KAPPA,
    SCOTT_PI,
    FLEISS_KAPPA,
    KRIPPENDORFF_ALPHA,
    GWET_AC2,
    BRENNAN_PREDIGER,
    SIGMA,
    KS,
)
"""All coefficients, in the order of reports."""
CHANCE_OF = {"cohen": "cohen_kappa", "fleiss": "fleiss_kappa", "krippendorff": "krippendorff_alpha"}
"""The coefficient that each agreement by chance is reported of."""
MOST_RATER_PAIRS = 50_000
"""Most rater pairs that a summary lists (317 raters who share items with each other); each takes a kilobyte."""


def coefficient_keys() -> tuple[str, ...]:
    """Keys of the coefficients, in the order of reports."""
    return tuple(entry.key for entry in DEFINITIONS)


def definition(key: str) -> Definition:
    """The coefficient of a key.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> definition("cohen_kappa").name
    "Cohen's kappa"
    """
    for entry in DEFINITIONS:
        if entry.key == key:
            return entry
    raise InputError(f"The coefficient {key!r} is not known: there are {', '.join(coefficient_keys())}.")


def coefficient_name(key: str) -> str:
    """Name of a coefficient for tables; the key itself if it is not known, as in a report of another version."""
    return definition(key).name if key in coefficient_keys() else key


def coefficient_title(key: str) -> str:
    """Name of a coefficient for screens; the key itself if it is not known."""
    return definition(key).title if key in coefficient_keys() else key


Trio = tuple[Estimate, Estimate, Estimate]


class ByMeasure:
    """Estimates of the coefficients of a table, its raters and its rater pairs by a measure alone.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the table.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance or None
        Agreement by chance, by the same measure as ``scores``; None if no answers can be compared.
    items : ItemWeights, optional
        Ids and weights of the items; None for items named by their row from 0, as in a data frame.
    pooled : Chance, optional
        Chance computed with other marginals, for the coefficients that take them.
    """

    def __init__(
        self,
        ratings: Ratings,
        scores: Floats,
        chance: Chance | None,
        items: ItemWeights | None = None,
        pooled: Chance | None = None,
    ) -> None:
        self.ratings, self.scores, self.chance = ratings, scores, chance
        self.items = items or ItemWeights.of(map(str, range(ratings.n_items)), ratings)
        self._with_marginals = self if pooled is None else ByMeasure(ratings, scores, pooled, self.items)

    @cached_property
    def center(self) -> Draws:
        """The single draw with equal weights that all values come from."""
        assert self.chance is not None
        return Draws.of_weights(self.ratings, self.scores, self.chance, np.ones((self.ratings.n_items, 1)))

    @cached_property
    def draws(self) -> Draws:
        """Draws of the item weights."""
        return Draws.of_items(self.ratings, self.scores, self.center.chance, self.items)

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every coefficient of the table."""
        sources = {"answers": self, "chosen": self._with_marginals}
        return {entry.key: sources[entry.marginals].estimate(entry) for entry in DEFINITIONS}

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Every coefficient with an interval that covers the sampling of the items only."""
        return {name: estimate.coefficient for name, estimate in self.estimates.items()}

    @cached_property
    def raters(self) -> tuple[Trio, ...]:
        """Observed agreement, Cohen's kappa and sigma of each rater, against the chance of the whole table."""
        pairs_of = self.ratings.comparisons.pairs_of_rater
        return tuple(self._trio(pairs_of(rater)) for rater in range(self.ratings.n_raters))

    @cached_property
    def rater_pairs(self) -> tuple[Trio, ...]:
        """The same of each rater pair; empty if there are more than ``MOST_RATER_PAIRS``."""
        n_pairs = len(self.ratings.comparisons.rater_pairs)
        return tuple(self._trio(np.array([pair])) for pair in range(n_pairs if n_pairs <= MOST_RATER_PAIRS else 0))

    @cached_property
    def beyond_chance(self) -> Floats | None:
        """See :func:`softirr.statistics.coefficients.braylan.beyond_chance`; None without a chance distribution."""
        if self.chance is None or self.chance.distribution is None or len(self.ratings.comparable_items) < 2:
            return None
        return beyond_chance(self.scores, self.chance.distribution)

    def _trio(self, pairs: Ints) -> Trio:
        if self.chance is None:
            return (undefined(Undefined.NO_OTHER_RATER),) * 3
        of_pairs, beyond = self.ratings.comparisons.of_pairs(pairs), self.beyond_chance
        sigma = undefined(Undefined.ONE_ITEM) if beyond is None else self.agreement(of_pairs, beyond)
        return self.agreement(of_pairs), self.kappa(pairs), sigma

    def estimate(self, definition: Definition) -> Estimate:
        """A coefficient of the table."""
        if self.chance is None:
            return undefined(Undefined.NO_OVERLAP if len(np.unique(self.ratings.rater)) > 1 else Undefined.ONE_RATER)
        reason = definition.reason(self.ratings, self.chance)
        if reason not in (None, Undefined.NO_VARIATION):
            return undefined(str(reason))
        expected = float(definition.by_chance(self.center)[0])
        if reason or 1 - expected <= CERTAIN:
            return undefined(Undefined.NO_VARIATION, expected)
        items = self.ratings.comparable_items
        if definition.key == "cohen_kappa":
            items = self._items(self.center.usable[self.ratings.comparisons.rater_pair])
        function, value = definition.over_draws, self.center.value(definition.over_draws)
        return Estimate(value, None, expected, items, lambda: self.draws.over(function), definition.floor)

    def agreement(self, comparisons: Ints, values: Floats | None = None) -> Estimate:
        """Observed agreement over some comparisons, or the mean of other values of theirs."""
        if not len(comparisons):
            return undefined(Undefined.NO_OTHER_RATER)
        function = partial(Draws.observed_of, comparisons=comparisons, values=values)
        value, items = self.center.value(function), self._items(comparisons)
        return Estimate(value, None, 0.0, items, lambda: self.draws.over(function, len(comparisons)), 0.0)

    def kappa(self, pairs: Ints) -> Estimate:
        """Mean of Cohen's kappa over some rater pairs."""
        if reason := reason_of_pairs(self.ratings, self.center.chance, pairs):
            return undefined(reason)
        usable = pairs[self.center.usable[pairs]]
        items = self._items(self.ratings.comparisons.of_pairs(usable))
        expected = float(self.center.pair_expected[usable, 0].mean())
        value = self.center.value(partial(Draws.kappa_of, pairs=pairs))
        return Estimate(value, None, expected, items, lambda: self.draws.kappa_of(pairs))

    def _items(self, comparisons: Ints) -> Ints:
        return np.unique(self.ratings.comparisons.item[comparisons])
