"""Measures by a function of two texts, which keep the pairs that they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from softirr.meaning.measures.base_classes import BothDirections
from softirr.meaning.measures.protocols import Pairs
from softirr.provenance import Progress, Provenance


class FunctionMeasure:
    """P(a ≡ b) by a function."""

    def __init__(self, p: Callable[[str, str], float], name: str = "function") -> None:
        self.name = self.cache_key = name
        self.p = p
        self.asked: list[tuple[str, str]] = []

    def score(self, pairs: Pairs) -> np.ndarray:
        self.asked.extend(pairs)
        return np.array([self.p(a, b) for a, b in pairs], dtype=np.float64)

    def provenance(self) -> Provenance:
        return Provenance(measure=self.name)


class DirectedFunction(BothDirections, FunctionMeasure):
    """P(a ⇒ b) by a function; pairs with one of the texts `unreadable` fail."""

    unreadable: Sequence[str] = ()

    def entail_checked(self, pairs: Pairs, *, progress: Progress | None = None) -> tuple[np.ndarray, np.ndarray]:
        self.asked.extend(pairs)
        values = np.array([[self.p(a, b), self.p(b, a)] for a, b in pairs], dtype=np.float64).reshape(-1, 2)
        if progress is not None:
            progress(len(pairs), len(pairs))
        return values, np.array([not {a, b}.intersection(self.unreadable) for a, b in pairs], dtype=bool)

    def entail_both(self, pairs: Pairs) -> np.ndarray:
        return self.entail_checked(pairs)[0]
