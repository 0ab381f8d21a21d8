"""Layers that read texts before a measure scores them: a policy, and facts that models overlook.

A layer rewrites texts, and decides some pairs by itself. How a text is rewritten may depend on the other text of the
pair. Each text is read once, in a :class:`Stage`; pairs are looked up by number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.lexicon.words import word_list
from softirr.meaning.measures.base_classes import BothDirections, like, whole_block
from softirr.meaning.measures.protocols import Measure, Pairs, numbered_pairs
from softirr.provenance import Progress, Provenance
from softirr.text import normalize

__all__ = [
    "Layer",
    "Pipeline",
    "Stage",
    "TextLayer",
    "TextLayerMeasure",
    "layered",
    "rewritten_pairs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Limit = Callable[[Ints, Ints], Bools]
"""Which pairs of texts, by their numbers, are not the same, whatever a measure says."""


class Stage:
    """Texts as a layer passes them on, and the pairs that it decides.

    Parameters
    ----------
    forms : sequence of mappings, n of them
        For each text its rewritten form by what it shares with the other text of the pair, a set of bits; 0 where
        nothing is shared.
    codes : sequence of arrays, each of shape (n,)
        What each text says of one aspect, as a number: bit k is shared where two texts have the same number above 0 in
        array k.
    limit : callable, optional
        Which pairs are not the same.
    one_sided : bool
        Whether a bit is shared, too, where one text says nothing: a number of 0. A number of -1 is not understood, and
        never shared.

    Attributes
    ----------
    texts : list of str
        The different rewritten texts, normalized and sorted.
    """

    def __init__(
        self,
        forms: Sequence[Mapping[int, str]],
        codes: Sequence[Ints] = (),
        limit: Limit | None = None,
        *,
        one_sided: bool = False,
    ) -> None:
        self._codes, self._limit, self._one_sided = codes, limit, one_sided
        self._own = np.zeros(len(forms), dtype=np.int64)
        for k, code in enumerate(codes):
            self._own |= (code > 0).astype(np.int64) << k
        written = [normalize(text) for by_shared in forms for text in by_shared.values()]
        self.texts = sorted(set(written))
        numbers = {text: number for number, text in enumerate(self.texts)}
        keys = np.array([self._key(k, bits) for k, by in enumerate(forms) for bits in by], dtype=np.int64)
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._places = np.array([numbers[text] for text in written], dtype=np.int64)[order]

    def _key(self, text: Any, bits: Any) -> Any:
        return (text << len(self._codes)) | bits

    def shared(self, left: Ints, right: Ints) -> Ints:
        """What pairs of texts share, as bits."""
        bits = np.zeros(np.broadcast(left, right).shape, dtype=np.int64)
        for k, codes in enumerate(self._codes):
            a, b = codes[left], codes[right]
            same = (a == b) & (a > 0)
            if self._one_sided:
                same = same | ((np.minimum(a, b) == 0) & (np.maximum(a, b) > 0))
            bits |= same.astype(np.int64) << k
        return bits

    def form(self, which: Ints, bits: Ints | int) -> Ints:
        """The number, in `texts`, of each text's form."""
        return self._places[np.searchsorted(self._keys, self._key(which, bits & self._own[which]))]

    def place(self, left: Ints, right: Ints) -> tuple[Ints, Ints]:
        """The numbers, in `texts`, of the rewritten pair."""
        bits = self.shared(left, right)
        return self.form(left, bits), self.form(right, bits)

    def limited(self, left: Ints, right: Ints) -> Bools | None:
        """Which pairs the layer calls different; None where it decides none."""
        return None if self._limit is None else self._limit(left, right)


@runtime_checkable
class TextLayer(Protocol):
    """A measure around another one that reads texts before that one does."""

    @property
    def raw(self) -> Measure:
        """The measure that scores the rewritten texts."""
        ...

    def stage(self, texts: Sequence[str]) -> Stage:
        """What the layer makes of normalized texts."""
        ...


class Pipeline:
    """Several layers, one after the other.

    Parameters
    ----------
    layers : iterable of Measure
        From the outside in; those that read no texts are passed over.
    texts : sequence of str
        Normalized and different.

    Attributes
    ----------
    texts : list of str
        As the raw measure sees them, sorted.
    """

    def __init__(self, layers: Iterable[Measure], texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self._stages: list[Stage] = []
        for layer in layers:
            if isinstance(layer, TextLayer):
                self._stages.append(layer.stage(self.texts))
                self.texts = self._stages[-1].texts

    def __bool__(self) -> bool:
        return bool(self._stages)

    def resolve(self, left: Ints, right: Ints) -> tuple[Ints, Ints, Bools]:
        """Pairs as the raw measure sees them, and which pairs are decided to be different, each of the pairs' shape."""
        limited = np.zeros(np.broadcast(left, right).shape, dtype=bool)
        for stage in self._stages:
            decided = stage.limited(left, right)
            if decided is not None:
                limited |= decided
            left, right = stage.place(left, right)
        return left, right, limited


def rewritten_pairs(layers: Iterable[Measure], pairs: Pairs) -> list[tuple[str, str]]:
    """Pairs of texts as the measure below some layers sees them.

    Parameters
    ----------
    layers : iterable of Measure
        From the outside in.
    pairs : sequence of (str, str)

    Returns
    -------
    list of (str, str)
    """
    texts, left, right = numbered_pairs(pairs)
    pipeline = Pipeline(layers, texts)
    a, b, _ = pipeline.resolve(left, right)
    return [(pipeline.texts[i], pipeline.texts[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)]


class Layer(ABC):
    """Base class of measures around another one, with its capabilities (:func:`layered`).

    Attributes
    ----------
    raw : Measure
        The measure inside, whose scores a cache may hold.
    """

    decided: Mapping[tuple[str, str], bool] = {}
    """Pairs that are 1 or 0 by decision; see :func:`softirr.corrected`."""

    def __init__(self, raw: Measure) -> None:
        self.raw = raw

    @property
    def name(self) -> str:
        """The raw measure's name."""
        return self.raw.name

    @property
    @abstractmethod
    def layer_key(self) -> str:
        """Everything that the layer's part of a score depends on."""

    @abstractmethod
    def passed(self, pairs: Pairs) -> tuple[Pairs, Callable[[Floats], Floats]]:
        """The pairs for the raw measure, and what the layer makes of their values, shape (n,) or (n, 2)."""

    @abstractmethod
    def over(self, texts: Sequence[str]) -> tuple[Sequence[str], Callable[[Any], Any]]:
        """The texts for the raw measure, and the layer's index around an index of them."""

    def adjust(self, directions: Floats) -> Floats:
        """The raw measure's directions, shape (n, 2), as the layer combines them."""
        return directions

    def score(self, pairs: Pairs) -> Floats:
        """P(a ≡ b) of each pair, shape (n,)."""
        written, finished = self.passed(pairs)
        return finished(np.array(self.raw.score(written), dtype=np.float64))

    def provenance(self) -> Provenance:
        """The raw measure's provenance, under the layer's name."""
        return replace(self.raw.provenance(), measure=self.name)


class TextLayerMeasure(Layer):
    """Base class of measures that read texts before another one scores them."""

    @cached_property
    def unrelated(self) -> float:
        """P of texts that the layer calls different: 0 without blocks, else the mean over unrelated findings.

        Letters of unrelated texts are alike in part, and agreement by chance contains that part. With less where an
        attribute differs, raters who agree on the attribute and not on the rest would look as if they agreed beyond
        chance.
        """
        if not hasattr(self.raw, "block"):
            return 0.0
        findings = word_list("unrelated")
        p = cast(Any, self.raw).block(findings, findings)
        return float(np.mean(p[~np.eye(len(findings), dtype=bool)]))

    def close(self) -> None:
        """Release what the raw measure keeps, such as the processes of a cluster."""
        close = getattr(self.raw, "close", None)
        if close is not None:
            close()

    @abstractmethod
    def stage(self, texts: Sequence[str]) -> Stage:
        """What the layer makes of normalized texts."""

    def passed(self, pairs: Pairs) -> tuple[Pairs, Callable[[Floats], Floats]]:
        """The rewritten pairs, and their values with the pairs that the layer decides.

        These are a text twice for the raw measure, which no model reads.
        """
        texts, left, right = numbered_pairs(pairs)
        stage = self.stage(texts)
        a, b = stage.place(left, right)
        decided = stage.limited(left, right)
        limited = np.zeros(len(pairs), dtype=bool) if decided is None else decided
        b = np.where(limited, a, b)

        def finished(values: Floats) -> Floats:
            values = np.array(values)
            if limited.any():
                values[limited] = self.unrelated
            return values

        return [(stage.texts[i], stage.texts[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)], finished

    def over(self, texts: Sequence[str]) -> tuple[Sequence[str], Callable[[Any], Any]]:
        """The rewritten texts, and an index with the pairs that the layer decides."""
        stage = self.stage(texts)
        return stage.texts, lambda index: _StageIndex(index, stage, self)


class _Directional(BothDirections, Layer):
    def entail_both(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a), shape (n, 2)."""
        written, finished = self.passed(pairs)
        return finished(self.adjust(cast(Any, self.raw).entail_both(written)))


class _Checked(Layer):
    @property
    def cache_key(self) -> str:
        """The raw measure's key and the layer's, for caches that see texts as they are written."""
        return f"{cast(Any, self.raw).cache_key}+{self.layer_key}"

    def entail_checked(self, pairs: Pairs, *, progress: Progress | None = None) -> tuple[Floats, Bools]:
        """Both directions, shape (n, 2), and which rows are valid."""
        written, finished = self.passed(pairs)
        values, valid = cast(Any, self.raw).entail_checked(written, progress=progress)
        return finished(self.adjust(values)), valid


class _Block(Layer):
    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P of all rows with all columns, shape (len(rows), len(cols))."""
        written, around = self.over([normalize(text) for text in (*rows, *cols)])
        return np.asarray(whole_block(around(_TextBlocks(self.raw, written)), len(rows), len(cols)))


class _Indexed(_Block):
    def index(self, texts: Sequence[str]) -> Any:
        """An index of the texts, scored through the layer."""
        written, around = self.over(texts)
        return around(cast(Any, self.raw).index(written))


@dataclass(frozen=True, eq=False)
class _TextBlocks:
    """Blocks by number of a measure that takes texts."""

    raw: Any
    texts: Sequence[str]

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        block = self.raw.block([self.texts[k] for k in rows.tolist()], [self.texts[k] for k in cols.tolist()])
        return np.asarray(block, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class _StageIndex:
    raw: Any
    stage: Stage
    layer: TextLayerMeasure

    def pairs(self, left: Ints, right: Ints) -> Floats:
        a, b = self.stage.place(left, right)
        p = np.ones(len(a), dtype=np.float64)
        differ = np.flatnonzero(a != b)
        p[differ] = self.raw.pairs(np.minimum(a, b)[differ], np.maximum(a, b)[differ])
        limited = self.stage.limited(left, right)
        if limited is not None and limited.any():
            p[limited] = self.layer.unrelated
        return p

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        shared = self.stage.shared(rows[:, None], cols[None, :])
        p = np.empty(shared.shape, dtype=np.float32)
        for bits in np.unique(shared).tolist():
            here = shared == bits
            row, col = np.flatnonzero(here.any(axis=1)), np.flatnonzero(here.any(axis=0))
            a, b = self.stage.form(rows[row], bits), self.stage.form(cols[col], bits)
            part = np.array(self.raw.block(a, b), dtype=np.float32)
            part[a[:, None] == b[None, :]] = 1.0
            inner = np.ix_(row, col)
            p[inner] = np.where(here[inner], part, p[inner])
        limited = self.stage.limited(rows[:, None], cols[None, :])
        if limited is not None and limited.any():
            p[limited] = self.layer.unrelated
        return p


def layered(layer: type[Layer], raw: Measure, *arguments: Any) -> Any:
    """Make a layer around a measure, with that measure's capabilities (blocks, directions, caching).

    Parameters
    ----------
    layer : type
        A subclass of :class:`Layer`, made with the measure and the arguments.
    raw : Measure
    *arguments
        The layer's own.

    Returns
    -------
    Measure
    """
    kinds = {"entail_checked": _Checked, "entail_both": _Directional, "index": _Indexed, "block": _Block}
    return like(raw, layer, kinds)(raw, *arguments)
