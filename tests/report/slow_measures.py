"""A measure that records its calls."""

from __future__ import annotations

from rapidfuzz.distance import Indel

from tests.meaning.measures.function_measures import FunctionMeasure

WORDS = ("fever", "high fever", "cough", "dry cough", "headache", "nausea", "rash", "fatigue")


class Slow(FunctionMeasure):
    """A measure that is not cheap: Indel, asked pair by pair and counted."""

    def __init__(self):
        super().__init__(Indel.normalized_similarity, "slow")
        self.cache_key = None
