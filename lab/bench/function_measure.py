"""A measure of two texts by a function, for simulated data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from softirr.meaning.measures.arrays import Floats, Ints
from softirr.meaning.measures.protocols import Measure


class FunctionMeasure(Measure):
    """P(a ≡ b) by a symmetric function of two normalized texts.

    Parameters
    ----------
    function : callable
        Takes two different texts and returns P from 0 to 1.
    name : str
        Name of the measure in reports.

    Examples
    --------
    >>> same_initial = FunctionMeasure(lambda a, b: float(a[0] == b[0]), "same initial")
    >>> same_initial.score([("fever", "flu"), ("flu", "cold")]).tolist()
    [1.0, 0.0]
    """

    def __init__(self, function: Callable[[str, str], float], name: str = "function") -> None:
        super().__init__(name)
        self._function = function

    def directions(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ≡ b) twice, shape (n, 2)."""
        values = [
            self._function(texts[i], texts[j]) for i, j in zip(left_texts.tolist(), right_texts.tolist(), strict=True)
        ]
        return np.repeat(np.array(values, dtype=np.float64)[:, None], 2, axis=1)
