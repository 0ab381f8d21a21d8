"""A summary of judgments of pairs of texts: the object ``audit`` of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from softirr.json_object import JsonObject
from softirr.report.headline import HEADLINE, expected_agreement
from softirr.report.variance import WIDTHS, judgments_for
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.judged import Collected

__all__ = ["AuditSummary", "audit_summary"]


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


def audit_summary(estimates: Estimates, collected: Collected, by_measure: Mapping[str, Coefficient]) -> AuditSummary:
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
        n, collected.asked, collected.unused, measured, off, needed, collected.judges, collected.agreement
    )
