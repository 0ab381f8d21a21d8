#!/usr/bin/env python3
"""Make the virtual environments that the Makefile's targets need, and say in words what is missing.

    environment.py run           .venv with the package and what it needs to run
    environment.py dev           the same, with what tests and lint need
    environment.py labelstudio   .venv-labelstudio with Label Studio, which pins many old versions and so lives alone
    environment.py javascript    node_modules with what checks and tests the JavaScript (needs Node.js with npm)
    environment.py system        programs that some tests need (Chromium, PostgreSQL); installs them where it may

Standard library only and readable by old Pythons, because it has to run before anything is installed. A stamp file in
each environment remembers what it was made from, so that a second run takes no time.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ((3, 11), (3, 12), (3, 13))
TORCH = "torch==2.13.0"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
LABEL_STUDIO = "label-studio==1.23.2"
NODE = 20  # the oldest that eslint, jsdom and the test runner were tried with
# Peers whose own pins would hold everything else back; their code runs with the versions in constraints.txt.
WITHOUT_DEPENDENCIES = ("irrCAC==0.4.4",)
# Program looked for -> Debian package that brings it, and what goes without it.
PROGRAMS = {
    "chromium": ("chromium", "the browser tests"),
    "pg_ctl": ("postgresql", "the tests with PostgreSQL"),
    "nginx": ("nginx-light", "the test of the same-origin panel behind a proxy"),
    "docker-compose": ("docker-compose", "the test that docker-compose.yml is well-formed"),
}


class Missing(Exception):
    """Something that this script can't bring; the message says what to do."""


def say(text):
    print(text, flush=True)


def printed_by(executable, code):
    """What an interpreter prints, or None where it can't run the code."""
    try:
        done = subprocess.run(
            [executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
        )
        return done.stdout.decode()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def python_version(executable):
    """(major, minor) of an interpreter, else None."""
    out = printed_by(executable, "import sys; print('%d %d' % sys.version_info[:2])")
    return tuple(int(number) for number in out.split()) if out else None


def makes_environments(executable):
    """Whether it is one of PYTHONS and can make virtual environments (Debian has a package of its own for that)."""
    return python_version(executable) in PYTHONS and printed_by(executable, "import venv, ensurepip") is not None


def find_python():
    """The interpreter for new environments: $PYTHON, the one that runs this, else the first that fits on PATH."""
    preferred = os.environ.get("PYTHON")
    candidates = [preferred] if preferred else [sys.executable, "python3", *("python%d.%d" % v for v in PYTHONS)]
    for name in candidates:
        path = shutil.which(name) if name else None
        if path and makes_environments(path):
            return path
    version = python_version(preferred or sys.executable)
    installed = "%d.%d" % version if version else "no Python that runs"
    raise Missing(
        "Python 3.11, 3.12 or 3.13 with its venv module is needed, and none was found: %s is %s%s. On Debian or "
        "Ubuntu: "
        "apt-get install python3 python3-venv. Then run make again, or name one: make PYTHON=/path/to/python3.12"
        % (preferred or "python3", installed, ", without venv" if version in PYTHONS else "")
    )


def digest(*contents):
    h = hashlib.sha256()
    for content in contents:
        h.update(content.read_bytes() if isinstance(content, Path) else content.encode())
        h.update(b"\0")
    return h.hexdigest()


def bin_of(folder, name):
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    return scripts / (name + (".exe" if os.name == "nt" else ""))


def make_venv(folder):
    settings = folder / "pyvenv.cfg"
    moved = settings.exists() and str(folder) not in settings.read_text()  # its programs name the folder of old
    if not moved and makes_environments(str(bin_of(folder, "python"))):
        return
    python = find_python()
    say("  making the virtual environment %s with Python %d.%d" % ((folder.name, *python_version(python))))
    if folder.exists():
        shutil.rmtree(str(folder))
    if subprocess.call([python, "-m", "venv", str(folder)]) != 0:
        raise Missing(
            "The virtual environment %s could not be made. On Debian or Ubuntu: apt-get install python3-venv."
            % folder.name
        )


def pip(folder, *arguments, quiet=False):
    """pip install, with one short line per download.

    Its last words are shown when it fails, unless that has an answer.
    """
    # Python compiles what it imports; compiling every module of every package takes longer than installing them.
    options = ["--no-input", "--no-compile", "--progress-bar", "off"]
    command = [str(bin_of(folder, "python")), "-m", "pip", "install", *options, *arguments]
    output = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=str(ROOT), universal_newlines=True
    ) as process:
        for line in process.stdout:
            output.append(line)
            words = line.split()
            if len(words) > 1 and words[0] == "Downloading":
                say("    downloading %s" % " ".join(words[1:]).rsplit("/", 1)[-1])
            elif line.startswith("Installing collected packages"):
                count = line.count(",") + 1
                say("    installing %d package%s" % (count, "" if count == 1 else "s"))
    if process.returncode != 0:
        if not quiet:
            sys.stderr.write("".join(output[-40:]))
        raise Missing(
            "pip could not install %s (its last words are above). Is the package index reachable?" % " ".join(arguments)
        )


def torch_options(folder):
    """Where PyTorch is taken from.

    The build on PyPI brings several GB of CUDA on Linux, which a machine without an NVIDIA card has no use for. pip is
    asked, without downloading, which file it would take; a local or CPU build is taken as it is.
    """
    if not sys.platform.startswith("linux") or shutil.which("nvidia-smi"):
        return []
    question = "install --dry-run --no-deps --ignore-installed --quiet --no-input --report - " + TORCH
    command = [str(bin_of(folder, "python")), "-m", "pip"] + question.split()
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    try:
        url = json.loads(out.decode())["install"][0]["download_info"]["url"]
    except (ValueError, LookupError):
        url = ""
    if url.startswith("file:") or "%2Bcpu" in url or "+cpu" in url:
        return []
    return ["--index-url", TORCH_CPU_INDEX]


def install_torch(folder):
    """PyTorch alone: what it needs comes with the package, in the versions of constraints.txt."""
    say("  PyTorch")
    options = torch_options(folder)
    try:
        pip(folder, "--no-deps", *options, TORCH, quiet=bool(options))
    except Missing:
        if not options:
            raise
        say("  %s can't be reached: taking the larger build with CUDA from PyPI" % TORCH_CPU_INDEX)
        pip(folder, "--no-deps", TORCH)


def is_fresh(stamp, key):
    return stamp.exists() and stamp.read_text() == key


def package(dev):
    """.venv with the package in editable form."""
    folder = ROOT / ".venv"
    stamp = folder / (".made-dev" if dev else ".made-run")
    key = digest(str(folder), ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__))
    if is_fresh(stamp, key) or (not dev and is_fresh(folder / ".made-dev", key)):
        return
    start = time.monotonic()
    say("Setting up .venv: the first time takes some minutes, then it is kept.")
    make_venv(folder)
    pip(folder, "--upgrade", "-c", "constraints.txt", "pip")
    install_torch(folder)
    say("  softirr and what it needs" + (", with the tools for tests and lint" if dev else ""))
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
    pins = Path(__file__).with_name("labelstudio-constraints.txt")
    key = digest(str(folder), LABEL_STUDIO, pins)
    if is_fresh(stamp, key):
        return
    start = time.monotonic()
    say("Setting up .venv-labelstudio with Label Studio 1.23.2: the first time takes some minutes, then it is kept.")
    make_venv(folder)
    pip(folder, "-c", str(pins), LABEL_STUDIO)
    stamp.write_text(key)
    say("  .venv-labelstudio is ready (%d s)" % (time.monotonic() - start))


def node_version():
    """Major version of Node.js where npm comes with it, else None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    out = subprocess.run([node, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    major = out.decode(errors="replace").strip().lstrip("v").split(".")[0]
    return int(major) if major.isdigit() else None


def javascript():
    """node_modules in the versions of package-lock.json; where Node.js is missing, what is left out."""
    version = node_version()
    if version is None or version < NODE:
        problem = (
            "Node.js %d or newer with npm was not found%s, so the JavaScript is neither checked nor tested. To have "
            "it: "
            "https://nodejs.org/en/download, or on Debian and Ubuntu: sudo apt-get install nodejs npm"
            % (NODE, "" if version is None else " (this is Node.js %d)" % version)
        )
        if os.environ.get("CI"):
            raise Missing(problem)
        say(problem)
        return
    stamp = ROOT / "node_modules" / ".made"
    key = digest(ROOT / "package.json", ROOT / "package-lock.json", str(version))
    if is_fresh(stamp, key):
        return
    say("Setting up node_modules, which checks and tests the JavaScript.")
    command = [shutil.which("npm"), "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.call(command, cwd=str(ROOT)) != 0:
        raise Missing("npm could not install the packages of package-lock.json. Is the npm registry reachable?")
    stamp.write_text(key)


def debian_program(name):
    """Path of a program; PostgreSQL's server programs are not on Debian's PATH."""
    if name == "chromium":
        return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    servers = sorted(Path("/usr/lib/postgresql").glob("*/bin/" + name)) if name == "pg_ctl" else []
    return shutil.which(name) or (str(servers[-1]) if servers else None)


def apt(*arguments):
    """apt-get without questions; what it says is shown only when it fails, which leaves the package out."""
    command = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3", *arguments]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C")
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        say("    apt-get %s failed: %s" % (arguments[0], done.stdout.decode(errors="replace").strip()[-500:]))


def system():
    """Programs outside Python. Installed where that is possible without asking, else named."""
    missing = {name: PROGRAMS[name] for name in PROGRAMS if not debian_program(name)}
    if not missing:
        return
    packages = [package for package, _ in missing.values()]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        start = time.monotonic()
        say("Installing Debian packages for the tests, once: " + " ".join(packages))
        apt("update")
        # One by one: a package that can't be had must not keep the others away.
        for package in packages:
            say("    " + package)
            apt("install", "--yes", "--no-install-recommends", package)
        say("  done (%d s)" % (time.monotonic() - start))
        missing = {name: PROGRAMS[name] for name in PROGRAMS if not debian_program(name)}
    for name, (package, without) in missing.items():
        say(
            "%s was not found, so %s will be left out. To have them: sudo apt-get install %s" % (name, without, package)
        )


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
