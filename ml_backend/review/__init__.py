"""Reviewing: decisions, audits, calibration, the triage queue."""
