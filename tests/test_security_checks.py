"""The look-up of vulnerabilities lists packages that it missed, and the workflows run the documented commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.programs import run_program

SOUND = {"name": "numpy", "version": "2.2.6", "vulns": []}
BAD = {"name": "flask", "version": "3.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1"]}]}
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("reply", "in_ci", "status", "sentence"),
    [
        (json.dumps({"dependencies": [SOUND]}), False, 0, "1 packages looked up, 0 known vulnerabilities."),
        (
            json.dumps({"dependencies": [SOUND, UNKNOWN]}),
            False,
            0,
            "Not looked up, since the index does not know them: torch.",
        ),
        (json.dumps({"dependencies": [SOUND, BAD]}), False, 1, "flask 3.0: PYSEC-1, fixed in 3.1"),
        (json.dumps({"dependencies": [UNKNOWN]}), False, 0, "Not checked: the advisories of pypi.org can't be reached"),
        ("", False, 0, "Not checked: the advisories of pypi.org can't be reached from here (no route to host)."),
        ("", True, 2, "Not checked"),
    ],
)
def test_vulnerabilities_are_reported(
    root: Path, tmp_path: Path, reply: str, in_ci: bool, status: int, sentence: str
) -> None:
    (tmp_path / "pip_audit.py").write_text(
        f"import sys\nprint({reply!r})\nprint('no route to host', file=sys.stderr)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"PYTHONPATH": str(tmp_path), **({"CI": "true"} if in_ci else {})}
    done = run_program(sys.executable, root / ".ci" / "audit.py", environment=environment, status=status)
    assert sentence in done.stdout


def steps(root: Path, name: str) -> str:
    """All commands of a workflow."""
    workflow: dict[str, Any] = yaml.safe_load((root / ".github" / "workflows" / name).read_text())
    assert workflow["permissions"] == {"contents": "read"}, "a job gets more only where it says so"
    return "\n".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])


def test_ci_runs_the_required_checks(root: Path) -> None:
    assert ".ci/run" in steps(root, "ci.yml").splitlines()


def test_a_release_has_its_parts_and_checksums(root: Path) -> None:
    commands = steps(root, "release.yml")
    for command in ("make audit", "python -m build", "softirr-sbom.cdx.json", "SHA256SUMS", "gh release create"):
        assert command in commands
