"""What people decide: decisions, audits, the triage queue."""
