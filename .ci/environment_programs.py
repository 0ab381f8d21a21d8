"""Install the tools for the JavaScript, and programs outside Python that some tests need."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from environment_venv import ROOT, Missing, digest, is_fresh, say

NODE = 20  # the oldest that eslint, jsdom and the test runner were tried with
# Program -> its Debian package, and the tests that need it.
PROGRAMS = {
    "chromium": ("chromium", "the browser tests"),
    "pg_ctl": ("postgresql", "the tests with PostgreSQL"),
    "nginx": ("nginx-light", "the test of the same-origin panel behind a proxy"),
    "docker-compose": ("docker-compose", "the test that docker-compose.yml is well-formed"),
}


def node_version():
    """Major version of Node.js if npm comes with it, else None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    out = subprocess.run([node, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    major = out.decode(errors="replace").strip().lstrip("v").split(".")[0]
    return int(major) if major.isdigit() else None


def javascript():
    """Install node_modules in the versions of package-lock.json, or report that Node.js is missing."""
    version = node_version()
    if version is None or version < NODE:
        problem = (
            "Node.js %d or newer with npm was not found%s, so the JavaScript is neither checked nor tested. To have "
            "it: https://nodejs.org/en/download, or on Debian and Ubuntu: sudo apt-get install nodejs npm"
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
    """Run apt-get without questions. Its output is shown only if it fails; the package is then left out."""
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
