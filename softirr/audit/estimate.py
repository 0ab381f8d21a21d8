"""Coefficients from judged pairs and a measure known for all pairs, by the difference estimator of survey sampling.

Every coefficient here is ``1 - D / B``: D is a weighted mean of the disagreement over same-item pairs of answers, B over all pairs
(``B = 1 - Pe``). The equivalence of two answers is a sum over their pairs of texts (see :mod:`softirr.audit.design`), so D and B are
weighted sums of T, which is 1 where a judge says that two texts are the same. The estimator uses the measure's P for T and corrects it
by the judged pairs: ``mean P over all + mean (T - P) over the judged``, within strata of P, where P gets the weight that minimizes the
variance (Särndal, Swensson and Wretman 1992, ch. 6; prediction-powered inference with power tuning, Angelopoulos, Duchi and Zrnic 2023).
It is unbiased for any measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softirr.audit.design import Design, Frame
from softirr.chance.expected import Chance
from softirr.coefficients import chance_corrected as co
from softirr.coefficients.estimate import Estimate, Undefined
from softirr.coefficients.informed import Informed, grid, informed
from softirr.coefficients.intervals import Coefficient, standard_error
from softirr.tables.ratings import Floats, Ints, sums

__all__ = ["AUDITED", "Audited", "estimate"]

_UNSEEN = 1 / 3
"""Least number of disagreements with the measure assumed in the variance, for judged pairs that never disagree with it."""
_POOLED = 1.0
"""Weight, in judged pairs, of the mean variance of all same-item strata in each stratum's variance: two pairs alone estimate it poorly."""
_LENT = 0.5
"""Weight, in judged pairs, of the same-item variance in each different-item stratum's variance; less where chance agreement is rare."""
_LEAST_LENT = 0.1
_FOLDS = 5
_TUNED_FROM = 30
"""Fewest judged pairs of a frame for which the weight of P within strata is estimated; with fewer, P only defines the strata."""

_MOST_ITEMS = 0.3
"""Most variance of one item: 1/4 of a share, and something for chance."""
_CHANCE_ERROR = 0.05
"""Least standard deviation of what is known about agreement by chance before any judgement."""
_UNJUDGED = 0.05
"""Variance of the agreement by chance of the measure around the true one, while no different-item pair is judged."""

AUDITED = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True, eq=False)
class _Fit:
    """Estimates for all pairs of one frame from its judged pairs of texts.

    Attributes
    ----------
    frame : Frame
    stratum : shape (E,)
        As in the frame, with strata of fewer than two judged pairs joined to their neighbors.
    members : shape (n,)
        Judged pairs.
    proxies : shape (E, d)
        What is known of every pair: P, and the P of other measures.
    adjusted : shape (n,)
        T - λ (P - mean P of the stratum), summed over the proxies.
    slope : shape (n, d)
        λ of each proxy, fitted without the pair's own fold, so that it adds no bias.
    mean : shape (K,)
        Mean of ``adjusted`` in each stratum.
    variance : shape (K,)
        Variance of ``adjusted`` around this mean.
    freedom : shape (K,)
        Degrees of freedom of the variance.
    fitted : shape (M,)
        Equivalence of the pairs of answers, from T where it is known and calibrated P elsewhere.
    """

    frame: Frame
    stratum: Ints
    members: Ints
    proxies: Floats
    adjusted: Floats
    slope: Floats
    mean: Floats
    variance: Floats
    freedom: Floats
    fitted: Floats

    @classmethod
    def of(cls, frame: Frame, members: Ints, values: Floats, lent: float | None, others: Floats | None = None) -> _Fit:
        """Fit to judged values, shape (n,).

        ``lent`` is the variance that strata are shrunk towards, None for a variance floor; ``others`` is the P of other measures, shape (E, d - 1).
        """
        every = frame.texts.p[:, None] if others is None else np.column_stack([frame.texts.p, others])
        stratum = _joined(frame.stratum, members)
        k = int(stratum.max()) + 1 if len(stratum) else 0
        size = np.bincount(stratum, minlength=k)
        if not len(members):
            nothing = np.zeros(k)
            mean = sums(stratum, frame.texts.p, k) / np.maximum(size, 1)
            return cls(
                frame,
                stratum,
                members,
                every,
                nothing[:0],
                every[:0],
                mean,
                nothing + _UNJUDGED,
                nothing + 1,
                frame.p,
            )
        s = stratum[members]
        n = np.bincount(s, minlength=k)
        off = _centered(every, stratum, size)
        fold = np.arange(len(members)) % _FOLDS
        slope = np.zeros((len(members), every.shape[1]))
        for one in range(_FOLDS):
            rest = fold != one
            slope[fold == one] = _slopes(every[members[rest]], values[rest], s[rest], size)
        adjusted = values - np.sum(slope * off[members], axis=1)
        mean = sums(s, adjusted, k) / n
        square = sums(s, (adjusted - mean[s]) ** 2, k)
        freedom = np.maximum(n - 1, 1).astype(np.float64)
        if lent is None:
            pooled = float(square.sum() / freedom.sum())
            variance = (square + _POOLED * pooled) / (freedom + _POOLED)
            freedom = freedom + _POOLED
            # at least the variance of a third of a disagreement among all judged pairs
            weights = size**2 / n
            seen = float(np.sum(weights * variance) / np.sum(weights))
            variance = variance + max(_UNSEEN / len(members) - seen, 0.0)
        else:
            variance = (square + _LENT * lent) / (freedom + _LENT)
            freedom = freedom + _LENT
        variance = np.where(n < size, variance, 0.0)
        fitted = np.clip(mean[stratum] + off @ _slopes(every[members], values, s, size), 0, 1)
        fitted[members] = values
        equivalence = frame.texts.equivalence(fitted)
        return cls(frame, stratum, members, every, adjusted, slope, mean, variance, freedom, equivalence)

    @cached_property
    def size(self) -> Ints:
        """Pairs of each stratum, shape (K,)."""
        return np.bincount(self.stratum, minlength=len(self.mean))

    @cached_property
    def drawn(self) -> Ints:
        """Judged pairs of each stratum, shape (K,)."""
        return np.bincount(self.stratum[self.members], minlength=len(self.mean))

    @property
    def residual(self) -> float:
        """Mean variance of T around its calibrated value, over the pairs in strata."""
        return float(np.sum(self.size * self.variance) / max(self.size.sum(), 1))

    def total(self, of_answers: Floats) -> float:
        """Estimate of the weighted sum of the true equivalence over the pairs of answers, for weights of shape (M,), at least 0."""
        result = float(np.sum(of_answers * self.frame.texts.known))
        if not len(self.mean):
            return result
        k = len(self.mean)
        weights = self.frame.texts.weights(of_answers)
        s, w = self.stratum[self.members], weights[self.members]
        found = sums(s, w, k)
        least = np.where(found > 0, found, 1)
        # a stratum in which no judged pair has a weight in this coefficient uses its unweighted mean
        mean = np.where(found > 0, sums(s, w * self.adjusted, k) / least, self.mean)
        result += float(np.sum(sums(self.stratum, weights, k) * mean))
        # the weighted mean of P differs from the unweighted one where weights depend on P
        off = _centered(self.proxies, self.stratum, self.size)
        for own, slope in zip(off.T, self.slope.T, strict=True):
            result += float(np.sum(sums(self.stratum, weights * own, k) * (sums(s, w * slope, k) / least)))
        return result

    def asked(self, of_answers: Floats) -> tuple[float, float]:
        """Sum of the weights of the pairs of texts that can be asked about, and of the disagreement that is certain without asking."""
        whole = float(self.frame.texts.weights(of_answers).sum())
        certain = float(of_answers.sum()) - float(np.sum(of_answers * self.frame.texts.known)) - whole
        return whole, certain

    def variances(self, of_answers: Floats, more: float = 1.0) -> Floats:
        """Variance of that estimate by stratum, were ``more`` times as many pairs judged; shape (K,)."""
        if not len(self.mean):
            return np.zeros(0)
        squares = sums(self.stratum, self.frame.texts.weights(of_answers) ** 2, len(self.mean))
        # a frame without judged pairs counts as if one pair of each stratum had been judged as the measure says
        drawn = np.minimum(np.maximum(self.drawn * more, 1e-9 if len(self.members) else 1.0), self.size)
        return np.asarray((1 - drawn / self.size) * self.size * squares * self.variance / drawn)


def _joined(stratum: Ints, members: Ints) -> Ints:
    """Strata, where each one with fewer than two judged pairs is joined to the next one (the last to the previous one)."""
    k = int(stratum.max()) + 1 if len(stratum) else 0
    n = np.bincount(stratum[members], minlength=k)
    size = np.bincount(stratum, minlength=k)
    label, have, whole, new = np.zeros(k, dtype=np.int64), 0, 0, 0
    for h in range(k):
        label[h] = new
        have, whole = have + int(n[h]), whole + int(size[h])
        if have >= min(2, whole):
            have, whole, new = 0, 0, new + 1
    if whole and new:  # too few pairs are left at the end
        label[label == new] = new - 1
    return label[stratum] if k else stratum


def _centered(values: Floats, stratum: Ints, size: Ints) -> Floats:
    """Columns of values minus their means in strata of these sizes, shape (n, d)."""
    many = np.maximum(size, 1)
    means = [sums(stratum, column, len(size)) / many for column in values.T]
    return np.asarray(values - np.column_stack(means)[stratum])


def _slopes(proxies: Floats, values: Floats, stratum: Ints, size: Ints) -> Floats:
    """Slopes of T on the proxies within strata, shape (d,): those that minimize the variance, shrunk towards 0 together.

    The slopes of standardized proxies are taken to be normal around 0, with the variance that makes the observed ones most likely (empirical
    Bayes, which is ridge regression). With one proxy this is its power tuning.
    """
    d = proxies.shape[1]
    if d == 1:
        return np.array([_power(proxies[:, 0], values, stratum, size)])
    none = np.zeros(d)
    if len(values) < _TUNED_FROM * (_FOLDS - 1) / _FOLDS:
        return none
    n = np.bincount(stratum, minlength=len(size))
    off = _centered(np.column_stack([proxies, values]), stratum, n)
    weight = (size**2 / np.maximum(n, 1) / np.maximum(n - 1, 1))[stratum]
    root = np.sqrt(weight / weight.mean())
    spread = np.sqrt(np.mean((root[:, None] * off) ** 2, axis=0))
    used = np.flatnonzero(spread[:-1] > 1e-6)
    if not len(used) or spread[-1] <= 0:
        return none
    x, t = root[:, None] * off[:, used] / spread[used], root * off[:, -1]
    own, axes = np.linalg.eigh(x.T @ x)
    kept = own > 1e-6 * own[-1]
    own, axes = own[kept], axes[:, kept]
    slope = axes.T @ (x.T @ t) / own
    freedom = max(len(t) - int((n > 0).sum()) - len(own), 1)
    error = float(np.sum((t - x @ (axes @ slope)) ** 2)) / freedom / own
    tried = np.append(0.0, np.geomspace(1e-3, 1, 40) * spread[-1]) ** 2
    whole = tried[:, None] + error
    best = tried[np.argmin(np.sum(np.log(whole) + slope**2 / whole, axis=1))]
    result = none
    result[used] = axes @ (slope * best / (best + error)) / spread[used]
    return result


def _power(p: Floats, values: Floats, stratum: Ints, size: Ints) -> float:
    """Slope λ of T on P within strata that minimizes the variance (power tuning), shrunk to 0 by its own uncertainty; 0 ignores P."""
    if len(p) < _TUNED_FROM * (_FOLDS - 1) / _FOLDS:
        return 0.0
    k = len(size)
    n = np.bincount(stratum, minlength=k)
    many = np.maximum(n, 1)
    dp = p - (sums(stratum, p, k) / many)[stratum]
    dt = values - (sums(stratum, values, k) / many)[stratum]
    weight = (size**2 / many / np.maximum(n - 1, 1))[stratum]
    spread = float(np.sum(weight * dp * dp))
    if spread <= 1e-12 * max(float(weight.sum()), 1e-300):
        return 0.0
    slope = float(np.sum(weight * dp * dt)) / spread
    error = float(np.sum((weight * dp * (dt - slope * dp)) ** 2)) / spread**2
    if slope <= 0 or slope**2 <= error:
        return 0.0
    return min(slope * (1 - error / slope**2), 2.0)


@dataclass(frozen=True, eq=False)
class Audited:
    """Audited coefficients, with the interval widths that more judgements would give.

    Attributes
    ----------
    coefficients : dict of str to Coefficient
        Coefficients by the names of ``AUDITED``.
    expected : dict of str to float or None
        Audited agreement by chance: ``cohen``, ``fleiss``, ``krippendorff``.
    expected_error : float
        Largest standard error of these that is due to the audit's sampling.
    widths : callable
        ``widths(name, more)``: width of the interval with ``more`` times as many judged pairs; None where undefined.
    informed : dict of str to Informed
        The coefficients with what is known about the measure, where that was given.
    informed_widths : callable
        As ``widths``, of ``informed``.
    imputed : dict of str to Estimate
        The coefficients by the calibrated measure, with the influence of each item.
    judged : (int, int)
        Judged pairs of texts of answers to one item and to different items.
    """

    coefficients: dict[str, Coefficient]
    expected: dict[str, float | None]
    expected_error: float
    widths: Callable[[str, float], float | None]
    informed: dict[str, Informed]
    informed_widths: Callable[[str, float], float | None]
    imputed: dict[str, Estimate]
    judged: tuple[int, int]


@dataclass(frozen=True, eq=False)
class _Target:
    """A coefficient ``1 - D / B``: its weights over the frames, and the same coefficient from calibrated scores."""

    disagreement: Floats  # of each same-item pair in D
    chance_same: Floats | None  # of each same-item pair in B
    chance_different: Floats | None  # of each different-item pair in B
    imputed: Estimate


def estimate(
    design: Design,
    judged: dict[tuple[int, int], float],
    n_draws: int,
    chance: Chance,
    priors: Mapping[str, Floats] | None = None,
    proxies: tuple[Floats, Floats] | None = None,
) -> Audited:
    """Compute the coefficients from the judgements.

    Parameters
    ----------
    design : Design
    judged : dict of (int, int) to float
        True equivalence of judged pairs of texts, by ``design.key``.
    n_draws : int
        The judged pairs are among the first ``n_draws`` of ``design.draws()``; the others of these are treated as missing at random.
    chance : Chance
        Agreement by chance under the measure; each answer's chance agreement is needed for the sampling of items.
    priors : mapping of str to shape (n,), optional
        Logarithm of the density of a coefficient of this table before any judgement, at its :func:`softirr.coefficients.informed.grid`.
    proxies : (shape (E, d), shape (E', d)), optional
        P by other measures, of the pairs of texts of both frames.

    Returns
    -------
    Audited
    """
    others: tuple[Floats | None, Floats | None] = (None, None) if proxies is None else proxies
    members: tuple[list[int], list[int]] = ([], [])
    values: tuple[list[float], list[float]] = ([], [])
    for _, (frame, member) in zip(range(n_draws), design.draws(), strict=False):
        value = judged.get(design.key(frame, member))
        if value is not None:
            members[frame].append(member)
            values[frame].append(value)
    same = _Fit.of(design.same, np.array(members[0], dtype=np.int64), np.array(values[0]), None, others[0])
    lent = same.residual * max(_LEAST_LENT, 4 * design.chance * (1 - design.chance))
    different = _Fit.of(design.different, np.array(members[1], dtype=np.int64), np.array(values[1]), lent, others[1])
    return _Estimator(design, same, different, chance).audited(priors or {})


class _Estimator:
    """Combines the estimates of both frames with the sampling of items."""

    def __init__(self, design: Design, same: _Fit, different: _Fit, chance: Chance) -> None:
        self.design, self.same, self.different = design, same, different
        ratings = self.ratings = design.ratings
        comparisons = ratings.comparisons
        self.pairs = np.bincount(comparisons.item, minlength=ratings.n_items)[comparisons.item].astype(np.float64)
        n = len(ratings.comparable)
        usable = comparisons.shared >= 2
        self.cohen_same = np.where(usable, 1.0 / comparisons.shared**2, 0.0)[comparisons.rater_pair] / max(
            int(usable.sum()), 1
        )
        self.pooled_same = np.full(len(self.pairs), 2 / n**2)
        self.disagreement_cohen = self._chance_disagreement(self.cohen_same, design.cohen_weight)
        self.disagreement_pooled = self._chance_disagreement(self.pooled_same, design.pooled_weight)
        self.chance = self._calibrated(chance)

    def _chance_disagreement(self, same: Floats, different: Floats) -> float:
        """B: 1 - Pe."""
        return float(same.sum() + different.sum()) - self.same.total(same) - self.different.total(different)

    def _calibrated(self, chance: Chance) -> Chance:
        """The measure's chance agreement rescaled to the judgements: ``α + β × P``, with the audited means."""
        weights, p = self.design.pooled_weight, self.different.frame.p
        total = max(float(weights.sum()), 1e-300)
        center_p = float(weights @ p) / total
        center = float(weights @ self.different.fitted) / total
        spread = float(weights @ (p - center_p) ** 2)
        slope = float(weights @ ((p - center_p) * (self.different.fitted - center))) / spread if spread > 0 else 0.0

        def rescaled(values: Floats, mean: float, target: float) -> Floats:
            return np.asarray(np.clip(target + slope * (values - mean), 0, 1))

        usable = self.ratings.comparisons.shared >= 2
        mean = float(chance.cohen[usable].mean()) if usable.any() else 0.0
        cohen, pooled = 1 - self.disagreement_cohen, 1 - self.disagreement_pooled
        return replace(
            chance,
            cohen=rescaled(chance.cohen, mean, cohen),
            cohen_error=np.zeros_like(chance.cohen_error),
            cohen_left=cohen + slope * (chance.cohen_left - mean),
            cohen_right=cohen + slope * (chance.cohen_right - mean),
            cohen_noise=slope**2 * chance.cohen_noise,
            pooled=float(np.clip(pooled, 0, 1)),
            pooled_error=0.0,
            pooled_at=pooled + slope * (chance.pooled_at - chance.pooled),
            pooled_noise=slope**2 * chance.pooled_noise,
            cohen_loadings=None,
        )

    def _targets(self) -> dict[str, _Target]:
        ratings, chance = self.ratings, self.chance
        comparisons = ratings.comparisons
        scores = self.same.fitted
        per_item = 1 / (self.pairs * len(ratings.comparable_items))
        n = len(ratings.comparable)
        by_answers = ratings.per_item[comparisons.item] / self.pairs / n
        usable = comparisons.shared >= 2
        # a rater pair's disagreement is divided by its own disagreement by chance
        chance_disagreement = np.where(usable & (chance.cohen < 1 - 1e-9), 1 - chance.cohen, np.inf)
        by_pair = self.disagreement_cohen / (chance_disagreement * comparisons.shared * max(int(usable.sum()), 1))
        cohen = _Target(
            by_pair[comparisons.rater_pair],
            self.cohen_same,
            self.design.cohen_weight,
            co.mean_cohen(ratings, scores, chance),
        )
        pooled = self.pooled_same, self.design.pooled_weight
        scale = n / (n - 1)
        return {
            "observed_agreement": _Target(per_item, None, None, co.observed_agreement(ratings, scores)),
            "cohen_kappa": cohen,
            "scott_pi": _Target(per_item, *pooled, co.scott(ratings, scores, chance)),
            "fleiss_kappa": _Target(per_item, *pooled, co.fleiss(ratings, scores, chance)),
            "krippendorff_alpha": _Target(
                by_answers, scale * pooled[0], scale * pooled[1], co.krippendorff(ratings, scores, chance)
            ),
        }

    def audited(self, priors: Mapping[str, Floats]) -> Audited:
        targets = self._targets()
        parts = {name: self._parts(target) for name, target in targets.items()}
        expected: dict[str, float | None] = {}
        error = 0.0
        for name, of in (("cohen", "cohen_kappa"), ("fleiss", "fleiss_kappa"), ("krippendorff", "krippendorff_alpha")):
            part = parts[of]
            expected[name] = None if isinstance(part, str) else float(np.clip(1 - part.chance_disagreement, 0, 1))
            if not isinstance(part, str):
                error = max(error, float(np.sqrt(part.different.sum())))

        def width(name: str, more: float) -> float | None:
            target = targets[name]
            part = self._parts(target, more)
            if isinstance(part, str):
                return None
            low, high = part.interval()
            return high - low

        def updated(name: str, more: float = 1.0) -> Informed | None:
            part = parts[name] if more == 1 else self._parts(targets[name], more)
            if name not in priors or isinstance(part, str):
                return None
            return part.informed(priors[name], grid(name), judged=len(self.same.members) > 0)

        def updated_width(name: str, more: float) -> float | None:
            found = updated(name, more)
            return None if found is None else found.ci95[1] - found.ci95[0]

        found = {name: updated(name) for name in parts}
        return Audited(
            {
                name: Coefficient(None, undefined=part) if isinstance(part, str) else part.coefficient()
                for name, part in parts.items()
            },
            expected,
            error,
            width,
            {name: one for name, one in found.items() if one is not None},
            updated_width,
            {name: target.imputed for name, target in targets.items()},
            (len(self.same.members), len(self.different.members)),
        )

    def _parts(self, target: _Target, more: float = 1.0) -> _Parts | str:
        """Estimates and variances of D and B, or the reason why the coefficient is not defined."""
        if target.imputed.undefined is not None:
            return target.imputed.undefined
        w = target.disagreement
        disagreement = float(w.sum()) - self.same.total(w)
        if target.chance_same is None or target.chance_different is None:
            chance_disagreement, odds = 1.0, 1.0
            different: Floats = np.zeros(0)
        else:
            chance_disagreement = float(target.chance_same.sum() + target.chance_different.sum())
            chance_disagreement -= self.same.total(target.chance_same) + self.different.total(target.chance_different)
            if chance_disagreement <= 1e-9:
                return str(Undefined.NO_VARIATION)
            odds = disagreement / chance_disagreement
            different = self.different.variances(target.chance_different, more)
            w = w - odds * target.chance_same
        same = self.same.variances(w, more)
        error = standard_error(target.imputed) or 0.0
        items = (error * chance_disagreement) ** 2 + self._unexplained(target.disagreement)
        n_items = len(target.imputed.influence)
        first_phase = self._first_phase(target.chance_different)
        by_chance = self.different.freedom[: len(different)]
        # the variance of same-item pairs follows from their share (_Share), which all strata estimate together
        own = np.full(len(same), max(float(self.same.freedom.sum()), 1.0))
        freedom = np.concatenate([own * more, by_chance * more, np.full(2, max(n_items - 1.0, 1.0))])
        known = self._known_chance(target)
        shares = (
            _Share(*self.same.asked(target.disagreement), _UNSEEN / max(len(self.same.members) * more, 1)),
            _Share(float(target.disagreement.sum()), 0.0, _UNSEEN / n_items),
        )
        return _Parts(disagreement, chance_disagreement, same, different, items, first_phase, freedom, known, shares)

    def _known_chance(self, target: _Target) -> tuple[float, float] | None:
        """B before any judgement, and its variance: agreement by chance is between what P and what identical texts suggest."""
        if target.chance_same is None or target.chance_different is None:
            return None
        whole = float(target.chance_same.sum() + target.chance_different.sum())
        frame, weights = self.different.frame, self.design.pooled_weight
        by_p = float(weights @ frame.p) / max(float(weights.sum()), 1e-300)
        centre = (by_p + self.design.chance) / 2
        error = max(abs(by_p - self.design.chance) / 2, centre / 2, _CHANCE_ERROR)
        return whole * (1 - centre), (whole * error) ** 2

    def _unexplained(self, w: Floats) -> float:
        """Variance between items of the part of T that P does not explain, for unjudged pairs and their covariance with judged ones.

        Pairs of texts of the same two answers are independent; those of different raters of an item are correlated (``_within_items``).
        """
        texts, item = self.same.frame.texts, self.ratings.comparisons.item
        squares = texts.weights(w) ** 2
        judged = np.zeros(len(squares), dtype=bool)
        judged[self.same.members] = True
        whole, seen = (
            sums(item, np.sqrt(sums(texts.owner[of], squares[of], len(w))), self.ratings.n_items)
            for of in (np.ones(len(squares), dtype=bool), judged)
        )
        alone = float(np.sum(squares[~judged]))
        share = self._within_items
        return self.same.residual * (share * float(np.sum(whole**2) - np.sum(seen**2)) + (1 - share) * alone)

    @cached_property
    def _within_items(self) -> float:
        """Correlation of the same-item pairs of one item if each rater is right with probability q: q / (1 + q), with agreement q²."""
        comparisons = self.ratings.comparisons
        observed = self.same.total(1 / (self.pairs * len(self.ratings.comparable_items)))
        q = float(np.sqrt(np.clip(observed, 0, 1)))
        return q / (1 + q) if len(comparisons.rater_pairs) > 1 else 1.0

    def _first_phase(self, weights: Floats | None) -> float:
        """Variance due to the different-item frame being a sample."""
        if weights is None or not len(weights):
            return 0.0
        chance_disagreement = 1 - self.different.fitted
        mean = float(weights @ chance_disagreement) / max(float(weights.sum()), 1e-300)
        within = np.sum(self.different.frame.texts.weights(weights) ** 2)
        return float(np.sum((weights * (chance_disagreement - mean)) ** 2) + self.different.residual * within)


_ODDS: Floats = np.asarray(np.linspace(0, 2, 2_001), dtype=np.float64)
"""Values of 1 - κ."""


def _crossing(at: Floats, values: Floats) -> float:
    """Where values, negative at first, become positive; the last place if they never do."""
    beyond = np.flatnonzero(values > 0)
    if not len(beyond):
        return float(at[-1])
    i = int(beyond[0])
    if i == 0:
        return float(at[0])
    part = values[i - 1] / (values[i - 1] - values[i])
    return float(at[i - 1] + part * (at[i] - at[i - 1]))


@dataclass(frozen=True)
class _Share:
    """A share of pairs that agree, as a part of a disagreement D: how its variance changes with D.

    A share q has the variance q (1 - q) where it is the true one, so a value near 0 or 1 that happened to be observed understates it (Wilson 1927).

    Attributes
    ----------
    whole : float
        D where the share is 0, minus ``least``.
    least : float
        D where the share is 1.
    floor : float
        Least variance: that of a part of a single pair.
    """

    whole: float
    least: float
    floor: float

    def variance(self, disagreement: Any) -> Any:
        """Variance of the share, up to a factor, were this the true D."""
        if self.whole <= 0:
            return np.ones_like(disagreement)
        q = np.clip((disagreement - self.least) / self.whole, 0, 1)
        return q * (1 - q) + self.floor


@dataclass(frozen=True, eq=False)
class _Parts:
    """D, B, and the variances of ``D - (1 - κ) B``: from both frames by stratum, from items, and from the frame's own sampling."""

    disagreement: float
    chance_disagreement: float
    same: Floats
    different: Floats
    items: float
    first_phase: float
    freedom: Floats
    known_chance: tuple[float, float] | None
    shares: tuple[_Share, _Share]

    @property
    def odds(self) -> float:
        """1 - κ: D / B, corrected for the bias of a ratio to second order."""
        chance = self.chance_disagreement
        return self.disagreement / chance * (1 - float(self.different.sum()) / chance**2)

    def _variances(self) -> Floats:
        odds = self.disagreement / self.chance_disagreement
        return np.concatenate([self.same, odds**2 * self.different, [self.items, odds**2 * self.first_phase]])

    def _grown(self, which: int, odds: Any, chance_disagreement: float) -> Any:
        """How many times the variance of the judged pairs (0) or items (1) is what was estimated, were ``odds`` true."""
        share = self.shares[which]
        return share.variance(odds * chance_disagreement) / share.variance(np.float64(self.disagreement))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Values κ that ``|D - (1 - κ) B|`` does not reject (Fieller 1954), each with its own variance (Wilson 1927).

        The quantile is Student's t with Satterthwaite's degrees of freedom.
        """
        from scipy.special import stdtrit

        each = self._variances()
        whole = float(each.sum())
        if whole <= 0:
            return 1 - self.odds, 1 - self.odds
        freedom = max(whole**2 / float(np.sum(each**2 / self.freedom)), 2.0)
        quantile = float(stdtrit(freedom, 0.5 + level / 2))
        moving = float(self.different.sum()) + self.first_phase
        chance = self.chance_disagreement
        # with nearly no disagreement by chance the values that are not rejected have no bounds
        if chance**2 - quantile**2 * moving <= 0.05 * chance**2:
            half = quantile * float(np.sqrt(whole)) / chance
            return 1 - self.odds - half, min(1 - self.odds + half, 1.0)
        odds = _ODDS
        variance = float(self.same.sum()) * self._grown(0, odds, chance) + self.items * self._grown(1, odds, chance)
        variance = variance + odds**2 * moving
        beyond = np.asarray((self.disagreement - odds * chance) ** 2 - quantile**2 * variance, dtype=np.float64)
        best = int(np.argmin(np.abs(odds - self.disagreement / chance)))
        return 1 - _crossing(odds[best:], beyond[best:]), 1 - _crossing(odds[best::-1], beyond[best::-1])

    def informed(self, prior: Floats, at: Floats, *, judged: bool) -> Informed:
        """The prior updated by the audit's estimate.

        The likelihood of κ is Student's t of ``D - (1 - κ) B`` with the variance due to the judged pairs, the one whose rejection
        is Fieller's interval. The items' sampling error is not due to them, and is added afterwards.

        Parameters
        ----------
        prior : shape (n,)
            Logarithm of the density at ``at``.
        at : shape (n,)
        judged : bool
            Whether a same-item pair is judged; else nothing is known but the prior.
        """
        by_chance, different = self.chance_disagreement, self.different
        if self.known_chance is not None and (seen := float(different.sum())) > 0:
            centre, spread = self.known_chance
            weight = spread / (spread + seen)
            by_chance, different = weight * by_chance + (1 - weight) * centre, weight * different
        odds = self.disagreement / by_chance
        freedom = float(self.freedom[-1])
        # few judgements estimate the items' variance poorly; a mean of shares has at most 1/4 over the number of items
        most = _MOST_ITEMS / (freedom + 1)
        items = min(self.items + odds**2 * self.first_phase, most) ** 0.5 / by_chance
        each = np.concatenate([self.same, odds**2 * different])
        whole = float(each.sum())
        likelihood = np.zeros_like(at)
        if judged and whole <= 0:
            likelihood[np.abs(at - (1 - odds)) > np.diff(at).max()] = -np.inf
        elif judged:
            # Satterthwaite's degrees of freedom
            own = max(whole**2 / float(np.sum(each**2 / self.freedom[: len(each)])), 2.0)
            variance = float(self.same.sum()) * self._grown(0, 1 - at, by_chance) + (1 - at) ** 2 * float(
                different.sum()
            )
            variance = np.maximum(variance, 1e-12)
            square = (self.disagreement - (1 - at) * by_chance) ** 2 / variance
            likelihood = -(own + 1) / 2 * np.log1p(square / own) - np.log(variance) / 2
        return informed(prior, likelihood, at, items, freedom)

    def coefficient(self) -> Coefficient:
        """Value, standard error and interval."""
        low, high = self.interval()
        # observed agreement is a share, and no coefficient here is below -1
        least = -1.0 if len(self.different) else 0.0
        value = min(max(1 - self.odds, least), 1.0)
        low, high = max(low, least), max(high, least)
        error = float(np.sqrt(self._variances().sum())) / self.chance_disagreement
        return Coefficient(value, error, (min(low, value), max(high, value)))
