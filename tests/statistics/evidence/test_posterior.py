"""The posterior of the calibration, against its definition point by point."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from softirr.provenance import Provenance
from softirr.statistics.evidence import posterior
from softirr.statistics.evidence.posterior import Curve, Scores, logit, posterior_curve, spread_nodes
from softirr.statistics.evidence.record import Record, Spread, record_of

INTERCEPTS = np.linspace(-14, 14, 281)
SHARES = np.linspace(0, 1, 201)


def plain_prior(scores, record):
    """Density of the share of pairs that mean the same, by loops over recovery and leak."""
    base = np.average(scores.chance_p, weights=scores.chance_weight)
    mean = np.average(scores.p, weights=scores.weight)
    count = scores.weight.sum() ** 2 / np.sum(scores.weight**2)
    error = np.sqrt(np.average((scores.p - mean) ** 2, weights=scores.weight) / count) / (1 - base)
    density = np.zeros(201)
    z, y = np.linspace(-4, 4, 41), np.linspace(-4, 4, 21)
    recoveries = expit(record.recovery.mean + record.recovery.deviation * z)
    leaks = record.leak.mean + record.leak.deviation * y
    for recovery, of_recovery in zip(recoveries, stats.t.pdf(z, 5), strict=True):
        for leak, of_leak in zip(leaks, stats.t.pdf(y, 5), strict=True):
            away = (mean - base) / (1 - base) - recovery * SHARES - leak * (1 - SHARES)
            density += of_recovery * of_leak * np.exp(-(away**2) / (error**2 + 0.01**2) / 2)
    return 0.98 * density / density.mean() + 0.02


def plain_curve(scores, record, logits, same, per_item):
    """Probability of each point of the grid after the judgments."""
    prior = plain_prior(scores, record)
    share = scores.weight / scores.weight.sum()
    posterior_density = []
    for a in INTERCEPTS:
        for z in np.linspace(-2.5, 2.5, 13):
            b = np.exp(record.slope.mean + record.slope.deviation * z)
            q = expit(a + b * logit(scores.p))
            density = np.interp(share @ q, SHARES, prior) * (share @ (q * (1 - q))) * np.exp(-(z**2) / 2)
            probability = expit(a + b * logits)
            exponent = 1 / (1 + 0.4 * (per_item - 1)) if len(same) else same
            posterior_density.append(
                density * np.prod((probability**same * (1 - probability) ** (1 - same)) ** exponent)
            )
    return np.array(posterior_density) / sum(posterior_density)


def some_scores(rng, n=30):
    return Scores(rng.random(n), rng.random(n), 0.4 * rng.random(50), rng.random(50))


@pytest.mark.parametrize(("n", "measure"), [(12, "indel"), (0, "another"), (1, "exact")])
def test_the_grid_is_that_of_the_definition(n, measure, monkeypatch):
    monkeypatch.setattr(posterior, "_AT_ONCE", 5)  # the likelihood is summed in parts
    rng = np.random.default_rng(n)
    scores, record = some_scores(rng), record_of(Provenance(measure))
    judged = logit(scores.p[:n]), rng.integers(0, 3, n) / 2, rng.choice([1.0, 2.0], n)
    curve = posterior_curve(scores, record, *judged)
    expected_weight = plain_curve(scores, record, *judged)
    assert np.allclose(curve.weight, expected_weight, rtol=1e-6, atol=1e-12)
    assert curve.intercept[:14].tolist() == [-14.0] * 13 + [pytest.approx(-13.9)]
    logits = np.linspace(-3, 3, 9)
    mean = expected_weight @ expit(curve.intercept[:, None] + curve.slope[:, None] * logits)
    assert curve.mean(logits) == pytest.approx(mean, abs=1e-6)


def test_record_is_the_same_after_a_round_trip():
    record = record_of(Provenance("indel"))
    assert Record.from_dict(record.measure, json.loads(json.dumps(record.to_dict()))) == record


def test_the_mean_of_a_curve_is_taken_in_parts():
    curve = Curve(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([0.25, 0.75]))
    logits = np.linspace(-4, 4, 4_500)
    assert curve.mean(logits) == pytest.approx(0.25 * expit(logits) + 0.75 * expit(1 + 2 * logits), abs=1e-12)


def test_logits_are_finite():
    assert logit(np.array([0.0, 0.5, 1.0])) == pytest.approx([np.log(0.001 / 0.999), 0, np.log(0.999 / 0.001)])


def test_nodes_of_a_spread():
    points, share = spread_nodes(Spread(2.0, 0.5), 2.0, 5)
    assert points.tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert share == pytest.approx(stats.norm.pdf([-2, -1, 0, 1, 2]) / stats.norm.pdf([-2, -1, 0, 1, 2]).sum())
    _, share = spread_nodes(Spread(2.0, 0.5), 2.0, 5, 3.0)
    assert share == pytest.approx(stats.t.pdf([-2, -1, 0, 1, 2], 3) / stats.t.pdf([-2, -1, 0, 1, 2], 3).sum())


def test_scores_without_pairs_or_weight_are_at_chance():
    nothing = np.zeros(0)
    ones = np.ones(4)
    assert Scores(np.full(4, 0.5), ones, nothing, nothing).beyond_chance() == (0.5, 0.0)
    value, error = Scores(np.array([0.5, 0.7]), np.ones(2), np.full(3, 0.2), np.ones(3)).beyond_chance()
    assert value == pytest.approx(0.5) and error == pytest.approx(0.1 / np.sqrt(2) / 0.8)


def bins_of(p):
    nothing = np.zeros(0)
    return Scores(p, np.ones(len(p)), nothing, nothing).bins


def test_bins_are_of_about_equal_size_and_ties_stay_together():
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-np.round(rng.normal(0, 1, 5_000), 2)))
    bin_of_pair, centers = bins_of(p)
    assert 50 < len(centers) <= 64
    assert np.bincount(bin_of_pair).max() < 2 * 5_000 / 64
    for number, center in enumerate(centers):
        assert center == pytest.approx(logit(p)[bin_of_pair == number].mean())
    assert all(len(set(bin_of_pair[p == value])) == 1 for value in np.unique(p))
    assert (np.diff(centers) > 0).all()
    small_bins, small_centers = bins_of(np.array([0.3, 0.1, 0.2]))
    assert small_centers.tolist() == pytest.approx(logit(np.array([0.1, 0.2, 0.3])).tolist())
    assert small_bins.tolist() == [2, 0, 1]
    assert bins_of(np.zeros(0))[1].tolist() == [0.0]
