"""The same scores wherever the classifier runs: in this process, in worker processes, on a Ray cluster."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from softirr.errors import InputError, SoftirrError
from softirr.inference import sharded_engine
from softirr.inference.classifier import PairClassifier
from softirr.inference.classifier_options import ClassifierOptions
from softirr.inference.engines import ProcessEngine, open_engine
from tests.inference.tiny import some_texts

TEXTS = some_texts(30, seed=8)
LEFT, RIGHT = (side.ravel() for side in np.mgrid[:30, :30])
OPTIONS = ClassifierOptions(device="cpu", precision="float32", threads=1)


@pytest.fixture(scope="module")
def two_processes(bert_model: Path) -> Iterator[ProcessEngine]:
    engine = ProcessEngine(bert_model, [OPTIONS, OPTIONS])
    yield engine
    engine.close()


@pytest.mark.slow
def test_processes_share_a_job_and_give_the_same(
    two_processes: ProcessEngine, bert_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharded_engine, "_SHARE", 70)  # many shares from few pairs
    local = PairClassifier(bert_model, OPTIONS)
    outputs = two_processes.run(TEXTS, LEFT, RIGHT)
    assert np.allclose(outputs.logits, local.run(TEXTS, LEFT, RIGHT).logits, atol=1e-5)
    assert not outputs.truncated.any()
    assert (two_processes.n_labels, two_processes.precision, two_processes.device_name) == (3, "float32", "cpu")
    assert two_processes.max_length == local.max_length


@pytest.mark.slow
def test_killed_worker_raises_an_error(bert_model: Path) -> None:
    engine = ProcessEngine(bert_model, [OPTIONS])
    try:
        for process in engine._pools[0]._processes.values():
            os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(SoftirrError, match="A worker process ended"):
            engine.run(TEXTS, LEFT, RIGHT)
    finally:
        engine.close()


@pytest.mark.slow
def test_model_that_workers_cannot_load_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"has no config\.json of a model"):
        ProcessEngine(tmp_path, [OPTIONS])
    assert capfd.readouterr() == ("", "")


def test_engines_by_name(bert_model: Path) -> None:
    with pytest.raises(InputError, match="There is no engine 'steam'; use local or ray"):
        open_engine(bert_model, OPTIONS, engine="steam", workers=None)
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(InputError, match=r"install softirr\[ray\]"):
            open_engine(bert_model, OPTIONS, engine="ray", workers=2)
