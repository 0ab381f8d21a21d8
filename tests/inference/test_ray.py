"""A Ray cluster of several nodes (processes of this machine).

The same scores, through lost workers, lost nodes and a lost driver.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softirr.errors import InputError, SoftirrError
from softirr.inference import ray_engine
from softirr.inference.classifier import Outputs, PairClassifier
from softirr.inference.models import ClassifierOptions
from softirr.inference.ray_engine import RayEngine
from softirr.meaning.measures import measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import PairScorer
from tests.inference.nodes import eventually
from tests.inference.tiny import some_texts
from tests.programs import run_python

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed (softirr[ray])"),
]

TEXTS = some_texts(20, seed=8)
LEFT, RIGHT = (side.ravel() for side in np.mgrid[:20, :20])
OPTIONS = ClassifierOptions(device="cpu", precision="float32", threads=1, workers=1)
NLI: dict[str, Any] = {"device": "cpu", "precision": "float32", "threads": 1, "facts": False, "label_order": "c,n,e"}
SHARE = 50


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "_SHARE", SHARE)


def expected(model: Path) -> Any:
    return PairClassifier(model, OPTIONS).run(TEXTS, LEFT, RIGHT).logits


def waiting_worker(folder: Path) -> type:
    """A worker that reports its node, and waits there while the file ``hold`` exists."""

    class Waiting(ray_engine.Worker):  # inside a function, so that its code travels to the node
        def run(self, texts: Any, left_texts: Any, right_texts: Any) -> Outputs:
            import ray

            (folder / ray.get_runtime_context().get_node_id()).touch()
            while (folder / "hold").exists():
                time.sleep(0.05)
            return super().run(texts, left_texts, right_texts)

    (folder / "hold").touch()
    return Waiting


def deadly_worker(folder: Path) -> type:
    """A worker process that ends at a text that names a number of deaths, until that number is reached."""

    class Deadly(ray_engine.Worker):
        def run(self, texts: Any, left_texts: Any, right_texts: Any) -> Outputs:
            for text in texts:
                if text.startswith("deadly "):
                    deaths = len(list(folder.iterdir()))
                    if deaths < int(text.split()[1]):
                        (folder / str(deaths)).touch()
                        os._exit(1)
            return super().run(texts, left_texts, right_texts)

    return Deadly


def test_two_nodes_give_the_same(nodes: Callable[[int], list[Any]], bert_model: Path) -> None:
    nodes(2)
    pairs = [(TEXTS[i], TEXTS[j]) for i, j in zip(LEFT.tolist(), RIGHT.tolist(), strict=True)]
    local = measure(f"nli:{bert_model}", **NLI)
    on_ray: Any = measure(f"nli:{bert_model}", engine="ray", **NLI)
    try:
        assert np.allclose(on_ray.score(pairs), local.score(pairs), atol=1e-5)
        scorers = [PairScorer(engine_measure, TEXTS) for engine_measure in (local, on_ray)]
        local_directions, ray_directions = (scorer.directions(LEFT, RIGHT) for scorer in scorers)
        assert np.allclose(ray_directions, local_directions, atol=1e-5)
        assert scorers[0].pairs_scored == scorers[1].pairs_scored == 190
    finally:
        on_ray.close()


def test_a_node_that_is_lost_at_work_costs_nothing(
    cluster: Any, nodes: Callable[[int], list[Any]], bert_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = nodes(2)
    monkeypatch.setattr(ray_engine, "Worker", waiting_worker(tmp_path))
    engine = RayEngine(bert_model, replace(OPTIONS, workers=2))
    with ThreadPoolExecutor(1) as pool:
        try:
            outputs = pool.submit(engine.run, TEXTS, LEFT, RIGHT)
            eventually(lambda: all((tmp_path / ray_node.node_id).exists() for ray_node in (first, second)))
            cluster.remove_node(second, allow_graceful=False)
            (tmp_path / "hold").unlink()
            logits = outputs.result().logits
        finally:
            engine.close()
    assert np.allclose(logits, expected(bert_model), atol=1e-5)


def test_when_all_nodes_are_lost_the_job_waits_for_a_new_one(
    cluster: Any, nodes: Callable[[int], list[Any]], bert_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = nodes(1)
    monkeypatch.setattr(ray_engine, "Worker", waiting_worker(tmp_path))
    monkeypatch.setattr(ray_engine, "_PATIENCE", 120.0)
    engine = RayEngine(bert_model, OPTIONS)
    with ThreadPoolExecutor(1) as pool:
        try:
            outputs = pool.submit(engine.run, TEXTS, LEFT, RIGHT)
            eventually((tmp_path / first.node_id).exists)
            cluster.remove_node(first, allow_graceful=False)
            (tmp_path / "hold").unlink()
            cluster.add_node(num_cpus=1)
            logits = outputs.result().logits
        finally:
            engine.close()
    assert np.allclose(logits, expected(bert_model), atol=1e-5)


def test_a_share_that_ends_a_worker_once_or_twice_is_tried_again(
    nodes: Callable[[int], list[Any]], bert_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes(1)
    monkeypatch.setattr(ray_engine, "Worker", deadly_worker(tmp_path))
    engine = RayEngine(bert_model, OPTIONS)
    texts = ["deadly 2 ", *TEXTS]
    try:
        outputs = engine.run(texts, np.arange(21), np.arange(21)[::-1])
    finally:
        engine.close()
    assert len(list(tmp_path.iterdir())) == 2
    local = PairClassifier(bert_model, OPTIONS).run(texts, np.arange(21), np.arange(21)[::-1])
    assert np.allclose(outputs.logits, local.logits, atol=1e-5)


def test_share_that_ends_every_worker_is_named_and_earlier_chunks_are_kept(
    nodes: Callable[[int], list[Any]], bert_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes(1)
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    monkeypatch.setattr(ray_engine, "Worker", deadly_worker(deaths))
    on_ray: Any = measure(f"nli:{bert_model}", engine="ray", workers=1, **NLI)
    # One pair of the texts below is in the share that is dealt out last: pairs of short texts come last.
    texts = [*(text + " of the acute and chronic renal failure" for text in TEXTS), "deadly 99", "x"]
    left_texts, right_texts = np.triu_indices(len(TEXTS), 1)
    left_texts, right_texts = np.append(left_texts, 20), np.append(right_texts, 21)
    try:
        with PairCache(tmp_path / "pairs.sqlite") as cache:
            scorer = PairScorer(on_ray, texts, cache=cache)
            with pytest.raises(SoftirrError, match=rf"^{191 * 2 % SHARE} comparisons .* ended 3 workers") as raised:
                scorer.score(left_texts, right_texts)
            assert "deadly" not in str(raised.value), "no text in a message"
            assert len(list(deaths.iterdir())) == 3
            # The first chunk, of four shares in two directions.
            assert scorer.pairs_scored == 2 * SHARE
            second_scorer = PairScorer(measure(f"nli:{bert_model}", **NLI), texts, cache=cache)
            second_scorer.score(left_texts, right_texts)
            assert second_scorer.pairs_scored == 191 - scorer.pairs_scored
    finally:
        on_ray.close()


def test_model_that_no_worker_finds_is_refused(nodes: Callable[[int], list[Any]], tmp_path: Path) -> None:
    nodes(1)
    with pytest.raises(InputError, match=r"could not load the model in .* on every machine of the cluster"):
        RayEngine(tmp_path, OPTIONS)


DRIVER = """
import os, signal, sys
import numpy as np
from softirr.inference import ray_engine
from softirr.meaning.measures import measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import PairScorer

ray_engine._SHARE = 50
model, cache, dies, *texts = sys.argv[1:]
def progress(done, total):
    if dies == "dies" and done:
        os.kill(os.getpid(), signal.SIGKILL)
options = {"engine": "ray", "workers": 1, "device": "cpu", "precision": "float32", "threads": 1}
made = measure("nli:" + model, **options, facts=False, label_order="c,n,e")
scorer = PairScorer(made, texts, cache=PairCache(cache), progress=progress)
scores = scorer.score(*np.triu_indices(len(texts), 1))
print(scorer.pairs_scored, *scores)
made.close()
"""


def test_a_driver_that_dies_resumes_where_it_was(
    cluster: Any, nodes: Callable[[int], list[Any]], bert_model: Path, tmp_path: Path
) -> None:
    nodes(1)

    def drive(ending: str, status: int = 0) -> list[str]:
        arguments = (bert_model, tmp_path / "pairs.sqlite", ending, *TEXTS)
        return run_python(
            DRIVER, *arguments, environment={**os.environ, "RAY_ADDRESS": cluster.address}, status=status
        ).split()

    drive("dies", -signal.SIGKILL)
    scored, *scores = drive("lives")
    assert int(scored) == 190 - 2 * SHARE, "the chunk of four shares that was scored before the driver died was kept"
    local = PairScorer(measure(f"nli:{bert_model}", **NLI), TEXTS).score(*np.triu_indices(20, 1))
    assert np.allclose(np.array(scores, dtype=float), local, atol=1e-5)
