"""Measures by a function of two texts, which record the pairs that they score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softirr.meaning.measures.protocols import CHUNK, Measure
from softirr.provenance import Provenance


class FunctionMeasure(Measure):
    """P(a ≡ b) by a function."""

    cache_key: Any = None
    chunk: Any = CHUNK

    def __init__(self, p: Callable[[str, str], float], name: str = "function") -> None:
        super().__init__(name)
        self.cache_key = name
        self.p = p
        self.asked: list[tuple[str, str]] = []

    def directions(self, texts: Sequence[str], left_texts: Any, right_texts: Any) -> Any:
        pairs = [(texts[i], texts[j]) for i, j in zip(left_texts.tolist(), right_texts.tolist(), strict=True)]
        self.asked.extend(pairs)
        return self.values(pairs)

    def values(self, pairs: list[tuple[str, str]]) -> Any:
        return np.array([[self.p(a, b)] * 2 for a, b in pairs], dtype=np.float64).reshape(-1, 2)

    def describe(self) -> Provenance:
        return Provenance(measure=self.raw_name)


class DirectedFunction(FunctionMeasure):
    """P(a ⇒ b) by a function; pairs with one of the texts `unreadable` fail."""

    has_directions = True
    may_fail = True
    unreadable: Sequence[str] = ()

    def values(self, pairs: list[tuple[str, str]]) -> Any:
        values = np.array([[self.p(a, b), self.p(b, a)] for a, b in pairs], dtype=np.float64).reshape(-1, 2)
        values[[bool({a, b}.intersection(self.unreadable)) for a, b in pairs]] = np.nan
        return values
