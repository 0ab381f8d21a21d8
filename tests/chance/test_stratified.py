"""Stratified chance: exact when everything is drawn, honest when it is not, cheaper where the sorting helps, no dearer where it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import softirr
from softirr.chance import stratified as module
from softirr.chance.cheap_measure import sorting_equivalence
from softirr.chance.equivalence import MatrixEquivalence
from softirr.chance.exact import exact
from softirr.chance.strata import POPULATION, PairPopulation
from softirr.chance.stratified import sampled, stratified
from softirr.chance.stratified_sample import StratifiedSample
from softirr.coefficients.matrix import matrix_agreement
from softirr.errors import InputError
from softirr.tables.ratings import Ratings

SETTINGS = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def similarity(size, seed):
    upper = np.triu(np.random.default_rng(seed).random((size, size)), 1)
    return upper + upper.T + np.eye(size)


@st.composite
def tables(draw):
    shape = (draw(st.integers(2, 8)), draw(st.integers(2, 4)))
    ratings = Ratings.from_matrix(draw(hnp.arrays(np.int64, shape, elements=st.integers(-1, 9))))
    assume(len(ratings.comparable_items))
    seed = draw(st.integers(0, 2**32 - 1))
    return ratings, MatrixEquivalence(similarity(10, seed)), MatrixEquivalence(similarity(10, seed + 1))


def scored(ratings, equivalence):
    comparisons = ratings.comparisons
    return equivalence.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])


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
    pairs = PairPopulation.draw(ratings, "answers", sorting, strata=12, population=POPULATION, rng=rng)
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
    @given(tables(), st.booleans())
    def test_equals_exact(self, table, plain):
        ratings, wanted, sorting = table
        scores = scored(ratings, wanted)
        chance = stratified(ratings, wanted.score, scores, None if plain else sorting, target_se=1e-9)
        truth = exact(ratings, wanted, scores)
        assert chance.method == "stratified"
        assert chance.cohen == pytest.approx(truth.cohen, abs=1e-10)
        assert chance.pooled == pytest.approx(truth.pooled, abs=1e-10)
        assert chance.pooled_without == pytest.approx(truth.pooled_without, abs=1e-10, nan_ok=True)
        assert chance.similarity == pytest.approx(truth.similarity, abs=1e-10)
        assert chance.standard_error == pytest.approx(0, abs=1e-9)
        assert chance.pairs_scored <= truth.pairs_scored

    @SETTINGS
    @given(tables())
    def test_all_coefficients_equal_those_of_exact(self, table):
        ratings, wanted, sorting = table
        matrix = np.full((ratings.n_items, ratings.n_raters), -1)
        matrix[ratings.item, ratings.rater] = ratings.answer
        one = matrix_agreement(matrix, wanted.matrix).summary.coefficients
        other = matrix_agreement(
            matrix, wanted.matrix, chance="stratified", cheap=sorting.matrix, target_se=1e-9
        ).summary.coefficients
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

    def test_means_at_each_answer_where_all_different_answers_are_alike(self):
        rng = np.random.default_rng(1)
        ratings = Ratings.from_matrix(rng.integers(-1, 10, (12, 3)))
        wanted = MatrixEquivalence(np.where(np.eye(10, dtype=bool), 1.0, 0.3))
        scores = scored(ratings, wanted)
        result = stratified(ratings, wanted.score, scores, None, target_se=1e-9)
        truth = exact(ratings, wanted, scores)
        for name in ("pooled_at", "cohen_left", "cohen_right"):
            assert getattr(result, name) == pytest.approx(getattr(truth, name), abs=1e-12), name


class TestHonest:
    """Fixed seeds; the long run of 200 is in softirr/lab/bench/results/coverage.md."""

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

    def test_the_error_of_a_population_that_is_all_asked(self, project):
        """It is that of a random sample of as many pairs."""
        ratings, wanted = project
        equivalence, size = MatrixEquivalence(wanted), 4_000
        scores = scored(ratings, equivalence)
        result = stratified(ratings, equivalence.score, scores, None, target_se=1e-9, population=size)
        i, j = np.triu_indices(len(wanted), 1)
        apart = wanted[i, j][i // 2 != j // 2]
        assert result.pooled_error == pytest.approx(apart.std() / np.sqrt(size), rel=0.15)

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

    def test_without_a_rater_from_the_same_sample(self):
        """Chance without each rater is as good as the pooled one, and asks for no more pairs."""
        rng = np.random.default_rng(3)
        size = 240
        _, wanted = free_text(size // 2)
        matrix = np.where(rng.random((80, 3)) < 0.8, np.arange(size).reshape(80, 3), -1)
        ratings, equivalence = Ratings.from_matrix(matrix), MatrixEquivalence(wanted)
        scores = scored(ratings, equivalence)
        truth = exact(ratings, equivalence, scores)
        off = []
        for seed in range(30):
            sorting = MatrixEquivalence(blurred(wanted, 0.6, np.random.default_rng(1)))
            chance = stratified(ratings, equivalence.score, scores, sorting, target_se=0.005, seed=seed)
            assert chance.pairs_scored < truth.pairs_scored / 2
            off.append(chance.pooled_without - truth.pooled_without)
        off = np.array(off)
        assert np.all(np.abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(len(off)))
        assert np.sqrt(np.mean(off**2, axis=0)).max() < 0.01

    def test_pairs_are_scored_once(self, project):
        ratings, wanted = project
        asked: list[tuple[int, int]] = []

        def score(k, l):  # noqa: E741
            asked.extend(zip(np.minimum(k, l).tolist(), np.maximum(k, l).tolist(), strict=True))
            return wanted[k, l]

        equivalence = MatrixEquivalence(wanted)
        chance = stratified(ratings, score, scored(ratings, equivalence), equivalence, target_se=0.005)
        assert len(asked) == len(set(asked)) == chance.pairs_scored

    @pytest.mark.parametrize("population", [POPULATION, 2_000])
    def test_the_error_of_each_of_many_rater_pairs_that_share_strata(self, population, monkeypatch):
        """Around the means of the strata: the sum over its pairs not drawn of their variance times weight squared."""
        drawn = []
        monkeypatch.setattr(module, "StratifiedSample", lambda *of: drawn.append(StratifiedSample(*of)) or drawn[0])
        rng = np.random.default_rng(2)
        matrix = np.where(rng.random((60, 8)) < np.linspace(0.15, 0.8, 8), rng.integers(0, 200, (60, 8)), -1)
        ratings, equivalence = Ratings.from_matrix(matrix), MatrixEquivalence(similarity(200, 4))
        scores = scored(ratings, equivalence)
        result = stratified(ratings, equivalence.score, scores, equivalence, target_se=0.01, population=population)
        (sample,) = drawn
        pairs, share = sample.pairs, 1 - sample.drawn / sample.sizes
        variance = np.append(share * sample.variances(), 0)[pairs.stratum]
        alone = np.bincount(pairs.cell, pairs.cohen_weights**2 * variance)[:-1]
        assert result.cohen_error**2 - np.sum(result.cohen_loadings**2, axis=1) == pytest.approx(alone, rel=1e-9)

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


class TestPopulation:
    def test_pairs_of_the_same_answer_need_no_sampling(self):
        ratings = Ratings.from_matrix([[0, 1], [0, 2], [3, 1]])
        equivalence = MatrixEquivalence(similarity(4, 0))
        pairs = PairPopulation.draw(
            ratings, "answers", equivalence, strata=12, population=1_000, rng=np.random.default_rng(0)
        )
        same = ratings.answer[pairs.first] == ratings.answer[pairs.second]
        assert np.array_equal(pairs.stratum < 0, same)
        assert (ratings.item[pairs.first] != ratings.item[pairs.second]).all()

    def test_levels_rise_with_the_cheap_equivalence(self):
        ratings, wanted = free_text(100)
        sorting = MatrixEquivalence(wanted)
        pairs = PairPopulation.draw(
            ratings, "answers", sorting, strata=12, population=1_000_000, rng=np.random.default_rng(0)
        )
        value = sorting.score(ratings.answer[pairs.first], ratings.answer[pairs.second])
        level = pairs.level[pairs.stratum]
        tops = [value[level == one].max() for one in range(pairs.n_levels)]
        bottoms = [value[level == one].min() for one in range(pairs.n_levels)]
        assert pairs.n_levels > 5
        assert all(top < bottom for top, bottom in zip(tops[:-1], bottoms[1:], strict=True))

    def population(self, matrix, sorting, strata=12, population=10**6):
        rng = np.random.default_rng(0)
        return PairPopulation.draw(
            Ratings.from_matrix(matrix), "answers", sorting, strata=strata, population=population, rng=rng
        )

    def test_a_random_sample_of_the_pairs_stands_for_all_pairs_of_each_two_raters(self):
        rng = np.random.default_rng(2)
        matrix = np.where(rng.random((60, 8)) < np.linspace(0.15, 0.8, 8), rng.integers(0, 200, (60, 8)), -1)
        every, pairs = self.population(matrix, None), self.population(matrix, None, population=2_000)
        numbers = np.bincount(pairs.cell)
        assert every.complete and set(every.weight) == {1.0} and not pairs.complete and 1 in numbers
        sums = np.bincount(pairs.cell, pairs.weight)
        assert sums[numbers > 0] == pytest.approx(np.bincount(every.cell)[numbers > 0], rel=1e-12)

    def test_levels_are_quarters_and_the_top_quarter_is_halved_repeatedly(self):
        size = 60
        pairs = self.population(np.arange(size).reshape(-1, 2), MatrixEquivalence(similarity(size, 1)))
        result = np.bincount(pairs.level[pairs.stratum]) / len(pairs.first)
        halves = [1 / 2**k for k in (3, 4, 5)]  # a half of less than 40 of 1740 pairs is no level
        assert result == pytest.approx([0.25, 0.25, 0.25, *halves, halves[-1]], abs=0.002)

    @pytest.mark.parametrize(("raters", "strata"), [(2, 1), (5, 10), (6, 1)])
    def test_up_to_ten_rater_pairs_have_strata_of_their_own(self, raters, strata):
        """With complete answers: the pairs that two raters share, and, in their own stratum, all other pairs."""
        pairs = self.population(np.arange(raters * 20).reshape(20, raters), None)
        assert pairs.n_strata == strata + 1


class TestSorting:
    def table(self):
        answers = [softirr.Answer(str(i), r, (f"{r} fever {i}",)) for i in range(3) for r in "ab"]
        return softirr.AnnotationTable.from_answers(answers)

    def test_the_mean_of_two_measures(self):
        table = self.table()
        k, l = np.array([0, 1]), np.array([2, 3])  # noqa: E741
        both = sorting_equivalence(table, "indel+jaccard")
        alone = [sorting_equivalence(table, name).score(k, l) for name in ("indel", "jaccard")]
        assert both.score(k, l) == pytest.approx(np.mean(alone, axis=0), abs=1e-12)
        assert both.block(k, l)[0, 0] == pytest.approx(both.score(k[:1], l[:1])[0], abs=1e-6)

    def test_a_slow_measure_cannot_sort(self):
        class Slow:
            name = "slow"

            def score(self, pairs):
                return np.zeros(len(pairs))

            def provenance(self):
                return None

        with pytest.raises(InputError, match="too slow"):
            sorting_equivalence(self.table(), Slow())
