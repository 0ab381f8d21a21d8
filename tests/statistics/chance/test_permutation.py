"""Chance by permutation: each quantity is computed from the drawn pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from softirr.answers.category_matrix import matrix_ratings
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence, on_grid
from softirr.statistics.chance.permutation import permutation
from tests.statistics.chance.direct import SAME, SETTINGS, scored, similarity, tables


class Recorded(MatrixEquivalence):
    """Records the answers that it scores."""

    def score(self, k, l):  # noqa: E741
        self.asked = k, l
        return super().score(k, l)


def check_cohen(chance, ratings, left_answers, right_answers, values, draws):
    """Each rater pair against the rows paired with its left answers and, with weights, those with its right answers."""
    comparisons = ratings.comparisons
    n, item_weights = len(comparisons.left_rows), ratings.weight[comparisons.item]
    weighted = ratings.weights is not None
    of_left = values[: draws * n].reshape(draws, n)
    assert left_answers[: draws * n].tolist() == np.tile(comparisons.left_rows, draws).tolist()
    if weighted:
        of_right = values[draws * n :].reshape(draws, n)
        assert right_answers[draws * n :].tolist() == np.tile(comparisons.right_rows, draws).tolist()
    else:  # each right answer is met once in each draw
        column_of = {
            (pair, row): c
            for c, (pair, row) in enumerate(zip(comparisons.rater_pair, comparisons.right_rows, strict=True))
        }
        of_right = np.full((draws, n), np.nan)
        for number, (row, value) in enumerate(zip(right_answers, values, strict=True)):
            of_right[number // n, column_of[comparisons.rater_pair[number % n], row]] = value
    assert chance.cohen_met == pytest.approx(of_left.mean(axis=0) + of_right.mean(axis=0), **SAME)
    noise = np.zeros(n) if draws == 1 else (of_left.var(axis=0, ddof=1) + of_right.var(axis=0, ddof=1)) / draws
    for pair, shared in enumerate(comparisons.shared):
        of_pair = comparisons.rater_pair == pair
        drawn_values = np.concatenate([of_left[:, of_pair], of_right[:, of_pair]])
        weight = item_weights[of_pair] / item_weights[of_pair].sum()
        assert chance.cohen[pair] == pytest.approx(np.mean(drawn_values @ weight), **SAME)
        off = (drawn_values - chance.cohen[pair]) ** 2
        if weighted:
            error = np.sqrt(np.mean(off, axis=0) @ weight**2 / (2 * draws))
        else:
            error = np.sqrt(off[:draws].sum() / max(draws * shared - 1, 1) / (draws * shared))
        assert chance.cohen_error[pair] == pytest.approx(error, **SAME)
        assert chance.cohen_noise[pair] == pytest.approx(np.average(noise[of_pair], weights=weight**2), **SAME)


def check_pooled(chance, ratings, left_rows, right_rows, values):
    """The pooled expectation against the pairs of rows that were drawn from π."""
    rows, weights = chance.pooling.rows, chance.pooling.weights
    assert chance.pooled == pytest.approx(values.mean(), **SAME)
    assert chance.pooled_error == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)), **SAME)
    of_row = [np.append(values[left_rows == row], values[right_rows == row]) for row in rows]
    expected_means = [row_values.mean() if len(row_values) else values.mean() for row_values in of_row]
    assert chance.pooled_at == pytest.approx(expected_means, **SAME)
    off = sum(np.sum((row_values - row_values.mean()) ** 2) for row_values in of_row if len(row_values) > 1)
    within = off / max(sum(len(row_values) - 1 for row_values in of_row if len(row_values) > 1), 1)
    noise = within * np.average([1 / max(len(row_values), 1) for row_values in of_row], weights=weights**2)
    assert chance.pooled_noise == pytest.approx(noise, **SAME)
    apart = ratings.item[left_rows] != ratings.item[right_rows]
    if apart.any():
        step = int(on_grid(values[apart][0]))
        assert chance.distribution.tail[step] == np.mean(on_grid(values[apart]) >= step)
        assert chance.distribution.sample == apart.sum()
        assert chance.distribution.error(0.2) == pytest.approx(np.sqrt(0.2 * 0.8 / apart.sum()))
    else:
        assert chance.distribution is None
    if chance.pooling.marginals != "answers" or ratings.weights is not None:
        assert chance.pooled_without is None
        return
    for rater, value in enumerate(chance.pooled_without):
        remaining = ratings.restricted(np.flatnonzero(ratings.rater != rater))
        is_comparable = (ratings.rater != rater) & (remaining.per_item[ratings.item] >= 2)
        pair_values = values[is_comparable[left_rows] & is_comparable[right_rows]]
        assert value == pytest.approx(pair_values.mean(), **SAME) if len(pair_values) else np.isnan(value)


class TestPermutation:
    def table(self, n=40, raters=3, seed=1):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(-1, 8, (n, raters))
        return matrix_ratings(matrix), MatrixEquivalence(similarity(8, seed))

    @SETTINGS
    @given(
        tables(categories=2, raters=3, weights=True),
        st.sampled_from(["answers", "gwet2014"]),
        st.integers(1, 3),
        st.integers(0, 9),
    )
    def test_is_computed_from_its_draws(self, table, marginals, draws, seed):
        """Each row has a different answer, which shows the paired rows."""
        ratings = table[0]
        assume(marginals == "answers" or ratings.weights is None)
        ratings = replace(ratings, answer=np.arange(len(ratings.item)), n_answers=len(ratings.item))
        equivalence = Recorded(similarity(len(ratings.item), seed))
        chance = permutation(ratings, equivalence, permutations=draws, seed=seed, marginals=marginals)
        left_answers, right_answers = equivalence.asked
        values = equivalence.matrix[left_answers, right_answers]
        n_pairs = draws * len(ratings.comparisons.left_rows) * (1 if ratings.weights is None else 2)
        n_rows = draws * len(chance.pooling.rows)
        check_cohen(chance, ratings, left_answers[:n_pairs], right_answers[:n_pairs], values[:n_pairs], draws)
        pooled = slice(n_pairs, n_pairs + n_rows)
        check_pooled(chance, ratings, left_answers[pooled], right_answers[pooled], values[pooled])
        apart = left_answers[n_pairs + n_rows :] != right_answers[n_pairs + n_rows :]
        uniform, q = values[n_pairs + n_rows :][apart], chance.distinct
        assert len(apart) == draws * q == n_rows
        assert chance.similarity == pytest.approx((1 + (q - 1) * uniform.mean()) / q if len(uniform) else 1, **SAME)
        assert chance.pairs_scored == len(
            {frozenset(pair) for pair in zip(left_answers, right_answers, strict=True) if pair[0] != pair[1]}
        )

    def test_formula_of_the_paper(self):
        """Eq. pe_mc: the second rater's answers permuted D times, all pairs averaged.

        All permutations of two items: the exact value.
        """
        ratings = matrix_ratings([[0, 1], [2, 3]])
        equivalence = MatrixEquivalence(similarity(4, 3))
        values = {
            round(float(permutation(ratings, equivalence, permutations=1, seed=s).cohen[0]), 12) for s in range(40)
        }
        s = equivalence.matrix
        assert values == {round((s[0, 1] + s[2, 3]) / 2, 12), round((s[0, 3] + s[2, 1]) / 2, 12)}
        assert np.mean(list(values)) == pytest.approx(s[np.ix_([0, 2], [1, 3])].mean(), abs=1e-12)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_only_the_pairs_of_needed_expectations_are_scored(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            weights = np.random.default_rng(0).random(ratings.n_items) + 0.5
            ratings = replace(ratings, weights=weights)
        complete = permutation(ratings, equivalence, permutations=1, seed=2)
        pooled = permutation(ratings, equivalence, permutations=1, seed=2, expectations=["pooled"])
        cohen = permutation(ratings, equivalence, permutations=1, seed=2, expectations=["cohen"])
        assert (pooled.pooled, pooled.pooled_error) == (complete.pooled, complete.pooled_error)
        assert np.array_equal(pooled.pooled_at, complete.pooled_at)
        assert np.array_equal(cohen.cohen, complete.cohen) and np.array_equal(cohen.cohen_met, complete.cohen_met)
        assert np.isnan(pooled.cohen).all() and np.isnan(cohen.pooled) and cohen.distribution is None
        assert pooled.pairs_scored < complete.pairs_scored

    @pytest.mark.parametrize("weighted", [False, True])
    def test_many_draws_come_to_the_exact_values(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            ratings = replace(ratings, weights=np.linspace(0.5, 2, ratings.n_items))
        truth = exact(ratings, equivalence, scored(ratings, equivalence))
        result = permutation(ratings, equivalence, permutations=400, seed=0)
        assert result.distinct == truth.distinct
        for name, close in (
            ("similarity", 0.005),
            ("pooled", 0.003),
            ("cohen", 0.01),
            ("pooled_at", 0.06),
            ("cohen_met", 0.12),
        ):
            assert getattr(result, name) == pytest.approx(getattr(truth, name), abs=close), name

    @pytest.mark.parametrize("weighted", [False, True])
    def test_stated_errors_are_those_of_repetitions(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            ratings = replace(ratings, weights=np.linspace(0.5, 2, ratings.n_items))
        runs = [permutation(ratings, equivalence, permutations=4, seed=seed) for seed in range(300)]
        spread = np.std([run.pooled for run in runs])
        stated = np.mean([run.pooled_error for run in runs])
        # without weights the draws are permutations, which vary less than draws with replacement
        assert 0.95 * spread < stated < (1.1 if weighted else 1.6) * spread
        pooled_values = np.array([run.pooled_at for run in runs])
        noise = np.average(pooled_values.var(axis=0), weights=runs[0].pooling.weights ** 2)
        assert np.mean([run.pooled_noise for run in runs]) == pytest.approx(noise, rel=0.15)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_stated_errors_of_rater_pairs_are_those_of_repetitions(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            ratings = replace(ratings, weights=np.geomspace(0.1, 10, ratings.n_items))
        runs = [permutation(ratings, equivalence, permutations=2, seed=seed) for seed in range(300)]
        spread = np.std([run.cohen for run in runs], axis=0)
        stated = np.mean([run.cohen_error for run in runs], axis=0)
        assert (0.88 * spread < stated).all() and (stated < 1.25 * spread).all()
        variance = np.array([run.cohen_met for run in runs]).var(axis=0)
        pair, squared_weight = ratings.comparisons.rater_pair, ratings.weight[ratings.comparisons.item] ** 2
        noise = np.bincount(pair, squared_weight * variance) / np.bincount(pair, squared_weight)
        assert np.mean([run.cohen_noise for run in runs], axis=0) == pytest.approx(noise, rel=0.15)
