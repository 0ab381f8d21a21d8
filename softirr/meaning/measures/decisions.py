"""Pairs of texts that a reviewer decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Bools, Floats, Ints, find_keys
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.stages import AskBlock, PreparedStage, Stage, Step

Decided = Mapping[tuple[str, str], bool]
"""Whether two texts mean the same, by the sorted pair of normalized texts."""


class Decisions(Stage):
    """Decided pairs are 1 or 0."""

    rank = 0

    def __init__(self, decided: Decided) -> None:
        self.decided = decided

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> PreparedStage:
        """The decided pairs among the texts."""
        return _DecidedTexts(texts, self.decided)


class _DecidedTexts(PreparedStage):
    def __init__(self, texts: Sequence[str], decided: Decided) -> None:
        self.texts = texts
        numbers = {text: number for number, text in enumerate(texts)}
        self._n = max(len(numbers), 1)
        keyed = sorted(
            (min(numbers[a], numbers[b]) * self._n + max(numbers[a], numbers[b]), is_same)
            for (a, b), is_same in decided.items()
            if a != b and a in numbers and b in numbers
        )
        self._keys = np.array([key for key, _ in keyed], dtype=np.int64)
        self._values = np.array([is_same for _, is_same in keyed], dtype=np.float64)

    def step(self, left_texts: Ints, right_texts: Ints) -> Step:
        """Ask about pairs that are not decided."""
        index, is_known = self._find(left_texts, right_texts)
        is_open = np.flatnonzero(~is_known)

        def combine(values: Floats) -> Floats:
            result = np.empty((len(left_texts), 2), dtype=np.float64)
            result[is_open] = values
            result[is_known] = self._values[index[is_known]][:, None]
            return result

        return Step(left_texts[is_open], right_texts[is_open], combine)

    def block(self, rows: Ints, columns: Ints, ask: AskBlock) -> NDArray[np.float32]:
        """The block of the next stage, with the decided pairs."""
        p = np.array(ask(rows, columns), dtype=np.float32)
        low, high = np.divmod(self._keys, self._n)
        for first, second in ((low, high), (high, low)):
            in_block = np.flatnonzero(np.isin(first, rows) & np.isin(second, columns))
            for a, b, value in zip(
                first[in_block].tolist(), second[in_block].tolist(), self._values[in_block], strict=True
            ):
                p[np.ix_(rows == a, columns == b)] = value
        return p

    def _find(self, left_texts: Ints, right_texts: Ints) -> tuple[Ints, Bools]:
        key = np.minimum(left_texts, right_texts) * self._n + np.maximum(left_texts, right_texts)
        return find_keys(self._keys, key)


def with_decisions(measure: Measure, decided: Decided) -> Measure:
    """The measure with a reviewer's decisions.

    The cache keeps the scores of the measure, so a decision needs no model run.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> with_decisions(measure("indel"), {("fever", "pyrexia"): True}).score([("pyrexia", "fever")]).tolist()
    [1.0]
    """
    return measure.with_stage(Decisions(dict(decided)))


def decisions_of(measure: Measure) -> Decided:
    """The decided pairs of a measure."""
    return next((stage.decided for stage in measure.stages if isinstance(stage, Decisions)), {})
