"""The JavaScript without a browser: its unit tests under Node.js."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def test_the_renderer_and_its_parts(root: Path) -> None:
    if not (root / "node_modules" / "jsdom").is_dir() or shutil.which("node") is None:
        assert not os.environ.get("CI"), "node_modules is missing: python3 .ci/environment.py javascript"
        pytest.skip("node_modules is missing: python3 .ci/environment.py javascript makes it, with Node.js 20 or newer")
    files = sorted((root / "tests" / "plugin" / "node").glob("*.test.js"))
    assert files
    run = subprocess.run(["node", "--test", *map(str, files)], cwd=root, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
