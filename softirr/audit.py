"""The audit: judgments of a random sample of pairs correct the coefficients of any measure.

``draw_sheet`` draws units and writes them to a sheet that contains texts only; ``apply`` reads judged sheets and
returns the report with corrected coefficients. A unit is a pair of texts of two raters, from their answers to one item
or to different items (agreement by chance). N units are N judgments, even if answers are sets of texts. Pairs that are
identical, known to a terminology or decided by a reviewer are never in a sheet.

Undecided and empty judgments count as not judged. The policy determines how a more general text counts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from softirr.answers.sheets import HEADER, Judgments, check_judged, csv_text, read_sheet
from softirr.answers.table import AnnotationTable
from softirr.defaults import JUDGMENTS
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.report.agreement import agreement
from softirr.report.inputs import AgreementOptions, read_sheets, table_from
from softirr.report.results import AgreementReport
from softirr.report.scoring import open_scoring
from softirr.statistics.evidence.judged import ONLY
from softirr.statistics.evidence.sampling_frames import AuditUnit, Frames, stem

__all__ = ["AuditSheet", "AuditUnit", "Judgments", "apply", "draw_sheet", "read_sheet"]


@dataclass(frozen=True)
class AuditSheet:
    """Units, in the order of judging. The first units of a sheet, in any number, are a valid sample too."""

    units: tuple[AuditUnit, ...]

    def to_csv(self) -> str:
        """The sheet as CSV with the columns of ``HEADER``; the last one is empty."""
        return csv_text([HEADER, *((unit.id, ONLY, unit.text_a, unit.text_b, "") for unit in self.units)])


def draw_sheet(
    table: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    judgments: int = JUDGMENTS,
    seed: int = 0,
    assignment: str = "optimal",
    without: Collection[str] = (),
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AuditSheet:
    """Draw units to be judged.

    Parameters
    ----------
    measure : str or Measure
        Strata of pairs with uncertain scores get more units.
    judgments : int
        Number of pairs of texts. A larger number with the same seed draws the same pairs and additional ones.
    assignment : {"optimal", "greedy"}
        How the measure's sets are matched.
    without : collection of str
        Ids of units to leave out of the sheet because they are judged already.
    cache, progress
        As for :func:`softirr.agreement`.

    Raises
    ------
    InputError
        If there is nothing to judge.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"{who} finds {i}") for i in range(9) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> len(softirr.audit.draw_sheet(table, "indel", judgments=12).units)
    12
    """
    if judgments < 1:
        raise InputError(f"The number of judgments is {judgments}, but it must be at least 1.")
    table = table_from(table)
    with open_scoring(measure, AgreementOptions(assignment=assignment), cache, progress) as scoring:
        units = list(islice(Frames(scoring.answers(table), seed).units(), judgments))
    if not units:
        raise InputError("There is nothing to judge: no two answers to one item differ.")
    judged = {stem(id) for id in without}
    return AuditSheet(tuple(unit for unit in units if stem(unit.id) not in judged))


def apply(
    answers: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    sheets: Sequence[Judgments | str | os.PathLike[str]] = (),
    *,
    policy: Policy | str | None = None,
    options: AgreementOptions | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AgreementReport:
    """The report of answers with coefficients corrected by judged sheets.

    Parameters
    ----------
    answers : AnnotationTable, data frame, list, dict or array
        As for :func:`softirr.agreement`.
    measure : str or Measure
        Not necessarily the measure that the sheets were drawn with: judgments count wherever their pairs are pairs of
        the table.
    sheets : sequence of Judgments or paths
        Judged sheets of one or several judges, drawn at once or one after another.
    policy, options, cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    AgreementReport
        With ``audit``.

    Raises
    ------
    InputError
        If a sheet was changed or contradicts itself, or no judged pair belongs to this table.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"{who} finds {i}") for i in range(9) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> sheet = softirr.audit.draw_sheet(table, "indel", judgments=12)
    >>> judged = softirr.audit.Judgments("eve", {(unit.id, 1): "different" for unit in sheet.units})
    >>> report = softirr.audit.apply(table, "indel", [judged])
    >>> report.audit.judgments, report.coefficients["observed_agreement"].value < 0.2
    (12, True)
    """
    read = read_sheets(sheets)
    check_judged(read)
    return agreement(answers, measure, policy=policy, judgments=read, options=options, cache=cache, progress=progress)
