"""Scores pairs of texts of a project: no pair is scored twice, and scores do not depend on the order of requests.

Also counts the pairs that a report needs, by use, and opens the default cache and progress bar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Bools, Floats, Ints, find_keys, mutual, numbered_texts, unique_pairs
from softirr.meaning.measures.cache import PairCache, open_cache, text_hash
from softirr.meaning.measures.protocols import Measure
from softirr.provenance import Progress
from softirr.terminal import progress_bar

_CHEAP_AT_ONCE = 1 << 18
"""Number of pairs that a measure with blocks scores at once."""
CacheOption = PairCache | str | None
"""A store of scored pairs, "auto", a URL for :func:`softirr.meaning.measures.cache.open_cache`, or None."""
ProgressOption = Progress | Literal["auto"] | None
"""A function that is called with (pairs done, pairs in all), "auto", or None for silence."""


class PairScorer:
    """Scores pairs of texts by number; symmetric, and 1 for texts that are the same after normalizing.

    Stages decide or rewrite pairs in their order. The measure scores the others, every unordered pair of different
    texts at most once, and the cache keeps its scores, so that policies and decisions reuse them.

    Parameters
    ----------
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
        self.cheap = measure.has_blocks
        self.pairs_scored = 0
        different, self._ids = numbered_texts(texts)
        self._pipeline = measure.pipeline(different)
        self._texts = self._pipeline.texts
        self._progress = progress
        self._cache = cache if measure.is_cached else None
        if cache is not None:
            measure.recall(cache)
        self._hashes: list[bytes] = []
        self._known_keys: Ints = np.zeros(0, dtype=np.int64)
        self._known_values: Floats = np.zeros((0, 2))

    def score(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ≡ b) of text left_texts[k] with text right_texts[k], shape (n,)."""
        return mutual(self.directions(left_texts, right_texts))

    def directions(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of texts left_texts[k] and right_texts[k], shape (n, 2)."""
        if self.cheap and len(left_texts) > _CHEAP_AT_ONCE:  # all at once would take several times the memory
            starts = range(0, len(left_texts), _CHEAP_AT_ONCE)
            chunks = [slice(start, start + _CHEAP_AT_ONCE) for start in starts]
            return np.concatenate([self.directions(left_texts[chunk], right_texts[chunk]) for chunk in chunks])
        low, high, restored = unique_pairs(self._ids[left_texts], self._ids[right_texts])
        ask = self._measured_once if self.measure.stages else self._measured
        return restored(self._pipeline.directions(low, high, ask))

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols))."""
        if not self.cheap:
            left_texts, right_texts = np.repeat(rows, len(cols)), np.tile(cols, len(rows))
            return self.score(left_texts, right_texts).astype(np.float32).reshape(len(rows), len(cols))
        a, b = self._ids[rows], self._ids[cols]
        n_rows, n_columns, n_common = len(np.unique(a)), len(np.unique(b)), len(np.intersect1d(a, b))
        # cells of both orders are one pair, and a text with itself is none
        self.pairs_scored += n_rows * n_columns - n_common * (n_common + 1) // 2
        return self._pipeline.block(a, b, lambda rows, columns: self.measure.block(self._texts, rows, columns))

    def _measured_once(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """Scores of pairs of the pipeline's texts, in any order."""
        low, high, restored = unique_pairs(left_texts, right_texts)
        return restored(self._measured(low, high))

    def _measured(self, low: Ints, high: Ints) -> Floats:
        """Scores of sorted pairs, which are remembered if the measure has no blocks."""
        if not len(low):
            return np.zeros((0, 2))
        if self.cheap:
            self.pairs_scored += len(low)
            return self.measure.checked(self.measure.directions(self._texts, low, high))
        keys = low * len(self._texts) + high
        new = ~find_keys(self._known_keys, keys)[1]
        if new.any():
            values = self._new(low[new], high[new])
            insertion_index = np.searchsorted(self._known_keys, keys[new])
            self._known_keys = np.insert(self._known_keys, insertion_index, keys[new])
            self._known_values = np.insert(self._known_values, insertion_index, values, axis=0)
        return self._known_values[find_keys(self._known_keys, keys)[0]]

    def _new(self, low: Ints, high: Ints) -> Floats:
        """Scores from the cache, else from the measure. A chunk of scores is stored when it is done.

        A chunk has texts of similar lengths, because length determines cost. The longest are first, so that memory runs
        out early.
        """
        add_pairs(self.measure.raw_name, ((self._texts[i], self._texts[j]) for i, j in _both(low, high)))
        values, is_cached = self._cached(low, high)
        lengths = np.array([len(text) for text in self._texts], dtype=np.int64)
        order = np.argsort(-(lengths[low] + lengths[high]), kind="stable")
        missing = order[~is_cached[order]]
        done = len(low) - len(missing)
        size = self.measure.chunk if len(missing) else 1  # the model may not be open
        for start in range(0, len(missing), size):
            if self._progress is not None:
                self._progress(done + start, len(low))
            chunk = missing[start : start + size]
            values[chunk] = self._ask(low[chunk], high[chunk])
            self.pairs_scored += len(chunk)
        if self._progress is not None:
            self._progress(len(low), len(low))
        return values

    def _ask(self, low: Ints, high: Ints) -> Floats:
        """Scores by the measure; valid ones are stored, and 0 means an answer that could not be read."""
        distinct_numbers, index = np.unique(np.concatenate([low, high]), return_inverse=True)
        texts = [self._texts[number] for number in distinct_numbers.tolist()]
        fresh = self.measure.directions(texts, index[: len(low)], index[len(low) :])
        if self._cache is not None:
            is_valid = ~np.isnan(fresh).any(axis=1)
            pairs, is_turned = self._hashed(low[is_valid], high[is_valid])
            self._cache.put(self.measure.cache_key, pairs, _turned(fresh[is_valid], is_turned))
        return self.measure.checked(fresh)

    def _cached(self, low: Ints, high: Ints) -> tuple[Floats, Bools]:
        """Scores of the cache, 0 for unknown pairs, and which pairs it knows."""
        if self._cache is None:
            return np.zeros((len(low), 2), dtype=np.float64), np.zeros(len(low), dtype=bool)
        pairs, is_turned = self._hashed(low, high)
        values, is_known = self._cache.get(self.measure.cache_key, pairs)
        return _turned(values, is_turned), is_known

    def _hashed(self, low: Ints, high: Ints) -> tuple[list[tuple[bytes, bytes]], Bools]:
        """Sorted hashes of the texts of each pair, as the cache has them, and which pairs this turns."""
        self._hashes = self._hashes or [text_hash(text) for text in self._texts]
        pairs = [(self._hashes[i], self._hashes[j]) for i, j in _both(low, high)]
        is_turned = np.array([first > second for first, second in pairs], dtype=bool)
        return [(min(pair), max(pair)) for pair in pairs], is_turned


def _both(low: Ints, high: Ints) -> Iterator[tuple[int, int]]:
    return zip(low.tolist(), high.tolist(), strict=True)


def _turned(directions: Floats, is_turned: Bools) -> Floats:
    """The directions, exchanged for turned pairs."""
    return np.where(is_turned[:, None], directions[:, ::-1], directions)


_COUNTED: ContextVar[dict[int, str] | None] = ContextVar("counted", default=None)
"""First use of each pair, by the hash of the pair."""
_USE: ContextVar[str] = ContextVar("use", default="other")


@contextmanager
def collect_pair_counts() -> Iterator[Counter[str]]:
    """Count the pairs that are needed inside the block; yields use -> number of pairs, which it has after the block.

    A pair of different texts counts once for each measure, under its first use, no matter whether the model scores it
    or a cache has its score. A report from a cache therefore has the same counts. Measures without a model count no
    pairs.

    Examples
    --------
    >>> with collect_pair_counts() as counts, pairs_used_for("chance"):
    ...     add_pairs("nli", [("fever", "rash"), ("fever", "rash")])
    >>> dict(counts)
    {'chance': 1}
    """
    counts: Counter[str] = Counter()
    uses: dict[int, str] = {}
    token = _COUNTED.set(uses)
    try:
        yield counts
    finally:
        _COUNTED.reset(token)
        counts.update(uses.values())


@contextmanager
def pairs_used_for(use: str) -> Iterator[None]:
    """Count the pairs that are needed inside the block under this use."""
    token = _USE.set(use)
    try:
        yield
    finally:
        _USE.reset(token)


def add_pairs(measure: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Count pairs that a measure without blocks scores; the texts of each pair are sorted."""
    uses = _COUNTED.get()
    if uses is not None:
        for pair in pairs:
            uses.setdefault(hash((measure, *pair)), _USE.get())


@contextmanager
def cache_and_progress(
    measure: Measure, cache: CacheOption, progress: ProgressOption
) -> Iterator[tuple[PairCache | None, Progress | None]]:
    """Open the cache and the progress bar of a function, and close them at the end.

    Parameters
    ----------
    measure : Measure
        Only measures with a model use a cache, so none is opened for others.
    cache : PairCache, str or None
        "auto" is the cache of the command line: SOFTIRR_CACHE, else a file in the user's cache folder. None is a cache
        in memory until the end, so that the parts of a report share scores.
    progress : callable, "auto" or None
        "auto" is a bar on standard error if that is a terminal.

    Yields
    ------
    tuple of (PairCache or None, callable or None)
        The cache, and a function of (pairs done, pairs in all).

    Raises
    ------
    InputError
        If the cache can't be opened, or progress is neither.
    """
    if isinstance(progress, str) and progress != "auto":
        raise InputError(f"The option progress is {progress!r}, but can be auto, None or a function.")
    with ExitStack() as stack:
        if not isinstance(cache, PairCache):
            url = {"auto": None, None: "none"}.get(cache, cache)
            cache = stack.enter_context(open_cache(url)) if measure.is_cached else None
        reporter = stack.enter_context(progress_bar("scoring pairs")) if isinstance(progress, str) else progress
        yield cache, reporter
