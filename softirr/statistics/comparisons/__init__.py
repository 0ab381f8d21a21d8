"""Differences between coefficients, and the verdicts that follow from their intervals."""
