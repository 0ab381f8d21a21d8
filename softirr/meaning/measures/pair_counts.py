"""How many pairs of texts a report needs from a model, by use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COUNTS: ContextVar[Counter[str] | None] = ContextVar("counts", default=None)
_COUNTED: ContextVar[set[int]] = ContextVar("counted")
_USE: ContextVar[str] = ContextVar("use", default="other")


@contextmanager
def collect_pair_counts() -> Iterator[Counter[str]]:
    """Count the pairs that are needed inside the block; yields use -> number of pairs.

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
    tokens = _COUNTS.set(counts), _COUNTED.set(set())
    try:
        yield counts
    finally:
        _COUNTS.reset(tokens[0])
        _COUNTED.reset(tokens[1])


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
    counts = _COUNTS.get()
    if counts is not None:
        pair_hashes = _COUNTED.get()
        n_before = len(pair_hashes)
        pair_hashes.update(hash((measure, *pair)) for pair in pairs)
        if len(pair_hashes) > n_before:
            counts[_USE.get()] += len(pair_hashes) - n_before
