"""One estimator for every coefficient: known pairs, the measure's calibrated P of the others, judgments of random pairs, and the sampling of items.

Every coefficient here is ``1 - D / B``: D is a weighted mean of the disagreement of pairs of answers to the same item, B the same over all pairs
(``B = 1 - Pe``). The equivalence of two answers is a sum over their pairs of texts, so D and B are weighted sums of T, which is 1 where two texts mean the
same. T is known of identical texts, of pairs that a terminology knows or a reviewer decided, and of judged pairs. Of all others:

- pairs of the same item have the probability that the posterior calibration gives (:mod:`softirr.evidence.posterior`), corrected by the mean difference
  between judgments and calibration in each stratum (difference estimator), as far as there are many: by n / (n + 20);
- pairs of different items have the share of their stratum of P, a beta distribution by the record, updated by judgments. Nearly all of those that mean the
  same have a P of 0.9 or more. Agreement and chance are corrected together: their errors partly cancel, so that correcting one alone does harm.

The interval holds the posterior of the calibration, the uncertainty of chance, and the sampling of items by the influence of each item. It does not depend
on the reason for stopping. Without judgments and known pairs the value is that of the measure alone, and the interval says how far that may be off.

References
----------
Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model assisted survey sampling, chapter 6 (difference estimator).
Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm (confidence sequences from mixtures).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softirr.chance.expected import Chance
from softirr.coefficients import registry
from softirr.coefficients.cohen import mean_cohen
from softirr.coefficients.estimate import Estimate, Undefined
from softirr.coefficients.fleiss import fleiss
from softirr.coefficients.intervals import Coefficient, Details, Interval, standard_error
from softirr.coefficients.krippendorff import krippendorff
from softirr.coefficients.observed import observed_agreement
from softirr.coefficients.scott import scott
from softirr.evidence.design import Design, chance_stratum
from softirr.evidence.posterior import Bins, Curve, Scores, logit, posterior_curve
from softirr.evidence.record import Record
from softirr.tables.ratings import Floats, Ints, Ratings, sums

__all__ = ["COVERED", "Estimates", "Judged", "MeasureChance", "estimate"]

COVERED = registry.coefficient_keys(audited=True)
"""The coefficients that judgments correct."""
_SHRINKAGE = 20.0
"""Judgments at which half of the difference between judgments and calibration counts."""
_NOISE: Floats = np.linspace(-2.5, 2.5, 11, dtype=np.float64)
_NOISE_WEIGHT: Floats = np.exp(-(_NOISE**2) / 2) / np.exp(-(_NOISE**2) / 2).sum()
_LEVEL = 0.95
_STEP = 0.005
_FIXED_FROM = 8
"""Fewest judgments of pairs of the same item for the interval by the judgments alone."""
_CERTAIN = 1e-9
_NORMAL = 1.959964


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of texts.

    Attributes
    ----------
    keys : shape (n,)
        ``low * n_texts + high`` of the numbers of the two texts, ascending.
    same : shape (n,)
        1 where the texts mean the same, 0 where not, in between where judges differ.
    weight : shape (n,)
        Inverse of the relative probability with which each pair was drawn.
    p : shape (n,)
        The measure's P.
    n_texts : int
    """

    keys: Ints
    same: Floats
    weight: Floats
    p: Floats
    n_texts: int

    @classmethod
    def nothing(cls, n_texts: int) -> Judged:
        """No judgments."""
        none = np.zeros(0)
        return cls(np.zeros(0, dtype=np.int64), none, none, none, n_texts)

    def place(self, left: Ints, right: Ints) -> Ints:
        """Number of the judgment of texts left[i] and right[i], -1 where there is none, shape (len(left),)."""
        if not len(self.keys):
            return np.full(len(left), -1, dtype=np.int64)
        key = np.minimum(left, right) * np.int64(self.n_texts) + np.maximum(left, right)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at, -1)


@dataclass(frozen=True, eq=False)
class MeasureChance:
    """The ratings and the agreement by chance of the measure, which the influence of each item is computed with.

    Attributes
    ----------
    ratings : Ratings
    chance : Chance
    place : shape (P,)
        For each comparison of ``ratings``: its place among those of the design.
    """

    ratings: Ratings
    chance: Chance
    place: Ints


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
    """

    coefficients: dict[str, Coefficient]
    expected: dict[str, float | None]
    expected_error: float
    influences: dict[str, Estimate]
    judgments: int


@dataclass(frozen=True, eq=False)
class _Target:
    """Weights of a coefficient ``1 - D / B``: of pairs of answers of one item in D and in B, and of different items in B."""

    disagreement: Floats
    chance_same: Floats | None
    chance_different: Floats | None
    influence: Estimate


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
    return _Estimator(design, measure_chance, record, judged).estimates(by_measure)


class _Estimator:
    def __init__(self, design: Design, measure_chance: MeasureChance, record: Record, judged: Judged) -> None:
        self.design, self.measure_chance, self.record, self.judged = design, measure_chance, record, judged
        same, different = design.same.texts, design.different.texts
        self.same_at = judged.place(same.left, same.right)
        self.different_at = judged.place(different.left, different.right)
        self.open_same, self.open_different = self.same_at < 0, self.different_at < 0
        self.observed_weights = same.weights(design.ratings.pair_weights)
        self.curve, self.bins = self._curve()
        self.shares, self.share_variances = self._chance_shares()
        self.fitted_same, self.residuals = self._fitted_same()
        self.fitted_different = np.where(
            self.open_different, self.shares[design.different.stratum], self._truth(self.different_at)
        )
        self.expected = self._expected()

    @cached_property
    def _told_share(self) -> float:
        """How far the value without judgments is the posterior's: the root of the share of pairs of an item that a terminology or a reviewer knows.

        Known pairs remove the errors of the measure in some pairs only. The more there are, the less what is left cancels in agreement and chance.
        """
        texts = self.design.same.texts
        told, waiting = float(texts.told.sum()), float(len(texts.p))
        return float(np.sqrt(told / (told + waiting))) if told else 0.0

    def _truth(self, at: Ints) -> Floats:
        """T of judged pairs, 0 where not judged."""
        return np.where(at >= 0, self.judged.same[at] if len(self.judged.same) else 0.0, 0.0)

    def _first_members(self) -> tuple[Ints, Ints]:
        """Judgments of pairs of the same item, and the first pair of texts of each."""
        members = np.flatnonzero(~self.open_same)
        numbers, first = np.unique(self.same_at[members], return_index=True)
        return numbers, members[first]

    def _curve(self) -> tuple[Curve | None, Bins]:
        """The calibration; None where the truth of all pairs of the same item is known."""
        same, different = self.design.same.texts, self.design.different.texts
        logits = logit(same.p)
        bins = Bins.by_quantiles(logits)
        if not len(same.p) or not self.observed_weights.sum() > 0:
            return None, bins
        numbers, first = self._first_members()
        owner = same.owner[first]
        item = self.design.ratings.comparisons.item[owner]
        pairs = np.unique(np.stack([item, owner]), axis=1)
        answers = np.bincount(pairs[0], minlength=self.design.ratings.n_items) if len(first) else np.zeros(1)
        scores = Scores(same.p, self.observed_weights, different.p, different.weights(self.design.pooled_weight))
        return posterior_curve(
            scores,
            self.record,
            logits[first],
            self.judged.same[numbers],
            self.judged.weight[numbers],
            answers[item].astype(np.float64),
        ), bins

    def _chance_shares(self) -> tuple[Floats, Floats]:
        """Share of pairs of different items that mean the same in each stratum of P, and its variance."""
        apart = np.ones(len(self.judged.keys), dtype=bool)
        apart[self.same_at[~self.open_same]] = False
        stratum = chance_stratum(self.judged.p[apart])
        a, b = np.array(self.record.chance).T
        a = a + sums(stratum, self.judged.same[apart], len(a))
        b = b + sums(stratum, 1 - self.judged.same[apart], len(b))
        return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))

    def _fitted_same(self) -> tuple[Floats, Floats]:
        """Calibrated T of each pair of texts of one item, and the mean of T minus it in each stratum, shrunk."""
        frame = self.design.same
        fitted = self._truth(self.same_at)
        residuals: Floats = np.zeros(max(len(frame.rate), 1))
        if self.curve is None:
            return fitted, residuals
        means = self.curve.mean(self.bins.center)[self.bins.of]
        numbers, first = self._first_members()
        if len(first):
            weight = self.judged.weight[numbers]
            own = sums(frame.stratum[first], weight, len(residuals))
            off = sums(frame.stratum[first], weight * (self.judged.same[numbers] - means[first]), len(residuals))
            n = len(first)
            residuals = np.divide(off, own, out=residuals, where=own > 0) * n / (n + _SHRINKAGE)
        corrected = np.clip(means + residuals[frame.stratum], 0, 1)
        return np.where(self.open_same, corrected, fitted), residuals

    def _expected(self) -> tuple[float, float]:
        """B of Cohen and of the pooled coefficients, from the fitted pairs."""
        design = self.design
        same = design.same.texts.equivalence(self.fitted_same)
        different = design.different.texts.equivalence(self.fitted_different)
        cohen_same, pooled_same = self._chance_same()
        return (
            float(cohen_same @ (1 - same) + design.cohen_weight @ (1 - different)),
            float(pooled_same @ (1 - same) + design.pooled_weight @ (1 - different)),
        )

    def _chance_same(self) -> tuple[Floats, Floats]:
        """Weights of pairs of the same item in Cohen's and in the pooled expected agreement."""
        ratings = self.design.ratings
        comparisons, own = ratings.comparisons, ratings.weight[ratings.comparisons.item]
        mass = sums(comparisons.rater_pair, own, len(comparisons.shared))
        usable = comparisons.shared >= 2
        per_pair = np.where(usable, 1 / np.maximum(mass, 1e-300) ** 2, 0.0) / max(int(usable.sum()), 1)
        return per_pair[comparisons.rater_pair] * own**2, 2 * own**2 / self._mass**2

    @property
    def _mass(self) -> float:
        ratings = self.design.ratings
        items = ratings.comparable_items
        return float(np.sum(ratings.weight[items] * ratings.per_item[items]))

    def _calibrated_chance(self) -> Chance:
        """The measure's agreement by chance, scaled to the corrected one."""
        chance, usable = self.measure_chance.chance, self.measure_chance.ratings.comparisons.shared >= 2
        mean = float(chance.cohen[usable].mean()) if usable.any() else 0.0
        cohen = np.clip((1 - self.expected[0]) / mean, 0, 1e6) if mean > 0 else 1.0
        pooled = np.clip((1 - self.expected[1]) / chance.pooled, 0, 1e6) if chance.pooled > 0 else 1.0
        return replace(
            chance,
            cohen=np.clip(chance.cohen * cohen, 0, 1),
            cohen_error=np.zeros_like(chance.cohen_error),
            cohen_left=chance.cohen_left * cohen,
            cohen_right=chance.cohen_right * cohen,
            cohen_noise=chance.cohen_noise * cohen**2,
            pooled=float(np.clip(chance.pooled * pooled, 0, 1)),
            pooled_error=0.0,
            pooled_at=chance.pooled_at * pooled,
            pooled_noise=chance.pooled_noise * pooled**2,
            cohen_loadings=None,
        )

    def _targets(self) -> dict[str, _Target]:
        ratings, chance = self.measure_chance.ratings, self._calibrated_chance()
        scores = self.design.same.texts.equivalence(self.fitted_same)[self.measure_chance.place]
        own = self.design.ratings
        comparisons, weight = own.comparisons, own.weight[own.comparisons.item]
        pairs = np.bincount(comparisons.item, minlength=own.n_items)[comparisons.item]
        by_answers = own.per_item[comparisons.item] * weight / pairs / self._mass
        mass = sums(comparisons.rater_pair, weight, len(comparisons.shared))
        usable = comparisons.shared >= 2
        # a rater pair's disagreement is divided by its own disagreement by chance
        by_chance = np.where(usable, 1 - self._cohen_in_order(chance), np.inf)
        by_chance = np.where(by_chance > _CERTAIN, by_chance, np.inf)
        by_pair = self.expected[0] / (by_chance * np.maximum(mass, 1e-300) * max(int(usable.sum()), 1))
        cohen_same, pooled_same = self._chance_same()
        scale = self._mass / max(self._mass - 1, _CERTAIN)
        pooled = pooled_same, self.design.pooled_weight
        cohen = by_pair[comparisons.rater_pair] * weight, cohen_same, self.design.cohen_weight
        return {
            "observed_agreement": _Target(own.pair_weights, None, None, observed_agreement(ratings, scores)),
            "cohen_kappa": _Target(*cohen, mean_cohen(ratings, scores, chance)),
            "scott_pi": _Target(own.pair_weights, *pooled, scott(ratings, scores, chance)),
            "fleiss_kappa": _Target(own.pair_weights, *pooled, fleiss(ratings, scores, chance)),
            "krippendorff_alpha": _Target(
                by_answers, scale * pooled[0], scale * pooled[1], krippendorff(ratings, scores, chance)
            ),
        }

    def _cohen_in_order(self, chance: Chance) -> Floats:
        """Expected agreement of each rater pair of the design."""
        pair = np.empty(len(self.measure_chance.place), dtype=np.int64)
        pair[self.measure_chance.place] = self.measure_chance.ratings.comparisons.rater_pair
        result = np.zeros(len(self.design.ratings.comparisons.rater_pairs))
        result[self.design.ratings.comparisons.rater_pair] = chance.cohen[pair]
        return result

    def estimates(self, by_measure: Mapping[str, Coefficient]) -> Estimates:
        """Every coefficient, with its interval."""
        targets = self._targets()
        coefficients = {name: self._coefficient(name, target, by_measure[name]) for name, target in targets.items()}
        expected: dict[str, float | None] = {}
        errors = [0.0]
        for name, of in (("cohen", "cohen_kappa"), ("fleiss", "fleiss_kappa"), ("krippendorff", "krippendorff_alpha")):
            target = targets[of]
            defined = coefficients[of].value is not None and target.chance_different is not None
            expected[name] = None
            if defined and target.chance_same is not None and target.chance_different is not None:
                expected[name] = float(np.clip(1 - self._disagreement_by_chance(target), 0, 1))
                errors.append(float(np.sqrt(self._chance_variance(target.chance_different))))
        return Estimates(
            coefficients,
            expected,
            max(errors),
            {name: target.influence for name, target in targets.items()},
            len(self.judged.keys),
        )

    def _disagreement_by_chance(self, target: _Target) -> float:
        assert target.chance_same is not None and target.chance_different is not None
        same = self.design.same.texts.equivalence(self.fitted_same)
        different = self.design.different.texts.equivalence(self.fitted_different)
        return float(target.chance_same @ (1 - same) + target.chance_different @ (1 - different))

    def _chance_variance(self, weights: Floats) -> float:
        """Variance of B: of the shares of the strata, and of the sampled pairs of different items."""
        frame = self.design.different
        texts = frame.texts.weights(weights)
        own = sums(frame.stratum[self.open_different], texts[self.open_different], len(self.shares))
        fitted = frame.texts.equivalence(self.fitted_different)
        mean = float(weights @ fitted) / max(float(weights.sum()), 1e-300)
        sampled = 0.0 if self.design.complete else float(np.sum((weights * (fitted - mean)) ** 2))
        return float(own**2 @ self.share_variances) + sampled

    def _agreement_on_grid(self, weights: Floats) -> Floats:
        """Weighted sum of the equivalence of pairs of answers of one item at each point of the calibration's grid, shape (G,)."""
        frame = self.design.same
        texts = frame.texts.weights(weights)
        settled = float(weights @ frame.texts.known) + float(texts @ self._truth(self.same_at))
        if self.curve is None:
            return np.array([settled])
        waiting = np.where(self.open_same, texts, 0.0)
        shift = float(sums(frame.stratum, waiting, len(self.residuals)) @ self.residuals)
        total = settled + self.curve.totals(self.bins, waiting) + shift
        return np.asarray(np.clip(total, settled, settled + float(waiting.sum())))

    def _coefficient(self, name: str, target: _Target, by_measure: Coefficient) -> Coefficient:
        if by_measure.value is None:
            return by_measure
        if target.influence.undefined is not None:
            return Coefficient(None, undefined=target.influence.undefined)
        whole = float(target.disagreement.sum())
        disagreement = whole - self._agreement_on_grid(target.disagreement)
        by_chance: Floats = np.ones(1)
        variance = 0.0
        if target.chance_same is not None and target.chance_different is not None:
            different = self.design.different.texts.equivalence(self.fitted_different)
            by_chance = float(target.chance_same.sum()) - self._agreement_on_grid(target.chance_same)
            by_chance = by_chance + float(target.chance_different @ (1 - different))
            variance = self._chance_variance(target.chance_different)
            if float(by_chance.max()) <= _CERTAIN:
                return Coefficient(None, undefined=str(Undefined.NO_VARIATION))
            by_chance = np.maximum(by_chance, _CERTAIN)
        ratio = disagreement / by_chance
        error = self._item_error(target)
        unexplained = self._unexplained(target.disagreement, disagreement)
        floor = 0.0 if target.chance_different is None else -1.0
        details = Details(
            items_only=Interval(by_measure.value, by_measure.standard_error, by_measure.ci95),
            judgments_only=self._by_judgments(target, error, floor),
            any_time=None,
            by_measure=by_measure.value,
        )
        if error is None:
            return Coefficient(by_measure.value, judgments=len(self.judged.keys), details=details)
        spread = np.sqrt(error**2 + (unexplained + ratio**2 * variance) / by_chance**2)
        return self._summary(1 - ratio, spread, floor, by_measure, details, self._by_p(target))

    def _unexplained(self, weights: Floats, disagreement: Floats) -> float:
        """Variance of the weighted agreement that the calibration does not hold.

        Pairs that nobody judged vary around their probability. And the calibration's shape may be wrong: with many judgments the variance is at least that of
        the difference estimator.
        """
        if self.curve is None:
            return 0.0
        frame = self.design.same
        waiting = np.where(self.open_same, frame.texts.weights(weights), 0.0)
        low, high = np.minimum(frame.texts.left, frame.texts.right), np.maximum(frame.texts.left, frame.texts.right)
        _, first, key = np.unique(low * np.int64(self.judged.n_texts) + high, return_index=True, return_inverse=True)
        share = self.fitted_same[first]
        own = sums(key, waiting, len(first))
        result = float(np.sum(own**2 * share * (1 - share)))
        numbers, members = self._first_members()
        n = len(members)
        if n < 2:
            return result
        off = self.judged.same[numbers] - self.curve.mean(self.bins.center)[self.bins.of[members]]
        by_design = float(waiting.sum()) ** 2 * max(float(np.var(off, ddof=1)), 1 / (3 * n)) / n
        mean = float(self.curve.weight @ disagreement)
        by_curve = float(self.curve.weight @ (disagreement - mean) ** 2)
        return result + max(by_design - by_curve, 0.0) * n / (n + _SHRINKAGE)

    def _by_p(self, target: _Target) -> float:
        """The coefficient of the sampled pairs by the measure's P: what the estimate is compared with, so that sampling pairs of chance cancels."""
        same, different = (
            frame.texts.equivalence(frame.texts.p) for frame in (self.design.same, self.design.different)
        )
        by_chance = 1.0
        if target.chance_same is not None and target.chance_different is not None:
            by_chance = float(target.chance_same @ (1 - same) + target.chance_different @ (1 - different))
        return 1 - float(target.disagreement @ (1 - same)) / max(by_chance, _CERTAIN)

    def _item_error(self, target: _Target) -> float | None:
        """Standard error from the sampling of items; where all items add the same, what N items miss with a probability of 5% (cf. the rule of three)."""
        error = standard_error(target.influence)
        if error is None or error > _CERTAIN:
            return error
        unseen = 1 - (1 - _LEVEL) ** (1 / len(target.influence.influence))
        return unseen / _NORMAL / max(1 - (target.influence.expected or 0.0), _CERTAIN)

    def _summary(
        self, values: Floats, spread: Floats, floor: float, by_measure: Coefficient, details: Details, by_p: float
    ) -> Coefficient:
        """Value and intervals from the values on the grid, each with a normal error."""
        after = self.curve.weight if self.curve is not None else np.ones(1)
        before = self.curve.prior if self.curve is not None else np.ones(1)
        points = np.clip(values[:, None] + spread[:, None] * _NOISE, floor, 1.0)
        tail = (1 - _LEVEL) / 2
        low, middle, high = _quantiles(points, after[:, None] * _NOISE_WEIGHT, (tail, 0.5, 1 - tail))
        judgments = len(self.judged.keys)
        assert by_measure.value is not None
        value = middle
        if not judgments:
            (center,) = _quantiles(values[:, None], after[:, None], (0.5,))
            value = min(max(by_measure.value + self._told_share * (center - by_p), floor), 1.0)
            if not self._told_share:
                value = by_measure.value
        mean = float(np.sum(after[:, None] * _NOISE_WEIGHT * points))
        error = float(np.sqrt(np.sum(after[:, None] * _NOISE_WEIGHT * (points - mean) ** 2)))
        any_time = _sequence(points, after, before, floor) if judgments else None
        if any_time is not None:
            any_time = (min(any_time[0], low), max(any_time[1], high))
        return Coefficient(
            value,
            error,
            (min(low, value), max(high, value)),
            judgments=judgments,
            details=replace(details, any_time=None if any_time is None else Interval(value, None, any_time)),
        )

    def _by_judgments(self, target: _Target, error: float | None, floor: float) -> Interval | None:
        """The coefficient by the judged pairs of one item alone, for a number of judgments that was fixed beforehand."""
        numbers, first = self._first_members()
        if len(first) < _FIXED_FROM or error is None:
            return None
        from scipy.special import stdtrit

        frame = self.design.same
        stratum = frame.stratum
        if np.bincount(stratum[first], minlength=len(frame.rate)).min() < 2:
            stratum = np.zeros_like(stratum)
        k = int(stratum.max()) + 1
        judged = self.judged.same[numbers]
        n = sums(stratum[first], np.ones(len(first)), k)
        mean = sums(stratum[first], judged, k) / n
        square = sums(stratum[first], (judged - mean[stratum[first]]) ** 2, k) / np.maximum(n - 1, 1)
        texts = frame.texts.weights(target.disagreement)
        own = sums(stratum, texts, k)
        disagreement = float(target.disagreement @ (1 - frame.texts.known)) - float(own @ mean)
        size = np.bincount(stratum, minlength=k)
        variance = float(np.sum(own**2 * np.maximum(square, 1 / (3 * n)) / n * (1 - n / size)))
        by_chance = 1.0 if target.chance_same is None else max(self._disagreement_by_chance(target), _CERTAIN)
        if target.chance_different is not None:
            variance += (disagreement / by_chance) ** 2 * self._chance_variance(target.chance_different)
        value = float(np.clip(1 - disagreement / by_chance, floor, 1))
        whole = float(np.sqrt(variance / by_chance**2 + error**2))
        reach = float(stdtrit(max(len(first) - k, 1), 0.5 + _LEVEL / 2)) * whole
        return Interval(value, whole, (max(value - reach, floor), min(value + reach, 1.0)))


def _quantiles(points: Floats, weight: Floats, levels: tuple[float, ...]) -> list[float]:
    order = np.argsort(points, axis=None)
    mass = weight.ravel()[order]
    below = np.cumsum(mass) - mass / 2
    return [float(x) for x in np.interp(np.array(levels) * mass.sum(), below, points.ravel()[order])]


def _sequence(points: Floats, after: Floats, before: Floats, floor: float) -> tuple[float, float]:
    """The values whose posterior density is at least 5% of their prior density: a confidence sequence by Ville's inequality."""
    size = round((1 - floor) / _STEP) + 1
    place = np.clip(np.rint((points - floor) / _STEP).astype(np.int64), 0, size - 1).ravel()
    densities = [
        np.bincount(place, weights=(own[:, None] * _NOISE_WEIGHT).ravel(), minlength=size) for own in (after, before)
    ]
    held = np.flatnonzero(densities[0] >= (1 - _LEVEL) * densities[1])
    held = held[densities[1][held] > 0]
    return floor + _STEP * float(held[0]), floor + _STEP * float(held[-1])
