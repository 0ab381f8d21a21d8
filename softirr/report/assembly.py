"""Parts of a report, made of the scores and estimates of its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from softirr.answers.kinds import TEXT
from softirr.answers.missing import unchecked_in_words
from softirr.answers.ratings import Ints, Ratings
from softirr.answers.splitting import list_note
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import effective_items
from softirr.defaults import FEW_ITEMS
from softirr.meaning.measures import Measure
from softirr.meaning.measures.sentences_stage import compares_sentences
from softirr.numbers import plural
from softirr.report.evidence import MOST_CORRECTED, Estimated, Trio
from softirr.report.result_parts import Expected, RaterAgreement, RaterPairAgreement
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.krippendorff import alpha_without_each_rater
from softirr.statistics.coefficients.registry import MOST_RATER_PAIRS, Summary
from softirr.statistics.comparisons.difference import at_levels, difference
from softirr.statistics.draws import Draws
from softirr.statistics.matching.consensus import MANY
from softirr.text import sentences

MOST_PAIRS_OF_ITEM = 50_000
"""Pairs of answers to one item (317 raters) up to which the report lists the equivalence of each."""
MOST_RATERS = 50
"""Maximum number of raters that are compared one by one with the others."""
_LEVEL = 0.05

Contrast = tuple[Coefficient | None, Coefficient | None]


def report_parts(estimates: Estimated) -> dict[str, Any]:
    """The attributes of a report that need no more than its scores and estimates.

    Returns
    -------
    dict of str to object
        Values by the attributes of :class:`AgreementReport`.
    """
    scored_table = estimates.scored
    return {
        "expected_agreement": _expected(estimates),
        "raters": _raters(estimates),
        "rater_pairs": _rater_pairs(estimates),
        "warnings": (
            *estimates.warnings,
            *_paragraph_notes(scored_table.table, scored_table.measure),
            *_warnings(scored_table.table, scored_table.ratings, scored_table.summary),
            *estimates.notes,
        ),
        "alpha_without": _alpha_without(estimates),
    }


def _expected(estimates: Estimated) -> Expected:
    """Agreement by chance: by the measure, or corrected by judgments."""
    chance, by_measure = estimates.scored.chance, estimates.scored.summary.coefficients
    pairs_scored = chance.pairs_scored if chance else 0
    if estimates.posterior is not None and estimates.collected is not None:
        posterior = estimates.posterior
        return Expected(
            **posterior.expected, method="audit", standard_error=posterior.expected_error, pairs_scored=pairs_scored
        )
    return Expected(
        cohen=by_measure["cohen_kappa"].expected,
        fleiss=by_measure["fleiss_kappa"].expected,
        krippendorff=by_measure["krippendorff_alpha"].expected,
        method=chance.method if chance else "exact",
        standard_error=chance.standard_error if chance else 0.0,
        pairs_scored=pairs_scored,
    )


def _alpha_without(estimates: Estimated) -> tuple[tuple[str, float], ...]:
    by_measure, posterior = estimates.scored.summary.by_measure, estimates.posterior
    if by_measure is None:
        return ()
    center = by_measure.center if posterior is None else posterior.center
    values = alpha_without_each_rater(center).tolist()
    values_without = [
        (rater, value)
        for rater, value in zip(estimates.scored.table.raters, values, strict=True)
        if not np.isnan(value)
    ]
    return tuple(sorted(values_without, key=lambda entry: (-entry[1], entry[0])))


def _raters(estimates: Estimated) -> tuple[RaterAgreement, ...]:
    scored_table = estimates.scored
    trios = _trios(estimates, scored_table.summary.raters, scored_table.ratings.comparisons.pairs_of_rater)
    raters = scored_table.table.raters
    n_items = np.bincount(scored_table.ratings.rater, minlength=len(raters)).tolist()
    contrasts = _rater_contrasts(estimates, [trio[0] for trio in trios])
    rows = zip(raters, n_items, trios, contrasts, strict=True)
    return tuple(RaterAgreement(id, n, *trio, *contrast) for id, n, trio, contrast in rows)


def _rater_pairs(estimates: Estimated) -> tuple[RaterPairAgreement, ...]:
    scored_table = estimates.scored
    if scored_table.chance is None or not scored_table.summary.rater_pairs:
        return ()
    expected = scored_table.chance.cohen.tolist()
    trios = _trios(estimates, scored_table.summary.rater_pairs, lambda pair: np.array([pair]))
    if len(trios) <= MOST_CORRECTED and estimates.posterior is not None and estimates.collected is not None:
        expected = estimates.posterior.center.pair_expected[:, 0].tolist()
    comparisons, raters = scored_table.ratings.comparisons, scored_table.table.raters
    rows = zip(comparisons.rater_pairs.tolist(), comparisons.shared.tolist(), expected, trios, strict=True)
    return tuple(
        RaterPairAgreement((raters[a], raters[b]), n, observed, by_chance, kappa, sigma)
        for (a, b), n, by_chance, (observed, kappa, sigma) in rows
    )


def _trios(
    estimates: Estimated, by_measure: Sequence[tuple[Estimate, Estimate, Estimate]], pairs_of: Callable[[int], Ints]
) -> list[Trio]:
    """Coefficients of raters or rater pairs: from all evidence, or by the measure alone if there are very many."""
    trios = [(observed.coefficient, kappa.coefficient, sigma.coefficient) for observed, kappa, sigma in by_measure]
    if len(trios) > MOST_CORRECTED:
        return trios
    return [estimates.of_pairs(pairs_of(number), trio) for number, trio in enumerate(trios)]


def weights_of(table: AnnotationTable, ratings: Ratings) -> dict[str, float] | None:
    """The range of the items' weights, and how many items of equal weight they are worth.

    Returns
    -------
    dict of str to float, or None
        None if all items weigh the same.
    """
    if table.weights is None:
        return None
    item_weights = table.weights[ratings.comparable_items]
    if not len(item_weights):
        return {"least": 0.0, "most": 0.0, "effective_items": 0.0}
    return {
        "least": float(item_weights.min()),
        "most": float(item_weights.max()),
        "effective_items": effective_items(item_weights.tolist()),
    }


def _paragraph_notes(table: AnnotationTable, measure: Measure) -> Iterator[str]:
    """Yield a note if the measure compares answers sentence by sentence."""
    if table.split is not None or not compares_sentences(measure):
        return
    if n := sum(any(len(sentences(text)) > 1 for text in texts) for texts in table.written):
        yield (
            f"{plural(n, 'answer has', 'answers have')} several sentences: the measure compares paragraphs sentence by "
            "sentence. With the split mode none, it compares each as a whole."
        )


def _warnings(table: AnnotationTable, ratings: Ratings, summary: Summary) -> tuple[str, ...]:
    n = len(ratings.comparable_items)
    sentences = [*table.warnings, *unchecked_in_words(table)]
    if table.kind == TEXT and table.split is None and (lists := list_note(table.written)):
        sentences.append(lists)
    if 0 < n < FEW_ITEMS:
        sentences.append(
            f"Only {plural(n, 'item has', 'items have')} answers of two raters: below {FEW_ITEMS} the intervals "
            "are rough, and rater rankings are unreliable."
        )
    if (weights := weights_of(table, ratings)) is not None and n:
        sentences.append(
            f"Items count by their weights ({weights['least']:g} to {weights['most']:g}); "
            f"{'this item tells' if n == 1 else f'these {n:,} items tell'} as much as "
            f"{weights['effective_items']:,.1f} of equal weight (Kish 1965)."
        )
    sentences += _crowds(table, ratings)
    left_out = [i for i, (_, kappa, _) in enumerate(summary.rater_pairs) if kappa.value is None]
    if left_out and summary.coefficients["cohen_kappa"].value is not None:
        sentences.append(
            f"{len(left_out)} of {plural(len(summary.rater_pairs), 'rater pair')} "
            f"{'has' if len(left_out) == 1 else 'have'} no kappa and "
            f"{'is' if len(left_out) == 1 else 'are'} not in Cohen's mean: the two raters share only one "
            "item, or all their answers are equivalent."
        )
    return tuple(sentences)


def _crowds(table: AnnotationTable, ratings: Ratings) -> list[str]:
    """Sentences on details that are left out because of very many raters."""
    sentences = []
    n_pairs = len(ratings.comparisons.rater_pairs)
    if n_pairs > MOST_RATER_PAIRS:
        sentences.append(f"There are {n_pairs:,} pairs of raters: they count, but are not listed one by one.")
    elif n_pairs > MOST_CORRECTED:
        sentences.append(
            f"There are {n_pairs:,} pairs of raters: each is by the measure alone, with an interval of the items alone."
        )
    crowded = int((ratings.per_item * (ratings.per_item - 1) // 2 > MOST_PAIRS_OF_ITEM).sum())
    if crowded:
        sentences.append(
            f"Items with more than {MOST_PAIRS_OF_ITEM:,} pairs of answers: {crowded:,}. The pairs count, but are "
            "not listed one by one."
        )
    sizes = np.array([len(answer) for answer in table.answers], dtype=np.int64)
    texts = np.bincount(ratings.item, weights=sizes[ratings.answer], minlength=ratings.n_items)
    n_large = int((texts > MANY).sum())
    if n_large:
        sentences.append(
            f"Items with more than {MANY} texts: {n_large:,}. Their matches hold equivalent texts only; the "
            "coefficients are not affected."
        )
    return sentences


def _rater_contrasts(estimates: Estimated, agreements: Sequence[Coefficient]) -> list[Contrast]:
    """The agreement of the others with each other, and each rater's difference from it.

    Without judgments the interval covers the sampling of the items only, because errors of the measure are largely the
    same on both sides of a difference. With judgments it comes from the draws of all evidence. Its level is adjusted
    for the number of raters (Bonferroni).

    Parameters
    ----------
    agreements : sequence of Coefficient
        Agreement of each rater with the others, as the report shows it.

    Returns
    -------
    list of (Coefficient or None, Coefficient or None)
        (None, None) with fewer than three raters, with more than ``MOST_RATERS``, or if the others share no item.
    """
    n_raters = len(agreements)
    if not 3 <= n_raters <= MOST_RATERS or estimates.scored.chance is None:
        return [(None, None)] * n_raters
    return [_contrast(estimates, rater, agreement, _LEVEL / n_raters) for rater, agreement in enumerate(agreements)]


def _contrast(estimates: Estimated, rater: int, agreement: Coefficient, level: float) -> Contrast:
    comparisons, by_measure = estimates.scored.ratings.comparisons, estimates.scored.summary.by_measure
    of_rater = comparisons.of_rater(rater)
    of_others = np.setdiff1d(np.arange(len(comparisons.left_rows)), of_rater, assume_unique=True)
    if agreement.value is None or by_measure is None or not len(of_others):
        return None, None
    measured = by_measure.agreement(of_others), estimates.scored.summary.raters[rater][0]
    agreement_of_others, posterior = measured[0].coefficient, estimates.posterior
    if posterior is not None:
        all_pairs = np.arange(len(comparisons.rater_pairs))
        pairs = np.setdiff1d(all_pairs, comparisons.pairs_of_rater(rater), assume_unique=True)
        agreement_of_others = posterior.of_pairs(pairs, agreement_of_others, agreement_of_others)[0]
    samples = [Sample(estimate.coefficient, estimate.draws, estimate.items) for estimate in measured]
    if posterior is not None and estimates.collected is not None:
        pairs_of_both = (agreement_of_others, of_others), (agreement, of_rater)
        samples = [
            Sample(coefficient, posterior.over(partial(Draws.observed_of, comparisons=rows)), sample.items)
            for (coefficient, rows), sample in zip(pairs_of_both, samples, strict=True)
        ]
    change = difference(*samples)
    if agreement_of_others.value is None or change.value is None:
        return agreement_of_others, None
    n_items = min(len(sample.items) for sample in samples)
    return agreement_of_others, at_levels(change, n_items, level, level)
