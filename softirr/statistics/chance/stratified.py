"""Expected agreement from a stratified sample of pairs, for equivalences that are too expensive for all pairs.

Free text has nearly as many texts as answers, so N items have about N² pairs, and almost all have an equivalence near
0. A cheap equivalence, known for all pairs, assigns them to strata. The expensive equivalence is sampled in each
stratum in proportion to size times standard deviation (Neyman 1934), in rounds, until the standard error is below a
target. Strata that vary little get few pairs; the few pairs that may be equivalent are nearly all scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from softirr.answers.ratings import Floats, Ints, Marginals, Pooling, Ratings, sums
from softirr.statistics.chance.equivalence import Equivalence, PairEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, Chance, ChanceDistribution, different_pairs, on_grid
from softirr.statistics.chance.leave_one_rater_out import LeftOut
from softirr.statistics.chance.strata import OWN_STRATA, POPULATION, PairPopulation
from softirr.statistics.chance.stratified_sample import StratifiedSample

__all__ = ["sampled", "stratified"]

Score = Callable[[Ints, Ints], Floats]
"""Equivalence of answer k[i] with answer l[i]."""

_PILOT = 800
"""Pairs scored in the first round.

With fewer, rare equivalent pairs are missed and the standard error is unreliable.
"""


def stratified(
    ratings: Ratings,
    score: Score,
    scores: Floats,
    cheap: Equivalence | None,
    *,
    target_se: float,
    marginals: Marginals = "answers",
    seed: int = 0,
    population: int = POPULATION,
) -> Chance:
    """Expected agreement from a stratified sample.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    score : callable
        The expensive equivalence of answers k[i] and l[i].
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    cheap : Equivalence or None
        An equivalence that is fast enough for all pairs. Any is valid; the better it correlates with ``score``, the
        fewer pairs are scored. None is simple random sampling.
    target_se : float
        Standard error to reach, of Cohen's expected agreement (the mean over rater pairs) and of the pooled one.
    marginals : {"answers", "gwet2014"}
        Which answers π consists of, see :class:`softirr.answers.ratings.Pooling`.
    seed : int
    population : int
        Most pairs of answers in the strata; of more pairs a random sample is used and its error is added.

    Returns
    -------
    Chance
        With the standard errors of the sample and the number of pairs that were scored.
    """
    few = Pooling.of(ratings, marginals).rows
    distinct = len(np.unique(ratings.answer[few]))
    if distinct * (distinct - 1) // 2 <= _PILOT:  # the first round scores all pairs
        return replace(exact(ratings, PairEquivalence(score), scores, marginals=marginals), method="stratified")
    rng = np.random.default_rng(seed)
    pairs = PairPopulation.draw(ratings, marginals, cheap, population=population, rng=rng)
    return sampled(pairs, score, scores, target_se=target_se, rng=rng)


def sampled(
    pairs: PairPopulation, score: Score, scores: Floats, *, target_se: float, rng: np.random.Generator
) -> Chance:
    """Expected agreement from a sample of a population in strata.

    Parameters
    ----------
    pairs : PairPopulation
        The pairs of answers and their strata.
    score : callable
        The expensive equivalence of answers k[i] and l[i].
    scores : shape (P,)
        Equivalence of each comparison of two answers to one item.
    target_se : float
        Standard error to reach.
    rng : numpy.random.Generator

    Returns
    -------
    Chance
    """
    answer = pairs.ratings.answer
    sample = StratifiedSample(pairs, rng)
    totals = _totals(pairs)
    wanted = _pilot(pairs)
    while True:
        new = sample.extend(wanted)
        sample.record(score(answer[pairs.first[new]], answer[pairs.second[new]]))
        alone = _alone(pairs, sample)
        shared = np.sqrt(max(target_se**2 - float(alone.sum()) / len(alone) ** 2, target_se**2 / 4))
        errors = [
            np.linalg.norm(sample.loadings(total, sample.weighted_means(weights[sample.members])[1]))
            for total, weights in zip(totals, (pairs.cohen_weights, pairs.pooled_weights), strict=True)
        ]
        done = all(error <= shared for error in errors)
        if done or not len(new):
            return _chance(pairs, sample, scores)
        wanted = sample.allocate(totals, float(shared))


def _pilot(pairs: PairPopulation) -> Ints:
    """Number of pairs of each stratum that the first round scores."""
    share = pairs.sizes / pairs.sizes.sum()
    return np.asarray(np.maximum(np.ceil(_PILOT * share), 1), dtype=np.int64)


def _totals(pairs: PairPopulation) -> list[Floats]:
    """Sum of weights in each stratum, for Cohen's mean expected agreement and for the pooled one."""
    return [pairs.cohen_totals.mean(axis=0)[:-1], pairs.pooled_totals[:-1]]


def _chance(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> Chance:
    """Expected agreement and its errors; a pair that was not drawn counts with its stratum's mean."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    m = len(comparisons.shared)
    level = np.append(sample.means(), 1.0)  # by stratum; last the pairs of the same answer
    left, right = _at_comparisons(pairs, level, scores)
    cohen, cohen_error, loadings = _cohen(pairs, sample, scores)
    above, pooled_error = _weighted(pairs, sample, pairs.pooled_weights, pairs.pooled_totals)
    q, similarity, similarity_error = _between_distinct(pairs, sample, scores)
    k, l = ratings.answer[pairs.first[sample.members]], ratings.answer[pairs.second[sample.members]]  # noqa: E741
    return Chance(
        method="stratified",
        cohen=cohen,
        cohen_error=cohen_error,
        cohen_left=left,
        cohen_right=right,
        cohen_noise=np.zeros(m),
        pooling=pairs.pooling,
        pooled=_same_item(pairs, scores) + above,
        pooled_error=pooled_error,
        pooled_at=_at_rows(pairs, level, scores),
        pooled_noise=0.0,
        distinct=q,
        similarity=similarity,
        similarity_error=similarity_error,
        distribution=_distribution(pairs, sample),
        pairs_scored=different_pairs(k, l, ratings.n_answers),
        cohen_loadings=loadings,
        pooled_without=_without(pairs, sample, scores),
    )


def _without(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> Floats | None:
    """The pooled expectation without each rater.

    The sample's pairs that are left stand for the population's that are left.
    """
    if pairs.pooling.marginals != "answers":
        return None
    left_out = LeftOut(pairs.ratings, pairs.pooling)
    comparisons, strata = pairs.ratings.comparisons, pairs.n_strata
    one = np.zeros(len(scores), dtype=np.int64)
    same_item = left_out.sums_of_kept(comparisons.left, comparisons.right, scores, one, 1)[:, 0]
    known = np.where(pairs.stratum >= 0, pairs.stratum, strata)
    totals = left_out.sums_of_kept(pairs.first, pairs.second, pairs.weight, known, strata + 1)
    first, second = pairs.first[sample.members], pairs.second[sample.members]
    stratum, weight = pairs.stratum[sample.members], pairs.weight[sample.members]
    drawn = left_out.sums_of_kept(first, second, weight, stratum, strata)
    seen = left_out.sums_of_kept(first, second, weight * sample.values, stratum, strata)
    means = np.broadcast_to(sample.means(), drawn.shape).copy()
    np.divide(seen, drawn, out=means, where=drawn > 1e-9)
    different = np.sum(totals[:, :-1] * means, axis=1) + totals[:, -1]
    kept = left_out.kept.astype(np.float64)
    return np.divide(
        kept + 2 * (same_item + different), kept**2, out=np.full(len(kept), np.nan), where=left_out.kept > 0
    )


def _cohen(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Expected agreement of each rater pair, its standard error, and its loadings (m, F) on shared errors."""
    comparisons, strata = pairs.ratings.comparisons, pairs.n_strata
    m = len(comparisons.shared)
    own = sums(comparisons.rater_pair, scores, m) / comparisons.shared**2
    weight, cell = pairs.cohen_weights[sample.members], pairs.cell[sample.members]
    mean, effective = sample.weighted_means(weight)
    mine = cell < m
    place = cell[mine] * strata + pairs.stratum[sample.members][mine]
    drawn = sums(place, weight[mine], m * strata).reshape(m, strata)
    seen = sums(place, (weight * sample.values)[mine], m * strata).reshape(m, strata)
    unseen = np.maximum(pairs.cohen_totals[:, :-1] - drawn, 0.0)
    cohen = own + seen.sum(axis=1) + unseen @ mean + pairs.cohen_totals[:, -1]
    loadings = sample.loadings(pairs.cohen_totals[:, :-1], effective)
    alone = _alone(pairs, sample)
    once: Floats = np.zeros(m)
    if not pairs.complete:
        once = np.sqrt(sums(pairs.cell, pairs.cohen_weights**2, m + 1)[:m] * sample.overall_variance())
    error = np.sqrt(np.sum(loadings**2, axis=1) + alone + once**2)
    return cohen, error, np.column_stack([loadings, once])


def _alone(pairs: PairPopulation, sample: StratifiedSample) -> Floats:
    """Variance of each rater pair's expected agreement that it does not share with others, shape (m,).

    The estimates of rater pairs that share strata use the strata's means; this is the variance around them. It ignores
    which pairs were drawn, so it is slightly too large.
    """
    m = len(pairs.cohen_totals)
    if m <= OWN_STRATA:
        return np.zeros(m)
    there = np.maximum(np.bincount(pairs.cell, minlength=m + 1)[:m], 1)
    left = 1 - sample.drawn / sample.sizes
    own = pairs.cohen_totals[:, :-1] @ (left * sample.variances()) * (pairs.cohen_totals.sum(axis=1) / there)
    return np.asarray(own)


def _weighted(pairs: PairPopulation, sample: StratifiedSample, weights: Floats, totals: Floats) -> tuple[float, float]:
    """A weighted sum of the equivalences of all pairs, and its standard error.

    ``totals`` as of :meth:`PairPopulation.totals`.
    """
    mean, effective = sample.weighted_means(weights[sample.members])
    error = float(np.linalg.norm(sample.loadings(totals[:-1], effective)))
    return float(totals[:-1] @ mean + totals[-1]), float(np.hypot(error, _population_error(pairs, sample, weights)))


def _same_item(pairs: PairPopulation, scores: Floats) -> float:
    """The part of π' S π that needs no sampling: each row with itself and with the others of its item."""
    comparisons = pairs.ratings.comparisons
    weight = np.zeros(len(pairs.ratings.item))
    weight[pairs.pooling.rows] = pairs.pooling.weights
    return float(np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * scores))


def _population_error(pairs: PairPopulation, sample: StratifiedSample, weights: Floats) -> float:
    """Standard error of a weighted sum over all pairs that is due to the population being a random sample of them."""
    return 0.0 if pairs.complete else float(np.sqrt(sample.overall_variance() * np.sum(weights**2)))


def _at_comparisons(pairs: PairPopulation, level: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Mean equivalence of each comparison's left answer with the right rater's answers, and the reverse."""
    comparisons = pairs.ratings.comparisons
    shares, there = pairs.comparison_shares
    shared = np.tile(comparisons.shared[comparisons.rater_pair], 2)
    own = np.tile(scores, 2)
    at = np.where(there, shares @ level * (shared - 1) / shared + own / shared, own)
    return at[: len(scores)], at[len(scores) :]


def _at_rows(pairs: PairPopulation, level: Floats, scores: Floats) -> Floats:
    """Mean equivalence of each pooled row's answer with an answer drawn from π, shape (n,)."""
    ratings, comparisons, pooling = pairs.ratings, pairs.ratings.comparisons, pairs.pooling
    n = len(ratings.item)
    weight = np.zeros(n)
    weight[pooling.rows] = pooling.weights
    near = weight.copy()  # the row itself, then the others of its item
    for a, b in ((comparisons.left, comparisons.right), (comparisons.right, comparisons.left)):
        near += sums(a, scores * weight[b], n)
    far = 1 - sums(ratings.item, weight, ratings.n_items)[ratings.item]
    return np.asarray((near + far * (pairs.row_shares @ level))[pooling.rows])


def _between_distinct(pairs: PairPopulation, sample: StratifiedSample, scores: Floats) -> tuple[int, float, float]:
    """Number of distinct answers q, mean equivalence over their q × q pairs, and its standard error."""
    ratings, comparisons = pairs.ratings, pairs.ratings.comparisons
    count = np.bincount(ratings.answer[pairs.pooling.rows], minlength=ratings.n_answers)
    q = int(np.count_nonzero(count))
    k, l = ratings.answer[pairs.first], ratings.answer[pairs.second]  # noqa: E741
    weights = np.where(k != l, 2 * pairs.weight / (count[k] * count[l] * float(q**2)), 0.0)
    a, b = ratings.answer[comparisons.left], ratings.answer[comparisons.right]
    differing = np.flatnonzero(a != b)
    known = float(np.sum(2 * scores[differing] / (count[a[differing]] * count[b[differing]] * float(q**2))))
    mean, error = _weighted(pairs, sample, weights, pairs.totals(weights))
    return q, 1 / q + known + mean, error


def _distribution(pairs: PairPopulation, sample: StratifiedSample) -> ChanceDistribution | None:
    """The distribution of all pairs, in which each drawn pair has the weight of its share of its stratum."""
    if not len(pairs.first):
        return None
    stratum = pairs.stratum[sample.members]
    totals = pairs.totals(pairs.weight)
    share = (totals[:-1] / sample.drawn)[stratum]
    counts = sums(on_grid(sample.values), share, GRID + 1)
    counts[GRID] += float(totals[-1])
    effective = float(share.sum() ** 2 / np.sum(share**2)) if len(share) else np.inf
    return ChanceDistribution.of(counts, sample=effective)
