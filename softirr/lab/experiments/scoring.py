"""A population, or any table with gold codes, under one measure: estimated coefficients, and the scores behind them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.chance.exact import exact
from softirr.chance.permutation import permutation
from softirr.coefficients.registry import coefficient_keys
from softirr.coefficients.summary import Summary, summarize
from softirr.lab.experiments.draw import Draw
from softirr.lab.experiments.generate import Population
from softirr.lab.experiments.gold import jaccard, values
from softirr.lab.experiments.pools import Pool
from softirr.matching.assignment import METHODS, AnswerScorer, optimal
from softirr.measures import Measure
from softirr.measures.cache import PairCache
from softirr.measures.pairs import PairScorer
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.tables.table import AnnotationTable
from softirr.text import normalize

ChanceMethod = Literal["permutation", "exact"]
Codes = Mapping[tuple[int, int], tuple[str, ...]]
"""Gold codes of (item, rater), as indices into the table."""


@dataclass(frozen=True)
class Chance:
    """How agreement by chance is computed: by permutations (Wullschleger et al. 2026), or exactly."""

    method: ChanceMethod = "permutation"
    permutations: int = 3

    @property
    def name(self) -> str:
        """Name in the store."""
        return "exact" if self.method == "exact" else f"permutation-{self.permutations}"


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores and coefficients of one population under one measure.

    Attributes
    ----------
    estimates : dict
        Coefficients by assignment: ``estimates["optimal"]["cohen_kappa"]``.
    same, chance : Pool
        Same-item pairs, and pairs of the first rater's answers with permuted ones of the second.
    pairs, texts : int
        Number of pairs of texts that the measure scored, and of distinct texts.
    seconds : float
        Time it took.
    contributions : dict
        Each item's contribution to each coefficient, under the optimal assignment (see :func:`contributions`).
    """

    estimates: dict[str, dict[str, float | None]]
    same: Pool
    chance: Pool
    pairs: int
    texts: int
    seconds: float
    contributions: dict[str, Floats]


class SharedScorer:
    """One scorer for the texts of many tables, so that pairs in several populations are scored once.

    Parameters
    ----------
    measure : Measure
    tables : sequence of AnnotationTable
    cache : PairCache, optional
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

    def __init__(self, whole: PairScorer, ids: Ints) -> None:
        self._whole, self._places = whole, ids
        self.measure, self.directional, self.cheap = whole.measure, whole.directional, whole.cheap

    def score(self, left: Ints, right: Ints) -> Floats:
        return self._whole.score(self._places[left], self._places[right])

    def entail(self, left: Ints, right: Ints) -> Floats | None:
        return self._whole.entail(self._places[left], self._places[right])

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        return self._whole.block(self._places[rows], self._places[cols])


def score_population(population: Population, shared: SharedScorer, chance: Chance) -> Scored:
    """Coefficients and pools of a population.

    Parameters
    ----------
    population : Population
    shared : SharedScorer
        That knows the population's texts.
    chance : Chance
    """
    table = population.table()
    codes: dict[tuple[int, int], tuple[str, ...]] = {
        (item, rater): both[rater] for item, both in enumerate(population.concepts) for rater in (0, 1)
    }
    named = {
        (item, rater): {normalize(text): code for text, code in zip(texts[rater], both[rater], strict=True)}
        for item, (texts, both) in enumerate(zip(population.texts, population.concepts, strict=True))
        for rater in (0, 1)
    }
    return score_table(table, codes, shared, chance, key=population.digest, named=named)


def score_table(
    table: AnnotationTable,
    codes: Codes | None,
    shared: SharedScorer,
    chance: Chance,
    *,
    key: str,
    named: Mapping[tuple[int, int], Mapping[str, str]] | None = None,
) -> Scored:
    """Coefficients and pools of a table.

    Parameters
    ----------
    table : AnnotationTable
    codes : mapping, optional
        Gold codes of every (item, rater) that has a row; without it gold and truth in the pools are 0.
    shared : SharedScorer
    chance : Chance
    key : str
        What the draws depend on.
    named : mapping, optional
        Which code each single text of an answer stands for; without it the gold of an edge is the overlap of the
        answers' codes.
    """
    started = time.perf_counter()
    before = shared.scorer.pairs_scored
    scorer = shared.of(table)
    ratings = Ratings.of(table)
    summaries = {
        method: _coefficients(ratings, AnswerScorer(table, scorer, method=method), chance, key)
        for method in (METHODS if not table.is_single else METHODS[:1])
    }
    maker = _PoolMaker(table, codes, scorer, named)
    same = maker.pool(*_same_pairs(ratings))
    drawn = maker.pool(*_chance_pairs(ratings, chance.permutations, Draw(key, "chance")))
    seconds = time.perf_counter() - started
    return Scored(
        {method: values(summary) for method, summary in summaries.items()},
        same,
        drawn,
        shared.scorer.pairs_scored - before,
        len(table.texts),
        seconds,
        contributions(summaries[METHODS[0]]),
    )


def contributions(summary: Summary) -> dict[str, Floats]:
    """Each item's contribution to each coefficient.

    Its value plus the item's influence, whose mean is the value (pseudo-values).
    """
    return {
        name: estimate.value + estimate.influence
        for name in coefficient_keys(shown=True)
        if (estimate := summary.coefficients[name]).value is not None
    }


def _coefficients(ratings: Ratings, answers: AnswerScorer, chance: Chance, key: str) -> Summary:
    comparisons = ratings.comparisons
    scores = answers.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])
    if not len(scores):
        known = None
    elif chance.method == "exact":
        known = exact(ratings, answers, scores)
    else:
        seed = int.from_bytes(key.encode()[:8].ljust(8), "big")
        known = permutation(ratings, answers, permutations=chance.permutations, seed=seed)
    return summarize(ratings, scores, known)


def _same_pairs(ratings: Ratings) -> tuple[Ints, Ints, Floats]:
    """Rows of both answers, and shares: items count the same, and so do the pairs of an item."""
    comparisons = ratings.comparisons
    per_item = np.bincount(comparisons.item, minlength=ratings.n_items)
    share = 1 / per_item[comparisons.item]
    return comparisons.left, comparisons.right, share / share.sum()


def _chance_pairs(ratings: Ratings, permutations: int, draw: Draw) -> tuple[Ints, Ints, Floats]:
    """D permutations of the second answers, within each rater pair (Wullschleger et al. 2026)."""
    comparisons = ratings.comparisons
    left, right = [], []
    for pair in range(len(comparisons.rater_pairs)):
        mine = np.flatnonzero(comparisons.rater_pair == pair)
        for _ in range(permutations):
            order = np.array(draw.permutation(len(mine)), dtype=np.int64)
            left.append(comparisons.left[mine])
            right.append(comparisons.right[mine[order]])
    if not left:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    rows = np.concatenate(left)
    return rows, np.concatenate(right), np.full(len(rows), 1 / len(rows))


class _PoolMaker:
    """Resolves pairs of answers into edges by the optimal assignment."""

    def __init__(
        self,
        table: AnnotationTable,
        codes: Codes | None,
        scorer: PairScorer,
        named: Mapping[tuple[int, int], Mapping[str, str]] | None,
    ) -> None:
        self._table, self._codes, self._scorer, self._named = table, codes, scorer, named

    def pool(self, left: Ints, right: Ints, share: Floats) -> Pool:
        """Pairs of rows of the table, as a pool."""
        table = self._table
        a = [np.array(table.answers[table.answer[row]], dtype=np.int64) for row in left.tolist()]
        b = [np.array(table.answers[table.answer[row]], dtype=np.int64) for row in right.tolist()]
        grids = self._grids(a, b)
        pair: list[int] = []
        score: list[float] = []
        gold: list[float] = []
        weight: list[float] = []
        base, truth = np.zeros(len(left)), np.zeros(len(left))
        for place, (first, second, grid) in enumerate(zip(a, b, grids, strict=True)):
            here, there = self._where(int(left[place])), self._where(int(right[place]))
            if self._codes is not None:
                truth[place] = jaccard(self._codes[here], self._codes[there])
            if not len(first) and not len(second):
                base[place] = 1.0
            if not len(first) or not len(second):
                continue
            rows, cols = optimal(grid) if grid.size > 1 else (np.zeros(1, np.int64), np.zeros(1, np.int64))
            for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
                pair.append(place)
                score.append(float(grid[i, j]))
                weight.append(2.0 / (len(first) + len(second)))
                gold.append(self._edge_gold(here, there, int(first[i]), int(second[j]), truth[place]))
        return Pool(
            pair=np.array(pair, dtype=np.int64),
            score=np.array(score),
            gold=np.array(gold),
            weight=np.array(weight),
            base=base,
            truth=truth,
            share=share,
        )

    def _where(self, row: int) -> tuple[int, int]:
        return int(self._table.item[row]), int(self._table.rater[row])

    def _edge_gold(self, here: tuple[int, int], there: tuple[int, int], i: int, j: int, overlap: float) -> float:
        if self._named is None:
            return overlap
        texts = self._table.texts
        return float(self._named[here][texts[i]] == self._named[there][texts[j]])

    def _grids(self, a: list[Ints], b: list[Ints]) -> list[Floats]:
        """Equivalence of all texts of each pair, scored in one call."""
        left = [np.repeat(x, len(y)) for x, y in zip(a, b, strict=True)]
        right = [np.tile(y, len(x)) for x, y in zip(a, b, strict=True)]
        nothing = np.zeros(0, dtype=np.int64)
        scores = self._scorer.score(np.concatenate([nothing, *left]), np.concatenate([nothing, *right]))
        ends = np.cumsum([len(x) for x in left])
        parts = np.split(scores, ends[:-1]) if len(left) else []
        return [part.reshape(len(x), len(y)) for part, x, y in zip(parts, a, b, strict=True)]
