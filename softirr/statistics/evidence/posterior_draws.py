"""Draws of the equivalence of pairs and of agreement by chance, given all evidence."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums
from softirr.meaning.measures.arrays import pair_keys
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.draws import CERTAIN, Draws
from softirr.statistics.evidence.fit import SHRINKAGE, Fit
from softirr.statistics.weights_and_scores import ScoreDraws, number_format

Index = Ints | slice
"""For each comparison of a table: its index in the design; a slice of all if they are in the same order."""
_FIXED_FROM = 8
"""Fewest judgments of pairs of the same item for the interval by the judgments alone."""
_SMALL = 1e-300
_MOST_COINS = 20_000_000
"""Maximum number of simulated pairs of texts; for more, their normal approximation is used."""
_LARGEST = 127
"""Largest whole number of one byte."""
_AT_ONCE = 1_000_000
"""Maximum number of equivalences of texts in memory."""


def posterior_value(fit: Fit, by_measure: ByMeasure, design_index: Index) -> Draws:
    """The expectation of all evidence, with equal weights of items.

    Without judgments it is the measure's: known pairs and decisions change their own pairs only.
    """
    if not len(fit.judged.keys):
        return by_measure.center
    same, different = fit.equivalence
    weights = fit.design.pairs.cohen_weights, fit.design.pooled_weight
    cohen, pooled = (np.array([_ratio(of_pairs, different, fit.design.by_measure)]) for of_pairs in weights)
    score_draws = ScoreDraws.fixed(same[design_index], 1)
    return _of_varied(replace(by_measure.center, score_draws=score_draws, cohen_ratio=cohen, pooled_ratio=pooled))


def _of_varied(center: Draws) -> Draws:
    """The value without the rater pairs that agree by chance in any case, which have no kappa."""
    return replace(center, is_varied=center.is_varied & (center.pair_expected[:, 0] < 1 - CERTAIN))


def posterior_draws(fit: Fit, by_measure: ByMeasure, design_index: Index) -> Draws:
    """Draws of a table from its posterior.

    Parameters
    ----------
    fit : Fit
        Probabilities of the table's pairs of texts after all evidence.
    by_measure : ByMeasure
        The table by the measure alone.
    design_index : shape (P,)
        Index in the design of each comparison of the table.
    """
    ratings, items = by_measure.ratings, by_measure.items
    # the draws of two tables, or under two measures, are independent, whatever the order of the rows, and items without
    # anything to compare change nothing
    compared = np.sort(items.ids[ratings.comparable_items])
    rng = np.random.default_rng(zlib.crc32(fit.record.measure.encode(), zlib.crc32(compared.tobytes())))
    score_draws = _same_items(fit, design_index, rng, items.n_draws)
    cohen, pooled = _chance_ratios(fit, rng, items.n_draws)
    sampling = rng.standard_normal(items.n_draws)
    return Draws(
        ratings, by_measure.scores, by_measure.center.chance, score_draws, items.weights, cohen, pooled, sampling
    )


def _same_items(fit: Fit, design_index: Index, rng: np.random.Generator, n_draws: int) -> ScoreDraws:
    """Expected equivalence of each comparison, and the deviation of the true one."""
    from scipy.sparse import csr_matrix
    from scipy.special import expit

    frame = fit.design.same
    texts, m = frame.texts, len(frame.texts.known_equivalence)
    settled = fit.settled[design_index]
    if fit.curve is None or not len(texts.p):
        return ScoreDraws.fixed(settled, n_draws)
    point = _systematic(fit.curve.weight, n_draws, rng)
    bin_of_pair, centers = fit.scores.bins
    q = expit(fit.curve.intercept[point] + fit.curve.slope[point] * centers[:, None])
    shift = _residual_error(fit, q) * rng.standard_normal(n_draws)
    open_ = np.flatnonzero(fit.open_same)
    # pairs of texts in the same bin and stratum have the same probability
    levels = np.clip(q[:, None] + (fit.residuals[:, None] + shift), 0, 1).reshape(-1, n_draws)
    level = bin_of_pair[open_] * len(fit.residuals) + frame.stratum[open_]
    open_keys = pair_keys(texts.left_texts[open_], texts.right_texts[open_], fit.judged.n_texts)
    _, first, key = np.unique(open_keys, return_index=True, return_inverse=True)
    key = np.argsort(np.argsort(first))[key]  # numbers in the order of the design, not of the rows
    coins = rng.random((len(first), n_draws), dtype=np.float32) if len(first) * n_draws <= _MOST_COINS else None
    total = csr_matrix((texts.share[open_], (texts.owner[open_], np.arange(len(open_)))), shape=(m, len(open_)))
    total = total[design_index]
    is_small = number_format(len(settled) * n_draws) == np.float64
    unit = 1.0 if is_small else 5 * float(np.sqrt((levels * (1 - levels)).max() + _SMALL)) / _LARGEST  # up to 5 sd
    noise = np.empty((len(settled), n_draws), np.float64 if is_small else np.int8)
    size = max(1, _AT_ONCE // max(len(open_), 1))
    for start in range(0, n_draws, size):
        draws = slice(start, start + size)
        chances = levels[:, draws][level]
        if coins is not None:
            deviation = (coins[:, draws][key] < chances) - chances
        else:
            normal = rng.standard_normal((chances.shape[1], len(first)), dtype=np.float32).T  # draw by draw
            deviation = normal[key] * np.sqrt(chances * (1 - chances))
        deviation = total @ deviation
        noise[:, draws] = deviation if is_small else np.clip(np.rint(deviation / unit), -_LARGEST, _LARGEST)
    shares = csr_matrix((total.data, level[total.indices], total.indptr), shape=(len(settled), len(levels)))
    return ScoreDraws(settled, shares, levels, noise, lowest=0.0, highest=1.0, noise_unit=unit)


def _systematic(weight: Floats, n_draws: int, rng: np.random.Generator) -> Ints:
    """Points of the calibration in proportion to their weight, in random order (systematic sampling)."""
    cumulative = np.cumsum(weight) / weight.sum()
    point = np.searchsorted(cumulative, (np.arange(n_draws) + 0.5) / n_draws)
    return np.minimum(rng.permutation(point), len(weight) - 1)


def _residual_error(fit: Fit, q: Floats) -> float:
    """Standard deviation of the mean residual beyond the calibration's standard deviation: its shape may be wrong."""
    open_weights = fit.scores.weight * fit.open_same
    if not open_weights.sum() > 0:
        return 0.0
    by_curve = float(np.var((sums(fit.scores.bins[0], open_weights, len(q)) / open_weights.sum()) @ q))
    n = len(fit.first_members[0])
    return float(np.sqrt(max(fit.residual_variance - by_curve, 0.0) * n / (n + SHRINKAGE)))


def _chance_ratios(fit: Fit, rng: np.random.Generator, n_draws: int) -> tuple[Floats, Floats]:
    """Agreement by chance on different items relative to the measure's, for Cohen and for pooled answers."""
    frame, mean, variance = fit.design.different, fit.shares, fit.share_variances
    size = np.maximum(mean * (1 - mean) / np.maximum(variance, _SMALL) - 1, _SMALL)
    drawn_shares = rng.beta(mean * size, (1 - mean) * size, (n_draws, len(mean))).T
    off = np.where(variance[:, None] > 0, drawn_shares - mean[:, None], 0.0)
    noise = rng.standard_normal(n_draws) * (not fit.design.pairs.complete)
    fitted, by_measure, open_ = fit.equivalence[1], fit.design.by_measure, fit.open_different
    result: list[Floats] = []
    for weights in (fit.design.pairs.cohen_weights, fit.design.pooled_weight):
        by_p = float(weights @ by_measure)
        if by_p <= 1e-12:
            result.append(np.ones(n_draws))
            continue
        center = _ratio(weights, fitted, by_measure)
        slopes = sums(frame.stratum[open_], frame.texts.weights(weights)[open_], len(mean)) / by_p
        error = float(np.sqrt(np.sum((weights * (fitted - center * by_measure)) ** 2))) / by_p
        result.append(np.asarray(np.maximum(center + slopes @ off + error * noise, 0.0)))
    return result[0], result[1]


def _ratio(weights: Floats, fitted: Floats, by_p: Floats) -> float:
    """Weighted sum of the fitted equivalences relative to the measure's; 1 if the measure has none."""
    below = float(weights @ by_p)
    return float(weights @ fitted) / below if below > 1e-12 else 1.0


def by_judgments(fit: Fit, center: Draws, draws: Draws, design_index: Index) -> tuple[Draws, Draws, Draws] | None:
    """The value and the draws by the judged pairs of the same item alone; None if fewer than 8 are judged.

    Every pair of texts has the mean of the judged pairs of its stratum (stratified sampling). The fitted equivalences
    determine the sampling error of the items.

    Returns
    -------
    (Draws, Draws, Draws) or None
        The value, draws of the means of the strata, and draws of the items.
    """
    numbers, first = fit.first_members
    if len(first) < _FIXED_FROM:
        return None
    frame, texts = fit.design.same, fit.design.same.texts
    stratum = frame.stratum
    if np.bincount(stratum[first], minlength=len(frame.rate)).min() < 2:
        stratum = np.zeros_like(stratum)
    k = int(stratum.max()) + 1
    judged, of_first = fit.judged.same[numbers], stratum[first]
    n = np.bincount(of_first, minlength=k)
    mean = sums(of_first, judged, k) / n
    variance = sums(of_first, (judged - mean[of_first]) ** 2, k) / np.maximum(n - 1, 1)
    error = np.sqrt(np.maximum(variance, 1 / (3 * n)) / n * (1 - n / np.bincount(stratum, minlength=k)))
    rng = np.random.default_rng(0)
    drawn_means = mean[:, None] + error[:, None] * rng.standard_t(max(len(first) - k, 1), (k, draws.n_draws))
    per_stratum = np.stack(
        [sums(texts.owner, texts.share * (stratum == h), len(texts.known_equivalence)) for h in range(k)], axis=1
    )
    known_equivalence, per_stratum = texts.known_equivalence[design_index], per_stratum[design_index]
    by_stratum = partial(ScoreDraws.exact, known_equivalence, per_stratum)
    fitted = ScoreDraws.fixed(center.scores[:, 0], draws.n_draws)
    cohen, pooled = np.ones((2, draws.n_draws)) * np.stack([center.cohen_ratio, center.pooled_ratio])
    equal_weights = np.broadcast_to(np.ones((1, 1)), draws.weights.shape)
    value = _of_varied(replace(center, score_draws=replace(by_stratum(mean[:, None]), lowest=0.0, highest=1.0)))
    return (
        value,
        replace(draws, score_draws=by_stratum(drawn_means), weights=equal_weights, is_varied=value.is_varied),
        replace(draws, score_draws=fitted, cohen_ratio=cohen, pooled_ratio=pooled),
    )
