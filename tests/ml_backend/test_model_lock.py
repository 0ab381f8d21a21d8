"""The lock of a model: long work lets short work go first, and only one thread uses the model at a time."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.model_lock import ModelLock
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import Scorer
from tests.meaning.measures.function_measures import FunctionMeasure


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


class StepByStep(FunctionMeasure):
    """A measure like a model's, with a pair in each request, that records which thread asked."""

    chunk = 1

    def __init__(self) -> None:
        super().__init__(lambda a, b: 0.5, "nli:step")
        self.threads: list[str] = []

    def directions(self, texts: Any, left_texts: Any, right_texts: Any) -> Any:
        self.threads.append(threading.current_thread().name)
        return super().directions(texts, left_texts, right_texts)


class TestScorer:
    def test_an_edit_is_scored_between_two_batches_of_the_coefficients(self) -> None:
        """With one process for all projects, a change must not wait until a model is through with a whole project."""
        scorer, measure = Scorer(), StepByStep()
        scorer._measures[measure.name] = measure
        prepared = AnswerPreparation(ProjectSettings(measure=measure.name))
        edits: list[threading.Thread] = []

        def edit() -> None:
            answers = {"1": ["another"], "2": ["yet another"]}
            details = scorer.task_details({7: {"findings": {"answers": answers, "excluded": []}}}, prepared)
            assert details[7]["agreement"] == 0.5

        def meanwhile(done: int, total: int) -> None:
            if done == 1 and not edits:
                edits.append(threading.Thread(target=edit, name="edit"))
                edits[0].start()
                waiting(scorer._model, 1)

        answers = [(n, {"findings": {"answers": {"1": [f"a {n}"], "2": [f"b {n}"]}, "excluded": []}}) for n in range(5)]
        scorer.summary(answers, "findings", prepared, progress=meanwhile)
        edits[0].join(60)
        assert measure.threads[1:3] == ["edit", threading.current_thread().name]
