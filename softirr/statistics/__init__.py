"""Statistics of agreement: matching of sets, chance, coefficients, evidence and intervals."""
