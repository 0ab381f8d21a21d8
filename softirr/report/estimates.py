"""The coefficients of a scored table from all evidence, before they become a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softirr.answers.sheets import Judgments
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pairs import pairs_used_for
from softirr.meaning.measures.suitability import BUNDLED, comparisons_across_scripts, misfit_sentences, script_warnings
from softirr.report.evidence import Evidence, evidence_of
from softirr.report.scoring import Scored
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.evidence.record import record_of, recorded_provenance


@dataclass(frozen=True, eq=False)
class Estimated:
    """The coefficients of a table from all evidence, and their basis.

    Attributes
    ----------
    scored : Scored
        Scored pairs of the table, and its estimates by the measure alone.
    by_measure : dict of str to Coefficient
        Coefficients by the measure alone, with the interval of the items.
    coefficients : dict of str to Coefficient
        From all evidence.
    misfits : tuple of str
        Why the measure does not fit these texts.
    record : str or None
        Name of the measure with the record of errors that the intervals use; None if values are compared exactly.
    evidence : Evidence or None
        None if no answers can be compared, or values are compared exactly.
    warnings : tuple of str
        Which pairs the measure does not compare.
    """

    scored: Scored
    by_measure: dict[str, Coefficient]
    coefficients: dict[str, Coefficient]
    misfits: tuple[str, ...]
    record: str | None
    evidence: Evidence | None
    warnings: tuple[str, ...] = ()

    @property
    def expected(self) -> dict[str, float | None]:
        """Agreement by chance, as in the report: corrected by judgments."""
        if self.evidence is not None and self.evidence.collected is not None:
            return self.evidence.estimates.expected
        by_measure = self.scored.summary.coefficients
        names = {"cohen": "cohen_kappa", "fleiss": "fleiss_kappa", "krippendorff": "krippendorff_alpha"}
        return {chance: by_measure[name].expected for chance, name in names.items()}


def estimated(
    table: AnnotationTable,
    measure: Measure,
    scored_table: Scored,
    sheets: Sequence[Judgments] = (),
) -> Estimated:
    """Estimate the coefficients of a scored table from all evidence.

    Parameters
    ----------
    table, measure
        As for :func:`softirr.agreement`.
    scored_table : Scored
        Result of :func:`scored`.
    sheets : sequence of Judgments
        Judged sheets; the measure's record of errors is the only evidence without them.

    Raises
    ------
    InputError
        If there are judgments of values that are compared exactly.
    """
    by_measure = {name: entry.coefficient for name, entry in scored_table.summary.coefficients.items()}
    if isinstance(measure, KindMeasure):
        if sheets:
            raise InputError(f"Values of the kind {measure.name} are compared exactly, so they have no judgments.")
        return Estimated(scored_table, by_measure, by_measure, (), None, None)
    misfits = misfit_sentences(
        measure,
        table.texts,
        similarity=None if scored_table.chance is None else scored_table.chance.similarity,
        n_answers=0 if scored_table.chance is None else scored_table.chance.distinct,
    )
    n_across_scripts = comparisons_across_scripts(table, scored_table.ratings) if measure.raw_name == BUNDLED else 0
    warnings = script_warnings(n_across_scripts)
    record = record_of(recorded_provenance(measure), fits=not misfits)
    with pairs_used_for("evidence"):
        evidence = evidence_of(table, scored_table, by_measure, record, sheets)
    coefficients = by_measure if evidence is None else evidence.coefficients(by_measure)
    return Estimated(scored_table, by_measure, coefficients, misfits, record.measure, evidence, warnings)
