"""What every test has: no way to the network's model hubs, few threads, and the folder of shared data where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before any library reads them: tests must not depend on what a hub would answer, and run beside each other on few cores.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ROOT = Path(__file__).resolve().parent.parent


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
