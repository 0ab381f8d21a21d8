"""Default cache and progress bar of functions that score."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal

from softirr.errors import InputError
from softirr.meaning.measures.cache import MemoryCache, open_cache
from softirr.meaning.measures.pair_cache import PairCache
from softirr.meaning.measures.protocols import Measure
from softirr.provenance import Progress
from softirr.terminal import progress_bar

CacheOption = PairCache | str | None
"""A store of scored pairs, "auto", a URL for :func:`softirr.meaning.measures.cache.open_cache`, or None."""
ProgressOption = Progress | Literal["auto"] | None
"""A function that is called with (pairs done, pairs in all), "auto", or None for silence."""


@contextlib.contextmanager
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
    with contextlib.ExitStack() as stack:
        if cache is None and measure.is_cached:
            cache = MemoryCache()
        elif isinstance(cache, str):
            url = None if cache == "auto" else cache
            cache = stack.enter_context(open_cache(url)) if measure.is_cached else None
        reporter = stack.enter_context(progress_bar("scoring pairs")) if isinstance(progress, str) else progress
        yield cache, reporter
