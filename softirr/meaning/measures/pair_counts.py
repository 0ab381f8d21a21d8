"""How many pairs of texts a measure scores, by what they are used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["add_pairs", "collect_pair_counts", "pairs_used_for"]

_COUNTS: ContextVar[Counter[str] | None] = ContextVar("counts", default=None)
_USE: ContextVar[str] = ContextVar("use", default="other")


@contextmanager
def collect_pair_counts() -> Iterator[Counter[str]]:
    """Count the pairs that are scored inside the block; yields use -> number of pairs.

    Examples
    --------
    >>> with collect_pair_counts() as counts, pairs_used_for("chance"):
    ...     add_pairs(3)
    >>> dict(counts)
    {'chance': 3}
    """
    counts: Counter[str] = Counter()
    token = _COUNTS.set(counts)
    try:
        yield counts
    finally:
        _COUNTS.reset(token)


@contextmanager
def pairs_used_for(use: str) -> Iterator[None]:
    """Count the pairs that are scored inside the block under this use."""
    token = _USE.set(use)
    try:
        yield
    finally:
        _USE.reset(token)


def add_pairs(n_pairs: int) -> None:
    """Add pairs that a measure scored; pairs from a memory or a cache do not count."""
    counts = _COUNTS.get()
    if counts is not None and n_pairs:
        counts[_USE.get()] += n_pairs
