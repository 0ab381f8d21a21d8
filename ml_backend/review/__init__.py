"""Reviewing: decisions, audits, the triage queue."""
