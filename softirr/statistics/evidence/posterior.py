"""Which share of the pairs of texts mean the same.

A logistic calibration of P, known through the measure's record and through judgments.

The probability that two texts of an item mean the same is ``1 / (1 + exp(-(a + b logit P)))``. Its prior has two parts.
The slope b is log-normal, with the parameters of the record. The intercept a follows from the share m of pairs that
mean the same. Before any judgment only the mean of P informs m: it lies ``recovery × m + leak × (1 - m)`` of the way
from chance to 1. The record contains the distribution of both factors over kinds of wording. Each judgment of a pair is
a Bernoulli draw from the curve. The posterior is computed on a grid, so it is exact, and it does not depend on the
reason for stopping.

References
----------
Platt, J. C. (1999). Probabilistic outputs for support vector machines and comparisons to regularized likelihood
methods. Gelman, A. et al. (2013). Bayesian Data Analysis, chapter 3 (grids) and chapter 5 (populations of populations).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.statistics.evidence.record import Record, Spread

_LEAST = 1e-3
"""P is kept this far from 0 and 1, so that its logit is finite."""
_INTERCEPTS: Floats = np.linspace(-14, 14, 281, dtype=np.float64)
_SHARES: Floats = np.linspace(0, 1, 201, dtype=np.float64)
_BINS = 64
_FREEDOM = 5.0
"""Of Student's t over kinds of wording for recovery and leak: kinds stranger than any recorded one exist."""
_UNKNOWN = 0.02
"""Weight of a flat prior of m that is mixed into the record's prior, so that judgments can overrule it."""
_LEAST_ERROR = 0.01
_AT_ONCE = 500
"""Maximum number of pairs with probabilities on the complete grid in memory."""
_WITHIN_ITEM = 0.4
"""Correlation of the residuals of T, given P, between pairs of answers to one item."""


def logit(p: Floats) -> Floats:
    """Log odds of probabilities, kept finite."""
    bounded = np.clip(p, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(bounded / (1 - bounded)))


@dataclass(frozen=True, eq=False)
class Scores:
    """P of the pairs of texts of the same items, and of random pairs of different items, without known ones.

    Attributes
    ----------
    p, weight : shape (E,)
        P of pairs of an item, and their weight in observed agreement.
    chance_p, chance_weight : shape (F,)
        The same for pairs of different items and agreement by chance.
    """

    p: Floats
    weight: Floats
    chance_p: Floats
    chance_weight: Floats

    @cached_property
    def bins(self) -> tuple[Ints, Floats]:
        """The pairs of an item in bins of about equal size by P, for sums over many pairs; ties stay together.

        Returns
        -------
        shape (E,), shape (K,)
            Bin of each pair, and mean logit of each bin.
        """
        logits = logit(self.p)
        edges = np.unique(np.quantile(logits, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(logits) else np.zeros(0)
        _, bin_of_pair = np.unique(np.searchsorted(edges, logits), return_inverse=True)
        count = np.bincount(bin_of_pair, minlength=1)
        return bin_of_pair, np.bincount(bin_of_pair, weights=logits, minlength=1) / np.maximum(count, 1)

    def beyond_chance(self) -> tuple[float, float]:
        """How far the mean P is on the way from chance to 1, and its standard error over pairs."""
        base = _mean(self.chance_p, self.chance_weight)
        mean = _mean(self.p, self.weight)
        count = float(self.weight.sum() ** 2 / np.sum(self.weight**2))
        distance = max(1 - base, 1e-3)
        error = float(np.sqrt(np.average((self.p - mean) ** 2, weights=self.weight) / count))
        return (mean - base) / distance, error / distance


def _mean(values: Floats, weight: Floats) -> float:
    total = float(weight.sum())
    return float(values @ weight) / total if total > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Curve:
    """The posterior of the calibration on its grid of G points.

    Attributes
    ----------
    intercept, slope : shape (G,)
    weight : shape (G,)
        Probability after the judgments; sums to 1.
    """

    intercept: Floats
    slope: Floats
    weight: Floats

    def mean(self, logits: Floats) -> Floats:
        """Posterior mean of the probability at these logits of P, shape (n,)."""
        from scipy.special import expit

        points = np.flatnonzero(self.weight > 1e-9 * self.weight.max())
        share = self.weight[points] / self.weight[points].sum()
        result = np.empty(len(logits))
        for start in range(0, len(logits), _AT_ONCE):
            chunk = slice(start, start + _AT_ONCE)
            result[chunk] = share @ expit(self.intercept[points, None] + self.slope[points, None] * logits[None, chunk])
        return result


def spread_nodes(spread: Spread, reach: float, count: int, freedom: float = np.inf) -> tuple[Floats, Floats]:
    """Points of a quantity over kinds, and their probabilities: normal, or Student's t.

    Parameters
    ----------
    reach : float
        In standard deviations.

    Returns
    -------
    (shape (count,), shape (count,))
    """
    z: Floats = np.linspace(-reach, reach, count, dtype=np.float64)
    density = np.exp(-(z**2) / 2) if np.isinf(freedom) else (1 + z**2 / freedom) ** (-(freedom + 1) / 2)
    return spread.mean + spread.deviation * z, density / density.sum()


def _share_prior(scores: Scores, record: Record) -> Floats:
    """Density of the share of pairs that mean the same at ``_SHARES``, mean 1: by the record and the mean of P."""
    from scipy.special import expit

    observed, error = scores.beyond_chance()
    recovery, of_recovery = spread_nodes(record.recovery, 4, 41, _FREEDOM)
    leak, of_leak = spread_nodes(record.leak, 4, 21, _FREEDOM)
    expected = expit(recovery)[:, None, None] * _SHARES + leak[:, None] * (1 - _SHARES)
    z = (observed - expected) / np.hypot(error, _LEAST_ERROR)
    log = -(z**2) / 2
    density = np.einsum("i,j,ijm->m", of_recovery, of_leak, np.exp(log - log.max()))
    density = density / max(float(density.mean()), 1e-300)
    return np.asarray((1 - _UNKNOWN) * density + _UNKNOWN)


def posterior_curve(scores: Scores, record: Record, logits: Floats, same: Floats, per_item: Floats) -> Curve:
    """The calibration after judgments of random pairs.

    Parameters
    ----------
    scores : Scores
        P of all pairs without a known truth.
    logits : shape (n,)
        Logit of P of each judged pair of an item.
    same : shape (n,)
        1 if the judges consider the texts the same, 0 if different, in between if judges differ.
    per_item : shape (n,)
        Number of judged pairs of answers to the same item, including this one.
    """
    from scipy.special import expit

    slope, of_slope = spread_nodes(record.slope, 2.5, 13)
    intercept, slope = (grid.ravel() for grid in np.meshgrid(_INTERCEPTS, np.exp(slope), indexing="ij"))
    bin_of_pair, centers = scores.bins
    bin_share = np.bincount(bin_of_pair, weights=scores.weight, minlength=len(centers)) / float(scores.weight.sum())
    q = expit(intercept[:, None] + slope[:, None] * centers[None, :])
    density = np.interp(q @ bin_share, _SHARES, _share_prior(scores, record)) * ((q * (1 - q)) @ bin_share)
    log = np.log(density + 1e-300) + np.log(np.tile(of_slope, len(_INTERCEPTS)))
    if len(same):
        exponent = 1 / (1 + _WITHIN_ITEM * (per_item - 1))
        for start in range(0, len(same), _AT_ONCE):
            chunk = slice(start, start + _AT_ONCE)
            eta = intercept[:, None] + slope[:, None] * logits[None, chunk]
            log = log + (same[chunk] * eta - np.logaddexp(0, eta)) @ exponent[chunk]
    posterior = np.exp(log - log.max())
    return Curve(intercept, slope, np.asarray(posterior / posterior.sum()))
