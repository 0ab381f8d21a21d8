"""Two classifiers behind one engine: each pair goes to the first or the second by its texts alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # they import torch
    from softirr.inference.classifier import Outputs


class ByLanguage:
    """Sends a pair to a second engine if its two texts together score below a bound.

    A pair always goes to the same engine, whatever other pairs are scored with it, so that scores can be cached.

    Parameters
    ----------
    first
        The engine of the other pairs; both engines have the same outputs.
    second
        The engine of the pairs below the bound.
    score
        How well a text fits the first engine.
    bound
        Sum of the scores of both texts below which a pair needs the second engine.
    """

    def __init__(self, first: Any, second: Any, score: Callable[[str], float], bound: float) -> None:
        self._first, self._second, self._score, self._bound = first, second, score, bound

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs (texts[left_texts[k]], texts[right_texts[k]])."""
        scores = np.array([self._score(text) for text in texts], dtype=np.float64)
        needs_second = scores[left_texts] + scores[right_texts] < self._bound
        if needs_second.all() or not needs_second.any():
            engine = self._second if needs_second.any() else self._first
            outputs: Outputs = engine.run(texts, left_texts, right_texts)
            return outputs
        first, second = (
            engine.run(texts, left_texts[is_its], right_texts[is_its])
            for engine, is_its in ((self._first, ~needs_second), (self._second, needs_second))
        )
        order = np.argsort(np.argsort(needs_second, kind="stable"))
        logits = np.concatenate([first.logits, second.logits])[order]
        return replace(first, logits=logits, truncated=np.concatenate([first.truncated, second.truncated])[order])

    def close(self) -> None:
        """End worker processes."""
        self._first.close()
        self._second.close()
