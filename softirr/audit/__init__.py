"""The audit: a person judges a random sample of pairs, and the coefficients are corrected by it."""

from softirr.audit.audited import (
    AuditReport,
    AuditSheet,
    AuditSummary,
    AuditUnit,
    Judgements,
    apply,
    read_sheet,
    sample,
)

__all__ = ["AuditReport", "AuditSheet", "AuditSummary", "AuditUnit", "Judgements", "apply", "read_sheet", "sample"]
