"""An idle worker process gives the memory of its models back, and needs no model to see that nothing changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import softirr
from ml_backend.scoring.scorer import Scorer
from ml_backend.worker import __main__ as process
from tests.ml_backend.bench import Bench


@pytest.mark.parametrize("preset", [None, "7"])
def test_worker_process_keeps_few_kernels_by_default(monkeypatch: pytest.MonkeyPatch, preset: str | None) -> None:
    name, value = process.FEWER_KERNELS
    monkeypatch.setenv(name, preset or "")
    if preset is None:
        monkeypatch.delenv(name)

    def stop_here() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(process.Settings, "from_environment", stop_here)
    with pytest.raises(KeyboardInterrupt):
        process.main()
    assert os.environ[name] == (preset or value)


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
        known_provenance = scorer.provenance("nli")
        assert not scorer.release(0.0), "in use"
    assert not scorer.release(60.0), "used a moment ago"
    assert scorer.release(0.0)
    assert not scorer.release(0.0), "nothing left"
    assert scorer.provenance("nli") == known_provenance and loads == ["nli"]
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


@pytest.mark.parametrize(
    ("measure", "loaded"), [(None, ["nli"]), ("nli", ["nli"]), ("indel", []), ("judge:served", [])]
)
def test_only_a_local_model_is_loaded_ahead(loads: list[str], measure: str | None, loaded: list[str]) -> None:
    scorer = Scorer()
    scorer.warm_up(measure)
    assert loads == loaded
    assert scorer.release(0.0) == bool(loaded)


def test_loading_ahead_ignores_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softirr, "measure", lambda name: 1 / 0)
    Scorer().warm_up("nli")
