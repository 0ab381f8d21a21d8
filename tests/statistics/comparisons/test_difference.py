"""The difference of two coefficients against published values, a bootstrap and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.comparisons.difference import (
    at_levels,
    difference,
    holm,
    holm_levels,
    p_value,
)
from softirr.statistics.draws import Draws
from softirr.statistics.weights_and_scores import N_DRAWS, ItemWeights

# Gwet (2016), table of two rounds of the same 15 subjects by four raters.
ROUND_1 = "1111 1123 1123 2223 1211 2111 2222 2322 3333 1111 1123 3333 3233 1211 2111"
ROUND_2 = "1111 3332 3333 1121 1111 1111 2222 2211 3333 1113 2222 3333 3333 1211 3333"


def _matrix(rows: str) -> np.ndarray:
    return np.array([[int(mark) - 1 for mark in row] for row in rows.split()])


def _sample(matrix: np.ndarray, name: str = "fleiss_kappa", start: int = 0) -> Sample:
    result = matrix_agreement(matrix)
    estimate = result.estimates[name]
    n_items = result.ratings.n_items
    weights = ItemWeights(start + np.arange(n_items), len(result.ratings.comparable_items), 4_000)
    draws = Draws.of_items(result.ratings, result.scores, result.chance, weights)
    items = tuple(str(start + i) for i in estimate.items.tolist())
    return Sample(estimate.coefficient, draws.over(definition(name).over_draws), items)


def _kappas(weights: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cohen's kappa of two binary ratings in each resampled table."""
    n = weights.sum(axis=1)
    observed, first, second = weights @ (a == b) / n, weights @ a / n, weights @ b / n
    expected = first * second + (1 - first) * (1 - second)
    return np.asarray((observed - expected) / (1 - expected))


def _fleiss(weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Fleiss' kappa of complete ratings by three categories in each resampled table."""
    counts, k = np.stack([(matrix == mark).sum(axis=1) for mark in range(3)], axis=1), matrix.shape[1]
    n = weights.sum(axis=1)
    observed = weights @ ((counts**2).sum(axis=1) - k) / (n * k * (k - 1))
    expected = ((weights @ counts / (n * k)[:, None]) ** 2).sum(axis=1)
    return np.asarray((observed - expected) / (1 - expected))


class TestPublished:
    @pytest.mark.parametrize(
        ("name", "first", "second", "error"),
        [
            ("fleiss_kappa", 0.3856655, 0.7248495, 0.1574322),
            ("krippendorff_alpha", 0.3959044, 0.7294354, 0.1548083),
            ("gwet_ac2", 0.4069193, 0.737382, 0.1452689),
            ("observed_agreement", 0.6, 0.8222222, 0.09848947),
        ],
    )
    def test_gwet_2016(self, name: str, first: float, second: float, error: float) -> None:
        a, b = _sample(_matrix(ROUND_1), name), _sample(_matrix(ROUND_2), name)
        result = difference(a, b)
        assert a.coefficient.value == pytest.approx(first, abs=1e-6)
        assert b.coefficient.value == pytest.approx(second, abs=1e-6)
        assert result.standard_error == pytest.approx(error, abs=2e-3)
        assert result.ci95 is not None and result.ci95[0] == pytest.approx(0, abs=0.1)  # his p is 0.04 to 0.05

    def test_mckenzie_1996(self) -> None:
        """Two screening tests of the same 50 patients, each against the diagnosis (McKenzie et al. 1996).

        Vanbelle and Albert (2008, section 5.2) compare both kappas by a bootstrap of the patients: T² is 2.19, p is
        0.14.
        """
        patients = [
            *([(1, 1, 1)] * 7 + [(0, 1, 1)] + [(0, 1, 0)] + [(1, 0, 1)] * 4),
            *([(0, 0, 1)] * 2 + [(1, 0, 0)] * 2 + [(0, 0, 0)] * 33),
        ]
        diagnosis, bdi, ghq = np.array(patients).T
        a, b = (_sample(np.stack([diagnosis, test], axis=1), "cohen_kappa") for test in (bdi, ghq))
        result = difference(a, b)
        # 2 x 2 tables of 7, 2, 6, 35 and of 11, 3, 2, 34 patients
        assert a.coefficient.value == pytest.approx(1 - (1 - 0.84) / (1 - (13 * 9 + 37 * 41) / 2500))
        assert b.coefficient.value == pytest.approx(1 - (1 - 0.90) / (1 - (13 * 14 + 37 * 36) / 2500))
        rng = np.random.default_rng(2008)
        weights = rng.multinomial(50, np.full(50, 1 / 50), 4000).astype(float)
        bootstrap = float(np.nanstd(_kappas(weights, diagnosis, ghq) - _kappas(weights, diagnosis, bdi)))
        assert result.standard_error == pytest.approx(bootstrap, rel=0.05)
        assert result.value is not None and (result.value / bootstrap) ** 2 == pytest.approx(2.19, rel=0.06)
        p = p_value(result, 50)
        assert p is not None and p == pytest.approx(0.14, abs=0.05)

    def test_other_items_are_independent(self) -> None:
        a, b = _sample(_matrix(ROUND_1)), _sample(_matrix(ROUND_2), start=100)
        apart, same = difference(a, b), difference(a, _sample(_matrix(ROUND_2)), independent=True)
        for result in (apart, same):
            assert result.standard_error == pytest.approx(np.hypot(np.std(a.draws), np.std(b.draws)), rel=0.05)


def test_standard_error_equals_a_bootstrap_of_the_items() -> None:
    rng = np.random.default_rng(3)
    a, b = _sample(_matrix(ROUND_1)), _sample(_matrix(ROUND_2))
    weights = rng.multinomial(15, np.full(15, 1 / 15), 4000).astype(float)
    values = _fleiss(weights, _matrix(ROUND_2)) - _fleiss(weights, _matrix(ROUND_1))
    assert difference(a, b).standard_error == pytest.approx(np.nanstd(values), rel=0.15)


def test_the_same_answers_do_not_differ() -> None:
    sample = _sample(_matrix(ROUND_1))
    itself = difference(sample, sample)
    assert (itself.value, itself.ci95, p_value(itself, 15)) == (0, (0, 0), 1)


def test_difference_of_an_undefined_value_is_undefined() -> None:
    nothing = Sample(Coefficient(None, undefined="only one rater"), np.zeros(0), ())
    assert difference(_sample(_matrix(ROUND_1)), nothing).undefined == "only one rater"
    assert p_value(Coefficient(0.2), 10) is None


@pytest.mark.parametrize("value", [0.3, -0.3])
def test_p_and_interval_say_the_same(value: float) -> None:
    touching = Coefficient(value, 0.1, (0.0, 0.8) if value > 0 else (-0.8, 0.0))
    assert p_value(touching, 20) == pytest.approx(0.05)


def test_holm_is_monotone_and_leaves_one_alone() -> None:
    assert holm([0.02]) == [0.02]
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


class TestHolmLevels:
    def test_the_hypotheses_below_their_level_are_those_with_an_adjusted_p_below_it(self) -> None:
        p = [0.04, 0.001, 0.02, 0.012, 0.3]
        rejected = [value < level for value, level in zip(p, holm_levels(p), strict=True)]
        assert rejected == [adjusted is not None and adjusted < 0.05 for adjusted in holm(p)]

    def test_a_limit_at_the_level_of_its_p_is_there(self) -> None:
        coefficient = Coefficient(0.3, 0.1, (-0.02, 0.6))
        p = p_value(coefficient, 20)
        assert p is not None
        assert at_levels(coefficient, 20, p, 0.05).ci95 == pytest.approx((0, 0.6))


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("accuracy", [(0.8, 0.7), (0.97, 0.9)])
def test_the_interval_covers(paired: bool, accuracy: tuple[float, float]) -> None:
    from lab.bench.differences import simulated_difference

    simulation = simulated_difference(accuracy, n_items=30, paired=paired, runs=120, seed=5)
    assert simulation.coverage >= 0.9  # 0.95 is meant: 120 runs leave 0.02 of standard error


@pytest.mark.parametrize("name", ["observed_agreement", "cohen_kappa", "krippendorff_alpha", "sigma"])
def test_difference_never_contradicts_the_two_values(name: str) -> None:
    """Its value is theirs, its interval contains it, and exchanging the two turns both around."""
    rng = np.random.default_rng(4)
    for n_items in (3, 12, 40):
        first = rng.integers(0, 3, (n_items, 2))
        second = np.where(rng.random((n_items, 2)) < 0.5, first, rng.integers(0, 3, (n_items, 2)))
        a, b = _sample(first, name), _sample(second, name)
        change, back = difference(a, b), difference(b, a)
        if a.coefficient.value is None or b.coefficient.value is None:
            continue
        assert change.value == b.coefficient.value - a.coefficient.value == -back.value
        assert change.ci95[0] <= change.value <= change.ci95[1]
        assert change.ci95 == pytest.approx((-back.ci95[1], -back.ci95[0]), rel=0.05, abs=0.02)


def test_items_that_all_agree_leave_an_interval_of_the_difference() -> None:
    same = np.repeat(np.arange(20)[:, None] % 4, 2, axis=1)
    result = difference(_sample(same), _sample(same[::-1]))
    assert result.value == 0 and result.ci95[0] < -0.05 and result.ci95[1] > 0.05


def test_number_of_draws_is_enough_for_a_stable_interval() -> None:
    a, b = _sample(_matrix(ROUND_1)), _sample(_matrix(ROUND_2))
    of_all_draws = difference(a, b)
    of_fewer_draws = difference(*(Sample(s.coefficient, s.draws[:N_DRAWS], s.items) for s in (a, b)))
    assert of_fewer_draws.ci95 == pytest.approx(of_all_draws.ci95, abs=0.06)
