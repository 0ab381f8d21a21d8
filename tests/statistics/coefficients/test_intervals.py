"""Standard errors and intervals: wide enough at the edges, absent for undefined values."""

from __future__ import annotations

import numpy as np
import pytest

import softirr
from softirr.answers.category_matrix import matrix_ratings
from softirr.defaults import FEW_ITEMS
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.coefficients.definition import Estimate, Undefined, undefined
from softirr.statistics.coefficients.intervals import Coefficient, coefficient_of_draws, student_quantile
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import ByMeasure
from tests.statistics.chance.direct import scored
from tests.statistics.coefficients.populations import Population, populations


def population(name: str) -> Population:
    return next(p for p in populations() if p.name.startswith(name))


def estimates(name: str, n_items: int, seed: int = 0) -> dict[str, Estimate]:
    sampled = population(name)
    return matrix_agreement(sampled.draw(n_items, np.random.default_rng(seed)), sampled.similarity).estimates


class TestOfDraws:
    def test_quantiles_of_the_draws(self):
        draws = np.linspace(0, 1, 1001)
        result = coefficient_of_draws(0.5, draws, 0.0)
        assert (result.value, result.ci95) == (0.5, pytest.approx((0.025, 0.975)))
        assert result.standard_error == pytest.approx(draws.std())

    def test_contains_the_value_and_stays_in_range(self):
        assert coefficient_of_draws(0.9, np.linspace(0.2, 0.6, 11), -1.0).ci95[1] == 0.9
        assert coefficient_of_draws(-1.3, np.linspace(-1, 0, 11), -1.0).ci95[0] == -1.3
        result = coefficient_of_draws(0.5, np.linspace(-9, 9, 101), -1.0)
        assert result.ci95 == (-1.0, 1.0) and result.standard_error <= 1

    def test_rounding_errors_of_draws_change_nothing(self):
        draws = np.concatenate([np.linspace(0, 1, 1001), np.full(200, 0.5)])
        expected = coefficient_of_draws(0.5, draws, 0.0, n_items=20).ci95
        for error in (-1e-15, 1e-15):
            assert coefficient_of_draws(0.5, draws + error, 0.0, n_items=20).ci95 == pytest.approx(expected, abs=1e-12)

    def test_few_items_widen_it_by_students_t(self):
        draws = np.linspace(0.4, 0.6, 1001)
        of_many_items, of_few_items = (
            coefficient_of_draws(0.5, draws, 0.0),
            coefficient_of_draws(0.5, draws, 0.0, n_items=5),
        )
        ratio = (of_few_items.ci95[1] - 0.5) / (of_many_items.ci95[1] - 0.5)
        assert ratio == pytest.approx(student_quantile(4) / 1.96, rel=1e-3) == pytest.approx(2.776445 / 1.96, rel=1e-3)

    def test_draws_that_differ_from_the_value_by_rounding_are_tied_with_it(self):
        draws = np.concatenate([np.full(300, 0.5), np.linspace(0.2, 0.9, 100)])
        intervals = [coefficient_of_draws(0.5, draws + off, 0.0, n_items=9).ci95 for off in (-1e-15, 0.0, 1e-15)]
        assert intervals == [pytest.approx(intervals[1])] * 3

    def test_a_coefficient_is_a_number_where_it_has_a_value(self):
        assert float(Coefficient(0.25)) == 0.25
        with pytest.raises(softirr.InputError, match="no value: only one rater"):
            float(Coefficient(None, undefined=str(Undefined.ONE_RATER)))
        with pytest.raises(softirr.InputError, match="no value: there is nothing to compare"):
            float(Coefficient(None))

    def test_few_disagreements_reach_further_down(self):
        matrix = np.repeat(np.arange(20)[:, None] % 4, 2, axis=1)
        matrix[0, 1] = 3
        observed = matrix_agreement(matrix).coefficients["observed_agreement"]
        assert observed.value - observed.ci95[0] > observed.ci95[1] - observed.value


class TestEdges:
    def test_no_value_has_no_interval(self):
        interval = undefined(Undefined.ONE_RATER).coefficient
        assert (interval.value, interval.standard_error, interval.ci95) == (None, None, None)
        assert interval.undefined == "only one rater"

    def test_no_disagreement_is_not_certainty(self):
        """20 of 20 items agree: the rule of three's exact form, 1 - 0.05^(1/20) = 0.139."""
        matrix = np.repeat(np.arange(20)[:, None], 2, axis=1)
        coefficients = matrix_agreement(matrix).estimates
        observed = coefficients["observed_agreement"].coefficient
        assert observed.ci95 == pytest.approx((0.05 ** (1 / 20), 1.0), abs=1e-9)
        kappa = coefficients["cohen_kappa"].coefficient
        assert kappa.value == pytest.approx(1.0, abs=1e-12)
        assert kappa.ci95[0] == pytest.approx(1 - (1 - 0.05 ** (1 / 20)) / 0.95, abs=1e-9)

    def test_a_value_of_1_has_the_interval_of_no_disagreement(self):
        items, draws = np.arange(20), np.linspace(0.999, 1, 11)
        interval = Estimate(1.0, None, 0.2, items, lambda: draws).coefficient
        assert interval.ci95 == pytest.approx((1 - (1 - 0.05 ** (1 / 20)) / 0.8, 1.0), abs=1e-12)

    def test_items_that_all_add_the_same_are_not_certainty(self):
        """No item of 20 agrees, then all 20 agree and sigma is below 1: a share of 0.139 of the items may be others."""
        possible_share = 1 - 0.05 ** (1 / 20)
        coefficients = matrix_agreement(np.arange(40).reshape(20, 2)).estimates
        assert coefficients["observed_agreement"].coefficient.ci95 == pytest.approx((0.0, possible_share), abs=1e-9)
        coefficients = matrix_agreement(np.repeat(np.arange(20)[:, None] % 5, 2, axis=1)).estimates
        sigma = coefficients["sigma"].coefficient
        assert 0 < sigma.value < 1
        assert sigma.ci95[0] <= sigma.value - possible_share and sigma.ci95[1] >= sigma.value + possible_share

    @pytest.mark.slow
    def test_interval_includes_the_value_and_stays_in_range(self):
        for seed in range(20):
            for name, estimate in estimates("2 categories", 12, seed).items():
                interval = estimate.coefficient
                if interval.ci95 is None:
                    continue
                low, high = interval.ci95
                assert low <= interval.value <= high <= 1
                if name in ("observed_agreement", "sigma", "ks"):
                    assert low >= 0


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
        sampled = population("3 categories")
        ratings = matrix_ratings(sampled.draw(60, np.random.default_rng(0)))
        equivalence = MatrixEquivalence(sampled.similarity)
        scores = scored(ratings, equivalence)
        by_measure = ByMeasure(ratings, scores, exact(ratings, equivalence, scores))
        kappa, (_, pair, _) = by_measure.estimates["cohen_kappa"], by_measure.rater_pairs[0]
        assert pair.coefficient.value == pytest.approx(kappa.value, abs=1e-12)
        assert pair.coefficient.ci95 == pytest.approx(kappa.coefficient.ci95, abs=1e-9)


@pytest.mark.parametrize("matrix", [[[0, 0], [0, 1]], [[0, 0], [0, 1], [1, 0], [2, 1]]])
def test_the_interval_of_few_items_ends_within_the_range_of_the_coefficient(matrix):
    for name, estimate in matrix_agreement(matrix).estimates.items():
        interval = estimate.coefficient
        if interval.ci95 is not None:
            assert -1 <= interval.ci95[0] <= interval.value <= interval.ci95[1] <= 1, name
