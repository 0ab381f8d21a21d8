"""A table under one measure: coefficients, each item's contribution to them, and the equivalence of same-item pairs.

The truth about a table with gold codes is the same under the measure ``exact``, on the codes instead of the texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lab.experiments.influence import item_influence
from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.registry import coefficient_keys, definition
from softirr.statistics.coefficients.summary import Summary, summarize
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.matching.assignment import METHODS

Values = dict[str, float | None]
"""Value of each coefficient; None if it is not defined."""


@dataclass(frozen=True)
class Chance:
    """How agreement by chance is computed: by permutations (Wullschleger et al. 2026), or exactly."""

    method: Literal["permutation", "exact"] = "permutation"
    permutations: int = 3


EXACT = Chance("exact")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores and coefficients of one table under one measure.

    Attributes
    ----------
    estimates : dict
        Coefficients by assignment: ``estimates["optimal"]["cohen_kappa"]``.
    same : shape (n,)
        Equivalence of both answers of each same-item pair, under the optimal assignment.
    contributions : dict
        Each item's contribution to each coefficient, under the optimal assignment: the coefficient's value plus the
        item's influence; their mean is the value (pseudo-values).
    pairs, texts : int
        Number of pairs of texts that the measure scored, and of distinct texts.
    seconds : float
        Time it took.
    """

    estimates: dict[str, Values]
    same: Floats
    contributions: dict[str, Floats]
    pairs: int
    texts: int
    seconds: float


class SharedScorer:
    """One scorer for the texts of many tables, so that pairs in several populations are scored once.

    Parameters
    ----------
    progress : callable, optional
        Called with (pairs done, pairs in all) while a model scores.
    """

    def __init__(
        self,
        measure: Measure,
        tables: Sequence[AnnotationTable],
        *,
        cache: PairCache | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.measure = measure
        numbers: dict[str, int] = {}
        for table in tables:
            for text in table.texts:
                numbers.setdefault(text, len(numbers))
        self._numbers = numbers
        self.scorer = PairScorer(measure, list(numbers), cache=cache, progress=progress)

    def of(self, table: AnnotationTable) -> PairScorer:
        """A scorer of this table's texts."""
        return _Part(self.scorer, np.array([self._numbers[text] for text in table.texts], dtype=np.int64))


class _Part(PairScorer):
    """A scorer of some of another scorer's texts."""

    def __init__(self, scorer: PairScorer, ids: Ints) -> None:
        self._whole, self._places = scorer, ids
        self.measure, self.directional, self.cheap = scorer.measure, scorer.directional, scorer.cheap

    def score(self, left: Ints, right: Ints) -> Floats:
        return self._whole.score(self._places[left], self._places[right])

    def entail(self, left: Ints, right: Ints) -> Floats | None:
        return self._whole.entail(self._places[left], self._places[right])

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        return self._whole.block(self._places[rows], self._places[cols])


def score_table(table: AnnotationTable, shared: SharedScorer, chance: Chance, *, key: str = "") -> Scored:
    """Coefficients of a table.

    Parameters
    ----------
    shared : SharedScorer
        That knows the table's texts.
    key : str
        Seed of the draws.
    """
    started = time.perf_counter()
    n_before = shared.scorer.pairs_scored
    scorer = shared.of(table)
    ratings = Ratings.of(table)
    comparisons = ratings.comparisons
    summaries: dict[str, Summary] = {}
    same: dict[str, Floats] = {}
    for method in METHODS if not table.is_single else METHODS[:1]:
        answers = AnswerScorer(table, scorer, method=method)
        same[method] = answers.score(ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows])
        summaries[method] = _coefficients(ratings, answers, same[method], chance, key)
    names = coefficient_keys()
    return Scored(
        {method: {name: summary.coefficients[name].value for name in names} for method, summary in summaries.items()},
        same[METHODS[0]],
        _contributions(summaries[METHODS[0]]),
        shared.scorer.pairs_scored - n_before,
        len(table.texts),
        time.perf_counter() - started,
    )


def _contributions(summary: Summary) -> dict[str, Floats]:
    """Value plus influence of each item, for each coefficient that has a value."""
    by_measure = summary.by_measure
    if by_measure is None:
        return {}
    values = {name: estimate.value for name, estimate in summary.coefficients.items()}
    return {
        name: value + item_influence(by_measure, definition(name))
        for name, value in values.items()
        if value is not None
    }


def truth(codes: AnnotationTable) -> Scored:
    """The coefficients of a table of codes: two answers are compared by the Jaccard coefficient, chance is exact.

    Parameters
    ----------
    codes : AnnotationTable
        Whose texts are codes.
    """
    table = replace(codes, kind="set:jaccard")
    return score_table(table, SharedScorer(measure_by_name("exact"), [table]), EXACT)


def _coefficients(ratings: Ratings, answers: AnswerScorer, scores: Floats, chance: Chance, key: str) -> Summary:
    if not len(scores):
        expected = None
    elif chance.method == "exact":
        expected = exact(ratings, answers, scores)
    else:
        seed = int.from_bytes(key.encode()[:8].ljust(8), "big")
        expected = permutation(ratings, answers, permutations=chance.permutations, seed=seed)
    return summarize(ratings, scores, expected)
