"""An idle scorer process gives the memory of its models back, and needs no model to see that nothing changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import softirr
from ml_backend import worker
from ml_backend.scoring.scorer import Scorer
from ml_backend.sync.job_queue import make_queue
from ml_backend.sync.jobs import Runner, Wakeups
from tests.ml_backend.bench import Bench, Looks
from tests.ml_backend.fake_label_studio import NUMBER, URL


@pytest.mark.parametrize("given", [None, "7"])
def test_the_scorer_process_keeps_few_kernels_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    name, value = worker.KERNELS_KEPT
    monkeypatch.setenv(name, given or "")
    if given is None:
        monkeypatch.delenv(name)

    def stop_here() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker.Settings, "from_environment", stop_here)
    with pytest.raises(KeyboardInterrupt):
        worker.main()
    assert os.environ[name] == (given or value)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the measures that were loaded."""
    loaded: list[str] = []
    original = softirr.measure

    def measure(name: str) -> object:
        loaded.append(name)
        return original("indel")

    monkeypatch.setattr(softirr, "measure", measure)
    return loaded


def test_models_are_released_when_idle_and_loaded_again(loads: list[str]) -> None:
    scorer = Scorer()
    with scorer.alone_with("nli"):
        known = scorer.provenance("nli")
        assert not scorer.release(0.0), "in use"
    assert not scorer.release(60.0), "used a moment ago"
    assert scorer.release(0.0)
    assert not scorer.release(0.0), "nothing left"
    assert scorer.provenance("nli") == known and loads == ["nli"]
    scorer.measure("nli")
    assert loads == ["nli", "nli"]


def test_a_check_of_an_unchanged_project_loads_no_model(tmp_path: Path, loads: list[str]) -> None:
    bench = Bench(tmp_path, measure="nli")
    bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
    bench.sync()
    assert bench.scorer.release(0.0)
    loads.clear()
    bench.sync()
    assert loads == []
    bench.fake.add_task({1: ["cough"], 2: ["coughs"]})
    bench.sync()
    assert loads == ["nli"]


def test_a_new_report_is_prepared_for_once_while_nothing_is_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[int] = []
    monkeypatch.setattr(worker.policies, "prepare", lambda work: prepared.append(work.project["id"]))
    bench = Bench(tmp_path)
    project = bench.store.ensure_project(URL, NUMBER, born=bench.fake.project["created_at"])["id"]
    runner = Runner(bench.store, bench.settings, bench.scorer, bench.client)
    wakeups = Wakeups(bench.store, make_queue(bench.settings))

    def ticks(number: int, **values: object) -> list[int]:
        bench.store.update_project(project, connection={"mode": "connected"}, checked_at=time.time(), **values)
        worker._tick(wakeups, runner, bench.settings, Looks(number))
        return prepared

    assert ticks(1, summary_at=time.time() + 60, wanted_at=time.time()) == [], "there is work"
    assert ticks(3, wanted_at=None) == [project]
    assert ticks(1, summary_at=time.time() - 60) == [project], "nothing new since the process started"


@pytest.mark.parametrize(("pause", "more"), [(300.0, False), (0.0, True)])
def test_a_project_in_which_people_annotate_is_not_prepared_for_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float, more: bool
) -> None:
    bench = Bench(tmp_path)
    project = bench.store.ensure_project(URL, NUMBER, born=bench.fake.project["created_at"])["id"]
    reports: list[float] = []

    def report() -> None:
        reports.append(time.time() + 60 * (len(reports) + 1))
        values = {"connection": {"mode": "connected"}, "checked_at": time.time(), "summary_at": reports[-1]}
        bench.store.update_project(project, **values)

    class Unhurried(Looks):
        """What runs beside the timer gets on."""

        def wait(self, timeout: float | None = None) -> bool:
            time.sleep(0.02)
            return super().wait(timeout)

    monkeypatch.setattr(worker, "PREPARED_EVERY", pause)
    monkeypatch.setattr(worker.policies, "prepare", lambda *_, **__: report())
    runner = Runner(bench.store, bench.settings, bench.scorer, bench.client)
    report()
    worker._tick(Wakeups(bench.store, make_queue(bench.settings)), runner, bench.settings, Unhurried(30))
    assert (len(reports) > 2) == more
