"""95% intervals of simulated projects contain the coefficient of their population often enough.

Long runs are in lab/bench/results/coverage.md.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from softirr.answers.category_matrix import matrix_ratings
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.chance.sample import Drawing, sample
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import ByMeasure
from tests.statistics.chance.direct import scored
from tests.statistics.coefficients.populations import Population, populations

POPULATIONS = {p.name: p for p in populations()}
PROJECTS = 100
"""Of 100 intervals at 95%, fewer than 89 contain the truth once in 200 times."""


def coverage(population: Population, n_items: int, chance: str) -> dict[str, float]:
    """Share of the intervals that contain the truth, for each coefficient of the population."""
    truth = population.truth()
    is_covered: dict[str, list[bool]] = defaultdict(list)
    for number in range(PROJECTS):
        matrix = population.draw(n_items, np.random.default_rng([0, n_items, number]))
        ratings, equivalence = matrix_ratings(matrix), MatrixEquivalence(population.similarity)
        scores = scored(ratings, equivalence)
        expected = (
            exact(ratings, equivalence, scores)
            if chance == "exact"
            else sample(ratings, equivalence.score, scores, Drawing(number, target_se=0.005))
        )
        coefficients = ByMeasure(ratings, scores, expected).coefficients
        for name, value in truth.items():
            ci95 = coefficients[name].ci95
            if ci95 is not None:
                is_covered[name].append(ci95[0] <= value <= ci95[1])
    assert min(map(len, is_covered.values())) >= PROJECTS - 1, "nearly every project has an interval"
    return {name: float(np.mean(of_coefficient)) for name, of_coefficient in is_covered.items()}


class TestPopulations:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", POPULATIONS)
    def test_large_projects_approach_the_true_coefficients(self, name):
        """Means of 30 projects of 1,000 items are within four standard errors, and what 1,000 items are off by."""
        population = POPULATIONS[name]
        values, expected = [], population.truth()
        for seed in range(30):
            result = matrix_agreement(population.draw(1_000, np.random.default_rng(seed)), population.similarity)
            values.append([result.estimates[n].value for n in expected])
        mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(30)
        truth = np.array(list(expected.values()))
        assert np.all(np.abs(mean - truth) < 4 * error + 0.001)

    def test_share_of_missing_answers_is_the_requested_one(self):
        population = POPULATIONS["free text, 4 raters, 25% missing"]
        assert np.mean(population.draw(5_000, np.random.default_rng(0)) < 0) == pytest.approx(0.25, abs=0.02)


class TestCoverage:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", POPULATIONS)
    @pytest.mark.parametrize("n_items", [30, 100])
    def test_exact(self, name, n_items):
        shares = coverage(POPULATIONS[name], n_items, "exact")
        assert set(shares) == set(POPULATIONS[name].truth())
        assert min(shares.values()) >= 0.89

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["free text, 2 raters, low agreement", "free text, 4 raters, 25% missing"])
    def test_sample(self, name):
        assert min(coverage(POPULATIONS[name], 100, "sample").values()) >= 0.89

    def test_an_interval_that_is_too_narrow_is_found_out(self, monkeypatch):
        """The test can fail: half the width covers about two thirds."""
        from softirr.statistics.coefficients import intervals

        monkeypatch.setattr(intervals, "NORMAL", 2 * intervals.NORMAL)
        assert max(coverage(POPULATIONS["3 categories, 2 raters"], 100, "exact").values()) < 0.85
