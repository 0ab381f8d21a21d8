"""Coefficients of agreement, soft and classical in one: observed and expected agreement in, values with influence functions out.

Soft means that two answers agree to a degree S(a, b) in [0, 1] with S(a, a) = 1; with S in {0, 1} every coefficient is the classical one.
All of them compare the observed agreement with the one expected by chance, ``(Po - Pe) / (1 - Pe)``, and differ in both terms only:

=============  =======================================  ================================================================
coefficient    observed agreement                       expected agreement
=============  =======================================  ================================================================
Cohen          of a rater pair, over shared items       p_r' S p_s, each rater's own distribution over the shared items
Scott, Fleiss  mean over items of the mean over pairs   π' S π, π pooled over the answers of items with two or more
Krippendorff   same, items weighted by their answers    the same without replacement: (n π' S π - 1) / (n - 1)
Gwet AC2       as Fleiss                                mean of S over distinct answers × (1 - Σ π²) q / (q - 1)
=============  =======================================  ================================================================

The mean over rater pairs is the project's Cohen (paper, section "Real-World Experiments"). sigma and KS (Braylan et al. 2022) compare the
whole distributions of same-item and different-item equivalences.

Each function returns an :class:`Estimate`: its value and its influence function over items, from which :mod:`softirr.intervals` makes
standard errors and intervals. Undefined values carry a reason of :class:`Undefined`; nothing here returns nan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

GRID = 65_536
"""sigma and KS compare equivalences on a grid of this many steps: values closer than 1/65,536 are ties, on every machine."""

_CERTAIN = 1e-12


class Undefined(StrEnum):
    """Why a coefficient or an interval has no value."""

    ONE_RATER = "only one rater"
    NO_OVERLAP = "no item has answers of two raters"
    ONE_ITEM = "only one item has answers of two raters: agreement by chance cannot be told from agreement"
    NO_VARIATION = "agreement by chance is 1: all answers are equivalent"
    ONE_CATEGORY = "all answers are the same"
    MORE_THAN_TWO_RATERS = "defined for two raters"
    NO_PAIR_DEFINED = "no pair of raters shares two items on which their answers differ"
    NO_OTHER_RATER = "no item was answered by this rater and another one"


def sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Sum of the values of each code, shape (size,)."""
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Ratings:
    """Given answers as parallel arrays of indices, one row per (item, rater).

    Attributes
    ----------
    item, rater, answer : shape (n,)
        Row i says that ``rater[i]`` gave ``answer[i]`` to ``item[i]``. Missing answers have no row.
    n_items, n_raters, n_answers : int
        How many of each there are; indices are below.
    """

    item: Ints
    rater: Ints
    answer: Ints
    n_items: int
    n_raters: int
    n_answers: int

    @classmethod
    def of(cls, table: Any) -> Ratings:
        """The rows of an ``AnnotationTable``."""
        return cls(table.item, table.rater, table.answer, len(table.items), len(table.raters), len(table.answers))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Ratings:
        """Ratings from items × raters answer indices, negative where missing (shape (n_items, n_raters))."""
        array = np.asarray(matrix, dtype=np.int64)
        item, rater = np.nonzero(array >= 0)
        answer = array[item, rater]
        n_answers = int(answer.max()) + 1 if answer.size else 0
        return cls(item.astype(np.int64), rater.astype(np.int64), answer, array.shape[0], array.shape[1], n_answers)

    @cached_property
    def per_item(self) -> Ints:
        """Number of answers of each item, shape (n_items,)."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def comparable(self) -> Ints:
        """Rows of items with two answers or more: the only ones that count for a coefficient."""
        return np.flatnonzero(self.per_item[self.item] >= 2)

    @cached_property
    def comparable_items(self) -> Ints:
        """Items with two answers or more."""
        return np.flatnonzero(self.per_item >= 2)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Every pair of answers to one item."""
        return _compare(self)

    def restricted(self, rows: Ints) -> Ratings:
        """The same items, raters and answers, with these rows only."""
        return Ratings(
            self.item[rows], self.rater[rows], self.answer[rows], self.n_items, self.n_raters, self.n_answers
        )


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairs of answers to the same item by two raters, each unordered pair once.

    Attributes
    ----------
    left, right : shape (P,)
        Rows of the two answers; the left rater has the lower index.
    item : shape (P,)
    rater_pair : shape (P,)
        Index into ``rater_pairs``.
    rater_pairs : shape (m, 2)
        Raters that share an item, in order.
    shared : shape (m,)
        How many items each of these pairs shares.
    """

    left: Ints
    right: Ints
    item: Ints
    rater_pair: Ints
    rater_pairs: Ints
    shared: Ints


def _compare(ratings: Ratings) -> Comparisons:
    order = np.lexsort((ratings.rater, ratings.item))
    sizes = ratings.per_item
    starts = np.cumsum(sizes) - sizes
    left, right = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes[sizes >= 2]).tolist():
        first, second = np.triu_indices(size, 1)
        start = starts[sizes == size][:, None]
        left.append((start + first).ravel())
        right.append((start + second).ravel())
    a, b = np.concatenate(left), np.concatenate(right)
    by_item = np.argsort(a, kind="stable")
    a, b = order[a[by_item]], order[b[by_item]]
    key = ratings.rater[a] * np.int64(ratings.n_raters) + ratings.rater[b]
    pairs, rater_pair, shared = np.unique(key, return_inverse=True, return_counts=True)
    rater_pairs = np.stack(np.divmod(pairs, max(ratings.n_raters, 1)), axis=1).astype(np.int64)
    return Comparisons(a, b, ratings.item[a], rater_pair.astype(np.int64), rater_pairs, shared.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A coefficient before its interval.

    Attributes
    ----------
    value : float or None
    influence : shape (N,)
        Influence of each of the N items it rests on: mean zero, and variance N times that of the value.
    undefined : str or None
        Why there is no value.
    expected : float or None
        Agreement expected by chance.
    chance_error : float
        Standard error that comes from chance agreement having been sampled.
    noise : float
        Mean variance that this sampling adds to one influence; taken off again by the intervals.
    floor : float
        Lowest value that the coefficient can take; the highest is 1.
    """

    value: float | None
    influence: Floats
    undefined: str | None = None
    expected: float | None = None
    chance_error: float = 0.0
    noise: float = 0.0
    floor: float = -np.inf


def undefined(reason: str, expected: float | None = None) -> Estimate:
    """An estimate without a value."""
    return Estimate(None, np.zeros(0), str(reason), expected)


Marginals = Literal["answers", "gwet2014"]


@dataclass(frozen=True, eq=False)
class Pooling:
    """Which answers make up the distribution π of all raters, and how much each of them weighs.

    Attributes
    ----------
    rows : shape (n,)
        Rows of the ratings.
    weights : shape (n,)
        Sum to 1.
    items : shape (N,)
        Items that have one of these rows.
    marginals : str
        See :meth:`of`.
    """

    rows: Ints
    weights: Floats
    items: Ints
    marginals: Marginals = "answers"

    @classmethod
    def of(cls, ratings: Ratings, marginals: Marginals = "answers") -> Pooling:
        """``answers``: every answer of an item with two or more weighs the same (Fleiss 1971, Krippendorff 2011).

        ``gwet2014``: every item weighs the same, those with one answer included (Gwet 2014, as in irrCAC).
        """
        if marginals == "gwet2014":
            items = np.flatnonzero(ratings.per_item)
            weights = 1 / (len(items) * ratings.per_item[ratings.item])
            return cls(np.arange(len(ratings.item)), weights, items, marginals)
        rows = ratings.comparable
        return cls(rows, np.full(len(rows), 1 / max(len(rows), 1)), ratings.comparable_items)

    def influence(self, ratings: Ratings, values: Floats) -> Floats:
        """Influence of each item on Σ weights × values, for one value per row (shape (N,))."""
        centred = values - np.sum(self.weights * values)
        total = sums(ratings.item[self.rows], self.weights * centred, ratings.n_items)
        return total[self.items] * len(self.items)

    def noise(self, ratings: Ratings, variance: float) -> float:
        """Mean variance of these influences when each value carries independent noise of this variance."""
        squares = sums(ratings.item[self.rows], self.weights**2, ratings.n_items)
        return float(variance * np.mean(squares[self.items]) * len(self.items) ** 2)

    def spread(self, ratings: Ratings, means: Floats, expected: float) -> Floats:
        """Influence on the mean over comparable items of ``means``, at all N items; those with one answer differ with the marginals.

        Gwet (2014) takes the number of comparable items as fixed, so that an item with one answer counts as one at chance level.
        """
        centre = expected if self.marginals == "gwet2014" else float(means.mean())
        influence = np.zeros(ratings.n_items)
        influence[ratings.comparable_items] = (means - centre) * len(self.items) / len(means)
        return np.asarray(influence[self.items] - influence[self.items].mean())


def on_grid(equivalence: Any) -> Ints:
    """Equivalences in steps of 1/65,536, through float32 so that a measure's float32 and float64 answers land on the same step."""
    return np.rint(np.asarray(equivalence, dtype=np.float32) * np.float32(GRID)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ChanceDistribution:
    """Equivalences of answers to different items, on the grid.

    Attributes
    ----------
    tail : shape (GRID + 2,)
        ``tail[e]``: share of different-item pairs whose equivalence is e steps or more; ``tail[GRID + 1]`` is 0.
    sample : float
        How many independent pairs it was estimated from; infinite when all pairs are in it.
    row_tail : callable, optional
        ``row_tail(e)``: the same share among the pairs of each comparable row, shape (n,); None where it is not known.
    """

    tail: Floats
    sample: float = np.inf
    row_tail: Callable[[int], Floats] | None = None

    @classmethod
    def of(
        cls, counts: Floats, row_tail: Callable[[int], Floats] | None = None, *, sample: float = np.inf
    ) -> ChanceDistribution | None:
        """From the number of pairs at each step, shape (GRID + 1,); None without pairs."""
        counts = np.maximum(counts, 0)
        total = float(counts.sum())
        if total <= 0:
            return None
        tail = np.zeros(GRID + 2)
        tail[:-1] = np.cumsum(counts[::-1])[::-1] / total
        return cls(tail, sample, row_tail)

    def error(self, share: float) -> float:
        """Standard error of a tail share from the sampling of pairs."""
        return float(np.sqrt(share * (1 - share) / self.sample))


@dataclass(frozen=True, eq=False)
class Chance:
    """Expected agreement of every kind, and what its influence functions need.

    Attributes
    ----------
    method : str
        ``exact``, ``permutation`` or ``stratified``.
    cohen, cohen_error : shape (m,)
        Expected agreement of each rater pair, in the order of ``Comparisons.rater_pairs``, and its standard error from sampling.
    cohen_left, cohen_right : shape (P,)
        For each same-item pair: mean equivalence of its left answer with the right rater's answers to the shared items, and of its right
        answer with the left rater's.
    cohen_noise : shape (m,)
        Mean variance that sampling adds to ``cohen_left + cohen_right``.
    pooling : Pooling
        The rows of π and their weights.
    pooled, pooled_error : float
        π' S π: the expected agreement of Scott and Fleiss.
    pooled_at : shape (n,)
        For each row of ``pooling``: mean equivalence of its answer with an answer drawn from π.
    pooled_noise : float
        Mean variance that sampling adds to ``pooled_at``.
    distinct : int
        Number of distinct answers, q.
    similarity, similarity_error : float
        Mean of S over all q × q pairs of distinct answers.
    distribution : ChanceDistribution or None
        Equivalences of answers to different items; None with one item.
    pairs_scored : int
        Unordered pairs of different answers scored for it.
    cohen_loadings : shape (m, F), optional
        What each of F independent errors, of standard deviation 1, adds to each of ``cohen``; without it their errors are independent.
    """

    method: str
    cohen: Floats
    cohen_error: Floats
    cohen_left: Floats
    cohen_right: Floats
    cohen_noise: Floats
    pooling: Pooling
    pooled: float
    pooled_error: float
    pooled_at: Floats
    pooled_noise: float
    distinct: int
    similarity: float
    similarity_error: float
    distribution: ChanceDistribution | None
    pairs_scored: int
    cohen_loadings: Floats | None = None

    def cohen_sum_error(self, slopes: Floats) -> float:
        """Standard error from sampling of a weighted sum of ``cohen``, for weights of shape (m,)."""
        if self.cohen_loadings is None:
            return float(np.sqrt(np.sum((slopes * self.cohen_error) ** 2)))
        return float(np.sqrt(np.sum((slopes @ self.cohen_loadings) ** 2)))

    @property
    def standard_error(self) -> float:
        """Largest of the standard errors: of the mean over rater pairs, and of the pooled expectation."""
        m = max(len(self.cohen), 1)
        return max(self.cohen_sum_error(np.full(len(self.cohen), 1 / m)), self.pooled_error)


def item_means(ratings: Ratings, scores: Floats) -> Floats:
    """Observed agreement of each comparable item: the mean equivalence of its pairs (soft Fleiss, paper Eq. soft_fleiss_pi).

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    shape (N,), in the order of ``ratings.comparable_items``
    """
    item = ratings.comparisons.item
    total = sums(item, scores, ratings.n_items)
    count = np.bincount(item, minlength=ratings.n_items)
    used = ratings.comparable_items
    return np.asarray(total[used] / count[used])


def _missing(ratings: Ratings) -> Undefined | None:
    """Why nothing can be compared, if so."""
    if len(np.unique(ratings.rater)) < 2:
        return Undefined.ONE_RATER
    return Undefined.NO_OVERLAP if not len(ratings.comparable_items) else None


def observed_agreement(ratings: Ratings, scores: Floats) -> Estimate:
    """Mean over items of the mean equivalence of their pairs."""
    if reason := _missing(ratings):
        return undefined(reason)
    means = item_means(ratings, scores)
    return Estimate(float(means.mean()), means - means.mean(), floor=0.0)


def _corrected(observed: float, expected: float) -> float | None:
    """(Po - Pe) / (1 - Pe), or None where chance leaves no room."""
    return None if 1 - expected <= _CERTAIN else (observed - expected) / (1 - expected)


def cohen_pair(ratings: Ratings, scores: Floats, chance: Chance, pair: int) -> Estimate:
    """Soft Cohen's kappa of one rater pair, over the items both answered (paper Eq. kappa, soft_pe).

    The influence of an item is ``[(s_i - Po) - (1 - κ) (h_s(a_i) + h_r(b_i) - 2 Pe)] / (1 - Pe)``, where h_s(a) is the mean equivalence of a
    with the answers of s: the variance of Fleiss, Cohen and Everitt (1969) for weighted kappa.

    Parameters
    ----------
    ratings, scores, chance
    pair : int
        Index into ``ratings.comparisons.rater_pairs``.

    Returns
    -------
    Estimate
        Influence in the order of the pair's shared items.
    """
    mine = np.flatnonzero(ratings.comparisons.rater_pair == pair)
    expected = float(chance.cohen[pair])
    if len(mine) < 2:
        return undefined(Undefined.ONE_ITEM, expected)
    observed = float(scores[mine].mean())
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    by_chance = chance.cohen_left[mine] + chance.cohen_right[mine]
    influence = (scores[mine] - observed) / (1 - expected) - slope * (by_chance - by_chance.mean())
    return Estimate(
        value,
        influence,
        expected=expected,
        chance_error=slope * float(chance.cohen_error[pair]),
        noise=slope**2 * float(chance.cohen_noise[pair]),
    )


def mean_cohen(ratings: Ratings, scores: Floats, chance: Chance, *, rater: int | None = None) -> Estimate:
    """Cohen's kappa: the mean over rater pairs of :func:`cohen_pair` (paper, "the pairwise average of all annotator pairs").

    Pairs that share one item, or whose answers are all equivalent, have no kappa and are left out of the mean. ``expected`` is the mean
    over the same pairs.

    Parameters
    ----------
    ratings, scores, chance
    rater : int, optional
        Take the pairs of this rater only.
    """
    if reason := _missing(ratings):
        return undefined(reason)
    comparisons = ratings.comparisons
    wanted = np.arange(len(comparisons.rater_pairs))
    if rater is not None:
        wanted = wanted[(comparisons.rater_pairs == rater).any(axis=1)]
        if not len(wanted):
            return undefined(Undefined.NO_OTHER_RATER)
    expected = float(chance.cohen[wanted].mean())
    m = len(comparisons.rater_pairs)
    count = comparisons.shared
    observed = sums(comparisons.rater_pair, scores, m) / count
    defined = np.zeros(m, dtype=bool)
    defined[wanted] = (count[wanted] >= 2) & (1 - chance.cohen[wanted] > _CERTAIN)
    if not defined.any():
        if (count[wanted] < 2).all() and len(wanted):
            return undefined(Undefined.ONE_ITEM if len(wanted) == 1 else Undefined.NO_PAIR_DEFINED, expected)
        return undefined(Undefined.NO_VARIATION if len(wanted) == 1 else Undefined.NO_PAIR_DEFINED, expected)
    room = np.where(defined, 1 - chance.cohen, 1.0)
    kappa = (observed - chance.cohen) / room
    slope = (1 - kappa) / room
    k = int(defined.sum())

    pair = comparisons.rater_pair
    by_chance = chance.cohen_left + chance.cohen_right
    mean_by_chance = sums(pair, by_chance, m) / count
    one = (scores - observed[pair]) / room[pair] - slope[pair] * (by_chance - mean_by_chance[pair])
    used = np.flatnonzero(defined[pair])
    items, place = np.unique(comparisons.item[used], return_inverse=True)
    share = len(items) / (k * count[pair[used]])
    influence = sums(place, share * one[used], len(items))
    # the noise of one influence: rater pairs draw their chance pairs independently of each other
    noise = float(np.sum(slope[defined] ** 2 * chance.cohen_noise[defined] * len(items) / (k**2 * count[defined])))
    error = chance.cohen_sum_error(np.where(defined, slope, 0.0)) / k
    return Estimate(float(kappa[defined].mean()), influence, None, float(chance.cohen[defined].mean()), error, noise)


def _uncomparable(ratings: Ratings) -> Undefined | None:
    """Why a pooled coefficient is not defined, if so."""
    if reason := _missing(ratings):
        return reason
    return Undefined.ONE_ITEM if len(ratings.comparable_items) < 2 else None


def fleiss(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Fleiss' kappa (paper Eq. soft_fleiss_pi, soft_fleiss_pe), with any number of answers per item."""
    if reason := _uncomparable(ratings):
        return undefined(reason, float(chance.pooled))
    means = item_means(ratings, scores)
    expected = float(chance.pooled)
    value = _corrected(float(means.mean()), expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    pooling = chance.pooling
    by_chance = pooling.influence(ratings, chance.pooled_at)
    influence = pooling.spread(ratings, means, expected) / (1 - expected) - 2 * slope * by_chance
    noise = 4 * slope**2 * pooling.noise(ratings, chance.pooled_noise)
    return Estimate(value, influence, None, expected, slope * chance.pooled_error, noise)


def scott(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Scott's pi: Fleiss' kappa of two raters (paper Eq. scotts_pi1, scotts_pi2)."""
    if reason := _missing(ratings):
        return undefined(reason)
    if len(np.unique(ratings.rater)) > 2:
        return undefined(Undefined.MORE_THAN_TWO_RATERS)
    return fleiss(ratings, scores, chance)


def krippendorff(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Krippendorff's alpha: distance 1 - S, values paired without replacement (Krippendorff 2011, "Computing alpha-reliability").

    ``chance`` must be that of the marginals ``answers``.
    """
    if reason := _uncomparable(ratings):
        return undefined(reason)
    sizes = ratings.per_item[ratings.comparable_items]
    n = int(sizes.sum())
    means = item_means(ratings, scores)
    observed = float(np.sum(sizes * means) / n)
    expected = (n * float(chance.pooled) - 1) / (n - 1)
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    scale = n / (n - 1)
    by_chance = scale * chance.pooling.influence(ratings, chance.pooled_at)
    influence = sizes / sizes.mean() * (means - observed) / (1 - expected) - 2 * slope * by_chance
    noise = 4 * slope**2 * scale**2 * chance.pooling.noise(ratings, chance.pooled_noise)
    return Estimate(value, influence, None, expected, slope * scale * chance.pooled_error, noise)


def gwet(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Gwet's AC2 (AC1 with S in {0, 1}): chance agreement from answers that are hard to tell (Gwet 2008, 2014).

    ``Pe = q / (q - 1) × mean of S over all q × q pairs of distinct answers × Σ π_k (1 - π_k)``.
    """
    if reason := _uncomparable(ratings):
        return undefined(reason)
    q = chance.distinct
    if q < 2:
        return undefined(Undefined.ONE_CATEGORY)
    pooling = chance.pooling
    answers = ratings.answer[pooling.rows]
    frequency = sums(answers, pooling.weights, ratings.n_answers)
    scale = chance.similarity * q / (q - 1)
    expected = float(scale * np.sum(frequency * (1 - frequency)))
    means = item_means(ratings, scores)
    value = _corrected(float(means.mean()), expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    by_chance = -scale * pooling.influence(ratings, frequency[answers])
    influence = pooling.spread(ratings, means, expected) / (1 - expected) - 2 * slope * by_chance
    error = slope * expected / chance.similarity * chance.similarity_error
    return Estimate(value, influence, None, expected, error)


def _distributions(
    ratings: Ratings, scores: Floats, chance: ChanceDistribution | None
) -> tuple[Ints, ChanceDistribution] | Estimate:
    if reason := _missing(ratings):
        return undefined(reason)
    if chance is None or len(ratings.comparable_items) < 2:
        return undefined(Undefined.ONE_ITEM)
    return on_grid(scores), chance


def _pair_influence(ratings: Ratings, values: Floats) -> Floats:
    """Influence of each comparable item on the plain mean of a value over all same-item pairs."""
    total = sums(ratings.comparisons.item, values - values.mean(), ratings.n_items)
    used = ratings.comparable_items
    return total[used] * len(used) / len(values)


def _tail_influence(ratings: Ratings, chance: ChanceDistribution, step: int) -> Floats:
    """Influence of each comparable item on ``chance.tail[step]``; zeros where rows are not known apart."""
    if chance.row_tail is None:
        return np.zeros(len(ratings.comparable_items))
    return 2 * Pooling.of(ratings).influence(ratings, chance.row_tail(step))


def sigma(ratings: Ratings, scores: Floats, chance: ChanceDistribution | None, *, level: float = 0.05) -> Estimate:
    """Share of same-item pairs that fewer than 5% of the different-item pairs would beat (Braylan et al. 2022, sigma).

    Deterministic and aware of ties: where chance pairs tie with the 5% point, tied same-item pairs count in part, so that sigma is exactly
    0.05 when same-item pairs are like chance pairs. (With rank p of a pair uniform on its ties, this is P(p < 0.05).)
    """
    both = _distributions(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    value = _share_beyond(steps, known, level)
    at = int(np.flatnonzero(known.tail >= level)[-1])
    tied = known.tail[at] - known.tail[at + 1]
    part = (level - known.tail[at + 1]) / tied
    counts = np.where(steps > at, 1.0, np.where(steps == at, part, 0.0))
    # moving the 5% point by a little: the slope of the curve (chance share, same-item share), over half to one and a half levels
    slope = (_share_beyond(steps, known, 1.5 * level) - _share_beyond(steps, known, 0.5 * level)) / level
    below = _tail_influence(ratings, known, at + 1)
    within = _tail_influence(ratings, known, at)
    influence = _pair_influence(ratings, counts) - slope * (part * within + (1 - part) * below)
    return Estimate(value, influence, None, level, slope * known.error(level), floor=0.0)


def _share_beyond(steps: Ints, chance: ChanceDistribution, level: float) -> float:
    """Same-item share beyond the chance distribution's upper ``level`` point, ties shared out."""
    at = int(np.flatnonzero(chance.tail >= level)[-1])
    part = (level - chance.tail[at + 1]) / (chance.tail[at] - chance.tail[at + 1])
    return float(np.mean(steps > at) + part * np.mean(steps == at))


def ks(ratings: Ratings, scores: Floats, chance: ChanceDistribution | None) -> Estimate:
    """Largest lead of the same-item pairs over the different-item pairs: max over e of P(same >= e) - P(different >= e).

    The one-sided two-sample Kolmogorov-Smirnov statistic of Braylan et al. (2022), over all pairs instead of a sample.
    """
    both = _distributions(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    distinct, count = np.unique(steps, return_counts=True)
    same_tail = np.cumsum(count[::-1])[::-1] / len(steps)
    lead = same_tail - known.tail[distinct]
    best = int(np.argmax(lead))
    if lead[best] <= 0:
        return Estimate(0.0, np.zeros(len(ratings.comparable_items)), floor=0.0)
    at = int(distinct[best])
    influence = _pair_influence(ratings, (steps >= at).astype(np.float64)) - _tail_influence(ratings, known, at)
    expected = float(known.tail[at])
    return Estimate(float(lead[best]), influence, None, expected, known.error(expected), floor=0.0)


def pair_agreement(ratings: Ratings, scores: Floats, pair: int) -> Estimate:
    """Mean equivalence of two raters' answers over the items both answered."""
    own = scores[ratings.comparisons.rater_pair == pair]
    return Estimate(float(own.mean()), own - own.mean(), floor=0.0)


def rater_agreement(ratings: Ratings, scores: Floats, rater: int) -> Estimate:
    """Mean over a rater's items of the mean equivalence of the rater's answer with the others'."""
    comparisons = ratings.comparisons
    mine = np.flatnonzero((comparisons.rater_pairs == rater).any(axis=1)[comparisons.rater_pair])
    if not len(mine):
        return undefined(Undefined.NO_OTHER_RATER)
    _, place = np.unique(comparisons.item[mine], return_inverse=True)
    means = np.bincount(place, weights=scores[mine]) / np.bincount(place)
    return Estimate(float(means.mean()), means - means.mean(), floor=0.0)
