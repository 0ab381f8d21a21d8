"""Comparing two coefficients, and how many items, raters and judgements an interval needs."""
