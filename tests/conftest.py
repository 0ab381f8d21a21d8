"""Settings and fixtures of all tests: no model hubs, few threads, one browser, and shared data if available."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before any library reads them: tests must not depend on what a hub would answer, and with models this small threads
# only wait for each other.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("SOFTIRR_CACHE", "none")  # scores of models that only tests have
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# A busy machine is not a defect. The examples are the same in every run, so that a failure means a broken change; `make
# test-random` draws new ones.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("softirr", settings.get_profile("random"), derandomize=True)
settings.load_profile("softirr")

ROOT = Path(__file__).resolve().parent.parent

TOGETHER = {
    "browser": "browser",
    "plugin": "browser",
    "labelstudio": "Label Studio",
    "labelstudio/test_connect.py": "second Label Studio",
    "labelstudio/test_doctor.py": "second Label Studio",
    "labelstudio/test_faults.py": "second Label Studio",
    "labelstudio/test_killed.py": "second Label Studio",
    "labelstudio/test_live.py": "second Label Studio",
    "labelstudio/test_demo.py": "demo",
    "inference/test_ray.py": "Ray",
}
"""Folder or file -> name of the server, browser or cluster that its tests share."""


@pytest.hookimpl(optionalhook=True)  # there are runs without pytest-xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than processors with slow tests, which wait for servers and browsers most of their time."""
    return (os.cpu_count() or 1) + (config.option.markexpr != "not slow")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are numbered, not shown: compressed ones hold the time, and the processes' tests need the same names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one server in one process, because its start takes long, and mark the slow tests.

    The fast tests of one file run in one process too, which imports, opens and computes what they share only once.
    Those of a file outside the folders share little, and some take long: they are distributed one by one.

    Tests of the panel's files, which need no server, come before those of a browser with one: in a fresh clone, another
    process makes Label Studio's database in this time.
    """
    for item in items:
        path = item.path.relative_to(ROOT / "tests")
        folder = path.parts[0]
        if folder in ("labelstudio", "browser"):
            item.add_marker(pytest.mark.slow)
        group = TOGETHER.get(path.as_posix()) or TOGETHER.get(folder)
        if group is None and len(path.parts) > 1 and item.get_closest_marker("slow") is None:
            group = path.as_posix()
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: item.path.parent.name == "browser")


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Undo what a command in this process set up, in any test: its filter counts the warnings of later ones."""
    root = logging.getLogger()
    level = root.level
    _remove_thinned(root)
    yield
    _remove_thinned(root)
    root.setLevel(level)


def _remove_thinned(root: logging.Logger) -> None:
    for handler in list(root.handlers):
        if any(type(log_filter).__name__ == "Thinned" for log_filter in handler.filters):
            root.removeHandler(handler)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command in this process and gives what it prints, parsed with ``--json``; its sentence if it refuses."""
    from softirr.cli.main import main
    from tests.cli.refusals import sentence

    def run(*words: object, status: int = 0) -> Any:
        ended: Any
        try:
            ended = main([str(word) for word in words])
        except SystemExit as end:  # from argparse
            ended = end.code
        out, err = capsys.readouterr()
        assert ended == status, err
        if status == 2:
            assert out == ""
            return sentence(err)
        return json.loads(out) if "--json" in words else out

    return run


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Benchmark vocabularies and published values that are not part of this repository."""
    folder = Path(os.environ.get("SOFTIRR_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("set SOFTIRR_SHARED_DATA to the folder with the benchmark data to run this test")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of a process: Playwright can't be started twice in one."""
    from tests.browser.browsers import launched

    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where screenshots of the run are kept."""
    from tests.browser.browsers import picture_folder

    return picture_folder()
