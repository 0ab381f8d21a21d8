"""Expected agreement from a stratified sample of pairs: an expensive equivalence is asked where a cheap one says that it varies.

Free text has nearly as many texts as answers, so all pairs of N items are about N²; almost all of them are near 0. A cheap equivalence,
known for all pairs, sorts them into strata; the expensive one is sampled in each in proportion to size times standard deviation (Neyman
1934), in rounds, until the standard error is below a target. Strata that vary little get few pairs, the few pairs that may be equivalent
are nearly all asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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

POPULATION = 4_000_000
"""Above this many pairs of answers, a random sample of so many stands for all: its own standard error is below 0.0003."""
_OWN_STRATA = 10
"""Up to this many rater pairs each gets strata of its own; with more they share strata."""
_PILOT = 6
_PRIOR = 6.0
"""How many observations the overall variance counts for while pairs are allocated: a stratum that looked constant is looked at again."""
_STRATUM_SIZE = 40
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
    n_strata : int
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
    n_strata: int
    complete: bool

    @classmethod
    def draw(
        cls,
        ratings: Ratings,
        marginals: Marginals,
        cheap: Score,
        *,
        strata: int,
        population: int,
        rng: np.random.Generator,
    ) -> PairPopulation:
        """The pairs of a table, sorted into strata by the cheap equivalence."""
        pooling = Pooling.of(ratings, marginals)
        n = len(pooling.rows)
        complete = n * (n - 1) // 2 <= population
        if complete:
            i, j = np.triu_indices(n, 1)
        else:
            i = rng.integers(0, n, population)
            j = (i + rng.integers(1, n, population)) % n
        first, second = pooling.rows[i], pooling.rows[j]
        different = np.flatnonzero(ratings.item[first] != ratings.item[second])
        first, second = first[different], second[different]
        m = len(ratings.comparisons.shared)
        cell = _cells(ratings, first, second)
        k, l = ratings.answer[first], ratings.answer[second]  # noqa: E741
        asked = np.flatnonzero(k != l)
        group = cell[asked] if m <= _OWN_STRATA else (cell[asked] == m).astype(np.int64)
        stratum = np.full(len(first), -1, dtype=np.int64)
        values = np.concatenate(
            [cheap(k[part], l[part]) for part in np.array_split(asked, max(1, -(-len(asked) // _CHUNK)))]
        )
        stratum[asked], n_strata = _strata(group, values, strata)
        weight = _weights(ratings, pooling, cell, m)
        return cls(ratings, pooling, first, second, cell, weight, stratum, n_strata, complete)

    def pooled_weights(self) -> Floats:
        """Of each pair's equivalence in π' S π, shape (M,)."""
        of_row = np.zeros(len(self.ratings.item))
        of_row[self.pooling.rows] = self.pooling.weights
        return 2 * self.weight * of_row[self.first] * of_row[self.second]

    def cohen_weights(self) -> Floats:
        """Of each pair's equivalence in the expected agreement of the rater pair it belongs to (0 where to none), shape (M,)."""
        shared = np.append(self.ratings.comparisons.shared, 1).astype(np.float64)
        return np.where(self.cell < len(shared) - 1, self.weight / shared[self.cell] ** 2, 0.0)


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


def _strata(group: Ints, values: Floats, strata: int) -> tuple[Ints, int]:
    """Stratum of each pair: quarters of its group up to the upper one, which is halved again and again, and their number."""
    shares = [0.25, 0.5, 0.75, *(1 - 0.5**k for k in range(3, 32))][: strata - 1]
    stratum, used = np.zeros(len(group), dtype=np.int64), 0
    for one in np.unique(group).tolist():
        mine = np.flatnonzero(group == one)
        kept = [share for share in shares if (1 - share) * len(mine) >= _STRATUM_SIZE]
        cuts = np.unique(np.quantile(values[mine], kept)) if kept else np.zeros(0)
        # ties stay together: strata are the values in (lower cut, upper cut]
        place = np.searchsorted(cuts, values[mine], side="left")
        _, place = np.unique(place, return_inverse=True)
        stratum[mine] = used + place
        used += int(place.max()) + 1
    return stratum, used


class StratifiedSample:
    """Pairs drawn without replacement from each stratum, and what is known of the strata from them."""

    def __init__(self, pairs: PairPopulation, rng: np.random.Generator) -> None:
        self.pairs = pairs
        strata = pairs.n_strata
        asked = np.flatnonzero(pairs.stratum >= 0)
        shuffled = asked[rng.permutation(len(asked))]
        self._order = shuffled[np.argsort(pairs.stratum[shuffled], kind="stable")]
        self.sizes = np.bincount(pairs.stratum[asked], minlength=strata)
        self._starts = np.cumsum(self.sizes) - self.sizes
        self.drawn = np.zeros(strata, dtype=np.int64)
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.values: Floats = np.zeros(0)

    def extend(self, wanted: Ints) -> Ints:
        """Draws until each stratum has as many as wanted (or all); returns the new pairs of the population."""
        most = np.minimum(wanted, self.sizes)
        fresh = [
            self._order[start + have : start + want]
            for start, have, want in zip(self._starts.tolist(), self.drawn.tolist(), most.tolist(), strict=True)
        ]
        self.drawn = np.asarray(np.maximum(self.drawn, most))
        new: Ints = np.concatenate([np.zeros(0, dtype=np.int64), *fresh])
        self.members = np.concatenate([self.members, new])
        return new

    def record(self, values: Floats) -> None:
        """The equivalences of the pairs drawn last."""
        self.values = np.concatenate([self.values, values])

    def means(self) -> Floats:
        """Mean equivalence of each stratum."""
        stratum = self.pairs.stratum[self.members]
        return sums(stratum, self.values, self.pairs.n_strata) / np.maximum(self.drawn, 1)

    def variances(self, prior: float) -> Floats:
        """Variance of each stratum, drawn towards the overall one by as many observations as ``prior`` says."""
        stratum = self.pairs.stratum[self.members]
        squares = sums(stratum, (self.values - self.means()[stratum]) ** 2, self.pairs.n_strata)
        return (squares + prior * self.overall_variance()) / np.maximum(self.drawn - 1 + prior, 1)

    def overall_variance(self) -> float:
        """Variance of the equivalence of all pairs, within and between strata."""
        stratum = self.pairs.stratum[self.members]
        share = self.sizes / max(self.sizes.sum(), 1)
        means = self.means()
        second = sums(stratum, self.values**2, self.pairs.n_strata) / np.maximum(self.drawn, 1)
        return float(max(np.sum(share * second) - np.sum(share * means) ** 2, 0.0))

    def loadings(self, totals: Floats) -> Floats:
        """Standard error that each stratum adds to a weighted sum of equivalences, given the sum of weights in each stratum.

        One observation of the overall variance is mixed in: a stratum where only zeros were drawn is not taken to hold nothing else.
        """
        left = 1 - self.drawn / np.maximum(self.sizes, 1)
        return totals * np.sqrt(self.variances(1.0) * left / np.maximum(self.drawn, 1))

    def allocate(self, totals: list[Floats], target: float) -> Ints:
        """How many pairs each stratum should have for every weighted sum to meet the target (Neyman), at most doubling what is there."""
        variance = self.variances(_PRIOR)
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
        while n.sum() > limit and high > 0:
            high *= 0.9
            n = planned(high)
            if (n <= self.drawn).all():
                break
        return np.maximum(n.astype(np.int64), np.minimum(self.drawn + (importance > 0), self.sizes))


def stratified(
    ratings: Ratings,
    score: Score,
    scores: Floats,
    cheap: Score,
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
    cheap : callable
        An equivalence that may be asked for all pairs. Any will do: the better it goes with ``score``, the fewer pairs are needed.
    target_se : float
        Standard error to reach, of Cohen's expected agreement (the mean over rater pairs) and of the pooled one.
    marginals
        What π is, see :class:`softirr.coefficients.Pooling`.
    seed : int
    strata : int
        At most this many for each rater pair; 1 is plain random sampling.
    population : int
        Above this many pairs of answers, a random sample of so many stands for all of them; its error is added.
    """
    rng = np.random.default_rng(seed)
    pairs = PairPopulation.draw(ratings, marginals, cheap, strata=strata, population=population, rng=rng)
    sample = StratifiedSample(pairs, rng)
    totals = _totals(pairs)
    wanted: Ints = np.full(pairs.n_strata, _PILOT, dtype=np.int64)
    while True:
        new = sample.extend(wanted)
        sample.record(score(ratings.answer[pairs.first[new]], ratings.answer[pairs.second[new]]))
        done = all(float(np.sum(sample.loadings(t) ** 2)) <= target_se**2 for t in totals)
        if done or not len(new):
            return _chance(pairs, sample, scores)
        wanted = sample.allocate(totals, target_se)


def _totals(pairs: PairPopulation) -> list[Floats]:
    """Sum of weights in each stratum, for Cohen's mean expected agreement and for the pooled one."""
    asked = np.flatnonzero(pairs.stratum >= 0)
    m = max(len(pairs.ratings.comparisons.shared), 1)
    stratum = pairs.stratum[asked]
    return [
        sums(stratum, pairs.cohen_weights()[asked] / m, pairs.n_strata),
        sums(stratum, pairs.pooled_weights()[asked], pairs.n_strata),
    ]


def _chance(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> Chance:
    """Expected agreement and its errors, every pair taken at its stratum's mean."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    m = len(comparisons.shared)
    asked = pairs.stratum >= 0
    level = (
        np.where(asked, sample.means()[np.maximum(pairs.stratum, 0)], 1.0) if pairs.n_strata else np.ones(len(asked))
    )
    own = sums(comparisons.rater_pair, scores, m) / comparisons.shared**2
    weights = pairs.cohen_weights()
    cohen = own + sums(pairs.cell, weights * level, m + 1)[:m]
    loadings = _cohen_loadings(pairs, sample, weights)
    spread = sums(pairs.cell, weights**2, m + 1)[:m] * sample.overall_variance()
    once = np.zeros(m) if pairs.complete else np.sqrt(spread)
    left, right = _at_comparisons(pairs, level, scores)

    pooled = _same_item(pairs, scores) + float(np.sum(pairs.pooled_weights() * level))
    errors = sample.loadings(_totals(pairs)[1])
    q, similarity, similarity_error = _between_distinct(pairs, sample, level, scores)
    k, l = ratings.answer[pairs.first[sample.members]], ratings.answer[pairs.second[sample.members]]  # noqa: E741
    return Chance(
        method="stratified",
        cohen=cohen,
        cohen_error=np.sqrt(np.sum(loadings**2, axis=1) + once**2),
        cohen_left=left,
        cohen_right=right,
        cohen_noise=np.zeros(m),
        pooling=pairs.pooling,
        pooled=pooled,
        pooled_error=float(np.hypot(np.linalg.norm(errors), _population_error(pairs, sample, pairs.pooled_weights()))),
        pooled_at=_at_rows(pairs, level, scores),
        pooled_noise=0.0,
        distinct=q,
        similarity=similarity,
        similarity_error=similarity_error,
        distribution=_distribution(pairs, sample),
        pairs_scored=len(np.unique(np.minimum(k, l) * np.int64(ratings.n_answers) + np.maximum(k, l))),
        cohen_loadings=np.column_stack([loadings, once]),
    )


def _same_item(pairs: PairPopulation, scores: Floats) -> float:
    """The part of π' S π that needs no sampling: each row with itself and with the others of its item."""
    comparisons = pairs.ratings.comparisons
    weight = np.zeros(len(pairs.ratings.item))
    weight[pairs.pooling.rows] = pairs.pooling.weights
    return float(np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * scores))


def _cohen_loadings(pairs: PairPopulation, sample: StratifiedSample, weights: Floats) -> Floats:
    """Error that each stratum adds to each rater pair's expected agreement, shape (m, strata)."""
    m, strata = len(pairs.ratings.comparisons.shared), pairs.n_strata
    asked = np.flatnonzero((pairs.stratum >= 0) & (pairs.cell < m))
    totals = sums(pairs.cell[asked] * strata + pairs.stratum[asked], weights[asked], m * strata)
    return sample.loadings(totals.reshape(m, strata))


def _population_error(pairs: PairPopulation, sample: StratifiedSample, weights: Floats) -> float:
    """Standard error of a weighted sum over all pairs that comes from a random sample of them standing for all."""
    return 0.0 if pairs.complete else float(np.sqrt(sample.overall_variance() * np.sum(weights**2)))


def _at_comparisons(pairs: PairPopulation, level: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Mean equivalence of the left answer of each comparison with the right rater's answers, and of the right one with the left's."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    m, n = len(comparisons.shared), len(ratings.item)
    mine = np.flatnonzero(pairs.cell < m)
    # one entry for each row in each of its rater pairs: which pair, which row
    key = np.concatenate([pairs.cell[mine] * n + pairs.first[mine], pairs.cell[mine] * n + pairs.second[mine]])
    value = np.concatenate([level[mine], level[mine]])
    wanted = np.concatenate(
        [comparisons.rater_pair * n + comparisons.left, comparisons.rater_pair * n + comparisons.right]
    )
    order = np.argsort(wanted)
    place = order[np.searchsorted(wanted, key, sorter=order)]
    count = np.bincount(place, minlength=len(wanted))
    mean = sums(place, value, len(wanted)) / np.maximum(count, 1)
    shared = np.tile(comparisons.shared[comparisons.rater_pair], 2)
    own = np.tile(scores, 2)
    at = np.where(count > 0, mean * (shared - 1) / shared + own / shared, own)
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
    met, total = np.zeros(n), np.zeros(n)
    for a, b in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
        share = pairs.weight * weight[b]
        met += sums(a, share, n)
        total += sums(a, share * level, n)
    far = 1 - sums(ratings.item, weight, ratings.n_items)[ratings.item]
    mean = np.divide(total, met, out=np.full(n, float(level.mean()) if len(level) else 0.0), where=met > 0)
    return np.asarray((near + far * mean)[pooling.rows])


def _between_distinct(
    pairs: PairPopulation, sample: StratifiedSample, level: Floats, scores: Floats
) -> tuple[int, float, float]:
    """Number of distinct answers q, mean equivalence over their q × q pairs, and its standard error."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    count = np.bincount(ratings.answer[pairs.pooling.rows], minlength=ratings.n_answers)
    q = int(np.count_nonzero(count))
    k, l = ratings.answer[pairs.first], ratings.answer[pairs.second]  # noqa: E741
    asked = np.flatnonzero(k != l)
    weights = 2 * pairs.weight[asked] / (count[k[asked]] * count[l[asked]] * float(q**2))
    a, b = ratings.answer[comparisons.left], ratings.answer[comparisons.right]
    apart = np.flatnonzero(a != b)
    known = float(np.sum(2 * scores[apart] / (count[a[apart]] * count[b[apart]] * float(q**2))))
    totals = sums(pairs.stratum[asked], weights, pairs.n_strata)
    error = float(np.hypot(np.linalg.norm(sample.loadings(totals)), _population_error(pairs, sample, weights)))
    return q, 1 / q + known + float(np.sum(weights * level[asked])), error


def _distribution(pairs: PairPopulation, sample: StratifiedSample) -> ChanceDistribution | None:
    """The distribution of all pairs, each drawn one standing for its share of its stratum."""
    if not len(pairs.first):
        return None
    stratum = pairs.stratum[sample.members]
    asked = np.flatnonzero(pairs.stratum >= 0)
    totals = sums(pairs.stratum[asked], pairs.weight[asked], pairs.n_strata)
    share = (totals / np.maximum(sample.drawn, 1))[stratum]
    counts = sums(on_grid(sample.values), share, GRID + 1)
    counts[GRID] += float(pairs.weight[pairs.stratum < 0].sum())
    effective = float(share.sum() ** 2 / max(np.sum(share**2), 1e-300)) if len(share) else np.inf
    return ChanceDistribution.of(counts, sample=effective)
