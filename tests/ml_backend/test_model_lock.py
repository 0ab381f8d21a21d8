"""The lock of a model: long work lets short work go first, and only one thread uses the model at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ml_backend.scoring.model_lock import ModelLock
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from softirr.provenance import Provenance


class WatchedLock:
    """A model lock that records which thread used the model."""

    def __init__(self) -> None:
        self.lock = ModelLock()
        self.users: set[str] = set()
        self.overlaps: list[set[str]] = []
        self.order: list[str] = []

    def at_the_model(self, who: str) -> None:
        """Use the model for a moment, in which a thread without the lock would meet another one."""
        self.users.add(who)
        time.sleep(0.001)
        if self.users != {who}:
            self.overlaps.append(set(self.users))
        self.order.append(who)
        self.users.discard(who)


def waiting(lock: ModelLock, n: int) -> None:
    """Wait until `n` threads wait for the lock."""
    with lock._changed:
        assert lock._changed.wait_for(lambda: lock._waiting == n, timeout=60)


class TestModelLock:
    def test_short_work_goes_between_two_batches_of_long_work(self) -> None:
        watched = WatchedLock()

        def short(name: str) -> None:
            with watched.lock.hold():
                watched.at_the_model(name)

        with watched.lock.hold():
            progress = watched.lock.yielding_progress(None)
            watched.at_the_model("long")
            progress(1, 3)  # nobody waits: goes on at once
            watched.at_the_model("long")
            threads = [threading.Thread(target=short, args=("short",)) for _ in range(3)]
            for thread in threads:
                thread.start()
            waiting(watched.lock, 3)
            progress(2, 3)
            watched.at_the_model("long")
        for thread in threads:
            thread.join(60)
        assert watched.order == ["long", "long", "short", "short", "short", "long"]

    def test_progress_is_passed_on(self) -> None:
        lock, calls = ModelLock(), []
        with lock.hold():
            lock.yielding_progress(lambda done, total: calls.append((done, total)))(2, 5)
        assert calls == [(2, 5)]

    def test_two_long_works_never_meet(self) -> None:
        watched = WatchedLock()

        def long(name: str) -> None:
            with watched.lock.hold():
                for _ in range(30):
                    watched.at_the_model(name)
                    watched.lock.yield_to_waiting()

        threads = [threading.Thread(target=long, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(watched.order) == sorted("abc" * 30)
        assert watched.overlaps == []

    def test_a_failure_releases_the_lock(self) -> None:
        lock = ModelLock()
        with pytest.raises(ZeroDivisionError), lock.hold():
            raise ZeroDivisionError
        with lock.hold():
            pass


class StepByStep:
    """A measure like a model's: it tells its progress after every pair, and who asked for it."""

    name = cache_key = "nli:step"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        return self.entail_checked(pairs)[0][:, 0]

    def provenance(self) -> Provenance:
        return Provenance(self.name)

    def entail_checked(
        self, pairs: Sequence[tuple[str, str]], *, progress: Callable[[int, int], None] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        for done in range(len(pairs)):
            self.asked.append(threading.current_thread().name)
            if progress is not None:
                progress(done + 1, len(pairs))
        return np.full((len(pairs), 2), 0.5), np.ones(len(pairs), dtype=bool)


class TestScorer:
    def test_an_edit_is_scored_between_two_batches_of_the_coefficients(self) -> None:
        """With one process for all projects, a change must not wait until a model is through with a whole project."""
        scorer, measure = Scorer(), StepByStep()
        scorer._measures[measure.name] = measure
        settings = ProjectSettings(measure=measure.name)
        edits: list[threading.Thread] = []

        def edit() -> None:
            answers = {"1": ["another"], "2": ["yet another"]}
            details = scorer.task_details({7: {"findings": {"answers": answers}}}, settings)
            assert details[7]["agreement"] == 0.5

        def meanwhile(done: int, total: int) -> None:
            if done == 1 and not edits:
                edits.append(threading.Thread(target=edit, name="edit"))
                edits[0].start()
                waiting(scorer._model, 1)

        answers = [(n, {"findings": {"answers": {"1": [f"a {n}"], "2": [f"b {n}"]}, "excluded": []}}) for n in range(5)]
        scorer.summary(answers, "findings", settings, progress=meanwhile)
        edits[0].join(60)
        assert measure.asked[1:3] == ["edit", threading.current_thread().name]
