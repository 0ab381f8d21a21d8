"""Simulated projects on a Ray cluster: the numbers of a local run, through lost workers and nodes."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lab.bench import coverage
from lab.bench.populations import populations
from softirr.errors import SoftirrError
from softirr.inference.ray_jobs import map_jobs
from tests.inference.nodes import eventually

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
            results = pool.submit(lambda: dict(map_jobs(waits, numbers())))
            eventually(lambda: all((tmp_path / ray_node.node_id).exists() for ray_node in nodes))
            assert not (tmp_path / "all taken").exists(), "jobs are taken as processors become free"
            cluster.remove_node(nodes[1], allow_graceful=False)
        finally:
            (tmp_path / "hold").unlink()
        assert results.result() == {job: job * job for job in range(10)}


def test_a_job_that_ends_every_worker_is_named_after_all_others_are_done(
    node: Callable[[], Any], tmp_path: Path
) -> None:
    node()

    def deadly(job: int) -> int:
        if job == 2:
            (tmp_path / str(len(list(tmp_path.iterdir())))).touch()
            os._exit(1)
        return job

    results = map_jobs(deadly, range(5), name=lambda job: f"population {job}")
    done = []
    with pytest.raises(SoftirrError, match=r"^population 2 ended 3 workers .* All other jobs are done\.$"):
        done.extend(results)  # keeps what came before the error
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


# --- simulated projects -----------------------------------------------------------------------------------------------


def test_coverage_is_the_same_with_a_lost_worker(
    node: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node(), node()

    def losing(function: Callable[[Any], Any], jobs: Iterable[Any], **options: Any) -> Iterator[Any]:
        return map_jobs(dies_once(function, tmp_path), jobs, **options)

    monkeypatch.setattr(coverage, "map_jobs", losing)
    population = populations()[0]
    local_coverage, ray_coverage = (
        coverage.cover(population, 30, "sample", 60, engine=engine) for engine in ("local", "ray")
    )
    assert local_coverage == ray_coverage
    assert local_coverage["cohen_kappa"].projects > 50
    assert (tmp_path / "died").exists()
