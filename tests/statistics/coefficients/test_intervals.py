"""Standard errors and intervals: honest at the edges, none where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import softirr
from lab.bench.populations import Population, populations
from softirr.answers.ratings import Ratings
from softirr.defaults import FEW_ITEMS
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.estimate import Estimate, Undefined, undefined
from softirr.statistics.coefficients.intervals import Coefficient, analytic, of_mean, standard_error, wald
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.summary import summarize
from tests.statistics.chance.direct import scored


def population(name: str) -> Population:
    return next(p for p in populations() if p.name.startswith(name))


def estimates(name: str, n_items: int, seed: int = 0) -> dict[str, Estimate]:
    one = population(name)
    return matrix_agreement(one.draw(n_items, np.random.default_rng(seed)), one.similarity).summary.coefficients


class TestAnalytic:
    def test_of_a_mean_is_students(self):
        values = np.array([0.1, 0.5, 0.9, 0.3])
        estimate = Estimate(0.45, values - 0.45)
        assert standard_error(estimate) == pytest.approx(values.std(ddof=1) / 2, abs=1e-12)
        low, high = wald(0.45, 0.1, df=3)
        assert (low, high) == pytest.approx((0.45 - 3.182446 * 0.1, 0.45 + 3.182446 * 0.1), abs=1e-6)

    def test_the_error_of_sampled_chance_is_added(self):
        values = np.array([-0.2, 0.1, 0.1, 0.0])
        plain, sampled = Estimate(0.5, values), Estimate(0.5, values, chance_error=0.3)
        assert standard_error(sampled) == pytest.approx(np.hypot(standard_error(plain), 0.3), abs=1e-12)

    def test_symmetric_influences_give_students_analytic(self):
        influence = np.array([-0.4, -0.2, 0.2, 0.4])
        interval = analytic(Estimate(0.2, influence))
        assert interval.ci95 == pytest.approx(wald(0.2, interval.standard_error, df=3), abs=1e-12)

    def test_equal_influences_have_the_error_of_sampled_chance_alone(self):
        interval = analytic(Estimate(0.2, np.zeros(5), chance_error=0.1))
        assert interval.ci95 == pytest.approx(wald(0.2, 0.1, df=4), abs=1e-12)

    def test_few_disagreements_reach_further_down(self):
        influence = np.array([-0.9] + [0.1] * 9)
        interval = analytic(Estimate(0.9, influence))
        assert 0.9 - interval.ci95[0] > interval.ci95[1] - 0.9

    def test_skewness_moves_the_center_as_in_johnson_1978(self):
        """By (1 + 2 t²) / 6 times the skewness of the mean, in standard errors; 20 items without skewness are added."""
        influence = np.array([-0.5, 0.1, 0.1, 0.1, 0.1, 0.1] * 5)
        interval = analytic(Estimate(0.2, influence, shift=0.01))
        t = scipy.stats.t.ppf(0.975, 29)
        skewness = scipy.stats.skew(influence) / np.sqrt(30) * 30 / (30 + 20)
        center = 0.21 + interval.standard_error * skewness * (1 + 2 * t**2) / 6
        assert np.mean(interval.ci95) == pytest.approx(center, abs=1e-9)

    @pytest.mark.parametrize("floor", [0.0, 0.7])
    def test_of_mean_is_the_mean_within_the_range_with_the_error_of_a_mean(self, floor):
        values = np.array([0.1, 0.5, 0.9, 0.3, 0.6])
        result = of_mean(values, floor=floor)
        assert result.value == max(np.mean(values), floor)
        assert result.standard_error == pytest.approx(scipy.stats.sem(values), abs=1e-12)
        symmetric = of_mean(np.array([0.78, 0.79, 0.81, 0.82]), floor=floor)
        assert symmetric.ci95 == pytest.approx(scipy.stats.t(3, 0.8, symmetric.standard_error).interval(0.95), abs=1e-9)
        assert of_mean(values + 1, floor=floor).value == 1.0

    def test_a_coefficient_is_a_number_where_it_has_a_value(self):
        assert float(Coefficient(0.25)) == 0.25
        with pytest.raises(softirr.InputError, match="no value: only one rater"):
            float(Coefficient(None, undefined=str(Undefined.ONE_RATER)))
        with pytest.raises(softirr.InputError, match="no value: there is nothing to compare"):
            float(Coefficient(None))


class TestDrawnChance:
    @pytest.mark.parametrize("weights", [None, (0.1, 10)])
    def test_the_variance_without_the_error_of_chance_is_that_of_exact_chance(self, weights):
        """Drawn chance adds noise to the influence of each item."""
        rng = np.random.default_rng(1)
        base, own = rng.integers(0, 8, (40, 1)), rng.integers(-1, 8, (40, 3))
        ratings = Ratings.from_matrix(np.where(rng.random((40, 3)) < 0.2, base, own))
        if weights is not None:
            ratings = replace(ratings, weights=rng.permutation(np.geomspace(*weights, 40)))
        upper = np.triu(0.5 + 0.5 * rng.random((8, 8)), 1)
        equivalence = MatrixEquivalence(upper + upper.T + np.eye(8))
        scores = scored(ratings, equivalence)
        truth = summarize(ratings, scores, exact(ratings, equivalence, scores)).coefficients
        drawn = [permutation(ratings, equivalence, permutations=2, seed=seed) for seed in range(100)]
        results = [summarize(ratings, scores, chance).coefficients for chance in drawn]
        for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
            variances = [standard_error(one[name]) ** 2 - one[name].chance_error ** 2 for one in results]
            ratio = np.mean(variances) / standard_error(truth[name]) ** 2
            assert 0.85 < ratio < 1.15, (name, ratio)


class TestEdges:
    def test_no_value_no_analytic(self):
        interval = analytic(undefined(Undefined.ONE_RATER))
        assert (interval.value, interval.standard_error, interval.ci95) == (None, None, None)
        assert interval.undefined == "only one rater"

    def test_no_disagreement_is_not_certainty(self):
        """20 of 20 items agree: the rule of three's exact form, 1 - 0.05^(1/20) = 0.139."""
        matrix = np.repeat(np.arange(20)[:, None], 2, axis=1)
        coefficients = matrix_agreement(matrix).summary.coefficients
        observed = analytic(coefficients["observed_agreement"])
        assert observed.ci95 == pytest.approx((0.05 ** (1 / 20), 1.0), abs=1e-9)
        kappa = analytic(coefficients["cohen_kappa"])
        assert kappa.value == pytest.approx(1.0, abs=1e-12)
        assert kappa.ci95[0] == pytest.approx(1 - (1 - 0.05 ** (1 / 20)) / 0.95, abs=1e-9)

    @pytest.mark.parametrize("influence", [0.0, 1e-3])
    def test_a_value_of_1_has_the_interval_of_no_disagreement_also_where_influences_vary(self, influence):
        interval = analytic(Estimate(1.0, influence * np.array([-1, 1] * 10), expected=0.2, floor=-1.0))
        assert interval.ci95 == pytest.approx((1 - (1 - 0.05 ** (1 / 20)) / 0.8, 1.0), abs=1e-12)

    def test_items_that_all_add_the_same_are_not_certainty(self):
        """No item of 20 agrees, then all 20 agree and sigma is below 1: a share of 0.139 of the items may be others."""
        unseen = 1 - 0.05 ** (1 / 20)
        coefficients = matrix_agreement(np.arange(40).reshape(20, 2)).summary.coefficients
        assert analytic(coefficients["observed_agreement"]).ci95 == pytest.approx((0.0, unseen), abs=1e-9)
        coefficients = matrix_agreement(np.repeat(np.arange(20)[:, None] % 5, 2, axis=1)).summary.coefficients
        sigma = analytic(coefficients["sigma"])
        assert 0 < sigma.value < 1
        assert sigma.ci95[0] <= sigma.value - unseen and sigma.ci95[1] >= sigma.value + unseen

    @pytest.mark.slow
    def test_the_interval_holds_the_value_and_stays_in_range(self):
        for seed in range(20):
            for name, estimate in estimates("2 categories", 12, seed).items():
                interval = analytic(estimate)
                if interval.ci95 is None:
                    continue
                low, high = interval.ci95
                assert low <= interval.value <= high <= 1
                if name in ("observed_agreement", "sigma", "ks"):
                    assert low >= 0

    def test_two_items(self):
        interval = analytic(matrix_agreement([[0, 1], [1, 1]]).summary.coefficients["krippendorff_alpha"])
        assert interval.ci95[0] <= interval.value <= interval.ci95[1]


class TestEveryNumberHasOne:
    def test_project_raters_and_rater_pairs(self):
        rng = np.random.default_rng(1)
        answers = [
            softirr.Answer(str(i), r, (f"{rng.choice(['fever', 'cough', 'pain'])} {rng.integers(3)}",))
            for i in range(FEW_ITEMS)
            for r in "abc"
            if rng.random() < 0.9
        ]
        table = softirr.AnnotationTable.from_answers(answers)
        report = softirr.agreement(table, "indel")
        for name, coefficient in report.coefficients.items():
            if name != "scott_pi":
                assert coefficient.items_only.ci95 is not None, name
                assert coefficient.ci95 is not None, name
        for rater in report.raters:
            assert rater.agreement.ci95 is not None
            assert rater.cohen_kappa.ci95 is not None
            assert rater.sigma.ci95 is not None and rater.sigma.items_only.ci95 is not None
        for pair in report.rater_pairs:
            assert pair.observed_agreement.ci95 is not None
            assert pair.cohen_kappa.ci95 is not None
            assert pair.sigma.ci95 is not None and pair.sigma.items_only.ci95 is not None

    def test_rater_pair_of_two_is_the_project(self):
        one = population("3 categories")
        ratings = Ratings.from_matrix(one.draw(60, np.random.default_rng(0)))
        equivalence = MatrixEquivalence(one.similarity)
        scores = scored(ratings, equivalence)
        summary = summarize(ratings, scores, exact(ratings, equivalence, scores))
        whole, (_, pair, _) = summary.coefficients["cohen_kappa"], summary.rater_pairs[0]
        assert analytic(pair) == analytic(whole)


@pytest.mark.parametrize("matrix", [[[0, 0], [0, 1]], [[0, 0], [0, 1], [1, 0], [2, 1]]])
def test_the_interval_of_few_items_ends_within_the_range_of_the_coefficient(matrix):
    for name, estimate in matrix_agreement(matrix).summary.coefficients.items():
        interval = analytic(estimate)
        if interval.ci95 is not None:
            assert -1 <= interval.ci95[0] <= interval.value <= interval.ci95[1] <= 1, name
