"""Every coefficient, and the estimates of all of them for a table by the measure alone.

The command line, JSON, screens, papers and documentation go through the list of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.braylan import KS, SIGMA, beyond_chance
from softirr.statistics.coefficients.cohen import COHEN_KAPPA, reason_of_pairs
from softirr.statistics.coefficients.definition import Definition, Estimate, Undefined, missing, undefined
from softirr.statistics.coefficients.distinct_answers import BRENNAN_PREDIGER, GWET_AC2
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.krippendorff import KRIPPENDORFF_ALPHA
from softirr.statistics.coefficients.pooled import FLEISS_KAPPA, OBSERVED_AGREEMENT, SCOTT_PI
from softirr.statistics.draws import Draws
from softirr.statistics.weights_and_scores import ItemWeights, item_numbers

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
        self.center = Draws.value(ratings, scores, chance, scores)
        self.items = items or ItemWeights(
            item_numbers([str(row) for row in range(ratings.n_items)]), len(ratings.comparable_items)
        )

    @cached_property
    def draws(self) -> Draws:
        """Draws of the item weights."""
        return Draws.of_items(self.ratings, self.scores, self.chance, self.items)

    def estimate(self, definition: Definition) -> Estimate:
        """A coefficient of the table."""
        by_chance = definition.by_chance
        reason = definition.reason(self.ratings, self.chance)
        if reason is not None:
            expected = float(by_chance(self.center)[0]) if reason == Undefined.NO_VARIATION else None
            return undefined(reason, expected)
        items = self.ratings.comparable_items
        if definition.key == "cohen_kappa":
            items = self._items(self.center.usable[self.ratings.comparisons.rater_pair])
        expected = float(by_chance(self.center)[0])
        return self._estimate(definition.over_draws, items, expected=expected, floor=definition.floor)

    def agreement(self, comparisons: Ints, values: Floats | None = None) -> Estimate:
        """Observed agreement over some comparisons, or the mean of other values of theirs."""
        if not len(comparisons):
            return undefined(Undefined.NO_OTHER_RATER)
        items = self._items(comparisons)
        return self._estimate(lambda draws: draws.observed_of(comparisons, values), items, floor=0.0)

    def kappa(self, pairs: Ints) -> Estimate:
        """Mean of Cohen's kappa over some rater pairs."""
        if reason := reason_of_pairs(self.ratings, self.chance, pairs):
            return undefined(reason)
        usable = pairs[self.center.usable[pairs]]
        items = self._items(self.ratings.comparisons.of_pairs(usable))
        expected = float(self.center.pair_expected[usable, 0].mean())
        draw = self.draws.kappa_of
        return Estimate(float(self.center.kappa_of(pairs)[0]), None, expected, items, lambda: draw(pairs))

    def pairs(self, beyond: Floats | None) -> Iterator[Trio]:
        """Observed agreement, Cohen's kappa and sigma of each rater pair."""
        center, comparisons = self.center, self.ratings.comparisons
        share, group, _ = center.pair_weights
        kappa, expected = center.every_kappa[:, 0].tolist(), center.pair_expected[:, 0].tolist()
        sigma = None if beyond is None else (group @ (share * beyond)).tolist()
        for pair, observed in enumerate(center.pair_observed[:, 0].tolist()):
            number = np.array([pair])
            rows = comparisons.of_pairs(number)
            items = comparisons.item[rows]
            agreement = Estimate(observed, None, 0.0, items, partial(self._draws_of_pair, pair, of_kappa=False), 0.0)
            reason = reason_of_pairs(self.ratings, self.chance, number)
            draw = partial(self._draws_of_pair, pair, of_kappa=True)
            of_kappa = undefined(reason) if reason else Estimate(kappa[pair], None, expected[pair], items, draw)
            of_sigma = undefined(Undefined.ONE_ITEM)
            if sigma is not None:
                of_sigma = Estimate(sigma[pair], None, 0.0, items, partial(self._draws_of, rows, beyond), 0.0)
            yield agreement, of_kappa, of_sigma

    def _draws_of_pair(self, pair: int, *, of_kappa: bool) -> Floats:
        return np.asarray((self.draws.every_kappa if of_kappa else self.draws.every_observed)[pair])

    def _draws_of(self, comparisons: Ints, values: Floats | None) -> Floats:
        return self.draws.over(lambda draws: draws.observed_of(comparisons, values))

    def _items(self, comparisons: Ints) -> Ints:
        return np.unique(self.ratings.comparisons.item[comparisons])

    def _estimate(
        self, function: Callable[[Draws], Floats], items: Ints, *, expected: float = 0.0, floor: float = -1.0
    ) -> Estimate:
        value = float(function(self.center)[0])
        return Estimate(value, None, expected, items, lambda: self.draws.over(function), floor)


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
        reason = undefined(missing(ratings) or Undefined.NO_OVERLAP)
        no_other_rater = undefined(Undefined.NO_OTHER_RATER)
        return Summary(dict.fromkeys(coefficient_keys(), reason), ((no_other_rater,) * 3,) * ratings.n_raters, ())
    answers = ByMeasure(ratings, scores, chance, items)
    by_marginals = {
        "answers": answers,
        "chosen": answers if pooled is None else ByMeasure(ratings, scores, pooled, answers.items),
    }
    distribution = chance.distribution
    beyond = None if distribution is None or len(ratings.comparable_items) < 2 else beyond_chance(scores, distribution)
    comparisons = ratings.comparisons
    n_pairs = len(comparisons.rater_pairs)

    def trio(pairs: Ints) -> Trio:
        of_pairs = comparisons.of_pairs(pairs)
        sigma = undefined(Undefined.ONE_ITEM) if beyond is None else answers.agreement(of_pairs, beyond)
        return answers.agreement(of_pairs), answers.kappa(pairs), sigma

    return Summary(
        coefficients={
            definition.key: by_marginals[definition.marginals].estimate(definition) for definition in DEFINITIONS
        },
        raters=tuple(trio(comparisons.pairs_of_rater(rater)) for rater in range(ratings.n_raters)),
        rater_pairs=tuple(answers.pairs(beyond)) if n_pairs <= MOST_RATER_PAIRS else (),
        by_measure=answers,
        beyond_chance=beyond,
    )
