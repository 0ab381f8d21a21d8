"""The coefficients of a scored table from all evidence, before they become a report.

They are estimated by :mod:`softirr.statistics.evidence.estimator`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softirr.answers.ratings import Ints, Ratings
from softirr.answers.sheets import Judgments
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.meaning.measures.arrays import pair_keys
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pairs import pairs_used_for
from softirr.meaning.measures.suitability import BUNDLED, misfit_sentences, script_warnings
from softirr.meaning.policy.measure import policy_of
from softirr.numbers import plural
from softirr.report.key_figures import WIDTHS, expected_agreement, headline_key, judgments_for
from softirr.report.scoring import Scored
from softirr.statistics.coefficients.intervals import Coefficient, Details, Sample
from softirr.statistics.evidence.estimator import COVERED, Estimates
from softirr.statistics.evidence.judged import Collected, collect
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.record import Record, record_of, recorded_provenance
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
        Judged pairs that are no longer pairs of the table, or are known without judgments.
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
class Estimated(Scored):
    """The coefficients of a scored table from all evidence, and their basis.

    Attributes
    ----------
    misfits : tuple of str
        Why the measure does not fit these texts.
    warnings : tuple of str
        Which pairs the measure does not compare.
    record : Record or None
        The record of errors that the intervals use; None if values are compared exactly.
    posterior : Estimates or None
        None if no answers can be compared, or values are compared exactly.
    collected : Collected or None
        The judgments; None without sheets.
    """

    misfits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    record: Record | None = None
    posterior: Estimates | None = None
    collected: Collected | None = None

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Every coefficient.

        Those that judgments do not correct have the value and the interval of the measure alone, and none if there are
        judgments.
        """
        by_measure, posterior = self.by_measure.coefficients, self.posterior
        if posterior is None:
            return by_measure
        return {
            name: posterior.coefficients[name] if name in COVERED else self._not_covered(coefficient)
            for name, coefficient in by_measure.items()
        }

    def _not_covered(self, by_measure: Coefficient) -> Coefficient:
        details = Details(by_measure.items_only, by_measure=by_measure.value)
        if self.collected is not None and by_measure.value is not None:
            return Coefficient(None, undefined=_NOT_COVERED, details=details)
        return replace(by_measure, details=details)

    def sample_of(self, name: str) -> Sample:
        """A coefficient, with the interval and the draws that a difference of tables is computed with.

        The error of the measure is largely the same in both parts of a difference, so it is not included without
        judgments. With judgments the interval and the draws come from all evidence.
        """
        by_measure, coefficient = self.sample(self.by_measure.estimates[name]), self.coefficients[name]
        if self.posterior is None or (coefficient.value is not None and not coefficient.judgments):
            return by_measure
        return replace(by_measure, coefficient=coefficient, draws=self.posterior.draws.get(name, np.zeros(0)))

    def of_pairs(self, pairs: Ints, by_measure: Trio) -> Trio:
        """Observed agreement, Cohen's kappa and sigma of some rater pairs, such as all pairs of a rater.

        Parameters
        ----------
        pairs : shape (m,)
            Their numbers.
        """
        if self.posterior is None:
            return by_measure
        observed, kappa, sigma = by_measure
        return *self.posterior.of_pairs(pairs, observed, kappa), self._not_covered(sigma)

    @property
    def audit(self) -> AuditSummary | None:
        """Summary of the judgments, for the report."""
        if self.posterior is None or self.collected is None:
            return None
        collected, by_measure = self.collected, self.by_measure.coefficients
        corrected = {name: coefficient.value for name, coefficient in self.posterior.coefficients.items()}
        measured = {name: by_measure[name].value for name in corrected}
        off = {
            name: None if value is None or (corrected_value := corrected[name]) is None else value - corrected_value
            for name, value in measured.items()
        }
        best: Mapping[str, Any] = {}
        expected = None
        if (headline := headline_key(corrected)) is not None:
            best = self.posterior.coefficients[headline].to_dict()
            expected = expected_agreement({"expected_agreement": self.posterior.expected}, headline)
        needed = {f"{width:g}": judgments_for(width, best, expected) for width in WIDTHS}
        n, unused, judges = len(collected.judged.keys), collected.unused, collected.judges
        return AuditSummary(n, collected.n_pairs, unused, measured, off, needed, judges, collected.agreement)


def unused_sentence(n_unused: int, n_judgments: int, source: str) -> str:
    """Sentence on judged pairs that a source, such as ``this table``, does not have, or that are known anyway."""
    pairs, pronoun = plural(n_unused + n_judgments, "judged pair"), "it" if n_unused == 1 else "them"
    return (
        f"{n_unused:,} of {pairs} of texts can inform the calibration only, or nothing: {source} no longer has "
        f"{pronoun}, or a terminology or a decision settles {pronoun}."
    )


def judgment_notes(collected: Collected) -> tuple[str, ...]:
    """Sentences on pairs in the sheets that do not count as judged."""
    result = []
    if collected.unused:
        result.append(unused_sentence(collected.unused, len(collected.judged.keys), "this table"))
    if collected.unsure:
        result.append(
            f"{plural(collected.unsure, 'pair was', 'pairs were')} judged as "
            "can't tell, which counts as not judged: say different where nothing in the guideline makes two texts "
            "the same, or ask somebody who knows the subject."
        )
    return tuple(result)


def with_fit(scored_table: Scored) -> Estimated:
    """A scored table with what is known of its measure, before any judgment: how it fits the texts, and its record."""
    measure, table, chance = scored_table.measure, scored_table.table, scored_table.by_measure.chance
    if isinstance(measure, KindMeasure):
        return Estimated(**vars(scored_table))
    similarity, n_answers = (None, 0) if chance is None else (chance.similarity, chance.distinct)
    misfits = misfit_sentences(measure, table.texts, similarity=similarity, n_answers=n_answers)
    choice, warnings = policy_of(measure).more_general, list[str]()
    if measure.raw_name == BUNDLED:
        warnings += script_warnings(table, scored_table.ratings)
    if choice != "graded" and not measure.directional:
        warnings.append(
            f"The measure {measure.raw_name} does not tell which text is more general, so the policy's choice "
            f"{choice} changes nothing."
        )
    record = record_of(recorded_provenance(measure), fits=not misfits)
    return Estimated(**vars(scored_table), misfits=misfits, warnings=tuple(warnings), record=record)


def estimated(scored_table: Scored, sheets: Sequence[Judgments] = ()) -> Estimated:
    """Estimate the coefficients of a scored table from all evidence.

    Parameters
    ----------
    scored_table : Scored
        Scores and chance of the table by the measure.
    sheets : sequence of Judgments
        Judged sheets; the measure's record of errors is the only evidence without them.

    Raises
    ------
    InputError
        If the sheets cannot be used, or values are compared exactly.
    """
    estimates, by_measure = with_fit(scored_table), scored_table.by_measure
    if estimates.record is None and sheets:
        kind = scored_table.measure.name
        raise InputError(f"Values of the kind {kind} are compared exactly, so they have no judgments.")
    if estimates.record is None or (by_measure.chance is None and not sheets):
        return estimates
    with pairs_used_for("evidence"):
        frames = Frames(scored_table.answers, seed_of(sheets, scored_table.options.seed))
        collected = collect(frames, sheets) if sheets else None
        judged = Judged.nothing(len(scored_table.table.texts)) if collected is None else collected.judged
        design_index = _design_index(scored_table.ratings, frames)
        measured = by_measure.coefficients
        posterior = Estimates(frames.design, measured, by_measure, estimates.record, judged, design_index)
    return replace(estimates, posterior=posterior, collected=collected)


def _design_index(ratings: Ratings, frames: Frames) -> Ints:
    """Position of each comparison of the table's ratings in the frames, which are sorted by id."""
    row = np.argsort(frames.order)
    n, table_pairs, frame_pairs = len(frames.order), ratings.comparisons, frames.design.ratings.comparisons
    table_keys = pair_keys(row[table_pairs.left_rows], row[table_pairs.right_rows], n)
    frame_keys = pair_keys(frame_pairs.left_rows, frame_pairs.right_rows, n)
    order = np.argsort(frame_keys)
    return np.asarray(order[np.searchsorted(frame_keys[order], table_keys)])
