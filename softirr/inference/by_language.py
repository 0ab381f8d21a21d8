"""Two classifiers behind one engine: each pair goes to the first or the second by its texts alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from softirr.inference.classifier import Outputs
from softirr.inference.engines import Engine

__all__ = ["ByLanguage"]


class ByLanguage:
    """An engine that sends a pair to a second engine if its two texts together score below a bound.

    A pair always goes to the same engine, whatever other pairs are scored with it, so that scores can be cached.

    Parameters
    ----------
    first
        The engine of the other pairs; both engines have the same outputs.
    open_second
        Opens the second engine when the first pair needs it.
    score
        How well a text fits the first engine.
    bound
        Sum of the scores of both texts below which a pair needs the second engine.
    """

    def __init__(
        self, first: Engine, open_second: Callable[[], Engine], score: Callable[[str], float], bound: float
    ) -> None:
        self._first, self._open_second, self._score, self._bound = first, open_second, score, bound
        self._second: Engine | None = None
        self.n_labels, self.id2label = first.n_labels, first.id2label
        self.precision, self.max_length, self.device_name = first.precision, first.max_length, first.device_name

    @property
    def batch(self) -> int:
        """Number of directed pairs to request at once."""
        return self._first.batch

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs (texts[left_texts[k]], texts[right_texts[k]])."""
        scores = np.array([self._score(text) for text in texts], dtype=np.float64)
        second = scores[left_texts] + scores[right_texts] < self._bound
        if not second.any():
            return self._first.run(texts, left_texts, right_texts)
        if self._second is None:
            self._second = self._open_second()
        logits = np.zeros((len(left_texts), self.n_labels), dtype=np.float32)
        truncated = np.zeros(len(left_texts), dtype=bool)
        for engine, pairs in ((self._first, ~second), (self._second, second)):
            where = np.flatnonzero(pairs)
            if not len(where):
                continue
            outputs = engine.run(texts, left_texts[where], right_texts[where])
            logits[where], truncated[where] = outputs.logits, outputs.truncated
        return Outputs(logits, truncated)

    def close(self) -> None:
        """End worker processes."""
        self._first.close()
        if self._second is not None:
            self._second.close()
