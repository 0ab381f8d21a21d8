"""Agreement of one rater with others, and of the others with each other, corrected by judgments of pairs from all."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Ints
from softirr.answers.sheets import NOTHING_JUDGED, Judgments
from softirr.errors import InputError
from softirr.report.evidence import judgment_notes
from softirr.report.inputs import read_sheets
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.registry import summarize
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.estimator import Estimates, MeasureChance
from softirr.statistics.evidence.judged import collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import record_of, recorded_provenance
from softirr.statistics.evidence.sampling_frames import Frames, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights, item_numbers

_LEAST = 6
"""Fewest judged pairs of answers to one item for an interval."""


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
        without_rater, with_rater = (
            self._part(self._frames.design.part(rows, number, with_rater=has_rater), coefficient)
            for has_rater in (False, True)
        )
        return without_rater, with_rater

    def _part(self, design: Design, name: str) -> JudgedPart:
        ratings = design.ratings
        comparisons = ratings.comparisons
        permutations = 5 if self._answers.scorer.cheap else 2
        chance = permutation(ratings, self._answers, permutations=permutations, seed=self._seed)
        scores = self._answers.of_comparisons(ratings)
        item_weights = ItemWeights(self._numbers, len(ratings.comparable_items))
        by_measure = summarize(ratings, scores, chance, items=item_weights).measured
        indices = np.arange(len(comparisons.left_rows))
        judged, n = self._of_part(design)
        estimates = Estimates(
            design, by_measure, MeasureChance(ratings, scores, chance, indices, item_weights), self._record, judged
        )
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
