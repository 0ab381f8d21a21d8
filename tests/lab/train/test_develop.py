"""Measures of the development set, and the calibration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.train.develop import (
    Calibration,
    DevelopmentSet,
    auroc,
    calibrate,
    kappa_error,
    loss,
    measures,
)
from lab.train.recipe import Training
from lab.train.trainer import rate_factor

P = st.floats(0, 1)


def development_set(n: int = 120, noise: float = 1.0) -> tuple[DevelopmentSet, np.ndarray]:
    rng = np.random.default_rng(0)
    kinds, same, entails, center = [], [], [], []
    for kind, truth, where in (
        ("synonym", 1, 2),
        ("random", 0, -3),
        ("sibling", 0, -1),
        ("opposite", 0, -1),
        ("hypernym", 0, 0),
    ):
        kinds += [kind] * n
        same += [truth] * n
        entails += [1 if kind in ("synonym", "hypernym") else 0] * n
        center += [where] * n
    dev = DevelopmentSet((("a", "b"),) * len(kinds), tuple(kinds), np.array(entails, float), np.array(same, float))
    margins = np.array(center, float)[:, None] + rng.normal(0, noise, (len(kinds), 2))
    hyper = dev.of_kind("hypernym")
    margins[hyper] += np.array([2.0, -2.0])
    return dev, margins


@given(same=P, negative=P, chance=st.floats(0, 0.9))
def test_kappa_error_equals_that_of_simulated_populations(same, negative, chance):
    alpha = np.linspace(0, 1, 51)
    observed = alpha * same + (1 - alpha) * negative
    assert kappa_error(same, negative, chance) == pytest.approx(
        np.abs((observed - chance) / (1 - chance) - alpha).mean()
    )


def test_calibration_lowers_its_cost():
    dev, margins = development_set()
    flat = 0.05 * margins + 3  # as of a model that is unsure and calls every pair equivalent
    fitted = calibrate(dev, flat)
    assert fitted.scale > 5 and fitted.shift < -3 * 5
    raw, calibrated = measures(dev, flat, Calibration()), measures(dev, flat, fitted)
    for kind in ("random", "sibling", "hypernym"):
        assert calibrated[f"kappa error {kind}"] < 0.7 * raw[f"kappa error {kind}"]
    assert calibrated["P opposite"] < raw["P opposite"] / 2
    assert calibrated["log loss"] == loss(dev, flat, fitted) < loss(dev, flat, Calibration()) / 2


def test_calibration_leaves_a_calibrated_model_nearly_alone():
    dev, margins = development_set(400)
    fitted = calibrate(dev, margins)
    refitted = calibrate(dev, fitted.scale * margins + fitted.shift)
    assert refitted.scale == pytest.approx(1, abs=0.1) and refitted.shift == pytest.approx(0, abs=0.2)


def test_an_untrained_model_is_calibrated_without_harm():
    dev, _ = development_set()
    fitted = calibrate(dev, np.zeros((len(dev), 2)))
    assert np.isfinite([fitted.scale, fitted.shift]).all()
    assert all(np.isfinite(v) for v in measures(dev, np.zeros((len(dev), 2)), fitted).values())


@given(st.lists(P, min_size=1, max_size=30), st.lists(P, min_size=1, max_size=30))
def test_auroc_is_the_share_of_ordered_pairs(a, b):
    x, y = np.array(a), np.array(b)
    share = ((x[:, None] > y).sum() + 0.5 * (x[:, None] == y).sum()) / (len(x) * len(y))
    assert auroc(x, y) == pytest.approx(share)
    assert auroc(x, y[:0]) is None


def test_the_rate_rises_and_falls():
    training = Training("t", pairs=100, chunk=1, batch=1, rounds=1, warmup=0.1)
    factors = [rate_factor(step, training) for step in range(100)]
    assert factors[0] == pytest.approx(0.1) and factors[9] == 1
    assert all(a >= b for a, b in itertools.pairwise(factors[9:]))
    assert factors[-1] < 0.03


def test_rounds_have_the_same_number_of_chunks():
    recipe = Training("t", pairs=100_000, chunk=4096, rounds=7, batch=100)
    assert recipe.chunks % 7 == 0
    assert recipe.steps == recipe.chunks * 41
