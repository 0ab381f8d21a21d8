#!/usr/bin/env python3
"""Make the virtual environments that the Makefile's targets need, and report missing programs.

    environment.py run           .venv with the package and its dependencies
    environment.py dev           the same, with the tools for tests and lint
    environment.py labelstudio   .venv-labelstudio with Label Studio, which pins many old versions and so lives alone
    environment.py javascript    node_modules with the tools for the JavaScript (needs Node.js with npm)
    environment.py system        programs that some tests need (Chromium, PostgreSQL); installs them if it may

Standard library only and readable by old Pythons, because it has to run before anything is installed. A stamp file in
each environment records its inputs, so that a second run takes no time.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment_programs import javascript, system
from environment_venv import ROOT, Missing, digest, install_torch, is_fresh, make_venv, pip, say

CI = Path(__file__).resolve().parent
LABEL_STUDIO = "label-studio==1.23.2"
# Peers with pins that would keep other packages old; their code runs with the versions in constraints.txt.
WITHOUT_DEPENDENCIES = ("irrCAC==0.4.4",)


def package(dev):
    """.venv with the package in editable form."""
    folder = ROOT / ".venv"
    stamp = folder / (".made-dev" if dev else ".made-run")
    key = digest(str(folder), ROOT / "pyproject.toml", ROOT / "constraints.txt", *sorted(CI.glob("environment*.py")))
    if is_fresh(stamp, key) or (not dev and is_fresh(folder / ".made-dev", key)):
        return
    start = time.monotonic()
    say("Setting up .venv: the first time takes some minutes, then it is kept.")
    make_venv(folder)
    pip(folder, "--upgrade", "-c", "constraints.txt", "pip")
    install_torch(folder)
    say("  softirr and its dependencies" + (", with the tools for tests and lint" if dev else ""))
    pip(folder, "-c", "constraints.txt", "-e", ".[dev]" if dev else ".[labelstudio]")
    if dev:
        pip(folder, "--no-deps", *WITHOUT_DEPENDENCIES)
    stamp.write_text(key)
    say("  .venv is ready (%d s)" % (time.monotonic() - start))


def label_studio():
    """.venv-labelstudio, unless SOFTIRR_LABEL_STUDIO names an installed Label Studio."""
    program = os.environ.get("SOFTIRR_LABEL_STUDIO")
    if program:
        if not os.access(program, os.X_OK):
            raise Missing("SOFTIRR_LABEL_STUDIO names %s, which is no program that can be run." % program)
        return
    folder = ROOT / ".venv-labelstudio"
    stamp = folder / ".made"
    pins = CI / "labelstudio-constraints.txt"
    key = digest(str(folder), LABEL_STUDIO, pins)
    if is_fresh(stamp, key):
        return
    start = time.monotonic()
    say("Setting up .venv-labelstudio with Label Studio 1.23.2: the first time takes some minutes, then it is kept.")
    make_venv(folder)
    pip(folder, "-c", str(pins), LABEL_STUDIO)
    stamp.write_text(key)
    say("  .venv-labelstudio is ready (%d s)" % (time.monotonic() - start))


PARTS = {
    "run": lambda: package(False),
    "dev": lambda: package(True),
    "labelstudio": label_studio,
    "javascript": javascript,
    "system": system,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("parts", nargs="+", choices=tuple(PARTS))
    names = parser.parse_args().parts
    try:
        with ThreadPoolExecutor(len(names)) as threads:  # each waits for a package manager and the network
            results = [threads.submit(PARTS[name]) for name in names]
        problems = [result.exception() for result in results if result.exception() is not None]
    except KeyboardInterrupt:
        sys.stderr.write("Stopped; run it again to continue.\n")
        return 130
    for problem in problems:
        if not isinstance(problem, Missing):
            raise problem
        sys.stderr.write("%s\n" % problem)
    return 2 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
