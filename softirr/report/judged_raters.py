"""Raters of a table with their judgments: the agreement of one of them with the others, by all evidence."""

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
from softirr.report.scoring import exact_fits
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.registry import ByMeasure, definition
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.judged import collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import record_of, recorded_provenance
from softirr.statistics.evidence.sampling_frames import Frames, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights

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
        ratings, answers = design.ratings, self._answers
        scores, item_weights = answers.of_comparisons(ratings), ItemWeights.of(self._items, ratings)
        if exact_fits(ratings, answers):
            chance = exact(ratings, answers, scores)
        else:
            chance = permutation(ratings, answers, permutations=5 if answers.scorer.cheap else 2, seed=self._seed)
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
