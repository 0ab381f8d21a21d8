"""Make a virtual environment and install into it with pip. Standard library only, readable by old Pythons."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ((3, 11), (3, 12), (3, 13))
TORCH = "torch==2.13.0"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


class Missing(Exception):
    """Something that this script can't install; the message has the remedy."""


def say(text):
    print(text, flush=True)


def output_of(executable, code):
    """Output of code in an interpreter, or None if it fails."""
    try:
        done = subprocess.run(
            [executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
        )
        return done.stdout.decode()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def python_version(executable):
    """(major, minor) of an interpreter, else None."""
    out = output_of(executable, "import sys; print('%d %d' % sys.version_info[:2])")
    return tuple(int(number) for number in out.split()) if out else None


def makes_environments(executable):
    """Whether it is one of PYTHONS and can make virtual environments (on Debian, this is a separate package)."""
    return python_version(executable) in PYTHONS and output_of(executable, "import venv, ensurepip") is not None


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
        "Python 3.11, 3.12 or 3.13 with its venv module is needed, and none was found: %s is %s%s. On Debian "
        "or Ubuntu: apt-get install python3 python3-venv. Then run make again, or name one: "
        "make PYTHON=/path/to/python3.12"
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
    """Run pip install, with one line per download. Its last output is shown if it fails, unless `quiet` is true."""
    # Python compiles modules on import; compiling every module of every package takes longer than installing them.
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
            "pip could not install %s (its last output is above). Is the package index reachable?" % " ".join(arguments)
        )


def torch_options(folder):
    """Options of pip for the index of PyTorch.

    On Linux, the build on PyPI contains several GB of CUDA, which a machine without an NVIDIA card can't use. A dry run
    of pip shows which file it would take; a local or CPU build is fine.
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
    """Install PyTorch alone. Its dependencies come with the package, in the versions of constraints.txt."""
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
