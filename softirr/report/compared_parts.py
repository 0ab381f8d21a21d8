"""Parts of a comparison, each a table or raters with their estimates, and the differences of parts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr.answers.missing import unchecked_in_words
from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.answers.sheets import NOTHING_JUDGED, Judgments
from softirr.answers.table import AnnotationTable
from softirr.defaults import FEW_ITEMS
from softirr.errors import InputError, Note
from softirr.report.evidence import Estimated, estimated, judgment_notes
from softirr.report.inputs import read_sheets
from softirr.report.key_figures import HEADLINE
from softirr.report.scoring import Scored, Scoring, scored
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.registry import definition, summarize
from softirr.statistics.comparisons.difference import at_levels, difference, holm, holm_levels, p_value
from softirr.statistics.comparisons.groups import Difference, Group
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.judged import collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import record_of, recorded_provenance
from softirr.statistics.evidence.sampling_frames import Frames, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights, item_numbers

NOT_AUDITED = (
    "Not audited: the intervals contain the sampling of items but not the error of the measure, which cancels in a "
    "difference only as far as it is the same in both parts."
)
_LEAST = 6
"""Fewest judged pairs of answers to one item for an interval."""


def reading_notes(tables: Mapping[str, AnnotationTable]) -> list[str]:
    """What to know about the answers of each table by its label, which is named unless all tables share it."""
    labels: dict[Note, list[str]] = {}
    for label, table in tables.items():
        for sentence in (*table.warnings, *unchecked_in_words(table)):
            labels.setdefault(Note(sentence), []).append(label)
    return [note if len(of) == len(tables) else note.of(", ".join(of)) for note, of in labels.items()]


def comparable_items(table: AnnotationTable) -> set[str]:
    """Ids of the items with answers of two raters."""
    return {table.items[number] for number in Ratings.of(table).comparable_items.tolist()}


@dataclass(frozen=True, eq=False)
class Part:
    """A table of a comparison with its estimates.

    Attributes
    ----------
    problem : str or None
        Why its judgments are not used.
    """

    label: str
    estimates: Estimated
    problem: str | None = None

    @property
    def scored(self) -> Scored:
        """Its scores and estimates by the measure alone."""
        return self.estimates.scored

    def sample(self, name: str) -> Sample:
        """One of its coefficients, with the interval and the draws that a difference is computed with.

        The error of the measure is largely the same in both parts of a difference, so it is not included without
        judgments. With judgments the interval and the draws come from all evidence.
        """
        coefficient, estimate = self.estimates.coefficients[name], self.scored.summary.coefficients[name]
        posterior = self.estimates.posterior
        if coefficient.value is None:
            return self._sample(estimate, coefficient, np.zeros(0))
        if coefficient.judgments and posterior is not None and name in posterior.draws:
            return self._sample(estimate, coefficient, posterior.draws[name])
        return self._sample(estimate, estimate.coefficient, estimate.draws)

    def _sample(self, estimate: Estimate, coefficient: Coefficient, draws: Floats) -> Sample:
        return Sample(coefficient, draws, tuple(self.scored.table.items[i] for i in estimate.items.tolist()))

    def rater_sample(self, name: str, rater: str) -> Sample:
        """Agreement of one rater with the others, by the measure alone."""
        observed, kappa, _ = self.scored.summary.raters[self.scored.table.raters.index(rater)]
        estimate = observed if name == "observed_agreement" else kappa
        return self._sample(estimate, estimate.coefficient, estimate.draws)

    def group(self, sample: Sample, coefficient: Coefficient | None = None) -> Group:
        """A line of the comparison."""
        return Group(self.label, len(sample.items), len(self.scored.table.raters), coefficient or sample.coefficient)


def estimated_part(scoring: Scoring, label: str, table: AnnotationTable, sheets: Sequence[Any] = ()) -> Part:
    """A table with its estimates; if no judgment is of its answers, without judgments and with the reason."""
    read = read_sheets(sheets)
    scored_table = scored(scoring.answers(table), scoring.options)
    try:
        return Part(label, estimated(scored_table, read))
    except InputError as error:
        if not read:
            raise
        return Part(label, estimated(scored_table), str(error))


@dataclass(frozen=True, eq=False)
class JudgedPart(Sample):
    """A coefficient of some pairs of raters, corrected by judgments; its estimate is by the corrected scores.

    Attributes
    ----------
    judged : int
        Judged pairs of texts of these pairs of raters.
    """

    judged: int


class JudgedRaters:
    """Judged sheets of a table, by which raters are compared with the others.

    Parameters
    ----------
    answers : AnswerScorer
        Scores the answers of the whole table that the units were drawn from, with every rater.

    Attributes
    ----------
    warnings : tuple of str
        How many judgments count, and why others do not.

    Raises
    ------
    InputError
        If a sheet does not belong to this table, or nothing is judged.

    References
    ----------
    Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model assisted survey sampling, chapter 10 (estimation for
    domains).
    """

    def __init__(self, answers: AnswerScorer, sheets: Sequence[Judgments | str | os.PathLike[str]]) -> None:
        read = read_sheets(sheets)
        ids = {unit: sheet.place((unit, pair)) for sheet in read for unit, pair in sheet.values}
        if not ids:
            raise InputError("The sheets have no rows: name at least one sheet drawn by softirr audit sample.")
        self._seed = seed_of(ids)
        self._answers, self._frames = answers, Frames(answers, self._seed)
        collected = collect(self._frames, read)
        self._judged = collected.judged
        self.warnings = (
            f"{len(collected.judged.keys)} of {collected.n_pairs} pairs of texts on the sheets are judged and count.",
            *judgment_notes(collected),
        )
        if not len(self._judged.keys):
            raise InputError(NOTHING_JUDGED)
        self._numbers = item_numbers(sorted(answers.table.items))
        self._record = record_of(recorded_provenance(answers.scorer.measure))

    def compared(
        self, rater: str, other_raters: Collection[str], items: Collection[str], coefficient: str
    ) -> tuple[JudgedPart, JudgedPart]:
        """The others with each other, and the rater with the others, on the same items.

        Parameters
        ----------
        coefficient : {"cohen_kappa", "observed_agreement"}
        """
        table, ratings = self._frames.table, self._frames.design.ratings
        raters, names = sorted(table.raters), sorted(table.items)
        people = np.array([name == rater or name in other_raters for name in raters])
        is_kept_item = np.array([name in items for name in names])
        rows = np.flatnonzero(people[ratings.rater] & is_kept_item[ratings.item])
        number = raters.index(rater)
        design = self._frames.design
        designs = design.part(rows, number, with_rater=False), design.part(rows, number, with_rater=True)
        return self._part(designs[0], coefficient), self._part(designs[1], coefficient)

    def _part(self, design: Design, name: str) -> JudgedPart:
        ratings = design.ratings
        comparisons = ratings.comparisons
        permutations = 5 if self._answers.scorer.cheap else 2
        chance = permutation(ratings, self._answers, permutations=permutations, seed=self._seed)
        scores = self._answers.of_comparisons(ratings)
        item_weights = ItemWeights(self._numbers, len(ratings.comparable_items))
        summary = summarize(ratings, scores, chance, items=item_weights)
        judged, n = self._of_part(design)
        assert summary.by_measure is not None
        estimates = Estimates(design, summary.measured, summary.by_measure, self._record, judged)
        items = sorted(self._frames.table.items)
        ids = tuple(items[i] for i in np.unique(comparisons.item).tolist())
        coefficient = estimates.coefficients[name]
        if n < min(_LEAST, len(design.same.texts.p)):
            coefficient = Coefficient(coefficient.value, undefined=coefficient.undefined, judgments=n)
        return JudgedPart(coefficient, estimates.draws.get(name, np.zeros(0)), ids, n)

    def _of_part(self, design: Design) -> tuple[Judged, int]:
        """The judgments of the part's pairs of answers and of different items, and the number of the former."""
        judged = self._judged

        def numbers(texts: TextPairs) -> Ints:
            positions = np.unique(judged.place(texts.left_texts, texts.right_texts))
            return positions[positions >= 0]

        part_pairs, all_pairs = numbers(design.same.texts), numbers(self._frames.design.same.texts)
        rows = np.union1d(part_pairs, np.setdiff1d(np.arange(len(judged.keys)), all_pairs))
        judged_of_part = Judged(judged.keys[rows], judged.same[rows], judged.p[rows], judged.n_texts, judged.former)
        return judged_of_part, len(part_pairs)


def choose_coefficient(scored_parts: Sequence[Part], requested: str | None) -> str:
    """Key of the coefficient to compare: the first of ``HEADLINE`` that most parts have, unless one is requested."""
    if requested is not None:
        return definition(requested).key

    def defined(name: str) -> int:
        return sum(entry.scored.summary.coefficients[name].value is not None for entry in scored_parts)

    return max(HEADLINE, key=defined)  # the first of those that most parts have


def differences_of(
    groups: Sequence[Group], samples: Sequence[Sample], independent: bool, adjust: bool
) -> tuple[Difference, ...]:
    """Every two groups: the later one minus the earlier one.

    Parameters
    ----------
    samples : sequence of Sample
        Samples of the groups, in the same order.
    independent : bool
        Items of the same id are different items.
    adjust : bool
        Adjust p values and intervals for the number of differences: an interval excludes 0 if the adjusted p is
        below 0.05.
    """
    differences, sizes = [], []
    for i, j in itertools.combinations(range(len(groups)), 2):
        change = difference(samples[i], samples[j], independent=independent)
        shared = 0 if independent else len(set(samples[i].items) & set(samples[j].items))
        sizes.append(min(len(samples[i].items), len(samples[j].items)))
        p = p_value(change, sizes[-1])
        differences.append(Difference(groups[i].label, groups[j].label, change, p, p, shared))
    if adjust and len(differences) > 1:
        p_values = [entry.p for entry in differences]
        adjusted = zip(differences, sizes, holm_levels(p_values), holm(p_values), strict=True)
        differences = [
            replace(entry, difference=at_levels(entry.difference, n, level, level), p_adjusted=value)
            for entry, n, level, value in adjusted
        ]
    return tuple(differences)


def few_items(groups: Sequence[Group]) -> list[str]:
    """A sentence about groups with so few items that their intervals are approximate."""
    labels = [group.label for group in groups if group.coefficient.value is not None and group.n_items < FEW_ITEMS]
    return [f"Fewer than {FEW_ITEMS} items in {', '.join(labels)}: the intervals are approximate."] if labels else []
