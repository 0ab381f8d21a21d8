"""Agreement expected by chance from permuted answers (Wullschleger et al. 2026), with its standard error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from softirr.answers.ratings import Comparisons, Floats, Ints, Marginals, Pooling, Ratings, sums
from softirr.statistics.chance.different_pairs import LeftOut
from softirr.statistics.chance.expected import GRID, Chance, ChanceDistribution, Equivalence, different_pairs, on_grid

EXPECTATIONS = ("cohen", "pooled", "uniform")
"""Expectations, each with separately permuted pairs: by rater pair, over all answers, over the distinct answers."""


def permutation(
    ratings: Ratings,
    equivalence: Equivalence,
    *,
    permutations: int = 3,
    marginals: Marginals = "answers",
    seed: int = 0,
    expectations: Collection[str] = EXPECTATIONS,
) -> Chance:
    """Expected agreement by permuting the second rater's answers D times (Wullschleger et al. 2026).

    The pooled expectation of Scott and Fleiss permutes all answers; the mean over distinct answers (Gwet) permutes the
    distinct answers. The standard errors treat the permuted pairs as independent draws, which makes them slightly too
    large.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    equivalence : Equivalence
        Scores the permuted pairs.
    permutations : int
        Number of permutations D.
    marginals : {"answers", "gwet2014"}
        As for :func:`exact`.
    expectations : collection of str
        Of `EXPECTATIONS`: those that are needed. The pairs of the others are not scored, and their values are nan.

    Returns
    -------
    Chance
        With the standard errors of the permutation.
    """
    rng = np.random.default_rng(seed)
    pooling = Pooling.of(ratings, marginals)
    pairs = _PermutedPairs.draw(ratings, pooling, permutations, rng)
    first, second, q = pairs.first, pairs.second, len(pairs.distinct)
    values, keys = _needed_scores(ratings, equivalence, *pairs.answers(ratings), pairs.sizes, expectations)
    pairwise, pooled, uniform = np.split(values, np.cumsum(list(pairs.sizes.values()))[:-1])
    pooled = pooled.reshape(permutations, -1)
    cohen, cohen_error, at_left, at_right, cohen_noise = pairs.of_cohen(pairwise)
    pooled_at, pooled_noise = _pooled_from_draws(pooling, pooled, first, second, len(ratings.item))
    off = np.concatenate([order != np.arange(q) for order in pairs.orders])
    return Chance(
        method="permutation",
        cohen=cohen,
        cohen_error=cohen_error,
        cohen_left=at_left,
        cohen_right=at_right,
        cohen_noise=cohen_noise,
        pooling=pooling,
        pooled=float(pooled.mean()),
        pooled_error=float(pooled.std(ddof=1) / np.sqrt(pooled.size)),
        pooled_at=pooled_at,
        pooled_noise=pooled_noise,
        distinct=q,
        similarity=(1 + (q - 1) * float(uniform[off].mean())) / q if off.any() else 1.0,
        distribution=_sampled_distribution(ratings, pooled.ravel(), np.concatenate(first), np.concatenate(second)),
        pairs_scored=keys,
        pooled_without=_without_from_draws(ratings, pooling, pooled, first, second),
    )


_Cohen = tuple[Floats, Floats, Floats, Floats, Floats]
"""Expected agreement of each rater pair, its error, the means at left and right answers, and their noise."""


@dataclass(frozen=True, eq=False)
class _PermutedPairs:
    """The pairs of D permutations, by expectation.

    Attributes
    ----------
    left_rows, right_rows : shape (M,)
        Rows of the pairs within rater pairs, of all permutations.
    of_cohen : callable
        Returns Cohen's expectations from the equivalences of these pairs.
    first, second : D arrays of shape (n,)
        Rows of the pooled pairs of each permutation.
    distinct : shape (q,)
        The distinct answers.
    orders : D arrays of shape (q,)
        Permutations of the distinct answers.
    """

    left_rows: Ints
    right_rows: Ints
    of_cohen: Callable[[Floats], _Cohen]
    first: tuple[Ints, ...]
    second: tuple[Ints, ...]
    distinct: Ints
    orders: tuple[Ints, ...]

    @classmethod
    def draw(cls, ratings: Ratings, pooling: Pooling, permutations: int, rng: np.random.Generator) -> _PermutedPairs:
        """Draw the pairs of all expectations."""
        distinct = np.unique(ratings.answer[pooling.rows])
        draw_cohen = _permuted_pairs if ratings.weights is None else _weighted_pairs
        left_rows, right_rows, of_cohen = draw_cohen(ratings, permutations, rng)
        draws = [_permuted_pooling(pooling, rng) for _ in range(permutations)]
        orders = tuple(rng.permutation(len(distinct)) for _ in range(permutations))
        first, second = zip(*draws, strict=True)
        return cls(left_rows, right_rows, of_cohen, first, second, distinct, orders)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each expectation, in the order of :meth:`answers`."""
        n_permutations = len(self.orders)
        return {
            "cohen": len(self.left_rows),
            "pooled": n_permutations * len(self.first[0]),
            "uniform": n_permutations * len(self.distinct),
        }

    def answers(self, ratings: Ratings) -> tuple[Ints, Ints]:
        """The two answers of each pair."""
        left_answers = ratings.answer[np.concatenate([self.left_rows, *self.first])]
        right_answers = ratings.answer[np.concatenate([self.right_rows, *self.second])]
        return (
            np.concatenate([left_answers, *[self.distinct] * len(self.orders)]),
            np.concatenate([right_answers, *(self.distinct[order] for order in self.orders)]),
        )


def _permuted_pairs(
    ratings: Ratings, draws: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Callable[[Floats], _Cohen]]:
    """Rows of the permuted pairs of each rater pair, and what follows from their equivalences."""
    comparisons = ratings.comparisons
    met = [_permuted(comparisons, rng) for _ in range(draws)]
    right = np.concatenate([comparisons.right_rows[p] for p in met])
    return np.tile(comparisons.left_rows, draws), right, partial(_cohen_from_permutations, comparisons, met)


def _weighted_pairs(
    ratings: Ratings, draws: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Callable[[Floats], _Cohen]]:
    """The same where items weigh differently: partners are drawn with replacement, by the weights of their items.

    First for the left answers, then for the right ones.
    """
    comparisons = ratings.comparisons
    weight = ratings.weight[comparisons.item]
    partners = [_partners(comparisons, weight, rng) for _ in range(2 * draws)]
    of_left, of_right = np.concatenate(partners[:draws]), np.concatenate(partners[draws:])
    left_rows = np.concatenate([np.tile(comparisons.left_rows, draws), comparisons.left_rows[of_right]])
    right_rows = np.concatenate([comparisons.right_rows[of_left], np.tile(comparisons.right_rows, draws)])
    return left_rows, right_rows, partial(_cohen_from_draws, comparisons, weight)


def _needed_scores(
    ratings: Ratings,
    equivalence: Equivalence,
    k: Ints,
    l: Ints,  # noqa: E741
    sizes: Mapping[str, int],
    expectations: Collection[str],
) -> tuple[Floats, int]:
    """Equivalence of answers k[i] and l[i]; nan in the parts of expectations that are not needed.

    Also the number of pairs of different answers that were scored.
    """
    needed = np.repeat([name in expectations for name in sizes], list(sizes.values()))
    values = np.full(len(k), np.nan)
    k, l = k[needed], l[needed]  # noqa: E741
    values[needed] = equivalence.score(k, l)
    return values, different_pairs(k, l, ratings.n_answers)


def _partners(comparisons: Comparisons, weight: Floats, rng: np.random.Generator) -> Ints:
    """For each comparison another one of its rater pair, drawn with replacement by weight."""
    order = np.argsort(comparisons.rater_pair, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = np.cumsum(comparisons.shared)
    low, high = reached[ends - comparisons.shared][comparisons.rater_pair], reached[ends][comparisons.rater_pair]
    partners = np.searchsorted(reached, low + rng.random(len(weight)) * (high - low), side="right") - 1
    first, last = (ends - comparisons.shared)[comparisons.rater_pair], ends[comparisons.rater_pair] - 1
    return np.asarray(order[np.clip(partners, first, last)])


def _without_from_draws(
    ratings: Ratings, pooling: Pooling, values: Floats, first: tuple[Ints, ...], second: tuple[Ints, ...]
) -> Floats | None:
    """The pooled expectation without each rater: the mean over the remaining draws; values (D, n)."""
    if pooling.marginals != "answers" or ratings.weights is not None:
        return None
    rows, partner_rows, flat = np.concatenate(first), np.concatenate(second), values.ravel()
    left_out, group = LeftOut(ratings, pooling), np.zeros(len(flat), dtype=np.int64)
    above = left_out.sums_of_kept(rows, partner_rows, flat, group, 1)[:, 0]
    below = left_out.sums_of_kept(rows, partner_rows, np.ones(len(flat)), group, 1)[:, 0]
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def _permuted(comparisons: Comparisons, rng: np.random.Generator) -> Ints:
    """A permutation of the comparisons within each rater pair.

    Entry i is the comparison that provides the right answer for the left answer of comparison i.
    """
    order = np.lexsort((rng.random(len(comparisons.left_rows)), comparisons.rater_pair))
    met = np.empty(len(order), dtype=np.int64)
    met[np.argsort(comparisons.rater_pair, kind="stable")] = order
    return met


def _permuted_pooling(pooling: Pooling, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of rows, both sides distributed as π.

    A permutation if all weights are equal, else draws with replacement.
    """
    n = len(pooling.rows)
    if np.ptp(pooling.weights) == 0:
        return pooling.rows, pooling.rows[rng.permutation(n)]
    return rng.choice(pooling.rows, n, p=pooling.weights), rng.choice(pooling.rows, n, p=pooling.weights)


def _cohen_from_permutations(comparisons: Comparisons, met: list[Ints], flat: Floats) -> _Cohen:
    d, m = len(met), len(comparisons.shared)
    values = flat.reshape(d, -1)
    received = np.empty_like(values)
    for row, permuted, out in zip(values, met, received, strict=True):
        out[permuted] = row
    at_left, at_right = values.mean(axis=0), received.mean(axis=0)
    total = sums(comparisons.rater_pair, at_left, m)
    expected = total / comparisons.shared
    squares = sums(comparisons.rater_pair, ((values - expected[comparisons.rater_pair]) ** 2).sum(axis=0), m)
    draws = d * comparisons.shared
    error = np.sqrt(squares / np.maximum(draws - 1, 1) / draws)
    if d < 2:
        return expected, error, at_left, at_right, np.zeros(m)
    spread = (values.var(axis=0, ddof=1) + received.var(axis=0, ddof=1)) / d
    noise = sums(comparisons.rater_pair, spread, m) / comparisons.shared
    return expected, error, at_left, at_right, noise


def _cohen_from_draws(comparisons: Comparisons, weight: Floats, flat: Floats) -> _Cohen:
    pair, m = comparisons.rater_pair, len(comparisons.shared)
    values = flat.reshape(2, -1, len(weight))  # at the left answers, and at the right ones
    draws = values.shape[1]
    mass = sums(pair, weight, m)
    at_left, at_right = means = values.mean(axis=1)
    expected = sums(pair, weight * means.mean(axis=0), m) / mass
    spread = sums(pair, weight**2 * ((values - expected[pair]) ** 2).mean(axis=(0, 1)), m)
    within = values.var(axis=1, ddof=1).sum(axis=0) / draws if draws > 1 else np.zeros(len(weight))
    noise = sums(pair, weight**2 * within, m) / sums(pair, weight**2, m)
    return expected, np.sqrt(spread / (2 * draws)) / mass, at_left, at_right, noise


def _pooled_from_draws(
    pooling: Pooling, values: Floats, first: tuple[Ints, ...], second: tuple[Ints, ...], n_rows: int
) -> tuple[Floats, float]:
    """Mean equivalence of each pooled row over its drawn pairs, and the mean noise of these means, from values (D, n).

    The mean goes by squared weights, as the noise of a weighted sum does: heavy rows are drawn often and vary least.
    """
    rows = np.concatenate([*first, *second])
    flat = np.concatenate([values.ravel(), values.ravel()])
    count = np.bincount(rows, minlength=n_rows)[pooling.rows]
    total = np.bincount(rows, weights=flat, minlength=n_rows)[pooling.rows]
    squares = np.bincount(rows, weights=flat**2, minlength=n_rows)[pooling.rows]
    mean = np.where(count > 0, total / np.maximum(count, 1), values.mean())
    repeated = count >= 2
    within = (squares - count * mean**2)[repeated].sum() / max(float((count - 1)[repeated].sum()), 1.0)
    return mean, float(max(within, 0) * np.average(1 / np.maximum(count, 1), weights=pooling.weights**2))


def _sampled_distribution(ratings: Ratings, values: Floats, first: Ints, second: Ints) -> ChanceDistribution | None:
    different = ratings.item[first] != ratings.item[second]
    if not different.any() or np.isnan(values).any():
        return None
    counts = np.bincount(on_grid(values[different]), minlength=GRID + 1).astype(np.float64)
    return ChanceDistribution.of(counts, sample=float(different.sum()))
