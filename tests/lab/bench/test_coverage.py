"""The benches of coverage and of coefficients, short and with fixed seeds.

The long runs are in lab/bench/results.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from lab.bench import coefficients, coverage
from lab.bench.__main__ import main
from lab.bench.populations import populations
from softirr.statistics.coefficients.matrix import matrix_agreement

POPULATIONS = {p.name: p for p in populations()}


class TestPopulations:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", POPULATIONS)
    def test_large_projects_approach_the_true_coefficients(self, name):
        """Means of 30 projects of 1,000 items are within four standard errors, and what 1,000 items are off by."""
        population = POPULATIONS[name]
        values, expected = [], population.truth()
        for seed in range(30):
            result = matrix_agreement(population.draw(1_000, np.random.default_rng(seed)), population.similarity)
            values.append([result.summary.coefficients[n].value for n in expected])
        mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(30)
        truth = np.array(list(expected.values()))
        assert np.all(np.abs(mean - truth) < 4 * error + 0.001)

    def test_share_of_missing_answers_is_the_requested_one(self):
        population = POPULATIONS["free text, 4 raters, 25% missing"]
        assert np.mean(population.draw(5_000, np.random.default_rng(0)) < 0) == pytest.approx(0.25, abs=0.02)


class TestCoverage:
    """Of 100 intervals at 95%, fewer than 89 hold the truth once in 200 times."""

    PROJECTS = 100

    @pytest.mark.slow
    @pytest.mark.parametrize("name", POPULATIONS)
    @pytest.mark.parametrize("n_items", [30, 100])
    def test_exact(self, name, n_items):
        for of, covered in coverage.cover(POPULATIONS[name], n_items, "exact", self.PROJECTS).items():
            assert covered.projects >= 99, of
            assert covered.share_held >= 0.89, of

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["free text, 2 raters, low agreement", "free text, 4 raters, 25% missing"])
    def test_sample(self, name):
        for of, covered in coverage.cover(POPULATIONS[name], 100, "sample", self.PROJECTS).items():
            assert covered.share_held >= 0.89, of

    def test_an_interval_that_is_too_narrow_is_found_out(self, monkeypatch):
        """The test can fail: half the width covers about two thirds."""
        from softirr.statistics.coefficients import intervals

        monkeypatch.setattr(intervals, "_NORMAL", 2 * intervals._NORMAL)
        coverages = coverage.cover(POPULATIONS["3 categories, 2 raters"], 100, "exact", self.PROJECTS)
        assert all(coverage.share_held < 0.85 for coverage in coverages.values())


@pytest.mark.slow
class TestCommands:
    def test_coverage(self, capsys):
        assert main(["coverage", "--projects", "5", "--items", "12", "--populations", "3 cat"]) == 0
        out = capsys.readouterr().out
        rows = [line for line in out.splitlines() if line.startswith("| 3 categories")]
        assert [row.split(" | ")[2] for row in rows] == ["exact", "sample"]
        assert all(re.search(r"\d+\.\d%", row) for row in rows)

    @pytest.mark.parametrize(
        "options",
        [["coverage", "--populations", "nobody"], ["coverage", "--projects", "0"], ["coefficients", "--items", "-1"]],
    )
    def test_unusable_options_are_one_sentence(self, options, capsys):
        try:
            status = main(options)
        except SystemExit as stop:  # options that argparse refuses
            status = stop.code
        assert status == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("lab: ")
        assert len(err.strip().splitlines()) == 1

    def test_coefficients(self, capsys):
        assert main(["coefficients", "--items", "60", "--peer-items", "30"]) == 0
        out = capsys.readouterr().out
        rows = {
            line.split(" | ")[0][2:]: line.strip("| ").split(" | ")
            for line in out.splitlines()
            if line.startswith("| ")
        }
        assert len(rows) == 7
        # softirr, krippendorff and NLTK came to the same alpha
        alphas = [row[5] for name, row in rows.items() if name.endswith(("matrix", "callable"))]
        assert len(alphas) == 3
        assert float(alphas[1]) == pytest.approx(float(alphas[0]), abs=1e-10)
        assert float(alphas[2]) == pytest.approx(float(alphas[0]), abs=1e-10)
        assert "krippendorff / softirr" in out


class TestCoefficientsBench:
    def test_peers_that_are_not_installed_are_named(self, monkeypatch, capsys):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert main(["coefficients"]) == 2
        assert "krippendorff and nltk" in capsys.readouterr().err

    def test_texts_are_distinct(self):
        given = coefficients.texts(2_000)
        assert len(set(given)) == len(given) == 4_000
        assert given == coefficients.texts(2_000)

    def test_the_pretended_equivalence_is_one(self):
        answers = np.arange(50)
        block = coefficients.hashed(answers[:, None], answers)
        assert np.array_equal(block, block.T)
        assert np.all(np.diagonal(block) == 1)
        assert block.min() >= 0
        assert block.max() <= 1

    def test_memory_is_that_of_the_line(self):
        """A process of its own: what ran before does not count."""
        first = coefficients.timed(coefficients.softirr_on_matrix, 20)
        assert first.memory > 10
        assert first.wall > 0
        assert first.result == coefficients.timed(coefficients.softirr_on_matrix, 20).result
