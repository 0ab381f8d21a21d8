"""Scores pairs of texts of a project: no pair is scored twice, and scores do not depend on the order of requests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Bools, Floats, Ints, mutual, numbered_pairs
from softirr.meaning.measures.cache import PairCache, text_hash
from softirr.meaning.measures.memo import Memo
from softirr.meaning.measures.pair_counts import add_pairs
from softirr.meaning.measures.protocols import Measure, Pairs
from softirr.provenance import Progress
from softirr.text import normalize

__all__ = ["PairScorer", "score_pairs"]


class PairScorer:
    """Scores pairs of texts by number; symmetric, and 1 for texts that are the same after normalizing.

    Stages decide or rewrite pairs in their order. The measure scores the others, every unordered pair of different
    texts at most once, and the cache keeps its scores, so that policies and decisions reuse them.

    Parameters
    ----------
    measure : Measure
    texts : sequence of str
        The texts that numbers refer to.
    cache : PairCache, optional
        Persistent store of scores, used for measures with a ``cache_key``.
    progress : callable, optional
        Called with (pairs done, total pairs) while a measure without blocks scores.

    Attributes
    ----------
    pairs_scored : int
        Number of unordered pairs of different texts that the measure scored. Blocks count every pair once.
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
        self.directional = measure.directional
        self.cheap = measure.has_blocks
        self.pairs_scored = 0
        normalized = [normalize(text) for text in texts]
        self._texts = sorted(set(normalized))
        numbers = {text: number for number, text in enumerate(self._texts)}
        self._ids = np.array([numbers[text] for text in normalized], dtype=np.int64)
        self._pipeline = measure.pipeline(self._texts)
        self._written = self._pipeline.texts
        self._progress, self._cache = progress, cache
        self._hashes: list[bytes] | None = None
        self._memo = Memo()

    def score(self, left: Ints, right: Ints) -> Floats:
        """P(a ≡ b) of text left[k] with text right[k], shape (n,)."""
        directions = self._directions(self._ids[left], self._ids[right])
        return mutual(directions)

    def entail(self, left: Ints, right: Ints) -> Floats | None:
        """P(a ⇒ b) and P(b ⇒ a) of text left[k] with text right[k], shape (n, 2); None without directions."""
        return self._directions(self._ids[left], self._ids[right]) if self.directional else None

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols))."""
        if not self.cheap:
            left, right = np.repeat(rows, len(cols)), np.tile(cols, len(rows))
            return self.score(left, right).astype(np.float32).reshape(len(rows), len(cols))
        a, b = self._ids[rows], self._ids[cols]
        self._count(_different_pairs(a, b))
        return self._pipeline.block(a, b, self._measured_block)

    def _count(self, n_pairs: int) -> None:
        self.pairs_scored += n_pairs
        add_pairs(n_pairs)

    def _measured_block(self, rows: Ints, columns: Ints) -> NDArray[np.float32]:
        return self.measure.block(self._written, rows, columns)

    def _directions(self, a: Ints, b: Ints) -> Floats:
        """Both directions, shape (n, 2), of numbers in the sorted texts."""
        result = np.ones((len(a), 2), dtype=np.float64)
        different = np.flatnonzero(a != b)
        low, high = np.minimum(a, b)[different], np.maximum(a, b)[different]
        if self.cheap and not self.measure.stages:
            values = self.measure.checked(self.measure.directions(self._texts, low, high))
            self._count(len(low))
        elif self.cheap:
            values = self._pipeline.directions(low, high, self._measured)
        else:
            keys, inverse = np.unique(low * len(self._texts) + high, return_inverse=True)
            values = self._pipeline.directions(*np.divmod(keys, max(len(self._texts), 1)), self._measured)[inverse]
        is_turned = a[different] > b[different]
        values[is_turned] = values[is_turned][:, ::-1]
        result[different] = values
        return result

    def _measured(self, left: Ints, right: Ints) -> Floats:
        """Directions of pairs of texts as the measure sees them, shape (n, 2)."""
        result = np.ones((len(left), 2), dtype=np.float64)
        different = np.flatnonzero(left != right)
        low, high = np.minimum(left, right)[different], np.maximum(left, right)[different]
        if self.cheap:
            values = self.measure.checked(self.measure.directions(self._written, low, high))
            self._count(len(low))
        else:
            keys, inverse = np.unique(low * len(self._written) + high, return_inverse=True)
            values = self._known(keys)[inverse]
        is_turned = left[different] > right[different]
        values[is_turned] = values[is_turned][:, ::-1]
        result[different] = values
        return result

    def _known(self, keys: Ints) -> Floats:
        """Scores of sorted pairs, each computed once."""
        values, is_known = self._memo.get(keys)
        if not is_known.all():
            missing = np.flatnonzero(~is_known)
            values[missing] = self._resolve(keys[missing])
        return values

    def _resolve(self, keys: Ints) -> Floats:
        """Scores of new pairs from the cache, else from the measure in chunks, each stored when it is done.

        A chunk has texts of similar lengths, because length determines cost. The longest are first, so that memory runs
        out early.
        """
        values = np.zeros((len(keys), 2), dtype=np.float64)
        low, high = np.divmod(keys, len(self._written))
        lengths = np.array([len(text) for text in self._written], dtype=np.int64)
        order = np.argsort(-(lengths[low] + lengths[high]), kind="stable")
        if self._progress is not None:
            self._progress(0, len(keys))
        size = self.measure.chunk
        for start in range(0, len(keys), size):
            chunk = order[start : start + size]
            values[chunk] = self._resolve_chunk(low[chunk], high[chunk], start, len(keys))
            self._memo.put(np.sort(keys[chunk]), values[chunk][np.argsort(keys[chunk])])
        return values

    def _resolve_chunk(self, low: Ints, high: Ints, done: int, total: int) -> Floats:
        stored = self._stored(low, high)
        values, missing = stored.values, np.flatnonzero(~stored.is_known)
        done += len(low) - len(missing)
        if len(missing):
            values[missing] = self._ask(low[missing], high[missing], stored.of(missing), done, total)
        if self._progress is not None:
            self._progress(done + len(missing), total)
        return values

    def _ask(self, low: Ints, high: Ints, stored: _Stored, done: int, total: int) -> Floats:
        """Scores by the measure; valid ones are stored, and 0 means an answer that could not be read."""
        is_stored = np.zeros(len(low), dtype=bool)

        def finished(part: Ints, fresh: Floats) -> None:
            is_valid = ~np.isnan(fresh).any(axis=1)
            stored.put(part[is_valid], fresh[is_valid])
            is_stored[part] = True

        progress = self._progress
        shifted = None if progress is None else lambda count, _: progress(done + count, total)
        fresh = self.measure.directions(self._written, low, high, progress=shifted, finished=finished)
        values = self.measure.checked(fresh)
        left_over = np.flatnonzero(~is_stored)
        finished(left_over, fresh[left_over])
        self._count(len(low))
        return values

    def _stored(self, low: Ints, high: Ints) -> _Stored:
        key = self.measure.cache_key
        if self._cache is None or key is None:
            return _Stored(None, "", [], np.zeros(len(low), dtype=bool), len(low))
        if self._hashes is None:
            self._hashes = [text_hash(text) for text in self._written]
        both = [(self._hashes[i], self._hashes[j]) for i, j in zip(low.tolist(), high.tolist(), strict=True)]
        is_turned = np.array([first > second for first, second in both], dtype=bool)
        pairs = [(min(pair), max(pair)) for pair in both]
        return _Stored(self._cache, key, pairs, is_turned, len(low))


class _Stored:
    """Scores of pairs in a cache, which keeps directions in the order of the texts' hashes."""

    def __init__(
        self, cache: PairCache | None, key: str, pairs: list[tuple[bytes, bytes]], is_turned: Bools, n: int
    ) -> None:
        self._cache, self._key, self._pairs, self._is_turned = cache, key, pairs, is_turned
        self.values: Floats = np.zeros((n, 2), dtype=np.float64)
        self.is_known: Bools = np.zeros(n, dtype=bool)
        if cache is not None and n:
            self.values, self.is_known = cache.get(key, pairs)
            self.values[is_turned] = self.values[is_turned][:, ::-1]

    def of(self, places: Ints) -> _Stored:
        """Some of the pairs, for storing their scores."""
        part = _Stored(None, self._key, [], self._is_turned[places], 0)
        if self._cache is not None:
            part._cache, part._pairs = self._cache, [self._pairs[k] for k in places.tolist()]
        return part

    def put(self, places: Ints, values: Floats) -> None:
        """Store the scores of some pairs."""
        if self._cache is not None and len(places):
            values = np.where(self._is_turned[places][:, None], values[:, ::-1], values)
            self._cache.put(self._key, [self._pairs[k] for k in places.tolist()], values)


def score_pairs(
    measure: Measure, pairs: Pairs, *, cache: PairCache | None = None, progress: Progress | None = None
) -> Floats:
    """P(a ≡ b) of each pair, shape (n,), through a cache.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> score_pairs(measure("exact"), [("fever", "fever "), ("fever", "rash")]).tolist()
    [1.0, 0.0]
    """
    texts, left, right = numbered_pairs(pairs)
    return PairScorer(measure, texts, cache=cache, progress=progress).score(left, right)


def _different_pairs(a: Ints, b: Ints) -> int:
    """Number of unordered pairs of different texts in a block: cells of both orders count once."""
    rows, columns = np.unique(a), np.unique(b)
    both = len(np.intersect1d(rows, columns, assume_unique=True))
    return len(rows) * len(columns) - both - both * (both - 1) // 2
