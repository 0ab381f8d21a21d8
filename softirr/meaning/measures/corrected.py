"""A measure corrected by people: decided pairs are 1 or 0.

The cache keeps the scores of the raw measure, so a decision needs no model run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints
from softirr.meaning.measures.layers import Layer, Pipeline, layered
from softirr.meaning.measures.protocols import Measure, Pairs, layers_of, numbered_pairs

__all__ = ["CorrectedMeasure", "Decided", "corrected"]

Decided = Mapping[tuple[str, str], bool]
"""Whether two texts mean the same, by the sorted pair of normalized texts."""


class CorrectedMeasure(Layer):
    """A measure corrected by decisions; identical texts stay at 1.

    Attributes
    ----------
    raw : Measure
        The measure without corrections, whose scores a cache may hold.
    decided : mapping
        Pairs that are 1 or 0 by decision.
    """

    def __init__(self, raw: Measure, decided: Decided) -> None:
        super().__init__(raw)
        self.decided = decided

    @property
    def layer_key(self) -> str:
        """The corrections."""
        content = json.dumps([None, sorted((*pair, bool(same)) for pair, same in self.decided.items())], sort_keys=True)
        return f"corrected:{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def passed(self, pairs: Pairs) -> tuple[Pairs, Callable[[Floats], Floats]]:
        """The pairs, and their values with those that are decided."""
        return pairs, partial(self._decide, pairs)

    def over(self, texts: Sequence[str]) -> tuple[Sequence[str], Callable[[Any], Any]]:
        """The texts, and an index with decisions."""
        return texts, partial(_CorrectedIndex, texts=_Texts(texts, self.decided, self.raw))

    def _decide(self, pairs: Pairs, values: Floats) -> Floats:
        """Replace the values of identical and decided pairs, shape (n,) or (n, 2)."""
        values = np.array(values)
        texts, left, right = numbered_pairs(pairs)
        low, high, limited = Pipeline(layers_of(self.raw), texts).resolve(left, right)
        if not hasattr(self.raw, "block"):
            values[limited] = 0.0
        values[(low == high) & ~limited] = 1.0
        for place, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            verdict = self.decided.get((min(texts[a], texts[b]), max(texts[a], texts[b])))
            if verdict is not None and a != b:
                values[place] = float(verdict)
        return values


class _Texts:
    """Identical texts and decided pairs among some texts."""

    def __init__(self, texts: Sequence[str], decided: Decided, raw: Measure) -> None:
        numbers: dict[str, int] = {}
        self.number = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
        self._pipeline = Pipeline(layers_of(raw), list(numbers))
        self._n = max(len(numbers), 1)
        known = sorted(
            (min(numbers[a], numbers[b]) * self._n + max(numbers[a], numbers[b]), same)
            for (a, b), same in decided.items()
            if a in numbers and b in numbers
        )
        self._keys = np.array([key for key, _ in known], dtype=np.int64)
        self._values = np.array([same for _, same in known], dtype=np.float64)

    def _same(self, a: Ints, b: Ints) -> NDArray[np.bool_]:
        """Which pairs are one text to the raw measure."""
        low, high, limited = self._pipeline.resolve(a, b)
        return np.asarray((low == high) & ~limited)

    def over(self, p: Floats, a: Ints, b: Ints) -> Floats:
        """Replace, in place, the P of identical and decided pairs of texts a[i] and b[i]."""
        p[self._same(a, b)] = 1.0
        if len(self._keys):
            key = np.minimum(a, b) * self._n + np.maximum(a, b)
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            known = self._keys[place] == key
            p[known] = self._values[place[known]]
        return p

    def over_block(self, p: Floats, row: Ints, col: Ints) -> NDArray[np.float32]:
        """As `over`, for all rows with all columns."""
        p[self._same(row[:, None], col[None, :])] = 1.0
        low, high = np.divmod(self._keys, self._n)
        for first, second in ((low, high), (high, low)):
            here = np.flatnonzero(np.isin(first, row) & np.isin(second, col))
            for a, b, value in zip(first[here].tolist(), second[here].tolist(), self._values[here], strict=True):
                p[np.ix_(row == a, col == b)] = value
        return p.astype(np.float32)


@dataclass(frozen=True, eq=False)
class _CorrectedIndex:
    raw: Any
    texts: _Texts

    def pairs(self, left: Ints, right: Ints) -> Floats:
        p = np.array(self.raw.pairs(left, right), dtype=np.float64)
        return self.texts.over(p, self.texts.number[left], self.texts.number[right])

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        p = np.array(self.raw.block(rows, cols), dtype=np.float64)
        return self.texts.over_block(p, self.texts.number[rows], self.texts.number[cols])


def corrected(measure: Measure, decided: Decided) -> CorrectedMeasure:
    """Make a corrected measure with the capabilities of the raw one (blocks, directions, caching).

    Parameters
    ----------
    measure : Measure
    decided : mapping
        Whether two texts mean the same, by the sorted pair of normalized texts.

    Returns
    -------
    CorrectedMeasure

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> corrected(measure("indel"), {("fever", "pyrexia"): True}).score([("pyrexia", "fever")]).tolist()
    [1.0]
    """
    result: CorrectedMeasure = layered(CorrectedMeasure, measure, dict(decided))
    return result
