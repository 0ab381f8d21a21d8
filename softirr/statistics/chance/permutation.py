"""Agreement expected by chance from permuted answers (Wullschleger et al. 2026), with its standard error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

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
    left_rows, right_rows, order = _met(ratings, permutations, rng)
    first, second = _permuted_pooling(pooling, permutations, rng)
    of_distinct = np.tile(distinct, permutations)
    permuted_distinct = np.concatenate([distinct[rng.permutation(len(distinct))] for _ in range(permutations)])
    pairs = {
        "cohen": (answer[left_rows], answer[right_rows]),
        "pooled": (answer[first], answer[second]),
        "uniform": (of_distinct, permuted_distinct),
    }
    values, pairs_scored = _needed_scores(equivalence, pairs, expectations, ratings.n_answers)
    off, q = of_distinct != permuted_distinct, len(distinct)
    return Chance(
        method="permutation",
        **_cohen(ratings, values["cohen"][order]),
        **_pooled(ratings, pooling, values["pooled"], first, second),
        distinct=q,
        similarity=(1 + (q - 1) * float(values["uniform"][off].mean())) / q if off.any() else 1.0,
        pairs_scored=pairs_scored,
    )


def _met(ratings: Ratings, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Rows of the permuted pairs of each rater pair, and which pair each answer of the comparisons is in.

    If items weigh differently, partners are drawn with replacement, by the weights of their items, first for the left
    answers, then for the right ones. Otherwise a permutation provides both with partners.

    Returns
    -------
    shape (n,), shape (n,)
        Rows of a left and of a right answer.
    shape (2, draws, P)
        Indices of the pairs with the left and with the right answer of each comparison.
    """
    comparisons = ratings.comparisons
    n = len(comparisons.left_rows)
    if ratings.weights is not None:
        partners = [_partners(comparisons, ratings.weight[comparisons.item], rng) for _ in range(2 * draws)]
        of_left, of_right = np.concatenate(partners[:draws]), np.concatenate(partners[draws:])
        left_rows = np.concatenate([np.tile(comparisons.left_rows, draws), comparisons.left_rows[of_right]])
        right_rows = np.concatenate([comparisons.right_rows[of_left], np.tile(comparisons.right_rows, draws)])
        return left_rows, right_rows, np.arange(2 * draws * n).reshape(2, draws, n)
    by_pair = np.argsort(comparisons.rater_pair, kind="stable")
    met = np.empty((draws, n), dtype=np.int64)
    for permuted in met:
        permuted[by_pair] = np.lexsort((rng.random(n), comparisons.rater_pair))
    order = np.stack([np.tile(np.arange(n), (draws, 1)), np.argsort(met, axis=1)]) + n * np.arange(draws)[:, None]
    return np.tile(comparisons.left_rows, draws), comparisons.right_rows[met.ravel()], order


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


def _permuted_pooling(pooling: Pooling, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of rows, both sides distributed as π.

    Permutations if all weights are equal, else draws with replacement.
    """
    n, rows = len(pooling.rows), pooling.rows
    if np.ptp(pooling.weights) == 0:
        return np.tile(rows, draws), np.concatenate([rows[rng.permutation(n)] for _ in range(draws)])
    columns = [[rng.choice(rows, n, p=pooling.weights) for _ in range(2)] for _ in range(draws)]
    first, second = np.concatenate(columns, axis=1)
    return first, second


def _cohen(ratings: Ratings, values: Floats) -> dict[str, Any]:
    """What follows from the equivalences (2, D, P) of left and of right answers for each rater pair, by its name."""
    pair, m = ratings.comparisons.rater_pair, len(ratings.comparisons.shared)
    weight, draws = ratings.weight[ratings.comparisons.item], values.shape[1]
    mass = sums(pair, weight, m)
    means = values.mean(axis=1)
    expected = sums(pair, weight * means.mean(axis=0), m) / mass
    spread = sums(pair, weight**2 * ((values - expected[pair]) ** 2).mean(axis=(0, 1)), m)
    # the pairs of a permutation are those of left and of right answers at once
    independent = 2 * draws if ratings.weights is not None else np.maximum(draws * mass - 1, 1) / mass
    within = values.var(axis=1, ddof=1).sum(axis=0) / draws if draws > 1 else np.zeros(len(weight))
    return {
        "cohen": expected,
        "cohen_error": np.sqrt(spread / independent) / mass,
        "cohen_met": means.sum(axis=0),
        "cohen_noise": sums(pair, weight**2 * within, m) / sums(pair, weight**2, m),
    }


def _pooled(ratings: Ratings, pooling: Pooling, values: Floats, first: Ints, second: Ints) -> dict[str, Any]:
    """What follows from the equivalences of pairs of pooled rows, by its name.

    The mean noise goes by squared weights, as the noise of a weighted sum does: heavy rows are drawn often and vary
    least.
    """
    rows, flat = np.concatenate([first, second]), np.concatenate([values, values])
    n_rows = len(ratings.item)
    count = np.bincount(rows, minlength=n_rows)[pooling.rows]
    total, squares = (np.bincount(rows, weights=flat**k, minlength=n_rows)[pooling.rows] for k in (1, 2))
    mean = np.where(count > 0, total / np.maximum(count, 1), values.mean())
    repeated = count >= 2
    within = (squares - count * mean**2)[repeated].sum() / max(float((count - 1)[repeated].sum()), 1.0)
    distribution, different = None, ratings.item[first] != ratings.item[second]
    if different.any() and not np.isnan(values).any():
        steps = np.bincount(on_grid(values[different]), minlength=GRID + 1).astype(np.float64)
        distribution = ChanceDistribution.of(steps, sample=float(different.sum()))
    without, left_out = None, LeftOut.of(ratings, pooling)
    if left_out is not None:
        sums_without = left_out.sums_of_kept(first, second, np.stack([values, np.ones(len(values))], axis=1))
        without = np.where(sums_without[:, 1] > 0, sums_without[:, 0] / np.maximum(sums_without[:, 1], 1), np.nan)
    return {
        "pooling": pooling,
        "pooled": float(values.mean()),
        "pooled_error": float(values.std(ddof=1) / np.sqrt(values.size)),
        "pooled_at": mean,
        "pooled_noise": float(max(within, 0) * np.average(1 / np.maximum(count, 1), weights=pooling.weights**2)),
        "pooled_without": without,
        "distribution": distribution,
    }
