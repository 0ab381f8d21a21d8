"""Sampled chance: exact when every pair is drawn, without bias and with the stated errors when not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from softirr.answers.category_matrix import matrix_ratings
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, MatrixEquivalence, on_grid
from softirr.statistics.chance.sample import Drawing, sample
from tests.statistics.chance.direct import Direct, scored, similarity, tables

SETTINGS = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def free_text(n_items=200, n_raters=2, *, missing=0.0, weights=False, seed=0):
    """Distinct texts that name 60 concepts: equivalent to a high degree within a concept, hardly between concepts."""
    rng = np.random.default_rng(seed)
    size = n_raters * n_items
    concept = rng.integers(0, 60, size)
    same = concept[:, None] == concept[None, :]
    values = np.where(same, rng.beta(6, 1.5, (size, size)), rng.beta(0.3, 15, (size, size)))
    upper = np.triu(values, 1)
    matrix = np.arange(size).reshape(n_items, n_raters)
    ratings = matrix_ratings(np.where(rng.random(matrix.shape) < missing, -1, matrix))
    if weights:
        ratings = replace(ratings, weights=rng.choice([0.5, 1.0, 3.0], n_items))
    return ratings, MatrixEquivalence(upper + upper.T + np.eye(size))


def runs(ratings, equivalence, count, target_se=0.02, marginals="answers"):
    """The chance of all pairs, and of samples with different seeds."""
    scores = scored(ratings, equivalence)
    drawings = [Drawing(seed, 500, target_se=target_se) for seed in range(count)]
    samples = [sample(ratings, equivalence.score, scores, drawing, marginals=marginals) for drawing in drawings]
    return exact(ratings, equivalence, scores, marginals=marginals), samples


@SETTINGS
@given(tables(categories=10, weights=True), st.sampled_from(["answers", "gwet2014"]))
def test_all_pairs_give_the_definition(table, marginals):
    ratings, equivalence = table
    assume(marginals == "answers" or ratings.weights is None)
    scores = scored(ratings, equivalence)
    chance = sample(ratings, equivalence.score, scores, Drawing(1, target_se=1e-9), marginals=marginals)
    truth = Direct(ratings, equivalence.matrix, marginals)
    for name in ("cohen", "pooled", "similarity"):
        assert getattr(chance, name) == pytest.approx(getattr(truth, name), abs=1e-10), name
    assert (chance.method, chance.distinct) == ("sample", len(truth.used))
    assert chance.standard_error == 0
    assert chance.pairs_scored <= len(truth.used) * (len(truth.used) - 1) // 2
    if marginals == "answers":
        if ratings.weights is None:
            assert chance.pooled_without == pytest.approx(truth.pooled_without, abs=1e-10, nan_ok=True)
        for step in (GRID // 3, int(on_grid(equivalence.matrix[0, 1])), GRID) if chance.distribution else ():
            assert chance.distribution.tail[step] == pytest.approx(truth.tail(step), abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_raters": 3, "n_items": 130, "missing": 0.2}, {"weights": True}],
    ids=["two raters", "missing answers", "weights"],
)
def test_values_have_no_bias_and_the_stated_errors(options):
    truth, samples = runs(*free_text(**options), 80)
    for name, error in (("cohen", ""), ("pooled", "pooled_error"), ("similarity", "")):
        off = np.array([np.mean(getattr(chance, name) - getattr(truth, name)) for chance in samples])
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(samples)), name
        if error:
            stated = np.mean([getattr(chance, error) for chance in samples])
            assert 0.8 * off.std() < stated < 1.5 * off.std(), name
    slopes = np.ones(len(truth.cohen)) / len(truth.cohen)
    off = np.array([slopes @ (chance.cohen - truth.cohen) for chance in samples])
    stated = np.mean([chance.cohen_sum_error(slopes) for chance in samples])
    assert 0.8 * off.std() < stated < 1.5 * off.std()
    step = int(np.flatnonzero(truth.distribution.tail >= 0.1)[-1])
    shares = np.array([chance.distribution.tail[step] for chance in samples])
    assert shares.mean() == pytest.approx(truth.distribution.tail[step], abs=4 * shares.std() / np.sqrt(len(samples)))


def test_chance_of_gwets_marginals_has_no_bias():
    truth, samples = runs(*free_text(n_raters=3, n_items=120, missing=0.4), 60, marginals="gwet2014")
    off = np.array([chance.pooled - truth.pooled for chance in samples])
    assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(samples))
    assert all(chance.pooled_without is None for chance in samples)


@pytest.mark.parametrize("target_se", [0.01, 0.003])
def test_sample_grows_to_its_target_and_no_further(target_se):
    ratings, equivalence = free_text(400)
    _, (chance,) = runs(ratings, equivalence, 1, target_se=target_se)
    assert chance.standard_error <= target_se
    assert chance.pairs_scored < 0.5 * 800 * 799 / 2


def test_chance_without_each_rater_is_that_of_the_others():
    ratings, equivalence = free_text(100, 4, missing=0.2)
    truth, samples = runs(ratings, equivalence, 20)
    off = np.array([chance.pooled_without - truth.pooled_without for chance in samples])
    assert (np.abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(len(samples))).all()


def test_rare_rater_pairs_take_the_mean_of_all():
    rng = np.random.default_rng(2)
    matrix = np.where(rng.random((60, 30)) < 0.2, rng.integers(0, 200, (60, 30)), -1)
    ratings, equivalence = matrix_ratings(matrix), MatrixEquivalence(similarity(200, 4))
    truth, (chance,) = runs(ratings, equivalence, 1)
    assert len(chance.cohen) > 400
    assert chance.cohen.mean() == pytest.approx(truth.cohen.mean(), abs=4 * chance.standard_error)
    assert np.isfinite(chance.cohen).all() and (chance.cohen_error > 0).any()


def test_same_seed_gives_the_same_values():
    ratings, equivalence = free_text()
    scores = scored(ratings, equivalence)
    first, second = (sample(ratings, equivalence.score, scores, Drawing(3, target_se=0.01)) for _ in range(2))
    assert first.pooled == second.pooled and np.array_equal(first.cohen, second.cohen)


def test_one_item_has_no_pairs_to_draw():
    ratings, equivalence = matrix_ratings(np.arange(45)[None]), MatrixEquivalence(similarity(45, 0))
    truth, (chance,) = runs(ratings, equivalence, 1)
    assert chance.cohen == pytest.approx(truth.cohen, abs=1e-12)
    assert chance.pooled == pytest.approx(truth.pooled, abs=1e-12)
    assert chance.standard_error == 0 and chance.distribution is None
