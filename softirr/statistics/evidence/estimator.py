"""One estimator for every coefficient.

Known pairs, the measure's calibrated P of the others, judgments of random pairs, and the sampling of items.

Every coefficient here is ``1 - D / B``: D is a weighted mean of the disagreement of pairs of answers to the same item,
B the same over all pairs (``B = 1 - Pe``). The equivalence of two answers is a sum over their pairs of texts, so D and
B are weighted sums of T, which is 1 where two texts mean the same. T is known of identical texts, of pairs that a
terminology knows or a reviewer decided, and of judged pairs. Of all others:

- pairs of the same item have the probability that the posterior calibration gives (:mod:`softirr.statistics.evidence.posterior`),
  corrected by the mean difference
  between judgments and calibration in each stratum (difference estimator), as far as there are many: by n / (n + 20);
- pairs of different items have the share of their stratum of P, a beta distribution by the record, updated by
  judgments. Nearly all of those that mean the
  same have a P of 0.9 or more. Agreement and chance are corrected together: their errors partly cancel, so that
  correcting one alone does harm.

The interval contains the posterior of the calibration, the uncertainty of chance, and the sampling of items by the
influence of each item. It does not depend on the reason for stopping. Without judgments and known pairs the value is
the measure's alone, and the interval says how far that may be off.

References
----------
Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model assisted survey sampling, chapter 6 (difference estimator).
Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm (confidence sequences from
mixtures).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.estimate import Estimate, Undefined
from softirr.statistics.coefficients.intervals import Coefficient, Details, Interval, standard_error
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.fit import Fit
from softirr.statistics.evidence.judgments import Judged
from softirr.statistics.evidence.posterior import Grid
from softirr.statistics.evidence.record import Record
from softirr.statistics.evidence.targets import CERTAIN, MeasureChance, Target, Targets

__all__ = ["COVERED", "Estimates", "Estimator", "estimate"]

COVERED = registry.coefficient_keys(audited=True)
"""The coefficients that judgments correct."""
_NOISE: Floats = np.linspace(-2.5, 2.5, 11, dtype=np.float64)
_NOISE_WEIGHT: Floats = np.exp(-(_NOISE**2) / 2) / np.exp(-(_NOISE**2) / 2).sum()
_LEVEL = 0.95
_STEP = 0.005
_BUCKETS = 1024
_FIXED_FROM = 8
"""Fewest judgments of pairs of the same item for the interval by the judgments alone."""
_NORMAL = 1.959964


@dataclass(frozen=True, eq=False)
class Estimates:
    """Coefficients from all evidence.

    Attributes
    ----------
    coefficients : dict of str to Coefficient
        By the names of ``COVERED``.
    expected : dict of str to (float or None)
        Agreement by chance: ``cohen``, ``fleiss``, ``krippendorff``.
    expected_error : float
        Its largest standard error.
    influences : dict of str to Estimate
        The coefficients by the corrected scores, with the influence of each item.
    judgments : int
        Judged pairs that count.
    parts : Estimator
        Estimates the same of raters and rater pairs.
    """

    coefficients: dict[str, Coefficient]
    expected: dict[str, float | None]
    expected_error: float
    influences: dict[str, Estimate]
    judgments: int
    parts: Estimator


def estimate(
    design: Design, by_measure: Mapping[str, Coefficient], measure_chance: MeasureChance, record: Record, judged: Judged
) -> Estimates:
    """Estimate the coefficients of a table from all evidence.

    Parameters
    ----------
    design : Design
        Without the pairs whose truth is known, which are in ``known`` of its frames.
    by_measure : mapping of str to Coefficient
        By the measure alone, with the interval of the items alone.
    measure_chance : MeasureChance
    record : Record
        What is known about the measure before any judgment.
    judged : Judged

    Returns
    -------
    Estimates
    """
    fit = Fit(design, record, judged)
    return Estimator(fit, Targets(fit, measure_chance)).estimates(by_measure)


class Estimator:
    """Estimates the coefficients of a table, of its raters and of its rater pairs by one calibration.

    Parameters
    ----------
    fit : Fit
    targets : Targets
    """

    def __init__(self, fit: Fit, targets: Targets) -> None:
        self.fit, self.targets = fit, targets

    def of_pairs(self, pairs: Ints, observed: Coefficient, kappa: Coefficient) -> tuple[Coefficient, Coefficient]:
        """Observed agreement and Cohen's kappa of some rater pairs, given the values by the measure."""
        one, other = self.targets.of_pairs(pairs)
        return self.coefficient(one, observed), self.coefficient(other, kappa)

    @property
    def _judgments(self) -> int:
        return len(self.fit.judged.keys)

    def estimates(self, by_measure: Mapping[str, Coefficient]) -> Estimates:
        """Every coefficient, with its interval."""
        targets = self.targets.project()
        coefficients = {
            name: self.coefficient(target, by_measure[name], whole=True) for name, target in targets.items()
        }
        expected: dict[str, float | None] = {}
        errors = [0.0]
        for name, of in (("cohen", "cohen_kappa"), ("fleiss", "fleiss_kappa"), ("krippendorff", "krippendorff_alpha")):
            target = targets[of]
            expected[name] = None
            if coefficients[of].value is not None:
                expected[name] = float(np.clip(1 - self._by_chance(target), 0, 1))
                errors.append(float(np.sqrt(target.apart.variance)))
        return Estimates(
            coefficients,
            expected,
            max(errors),
            {name: target.influence for name, target in targets.items()},
            self._judgments,
            self,
        )

    def _by_chance(self, target: Target) -> float:
        """B from the fitted pairs."""
        return self._of_same(target, self.fit.equivalence[0]) + target.apart.weight - target.apart.agreement

    def _of_same(self, target: Target, equivalence: Floats) -> float:
        """What pairs of the same item add to B."""
        return 0.0 if target.chance is None else float(target.chance @ (1 - equivalence[target.rows]))

    def _by_p(self, target: Target) -> float:
        """The coefficient of the sampled pairs by the measure's P.

        What the estimate is compared with, so that sampling pairs of chance cancels.
        """
        texts = self.fit.design.same.texts
        same = texts.equivalence(texts.p)
        by_chance = self._of_same(target, same) + target.apart.weight - target.apart.by_p
        return 1 - float(target.disagreement @ (1 - same[target.rows])) / max(by_chance, CERTAIN)

    def coefficient(self, target: Target, by_measure: Coefficient, *, whole: bool = False) -> Coefficient:
        """A coefficient with its interval; of the whole table with its details."""
        if by_measure.value is None:
            return by_measure
        if target.influence.undefined is not None:
            return Coefficient(None, undefined=target.influence.undefined)
        grid, every = self.fit.grids
        disagreement, by_chance = self._on_grid(target, grid)
        if float(by_chance.max()) <= CERTAIN:
            return Coefficient(None, undefined=str(Undefined.NO_VARIATION))
        error = _item_error(target)
        floor = 0.0 if target.chance is None else -1.0
        details = Details(
            items_only=Interval(by_measure.value, by_measure.standard_error, by_measure.ci95),
            judgments_only=self._by_judgments(target, error, floor) if whole else None,
            any_time=None,
            by_measure=by_measure.value,
        )
        mean = float(grid.after @ disagreement) / float(grid.after.sum())
        by_curve = float(grid.after @ (disagreement - mean) ** 2) / float(grid.after.sum())
        unexplained = self.fit.unexplained(target.rows, target.disagreement, by_curve)
        values, spread = _values(target, error or 0.0, unexplained, disagreement, by_chance)
        if error is None:  # one item: the evidence counts, and nothing is known about other items
            one = self._summary(values, spread, floor, by_measure, details, target)
            return replace(one, standard_error=None, ci95=None)
        any_time = None
        if whole and self._judgments:
            points = _points(*_values(target, error, unexplained, *self._on_grid(target, every)), floor)
            any_time = _sequence(points, every, floor)
        return self._summary(values, spread, floor, by_measure, replace(details, any_time=any_time), target)

    def _on_grid(self, target: Target, grid: Grid) -> tuple[Floats, Floats]:
        """D and B at each point of a grid."""
        whole = float(target.disagreement.sum())
        disagreement = whole - self.fit.agreement_on_grid(target.rows, target.disagreement, grid)
        by_chance: Floats = np.zeros(1)
        if target.chance is not None:
            by_chance = float(target.chance.sum()) - self.fit.agreement_on_grid(target.rows, target.chance, grid)
        return disagreement, by_chance + target.apart.weight - target.apart.agreement

    def _summary(
        self, values: Floats, spread: Floats, floor: float, by_measure: Coefficient, details: Details, target: Target
    ) -> Coefficient:
        """Value and interval from the values on the grid, each with a normal error."""
        after = self.fit.grids[0].after[:, None]
        points, weights = _points(values, spread, floor), after * _NOISE_WEIGHT / after.sum()
        tail = (1 - _LEVEL) / 2
        low, middle, high = _quantiles(points, weights, (tail, 0.5, 1 - tail))
        assert by_measure.value is not None
        value = middle
        if not self._judgments:
            value = by_measure.value
            if known := self.fit.known_share:
                (center,) = _quantiles(values[:, None], after, (0.5,))
                value = min(max(by_measure.value + known * (center - self._by_p(target)), floor), 1.0)
        mean = float(np.sum(weights * points))
        error = float(np.sqrt(np.sum(weights * (points - mean) ** 2)))
        if details.any_time is not None and details.any_time.ci95 is not None:
            ends = min(details.any_time.ci95[0], low), max(details.any_time.ci95[1], high)
            details = replace(details, any_time=Interval(value, None, ends))
        return Coefficient(
            value, error, (min(low, value), max(high, value)), judgments=self._judgments, details=details
        )

    def _by_judgments(self, target: Target, error: float | None, floor: float) -> Interval | None:
        """The coefficient by the judged pairs of one item alone, for a number of judgments fixed beforehand."""
        numbers, first = self.fit.first_members
        if len(first) < _FIXED_FROM or error is None:
            return None
        from scipy.special import stdtrit

        frame = self.fit.design.same
        stratum = frame.stratum
        if np.bincount(stratum[first], minlength=len(frame.rate)).min() < 2:
            stratum = np.zeros_like(stratum)
        k = int(stratum.max()) + 1
        judged = self.fit.judged.same[numbers]
        n = sums(stratum[first], np.ones(len(first)), k)
        mean = sums(stratum[first], judged, k) / n
        square = sums(stratum[first], (judged - mean[stratum[first]]) ** 2, k) / np.maximum(n - 1, 1)
        weights = sums(target.rows, target.disagreement, len(frame.texts.known))
        own = sums(stratum, frame.texts.weights(weights), k)
        disagreement = float(weights @ (1 - frame.texts.known)) - float(own @ mean)
        size = np.bincount(stratum, minlength=k)
        variance = float(np.sum(own**2 * np.maximum(square, 1 / (3 * n)) / n * (1 - n / size)))
        by_chance = max(self._by_chance(target), CERTAIN)
        variance += (disagreement / by_chance) ** 2 * target.apart.variance
        value = float(np.clip(1 - disagreement / by_chance, floor, 1))
        spread = float(np.sqrt(variance / by_chance**2 + error**2))
        reach = float(stdtrit(max(len(first) - k, 1), 0.5 + _LEVEL / 2)) * spread
        return Interval(value, spread, (max(value - reach, floor), min(value + reach, 1.0)))


def _values(
    target: Target, error: float, unexplained: float, disagreement: Floats, by_chance: Floats
) -> tuple[Floats, Floats]:
    """The coefficient at each point of a grid, and its standard error there."""
    by_chance = np.maximum(by_chance, CERTAIN)
    ratio = disagreement / by_chance
    return 1 - ratio, np.sqrt(error**2 + (unexplained + ratio**2 * target.apart.variance) / by_chance**2)


def _points(values: Floats, spread: Floats, floor: float) -> Floats:
    return np.asarray(np.clip(values[:, None] + spread[:, None] * _NOISE, floor, 1.0))


def _item_error(target: Target) -> float | None:
    """Standard error from the sampling of items.

    Where all items add the same, what N items miss with a probability of 5% (cf. the rule of three).
    """
    error = standard_error(target.influence)
    if error is None or error > CERTAIN:
        return error
    unseen = 1 - (1 - _LEVEL) ** (1 / len(target.influence.influence))
    return unseen / _NORMAL / max(1 - (target.influence.expected or 0.0), CERTAIN)


def _quantiles(points: Floats, weight: Floats, levels: tuple[float, ...]) -> list[float]:
    """Weighted quantiles, linear between points.

    Points are sorted only in the buckets where a quantile lies: a table has thousands of pairs of raters.
    """
    x, mass = points.ravel(), weight.ravel()
    low, high = float(x.min()), float(x.max())
    bucket = ((x - low) * ((_BUCKETS - 1) / max(high - low, 1e-300))).astype(np.int64)
    below = np.cumsum(np.bincount(bucket, weights=mass, minlength=_BUCKETS))
    filled = np.unique(bucket)
    result = []
    for level in levels:
        wanted = level * float(below[-1])
        place = min(int(np.searchsorted(below[filled], wanted)), len(filled) - 1)
        first, last = filled[max(place - 1, 0)], filled[min(place + 1, len(filled) - 1)]
        near = np.flatnonzero((bucket >= first) & (bucket <= last))
        near = near[np.argsort(x[near], kind="stable")]
        middle = np.cumsum(mass[near]) - mass[near] / 2 + (float(below[first - 1]) if first else 0.0)
        result.append(float(np.interp(wanted, middle, x[near])))
    return result


def _sequence(points: Floats, grid: Grid, floor: float) -> Interval:
    """The values whose posterior density is at least 5% of their prior density.

    A confidence sequence by Ville's inequality.
    """
    size = round((1 - floor) / _STEP) + 1
    place = np.clip(np.rint((points - floor) / _STEP).astype(np.int64), 0, size - 1).ravel()
    densities = [
        np.bincount(place, weights=(own[:, None] * _NOISE_WEIGHT).ravel(), minlength=size)
        for own in (grid.after, grid.before)
    ]
    held = np.flatnonzero(densities[0] >= (1 - _LEVEL) * densities[1])
    held = held[densities[1][held] > 0]
    return Interval(None, None, (floor + _STEP * float(held[0]), floor + _STEP * float(held[-1])))
