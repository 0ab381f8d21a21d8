"""Estimators of prevalence on mixtures whose prevalence is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from softirr.lab.experiments.estimators import (
    ESTIMATORS,
    NEEDS_LABELS,
    Prevalences,
    Reference,
    best_bin,
    by_own_calibration,
    isotonic,
    shifted,
    shifted_by,
)
from softirr.lab.experiments.pools import Pool
from softirr.measures.calibration import Calibration

rng_of = np.random.default_rng


def _pool(score: np.ndarray, gold: np.ndarray | None = None) -> Pool:
    n = len(score)
    gold = np.zeros(n) if gold is None else gold
    return Pool(np.arange(n), score, gold, np.ones(n), np.zeros(n), gold, np.full(n, 1 / n))


def _scores(gold: np.ndarray, rng: np.random.Generator, *, prevalence: float = 0.5) -> np.ndarray:
    """Posteriors that are right at this prevalence, from two normal distributions."""
    x = rng.normal(np.where(gold > 0.5, 1.0, -1.0), 1.0)
    odds = np.exp(2 * x) * prevalence / (1 - prevalence)
    return odds / (1 + odds)


def _sample(n: int, prevalence: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = rng_of(seed)
    gold = (rng.random(n) < prevalence).astype(np.float64)
    return _scores(gold, rng), gold


@pytest.mark.parametrize("prevalence", [0.02, 0.2, 0.5, 0.8, 0.95])
def test_prior_shift_finds_the_prevalence_where_the_mean_does_not(prevalence: float) -> None:
    score, gold = _sample(20_000, prevalence, 1)
    share = np.full(len(score), 1 / len(score))
    assert float(shifted(score, share).mean()) == pytest.approx(gold.mean(), abs=0.02)
    if prevalence != 0.5:
        assert abs(score.mean() - gold.mean()) > 0.03


def test_prior_shift_is_the_posterior_at_that_prevalence() -> None:
    score, _ = _sample(40_000, 0.2, 2)
    moved = shifted(score, np.full(len(score), 1.0))
    rng = rng_of(3)
    fresh = (rng.random(40_000) < 0.2).astype(float)
    right = _scores(fresh, rng, prevalence=0.2)
    assert np.quantile(moved, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(right, [0.1, 0.5, 0.9]), abs=0.03)


def test_the_same_text_stays_certain() -> None:
    score = np.array([1.0, 0.3, 0.2, 0.1])
    assert shifted(score, np.full(4, 0.25))[0] == 1


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"calibrated", "sharpened", "plain", "mixture proportion"}))
@pytest.mark.parametrize("prevalence", [0.1, 0.5, 0.9])
def test_estimators_find_kappa_when_their_assumptions_hold(name: str, prevalence: float) -> None:
    same, gold = _sample(8_000, prevalence, 5)
    chance, _ = _sample(24_000, 0.01, 6)
    labelled = _sample(8_000, 0.4, 7)
    found = ESTIMATORS[name](_pool(same, gold), _pool(chance), Reference(*labelled)).kappa
    truth = (gold.mean() - 0.01) / 0.99
    assert found == pytest.approx(truth, abs=0.05)
    plain = ESTIMATORS["plain"](_pool(same), _pool(chance), Reference(*labelled)).kappa
    assert abs(found - truth) < abs(plain - truth)


def test_the_mixture_proportion_needs_no_labels() -> None:
    same, gold = _sample(8_000, 0.6, 8)
    chance, _ = _sample(24_000, 0.0, 9)
    nothing = Reference(np.zeros(0), np.zeros(0))
    found = ESTIMATORS["mixture proportion"](_pool(same), _pool(chance), nothing)
    assert found.observed == pytest.approx(gold.mean(), abs=0.06)
    assert found.expected == 0


def test_best_bin_of_pure_samples() -> None:
    negatives = rng_of(0).uniform(0, 0.5, 4_000)
    assert best_bin(rng_of(1).uniform(0, 0.5, 4_000), negatives) == pytest.approx(1, abs=0.05)
    assert best_bin(rng_of(2).uniform(0.6, 1, 4_000), negatives) == 0


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_perfect_scores_are_right_under_every_estimator(name: str) -> None:
    rng = rng_of(11)
    gold = (rng.random(400) < 0.7).astype(float)
    chance = (rng.random(1_200) < 0.01).astype(float)
    reference = Reference(np.array([0.0, 1.0] * 50), np.array([0.0, 1.0] * 50))
    found = ESTIMATORS[name](_pool(gold, gold), _pool(chance, chance), reference)
    assert found.observed == pytest.approx(gold.mean(), abs=0.01)
    assert found.expected == pytest.approx(chance.mean(), abs=1e-3)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_too_little_to_go_by_is_no_error(name: str) -> None:
    nothing = Reference(np.zeros(0), np.zeros(0))
    one = ESTIMATORS[name](_pool(np.array([0.4])), _pool(np.array([0.2])), nothing)
    assert 0 <= one.observed <= 1
    assert 0 <= one.expected <= 1
    alike = Reference(np.array([0.2, 0.7]), np.array([1.0, 1.0]))
    other = ESTIMATORS[name](_pool(np.array([0.4, 1.0])), _pool(np.array([0.2, 0.1])), alike)
    assert np.isfinite([other.observed, other.expected]).all()
    assert set(ESTIMATORS) >= NEEDS_LABELS


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=40))
def test_isotonic_is_scikit_learns(pairs: list[tuple[int, bool]]) -> None:
    x = np.array([p / 20 for p, _ in pairs])
    y = np.array([float(v) for _, v in pairs])
    at = np.linspace(0, 1, 7)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y).predict(at)
    assert isotonic(x, y, np.ones(len(x)))(at) == pytest.approx(theirs, abs=1e-9)


def test_balanced_weights_count_both_kinds_the_same() -> None:
    reference = Reference(np.zeros(4), np.array([1.0, 0, 0, 0]), np.array([2.0, 1, 1, 1]))
    weights = reference.balanced()
    assert weights[0] == pytest.approx(weights[1:].sum())


def test_shifting_by_a_curve_undoes_the_prevalence_it_was_made_at() -> None:
    same, gold = _sample(20_000, 0.7, 12)
    chance, _ = _sample(20_000, 0.02, 13)
    odds = lambda p: p / (1 - p)  # noqa: E731
    at_fifth = lambda p: (odds(p) * 0.25) / (1 + odds(p) * 0.25)  # noqa: E731
    found = shifted_by(at_fifth, _pool(same), _pool(chance), source=0.2)
    assert found.observed == pytest.approx(gold.mean(), abs=0.02)
    assert found.expected == pytest.approx(0.02, abs=0.01)


def test_kappa_is_not_defined_without_room() -> None:
    assert Prevalences(1.0, 1.0).kappa is None
    assert Prevalences(0.5, 0.0).kappa == 0.5


def test_a_curve_of_the_own_pairs_is_right_on_them_and_shifted_for_chance() -> None:
    same, gold = _sample(20_000, 0.7, 12)
    chance, wrong = _sample(20_000, 0.02, 13)
    odds = lambda p: p / (1 - p)  # noqa: E731
    at_own = lambda p: (odds(p) * 0.7 / 0.3) / (1 + odds(p) * 0.7 / 0.3)  # noqa: E731
    knots = np.linspace(0, 0.999, 1_000)
    calibration = Calibration("isotonic", "", 60, tuple(knots), tuple(at_own(knots)), prior=0.7)
    found = by_own_calibration(calibration, _pool(same), _pool(chance))
    assert found.observed == pytest.approx(gold.mean(), abs=0.01)
    assert found.expected == pytest.approx(wrong.mean(), abs=0.01)
    assert at_own(chance).mean() > 0.1, "as it stands the curve takes chance pairs for same-item pairs"
    flat = by_own_calibration(replace(calibration, values=(0.99,) * len(knots), prior=0.5), _pool(same), _pool(chance))
    assert flat.expected == pytest.approx(chance.mean()), (
        "a curve that tells nothing apart can't raise agreement by chance"
    )


def test_own_judgements_calibrate_where_they_can() -> None:
    from softirr.lab.experiments.draw import Draw
    from softirr.lab.experiments.estimation import own_labels

    same, gold = _sample(300, 0.8, 14)
    chance, _ = _sample(900, 0.01, 15)
    found = own_labels(_pool(same, gold), _pool(chance), Draw("test"), 60).kappa
    plain = ESTIMATORS["plain"](_pool(same), _pool(chance), Reference(np.zeros(0), np.zeros(0))).kappa
    assert abs(found - gold.mean()) < abs(plain - gold.mean())
    alike = own_labels(_pool(same[:20], np.ones(20)), _pool(chance), Draw("test"), 60).kappa
    assert alike == ESTIMATORS["plain"](_pool(same[:20]), _pool(chance), Reference(np.zeros(0), np.zeros(0))).kappa


def test_the_verdict_names_what_is_better_or_worse_in_every_cell() -> None:
    from softirr.lab.experiments.analysis import Errors
    from softirr.lab.experiments.estimation import Estimation, verdict

    keys = (("hpo", "random", 0), ("hpo", "sibling", 0), ("cl", "sibling", 0))

    def errors(**by_label: list[float]) -> Errors:
        return Errors(keys, {name: np.array(values) for name, values in by_label.items()}, 0)

    one = errors(plain=[0.2, 0.2, 0.2], better=[0.1, 0.1, 0.19], worse=[0.3, 0.3, 0.3], mixed=[0.1, 0.1, 0.3])
    two = errors(plain=[0.2, 0.2, 0.2], better=[0.1, 0.1, 0.1], worse=[0.2, 0.2, 0.2], mixed=[0.2, 0.2, 0.2])
    said = verdict(Estimation("hard", "hard", {"indel": one, "lcs": two}, {}, {}))
    assert said == "Lower than plain in every cell: better (every measure). Higher in every cell: worse (indel)."
    none = Estimation("hard", "hard", {"indel": errors(plain=[0.2] * 3, mixed=[0.1, 0.1, 0.3])}, {}, {})
    assert verdict(none) == "No estimator is better than plain in every cell, for any measure."
