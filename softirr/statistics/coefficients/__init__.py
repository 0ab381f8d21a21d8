"""Coefficients of agreement with their intervals."""
