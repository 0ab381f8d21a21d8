"""Podman with images, containers and networks in a separate folder, and Docker Compose that talks to it."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

NEEDED = {
    "podman": "podman",
    "debootstrap": "debootstrap",
    "docker-compose": "docker-compose",
    "openssl": "openssl",
    "netavark": "netavark",
    "aardvark-dns": "aardvark-dns",
    "catatonit": "catatonit",
    "iptables": "iptables",
}
FOLDERS = ("/usr/lib/podman", "/usr/libexec/podman", "/usr/sbin")
"""Where programs are that Podman starts itself."""
CONFIGURATION = """[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
{runtime}"""


def why_not() -> str | None:
    """The reason why containers can't run here, in one sentence; None if they can."""
    if os.geteuid() != 0:
        return "Podman is used as root here; run this as root."
    path = ":".join([os.environ.get("PATH", ""), *FOLDERS])
    missing = [package for program, package in NEEDED.items() if not shutil.which(program, path=path)]
    if not missing:
        return None
    missing += [] if shutil.which("runc", path=path) else ["runc"]
    return f"Missing programs; on Debian: apt-get install {' '.join(missing)}."


class Engine:
    """Podman on a folder.

    Parameters
    ----------
    folder : Path
        Everything is kept here, so that no image of the machine is replaced by one of ours that bears its name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.socket = folder / "podman.sock"
        # Where a process may not raise its own limits, Podman's defaults for containers are more than it may give.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        highest = int(Path("/proc/sys/kernel/pid_max").read_text())
        processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        processes = highest if processes == resource.RLIM_INFINITY else min(processes, highest)
        # crun refuses a machine with both versions of control groups.
        runtime = '[engine]\nruntime = "runc"\n' if shutil.which("runc") else ""
        configuration = folder / "containers.conf"
        configuration.write_text(CONFIGURATION.format(files=files, processes=processes, runtime=runtime))
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(configuration),
            "DOCKER_HOST": f"unix://{self.socket}",
            "COMPOSE_HTTP_TIMEOUT": "600",
        }

    def command(self, *arguments: str) -> list[str]:
        """Podman on this folder."""
        storage_options = ("--root", str(self.folder / "root"), "--runroot", str(self.folder / "run"))
        return ["podman", *storage_options, "--network-config-dir", str(self.folder / "networks"), *arguments]

    def run(self, *arguments: str, check: bool = True, timeout: float = 1800) -> str:
        """Standard output of a Podman command.

        Raises
        ------
        RuntimeError
            If it fails, with its last words.
        """
        return printed(self.command(*arguments), environment=self.environment, check=check, timeout=timeout)

    def has(self, image: str) -> bool:
        return subprocess.run(self.command("image", "exists", image), env=self.environment, check=False).returncode == 0

    @contextlib.contextmanager
    def service(self) -> Iterator[None]:
        """The interface that Docker Compose speaks to, and the health checks, which Podman leaves to systemd."""
        self.socket.unlink(missing_ok=True)
        log = (self.folder / "service.log").open("wb")
        command = self.command("system", "service", "--time", "0", f"unix://{self.socket}")
        process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        finished = threading.Event()
        checks = threading.Thread(target=self._check_health, args=(finished,), daemon=True)
        try:
            until = time.monotonic() + 60
            while not self.socket.exists():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"podman system service did not start; see {log.name}.")
                time.sleep(0.1)
            checks.start()
            yield
        finally:
            finished.set()
            if checks.is_alive():
                checks.join()
            process.terminate()
            process.wait()
            log.close()

    def _check_health(self, finished: threading.Event) -> None:
        while not finished.wait(2):
            for name in self.run("ps", "--format", "{{.Names}}", check=False).split():
                subprocess.run(
                    self.command("healthcheck", "run", name), env=self.environment, capture_output=True, check=False
                )


class Compose:
    """Docker Compose on a project folder with a file ``.env``, talking to an engine."""

    def __init__(self, engine: Engine, folder: Path, files: Sequence[Path], *, name: str) -> None:
        self.engine, self.folder = engine, folder
        words = [word for file in files for word in ("--file", str(file))]
        self._base = ["docker-compose", "--project-name", name, "--env-file", str(folder / ".env"), *words]

    def run(self, *arguments: str, check: bool = True, timeout: float = 900) -> str:
        """Standard output of a Compose command."""
        return printed(
            [*self._base, *arguments],
            environment=self.engine.environment,
            check=check,
            timeout=timeout,
            folder=self.folder,
        )

    def status(self, *arguments: str) -> tuple[int, str]:
        """Exit status and everything that a Compose command prints."""
        done = subprocess.run(
            [*self._base, *arguments],
            env=self.engine.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout


def printed(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    check: bool = True,
    timeout: float = 1800,
    folder: Path | None = None,
) -> str:
    """Standard output of a command; RuntimeError with its last lines if it fails and `check` is true."""
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
    )
    if check and done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        command_line = re.sub(r"(?i)(password|key)=\S+", r"\1=...", " ".join(command))
        raise RuntimeError(f"{command_line} ended with status {done.returncode}:\n{last}")
    return done.stdout
