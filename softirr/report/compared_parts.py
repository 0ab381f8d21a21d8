"""Parts of a comparison: notes, differences, and raters with their judgments."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.answers.missing import unchecked_in_words
from softirr.answers.ratings import Ints, Ratings
from softirr.answers.sheets import NOTHING_JUDGED, Judgments
from softirr.answers.table import AnnotationTable
from softirr.defaults import FEW_ITEMS
from softirr.errors import InputError, Note
from softirr.report.evidence import judgment_notes
from softirr.report.inputs import read_sheets
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.registry import ByMeasure, definition
from softirr.statistics.comparisons.difference import difference, p_value
from softirr.statistics.comparisons.groups import Difference, Group
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.judged import collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import record_of, recorded_provenance
from softirr.statistics.evidence.sampling_frames import Frames, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights

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
        if not any(sheet.values for sheet in read):
            raise InputError("The sheets have no rows: name at least one sheet drawn by softirr audit sample.")
        self._seed = seed_of(read)
        frames = Frames(answers, self._seed)
        collected = collect(frames, read)
        self._answers, self._design, self._judged = answers, frames.design, collected.judged
        self.warnings = (
            f"{len(collected.judged.keys)} of {collected.n_pairs} pairs of texts on the sheets are judged and count.",
            *judgment_notes(collected),
        )
        if not len(self._judged.keys):
            raise InputError(NOTHING_JUDGED)
        self._items = sorted(answers.table.items)
        self._record = record_of(recorded_provenance(answers.scorer.measure))

    def compared(
        self, rater: str, other_raters: Collection[str], items: Collection[str], coefficient: str
    ) -> tuple[JudgedPart, JudgedPart]:
        """The others with each other, and the rater with the others, on the same items.

        Parameters
        ----------
        coefficient : {"cohen_kappa", "observed_agreement"}
        """
        design, raters = self._design, sorted(self._answers.table.raters)
        is_kept_rater = np.array([name == rater or name in other_raters for name in raters])
        is_kept_item = np.array([name in items for name in self._items])
        rows = np.flatnonzero(is_kept_rater[design.ratings.rater] & is_kept_item[design.ratings.item])
        among, with_rater = (
            self._part(design.part(rows, raters.index(rater), with_rater=is_with), definition(coefficient))
            for is_with in (False, True)
        )
        return among, with_rater

    def _part(self, design: Design, coefficient: Definition) -> JudgedPart:
        ratings, permutations = design.ratings, 5 if self._answers.scorer.cheap else 2
        chance = permutation(ratings, self._answers, permutations=permutations, seed=self._seed)
        scores, item_weights = self._answers.of_comparisons(ratings), ItemWeights.of(self._items, ratings)
        by_measure = ByMeasure(ratings, scores, chance, item_weights)
        measured = {coefficient.key: by_measure.estimate(coefficient).coefficient}
        judged, n = self._of_part(design)
        estimates = Estimates(design, measured, by_measure, self._record, judged)
        corrected = estimates.coefficients[coefficient.key]
        if n < min(_LEAST, len(design.same.texts.p)):
            corrected = Coefficient(corrected.value, undefined=corrected.undefined, judgments=n)
        ids = tuple(self._items[i] for i in np.unique(ratings.comparisons.item).tolist())
        return JudgedPart(corrected, estimates.draws.get(coefficient.key, np.zeros(0)), ids, n)

    def _of_part(self, design: Design) -> tuple[Judged, int]:
        """The judgments of the part's pairs of answers and of different items, and the number of the former."""
        judged = self._judged

        def numbers(texts: TextPairs) -> Ints:
            positions = np.unique(judged.place(texts.left_texts, texts.right_texts))
            return positions[positions >= 0]

        part_pairs, all_pairs = numbers(design.same.texts), numbers(self._design.same.texts)
        rows = np.union1d(part_pairs, np.setdiff1d(np.arange(len(judged.keys)), all_pairs))
        judged_of_part = Judged(judged.keys[rows], judged.same[rows], judged.p[rows], judged.n_texts, judged.former)
        return judged_of_part, len(part_pairs)


def difference_of(
    groups: tuple[Group, Group], samples: tuple[Sample, Sample], *, independent: bool = False
) -> Difference:
    """The second group minus the first one, by the samples of both; its p is not adjusted.

    Parameters
    ----------
    independent : bool
        Items of the same id are different items.
    """
    change = difference(*samples, independent=independent)
    n_shared = 0 if independent else len(set(samples[0].items) & set(samples[1].items))
    p = p_value(change, min(group.n_items for group in groups))
    return Difference(groups[0].label, groups[1].label, change, p, p, n_shared)


def few_items(groups: Sequence[Group]) -> list[str]:
    """A sentence about groups with so few items that their intervals are approximate."""
    labels = [group.label for group in groups if group.coefficient.value is not None and group.n_items < FEW_ITEMS]
    return [f"Fewer than {FEW_ITEMS} items in {', '.join(labels)}: the intervals are approximate."] if labels else []
