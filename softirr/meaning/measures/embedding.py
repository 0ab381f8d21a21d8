"""Semantic similarity: P(a ≡ b) as the cosine of two text embeddings (Wullschleger et al. 2026).

Each text takes one forward pass; all pairs are then one matrix product. Negative cosines are set to 0 and counted,
because a probability is not negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.models import FoundModel, find_model
from softirr.meaning.measures.arrays import Floats, Ints
from softirr.meaning.measures.protocols import IndexedMeasure, Measure, TextIndex, refuse_unknown
from softirr.provenance import Provenance

if TYPE_CHECKING:  # imports torch
    from softirr.inference.encoder import TextEncoder

_PRODUCTS = 65_536
"""Number of pairs of vectors that are multiplied at a time."""


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """Make the embedding measure of a model.

    Parameters
    ----------
    name : str
        ``embedding``.
    model : str
        Folder, hub name or short name.
    **options
        As for :class:`softirr.inference.encoder.TextEncoder`.

    Raises
    ------
    InputError
        If no model is named, it can't be found or used, or an option is not known.
    """
    if model is None:
        raise InputError(
            "The measure embedding needs a model behind a colon, such as embedding:pubmedbert or embedding:FOLDER."
        )
    if (engine := options.pop("engine", "local")) != "local":
        raise InputError(f"Embeddings run on the engine local, not on {engine!r}: one pass a text needs no cluster.")
    from softirr.inference.encoder import TextEncoder

    refuse_unknown(name, options, TextEncoder, also=("engine",))
    found_model = find_model(model, "embedding")
    return Embedding(f"{name}:{model}", found_model, TextEncoder(found_model.folder, **options))


class Embedding(IndexedMeasure):
    """Cosine of the embeddings of two texts, negative ones set to 0.

    Parameters
    ----------
    name
        The name that the measure was requested by.
    located
        The model.
    encoder
        Turns texts into vectors.
    """

    def __init__(self, name: str, located: FoundModel, encoder: TextEncoder) -> None:
        super().__init__(name)
        self._located, self._encoder = located, encoder
        self._sha256 = located.content_hash()
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._counts = {"truncated": 0, "clipped": 0}  # shared with copies that have other stages

    def index(self, texts: Sequence[str]) -> TextIndex:
        """An index of the texts' vectors; only new texts go through the model."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if fresh:
            vectors, truncated = self._encoder.encode(fresh)
            self._counts["truncated"] += int(truncated.sum())
            self._vectors.update(zip(fresh, vectors, strict=True))
        rows = [self._vectors[text] for text in texts]
        return _VectorIndex(self, np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32))

    def describe(self) -> Provenance:
        """Model, device, number format, texts that were cut and cosines that were negative so far."""
        return Provenance(
            measure=self.raw_name,
            model=self._located.name,
            model_sha256=self._sha256,
            device=str(self._encoder.device),
            truncated_texts=self._counts["truncated"],
            precision=self._encoder.precision,
            clipped=self._counts["clipped"],
        )

    def _probabilities(self, cosines: Any) -> Any:
        self._counts["clipped"] += int((cosines < 0).sum())
        return np.clip(cosines, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _VectorIndex(TextIndex):
    """Unit vectors (n, width) of different texts."""

    measure: Embedding
    vectors: NDArray[np.float32]

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        cosines = np.empty(len(left_texts), dtype=np.float64)
        for start in range(0, len(left_texts), _PRODUCTS):
            chunk = slice(start, start + _PRODUCTS)
            cosines[chunk] = np.einsum("nd,nd->n", self.vectors[left_texts[chunk]], self.vectors[right_texts[chunk]])
        cosines[left_texts == right_texts] = 1.0
        return np.asarray(self.measure._probabilities(cosines))

    def block(self, rows: Ints, columns: Ints) -> NDArray[np.float32]:
        cosines = self.vectors[rows] @ self.vectors[columns].T
        cosines[np.equal.outer(rows, columns)] = 1.0
        return np.asarray(self.measure._probabilities(cosines))
