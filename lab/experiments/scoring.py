"""A table under one measure: coefficients, each item's contribution to them, and the equivalence of same-item pairs.

The truth about a table with gold codes is the same under the measure ``exact``, on the codes instead of the texts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.experiments.influence import item_influence
from softirr.answers.ratings import Floats, Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import PairScorer
from softirr.provenance import Progress
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.registry import ByMeasure, coefficient_keys, definition
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.matching.assignment import METHODS

Values = dict[str, float | None]
"""Value of each coefficient; None if it is not defined."""


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
        progress: Progress | None = None,
    ) -> None:
        self._numbers = {text: number for number, text in enumerate(dict.fromkeys(t for x in tables for t in x.texts))}
        self.scorer = PairScorer(measure, list(self._numbers), cache=cache, progress=progress)

    def renumbered(self, table: AnnotationTable) -> AnnotationTable:
        """One of the tables, with the texts of all of them, which the scorer's numbers refer to."""
        numbers = [self._numbers[text] for text in table.texts]
        answers = tuple(tuple(numbers[text] for text in answer) for answer in table.answers)
        return replace(table, texts=tuple(self._numbers), answers=answers)


def score_table(
    table: AnnotationTable, shared: SharedScorer, *, permutations: int | None = None, key: str = ""
) -> Scored:
    """Coefficients of a table.

    Parameters
    ----------
    shared : SharedScorer
        That knows the table's texts.
    permutations : int, optional
        For agreement by chance, as in Wullschleger et al. 2026; None computes it exactly.
    key : str
        Seed of the draws.
    """
    started = time.perf_counter()
    n_before = shared.scorer.pairs_scored
    ratings = Ratings.of(table)
    renumbered = shared.renumbered(table)
    by_method: dict[str, ByMeasure] = {}
    same: dict[str, Floats] = {}
    for method in METHODS if not table.is_single else METHODS[:1]:
        answers = AnswerScorer(renumbered, shared.scorer, method=method)
        same[method] = answers.of_comparisons(ratings)
        by_method[method] = _by_measure(ratings, answers, same[method], permutations, key)
    names = coefficient_keys()
    return Scored(
        {method: {name: entry.estimates[name].value for name in names} for method, entry in by_method.items()},
        same[METHODS[0]],
        _contributions(by_method[METHODS[0]]),
        shared.scorer.pairs_scored - n_before,
        len(table.texts),
        time.perf_counter() - started,
    )


def _contributions(by_measure: ByMeasure) -> dict[str, Floats]:
    """Value plus influence of each item, for each coefficient that has a value."""
    return {
        name: estimate.value + item_influence(by_measure, definition(name))
        for name, estimate in by_measure.estimates.items()
        if estimate.value is not None
    }


def truth(codes: AnnotationTable) -> Scored:
    """The coefficients of a table of codes: two answers are compared by the Jaccard coefficient, chance is exact.

    Parameters
    ----------
    codes : AnnotationTable
        Whose texts are codes.
    """
    table = replace(codes, kind="set:jaccard")
    return score_table(table, SharedScorer(measure_by_name("exact"), [table]))


def _by_measure(
    ratings: Ratings, answers: AnswerScorer, scores: Floats, permutations: int | None, key: str
) -> ByMeasure:
    if not len(scores):
        expected = None
    elif permutations is None:
        expected = exact(ratings, answers, scores)
    else:
        seed = int.from_bytes(key.encode()[:8].ljust(8), "big")
        expected = permutation(ratings, answers, permutations=permutations, seed=seed)
    return ByMeasure(ratings, scores, expected)
