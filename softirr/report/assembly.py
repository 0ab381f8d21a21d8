"""Parts of a report, made of the scores and estimates of its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from softirr.answers.kinds import TEXT
from softirr.answers.missing import unchecked_in_words
from softirr.answers.ratings import Ints, Ratings
from softirr.answers.splitting import list_note
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import effective_items
from softirr.defaults import FEW_ITEMS
from softirr.errors import Note
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.numbers import plural
from softirr.report.evidence import ITEMS_BY_MEASURE, MOST_CORRECTED, Estimated, Trio, judgment_notes
from softirr.report.result_parts import Expected, RaterAgreement, RaterPairAgreement
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.krippendorff import alpha_without_each_rater
from softirr.statistics.coefficients.registry import CHANCE_OF, MOST_RATER_PAIRS
from softirr.statistics.comparisons.difference import at_levels, difference, within_range
from softirr.statistics.draws import Draws
from softirr.statistics.matching.consensus import MANY
from softirr.text import sentences

MOST_PAIRS_OF_ITEM = 50_000
"""Pairs of answers to one item (317 raters) up to which the report lists the equivalence of each."""
MOST_RATERS = 50
"""Maximum number of raters that are compared one by one with the others."""
_LEVEL = 0.05


def expected_agreement(estimates: Estimated) -> Expected:
    """Agreement by chance: by the measure, or corrected by judgments."""
    chance, by_measure = estimates.by_measure.chance, estimates.by_measure.estimates
    values = {name: by_measure[key].expected for name, key in CHANCE_OF.items()}
    method, error = (chance.method, chance.standard_error) if chance else ("exact", 0.0)
    if estimates.posterior is not None and estimates.collected is not None:
        values, method, error = estimates.posterior.expected, "audit", estimates.posterior.expected_error
    return Expected(**values, method=method, standard_error=error, pairs_scored=chance.pairs_scored if chance else 0)


def alpha_without(estimates: Estimated) -> tuple[tuple[str, float], ...]:
    """Krippendorff's alpha without each rater, if it is defined, the highest first."""
    if estimates.by_measure.chance is None:
        return ()
    center = (estimates.posterior or estimates.by_measure).center
    values = zip(estimates.table.raters, alpha_without_each_rater(center).tolist(), strict=True)
    defined = ((rater, value) for rater, value in values if not np.isnan(value))
    return tuple(sorted(defined, key=lambda entry: (-round(entry[1], 9), entry[0])))


def raters(estimates: Estimated) -> tuple[RaterAgreement, ...]:
    """Each rater with all others."""
    trios = _trios(estimates, estimates.by_measure.raters, estimates.ratings.comparisons.pairs_of_rater)
    ids = estimates.table.raters
    n_items = np.bincount(estimates.ratings.rater, minlength=len(ids)).tolist()
    return tuple(
        RaterAgreement(id, n, *trio, *_contrast(estimates, number, trio[0]))
        for number, (id, n, trio) in enumerate(zip(ids, n_items, trios, strict=True))
    )


def rater_pairs(estimates: Estimated) -> tuple[RaterPairAgreement, ...]:
    """Each two raters who share an item."""
    by_measure = estimates.by_measure
    if by_measure.chance is None or not by_measure.rater_pairs:
        return ()
    expected = by_measure.chance.cohen.tolist()
    trios = _trios(estimates, by_measure.rater_pairs, lambda pair: np.array([pair]))
    if len(trios) <= MOST_CORRECTED and estimates.posterior is not None and estimates.collected is not None:
        expected = estimates.posterior.center.pair_expected[:, 0].tolist()
    comparisons, ids = estimates.ratings.comparisons, estimates.table.raters
    rows = zip(comparisons.rater_pairs.tolist(), comparisons.shared.tolist(), expected, trios, strict=True)
    return tuple(
        RaterPairAgreement((ids[a], ids[b]), n, observed, by_chance, kappa, sigma)
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


def report_warnings(estimates: Estimated) -> tuple[str, ...]:
    """Sentences that a reader of the numbers should know."""
    table, ratings, by_measure = estimates.table, estimates.ratings, estimates.by_measure
    n = len(ratings.comparable_items)
    warnings = list(estimates.warnings)
    if table.split is None and estimates.measure.stage(Sentences) is not None:
        n_paragraphs = sum(any(len(sentences(text)) > 1 for text in texts) for texts in table.written)
        if n_paragraphs:
            warnings.append(
                f"{plural(n_paragraphs, 'answer has', 'answers have')} several sentences: the measure compares "
                "paragraphs sentence by sentence. With the split mode none, it compares each as a whole."
            )
    warnings += map(Note, (*table.warnings, *unchecked_in_words(table)))
    if table.kind == TEXT and table.split is None and (lists := list_note(table.written)):
        warnings.append(lists)
    if 0 < n < FEW_ITEMS:
        warnings.append(
            f"Only {plural(n, 'item has', 'items have')} answers of two raters: below {FEW_ITEMS} the intervals "
            "are rough, and rater rankings are unreliable."
        )
    if (weights := weights_of(table, ratings)) is not None and n:
        warnings.append(
            f"Items count by their weights ({weights['least']:g} to {weights['most']:g}); "
            f"{'this item tells' if n == 1 else f'these {n:,} items tell'} as much as "
            f"{weights['effective_items']:,.1f} of equal weight (Kish 1965)."
        )
    warnings += _crowds(table, ratings)
    has_mean = by_measure.rater_pairs and estimates.coefficients["cohen_kappa"].value is not None
    n_left_out = int((~(estimates.posterior or by_measure).center.usable).sum()) if has_mean else 0
    if n_left_out:
        warnings.append(
            f"{n_left_out} of {plural(len(by_measure.rater_pairs), 'rater pair')} "
            f"{'has' if n_left_out == 1 else 'have'} no kappa and "
            f"{'is' if n_left_out == 1 else 'are'} not in Cohen's mean: the two raters share only one "
            "item, or all their answers are equivalent."
        )
    if estimates.collected is not None:
        warnings += [ITEMS_BY_MEASURE, *judgment_notes(estimates.collected)]
    return tuple(warnings)


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


def _contrast(
    estimates: Estimated, rater: int, agreement: Coefficient
) -> tuple[Coefficient | None, Coefficient | None]:
    """The agreement of the others with each other, and a rater's difference from it.

    Without judgments the interval covers the sampling of the items only, because errors of the measure are largely the
    same on both sides of a difference. With judgments it comes from the draws of all evidence. Its level is adjusted
    for the number of raters (Bonferroni).

    Parameters
    ----------
    agreement : Coefficient
        Agreement of the rater with the others, as the report shows it.

    Returns
    -------
    (Coefficient or None, Coefficient or None)
        (None, None) with fewer than three raters, with more than ``MOST_RATERS``, or if the others share no item.
    """
    n_raters, by_measure, posterior = len(estimates.table.raters), estimates.by_measure, estimates.posterior
    if not 3 <= n_raters <= MOST_RATERS or agreement.value is None:
        return None, None
    comparisons = estimates.ratings.comparisons
    all_pairs, pairs_of_rater = np.arange(len(comparisons.rater_pairs)), comparisons.pairs_of_rater(rater)
    pairs = np.setdiff1d(all_pairs, pairs_of_rater, assume_unique=True)
    of_others, of_rater = comparisons.of_pairs(pairs), comparisons.of_pairs(pairs_of_rater)
    if not len(of_others):
        return None, None
    measured = by_measure.agreement(of_others), by_measure.raters[rater][0]
    agreement_of_others, samples = measured[0].coefficient, list[Estimate | Sample](measured)
    if posterior is not None:
        agreement_of_others = posterior.of_pairs(pairs, agreement_of_others, agreement_of_others)[0]
    if posterior is not None and estimates.collected is not None:
        coefficients = agreement_of_others, agreement
        samples = [
            Sample(coefficient, posterior.over(partial(Draws.observed_of, comparisons=rows)), estimate.items)
            for coefficient, rows, estimate in zip(coefficients, (of_others, of_rater), measured, strict=True)
        ]
    change = difference(*samples)
    if agreement_of_others.value is None or change.value is None:
        return agreement_of_others, None
    n_items = min(len(sample.items) for sample in samples)
    change = at_levels(change, n_items, _LEVEL / n_raters, _LEVEL / n_raters)
    return agreement_of_others, within_range(change, 0.0)
