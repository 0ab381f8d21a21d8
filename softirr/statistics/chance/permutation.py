"""Agreement expected by chance from permuted answers (Wullschleger et al. 2026), with its standard error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
    rng, answer = np.random.default_rng(seed), ratings.answer
    pooling = Pooling.of(ratings, marginals)
    distinct = np.unique(answer[pooling.rows])
    draw_cohen = _permuted_pairs if ratings.weights is None else _weighted_pairs
    left_rows, right_rows, of_cohen = draw_cohen(ratings, permutations, rng)
    pooled_rows = [_permuted_pooling(pooling, rng) for _ in range(permutations)]
    first, second = (np.concatenate(rows) for rows in zip(*pooled_rows, strict=True))
    of_distinct = np.tile(distinct, permutations)
    permuted_distinct = np.concatenate([distinct[rng.permutation(len(distinct))] for _ in range(permutations)])
    pairs = {
        "cohen": (answer[left_rows], answer[right_rows]),
        "pooled": (answer[first], answer[second]),
        "uniform": (of_distinct, permuted_distinct),
    }
    values, pairs_scored = _needed_scores(equivalence, pairs, expectations, ratings.n_answers)
    pooled, off, q = values["pooled"], of_distinct != permuted_distinct, len(distinct)
    pooled_at, pooled_noise = _pooled_from_draws(pooling, pooled, first, second, len(ratings.item))
    return Chance(
        "permutation",
        *of_cohen(values["cohen"]),
        pooling=pooling,
        pooled=float(pooled.mean()),
        pooled_error=float(pooled.std(ddof=1) / np.sqrt(pooled.size)),
        pooled_at=pooled_at,
        pooled_noise=pooled_noise,
        distinct=q,
        similarity=(1 + (q - 1) * float(values["uniform"][off].mean())) / q if off.any() else 1.0,
        distribution=_sampled_distribution(ratings, pooled, first, second),
        pairs_scored=pairs_scored,
        pooled_without=_without_from_draws(ratings, pooling, pooled, first, second),
    )


_Cohen = tuple[Floats, Floats, Floats, Floats, Floats]
"""Expected agreement of each rater pair, its error, the means at left and right answers, and their noise."""


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
    equivalence: Equivalence, pairs: Mapping[str, tuple[Ints, Ints]], needed: Collection[str], n_answers: int
) -> tuple[dict[str, Floats], int]:
    """Scores of the pairs of each expectation, nan if it is not needed, and the number of different pairs scored."""
    names = [name for name in pairs if name in needed]
    k, l = (np.concatenate([pairs[name][side] for name in names]) for side in (0, 1))  # noqa: E741
    ends = np.cumsum([len(pairs[name][0]) for name in names])
    scores = np.split(equivalence.score(k, l), ends[:-1])
    values = {name: np.full(len(sides[0]), np.nan) for name, sides in pairs.items()}
    return values | dict(zip(names, scores, strict=True)), different_pairs(k, l, n_answers)


def _partners(comparisons: Comparisons, weight: Floats, rng: np.random.Generator) -> Ints:
    """For each comparison another one of its rater pair, drawn with replacement by weight."""
    order = np.argsort(comparisons.rater_pair, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = np.cumsum(comparisons.shared)
    low, high = reached[ends - comparisons.shared][comparisons.rater_pair], reached[ends][comparisons.rater_pair]
    partners = np.searchsorted(reached, low + rng.random(len(weight)) * (high - low), side="right") - 1
    first, last = (ends - comparisons.shared)[comparisons.rater_pair], ends[comparisons.rater_pair] - 1
    return np.asarray(order[np.clip(partners, first, last)])


def _without_from_draws(ratings: Ratings, pooling: Pooling, values: Floats, first: Ints, second: Ints) -> Floats | None:
    """The pooled expectation without each rater: the mean over the remaining draws; values (D, n)."""
    if pooling.marginals != "answers" or ratings.weights is not None:
        return None
    left_out = LeftOut(ratings, pooling)
    above, below = (left_out.sums_of_kept(first, second, weights) for weights in (values, np.ones(len(values))))
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
    pooling: Pooling, values: Floats, first: Ints, second: Ints, n_rows: int
) -> tuple[Floats, float]:
    """Mean equivalence of each pooled row over its drawn pairs of all permutations, and the mean noise of these means.

    The mean goes by squared weights, as the noise of a weighted sum does: heavy rows are drawn often and vary least.
    """
    rows, flat = np.concatenate([first, second]), np.concatenate([values, values])
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
