"""Base classes of measures: scores by both directions or by an index of texts, and capabilities of a measure inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.protocols import Measure, Pairs, TextIndex, mutual, numbered_pairs

__all__ = ["BothDirections", "IndexedTexts", "like", "whole_block"]


class BothDirections(ABC):
    """Base class of measures that score pairs by both directions."""

    @abstractmethod
    def entail_both(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2)."""

    def entail(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) of each pair, shape (n,)."""
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ≡ b) of each pair, shape (n,); 1 for texts that are the same after normalizing."""
        return mutual(self.entail_both(pairs))


class IndexedTexts(ABC):
    """Base class of measures that score pairs and blocks by an index of their texts."""

    @abstractmethod
    def index(self, texts: Sequence[str]) -> TextIndex:
        """The texts, which are asked about by their places."""

    def score(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ≡ b) of each pair, shape (n,)."""
        texts, left, right = numbered_pairs(pairs)
        return self.index(texts).pairs(left, right)

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P(a ≡ b) of all rows with all columns, shape (len(rows), len(cols)), texts as they are."""
        return whole_block(self.index([*rows, *cols]), len(rows), len(cols))


def whole_block(index: TextIndex, n_rows: int, n_cols: int) -> NDArray[np.float32]:
    """The first texts of an index with all texts that follow.

    Parameters
    ----------
    index : TextIndex
        Of the texts of the rows, then the columns.
    n_rows, n_cols : int

    Returns
    -------
    shape (n_rows, n_cols)
    """
    return index.block(np.arange(n_rows), np.arange(n_rows, n_rows + n_cols))


def like(raw: Measure, kind: type, capabilities: Mapping[str, type]) -> Any:
    """A class of measures around another one that has its optional methods, too.

    Parameters
    ----------
    raw : Measure
        The measure inside.
    kind : type
        Of the measure around it.
    capabilities : mapping of str to type
        Subclasses of the base of `kind`, by the method of `raw` that each needs.

    Returns
    -------
    type
        `kind` itself where no capability applies.
    """
    kinds = [own for method, own in capabilities.items() if hasattr(raw, method)]
    return type(kind.__name__, (*kinds, kind), {}) if kinds else kind
