"""What every equivalence measure offers: protocols, provenance and the catalogue entry.

An equivalence measure estimates P(a ≡ b), the probability that two texts mean the same. Three kinds, told apart by what they can do:
all can :meth:`Measure.score` a list of pairs; cheap ones can fill a whole :meth:`BlockMeasure.block`; those built on entailment keep both
directions (:meth:`DirectionalMeasure.entail_both`), which tell which of two texts is the more general one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.provenance import Progress, Provenance

Pairs = Sequence[tuple[str, str]]
CHUNK = 32_768
"""Pairs that are asked for at once, unless a measure has a ``chunk`` of its own: what an interrupted run can lose."""


@dataclass(frozen=True)
class CatalogueEntry:
    """One line of ``softirr measures``; :data:`softirr.measures.SPEEDS` says what the words of `speed` mean."""

    name: str
    summary: str
    needs_model: bool
    directional: bool
    cheap: bool
    speed: str
    device: str
    size: str | None = None
    label_order: str | None = None
    model: str | None = None
    revision: str | None = None
    installed: bool = True


@runtime_checkable
class Measure(Protocol):
    """An equivalence measure."""

    @property
    def name(self) -> str:
        """The name the measure is asked for by."""
        ...

    def score(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ≡ b) of each pair, shape (n,), in [0, 1]; exactly 1 where both texts are the same after normalising."""
        ...

    def provenance(self) -> Provenance:
        """Where the scores come from, counters included."""
        ...


@runtime_checkable
class BlockMeasure(Measure, Protocol):
    """A measure that is cheap enough for all pairs."""

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols)).

        The texts are taken as they are: normalise them first (:class:`softirr.measures.pairs.PairScorer` does it once for all blocks).
        """
        ...


@runtime_checkable
class IndexedMeasure(BlockMeasure, Protocol):
    """A block measure that does its work per text (tokens, vectors) once, ahead of all blocks."""

    def index(self, texts: Sequence[str]) -> TextIndex:
        """The texts (already normalised), made ready for :class:`TextIndex`."""
        ...


@runtime_checkable
class DirectionalMeasure(Measure, Protocol):
    """A measure that knows P(a ⇒ b) and P(b ⇒ a) apart."""

    def entail(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) of each pair, shape (n,)."""
        ...

    def entail_both(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2)."""
        ...


@runtime_checkable
class CheckedMeasure(Measure, Protocol):
    """A measure with a model behind it: slow, worth a cache, and able to say how far it is and which answers failed."""

    @property
    def cache_key(self) -> str:
        """What scores depend on besides the texts: the model's content hash, its precision, label order, prompt, ..."""
        ...

    def entail_checked(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """P(a ⇒ b) and P(b ⇒ a), shape (n, 2) (twice P(a ≡ b) without directions), and which are sound, shape (n,)."""
        ...


@runtime_checkable
class StreamingMeasure(CheckedMeasure, Protocol):
    """A measure that gives its scores in parts, so that each can be kept before the next one is there."""

    def entail_parts(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]:
        """As `entail_checked`, in parts: places in the list of pairs, shape (k,), their directions, shape (k, 2), which are sound, shape (k,).

        `progress` is for what is done within a part.
        """
        ...


@runtime_checkable
class AdjustedMeasure(Measure, Protocol):
    """A measure that reshapes the scores of another one, pair by pair, such as a calibration."""

    @property
    def raw(self) -> Measure:
        """The measure below."""
        ...

    @property
    def decided(self) -> Mapping[tuple[str, str], bool]:
        """Pairs that are 1 or 0 whatever the measure below says, by the sorted pair of normalised texts."""
        ...

    def adjust(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the measure below for different texts, shape (n, 2), as scores of this one; both columns alike without directions."""
        ...


class TextIndex(Protocol):
    """Texts made ready once; scores asked by index."""

    def pairs(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(a ≡ b) of text left[k] with text right[k], shape (n,)."""
        ...

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols))."""
        ...


def refuse_unknown(
    name: str, options: Mapping[str, Any], kind: Callable[..., Any], *, also: Collection[str] = ()
) -> None:
    """Checks the options of a measure against the keyword parameters of what is made with them.

    Raises
    ------
    InputError
        If there is one that it does not take.
    """
    parameters = inspect.signature(kind).parameters.values()
    known = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY} | set(also)
    if unknown := sorted(set(options) - known):
        raise InputError(
            f"The measure {name} does not take these options: {', '.join(unknown)}; it takes {', '.join(sorted(known))}."
        )


def mutual(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equivalence from both directions: sqrt(P(a ⇒ b) P(b ⇒ a)) (Wullschleger et al. 2026).

    Parameters
    ----------
    directions : shape (n, 2)

    Returns
    -------
    shape (n,)
    """
    return np.sqrt(directions[:, 0] * directions[:, 1])
