"""Observed and expected agreement as prevalences: better estimates of them than the plain mean of P.

The share of equivalent pairs among same-item pairs, and among chance pairs, is a prevalence, and estimating a prevalence from a classifier's
scores is quantification. An estimator turns the scores of both kinds of pairs into other scores whose means are the estimates:

``plain``
    The mean of P: what every coefficient uses.
``sharpened``
    1 where P is at least one half, else 0: classify and count.
``calibrated``
    P through an isotonic regression on labelled pairs of other projects.
``prior shift``
    Saerens, Latinne and Decaestecker (2002): EM for the prevalence under which scores that were right at a prevalence of one half are right.
``calibrated prior shift``
    The same on calibrated scores.
``adjusted counts``
    Rogan and Gladen (1978): the share above a threshold, less the false positive rate, over the true less the false positive rate. The
    threshold and the true positive rate come from labelled pairs of other projects, the false positive rate from the project's own chance
    pairs, which are nearly all negative.
``mixture proportion``
    The project's chance pairs as a sample of pure negatives: the largest share of the same-item pairs they can explain, by best bin
    estimation (Garg et al. 2021). Needs no labels; its expected agreement is the share of chance pairs that are the same text.

Identical texts (P = 1) are equivalent under every estimator that uses the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softirr.lab.experiments.pools import Pool
from softirr.measures.calibration import Calibration
from softirr.tables.ratings import Floats

_EDGE = 1e-6
_STEPS = 500


@dataclass(frozen=True, eq=False)
class Reference:
    """Labelled edges of other projects under the same measure.

    Attributes
    ----------
    score, gold : shape (n,)
    weight : shape (n,), optional
        How much each counts, where they were drawn with unequal probabilities.
    """

    score: Floats
    gold: Floats
    weight: Floats | None = None

    @property
    def weights(self) -> Floats:
        """How much each counts, shape (n,)."""
        return np.ones(len(self.score)) if self.weight is None else self.weight

    def balanced(self) -> Floats:
        """Weights under which positives and negatives count the same."""
        weights = self.weights
        total = float(weights.sum())
        positive = float(weights @ self.gold) / total if total else 0.5
        positive = min(max(positive, 1e-9), 1 - 1e-9)
        return weights * (self.gold * 0.5 / positive + (1 - self.gold) * 0.5 / (1 - positive))


@dataclass(frozen=True)
class Prevalences:
    """Observed and expected agreement by an estimator."""

    observed: float
    expected: float

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa, or None where agreement by chance is 1."""
        return None if 1 - self.expected <= 1e-12 else (self.observed - self.expected) / (1 - self.expected)


Estimator = Callable[[Pool, Pool, Reference], Prevalences]


def plain(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """The mean of P."""
    return Prevalences(same.mean(), chance.mean())


def sharpened(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """Classify at one half and count."""
    return Prevalences(*(pool.mean((pool.score >= 0.5).astype(np.float64)) for pool in (same, chance)))


def calibrated(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """The mean of P, calibrated on the reference as it is."""
    curve = isotonic(reference.score, reference.gold, reference.weights)
    return Prevalences(*(pool.mean(_keep_certain(pool.score, curve(pool.score))) for pool in (same, chance)))


def prior_shift(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """Scores right at a prevalence of one half, shifted to each pool's own."""
    return Prevalences(*(pool.mean(shifted(pool.score, pool.edge_share)) for pool in (same, chance)))


def calibrated_prior_shift(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """Prior shift of scores calibrated for a prevalence of one half."""
    curve = isotonic(reference.score, reference.gold, reference.balanced())
    return shifted_by(curve, same, chance, source=0.5)


def shifted_by(curve: Callable[[Floats], Floats], same: Pool, chance: Pool, *, source: float) -> Prevalences:
    """Prior shift of scores calibrated by a curve that is right at the prevalence ``source``."""
    means = [
        pool.mean(shifted(_keep_certain(pool.score, curve(pool.score)), pool.edge_share, source=source))
        for pool in (same, chance)
    ]
    return Prevalences(*means)


def by_own_calibration(calibration: Calibration, same: Pool, chance: Pool) -> Prevalences:
    """A calibration learned on same-item pairs of this very project, drawn at random; chance pairs have a prior of their own.

    This is what :func:`softirr.agreement` computes with a calibrated measure.

    Parameters
    ----------
    calibration : Calibration
    same, chance : Pool

    Returns
    -------
    Prevalences
    """
    by_chance = calibration.at(calibration.prior_of(chance.score[chance.score < 1]))
    return Prevalences(
        *(
            pool.mean(_keep_certain(pool.score, curve.apply(pool.score)))
            for pool, curve in ((same, calibration), (chance, by_chance))
        )
    )


def adjusted_counts(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """Rogan and Gladen's correction, with the project's chance pairs as negatives."""
    at = _youden(reference)
    positive = reference.gold > 0.5
    true_rate = float(np.mean(reference.score[positive] >= at)) if positive.any() else 1.0
    counted = chance.score >= at
    # chance pairs that are the same text are positives, not false positives
    different = chance.score < 1
    false_rate = float(np.mean(counted[different])) if different.any() else 0.0
    room = true_rate - false_rate
    if room <= 0.05:
        return plain(same, chance, reference)  # the measure does not distinguish them, so it cannot be corrected
    means = []
    for pool in (same, chance):
        corrected = ((pool.score >= at).astype(np.float64) - false_rate) / room
        means.append(min(max(pool.mean(corrected), 0.0), 1.0))
    return Prevalences(*means)


def mixture_proportion(same: Pool, chance: Pool, reference: Reference) -> Prevalences:
    """Same-item pairs minus the largest share of them that chance pairs can explain."""
    certain = chance.mean((chance.score >= 1).astype(np.float64))
    if not len(same.score) or not len(chance.score):
        return plain(same, chance, reference)
    explained = best_bin(same.score, chance.score)
    share = np.full(len(same.score), 1 - explained)
    return Prevalences(same.mean(share), certain)


ESTIMATORS: dict[str, Estimator] = {
    "plain": plain,
    "sharpened": sharpened,
    "calibrated": calibrated,
    "prior shift": prior_shift,
    "calibrated prior shift": calibrated_prior_shift,
    "adjusted counts": adjusted_counts,
    "mixture proportion": mixture_proportion,
}
NEEDS_LABELS = frozenset({"calibrated", "calibrated prior shift", "adjusted counts"})
"""Estimators that ask for labelled pairs of other projects."""


def shifted(score: Floats, share: Floats, *, source: float = 0.5) -> Floats:
    """Posteriors at the prevalence that EM finds (Saerens, Latinne and Decaestecker 2002).

    Parameters
    ----------
    score : shape (n,)
        Posteriors at the prevalence ``source``. Scores of 1 stay 1.
    share : shape (n,)
        How much each counts.
    source : float
    """
    if not len(score):
        return score
    weight = share / share.sum()
    p = np.clip(score, _EDGE, 1 - _EDGE)
    odds = p / (1 - p) * (1 - source) / source
    prevalence = source
    posterior = p
    for _ in range(_STEPS):
        ratio = prevalence / (1 - prevalence)
        posterior = odds * ratio / (1 + odds * ratio)
        found = min(max(float(weight @ posterior), _EDGE), 1 - _EDGE)
        if abs(found - prevalence) < 1e-9:
            break
        prevalence = found
    return _keep_certain(score, posterior)


def isotonic(score: Floats, gold: Floats, weight: Floats) -> Callable[[Floats], Floats]:
    """The non-decreasing function of the score that fits the labels best, linear between its steps."""
    from scipy.optimize import isotonic_regression

    if not len(score):
        return lambda values: values
    levels, place = np.unique(score, return_inverse=True)
    total = np.bincount(place, weights=weight)
    mean = np.bincount(place, weights=weight * gold) / total
    fitted = isotonic_regression(mean, weights=total).x
    return lambda values: np.interp(values, levels, fitted)


def best_bin(mixture: Floats, negatives: Floats, *, confidence: float = 0.1) -> float:
    """Largest share of the mixture that negatives can explain (best bin estimation, Garg et al. 2021, with classes swapped).

    The ratio of shares at or below a score, at the score where it is smallest once an allowance for chance is added.
    """
    levels = np.unique(np.concatenate([mixture, negatives]))
    below = np.searchsorted(np.sort(mixture), levels, side="right") / len(mixture)
    pure = np.searchsorted(np.sort(negatives), levels, side="right") / len(negatives)
    usable = pure > 0
    allowance = np.sqrt(np.log(4 / confidence) / (2 * len(mixture))) + np.sqrt(
        np.log(4 / confidence) / (2 * len(negatives))
    )
    bound = (below[usable] + allowance) / pure[usable]
    best = int(np.argmin(bound))
    return float(min(below[usable][best] / pure[usable][best], 1.0))


def _keep_certain(score: Floats, changed: Floats) -> Floats:
    return np.where(score >= 1, 1.0, changed)


def _youden(reference: Reference) -> float:
    """The threshold at which true and false positive rates differ most on the reference."""
    positive = reference.gold > 0.5
    if not positive.any() or positive.all():
        return 0.5
    levels = np.unique(reference.score)
    rates = []
    for mask in (positive, ~positive):
        ordered = np.sort(reference.score[mask])
        rates.append(1 - np.searchsorted(ordered, levels, side="left") / len(ordered))
    return float(levels[int(np.argmax(rates[0] - rates[1]))])
