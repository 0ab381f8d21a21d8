"""Every coefficient, and the estimates of all of them for a table by the measure alone.

The command line, JSON, screens, papers and documentation go through the list of this module.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Estimates of a table from the equivalences and the chance of a measure.

    Parameters
    ----------
    ratings : Ratings
        With at least one item that two raters answered.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Agreement by chance, by the same measure as ``scores``.
    items : ItemWeights, optional
        Ids and weights of the items; None for items named by their row from 0, as in a data frame.
    """

    def __init__(self, ratings: Ratings, scores: Floats, chance: Chance, items: ItemWeights | None = None) -> None:
        self.ratings, self.scores, self.chance = ratings, scores, chance
        self.center = Draws.of_weights(ratings, scores, chance, np.ones((ratings.n_items, 1)))
        self.items = items or ItemWeights.of(map(str, range(ratings.n_items)), ratings)

    @cached_property
    def draws(self) -> Draws:
        """Draws of the item weights."""
        return Draws.of_items(self.ratings, self.scores, self.chance, self.items)

    def estimate(self, definition: Definition) -> Estimate:
        """A coefficient of the table."""
        reason = definition.reason(self.ratings, self.chance)
        if reason not in (None, Undefined.NO_VARIATION):
            return undefined(str(reason))
        expected = float(definition.by_chance(self.center)[0])
        if reason or 1 - expected <= CERTAIN:
            return undefined(Undefined.NO_VARIATION, expected)
        items = self.ratings.comparable_items
        if definition.key == "cohen_kappa":
            items = self._items(self.center.usable[self.ratings.comparisons.rater_pair])
        function, value = definition.over_draws, float(definition.over_draws(self.center)[0])
        return Estimate(value, None, expected, items, lambda: self.draws.over(function), definition.floor)

    def agreement(self, comparisons: Ints, values: Floats | None = None) -> Estimate:
        """Observed agreement over some comparisons, or the mean of other values of theirs."""
        if not len(comparisons):
            return undefined(Undefined.NO_OTHER_RATER)
        function = partial(Draws.observed_of, comparisons=comparisons, values=values)
        value, items = float(function(self.center)[0]), self._items(comparisons)
        return Estimate(value, None, 0.0, items, lambda: self.draws.over(function, len(comparisons)), 0.0)

    def kappa(self, pairs: Ints) -> Estimate:
        """Mean of Cohen's kappa over some rater pairs."""
        if reason := reason_of_pairs(self.ratings, self.chance, pairs):
            return undefined(reason)
        usable = pairs[self.center.usable[pairs]]
        items = self._items(self.ratings.comparisons.of_pairs(usable))
        expected = float(self.center.pair_expected[usable, 0].mean())
        value = float(self.center.kappa_of(pairs)[0])
        return Estimate(value, None, expected, items, lambda: self.draws.kappa_of(pairs))

    def _items(self, comparisons: Ints) -> Ints:
        return np.unique(self.ratings.comparisons.item[comparisons])


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of every coefficient of the project, its raters and its rater pairs.

    Attributes
    ----------
    coefficients : dict of str to Estimate
        The project's coefficients.
    raters, rater_pairs : tuple of (Estimate, Estimate, Estimate)
        Observed agreement, Cohen's kappa, and sigma against the chance distribution of the whole project, for each
        rater and rater pair. ``rater_pairs`` is empty if there are more than ``MOST_RATER_PAIRS``.
    by_measure : ByMeasure or None
        Source of the estimates; None if no answers can be compared.
    beyond_chance : shape (P,), or None without a chance distribution
        See :func:`softirr.statistics.coefficients.braylan.beyond_chance`.
    """

    coefficients: dict[str, Estimate]
    raters: tuple[Trio, ...]
    rater_pairs: tuple[Trio, ...]
    by_measure: ByMeasure | None = None
    beyond_chance: Floats | None = None

    @cached_property
    def measured(self) -> dict[str, Coefficient]:
        """The project's coefficients with intervals that cover the sampling of the items only."""
        return {name: estimate.coefficient for name, estimate in self.coefficients.items()}


def summarize(
    ratings: Ratings,
    scores: Floats,
    chance: Chance | None,
    pooled: Chance | None = None,
    items: ItemWeights | None = None,
) -> Summary:
    """Compute every coefficient from the scores.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance or None
        None if no answers can be compared.
    pooled : Chance, optional
        Chance computed with other marginals, for the coefficients that take them.
    items : ItemWeights, optional
        Ids and weights of the items; None for items named by their row from 0, as in a data frame.
    """
    if chance is None:
        reason = undefined(Undefined.NO_OVERLAP if len(np.unique(ratings.rater)) > 1 else Undefined.ONE_RATER)
        no_other_rater = undefined(Undefined.NO_OTHER_RATER)
        return Summary(dict.fromkeys(coefficient_keys(), reason), ((no_other_rater,) * 3,) * ratings.n_raters, ())
    answers = ByMeasure(ratings, scores, chance, items)
    with_marginals = answers if pooled is None else ByMeasure(ratings, scores, pooled, answers.items)
    sources = {"answers": answers, "chosen": with_marginals}
    distribution = chance.distribution
    beyond = None if distribution is None or len(ratings.comparable_items) < 2 else beyond_chance(scores, distribution)
    comparisons = ratings.comparisons
    n_pairs = len(comparisons.rater_pairs)

    def trio(pairs: Ints) -> Trio:
        of_pairs = comparisons.of_pairs(pairs)
        sigma = undefined(Undefined.ONE_ITEM) if beyond is None else answers.agreement(of_pairs, beyond)
        return answers.agreement(of_pairs), answers.kappa(pairs), sigma

    return Summary(
        coefficients={entry.key: sources[entry.marginals].estimate(entry) for entry in DEFINITIONS},
        raters=tuple(trio(comparisons.pairs_of_rater(rater)) for rater in range(ratings.n_raters)),
        rater_pairs=tuple(trio(np.array([pair])) for pair in range(n_pairs if n_pairs <= MOST_RATER_PAIRS else 0)),
        by_measure=answers,
        beyond_chance=beyond,
    )
