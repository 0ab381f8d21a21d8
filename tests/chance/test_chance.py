"""Expected agreement: exact against plain loops, in blocks of any size.

By permutation as in Wullschleger et al. 2026.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import softirr
from softirr.chance.equivalence import MatrixEquivalence
from softirr.chance.exact import exact
from softirr.chance.expected import GRID
from softirr.chance.permutation import permutation
from softirr.matching.assignment import AnswerScorer
from softirr.measures.pairs import PairScorer
from softirr.tables.ratings import Pooling, Ratings

SETTINGS = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SAME = {"abs": 1e-12, "rel": 0}


def similarity(size, seed):
    upper = np.triu(np.random.default_rng(seed).random((size, size)), 1)
    return upper + upper.T + np.eye(size)


@st.composite
def tables(draw, categories=6):
    """Ratings with a comparable item, and an equivalence."""
    shape = (draw(st.integers(2, 9)), draw(st.integers(2, 4)))
    ratings = Ratings.from_matrix(draw(hnp.arrays(np.int64, shape, elements=st.integers(-1, categories - 1))))
    assume(len(ratings.comparable_items))
    return ratings, MatrixEquivalence(similarity(categories, draw(st.integers(0, 2**32 - 1))))


def scored(ratings, equivalence):
    comparisons = ratings.comparisons
    return equivalence.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])


def by_pair(ratings):
    """Items that each rater pair shares, and both answers to them."""
    comparisons = ratings.comparisons
    for pair in range(len(comparisons.shared)):
        mine = comparisons.rater_pair == pair
        yield ratings.answer[comparisons.left[mine]], ratings.answer[comparisons.right[mine]]


class TestExact:
    @SETTINGS
    @given(tables())
    def test_cohen_is_the_mean_over_all_pairs_of_answers(self, table):
        ratings, equivalence = table
        chance = exact(ratings, equivalence, scored(ratings, equivalence))
        expected = [equivalence.matrix[np.ix_(a, b)].mean() for a, b in by_pair(ratings)]
        assert chance.cohen == pytest.approx(expected, **SAME)
        assert not chance.cohen_error.any()
        assert chance.standard_error == 0

    @SETTINGS
    @given(tables())
    def test_pooled_is_the_mean_over_all_pairs_of_pooled_answers(self, table):
        ratings, equivalence = table
        chance = exact(ratings, equivalence, scored(ratings, equivalence))
        pooled = ratings.answer[ratings.comparable]
        assert chance.pooled == pytest.approx(equivalence.matrix[np.ix_(pooled, pooled)].mean(), **SAME)
        used = np.unique(pooled)
        assert chance.similarity == pytest.approx(equivalence.matrix[np.ix_(used, used)].mean(), **SAME)
        assert chance.pairs_scored == len(used) * (len(used) - 1) // 2

    @SETTINGS
    @given(tables())
    def test_means_at_each_answer(self, table):
        ratings, equivalence = table
        chance = exact(ratings, equivalence, scored(ratings, equivalence))
        comparisons = ratings.comparisons
        for pair, (a, b) in enumerate(by_pair(ratings)):
            mine = comparisons.rater_pair == pair
            grid = equivalence.matrix[np.ix_(a, b)]
            assert chance.cohen_left[mine] == pytest.approx(grid.mean(axis=1), **SAME)
            assert chance.cohen_right[mine] == pytest.approx(grid.mean(axis=0), **SAME)
        pooled = ratings.answer[chance.pooling.rows]
        assert chance.pooled_at == pytest.approx(equivalence.matrix[np.ix_(pooled, pooled)].mean(axis=1), **SAME)

    @SETTINGS
    @given(tables())
    def test_distribution_of_different_items(self, table):
        ratings, equivalence = table
        chance = exact(ratings, equivalence, scored(ratings, equivalence))
        rows = ratings.comparable
        i, j = (rows[k] for k in np.triu_indices(len(rows), 1))
        apart = ratings.item[i] != ratings.item[j]
        if not apart.any():
            assert chance.distribution is None
            return
        values = np.rint(equivalence.matrix[ratings.answer[i], ratings.answer[j]][apart].astype(np.float32) * GRID)
        for step in (0, GRID // 3, GRID):
            assert chance.distribution.tail[step] == pytest.approx(np.mean(values >= step), **SAME)

    @settings(SETTINGS, max_examples=30)
    @given(tables(), st.integers(2, 5), st.booleans())
    def test_blocks_of_any_size(self, table, size, strips):
        """Also strip by strip, which is how a table of very many raters is passed."""
        ratings, equivalence = table
        scores = scored(ratings, equivalence)
        whole = exact(ratings, equivalence, scores)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("softirr.chance.exact.DOUBLE", 0)
            if strips:
                patch.setattr("softirr.chance.exact._DENSE", 1)
            parts = exact(ratings, equivalence, scores, block_size=size)
        assert parts.cohen == pytest.approx(whole.cohen, **SAME)
        assert parts.cohen_left == pytest.approx(whole.cohen_left, **SAME)
        assert parts.cohen_right == pytest.approx(whole.cohen_right, **SAME)
        assert parts.pooled == pytest.approx(whole.pooled, **SAME)
        assert parts.similarity == pytest.approx(whole.similarity, **SAME)
        if whole.distribution is not None:
            assert np.allclose(parts.distribution.tail, whole.distribution.tail, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("size", [2, 5])
    def test_blocks_where_no_answer_is_given_twice(self, size, monkeypatch):
        ratings, equivalence = Ratings.from_matrix(np.arange(14).reshape(7, 2)), MatrixEquivalence(similarity(14, 0))
        scores = scored(ratings, equivalence)
        whole = exact(ratings, equivalence, scores)
        monkeypatch.setattr("softirr.chance.exact.DOUBLE", 0)
        parts = exact(ratings, equivalence, scores, block_size=size)
        assert np.allclose(parts.distribution.tail, whole.distribution.tail, rtol=0, atol=1e-12)

    @SETTINGS
    @given(tables())
    def test_every_item_weighs_the_same_with_gwet(self, table):
        ratings, equivalence = table
        chance = exact(ratings, equivalence, scored(ratings, equivalence), marginals="gwet2014")
        items = [ratings.answer[ratings.item == item] for item in np.unique(ratings.item)]
        expected = np.mean([[equivalence.matrix[np.ix_(a, b)].mean() for a in items] for b in items])
        assert chance.pooled == pytest.approx(expected, **SAME)

    def test_sets_are_compared_as_sets(self):
        rng = np.random.default_rng(5)
        words = [f"word {i}" for i in range(12)]
        answers = [
            softirr.Answer(str(i), r, tuple(rng.choice(words, rng.integers(0, 4), replace=False)))
            for i in range(15)
            for r in "ab"
        ]
        table = softirr.AnnotationTable.from_answers(answers)
        scorer = AnswerScorer(table, PairScorer(softirr.measure("indel"), table.texts))
        ratings = Ratings.of(table)
        chance = exact(ratings, scorer, scored(ratings, scorer))
        (a, b), *_ = by_pair(ratings)
        expected = [[float(scorer.score([k], [l])[0]) for l in b.tolist()] for k in a.tolist()]  # noqa: E741
        assert chance.cohen[0] == pytest.approx(np.mean(expected), abs=1e-12)


class TestPermutation:
    def table(self, n=40, raters=3, seed=1):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(-1, 8, (n, raters))
        return Ratings.from_matrix(matrix), MatrixEquivalence(similarity(8, seed))

    def test_unbiased_with_a_standard_error_that_errs_on_the_safe_side(self):
        ratings, equivalence = self.table()
        scores = scored(ratings, equivalence)
        truth = exact(ratings, equivalence, scores)
        runs = [permutation(ratings, equivalence, permutations=3, seed=s) for s in range(200)]
        cohen, error = np.array([r.cohen for r in runs]), np.array([r.cohen_error for r in runs])
        assert np.all(np.abs(cohen.mean(axis=0) - truth.cohen) < 4 * cohen.std(axis=0) / np.sqrt(200))
        assert np.all(error.mean(axis=0) > 0.9 * cohen.std(axis=0))
        pooled = np.array([r.pooled for r in runs])
        assert abs(pooled.mean() - truth.pooled) < 4 * pooled.std() / np.sqrt(200)

    def test_formula_of_the_paper(self):
        """Eq. pe_mc: the second rater's answers permuted D times, all pairs averaged.

        All permutations of two items: the exact value.
        """
        ratings = Ratings.from_matrix([[0, 1], [2, 3]])
        equivalence = MatrixEquivalence(similarity(4, 3))
        values = {
            round(float(permutation(ratings, equivalence, permutations=1, seed=s).cohen[0]), 12) for s in range(40)
        }
        s = equivalence.matrix
        assert values == {round((s[0, 1] + s[2, 3]) / 2, 12), round((s[0, 3] + s[2, 1]) / 2, 12)}
        assert np.mean(list(values)) == pytest.approx(s[np.ix_([0, 2], [1, 3])].mean(), abs=1e-12)

    def test_more_permutations_come_closer(self):
        ratings, equivalence = self.table()
        few = permutation(ratings, equivalence, permutations=2, seed=0)
        many = permutation(ratings, equivalence, permutations=200, seed=0)
        assert many.standard_error < few.standard_error / 5
        assert many.pairs_scored <= exact(ratings, equivalence, scored(ratings, equivalence)).pairs_scored

    @pytest.mark.parametrize("weighted", [False, True])
    def test_only_the_pairs_of_needed_expectations_are_scored(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            weights = np.random.default_rng(0).random(ratings.n_items) + 0.5
            ratings = replace(ratings, weights=weights)
        whole = permutation(ratings, equivalence, permutations=1, seed=2)
        pooled = permutation(ratings, equivalence, permutations=1, seed=2, expectations=["pooled"])
        cohen = permutation(ratings, equivalence, permutations=1, seed=2, expectations=["cohen"])
        assert (pooled.pooled, pooled.pooled_error) == (whole.pooled, whole.pooled_error)
        assert np.array_equal(pooled.pooled_at, whole.pooled_at)
        assert np.array_equal(cohen.cohen, whole.cohen) and np.array_equal(cohen.cohen_left, whole.cohen_left)
        assert np.isnan(pooled.cohen).all() and np.isnan(cohen.pooled) and cohen.distribution is None
        assert pooled.pairs_scored < whole.pairs_scored

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
            ("cohen_left", 0.06),
            ("cohen_right", 0.06),
        ):
            assert getattr(result, name) == pytest.approx(getattr(truth, name), abs=close), name

    @pytest.mark.parametrize("weighted", [False, True])
    def test_stated_errors_are_those_of_repetitions(self, weighted):
        ratings, equivalence = self.table()
        if weighted:
            ratings = replace(ratings, weights=np.linspace(0.5, 2, ratings.n_items))
        runs = [permutation(ratings, equivalence, permutations=4, seed=seed) for seed in range(300)]
        for value, error in (("pooled", "pooled_error"), ("similarity", "similarity_error")):
            spread = np.std([getattr(run, value) for run in runs])
            stated = np.mean([getattr(run, error) for run in runs])
            # without weights the draws are permutations, which vary less than draws with replacement
            assert 0.95 * spread < stated < (1.1 if weighted else 1.6) * spread, value
        at = np.array([run.pooled_at for run in runs])
        noise = np.average(at.var(axis=0), weights=runs[0].pooling.weights ** 2)
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
        both = np.array([run.cohen_left + run.cohen_right for run in runs]).var(axis=0)
        pair, own = ratings.comparisons.rater_pair, ratings.weight[ratings.comparisons.item] ** 2
        noise = np.bincount(pair, own * both) / np.bincount(pair, own)
        assert np.mean([run.cohen_noise for run in runs], axis=0) == pytest.approx(noise, rel=0.15)

    def test_error_of_one_permutation_of_two_items(self):
        """The standard deviation of its two values by the root of two."""
        ratings, equivalence = Ratings.from_matrix([[0, 1], [2, 3]]), MatrixEquivalence(similarity(4, 3))
        s = equivalence.matrix
        result = permutation(ratings, equivalence, permutations=1, seed=0).cohen_error[0]
        halves = [abs(s[0, 1] - s[2, 3]) / 2, abs(s[0, 3] - s[2, 1]) / 2]
        assert any(result == pytest.approx(half, abs=1e-12) for half in halves)

    def test_same_seed_same_value(self):
        ratings, equivalence = self.table()
        first, second = (permutation(ratings, equivalence, seed=4) for _ in range(2))
        assert np.array_equal(first.cohen, second.cohen)
        assert first.pooled == second.pooled


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("pairs", [None, [1, 4]])
def test_the_error_of_a_sum_over_rater_pairs_is_that_of_its_covariances(shared, pairs):
    """The loadings are on errors that rater pairs share; the rest of each error is its own."""
    rng = np.random.default_rng(1)
    ratings, equivalence = Ratings.from_matrix(rng.integers(0, 4, (9, 4))), MatrixEquivalence(similarity(4, 0))
    loadings, own = rng.normal(size=(6, 3)), rng.uniform(0.5, 1, 6)
    loadings *= shared
    covariance = loadings @ loadings.T + np.diag(own**2)
    chance = replace(
        exact(ratings, equivalence, scored(ratings, equivalence)),
        cohen_error=np.sqrt(np.diag(covariance)),
        cohen_loadings=loadings if shared else None,
        pooled_error=0.1,
    )
    which = np.arange(6) if pairs is None else np.array(pairs)
    slopes = rng.normal(size=len(which))
    error = np.sqrt(slopes @ covariance[np.ix_(which, which)] @ slopes)
    assert chance.cohen_sum_error(slopes, None if pairs is None else which) == pytest.approx(error, rel=1e-12)
    mean = np.sqrt(covariance.sum()) / 6
    assert chance.standard_error == pytest.approx(mean, rel=1e-12)
    assert replace(chance, pooled_error=2 * mean).standard_error == 2 * mean


class TestPooling:
    @SETTINGS
    @given(tables())
    def test_weights_sum_to_one(self, table):
        for marginals in ("answers", "gwet2014"):
            pooling = Pooling.of(table[0], marginals)
            assert pooling.weights.sum() == pytest.approx(1, **SAME)
            assert len(pooling.rows) == len(pooling.weights)


def without(ratings, rater):
    """The ratings of all others."""
    return ratings.restricted(np.flatnonzero(ratings.rater != rater))


class TestWithoutEachRater:
    @SETTINGS
    @given(tables(), st.sampled_from([2, 2_048]))
    def test_is_the_pooled_chance_of_the_smaller_table(self, table, block_size):
        ratings, equivalence = table
        pooled_without = exact(ratings, equivalence, scored(ratings, equivalence), block_size=block_size).pooled_without
        assert pooled_without is not None and len(pooled_without) == ratings.n_raters
        for rater, value in enumerate(pooled_without):
            rest = without(ratings, rater)
            if len(rest.comparable_items):
                truth = exact(rest, equivalence, scored(rest, equivalence)).pooled
                assert value == pytest.approx(truth, abs=1e-10)
            else:
                assert np.isnan(value)

    def test_in_strips_as_in_blocks(self, monkeypatch):
        rng = np.random.default_rng(0)
        ratings = Ratings.from_matrix(rng.integers(-1, 40, (60, 6)))
        equivalence = MatrixEquivalence(similarity(40, 1))
        scores = scored(ratings, equivalence)
        blocks = exact(ratings, equivalence, scores, block_size=16).pooled_without
        monkeypatch.setattr("softirr.chance.exact._DENSE", 10)
        assert exact(ratings, equivalence, scores, block_size=16).pooled_without == pytest.approx(blocks, abs=1e-12)

    def test_many_raters(self):
        rng = np.random.default_rng(0)
        ratings = Ratings.from_matrix(np.where(rng.random((80, 40)) < 0.07, rng.integers(0, 30, (80, 40)), -1))
        equivalence = MatrixEquivalence(similarity(30, 1))
        pooled_without = exact(ratings, equivalence, scored(ratings, equivalence)).pooled_without
        for rater in range(40):
            rest = without(ratings, rater)
            truth = exact(rest, equivalence, scored(rest, equivalence)).pooled
            assert pooled_without[rater] == pytest.approx(truth, abs=1e-10)

    def test_by_permutation_it_is_right_on_average(self):
        rng = np.random.default_rng(0)
        ratings = Ratings.from_matrix(rng.integers(-1, 12, (40, 3)))
        equivalence = MatrixEquivalence(similarity(12, 1))
        truth = exact(ratings, equivalence, scored(ratings, equivalence)).pooled_without
        pooled_without = permutation(ratings, equivalence, permutations=400).pooled_without
        assert pooled_without == pytest.approx(truth, abs=0.005)

    def test_gwets_marginals_have_none(self):
        ratings, equivalence = Ratings.from_matrix([[0, 1], [1, 1], [0, 0]]), MatrixEquivalence(np.eye(2))
        assert exact(ratings, equivalence, scored(ratings, equivalence), marginals="gwet2014").pooled_without is None
