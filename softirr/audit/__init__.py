"""The audit: a person judges a random sample, and coefficients are corrected."""
