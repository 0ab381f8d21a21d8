"""Programs that a test runs to their end, and programs outside the packages as modules."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import softirr.cli.main


def run_program(
    *command: object,
    status: int | None = 0,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run a program and check its status, unless the expected status is None."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert status in (None, done.returncode), f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done


def run_python(code: str, *arguments: object, **options: object) -> str:
    """Output of Python code in a new process, without white space around it."""
    return run_program(sys.executable, "-c", code, *arguments, **options).stdout.strip()  # type: ignore[arg-type]


def run_here(main: Callable[[list[str]], int | None], *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and errors of a command that runs in this process."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(list(arguments))
    return status or 0, out.getvalue(), errors.getvalue()


def printed(*arguments: str) -> str:
    """Output of `softirr` with these arguments."""
    status, out, errors = run_here(softirr.cli.main.main, *arguments)
    assert status == 0, errors
    return out


def module_of(path: Path) -> ModuleType:
    """A program as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
