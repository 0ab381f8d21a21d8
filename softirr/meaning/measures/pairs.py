"""Scoring of pairs of unique texts: no pair is scored twice, and scores do not depend on the order of requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.measures.cache import PairCache, text_hash
from softirr.meaning.measures.layers import Pipeline
from softirr.meaning.measures.protocols import (
    CHUNK,
    BlockMeasure,
    CheckedMeasure,
    DirectionalMeasure,
    ExpandedMeasure,
    IndexedMeasure,
    Measure,
    Pairs,
    StreamingMeasure,
    TextIndex,
    layers_of,
    mutual,
    numbered_pairs,
)
from softirr.provenance import Progress
from softirr.text import normalize

__all__ = ["PairScorer", "score_pairs"]


class PairScorer:
    """Scores pairs of texts by index, through a cache; symmetric, and 1 for texts that are the same after normalizing.

    Every unordered pair of different texts reaches the measure at most once, in an order that depends on the two texts
    alone.

    Parameters
    ----------
    measure
        The measure. Of an :class:`AdjustedMeasure` that is not cheap, the raw measure's scores are cached, so that
        another calibration of the same model reuses them. Where it rewrites texts (a
        :class:`softirr.meaning.measures.layers.TextLayer`), the raw measure and the cache see the rewritten pair; pairs that a
        layer decides are not asked about.
    texts
        The texts that indices point into; texts that are the same after normalizing are one text.
    cache
        A persistent store of scores; only measures with a ``cache_key`` (models) use it.
    progress
        Called with (pairs done, total pairs) during a call of a measure that is not cheap.
    """

    def __init__(
        self,
        measure: Measure,
        texts: Sequence[str],
        *,
        cache: PairCache | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.measure = measure
        self.directional = isinstance(measure, DirectionalMeasure)
        self.cheap = isinstance(measure, BlockMeasure)
        layers = [] if self.cheap else list(layers_of(measure))
        self._adjust = [layer.adjust for layer in reversed(layers)]
        self._source: Measure = layers[-1].raw if layers else measure
        self.pairs_scored = 0
        """Number of unordered pairs of different texts that the measure scored.

        Blocks count every off-diagonal cell once.
        """
        normalized = [normalize(text) for text in texts]
        self._texts = sorted(set(normalized))
        numbers = {text: number for number, text in enumerate(self._texts)}
        self._ids = np.array([numbers[text] for text in normalized], dtype=np.int64)
        self._progress = progress
        self._cache = cache
        expanded = isinstance(self._source, ExpandedMeasure)  # its raw measure's scores are cached, not its own
        self._cache_key: str | None = None if expanded else getattr(self._source, "cache_key", None)
        self._index: TextIndex | None = None
        self._hashes: list[bytes] | None = None
        self._memo = _Memo()
        self._pipeline = Pipeline(layers, self._texts)
        self._written = self._pipeline.texts
        known = [pair for layer in layers for pair in layer.decided.items()]
        keys = [
            (min(numbers[a], numbers[b]) * len(self._texts) + max(numbers[a], numbers[b]), float(same))
            for (a, b), same in known
            if a in numbers and b in numbers
        ]
        self._decided = dict(keys)

    def score(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(a ≡ b) of text left[k] with text right[k].

        Parameters
        ----------
        left, right : shape (n,), indices into the texts

        Returns
        -------
        shape (n,), in [0, 1]
        """
        a, b = self._ids[left], self._ids[right]
        if self.cheap and isinstance(self.measure, IndexedMeasure):
            index = self._text_index()
            result = np.ones(len(a), dtype=np.float64)
            differ = np.flatnonzero(a != b)
            # lower text first: a cosine's last bit may depend on the order
            result[differ] = index.pairs(np.minimum(a, b)[differ], np.maximum(a, b)[differ])
            self.pairs_scored += len(differ)
            return result
        return self._equivalence(self._directions(a, b))

    def entail(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """P(a ⇒ b) and P(b ⇒ a) of text left[k] with text right[k], shape (n, 2).

        None where the measure has no directions.
        """
        if not self.directional:
            return None
        return self._directions(self._ids[left], self._ids[right])

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text.

        Parameters
        ----------
        rows : shape (m,), indices into the texts
        cols : shape (n,), indices into the texts

        Returns
        -------
        shape (m, n)
        """
        a, b = self._ids[rows], self._ids[cols]
        if not self.cheap:
            left, right = np.repeat(a, len(b)), np.tile(b, len(a))
            return self._equivalence(self._directions(left, right)).astype(np.float32).reshape(len(a), len(b))
        if isinstance(self.measure, IndexedMeasure):
            result = self._text_index().block(a, b)
        else:
            texts = self._texts
            result = cast(BlockMeasure, self.measure).block(
                [texts[i] for i in a.tolist()], [texts[i] for i in b.tolist()]
            )
        self.pairs_scored += _different_pairs(a, b)
        return result

    def _equivalence(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        return mutual(directions) if self.directional else directions[:, 0]

    def _text_index(self) -> TextIndex:
        if self._index is None:
            self._index = cast(IndexedMeasure, self.measure).index(self._texts)
        return self._index

    def _directions(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Both directions, shape (n, 2), of canonical ids; equal columns for a symmetric measure."""
        result = np.ones((len(a), 2), dtype=np.float64)
        differ = np.flatnonzero(a != b)
        if not len(differ):
            return result
        low, high = np.minimum(a, b)[differ], np.maximum(a, b)[differ]
        keys, inverse = np.unique(low * len(self._texts) + high, return_inverse=True)
        values, alike, limited = self._raw(keys)
        for adjust in self._adjust:
            values = adjust(values)
        values[alike] = 1.0
        values[limited] = 0.0
        if self._decided:
            place = np.searchsorted(keys, list(self._decided))
            for at, (key, value) in zip(place.tolist(), self._decided.items(), strict=True):
                if at < len(keys) and keys[at] == key:
                    values[at] = value
        values = values[inverse]
        swapped = a[differ] > b[differ]
        values[swapped] = values[swapped][:, ::-1]
        result[differ] = values
        return result

    def _raw(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Raw scores of sorted pairs of texts, shape (n, 2).

        Which pairs have become one text, and which the layers decide.
        """
        low, high, limited = self._pipeline.resolve(*np.divmod(keys, len(self._texts)))
        alike = low == high
        asked = ~(alike | limited)
        wanted, inverse = np.unique(
            np.minimum(low, high)[asked] * len(self._written) + np.maximum(low, high)[asked], return_inverse=True
        )
        scored = self._known(wanted)[inverse]
        swapped = (low > high)[asked]
        scored[swapped] = scored[swapped][:, ::-1]
        values = np.ones((len(keys), 2), dtype=np.float64)
        values[asked] = scored
        return values, alike, limited

    def _known(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Raw scores of sorted pairs of texts as the raw measure sees them, each computed once."""
        values, known = self._memo.get(keys)
        if not known.all():
            missing = np.flatnonzero(~known)
            values[missing] = self._resolve(keys[missing])
        return values

    def _resolve(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of new pairs from the cache, else from the measure in chunks, each stored when it is done."""
        values = np.zeros((len(keys), 2), dtype=np.float64)
        low, high = np.divmod(keys, len(self._written))
        # chunks of similar text lengths, because length determines cost; the longest first, so that memory runs out
        # early if at all
        lengths = np.array([len(text) for text in self._written], dtype=np.int64)
        order = np.argsort(-(lengths[low] + lengths[high]), kind="stable")
        if self._progress is not None:
            self._progress(0, len(keys))
        size = int(getattr(self._source, "chunk", CHUNK))
        for start in range(0, len(keys), size):
            chunk = order[start : start + size]
            values[chunk] = self._resolve_chunk(low[chunk], high[chunk], start, len(keys))
            self._memo.put(np.sort(keys[chunk]), values[chunk][np.argsort(keys[chunk])])
        return values

    def _resolve_chunk(
        self, low: NDArray[np.int64], high: NDArray[np.int64], done: int, total: int
    ) -> NDArray[np.float64]:
        values: NDArray[np.float64] = np.zeros((len(low), 2), dtype=np.float64)
        missing: NDArray[np.int64] = np.arange(len(low))
        cache, key = self._cache, self._cache_key
        if cache is not None and key is not None:
            pairs, turned = self._hash_pairs(low, high)
            values, known = cache.get(key, pairs)
            values[turned] = values[turned][:, ::-1]  # the cache keeps directions in the order of the hashes
            missing = np.flatnonzero(~known)
        done += len(low) - len(missing)
        for places, fresh, valid in self._ask(low[missing], high[missing], done, total):
            places = missing[places]
            values[places] = fresh
            if cache is not None and key is not None:
                fresh = np.where(turned[places][:, None], fresh[:, ::-1], fresh)
                cache.put(key, [pairs[i] for i in places[valid]], fresh[valid])
            done += len(places)
            if self._progress is not None:
                self._progress(done, total)
        if self._progress is not None and not len(missing):
            self._progress(done, total)
        return values

    def _ask(
        self, low: NDArray[np.int64], high: NDArray[np.int64], done: int, total: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]:
        """The measure's scores as they arrive: indices, scores, shape (n, 2), and which are valid and can be stored."""
        if not len(low):
            return
        pairs = [(self._written[i], self._written[j]) for i, j in zip(low.tolist(), high.tolist(), strict=True)]
        for places, values, valid in self._parts(pairs, done, total):
            if values.shape != (len(places), 2) or not np.all((values >= 0) & (values <= 1)):
                raise InputError(f"The measure {self.measure.name} returned scores that are not probabilities.")
            self.pairs_scored += len(places)
            yield places, values, valid

    def _parts(
        self, pairs: list[tuple[str, str]], done: int, total: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]:
        source, every = self._source, np.arange(len(pairs))
        inner = None if self._progress is None else _Shifted(self._progress, done, total)
        if isinstance(source, ExpandedMeasure):
            yield every, self._expanded(source, pairs), np.ones(len(pairs), dtype=bool)
        elif isinstance(source, StreamingMeasure):
            yield from source.entail_parts(pairs, progress=inner)
        elif isinstance(source, CheckedMeasure):
            yield every, *source.entail_checked(pairs, progress=inner)
        elif isinstance(source, DirectionalMeasure):
            yield every, source.entail_both(pairs), np.ones(len(pairs), dtype=bool)
        else:
            yield every, np.repeat(source.score(pairs)[:, None], 2, axis=1), np.ones(len(pairs), dtype=bool)

    def _expanded(self, source: ExpandedMeasure, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        """Scores of a measure that is made of another one's scores, which are cached by themselves."""
        expansion = source.expand(pairs)
        texts, left, right = numbered_pairs(expansion.pairs)
        scorer = PairScorer(source.raw, texts, cache=self._cache, progress=self._progress)
        return np.asarray(expansion.combine(scorer._directions(scorer._ids[left], scorer._ids[right])))

    def _hash_pairs(
        self, low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> tuple[list[tuple[bytes, bytes]], NDArray[np.bool_]]:
        if self._hashes is None:
            self._hashes = [text_hash(text) for text in self._written]
        hashes = self._hashes
        pairs, turned = [], np.zeros(len(low), dtype=bool)
        for place, (i, j) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            first, second = hashes[i], hashes[j]
            if first > second:
                first, second = second, first
                turned[place] = True
            pairs.append((first, second))
        return pairs, turned


def score_pairs(
    measure: Measure, pairs: Pairs, *, cache: PairCache | None = None, progress: Progress | None = None
) -> NDArray[np.float64]:
    """P(a ≡ b) of each pair, through a cache.

    Parameters
    ----------
    measure : Measure
    pairs : sequence of (str, str), n of them
    cache, progress
        As for :class:`PairScorer`.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> score_pairs(measure("exact"), [("fever", "fever "), ("fever", "rash")]).tolist()
    [1.0, 0.0]
    """
    texts, left, right = numbered_pairs(pairs)
    return PairScorer(measure, texts, cache=cache, progress=progress).score(left, right)


class _Shifted:
    """Reports the progress of one chunk as progress of the whole call."""

    def __init__(self, progress: Progress, done: int, total: int) -> None:
        self._progress, self._done, self._total = progress, done, total

    def __call__(self, done: int, total: int) -> None:
        self._progress(self._done + done, self._total)


class _Memo:
    """Sorted keys with values of shape (n, 2); a small recent part keeps many small additions cheap."""

    def __init__(self) -> None:
        self._parts = [self._empty(), self._empty()]

    @staticmethod
    def _empty() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.float64)

    def get(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        values, known = np.zeros((len(keys), 2), dtype=np.float64), np.zeros(len(keys), dtype=bool)
        for part_keys, part_values in self._parts:
            if len(part_keys):
                place = np.minimum(np.searchsorted(part_keys, keys), len(part_keys) - 1)
                is_known = part_keys[place] == keys
                values[is_known] = part_values[place[is_known]]
                known |= is_known
        return values, known

    def put(self, keys: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Adds sorted keys that are not known yet."""
        self._parts[1] = self._merged(self._parts[1], (keys, values))
        if len(self._parts[1][0]) > max(4096, len(self._parts[0][0]) // 8):
            self._parts = [self._merged(*self._parts), self._empty()]

    @staticmethod
    def _merged(
        old: tuple[NDArray[np.int64], NDArray[np.float64]], new: tuple[NDArray[np.int64], NDArray[np.float64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        place = np.searchsorted(old[0], new[0])
        return np.insert(old[0], place, new[0]), np.insert(old[1], place, new[1], axis=0)


def _different_pairs(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """Number of unordered pairs of different texts in a block: cells of both orders count once."""
    rows, cols = np.unique(a), np.unique(b)
    both = len(np.intersect1d(rows, cols, assume_unique=True))
    return len(rows) * len(cols) - both - both * (both - 1) // 2
