"""Defaults that several modules, commands, screens or pages of the documentation share.

Each is written here and nowhere else.
"""

SCHEMA_VERSION = 3
"""Of the JSON objects that docs/reference/json.md describes."""

THRESHOLD = 0.5
"""Equivalence from which on two texts match."""

PERMUTATIONS = 3
"""Permutations for chance (Wullschleger et al. 2026)."""
TARGET_SE, CHEAP_TARGET_SE = 0.005, 0.001
"""Standard error of the expected agreement at which sampled chance stops.

For measures with a model, and for others.
"""
FEW_ITEMS = 30
"""With fewer items a report warns that its intervals are approximate."""

JUDGMENTS = 60
"""Pairs of texts of an audit."""

MARGIN = 0.05
"""How far below the others a rater or a model may be and still be within their range."""
