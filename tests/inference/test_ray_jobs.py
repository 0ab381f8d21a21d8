"""Whole populations, tables and simulated projects on a Ray cluster: the numbers of a local run, through lost workers, nodes and drivers."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from softirr.cli import experiment
from softirr.errors import SoftirrError
from softirr.inference.ray_jobs import map_jobs
from softirr.lab.bench import coverage
from softirr.lab.bench.populations import populations
from softirr.lab.experiments import on_ray
from softirr.lab.experiments.pools import pack
from softirr.lab.experiments.store import RunStore
from tests.inference.nodes import eventually
from tests.lab.experiments.conftest import write_terminology

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed (softirr[ray])"),
]


def dies_once(function: Callable[[Any], Any], folder: Path) -> Callable[[Any], Any]:
    """The function, in workers of which the first one ends."""

    def dying(job: Any) -> Any:  # inside a function, so that its code travels to the node
        if not (folder / "died").exists():
            (folder / "died").touch()
            os._exit(1)
        return function(job)

    return dying


# --- jobs -------------------------------------------------------------------------------------------------------------


def test_jobs_of_a_lost_node_are_done_on_another_one(cluster: Any, node: Callable[[], Any], tmp_path: Path) -> None:
    nodes = [node(), node()]

    def waits(job: int) -> int:
        import ray

        (tmp_path / ray.get_runtime_context().get_node_id()).touch()
        while (tmp_path / "hold").exists():
            time.sleep(0.05)
        return job * job

    def numbers() -> Iterator[int]:
        yield from range(4)  # what two processors take at first
        (tmp_path / "all taken").touch()
        yield from range(4, 10)

    (tmp_path / "hold").touch()
    with ThreadPoolExecutor(1) as pool:
        try:
            found = pool.submit(lambda: dict(map_jobs(waits, numbers())))
            eventually(lambda: all((tmp_path / each.node_id).exists() for each in nodes))
            assert not (tmp_path / "all taken").exists(), "jobs are taken as processors become free"
            cluster.remove_node(nodes[1], allow_graceful=False)
        finally:
            (tmp_path / "hold").unlink()
        assert found.result() == {job: job * job for job in range(10)}


def test_a_job_that_ends_every_worker_is_named_after_all_others_are_done(
    node: Callable[[], Any], tmp_path: Path
) -> None:
    node()

    def deadly(job: int) -> int:
        if job == 2:
            (tmp_path / str(len(list(tmp_path.iterdir())))).touch()
            os._exit(1)
        return job

    found = map_jobs(deadly, range(5), name=lambda job: f"population {job}")
    done = []
    with pytest.raises(SoftirrError, match=r"^population 2 ended 3 workers .* All other jobs are done\.$"):
        done.extend(found)  # keeps what came before the error
    assert sorted(done) == [(job, job) for job in (0, 1, 3, 4)]
    assert len(list(tmp_path.iterdir())) == 3


def test_an_error_in_a_job_names_the_job_and_no_text(node: Callable[[], Any]) -> None:
    node()

    def fails(job: int) -> int:
        raise ValueError("chest pain")

    with pytest.raises(SoftirrError, match=r"^population 7 failed on the Ray cluster: ValueError\.$"):
        list(map_jobs(fails, [7], name=lambda job: f"population {job}"))

    def refuses(job: int) -> int:
        raise SoftirrError("The measure cannot be used.")

    with pytest.raises(SoftirrError, match=r"^The measure cannot be used\.$"):
        list(map_jobs(refuses, [7]))


# --- experiments ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A small experiment: twelve populations."""
    folder = write_terminology(tmp_path_factory.mktemp("terminology") / "made_up")
    return [
        *("synthetic", "--terminology", str(folder), "--measure", "exact", "--measure", "Indel=indel"),
        *("--setting", "hard", "--setting", "sets", "--negatives", "random", "--negatives", "sibling"),
        *("--populations", "3", "--size", "20", "--figures", "none"),
    ]


@pytest.fixture(scope="module")
def local(synthetic: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the experiment comes to without Ray."""
    folder = tmp_path_factory.mktemp("local")
    assert experiment.main([*synthetic, "--output", str(folder)]) == 0
    return content(folder)


def content(folder: Path) -> dict[str, Any]:
    """All that a run's store holds, but times."""
    with RunStore(folder) as store:
        records = store.records()
        assert records
        return {
            "scores": [
                (r.population, r.measure, r.label, r.chance, r.estimates, r.pairs, r.texts, r.prompts) for r in records
            ],
            "pools": [pack(*store.pools(r)) for r in records],
            "items": [
                {name: list(found) for name, found in store.items(r.population.digest, r.measure, r.chance).items()}
                for r in records
            ],
        }


def test_populations_are_the_same_with_a_lost_worker(
    node: Callable[[], Any],
    synthetic: list[str],
    local: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node(), node()
    run, marks = tmp_path / "run", tmp_path / "marks"
    marks.mkdir()

    def losing(function: Callable[[Any], Any], jobs: Iterable[Any], **options: Any) -> Iterator[Any]:
        return map_jobs(dies_once(function, marks), jobs, **options)

    monkeypatch.setattr(on_ray, "map_jobs", losing)
    # none of it may be computed here
    monkeypatch.setattr("softirr.lab.experiments.synthetic.score_population", None)
    assert experiment.main([*synthetic, "--output", str(run), "--engine", "ray"]) == 0
    assert (marks / "died").exists()
    assert content(run) == local


DRIVER = """
import os, signal, sys
from softirr.cli import experiment
from softirr.lab.experiments.store import RunStore

dies, *arguments = sys.argv[1:]
put, count = RunStore.put, []
def counted(*given, **named):
    put(*given, **named)
    count.append(1)
    if dies == "dies" and len(count) == 5:  # the first of two scores of the third population
        os.kill(os.getpid(), signal.SIGKILL)
RunStore.put = counted
status = experiment.main(arguments)
print("scored", len(count))
sys.exit(status)
"""


def test_a_driver_that_dies_resumes_by_its_store(
    cluster: Any, node: Callable[[], Any], synthetic: list[str], local: dict[str, Any], tmp_path: Path
) -> None:
    node()

    def drive(how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", DRIVER, how, *synthetic, "--output", str(tmp_path), "--engine", "ray"],
            env={**os.environ, "RAY_ADDRESS": cluster.address},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    assert drive("dies").returncode == -signal.SIGKILL
    done = drive("lives")
    assert done.returncode == 0, done.stderr
    assert f"scored {2 * 12 - 5}" in done.stdout, "what was in the store was not scored again"
    assert content(tmp_path) == local


def test_annotated_tables_are_the_same(node: Callable[[], Any], tmp_path: Path) -> None:
    node()
    words = {"A": ("high blood pressure", "hypertension"), "B": ("fever", "high fever"), "C": ("cough", "dry cough")}
    rows = ["item,rater,text,codes"]
    for i in range(30):
        a, b = "ABC"[i % 3], "ABC"[(i if i % 5 else i + 1) % 3]
        rows += [f"{i},ann,{words[a][0]},{a}", f"{i},ben,{words[b][1]},{b}"]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = []
    for engine in ("local", "ray"):
        folder = tmp_path / engine
        arguments = ["real", "--table", str(path), "--measure", "exact", "--measure", "indel", "--figures", "none"]
        assert experiment.main([*arguments, "--output", str(folder), "--engine", engine]) == 0
        found.append(content(folder))
    assert found[0] == found[1]
    assert len(found[0]["scores"]) == 2


def test_a_measure_with_a_model_follows_the_others(
    node: Callable[[], Any], synthetic: list[str], bert_model: Path, tmp_path: Path
) -> None:
    """Its workers take every processor, so that jobs after it would wait for ever."""
    node()
    small = list(synthetic)
    small[small.index("--populations") + 1] = "1"
    options = [
        "--measure",
        f"Model=nli:{bert_model}?labels=c,n,e",
        "--device",
        "cpu",
        "--precision",
        "float32",
        "--cache",
        "none",
    ]
    assert experiment.main([*small, *options, "--output", str(tmp_path), "--engine", "ray"]) == 0
    with RunStore(tmp_path) as store:
        labels = [record.label for record in store.records()]
    assert sorted(set(labels)) == ["Indel", "Model", "exact"]
    assert len(labels) == 3 * 4


# --- simulated projects -----------------------------------------------------------------------------------------------


def test_coverage_is_the_same_with_a_lost_worker(
    node: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node(), node()

    def losing(function: Callable[[Any], Any], jobs: Iterable[Any], **options: Any) -> Iterator[Any]:
        return map_jobs(dies_once(function, tmp_path), jobs, **options)

    monkeypatch.setattr(coverage, "map_jobs", losing)
    population = populations()[0]
    here, there = (
        coverage.cover(population, 30, "stratified", 60, interval="bootstrap", engine=engine)
        for engine in ("local", "ray")
    )
    assert here == there
    assert here["cohen_kappa"].projects > 50
    assert (tmp_path / "died").exists()
