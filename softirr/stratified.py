"""Expected agreement from a stratified sample of pairs: an expensive equivalence is asked where a cheap one says that it varies.

Free text has nearly as many texts as answers, so all pairs of N items are about N²; almost all of them are near 0. A cheap equivalence,
known for all pairs, sorts them into strata; the expensive one is sampled in each in proportion to size times standard deviation (Neyman
1934), in rounds, until the standard error is below a target. Strata that vary little get few pairs, the few pairs that may be equivalent
are nearly all asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softirr.chance import Equivalence, Scored, exact
from softirr.coefficients import (
    GRID,
    Chance,
    ChanceDistribution,
    Floats,
    Ints,
    Marginals,
    Pooling,
    Ratings,
    on_grid,
    sums,
)

Score = Callable[[Ints, Ints], Floats]
"""Equivalence of answer k[i] with answer l[i]."""

POPULATION = 2_500_000
"""Up to this many pairs of answers all are sorted; above, a random sample of a million stands for them, with an error below 0.0005."""
_SAMPLED = 1_000_000
_OWN_STRATA = 10
"""Up to this many rater pairs each gets strata of its own; with more they share strata."""
_PILOT = 800
"""Pairs asked first, of each stratum by its size: with fewer, rare equivalent pairs go unseen and the standard error is not to be believed."""
_UNSEEN = 2
"""Pairs of full equivalence that the overall variance takes as seen besides those drawn: a sample with few of them stops too early."""
_LEVEL_SIZE = 40
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class PairPopulation:
    """Unordered pairs of pooled rows of different items, or a random sample of them, in strata.

    Attributes
    ----------
    ratings, pooling
    first, second : shape (M,)
        Rows of the ratings.
    cell : shape (M,)
        The rater pair whose shared items both rows belong to, or m.
    weight : shape (M,)
        How many pairs each one stands for.
    stratum : shape (M,)
        -1 where both answers are the same, so that their equivalence is known.
    level : shape (n_strata,)
        Of each stratum: where its pairs stand by the cheap equivalence, from 0 up.
    complete : bool
        Whether all pairs are there.
    """

    ratings: Ratings
    pooling: Pooling
    first: Ints
    second: Ints
    cell: Ints
    weight: Floats
    stratum: Ints
    level: Ints
    complete: bool

    @classmethod
    def draw(
        cls,
        ratings: Ratings,
        marginals: Marginals,
        cheap: Equivalence | None,
        *,
        strata: int,
        population: int,
        rng: np.random.Generator,
    ) -> PairPopulation:
        """The pairs of a table, sorted into strata by the cheap equivalence; by rater pair only where there is none."""
        pooling = Pooling.of(ratings, marginals)
        n = len(pooling.rows)
        complete = n * (n - 1) // 2 <= population
        if complete:
            i, j = np.triu_indices(n, 1)
        else:
            size = min(population, _SAMPLED)
            i = rng.integers(0, n, size)
            j = (i + rng.integers(1, n, size)) % n
        first, second = pooling.rows[i], pooling.rows[j]
        different = np.flatnonzero(ratings.item[first] != ratings.item[second])
        first, second = first[different], second[different]
        m = len(ratings.comparisons.shared)
        cell = _cells(ratings, first, second)
        k, l = ratings.answer[first], ratings.answer[second]  # noqa: E741
        asked = np.flatnonzero(k != l)
        group = cell[asked] if m <= _OWN_STRATA else (cell[asked] == m).astype(np.int64)
        stratum = np.full(len(first), -1, dtype=np.int64)
        values = np.zeros(len(asked)) if cheap is None else _sorting(cheap, k[asked], l[asked], complete)
        stratum[asked], level = _strata(group, values, strata)
        weight = _weights(ratings, pooling, cell, m)
        return cls(ratings, pooling, first, second, cell, weight, stratum, level, complete)

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return len(self.level)

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return int(self.level.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> Ints:
        """Pairs of each stratum, shape (n_strata,)."""
        return np.bincount(self.stratum[self.stratum >= 0], minlength=self.n_strata)

    @cached_property
    def by_stratum(self) -> Ints:
        """The pairs, stratum after stratum, shape (sum of sizes,)."""
        asked = np.flatnonzero(self.stratum >= 0)
        small = np.uint16 if self.n_strata < 1 << 16 else np.int64  # numpy sorts 16-bit numbers by counting
        return asked[np.argsort(self.stratum[asked].astype(small), kind="stable")]

    def totals(self, weights: Floats) -> Floats:
        """Sum of the pairs' weights in each stratum and, last, over the pairs of the same answer; shape (n_strata + 1,)."""
        return sums(np.where(self.stratum >= 0, self.stratum, self.n_strata), weights, self.n_strata + 1)

    @cached_property
    def pooled_totals(self) -> Floats:
        """:meth:`totals` of :meth:`pooled_weights`."""
        return self.totals(self.pooled_weights)

    @cached_property
    def cohen_totals(self) -> Floats:
        """Sums of :meth:`cohen_weights` by rater pair and stratum, the last as in :meth:`totals`; shape (m, n_strata + 1)."""
        m, strata = len(self.ratings.comparisons.shared), self.n_strata + 1
        mine = np.flatnonzero(self.cell < m)
        place = np.where(self.stratum >= 0, self.stratum, self.n_strata)[mine]
        return sums(self.cell[mine] * strata + place, self.cohen_weights[mine], m * strata).reshape(m, strata)

    @cached_property
    def row_shares(self) -> Floats:
        """For each row, the share of its different-item answers (by their weight in π) in each stratum; shape (rows, n_strata + 1).

        Rows that no pair has, which happens in a sample of the pairs only, get the shares of all.
        """
        n, strata = len(self.ratings.item), self.n_strata + 1
        weight = np.zeros(n)
        weight[self.pooling.rows] = self.pooling.weights
        place = np.where(self.stratum >= 0, self.stratum, self.n_strata)
        flat = np.zeros(n * strata)
        for a, b in ((self.first, self.second), (self.second, self.first)):
            flat += sums(a * strata + place, self.weight * weight[b], n * strata)
        met = flat.reshape(n, strata)
        total = met.sum(axis=1, keepdims=True)
        overall = met.sum(axis=0) / max(float(total.sum()), 1e-300)
        return np.where(total > 0, met / np.where(total > 0, total, 1.0), overall)

    @cached_property
    def comparison_shares(self) -> tuple[Floats, NDArray[np.bool_]]:
        """For the left, then the right answer of each comparison: shares by stratum of its pairs with the other rater's answers to the
        pair's other items, shape (2 P, n_strata + 1), and whether there are any, shape (2 P,)."""
        ratings, comparisons = self.ratings, self.ratings.comparisons
        m, n, strata = len(comparisons.shared), len(ratings.item), self.n_strata + 1
        mine = np.flatnonzero(self.cell < m)
        # one entry for each row in each of its rater pairs: which pair, which row
        key = np.concatenate([self.cell[mine] * n + self.first[mine], self.cell[mine] * n + self.second[mine]])
        wanted = np.concatenate(
            [comparisons.rater_pair * n + comparisons.left, comparisons.rater_pair * n + comparisons.right]
        )
        order = np.argsort(wanted)
        place = order[np.searchsorted(wanted, key, sorter=order)]
        stratum = np.where(self.stratum >= 0, self.stratum, self.n_strata)[mine]
        count = np.bincount(place * strata + np.tile(stratum, 2), minlength=len(wanted) * strata)
        count = count.reshape(len(wanted), strata)
        total = count.sum(axis=1, keepdims=True)
        return count / np.maximum(total, 1), total[:, 0] > 0

    @cached_property
    def pooled_weights(self) -> Floats:
        """Of each pair's equivalence in π' S π, shape (M,)."""
        of_row = np.zeros(len(self.ratings.item))
        of_row[self.pooling.rows] = self.pooling.weights
        return 2 * self.weight * of_row[self.first] * of_row[self.second]

    @cached_property
    def cohen_weights(self) -> Floats:
        """Of each pair's equivalence in the expected agreement of the rater pair it belongs to (0 where to none), shape (M,)."""
        shared = np.append(self.ratings.comparisons.shared, 1).astype(np.float64)
        return np.where(self.cell < len(shared) - 1, self.weight / shared[self.cell] ** 2, 0.0)


def _sorting(cheap: Equivalence, k: Ints, l: Ints, complete: bool) -> Floats:  # noqa: E741
    """The cheap equivalence of each pair of answers; all pairs are looked up in one block."""
    if not complete:
        return np.concatenate([cheap.score(k[part], l[part]) for part in _parts(len(k))] or [np.zeros(0)])
    answers, place = _numbered(np.concatenate([k, l]))
    block = cheap.block(answers, answers)
    return np.asarray(block[place[: len(k)], place[len(k) :]], dtype=np.float64)


def _parts(size: int) -> list[slice]:
    return [slice(start, start + _CHUNK) for start in range(0, size, _CHUNK)]


def _cells(ratings: Ratings, first: Ints, second: Ints) -> Ints:
    """For each pair of rows, the rater pair whose shared items both belong to, else m."""
    comparisons = ratings.comparisons
    m = len(comparisons.rater_pairs)
    number = np.full((ratings.n_raters, ratings.n_raters), m, dtype=np.int64)
    a, b = comparisons.rater_pairs.T
    number[a, b] = number[b, a] = np.arange(m)
    answered = np.zeros((ratings.n_items, ratings.n_raters), dtype=bool)
    answered[ratings.item, ratings.rater] = True
    r, s = ratings.rater[first], ratings.rater[second]
    both = answered[ratings.item[first], s] & answered[ratings.item[second], r]
    return np.where(both, number[r, s], m)


def _weights(ratings: Ratings, pooling: Pooling, cell: Ints, m: int) -> Floats:
    """How many different-item pairs of its cell each pair stands for; 1 when all are there."""
    comparisons = ratings.comparisons
    shared = comparisons.shared
    size = np.append(shared * (shared - 1), 0).astype(np.float64)
    n = len(pooling.rows)
    used = np.bincount(ratings.item[pooling.rows], minlength=ratings.n_items)
    size[m] = n * (n - 1) / 2 - float(np.sum(used * (used - 1) / 2)) - size[:m].sum()
    there = np.bincount(cell, minlength=m + 1)
    return (size / np.maximum(there, 1))[cell]


def _strata(group: Ints, values: Floats, strata: int) -> tuple[Ints, Ints]:
    """Stratum of each pair, by its group and its level, and the level of each stratum.

    Levels are quarters of all pairs up to the upper one, which is halved again and again.
    """
    shares = [0.25, 0.5, 0.75, *(1 - 0.5**k for k in range(3, 32))][: strata - 1]
    kept = [share for share in shares if (1 - share) * len(values) >= _LEVEL_SIZE]
    cuts = np.unique(np.quantile(values, kept)) if kept and len(values) else np.zeros(0)
    # ties stay together: levels are the values in (lower cut, upper cut]
    _, level = _numbered(np.searchsorted(cuts, values, side="left"))
    found, stratum = _numbered(group * np.int64(len(cuts) + 1) + level)
    return stratum, found % (len(cuts) + 1)


def _numbered(codes: Ints) -> tuple[Ints, Ints]:
    """The codes that occur, ascending, and for each entry the number of its code: ``np.unique`` for small codes, without sorting."""
    there = np.bincount(codes) > 0 if len(codes) else np.zeros(0, dtype=bool)
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


class StratifiedSample:
    """Pairs drawn without replacement from each stratum, and what is known of the strata from them."""

    def __init__(self, pairs: PairPopulation, rng: np.random.Generator) -> None:
        self.pairs = pairs
        self.sizes = pairs.sizes
        self._rng = rng
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._taken: list[Ints] = [np.zeros(0, dtype=np.int64)] * pairs.n_strata
        self.drawn = np.zeros(pairs.n_strata, dtype=np.int64)
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.values: Floats = np.zeros(0)

    def extend(self, wanted: Ints) -> Ints:
        """Draws until each stratum has as many as wanted (or all); returns the new pairs of the population."""
        more = np.minimum(wanted, self.sizes) - self.drawn
        fresh = [np.zeros(0, dtype=np.int64)]
        for stratum in np.flatnonzero(more > 0).tolist():
            picked = _not_taken(int(self.sizes[stratum]), self._taken[stratum], int(more[stratum]), self._rng)
            self._taken[stratum] = np.concatenate([self._taken[stratum], picked])
            fresh.append(self.pairs.by_stratum[self._starts[stratum] + picked])
        self.drawn = np.asarray(self.drawn + np.maximum(more, 0))
        new: Ints = np.concatenate(fresh)
        self.members = np.concatenate([self.members, new])
        return new

    def record(self, values: Floats) -> None:
        """The equivalences of the pairs drawn last."""
        self.values = np.concatenate([self.values, values])

    def means(self) -> Floats:
        """Mean equivalence of each stratum."""
        stratum = self.pairs.stratum[self.members]
        return sums(stratum, self.values, self.pairs.n_strata) / np.maximum(self.drawn, 1)

    def variances(self) -> Floats:
        """Variance of each stratum, from all strata of the same level; see :func:`_level_variances`."""
        level = self.pairs.level
        mine = level[self.pairs.stratum[self.members]]
        drawn = np.bincount(mine, minlength=self.pairs.n_levels)
        mean = sums(mine, self.values, self.pairs.n_levels) / np.maximum(drawn, 1)
        off = (self.values - mean[mine]) ** 2
        return _level_variances(mine, off, drawn, self.overall_variance())[level]

    def overall_variance(self) -> float:
        """Variance of the equivalence of all pairs, within and between strata, some more equivalent pairs than were drawn taken as seen."""
        stratum = self.pairs.stratum[self.members]
        share = self.sizes / max(self.sizes.sum(), 1)
        means = self.means()
        second = sums(stratum, self.values**2, self.pairs.n_strata) / np.maximum(self.drawn, 1)
        unseen = min(_UNSEEN / max(len(self.values), 1), 0.5)
        return float(max(np.sum(share * second) - np.sum(share * means) ** 2, 0.0)) + unseen * (1 - unseen)

    def weighted_means(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weighted mean equivalence of each stratum, given the weights of the pairs drawn, and how many equal weights these are worth."""
        stratum, strata = self.pairs.stratum[self.members], self.pairs.n_strata
        total, squares = sums(stratum, weights, strata), sums(stratum, weights**2, strata)
        weighed = squares > 0
        above = sums(stratum, weights * self.values, strata)
        mean: Floats = self.means()
        effective: Floats = np.maximum(self.drawn, 1).astype(np.float64)
        np.divide(above, total, out=mean, where=weighed)
        np.divide(total**2, squares, out=effective, where=weighed)
        return mean, effective

    def loadings(self, totals: Floats, effective: Floats | None = None) -> Floats:
        """Standard error that each stratum adds to a weighted sum of equivalences.

        Parameters
        ----------
        totals : shape (..., n_strata)
            Sum of weights in each stratum.
        effective : shape (n_strata,), optional
            How many pairs of equal weight those drawn are worth; by default as many as they are.
        """
        n = np.maximum(self.drawn, 1) if effective is None else effective
        left = 1 - self.drawn / np.maximum(self.sizes, 1)
        return totals * np.sqrt(self.variances() * left / n)

    def allocate(self, totals: list[Floats], target: float) -> Ints:
        """How many pairs each stratum should have for every weighted sum to meet the target (Neyman), at most doubling what is there."""
        variance = self.variances()
        importance = np.sqrt(sum(t**2 for t in totals) * variance)
        enough = 0.95 * target  # a little below, so that one more round is seldom needed

        def planned(scale: float) -> Floats:
            return np.clip(np.ceil(scale * importance), self.drawn, self.sizes)

        def reached(scale: float) -> bool:
            n = np.maximum(planned(scale), 1)
            spread = variance * (1 - n / np.maximum(self.sizes, 1)) / n
            return all(float(np.sum(t**2 * spread)) <= enough**2 for t in totals)

        low, high = 0.0, 1.0
        while not reached(high) and (planned(high) < self.sizes).any():
            high *= 2
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        limit = 2 * max(int(self.drawn.sum()), 1)
        n = planned(high)
        while n.sum() > limit and (n > self.drawn).any():
            high *= 0.9
            n = planned(high)
        if (n > self.drawn).any():
            return np.asarray(n, dtype=np.int64)
        return np.minimum(self.drawn + (importance > 0), self.sizes)  # rounding left nothing to draw


def _level_variances(level: Ints, off: Floats, drawn: Ints, overall: float) -> Floats:
    """Variance of the equivalence at each level of the cheap measure.

    A variance from a few pairs says little where equivalent pairs are rare: a level in which none was drawn would be taken for constant, and
    asked no more. So the levels share what they know, twice. A curve, log-linear in the level, is fitted to the squared deviations by
    quasi-likelihood; its slope is drawn towards 0 by as much as it may be chance. The levels' own variances are then drawn towards the curve
    by as much as their distance from it may be chance: Q, their chi-square distance, has mean d and standard deviation √(2d) if it is, for d
    degrees of freedom, and they are trusted for the share of Q beyond mean and two standard deviations.

    Parameters
    ----------
    level, off : shape (n,)
        Of each pair drawn: its level, and its squared distance from the mean of the level.
    drawn : shape (L,)
        Pairs drawn of each level.
    overall : float
        Variance of all pairs; it counts as one more observation of each level.
    """
    levels = len(drawn)
    n = drawn.astype(np.float64) + 1
    squares = sums(level, off, levels)
    squares *= np.where(drawn > 1, drawn / np.maximum(drawn - 1, 1), 1.0)
    squares += overall
    own = squares / n
    used = np.flatnonzero(drawn > 0)
    if len(used) < 3 or overall <= 0:
        return own
    at = np.arange(levels, dtype=np.float64)
    at -= float(np.sum(n * at) / n.sum())
    slope = _slope(at, squares, n)
    curve = _through(slope, at, squares, n)
    dispersion = float(np.mean((off - curve[level]) ** 2 / curve[level]))
    weight = n * curve
    spread = float(np.sum(weight * (at - np.sum(weight * at) / weight.sum()) ** 2))
    surely = 0.0 if slope == 0 else max(1 - 4 * dispersion / spread / slope**2, 0.0)
    curve = _through(slope * surely, at, squares, n)
    distance = float(np.sum((n * (own - curve) ** 2 / curve)[used])) / max(dispersion, 1e-300)
    free = len(used) - 2
    trust = max(1 - (free + 2 * np.sqrt(2 * free)) / max(distance, 1e-300), 0.0)
    return trust * own + (1 - trust) * curve


def _slope(at: Floats, squares: Floats, n: Floats) -> float:
    """Slope b of the quasi-Poisson fit E[squares / n] = exp(a + b at): where the residuals are orthogonal to ``at``; within ±3."""
    low, high = -3.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        if np.sum(at * (squares - n * _through(middle, at, squares, n))) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _through(slope: float, at: Floats, squares: Floats, n: Floats) -> Floats:
    """The curve of a slope that gives the observed sum of squares."""
    curve = np.exp(slope * (at - at.max() if slope > 0 else at - at.min()))
    return np.asarray(curve * squares.sum() / np.sum(n * curve))


def _not_taken(size: int, taken: Ints, k: int, rng: np.random.Generator) -> Ints:
    """k numbers below size, drawn without replacement from those not taken yet."""
    if 4 * (len(taken) + k) > size:
        return np.asarray(rng.permutation(np.setdiff1d(np.arange(size), taken))[:k])
    found: Ints = np.zeros(0, dtype=np.int64)
    while len(found) < k:
        candidates, first = np.unique(rng.integers(0, size, 2 * k), return_index=True)
        candidates = candidates[np.argsort(first)]
        fresh = candidates[~np.isin(candidates, taken) & ~np.isin(candidates, found)]
        found = np.append(found, fresh[: k - len(found)])
    return found


def stratified(
    ratings: Ratings,
    score: Score,
    scores: Floats,
    cheap: Equivalence | None,
    *,
    target_se: float,
    marginals: Marginals = "answers",
    seed: int = 0,
    strata: int = 12,
    population: int = POPULATION,
) -> Chance:
    """Expected agreement from a stratified sample.

    Parameters
    ----------
    ratings : Ratings
        With at least one item that has two answers.
    score : callable
        The equivalence that is wanted, of answers k[i] and l[i].
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    cheap : Equivalence or None
        An equivalence that may be asked for all pairs. Any will do: the better it goes with ``score``, the fewer pairs are needed. None is
        plain random sampling.
    target_se : float
        Standard error to reach, of Cohen's expected agreement (the mean over rater pairs) and of the pooled one.
    marginals
        What π is, see :class:`softirr.coefficients.Pooling`.
    seed : int
    strata : int
        Levels of the cheap equivalence, at most; each rater pair has strata of its own at each level, while there are few.
    population : int
        Above this many pairs of answers, a random sample of them stands for all; its error is added.
    """
    few = Pooling.of(ratings, marginals).rows
    distinct = len(np.unique(ratings.answer[few]))
    if distinct * (distinct - 1) // 2 <= _PILOT:  # the first pairs asked are all there are
        return replace(exact(ratings, Scored(score), scores, marginals=marginals), method="stratified")
    rng = np.random.default_rng(seed)
    pairs = PairPopulation.draw(ratings, marginals, cheap, strata=strata, population=population, rng=rng)
    return sampled(pairs, score, scores, target_se=target_se, rng=rng)


def sampled(
    pairs: PairPopulation, score: Score, scores: Floats, *, target_se: float, rng: np.random.Generator
) -> Chance:
    """Expected agreement from a sample of a population in strata; parameters as for :func:`stratified`."""
    answer = pairs.ratings.answer
    sample = StratifiedSample(pairs, rng)
    totals = _totals(pairs)
    wanted = _pilot(pairs)
    while True:
        new = sample.extend(wanted)
        sample.record(score(answer[pairs.first[new]], answer[pairs.second[new]]))
        alone = _alone(pairs, sample)
        shared = np.sqrt(max(target_se**2 - float(alone.sum()) / max(len(alone), 1) ** 2, target_se**2 / 4))
        errors = [
            np.linalg.norm(sample.loadings(total, sample.weighted_means(weights[sample.members])[1]))
            for total, weights in zip(totals, (pairs.cohen_weights, pairs.pooled_weights), strict=True)
        ]
        done = all(error <= shared for error in errors)
        if done or not len(new):
            return _chance(pairs, sample, scores)
        wanted = sample.allocate(totals, float(shared))


def _pilot(pairs: PairPopulation) -> Ints:
    """How many pairs of each stratum are asked first."""
    share = pairs.sizes / max(pairs.sizes.sum(), 1)
    return np.asarray(np.maximum(np.ceil(_PILOT * share), 1), dtype=np.int64)


def _totals(pairs: PairPopulation) -> list[Floats]:
    """Sum of weights in each stratum, for Cohen's mean expected agreement and for the pooled one."""
    m = max(len(pairs.cohen_totals), 1)
    return [pairs.cohen_totals.sum(axis=0)[:-1] / m, pairs.pooled_totals[:-1]]


def _chance(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> Chance:
    """Expected agreement and its errors, every pair that was not drawn taken at its stratum's mean."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    m = len(comparisons.shared)
    level = np.append(sample.means(), 1.0)  # by stratum; last the pairs of the same answer
    left, right = _at_comparisons(pairs, level, scores)
    cohen, cohen_error, loadings = _cohen(pairs, sample, scores)
    above, pooled_error = _weighted(pairs, sample, pairs.pooled_weights, pairs.pooled_totals)
    q, similarity, similarity_error = _between_distinct(pairs, sample, scores)
    k, l = ratings.answer[pairs.first[sample.members]], ratings.answer[pairs.second[sample.members]]  # noqa: E741
    return Chance(
        method="stratified",
        cohen=cohen,
        cohen_error=cohen_error,
        cohen_left=left,
        cohen_right=right,
        cohen_noise=np.zeros(m),
        pooling=pairs.pooling,
        pooled=_same_item(pairs, scores) + above,
        pooled_error=pooled_error,
        pooled_at=_at_rows(pairs, level, scores),
        pooled_noise=0.0,
        distinct=q,
        similarity=similarity,
        similarity_error=similarity_error,
        distribution=_distribution(pairs, sample),
        pairs_scored=len(np.unique(np.minimum(k, l) * np.int64(ratings.n_answers) + np.maximum(k, l))),
        cohen_loadings=loadings,
    )


def _cohen(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Expected agreement of each rater pair, its standard error, and its loadings on the errors that rater pairs share (m, F)."""
    comparisons, strata = pairs.ratings.comparisons, pairs.n_strata
    m = len(comparisons.shared)
    own = sums(comparisons.rater_pair, scores, m) / comparisons.shared**2
    weight, cell = pairs.cohen_weights[sample.members], pairs.cell[sample.members]
    mean, effective = sample.weighted_means(weight)
    mine = cell < m
    place = cell[mine] * strata + pairs.stratum[sample.members][mine]
    drawn = sums(place, weight[mine], m * strata).reshape(m, strata)
    seen = sums(place, (weight * sample.values)[mine], m * strata).reshape(m, strata)
    unseen = np.maximum(pairs.cohen_totals[:, :-1] - drawn, 0.0)
    cohen = own + seen.sum(axis=1) + unseen @ mean + pairs.cohen_totals[:, -1]
    loadings = sample.loadings(pairs.cohen_totals[:, :-1], effective)
    alone = _alone(pairs, sample)
    once: Floats = np.zeros(m)
    if not pairs.complete:
        once = np.sqrt(sums(pairs.cell, pairs.cohen_weights**2, m + 1)[:m] * sample.overall_variance())
    error = np.sqrt(np.sum(loadings**2, axis=1) + alone + once**2)
    return cohen, error, np.column_stack([loadings, once])


def _alone(pairs: PairPopulation, sample: StratifiedSample) -> Floats:
    """Variance of each rater pair's expected agreement that is its own, shape (m,).

    Rater pairs that share strata are taken at the strata's means, and scatter around them. What was drawn is left out of account, so that
    it is a little too large.
    """
    m = len(pairs.cohen_totals)
    if m <= _OWN_STRATA:
        return np.zeros(m)
    there = np.maximum(np.bincount(pairs.cell, minlength=m + 1)[:m], 1)
    left = 1 - sample.drawn / np.maximum(sample.sizes, 1)
    own = pairs.cohen_totals[:, :-1] @ (left * sample.variances()) * (pairs.cohen_totals.sum(axis=1) / there)
    return np.asarray(own)


def _weighted(pairs: PairPopulation, sample: StratifiedSample, weights: Floats, totals: Floats) -> tuple[float, float]:
    """A weighted sum of the equivalences of all pairs, and its standard error; ``totals`` as of :meth:`PairPopulation.totals`."""
    mean, effective = sample.weighted_means(weights[sample.members])
    error = float(np.linalg.norm(sample.loadings(totals[:-1], effective)))
    return float(totals[:-1] @ mean + totals[-1]), float(np.hypot(error, _population_error(pairs, sample, weights)))


def _same_item(pairs: PairPopulation, scores: Floats) -> float:
    """The part of π' S π that needs no sampling: each row with itself and with the others of its item."""
    comparisons = pairs.ratings.comparisons
    weight = np.zeros(len(pairs.ratings.item))
    weight[pairs.pooling.rows] = pairs.pooling.weights
    return float(np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * scores))


def _population_error(pairs: PairPopulation, sample: StratifiedSample, weights: Floats) -> float:
    """Standard error of a weighted sum over all pairs that comes from a random sample of them standing for all."""
    return 0.0 if pairs.complete else float(np.sqrt(sample.overall_variance() * np.sum(weights**2)))


def _at_comparisons(pairs: PairPopulation, level: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Mean equivalence of the left answer of each comparison with the right rater's answers, and of the right one with the left's."""
    comparisons = pairs.ratings.comparisons
    shares, there = pairs.comparison_shares
    shared = np.tile(comparisons.shared[comparisons.rater_pair], 2)
    own = np.tile(scores, 2)
    at = np.where(there, shares @ level * (shared - 1) / shared + own / shared, own)
    return at[: len(scores)], at[len(scores) :]


def _at_rows(pairs: PairPopulation, level: Floats, scores: Floats) -> Floats:
    """Mean equivalence of each pooled row's answer with an answer drawn from π, shape (n,)."""
    ratings, comparisons, pooling = pairs.ratings, pairs.ratings.comparisons, pairs.pooling
    n = len(ratings.item)
    weight = np.zeros(n)
    weight[pooling.rows] = pooling.weights
    near = weight.copy()  # the row itself, then the others of its item
    for a, b in ((comparisons.left, comparisons.right), (comparisons.right, comparisons.left)):
        near += sums(a, scores * weight[b], n)
    far = 1 - sums(ratings.item, weight, ratings.n_items)[ratings.item]
    return np.asarray((near + far * (pairs.row_shares @ level))[pooling.rows])


def _between_distinct(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> tuple[int, float, float]:
    """Number of distinct answers q, mean equivalence over their q × q pairs, and its standard error."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    count = np.bincount(ratings.answer[pairs.pooling.rows], minlength=ratings.n_answers)
    q = int(np.count_nonzero(count))
    k, l = ratings.answer[pairs.first], ratings.answer[pairs.second]  # noqa: E741
    weights = np.where(k != l, 2 * pairs.weight / (count[k] * count[l] * float(q**2)), 0.0)
    a, b = ratings.answer[comparisons.left], ratings.answer[comparisons.right]
    apart = np.flatnonzero(a != b)
    known = float(np.sum(2 * scores[apart] / (count[a[apart]] * count[b[apart]] * float(q**2))))
    found, error = _weighted(pairs, sample, weights, pairs.totals(weights))
    return q, 1 / q + known + found, error


def _distribution(pairs: PairPopulation, sample: StratifiedSample) -> ChanceDistribution | None:
    """The distribution of all pairs, each drawn one standing for its share of its stratum."""
    if not len(pairs.first):
        return None
    stratum = pairs.stratum[sample.members]
    totals = pairs.totals(pairs.weight)
    share = (totals[:-1] / np.maximum(sample.drawn, 1))[stratum]
    counts = sums(on_grid(sample.values), share, GRID + 1)
    counts[GRID] += float(totals[-1])
    effective = float(share.sum() ** 2 / max(np.sum(share**2), 1e-300)) if len(share) else np.inf
    return ChanceDistribution.of(counts, sample=effective)
