"""Chance-corrected coefficients of agreement, soft and classical, with their influence functions.

Soft means that two answers agree to a degree S(a, b) in [0, 1] with S(a, a) = 1; with S in {0, 1} every coefficient is the classical one.
Every coefficient is ``(Po - Pe) / (1 - Pe)`` for an observed agreement Po and an agreement Pe expected by chance. They differ in Po and Pe:

=============  =======================================  ================================================================
coefficient    observed agreement                       expected agreement
=============  =======================================  ================================================================
Cohen          of a rater pair, over shared items       p_r' S p_s, each rater's own distribution over the shared items
Scott, Fleiss  mean over items of the mean over pairs   π' S π, π pooled over the answers of items with two or more
Krippendorff   same, items weighted by their answers    the same without replacement: (n π' S π - 1) / (n - 1)
Gwet AC2       as Fleiss                                mean of S over distinct answers × (1 - Σ π²) q / (q - 1)
=============  =======================================  ================================================================

Cohen's kappa of a project is the mean over its rater pairs (Wullschleger et al. 2026). sigma and KS (Braylan et al. 2022) compare the
distributions of same-item and different-item equivalences; see :mod:`softirr.coefficients.distributions`.

Each function returns an :class:`Estimate`: the value and its influence function over items, from which
:mod:`softirr.coefficients.intervals` computes standard errors and intervals. Undefined values carry a reason of :class:`Undefined`;
nothing here returns nan.

The functions share three parameters: ``ratings``, the answers of raters to items; ``scores``, shape (P,), the equivalence of each of
``ratings.comparisons`` (the pairs of answers to one item); and ``chance``, the agreement expected by chance.

References
----------
Cohen, J. (1960). A coefficient of agreement for nominal scales.
Scott, W. A. (1955). Reliability of content analysis: the case of nominal scale coding.
Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters.
Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability.
Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement.
Wullschleger, P., Kreis, C., Walter, M. A., Foster, J. and Pouly, M. (2026). Consensus Measures for Unstructured Biomedical Text Annotations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softirr.chance.expected import Chance
from softirr.coefficients.estimate import Estimate, Replicate, Undefined, missing, undefined
from softirr.tables.ratings import Floats, Ints, Pooling, Ratings, item_means, sums

__all__ = [
    "cohen_pair",
    "fleiss",
    "gwet",
    "krippendorff",
    "mean_cohen",
    "observed_agreement",
    "pair_agreement",
    "rater_agreement",
    "scott",
]

_CERTAIN = 1e-12


def observed_agreement(ratings: Ratings, scores: Floats) -> Estimate:
    """Mean over items of the mean equivalence of their pairs.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    Estimate
    """
    if reason := missing(ratings):
        return undefined(reason)
    return _mean(ratings, item_means(ratings, scores), ratings.comparable_items)


def _mean(ratings: Ratings, values: Floats, items: Ints) -> Estimate:
    """Mean of one value per item, by the items' weights."""
    own = ratings.weight[items]
    mean = float(np.average(values, weights=own))
    return Estimate(
        mean,
        own / own.mean() * (values - mean),
        floor=0.0,
        replicate=lambda weights: (weights @ (own * values)) / (weights @ own),
        items=items,
    )


def _mean_of_items(ratings: Ratings, means: Floats) -> float:
    """Mean over the comparable items, by their weights."""
    return float(np.average(means, weights=ratings.weight[ratings.comparable_items]))


def _corrected(observed: float, expected: float) -> float | None:
    """(Po - Pe) / (1 - Pe), or None where Pe is 1."""
    return None if 1 - expected <= _CERTAIN else (observed - expected) / (1 - expected)


def _corrected_all(observed: Floats, expected: Floats) -> Floats:
    """(Po - Pe) / (1 - Pe) of arrays, nan where Pe is 1."""
    attainable = 1 - expected
    return np.divide(
        observed - expected, attainable, out=np.full(attainable.shape, np.nan), where=attainable > _CERTAIN
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient, nan where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)


def cohen_pair(ratings: Ratings, scores: Floats, chance: Chance, pair: int) -> Estimate:
    """Soft Cohen's kappa of one rater pair, over the items both answered (Wullschleger et al. 2026).

    The influence of an item is ``[(s_i - Po) - (1 - κ) (h_s(a_i) + h_r(b_i) - 2 Pe)] / (1 - Pe)``, where h_s(a) is the mean equivalence of a
    with the answers of s. It gives the variance of weighted kappa by Fleiss, Cohen and Everitt (1969).

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Expected agreement of each rater pair.
    pair : int
        Index into ``ratings.comparisons.rater_pairs``.

    Returns
    -------
    Estimate
        Influence in the order of the pair's shared items.

    Examples
    --------
    The second example of Cohen (1960), p. 45, two raters and 200 items:

    >>> import numpy as np
    >>> from softirr.coefficients.matrix import matrix_agreement
    >>> table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    >>> items = [[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    >>> found = matrix_agreement(np.array(items))
    >>> round(cohen_pair(found.ratings, found.scores, found.chance, 0).value, 3)
    0.492
    """
    mine = ratings.comparisons.of_pair(pair)
    expected = float(chance.cohen[pair])
    if len(mine) < 2:
        return undefined(Undefined.ONE_ITEM, expected)
    weight = ratings.weight[ratings.comparisons.item[mine]]
    weight = weight / weight.mean()
    observed = float(np.average(scores[mine], weights=weight))
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    by_chance = chance.cohen_left[mine] + chance.cohen_right[mine]
    own, n = scores[mine], len(mine)
    mean_by_chance = float(np.average(by_chance, weights=weight))
    influence = weight * ((own - observed) / (1 - expected) - slope * (by_chance - mean_by_chance))
    different = (n * expected - observed) / (n - 1)
    if ratings.weights is not None:
        squares = (weight / n) ** 2  # of the items' shares: pairs of an item with itself
        different = (expected - float(squares @ own)) / (1 - float(squares.sum()))
    by_different_items = _corrected(observed, different)

    def replicate(weights: Floats) -> Floats:
        total = weights @ weight
        met = (weights @ (weight * by_chance)) / total - mean_by_chance + expected
        return _corrected_all((weights @ (weight * own)) / total, met)

    return Estimate(
        value,
        influence,
        expected=expected,
        chance_error=slope * float(chance.cohen_error[pair]),
        noise=slope**2 * float(chance.cohen_noise[pair]),
        shift=0.0 if by_different_items is None else by_different_items - value,
        replicate=replicate,
        items=ratings.comparisons.item[mine],
    )


def mean_cohen(ratings: Ratings, scores: Floats, chance: Chance, *, rater: int | None = None) -> Estimate:
    """Cohen's kappa: the mean over rater pairs of :func:`cohen_pair` (Wullschleger et al. 2026, "the pairwise average of all annotator pairs").

    Pairs that share one item, or whose answers are all equivalent, have no kappa and are left out of the mean. ``expected`` is the mean
    over the same pairs.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Expected agreement of each rater pair.
    rater : int, optional
        Restrict the mean to the pairs of this rater.

    Returns
    -------
    Estimate
        Influence in the order of the items that the defined pairs share.
    """
    if reason := missing(ratings):
        return undefined(reason)
    comparisons = ratings.comparisons
    if rater is None:
        wanted: Ints = np.arange(len(comparisons.rater_pairs))
        mine: Ints = np.arange(len(comparisons.item))
    else:
        wanted, mine = comparisons.pairs_of_rater(rater), comparisons.of_rater(rater)
        if not len(wanted):
            return undefined(Undefined.NO_OTHER_RATER)
    met = chance.cohen[wanted]
    expected = float(met.mean())
    m = len(wanted)
    count = comparisons.shared[wanted]
    pair, own = np.searchsorted(wanted, comparisons.rater_pair[mine]), scores[mine]
    weight = ratings.weight[comparisons.item[mine]]
    mass = sums(pair, weight, m)
    observed = sums(pair, weight * own, m) / mass
    defined = (count >= 2) & (1 - met > _CERTAIN)
    if not defined.any():
        if (count < 2).all() and m:
            return undefined(Undefined.ONE_ITEM if m == 1 else Undefined.NO_PAIR_DEFINED, expected)
        return undefined(Undefined.NO_VARIATION if m == 1 else Undefined.NO_PAIR_DEFINED, expected)
    attainable = np.where(defined, 1 - met, 1.0)
    kappa = (observed - met) / attainable
    slope = (1 - kappa) / attainable
    k = int(defined.sum())

    by_chance = chance.cohen_left[mine] + chance.cohen_right[mine]
    mean_by_chance = sums(pair, weight * by_chance, m) / mass
    one = (own - observed[pair]) / attainable[pair] - slope[pair] * (by_chance - mean_by_chance[pair])
    used = np.flatnonzero(defined[pair])
    items, place = np.unique(comparisons.item[mine[used]], return_inverse=True)
    share = len(items) / (k * mass[pair[used]])
    influence = sums(place, share * weight[used] * one[used], len(items))
    # rater pairs sample their chance pairs independently of each other, so their noise adds up
    noisy = chance.cohen_noise[wanted[defined]]
    squares = sums(pair, weight**2, m) / mass**2  # 1 / count where all items weigh the same
    noise = float(np.sum(slope[defined] ** 2 * noisy * len(items) * squares[defined] / k**2))
    error = chance.cohen_sum_error(np.where(defined, slope, 0.0), wanted) / k
    different = (count * met - observed) / np.maximum(count - 1, 1)
    if ratings.weights is not None:
        with_itself = sums(pair, weight**2 * own, m) / mass**2
        different = np.divide(met - with_itself, 1 - squares, out=met.copy(), where=squares < 1 - _CERTAIN)
    by_different_items = _corrected_all(observed, different)
    shift = np.where(np.isfinite(by_different_items), by_different_items - kappa, 0.0)[defined]
    return Estimate(
        float(kappa[defined].mean()),
        influence,
        None,
        float(met[defined].mean()),
        error,
        noise,
        shift=float(shift.mean()),
        replicate=_mean_cohen_replicates(pair[used], place, len(items), weight[used], own[used], by_chance[used], met),
        items=items,
    )


def _mean_cohen_replicates(
    pair: Ints, item: Ints, n_items: int, weight: Floats, scores: Floats, by_chance: Floats, expected: Floats
) -> Replicate:
    """Replicates of the mean over rater pairs; pair, item and weight of each comparison, expected agreement of each pair."""
    from scipy.sparse import csr_matrix

    m = len(expected)
    mass = sums(pair, weight, m)
    mean_by_chance = np.divide(sums(pair, weight * by_chance, m), mass, out=np.zeros(m), where=mass > 0)

    def by_pair(values: Floats) -> Any:
        return csr_matrix((values, (pair, item)), shape=(m, n_items))

    ones, total_mass = by_pair(np.ones(len(pair))), by_pair(weight)
    own, chance = by_pair(weight * scores), by_pair(weight * by_chance)

    def replicate(weights: Floats) -> Floats:
        total = total_mass @ weights.T
        met = _ratio(chance @ weights.T, total) - mean_by_chance[:, None] + expected[:, None]
        kappa = _corrected_all(_ratio(own @ weights.T, total), met)
        usable = np.isfinite(kappa) & (ones @ weights.T >= 2)
        return _ratio(np.where(usable, kappa, 0.0).sum(axis=0), usable.sum(axis=0).astype(np.float64))

    return replicate


def _uncomparable(ratings: Ratings) -> Undefined | None:
    """Reason why a pooled coefficient is not defined, or None."""
    if reason := missing(ratings):
        return reason
    return Undefined.ONE_ITEM if len(ratings.comparable_items) < 2 else None


def _expected_of_different_items(ratings: Ratings, scores: Floats, chance: Chance) -> float:
    """π' S π over answers to different items only, the limit of π' S π for many items."""
    pooling, comparisons = chance.pooling, ratings.comparisons
    weight = np.zeros(len(ratings.item))
    weight[pooling.rows] = pooling.weights
    same = np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * scores)
    share = np.sum(sums(ratings.item, weight, ratings.n_items) ** 2)
    return float((chance.pooled - same) / (1 - share)) if share < 1 - _CERTAIN else float(chance.pooled)


def _pooled_replicates(
    ratings: Ratings, pooling: Pooling, means: Floats, size: Floats, at: Floats, expected: Callable[[Floats], Floats]
) -> Replicate:
    """Replicates of a pooled coefficient.

    Parameters
    ----------
    means, size : shape (number of comparable items,)
        Observed agreement of each item, and its weight in the mean.
    at : shape (n,)
        A value of each pooled row; the expected agreement depends on their weighted mean.
    expected : callable
        Expected agreement as a function of that mean.
    """
    n = ratings.n_items
    observed, counted = np.zeros(n), np.zeros(n)
    observed[ratings.comparable_items], counted[ratings.comparable_items] = means * size, size
    item = ratings.item[pooling.rows]
    met, weight = sums(item, pooling.weights * at, n), sums(item, pooling.weights, n)
    terms = np.stack([observed, counted, met, weight], axis=1)[pooling.items]

    def replicate(weights: Floats) -> Floats:
        above, below, reached, total = (weights @ terms).T
        return _corrected_all(_ratio(above, below), expected(_ratio(reached, total)))

    return replicate


def fleiss(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Fleiss' kappa (Wullschleger et al. 2026), with any number of answers per item.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Expected agreement of pooled answers.

    Returns
    -------
    Estimate
        Influence in the order of the items with pooled answers.

    Examples
    --------
    The diagnoses of Fleiss (1971): 30 patients, 6 psychiatrists, 5 diagnoses.

    >>> import numpy as np
    >>> from softirr.coefficients.matrix import matrix_agreement
    >>> rows = (
    ...     "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
    ...     "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
    ... )
    >>> found = matrix_agreement(np.array([[int(diagnosis) - 1 for diagnosis in row] for row in rows.split()]))
    >>> round(fleiss(found.ratings, found.scores, found.chance).value, 2)
    0.43
    """
    if reason := _uncomparable(ratings):
        return undefined(reason, float(chance.pooled))
    means = item_means(ratings, scores)
    expected = float(chance.pooled)
    observed = _mean_of_items(ratings, means)
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    pooling = chance.pooling
    by_chance = pooling.influence(ratings, chance.pooled_at)
    influence = pooling.spread(ratings, means, expected) / (1 - expected) - 2 * slope * by_chance
    noise = 4 * slope**2 * pooling.noise(ratings, chance.pooled_noise)
    by_different_items = _corrected(observed, _expected_of_different_items(ratings, scores, chance))
    center = float(np.sum(pooling.weights * chance.pooled_at))
    return Estimate(
        value,
        influence,
        None,
        expected,
        slope * chance.pooled_error,
        noise,
        shift=0.0 if by_different_items is None else by_different_items - value,
        replicate=_pooled_replicates(
            ratings,
            pooling,
            means,
            ratings.weight[ratings.comparable_items],
            chance.pooled_at,
            lambda met: expected + 2 * (met - center),
        ),
        items=pooling.items,
    )


def scott(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Scott's pi: Fleiss' kappa of two raters (Wullschleger et al. 2026).

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance

    Returns
    -------
    Estimate
        Undefined with more than two raters.
    """
    if reason := missing(ratings):
        return undefined(reason)
    if len(np.unique(ratings.rater)) > 2:
        return undefined(Undefined.MORE_THAN_TWO_RATERS)
    return fleiss(ratings, scores, chance)


def krippendorff(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Krippendorff's alpha: distance 1 - S, answers paired without replacement (Krippendorff 2011).

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Computed with the marginals ``answers``.

    Returns
    -------
    Estimate
        Influence in the order of the items with two or more answers.

    Examples
    --------
    Four observers, twelve units with missing answers, nominal categories (Krippendorff 2011, example C):

    >>> import numpy as np
    >>> from softirr.coefficients.matrix import matrix_agreement
    >>> observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    >>> matrix = np.array([[-1 if a == "." else int(a) - 1 for a in row] for row in observers]).T
    >>> found = matrix_agreement(matrix, marginals="answers")
    >>> round(krippendorff(found.ratings, found.scores, found.chance).value, 3)
    0.743
    """
    if reason := _uncomparable(ratings):
        return undefined(reason)
    sizes = ratings.per_item[ratings.comparable_items] * ratings.weight[ratings.comparable_items]
    n = float(sizes.sum())
    means = item_means(ratings, scores)
    observed = float(np.sum(sizes * means) / n)
    expected = (n * float(chance.pooled) - 1) / (n - 1)
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    scale = n / (n - 1)
    by_chance = scale * chance.pooling.influence(ratings, chance.pooled_at)
    influence = sizes / sizes.mean() * (means - observed) / (1 - expected) - 2 * slope * by_chance
    noise = 4 * slope**2 * scale**2 * chance.pooling.noise(ratings, chance.pooled_noise)
    by_different_items = _corrected(observed, _expected_of_different_items(ratings, scores, chance))
    center = float(np.sum(chance.pooling.weights * chance.pooled_at))
    return Estimate(
        value,
        influence,
        None,
        expected,
        slope * scale * chance.pooled_error,
        noise,
        shift=0.0 if by_different_items is None else by_different_items - value,
        replicate=_pooled_replicates(
            ratings,
            chance.pooling,
            means,
            sizes,
            chance.pooled_at,
            lambda met: expected + 2 * scale * (met - center),
        ),
        items=chance.pooling.items,
    )


def gwet(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Gwet's AC2; with S in {0, 1} it is AC1 (Gwet 2008, 2014).

    ``Pe = q / (q - 1) × mean of S over all q × q pairs of distinct answers × Σ π_k (1 - π_k)``.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Holds the number of distinct answers q and their mean equivalence.

    Returns
    -------
    Estimate
        Influence in the order of the items with pooled answers.
    """
    if reason := _uncomparable(ratings):
        return undefined(reason)
    q = chance.distinct
    if q < 2:
        return undefined(Undefined.ONE_CATEGORY)
    pooling = chance.pooling
    answers = ratings.answer[pooling.rows]
    frequency = sums(answers, pooling.weights, ratings.n_answers)
    scale = chance.similarity * q / (q - 1)
    expected = float(scale * np.sum(frequency * (1 - frequency)))
    means = item_means(ratings, scores)
    observed = _mean_of_items(ratings, means)
    value = _corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    by_chance = -scale * pooling.influence(ratings, frequency[answers])
    influence = pooling.spread(ratings, means, expected) / (1 - expected) - 2 * slope * by_chance
    error = slope * expected / chance.similarity * chance.similarity_error
    center = float(np.sum(frequency**2))
    replicate = _pooled_replicates(
        ratings,
        pooling,
        means,
        ratings.weight[ratings.comparable_items],
        frequency[answers],
        lambda met: expected - 2 * scale * (met - center),
    )
    return Estimate(value, influence, None, expected, error, replicate=replicate, items=pooling.items)


def pair_agreement(ratings: Ratings, scores: Floats, pair: int) -> Estimate:
    """Mean equivalence of two raters' answers over the items both answered.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    pair : int
        Row of ``ratings.comparisons.rater_pairs``.

    Returns
    -------
    Estimate
    """
    mine = ratings.comparisons.of_pair(pair)
    return _mean(ratings, scores[mine], ratings.comparisons.item[mine])


def rater_agreement(ratings: Ratings, scores: Floats, rater: int) -> Estimate:
    """Mean over a rater's items of the mean equivalence of the rater's answer with the others'.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    rater : int

    Returns
    -------
    Estimate
    """
    comparisons = ratings.comparisons
    mine = comparisons.of_rater(rater)
    if not len(mine):
        return undefined(Undefined.NO_OTHER_RATER)
    items, place = np.unique(comparisons.item[mine], return_inverse=True)
    return _mean(ratings, np.bincount(place, weights=scores[mine]) / np.bincount(place), items)
