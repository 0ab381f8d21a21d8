"""Permutation tests against SciPy and hand-worked cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test

from lab.experiments.statistics import paired_permutation, signs, ties


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.normal(0.12 * seed, 0.5, 40)
    p_value = paired_permutation(differences, permutations=10_000)
    expected = permutation_test(
        (differences, np.zeros(40)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=10_000,
        rng=1,
    ).pvalue
    assert p_value == pytest.approx(expected, abs=0.02)


def test_the_smallest_p_value_and_the_largest() -> None:
    assert paired_permutation(np.full(60, 0.1), permutations=999) == 1 / 1_000
    assert paired_permutation(np.array([0.1, -0.1])) == 1
    assert paired_permutation(np.zeros(5)) == 1
    assert paired_permutation(np.zeros(0)) == 1


def test_no_difference_is_rejected_at_its_level() -> None:
    rng = np.random.default_rng(5)
    rejections = [paired_permutation(rng.normal(0, 1, 30), permutations=500, seed=k) < 0.05 for k in range(400)]
    assert np.mean(rejections) == pytest.approx(0.05, abs=0.035)


def test_signs_are_fair_and_never_change() -> None:
    sample = signs(70, 2_000)
    assert sample.shape == (2_000, 70)
    assert set(np.unique(sample)) == {-1, 1}
    assert np.abs(sample.mean(axis=0)).max() < 0.1
    assert np.array_equal(sample, signs(70, 2_000))
    assert sample[0, :8].tolist() == signs(8, 2_000)[0].tolist()


def test_ranking_marks_the_best_and_its_ties() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0, 1, 80)
    errors = {"a": base, "b": base + rng.normal(0, 0.01, 80), "c": base + 0.2}
    assert ties(errors) == {"a", "b"}
    assert ties({"a": base, "c": base + 0.2}) == {"a"}
