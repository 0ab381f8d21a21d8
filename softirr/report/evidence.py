"""Estimate the coefficients of a report from all evidence: :mod:`softirr.statistics.evidence.estimator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr.answers.ratings import Ints, Ratings
from softirr.answers.sheets import Judgments
from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.plural import plural
from softirr.report.key_figures import HEADLINE, WIDTHS, expected_agreement, judgments_for
from softirr.report.result_parts import Expected
from softirr.report.scoring import Scored
from softirr.statistics.coefficients.intervals import Coefficient, Details
from softirr.statistics.evidence.estimator import COVERED, Estimates, MeasureChance, estimate
from softirr.statistics.evidence.judged import Collected, collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import Record
from softirr.statistics.evidence.sampling_frames import Frames, seed_of

Trio = tuple[Coefficient, Coefficient, Coefficient]

_NOT_COVERED = "judgments do not correct it"
ITEMS_BY_MEASURE = (
    "Judgments correct the coefficients of the whole table, of raters and of rater pairs. Items are scored by the "
    "measure alone."
)
"""What judgments do not correct."""
MOST_CORRECTED = 1_000
"""Most raters, and most rater pairs, that the estimator is run for: some seconds."""


@dataclass(frozen=True)
class AuditSummary(JsonObject):
    """The judgments behind corrected coefficients.

    Attributes
    ----------
    judgments : int
        Judged pairs of texts that count; a pair with several judges counts once.
    asked : int
        Pairs of texts in the sheets.
    unused : int
        Judged pairs that are no longer pairs of the table.
    plain : dict of str to float or None
        The coefficients by the measure alone.
    off : dict of str to float or None
        ``plain`` minus the corrected value.
    needed_for_width : dict of str to int or None
        Total number of judgments that narrows the interval of the headline coefficient to about each width; None if
        no number would, because the items are a sample.
    judges_agreement : dict or None
        With several judges: pairs of texts judged by two or more, the observed agreement on them, and Krippendorff's
        alpha.
    """

    judgments: int
    asked: int
    unused: int
    plain: dict[str, float | None]
    off: dict[str, float | None]
    needed_for_width: dict[str, int | None]
    judges: int
    judges_agreement: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of a table from all evidence.

    Attributes
    ----------
    collected : Collected or None
        The judgments; None without sheets.
    audit : AuditSummary or None
        Summary of the judgments, for the report.
    """

    estimates: Estimates
    collected: Collected | None
    audit: AuditSummary | None

    def coefficients(self, by_measure: Mapping[str, Coefficient]) -> dict[str, Coefficient]:
        """Every coefficient.

        Those that judgments do not correct have the value and the interval of the measure alone, and none if there are
        judgments.
        """
        return {
            name: self.estimates.coefficients[name] if name in COVERED else self._not_covered(coefficient)
            for name, coefficient in by_measure.items()
        }

    def _not_covered(self, by_measure: Coefficient) -> Coefficient:
        details = Details(by_measure.items_only, by_measure=by_measure.value)
        if self.collected is not None and by_measure.value is not None:
            return Coefficient(None, undefined=_NOT_COVERED, details=details)
        return replace(by_measure, details=details)

    def of_pairs(self, pairs: Ints, by_measure: Trio) -> Trio:
        """Observed agreement, Cohen's kappa and sigma of some rater pairs, such as all pairs of a rater.

        Parameters
        ----------
        pairs : shape (m,)
            Their numbers.
        """
        observed, kappa, sigma = by_measure
        return *self.estimates.rater_estimates.of_pairs(pairs, observed, kappa), self._not_covered(sigma)

    def expected_of_pair(self, pair: int, by_measure: float) -> float:
        """Agreement by chance of a pair of raters: by the measure, or corrected by judgments."""
        return by_measure if self.collected is None else self.estimates.rater_estimates.expected_of_pair(pair)

    def expected(self, by_measure: Expected) -> Expected:
        """Agreement by chance: by the measure, or corrected by judgments."""
        if self.collected is None:
            return by_measure
        values = self.estimates.expected
        return replace(
            by_measure,
            cohen=values["cohen"],
            fleiss=values["fleiss"],
            krippendorff=values["krippendorff"],
            method="audit",
            standard_error=self.estimates.expected_error,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for readers of the corrected numbers."""
        if self.collected is None:
            return ()
        return (ITEMS_BY_MEASURE, *judgment_notes(self.collected))


def judgment_notes(collected: Collected) -> tuple[str, ...]:
    """Sentences on pairs in the sheets that do not count as judged."""
    result = []
    if collected.unused:
        unused, n_judged = collected.unused, collected.unused + len(collected.judged.keys)
        result.append(
            f"{unused:,} of {plural(n_judged, 'judged pair')} of texts "
            f"{'is no longer a pair' if unused == 1 else 'are no longer pairs'} of this table and "
            f"{'informs' if unused == 1 else 'inform'} the calibration only."
        )
    if collected.unsure:
        result.append(
            f"{plural(collected.unsure, 'pair was', 'pairs were')} judged as "
            "can't tell, which counts as not judged: say different where nothing in the guideline makes two texts "
            "the same, or ask somebody who knows the subject."
        )
    return tuple(result)


def evidence_of(
    table: AnnotationTable,
    scored_table: Scored,
    by_measure: Mapping[str, Coefficient],
    record: Record,
    sheets: Sequence[Judgments],
) -> Evidence | None:
    """Estimate the coefficients from all evidence.

    Parameters
    ----------
    scored_table : Scored
        Scores and chance of the table by the measure.
    by_measure : mapping of str to Coefficient
        Coefficients by the measure alone, with the interval of the items.
    record : Record
        Record of the measure.

    Returns
    -------
    Evidence or None
        None if no answers can be compared.

    Raises
    ------
    InputError
        If the sheets cannot be used.
    """
    ratings, chance, options = scored_table.ratings, scored_table.chance, scored_table.options
    if chance is None and not sheets:
        return None
    ids = {unit: sheet.place((unit, pair)) for sheet in sheets for unit, pair in sheet.values}
    frames = Frames(scored_table.answers, seed_of(ids) if ids else options.seed)
    collected = collect(frames, sheets) if sheets else None
    judged = Judged.nothing(len(table.texts)) if collected is None else collected.judged
    measured = scored_table.summary.by_measure
    assert chance is not None and measured is not None
    design_index = _design_index(ratings, frames)
    measure_chance = MeasureChance(ratings, scored_table.scores, chance, design_index, measured.items)
    estimates = estimate(frames.design, by_measure, measure_chance, record, judged)
    audit = None if collected is None else _audit_summary(estimates, collected, by_measure)
    return Evidence(estimates, collected, audit)


def _design_index(ratings: Ratings, frames: Frames) -> Ints:
    """Position of each comparison of the table's ratings in the frames, which are sorted by id."""
    row = np.empty(len(frames.order), dtype=np.int64)
    row[frames.order] = np.arange(len(frames.order))
    n = np.int64(len(frames.order))

    def keys(left_rows: Ints, right_rows: Ints) -> Ints:
        return np.asarray(np.minimum(left_rows, right_rows) * n + np.maximum(left_rows, right_rows))

    table_pairs, frame_pairs = ratings.comparisons, frames.design.ratings.comparisons
    table_keys, frame_keys = (
        keys(row[table_pairs.left_rows], row[table_pairs.right_rows]),
        keys(frame_pairs.left_rows, frame_pairs.right_rows),
    )
    order = np.argsort(frame_keys)
    return np.asarray(order[np.searchsorted(frame_keys[order], table_keys)])


def _audit_summary(estimates: Estimates, collected: Collected, by_measure: Mapping[str, Coefficient]) -> AuditSummary:
    """Summarize the judgments."""
    n = len(collected.judged.keys)
    corrected = {name: coefficient.value for name, coefficient in estimates.coefficients.items()}
    measured = {name: by_measure[name].value for name in corrected}
    off = {
        name: None if value is None or (corrected_value := corrected[name]) is None else value - corrected_value
        for name, value in measured.items()
    }
    headline = next((name for name in HEADLINE if corrected[name] is not None), None)
    needed: dict[str, int | None] = {f"{width:g}": None for width in WIDTHS}
    if headline is not None:
        best = estimates.coefficients[headline].to_dict()
        expected = expected_agreement({"expected_agreement": estimates.expected}, headline)
        needed = {f"{width:g}": judgments_for(width, best, expected) for width in WIDTHS}
    return AuditSummary(
        n, collected.n_pairs, collected.unused, measured, off, needed, collected.judges, collected.agreement
    )
