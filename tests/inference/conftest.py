"""Models of every architecture, made once a session, and a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.inference.nodes import eventually
from tests.inference.tiny import ARCHITECTURES, make_model


@pytest.fixture(scope="session", params=ARCHITECTURES)
def any_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small classifier, one for each architecture."""
    return make_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="session")
def bert_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small BERT classifier."""
    return make_model(tmp_path_factory.mktemp("one-bert"), "bert")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without processors; tests add the nodes that they need."""
    import ray
    from ray.cluster_utils import Cluster

    settings = {
        "health_check_initial_delay_ms": 500,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 4,
        "worker_niceness": 0,  # with Ray's own 15, workers wait while other tests run
    }
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": settings},
    )
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def nodes(cluster: Any) -> Callable[[int], list[Any]]:
    """So many nodes of one idle processor: those that earlier tests left, and new ones."""
    import ray

    def exactly(number: int) -> list[Any]:
        while len(cluster.worker_nodes) > number:
            cluster.remove_node(next(iter(cluster.worker_nodes)))
        while len(cluster.worker_nodes) < number:
            cluster.add_node(num_cpus=1)
        eventually(lambda: ray.cluster_resources().get("CPU") == ray.available_resources().get("CPU") == number)
        return list(cluster.worker_nodes)

    return exactly
