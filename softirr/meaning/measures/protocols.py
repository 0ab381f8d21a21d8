"""Protocols of equivalence measures.

An equivalence measure estimates P(a ≡ b), the probability that two texts mean the same. There are three kinds: all
measures :meth:`Measure.score` a list of pairs; cheap ones also score whole blocks (:meth:`BlockMeasure.block`); those
built on entailment also give both directions (:meth:`DirectionalMeasure.entail_both`), which show which of two texts is
more general.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.provenance import Progress, Provenance
from softirr.text import normalize

__all__ = [
    "CHUNK",
    "AdjustedMeasure",
    "BlockMeasure",
    "CheckedMeasure",
    "DirectionalMeasure",
    "IndexedMeasure",
    "Measure",
    "Pairs",
    "StreamingMeasure",
    "TextIndex",
    "layers_of",
    "mutual",
    "numbered_pairs",
    "raw_of",
    "refuse_unknown",
    "stronger",
    "with_equivalence",
]

Pairs = Sequence[tuple[str, str]]
CHUNK = 32_768
"""Pairs that are requested at once, unless a measure has its own ``chunk``; an interrupted run can lose as many."""


@runtime_checkable
class Measure(Protocol):
    """An equivalence measure."""

    @property
    def name(self) -> str:
        """The name that the measure was requested by."""
        ...

    def score(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ≡ b) of each pair, shape (n,), in [0, 1]; exactly 1 where both texts are the same after normalizing."""
        ...

    def provenance(self) -> Provenance:
        """Origin of the scores: model, version and counters."""
        ...


@runtime_checkable
class BlockMeasure(Measure, Protocol):
    """A measure that is cheap enough for all pairs."""

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols)).

        The texts are not normalized here: normalize them first (:class:`softirr.meaning.measures.pairs.PairScorer` does it once
        for all blocks).
        """
        ...


@runtime_checkable
class IndexedMeasure(BlockMeasure, Protocol):
    """A block measure that processes each text (tokens, vectors) once, before all blocks."""

    def index(self, texts: Sequence[str]) -> TextIndex:
        """A :class:`TextIndex` of texts that are already normalized."""
        ...


@runtime_checkable
class DirectionalMeasure(Measure, Protocol):
    """A measure that gives P(a ⇒ b) and P(b ⇒ a) separately."""

    def entail(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) of each pair, shape (n,)."""
        ...

    def entail_both(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2)."""
        ...


@runtime_checkable
class CheckedMeasure(Measure, Protocol):
    """A measure that uses a model: it is slow, so its scores are cached.

    It reports progress and which scores failed.
    """

    @property
    def cache_key(self) -> str:
        """Everything besides the texts that scores depend on.

        The model's content hash, its precision, label order, prompt, ...
        """
        ...

    def entail_checked(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """P(a ⇒ b) and P(b ⇒ a), shape (n, 2) (P(a ≡ b) twice without directions), and which rows are valid, shape (n,)."""
        ...


@runtime_checkable
class StreamingMeasure(CheckedMeasure, Protocol):
    """A measure that yields its scores in parts, so that each part can be stored before the next one is computed."""

    def entail_parts(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]:
        """As `entail_checked`, in parts: indices of pairs, shape (k,), their directions, shape (k, 2), and which are valid, shape (k,).

        `progress` reports the work within a part.
        """
        ...


@runtime_checkable
class AdjustedMeasure(Measure, Protocol):
    """A measure that transforms the scores of another one pair by pair, such as a policy."""

    @property
    def raw(self) -> Measure:
        """The measure whose scores are transformed."""
        ...

    @property
    def decided(self) -> Mapping[tuple[str, str], bool]:
        """Pairs with a fixed score of 1 or 0, by the sorted pair of normalized texts."""
        ...

    def adjust(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Transform raw scores of different texts, shape (n, 2); both columns are equal without directions."""
        ...


def layers_of(measure: Measure) -> Iterator[AdjustedMeasure]:
    """The measures around a raw one, from the outside in; none where `measure` is raw.

    Parameters
    ----------
    measure : Measure

    Yields
    ------
    AdjustedMeasure
    """
    while isinstance(measure, AdjustedMeasure):
        yield measure
        measure = measure.raw


def raw_of(measure: Measure) -> Measure:
    """The measure inside all layers.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    Measure
    """
    for layer in layers_of(measure):
        measure = layer.raw
    return measure


def numbered_pairs(pairs: Pairs) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of texts by number.

    Parameters
    ----------
    pairs : sequence of (str, str), n of them

    Returns
    -------
    list of str
        The different texts, normalized.
    shape (n,), shape (n,)
        The numbers of the pairs' texts.

    Raises
    ------
    InputError
        If a pair has more or fewer texts, or a text is something else.
    """
    numbers: dict[str, int] = {}
    try:
        both = [
            (numbers.setdefault(normalize(one), len(numbers)), numbers.setdefault(normalize(other), len(numbers)))
            for one, other in pairs
        ]
    except (TypeError, ValueError, AttributeError):
        raise InputError(_no_pairs(pairs)) from None
    left, right = np.array(both, dtype=np.int64).reshape(-1, 2).T
    return list(numbers), left, right


def _no_pairs(pairs: Any) -> str:
    bad = next((one for one in pairs if not _is_pair(one)), pairs) if isinstance(pairs, Collection) else pairs
    return f"Pairs are of two texts each, but one is {bad!r:.60}."


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


class ExpandedPairs(Protocol):
    """Pairs: some have scores without a measure, and for the others the raw measure has to score other pairs."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs for the raw measure."""
        ...

    def combine(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Both directions of each original pair, shape (n, 2), from the directions of `pairs`, shape (m, 2)."""
        ...


@runtime_checkable
class ExpandedMeasure(Measure, Protocol):
    """A measure that asks another one about other texts than its own, such as all names of a concept."""

    @property
    def raw(self) -> Measure:
        """The measure that is asked; its scores are cached."""
        ...

    def expand(self, pairs: Pairs) -> ExpandedPairs:
        """What is known of the pairs, and what the raw measure has to score."""
        ...


class TextIndex(Protocol):
    """Preprocessed texts, whose scores are requested by index."""

    def pairs(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(a ≡ b) of text left[k] with text right[k], shape (n,)."""
        ...

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols))."""
        ...


def refuse_unknown(
    name: str, options: Mapping[str, Any], kind: Callable[..., Any], *, also: Collection[str] = ()
) -> None:
    """Check the options of a measure against the keyword parameters of the class made with them.

    Parameters
    ----------
    name : str
        The measure's name, for the message.
    options : mapping of str to object
    kind : callable
        The class that is made with the options.
    also : collection of str
        Options that are known besides.

    Raises
    ------
    InputError
        If an option is unknown.
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


def stronger(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(a ≡ b) where a text and a more general one mean the same: the larger of the two directions.

    Parameters
    ----------
    directions : shape (n, 2)

    Returns
    -------
    shape (n,)
    """
    return np.asarray(directions.max(axis=1))


def with_equivalence(directions: NDArray[np.float64], equivalence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions whose geometric mean is a given equivalence.

    The stronger direction stays, so that it is still known which text is more general, and the weaker one takes the
    change. Where the equivalence exceeds the stronger direction, both are set to it.

    Parameters
    ----------
    directions : shape (n, 2)
        P(a ⇒ b) and P(b ⇒ a).
    equivalence : shape (n,)

    Returns
    -------
    shape (n, 2)

    Examples
    --------
    >>> with_equivalence(np.array([[0.9, 0.1]]), np.array([0.6])).round(2).tolist()
    [[0.9, 0.4]]
    """
    strong = np.maximum(directions.max(axis=1), equivalence)
    weak = np.divide(equivalence**2, strong, out=np.zeros_like(strong), where=strong > 0)
    first = directions[:, 0] >= directions[:, 1]
    return np.stack([np.where(first, strong, weak), np.where(first, weak, strong)], axis=1)
