"""The folder in the layout of Label Studio's example backends is complete, and its tests pass with their command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FILES = {
    *("Dockerfile", ".dockerignore", "docker-compose.yml", "README.md", "_wsgi.py", "model.py", "test_api.py"),
    *("requirements.txt", "requirements-base.txt", "requirements-test.txt"),
}


@pytest.fixture
def example(root: Path) -> Path:
    return root / "ml_backend" / "label_studio_example"


def test_the_layout_is_theirs(example: Path) -> None:
    assert {path.name for path in example.iterdir()} - {"__pycache__"} == FILES
    front = re.match(r"<!--\n---\n(.*?)\n---\n-->\n", (example / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert front and {"title", "type", "tier", "meta_title", "meta_description", "categories"} <= set(
        yaml.safe_load(front[1])
    )


def test_its_variables_are_those_of_the_backend(example: Path, root: Path) -> None:
    service = yaml.safe_load((example / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["softirr"]
    documented = (root / "docs/reference/environment.md").read_text(encoding="utf-8")
    assert [name for name in service["environment"] if f"`{name}`" not in documented] == []
    assert service["build"]["args"] == {"TEST_ENV": "${TEST_ENV:-false}"}


@pytest.mark.slow
def test_its_tests_pass_with_their_command(example: Path, root: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(example, tmp_path / "softirr", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SOFTIRR_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b4 passed\b", done.stdout)
