"""The GitHub Action: its last step, run as GitHub runs it, passes or fails by the value and shows no annotated text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

CSV = "item,rater,text\n1,ann,fever\n1,ben,fever\n2,ann,rash\n2,ben,cough\n3,ann,nausea\n3,ben,nausea\n"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.fixture
def action(root: Path) -> Path:
    return root / ".github" / "actions" / "agreement"


def run_step(action: Path, root: Path, folder: Path, **inputs: str) -> tuple[int, str, dict[str, str], str]:
    """Exit status, everything printed, outputs and summary of the step."""
    *_, step = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    names = {
        variable: expression.removeprefix("${{ inputs.").removesuffix(" }}")
        for variable, expression in step["env"].items()
    }
    defaults = {"measure": "exact", "options": ""}
    (folder / "bin").mkdir()
    program = folder / "bin" / "softirr"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m softirr "$@"\n')
    program.chmod(0o755)
    (folder / "bin" / "python").symlink_to(sys.executable)
    environment = os.environ | {variable: (defaults | inputs)[name] for variable, name in names.items()}
    environment |= {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "RUNNER_TEMP": str(folder),
        "GITHUB_ACTION_PATH": str(action),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    texts = {name: (folder / name).read_text() if (folder / name).exists() else "" for name in ("output", "summary")}
    outputs = dict(line.split("=", 1) for line in texts["output"].splitlines())
    return done.returncode, done.stdout, outputs, texts["summary"]


@pytest.mark.parametrize(("minimum", "status"), [("0.1", 0), ("0.9", 1)])
def test_the_value_decides(action: Path, root: Path, tmp_path: Path, minimum: str, status: int) -> None:
    (tmp_path / "answers.csv").write_text(CSV)
    done, printed, outputs, summary = run_step(action, root, tmp_path, file="answers.csv", **{"fail-below": minimum})
    assert done == status, printed
    assert 0.1 < float(outputs["value"]) < 0.9
    assert Path(outputs["report"]).exists()
    assert "| krippendorff_alpha | 0." in summary
    assert ("--fail-below requires 0.9" in printed) == (status == 1)
    assert not any(text in printed + summary for text in ("fever", "rash", "cough", "nausea"))


def test_unusable_file_has_its_own_status(action: Path, root: Path, tmp_path: Path) -> None:
    done, printed, outputs, _ = run_step(action, root, tmp_path, file="nothing.csv", **{"fail-below": "0.5"})
    assert done == 2 and outputs == {}
    assert "nothing.csv" in printed


def test_no_input_is_run_as_a_command(action: Path, root: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(CSV)
    run_step(
        action,
        root,
        tmp_path,
        file="$(touch attacked)",
        options="; touch attacked",
        **{"fail-below": "`touch attacked`"},
    )
    assert not (tmp_path / "attacked").exists()
    steps = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    assert not any("${{" in step.get("run", "") for step in steps)
