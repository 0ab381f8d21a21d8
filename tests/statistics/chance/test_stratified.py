"""Stratified chance: exact when everything is drawn, honest when it is not, cheaper where the sorting helps, no dearer where it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softirr.answers.ratings import Ratings
from softirr.statistics.chance import stratified as module
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, on_grid
from softirr.statistics.chance.strata import POPULATION, PairPopulation
from softirr.statistics.chance.stratified import sampled, stratified
from softirr.statistics.chance.stratified_sample import StratifiedSample
from softirr.statistics.coefficients.matrix import matrix_agreement
from tests.statistics.chance.direct import Direct, Drawn, scored, similarity, tables

SETTINGS = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def free_text(n_items=400, seed=0):
    """Distinct texts: names of concepts, equivalent to a high degree within a concept and hardly between, and a sorting that half knows."""
    rng = np.random.default_rng(seed)
    size = 2 * n_items
    concept = rng.integers(0, 60, size)
    same = concept[:, None] == concept[None, :]
    values = np.where(same, rng.beta(6, 1.5, (size, size)), rng.beta(0.3, 15, (size, size)))
    upper = np.triu(values, 1)
    wanted = upper + upper.T + np.eye(size)
    return Ratings.from_matrix(np.arange(size).reshape(n_items, 2)), wanted


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one table with different seeds: pairs scored, shape (seeds,).

    Errors and stated standard errors are of Cohen's expected agreement and the pooled one, shape (seeds, 2)."""

    pairs: np.ndarray
    errors: np.ndarray
    stated: np.ndarray

    @property
    def held(self):
        """Share of the 95% intervals that hold the exact value, shape (2,)."""
        return np.mean(np.abs(self.errors) <= 1.959964 * self.stated, axis=0)

    @property
    def cost(self):
        """Pairs times the mean estimated variance of Cohen's expected agreement."""
        return np.mean(self.pairs) * np.mean(self.stated[:, 0] ** 2)


def samples(ratings, wanted, sorting, *, target_se, seeds):
    """Sample the chance agreement of one table many times; without ``sorting`` by plain random sampling."""
    scores = scored(ratings, wanted)
    truth = exact(ratings, wanted, scores)
    rng = np.random.default_rng(0)
    pairs = PairPopulation.draw(ratings, "answers", sorting, population=POPULATION, rng=rng)
    runs = [
        sampled(pairs, wanted.score, scores, target_se=target_se, rng=np.random.default_rng([0, n]))
        for n in range(seeds)
    ]
    return Samples(
        pairs=np.array([run.pairs_scored for run in runs], dtype=float),
        errors=np.array([(run.cohen[0] - truth.cohen[0], run.pooled - truth.pooled) for run in runs]),
        stated=np.array([(run.cohen_error[0], run.pooled_error) for run in runs]),
    )


def blurred(similarity, share, rng):
    """A symmetric mixture of a similarity with noise, with ones on its diagonal."""
    noise = np.triu(rng.random(similarity.shape), 1)
    mixed = share * similarity + (1 - share) * (noise + noise.T)
    np.fill_diagonal(mixed, 1.0)
    return mixed


class TestEverythingDrawn:
    """Small tables are drawn to the last pair, also those that would be computed exactly because they are small."""

    @pytest.fixture(autouse=True)
    def sample_small_tables(self, monkeypatch):
        monkeypatch.setattr(module, "_PILOT", 0)

    @SETTINGS
    @given(tables(categories=10), st.sampled_from(["answers", "gwet2014"]), st.booleans(), st.integers(0, 9))
    def test_equals_exact(self, table, marginals, plain, seed):
        ratings, wanted = table
        cheap = None if plain else MatrixEquivalence(similarity(10, seed))
        options = {"target_se": 1e-9, "marginals": marginals}
        chance = stratified(ratings, wanted.score, scored(ratings, wanted), cheap, **options)
        truth = Direct(ratings, wanted.matrix, marginals)
        assert chance.method == "stratified" and chance.distinct == len(truth.used)
        for name in ("cohen", "pooled", "similarity"):
            assert getattr(chance, name) == pytest.approx(getattr(truth, name), abs=1e-10), name
        if marginals == "answers":
            assert chance.pooled_without == pytest.approx(truth.pooled_without, abs=1e-10, nan_ok=True)
            assert np.mean(chance.pooled_at) == pytest.approx(truth.pooled, abs=1e-10)
            for step in (GRID // 3, int(on_grid(wanted.matrix[0, 1])), GRID) if chance.distribution else ():
                assert chance.distribution.tail[step] == pytest.approx(truth.tail(step), abs=1e-12)
        for at in (chance.cohen_left, chance.cohen_right):
            pair = ratings.comparisons.rater_pair
            assert np.bincount(pair, at) / np.bincount(pair) == pytest.approx(truth.cohen, abs=1e-10)
        assert chance.standard_error == pytest.approx(0, abs=1e-9) == chance.similarity_error
        assert chance.pairs_scored <= len(truth.used) * (len(truth.used) - 1) // 2

    @SETTINGS
    @given(tables(categories=10))
    def test_all_coefficients_equal_those_of_exact(self, table):
        ratings, wanted = table
        matrix = np.full((ratings.n_items, ratings.n_raters), -1)
        matrix[ratings.item, ratings.rater] = ratings.answer
        options = {"chance": "stratified", "cheap": similarity(10, 1), "target_se": 1e-9}
        one, other = (matrix_agreement(matrix, wanted.matrix, **own).summary.coefficients for own in ({}, options))
        for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac2", "sigma", "ks"):
            a, b = one[name].value, other[name].value
            assert a is b is None or a == pytest.approx(b, abs=1e-9), name

    @pytest.mark.parametrize("population", [POPULATION, 100])
    def test_one_item_of_many_raters_has_no_pairs_to_draw(self, population):
        ratings, wanted = Ratings.from_matrix(np.arange(45)[None]), MatrixEquivalence(similarity(45, 0))
        scores = scored(ratings, wanted)
        result = stratified(ratings, wanted.score, scores, wanted, target_se=0.01, population=population)
        truth = exact(ratings, wanted, scores)
        assert result.cohen == pytest.approx(truth.cohen, abs=1e-12)
        assert result.pooled == pytest.approx(truth.pooled, abs=1e-12)
        assert result.standard_error == 0 and result.distribution is None


class TestPartlyDrawn:
    """All values are those of loops over the drawn pairs."""

    @pytest.mark.parametrize("population", [POPULATION, 60])
    @pytest.mark.parametrize("raters", [2, 3, 6])
    @pytest.mark.parametrize("marginals", ["answers", "gwet2014"])
    def test_is_computed_from_its_draws(self, population, raters, marginals, monkeypatch):
        drawn = []
        monkeypatch.setattr(module, "StratifiedSample", lambda *of: drawn.append(StratifiedSample(*of)) or drawn[-1])
        monkeypatch.setattr(module, "_PILOT", 30)
        rng = np.random.default_rng(raters)
        for size, missing in ((90, 0.1), (12, 0.4)):
            matrix = np.where(
                rng.random((24 // raters, raters)) < missing, -1, rng.integers(0, size, (24 // raters, raters))
            )
            ratings, wanted = Ratings.from_matrix(matrix), MatrixEquivalence(similarity(size, raters))
            scores, cheap = scored(ratings, wanted), MatrixEquivalence(blurred(wanted.matrix, 0.5, rng))
            options = {"target_se": 0.03, "marginals": marginals, "population": population}
            chance = stratified(ratings, wanted.score, scores, cheap, **options)
            if not drawn:
                assert size == 12
                continue
            sample = drawn.pop()
            assert (sample.drawn < sample.sizes).any() or population == 60
            truth = Drawn(sample, scores)
            for name in ("cohen", "cohen_error", "cohen_loadings", "pooled", "pooled_error", "pooled_at"):
                assert getattr(chance, name) == pytest.approx(getattr(truth, name), abs=1e-10), name
            assert (chance.similarity, chance.similarity_error) == pytest.approx(truth.similarity, abs=1e-10)
            comparisons = ratings.comparisons
            assert chance.cohen_left == pytest.approx(truth.at_comparisons(comparisons.left), abs=1e-10)
            assert chance.cohen_right == pytest.approx(truth.at_comparisons(comparisons.right), abs=1e-10)
            if marginals == "answers":
                assert chance.pooled_without == pytest.approx(truth.pooled_without, abs=1e-10, nan_ok=True)
            else:
                assert chance.pooled_without is None
            for step in (1, GRID // 3, GRID):
                share, effective = truth.tail(step)
                assert chance.distribution.tail[step] == pytest.approx(share, abs=1e-12)
                assert chance.distribution.sample == pytest.approx(effective)
            answer = ratings.answer[np.stack([sample.pairs.first, sample.pairs.second])[:, sample.members]]
            assert chance.pairs_scored == len({frozenset(pair) for pair in answer.T.tolist()})
            assert not chance.cohen_noise.any() and chance.pooled_noise == 0
            error = np.sqrt(np.sum(chance.cohen_loadings[:, :-1].mean(axis=0) ** 2))
            if sample.pairs.complete:
                assert max(error, chance.pooled_error) <= 0.03 or (sample.drawn == sample.sizes).all()


class TestHonest:
    """Fixed seeds; the long run of 200 is in lab/bench/results/coverage.md."""

    @pytest.fixture
    def project(self):
        return free_text()

    def test_reaches_its_target_and_holds_exact(self, project):
        ratings, wanted = project
        sorting = MatrixEquivalence(blurred(wanted, 0.6, np.random.default_rng(1)))
        estimates = samples(ratings, MatrixEquivalence(wanted), sorting, target_se=0.003, seeds=60)
        assert estimates.stated.max() <= 0.003 + 1e-12
        # of 60 intervals at 95% fewer than 53 hold exact once in 200 times
        assert estimates.held.min() >= 53 / 60
        # no bias beyond what 60 samples can show
        assert np.all(np.abs(estimates.errors.mean(axis=0)) < 4 * estimates.errors.std(axis=0) / np.sqrt(60))
        # the errors made are those stated, give or take
        assert np.sqrt(np.mean(estimates.errors**2, axis=0)) == pytest.approx(estimates.stated.mean(axis=0), rel=0.35)

    def test_fewer_pairs_where_the_sorting_helps(self, project):
        ratings, wanted = project
        sorting = MatrixEquivalence(blurred(wanted, 0.6, np.random.default_rng(1)))
        plain = samples(ratings, MatrixEquivalence(wanted), None, target_se=0.003, seeds=20)
        estimates = samples(ratings, MatrixEquivalence(wanted), sorting, target_se=0.003, seeds=20)
        assert plain.cost / estimates.cost >= 1.7

    @pytest.mark.slow
    def test_no_more_pairs_where_it_does_not(self, project):
        ratings, wanted = project
        noise = MatrixEquivalence(similarity(len(wanted), 9))
        plain = samples(ratings, MatrixEquivalence(wanted), None, target_se=0.003, seeds=30)
        estimates = samples(ratings, MatrixEquivalence(wanted), noise, target_se=0.003, seeds=30)
        assert estimates.cost / plain.cost <= 1.05
        assert estimates.held.min() >= 25 / 30

    def test_a_sample_of_a_sample(self, project):
        """Above ``population`` pairs of answers a random sample of them stands for all, and its error is in the standard error."""
        ratings, wanted = project
        equivalence = MatrixEquivalence(wanted)
        scores = scored(ratings, equivalence)
        truth = exact(ratings, equivalence, scores)
        runs = [
            stratified(ratings, equivalence.score, scores, equivalence, target_se=0.01, seed=s, population=20_000)
            for s in range(40)
        ]
        off = np.array([r.pooled - truth.pooled for r in runs])
        error = np.array([r.pooled_error for r in runs])
        assert np.mean(np.abs(off) <= 1.96 * error) >= 34 / 40
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(40)

    @pytest.mark.slow
    def test_the_stated_error_of_the_distribution_is_that_of_repetitions(self, project):
        ratings, wanted = project
        equivalence, sorting = (
            MatrixEquivalence(wanted),
            MatrixEquivalence(blurred(wanted, 0.6, np.random.default_rng(1))),
        )
        scores = scored(ratings, equivalence)
        runs = [
            stratified(ratings, equivalence.score, scores, sorting, target_se=0.0015, seed=seed).distribution
            for seed in range(60)
        ]
        truth = exact(ratings, equivalence, scores).distribution.tail
        step = int(np.flatnonzero(truth >= 0.1)[-1])
        shares = np.array([one.tail[step] for one in runs])
        assert shares.mean() == pytest.approx(truth[step], abs=4 * shares.std() / np.sqrt(60))
        # that strata make it smaller is not counted
        assert 0.9 * shares.std() < np.mean([one.error(0.1) for one in runs]) < 1.6 * shares.std()

    def test_few_distinct_answers_are_all_asked(self):
        ratings = Ratings.from_matrix(np.random.default_rng(0).integers(0, 5, (500, 3)))
        equivalence = MatrixEquivalence(similarity(5, 1))
        scores = scored(ratings, equivalence)
        chance = stratified(ratings, equivalence.score, scores, equivalence, target_se=0.1)
        truth = exact(ratings, equivalence, scores)
        assert chance.pairs_scored == 10
        assert np.array_equal(chance.cohen, truth.cohen)
        assert chance.standard_error == 0

    def test_same_seed_same_value(self, project):
        ratings, wanted = project
        equivalence = MatrixEquivalence(wanted)
        scores = scored(ratings, equivalence)
        first, second = (
            stratified(ratings, equivalence.score, scores, equivalence, target_se=0.01, seed=3) for _ in range(2)
        )
        assert first.pooled == second.pooled
        assert np.array_equal(first.cohen, second.cohen)

    def test_pairs_are_scored_once(self, project):
        ratings, wanted = project
        asked: list[tuple[int, int]] = []

        def score(k, l):  # noqa: E741
            asked.extend(zip(np.minimum(k, l).tolist(), np.maximum(k, l).tolist(), strict=True))
            return wanted[k, l]

        equivalence = MatrixEquivalence(wanted)
        chance = stratified(ratings, score, scored(ratings, equivalence), equivalence, target_se=0.005)
        assert len(asked) == len(set(asked)) == chance.pairs_scored

    def test_many_rater_pairs_share_strata(self):
        rng = np.random.default_rng(2)
        matrix = np.where(rng.random((60, 8)) < 0.5, rng.integers(0, 200, (60, 8)), -1)
        ratings, equivalence = Ratings.from_matrix(matrix), MatrixEquivalence(similarity(200, 4))
        scores = scored(ratings, equivalence)
        truth = exact(ratings, equivalence, scores)
        chance = stratified(ratings, equivalence.score, scores, equivalence, target_se=0.002)
        assert len(chance.cohen) == 28
        assert chance.cohen.mean() == pytest.approx(truth.cohen.mean(), abs=4 * chance.standard_error)
        assert 0.0016 < chance.standard_error <= 0.002
