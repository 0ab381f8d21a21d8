"""A measure made of a function of two texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from softirr.meaning.measures.arrays import Floats, Ints
from softirr.meaning.measures.protocols import Finished, Measure
from softirr.provenance import Progress, Provenance

__all__ = ["FunctionMeasure"]


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

    def directions(
        self,
        texts: Sequence[str],
        left: Ints,
        right: Ints,
        *,
        progress: Progress | None = None,
        finished: Finished | None = None,
    ) -> Floats:
        """P(a ≡ b) twice, shape (n, 2)."""
        values = [self._function(texts[i], texts[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
        return np.repeat(np.array(values, dtype=np.float64)[:, None], 2, axis=1)

    def describe(self) -> Provenance:
        """The name of the measure."""
        return Provenance(measure=self.raw_name)
