"""Expected agreement, exact and by permutation, against plain sums over the pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import softirr
from softirr.answers.category_matrix import matrix_ratings
from softirr.answers.ratings import Pooling, Ratings
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.chance import block_pass
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, MatrixEquivalence, on_grid
from softirr.statistics.matching.answer_scorer import AnswerScorer
from tests.statistics.chance.direct import SAME, SETTINGS, Direct, scored, similarity, tables

VALUES = ("cohen", "cohen_met", "pooled", "pooled_at", "similarity")


class Single(MatrixEquivalence):
    """Blocks as a model computes them: float32, and not exactly 1 for an answer with itself."""

    def block(self, ks, ls):
        return (self.matrix[np.ix_(ks, ls)] * (1 - 1e-4 * (ks[:, None] == ls))).astype(np.float32)


def check_exact(ratings, matrix, marginals="answers", equivalence=None, close=1e-12):
    """Compare all fields with their definitions."""
    equivalence = equivalence or MatrixEquivalence(matrix)
    chance = exact(ratings, equivalence, scored(ratings, MatrixEquivalence(matrix)), marginals=marginals)
    truth = Direct(ratings, matrix, marginals)
    for name in VALUES:
        assert getattr(chance, name) == pytest.approx(getattr(truth, name), abs=close), name
    assert (chance.method, chance.distinct, chance.standard_error) == ("exact", len(truth.used), 0)
    assert chance.pairs_scored == len(truth.used) * (len(truth.used) - 1) // 2
    assert chance.cohen_noise is None and chance.pooled_noise == 0
    if marginals == "gwet2014" or ratings.weights is not None:
        assert chance.pooled_without is None
    else:
        assert chance.pooled_without == pytest.approx(truth.pooled_without, abs=max(close, 1e-10), nan_ok=True)
    if chance.distribution is None:
        assert len(ratings.comparable_items) < 2
        return
    for step in (0, GRID // 3, int(on_grid(matrix[0, 1])), int(on_grid(matrix[0, 1])) + 1, GRID, GRID + 1):
        assert chance.distribution.tail[step] == pytest.approx(truth.tail(step), **SAME)
        assert chance.distribution.row_tail(step) == pytest.approx(truth.row_tail(step), **SAME)
    assert chance.distribution.error(0.5) == 0


@pytest.fixture(params=["one block", "blocks of 2", "blocks of 3 in strips"])
def ways_to_pass(request, monkeypatch):
    """Each way to pass over the pairs."""
    if request.param == "one block":
        return
    monkeypatch.setattr(block_pass, "DOUBLE", 0)
    monkeypatch.setattr(block_pass, "BLOCK", 2 if request.param == "blocks of 2" else 3)
    if request.param == "blocks of 3 in strips":
        monkeypatch.setattr(block_pass, "_KEPT", 4)
        monkeypatch.setattr(block_pass, "_DENSE_COLUMNS", 0)


class TestExact:
    @SETTINGS
    @given(tables(weights=True), st.sampled_from(["answers", "gwet2014"]))
    def test_is_the_sum_over_all_pairs(self, ways_to_pass, table, marginals):
        ratings, equivalence = table
        assume(marginals == "answers" or ratings.weights is None)
        check_exact(ratings, equivalence.matrix, marginals)

    @pytest.mark.parametrize("times", [1, 2])
    def test_where_each_answer_is_given_as_often(self, ways_to_pass, times):
        size = 14 // times
        check_exact(matrix_ratings((np.arange(14) % size).reshape(7, 2)), similarity(size))

    def test_where_rater_pairs_share_few_items(self, ways_to_pass):
        rng = np.random.default_rng(0)
        ratings = matrix_ratings(np.where(rng.random((40, 20)) < 0.1, rng.integers(0, 30, (40, 20)), -1))
        check_exact(ratings, similarity(30))

    def test_an_answer_is_equivalent_to_itself_also_in_single_precision(self, ways_to_pass):
        ratings = matrix_ratings(np.random.default_rng(1).integers(0, 7, (9, 3)))
        matrix = similarity(7)
        check_exact(ratings, matrix, equivalence=Single(matrix), close=1e-6)

    def test_shares_of_many_rows_are_those_of_a_sample_of_them(self, monkeypatch):
        """Evenly spread over the rows, from the first to the last."""
        monkeypatch.setattr(block_pass, "_LANDMARKS", 4)
        ratings, matrix = matrix_ratings(np.arange(20).reshape(10, 2)), similarity(20)
        chance = exact(ratings, MatrixEquivalence(matrix), scored(ratings, MatrixEquivalence(matrix)))
        landmarks, step = np.array([0, 6, 12, 19]), int(on_grid(matrix[0, 6]))
        is_other_item = ratings.item[:, None] != landmarks // 2
        reached = (on_grid(matrix[:, landmarks]) >= step) & is_other_item
        assert chance.distribution.row_tail(step) == pytest.approx(
            reached.sum(axis=1) / is_other_item.sum(axis=1), **SAME
        )

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
        indices = np.arange(len(table.answers))
        matrix = np.array([scorer.score(np.full(len(indices), k), indices) for k in indices])
        check_exact(Ratings.of(table), matrix, equivalence=scorer)


@pytest.mark.parametrize("shared", [False, True])
def test_the_error_of_a_sum_over_rater_pairs_is_that_of_its_covariances(shared):
    """Rater pairs share a part of their errors; the rest of each error is its own."""
    rng = np.random.default_rng(1)
    ratings, equivalence = matrix_ratings(rng.integers(0, 4, (9, 4))), MatrixEquivalence(similarity(4, 0))
    common, unshared = shared * rng.normal(size=6), rng.uniform(0.5, 1, 6)
    covariance = np.outer(common, common) + np.diag(unshared**2)
    chance = replace(
        exact(ratings, equivalence, scored(ratings, equivalence)),
        cohen_error=np.sqrt(np.diag(covariance)),
        cohen_common=common if shared else 0.0,
        pooled_error=0.1,
    )
    slopes = rng.normal(size=6)
    error = np.sqrt(slopes @ covariance @ slopes)
    assert chance.cohen_sum_error(slopes) == pytest.approx(error, rel=1e-12)
    mean = np.sqrt(covariance.sum()) / 6
    assert chance.standard_error == pytest.approx(mean, rel=1e-12)
    assert replace(chance, pooled_error=2 * mean).standard_error == 2 * mean
    for kappas, error in (([0.3], 0.3), ([], 0.1)):
        pairs_of_few = replace(chance, cohen=np.array(kappas), cohen_error=np.array(kappas), cohen_common=0.0)
        assert pairs_of_few.standard_error == pytest.approx(error, rel=1e-12)


class TestPooling:
    @SETTINGS
    @given(tables())
    def test_weights_sum_to_one(self, table):
        for marginals in ("answers", "gwet2014"):
            pooling = Pooling.of(table[0], marginals)
            assert pooling.weights.sum() == pytest.approx(1, **SAME)
            assert len(pooling.rows) == len(pooling.weights)
