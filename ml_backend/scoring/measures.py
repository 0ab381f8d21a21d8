"""The loaded measures of one process, with their terminologies, and the cache of scored pairs."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.model_lock import ModelLock
from softirr.meaning.measures import DEFAULT_MEASURE, takes
from softirr.meaning.measures.suitability import BUNDLED
from softirr.meaning.policy.rules import AS_WRITTEN, Policy
from softirr.provenance import Progress
from softirr.text import normalize

Decisions = Sequence[Mapping[str, Any]]
"""Reviewers' decisions (`Store.decisions`)."""


class Stopped(Exception):
    """Work is broken off, because the process ends or a command needs the project."""


def needs_model(measure: str) -> bool:
    """Whether the measure would load a model: such measures run in the worker only."""
    return takes(measure) == "model"


class LoadedMeasures:
    """The measures of one process; thread-safe.

    A model runs one call at a time, and long work with a model lets short work go first.

    Parameters
    ----------
    cache_url : str, optional
        Store of scored pairs; None for no store.
    """

    def __init__(self, cache_url: str | None = None):
        self._cache_url = cache_url
        self._cache: Any = None
        self._measures: dict[str, Any] = {}
        self._looking_up: dict[tuple[str, ...], tuple[list[str], Any]] = {}
        self._lock = threading.RLock()
        self._model = ModelLock()
        self._models: dict[str, dict[str, str | None]] = {}
        self._used_at = time.monotonic()

    def measure(self, name: str) -> Any:
        """The measure, loaded once.

        Raises
        ------
        softirr.errors.InputError
            If the measure does not exist, or its model can't be loaded.
        """
        with self._lock:
            if name not in self._measures:
                import softirr

                self._measures[name] = softirr.measure(name)
                self._models.pop(name, None)
            return self._measures[name]

    def warm_up(self, name: str | None) -> None:
        """Load the model of a measure ahead of the first task, which reports the error if this fails.

        Parameters
        ----------
        name : str, optional
            By default the measure of a project that chooses none.
        """
        name = name or DEFAULT_MEASURE
        if name.partition(":")[0] != BUNDLED:  # others may be servers, which are called only for answers
            return
        with contextlib.suppress(Exception), self.alone_with(name):
            self.measure(name).score([("fever", "cough")])

    def measure_under(self, name: str, policy: Policy, terminologies: Sequence[str] = ()) -> Any:
        """The measure with terminologies under a policy.

        Raises
        ------
        softirr.errors.InputError
            Also if a terminology can't be read.
        """
        from softirr.meaning.measures.known_pairs import with_terminology
        from softirr.meaning.policy.measure import under_policy

        opened = self._opened(terminologies)
        state, key = [terminology.sha256 for terminology in opened], (name, *terminologies)
        with self._lock:
            if key not in self._looking_up or self._looking_up[key][0] != state:
                measure = self.measure(name)
                self._looking_up[key] = state, with_terminology(measure, opened) if opened else measure
            return under_policy(self._looking_up[key][1], policy)

    def _opened(self, paths: Sequence[str]) -> list[Any]:
        """The terminologies as their files are now."""
        from softirr.meaning.terminology import opened_terminology

        return [opened_terminology(path) for path in paths]

    def judged_measure(self, settings: ProjectSettings, decisions: Decisions = ()) -> Any:
        """The project's measure under its policy, with its reviewers' decisions."""
        from softirr.meaning.measures import known_pairs

        measure = self.measure_under(settings.measure, settings.policy, settings.terminologies)
        verdicts: dict[tuple[str, str], bool] = {}  # by unordered pair of normalized texts; the latest one counts
        for row in sorted(decisions, key=lambda row: row["decided_at"]):
            a, b = sorted(normalize(row[name], casefold=settings.casefold) for name in ("text_a", "text_b"))
            if a != b:
                verdicts[a, b] = bool(row["same"])
        return measure.with_stage(known_pairs.Decisions(verdicts)) if verdicts else measure

    def provenance(self, name: str, policy: Policy = AS_WRITTEN, terminologies: Sequence[str] = ()) -> dict[str, Any]:
        """Name and model of a measure, the policy of the project if it has one, and its terminologies."""
        if name not in self._models:
            provenance = self.measure(name).provenance()
            self._models[name] = {key: getattr(provenance, key, None) for key in ("model", "model_sha256")}
        terms = [{"name": opened.name, "sha256": opened.sha256} for opened in self._opened(terminologies)]
        return {
            "measure": name,
            **self._models[name],
            **({} if policy.is_default else {"policy": policy.describe()}),
            **({"terminologies": terms} if terms else {}),
        }

    @contextlib.contextmanager
    def alone_with(self, measure: str, progress: Progress | None = None) -> Iterator[Progress | None]:
        """Hold the model's lock if the measure needs a model: a model serves one job at a time.

        Yields the `progress` to pass to long work, which then lets short work go first between two batches.
        """
        if not needs_model(measure):
            yield progress
            return
        with self._model.hold():
            try:
                yield self._model.yielding_progress(progress)
            finally:
                self._used_at = time.monotonic()

    def release(self, idle: float) -> bool:
        """Give the memory of models back that nobody has used for `idle` seconds; they are loaded again when needed.

        Returns
        -------
        bool
            Whether there was anything to give back.
        """
        with self._lock:
            if not self._measures or self._model.is_held or time.monotonic() - self._used_at < idle:
                return False
            self._measures.clear()
            self._looking_up.clear()
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        if trim is not None:  # the C library keeps freed memory otherwise
            trim(0)
        return True

    def cache(self, measure: str | None = None) -> Any:
        """The store of scored pairs, opened on first use; None for measures that are faster than a lookup."""
        if self._cache_url is None or (measure is not None and not needs_model(measure)):
            return None
        with self._lock:
            if self._cache is None:
                from softirr.meaning.measures.cache import open_cache

                self._cache = open_cache(self._cache_url)
            return self._cache

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None
