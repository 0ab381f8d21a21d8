"""The audit: a person judges a random sample of pairs, and the coefficients are corrected by it."""

from softirr.audit.workflow import AuditSheet, AuditUnit, Judgments, apply, draw_sheet, read_sheet

__all__ = ["AuditSheet", "AuditUnit", "Judgments", "apply", "draw_sheet", "read_sheet"]
