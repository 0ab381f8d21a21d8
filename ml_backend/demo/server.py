"""A private Label Studio server: started in a folder, on a free port, without outgoing connections, and stopped again.

The demo and the tests with a real server run on it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import requests
from filelock import FileLock

from ml_backend.demo.processes import Process, ServerError, free_port

VERSION = "1.23.2"
ADMIN_EMAIL = "lead@example.org"
ADMIN_PASSWORD = "softirr-demo"  # noqa: S105 - the demo's own server, on this machine only; `make demo` prints it

# Read by Label Studio. The first two let it talk to an ML backend and a webhook on this machine, which 1.23.2 refuses
# by default; the others keep it from calling anyone: usage statistics, error reports, a look for newer versions.
SERVER_ENVIRONMENT: Mapping[str, str] = {
    "ML_BLOCK_LOCAL_IP": "false",
    "SSRF_PROTECTION_ENABLED": "false",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "LOG_LEVEL": "WARNING",
}


def find_label_studio() -> Path:
    """Path of the ``label-studio`` program.

    ``SOFTIRR_LABEL_STUDIO`` names it; else the environment that the Makefile makes, else ``PATH``.

    Raises
    ------
    ServerError
        If it is not installed; the message explains how to install it.
    """
    configured = os.environ.get("SOFTIRR_LABEL_STUDIO")
    if configured:
        if os.access(configured, os.X_OK):
            return Path(configured).absolute()
        raise ServerError(f"SOFTIRR_LABEL_STUDIO names {configured}, which is not a program that can be run.")
    local = Path.cwd() / ".venv-labelstudio" / "bin" / "label-studio"
    program = str(local) if os.access(local, os.X_OK) else shutil.which("label-studio")
    if not program:
        raise ServerError(
            f"Label Studio was not found. In a checkout, `make demo` installs it; elsewhere install "
            f"label-studio=={VERSION} into an environment of its own (it pins old versions) and set "
            f"SOFTIRR_LABEL_STUDIO to its label-studio program."
        )
    return Path(program).absolute()


class Api:
    """Label Studio's HTTP interface with a personal access token, exchanged for short-lived access tokens."""

    def __init__(self, url: str, token: str):
        self.url = url
        self.token = token
        self._session = requests.Session()
        self._session.trust_env = False
        self._renew_at = 0.0

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Send a request; returns the decoded JSON, or None without it. Raises ServerError if the status is not 2xx."""
        if time.monotonic() > self._renew_at:
            reply = self._session.post(f"{self.url}/api/token/refresh/", json={"refresh": self.token}, timeout=60)
            if reply.status_code != 200:
                raise ServerError(f"Label Studio did not accept the access token (status {reply.status_code}).")
            self._session.headers["Authorization"] = f"Bearer {reply.json()['access']}"
            self._renew_at = time.monotonic() + 200
        reply = self._session.request(method, self.url + path, timeout=300, **options)
        if not reply.ok:
            raise ServerError(f"{method} {path} was answered with status {reply.status_code}: {reply.text[:300]}")
        return reply.json() if "json" in reply.headers.get("Content-Type", "") else None

    def get(self, path: str, **params: Any) -> Any:
        """Send GET and return the reply."""
        return self.call("GET", path, params=params)

    def post(self, path: str, body: Any = None) -> Any:
        """Send POST and return the reply."""
        return self.call("POST", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        """Send PATCH and return the reply."""
        return self.call("PATCH", path, json=body)

    def delete(self, path: str, body: Any = None) -> Any:
        """Send DELETE."""
        return self.call("DELETE", path, json=body)

    def export(self, project: int) -> list[dict[str, Any]]:
        """Every task of a project with its annotations, as the JSON export gives them."""
        return self.get(f"/api/projects/{project}/export", exportType="JSON", download_all_tasks="true")

    def tasks(self, project: int, **params: Any) -> list[dict[str, Any]]:
        """Every task of a project as the Data Manager lists them."""
        listed: list[dict[str, Any]] = []
        page = 1
        while True:
            reply = self.get("/api/tasks", project=project, page=page, page_size=1000, **params)
            listed += reply["tasks"]
            if len(listed) >= reply["total"] or not reply["tasks"]:
                return listed
            page += 1


class LabelStudio:
    """A running Label Studio with its lead's account.

    Parameters
    ----------
    folder
        Folder of the database, the media files, the log and a home folder; created if missing.
    port
        Port on the loopback interface.
    environment
        Additions to, or changes of, `SERVER_ENVIRONMENT`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        port: int,
        executable: Path | None = None,
        environment: Mapping[str, str] | None = None,
        waiting: Callable[[float], None] | None = None,
        timeout: float = 600,
    ):
        self.executable = executable or find_label_studio()
        self.folder = folder.absolute()
        self.port = port
        self.url = f"http://localhost:{port}"
        self.data = self.folder / "data"
        self.data.mkdir(parents=True, exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)
        self.environment = self._environment(environment or {})
        self._begin_with_a_key()
        self._begin_with_empty_tables(waiting, timeout)
        command = [str(self.executable), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
        command += ["--username", ADMIN_EMAIL, "--password", ADMIN_PASSWORD]
        self.process = Process(
            command, environment=self.environment, log=self.folder / "label-studio.log", name="Label Studio"
        )
        try:
            self.process.wait_until(self.healthy, timeout=timeout, waiting=waiting)
        except BaseException:
            self.stop()
            raise

    def _environment(self, additions: Mapping[str, str]) -> dict[str, str]:
        # A new environment, because the server would read a LABEL_STUDIO_HOST or PORT meant for another one.
        inherited = {
            name: os.environ[name]
            for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
            if name in os.environ
        }
        folders = {
            "HOME": str(self.folder / "home"),
            "LABEL_STUDIO_BASE_DATA_DIR": str(self.data),
            "PYTHONUNBUFFERED": "1",
        }
        return {**inherited, **SERVER_ENVIRONMENT, **folders, **additions}

    def _begin_with_a_key(self) -> None:
        """A key of letters and digits.

        Label Studio's own begins with $ once in 50 times, is not read back correctly, and then tokens are invalid after
        a restart.
        """
        file = self.data / ".env"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(f"SECRET_KEY={secrets.token_hex(32)}\n", encoding="utf-8")

    def _begin_with_empty_tables(self, waiting: Callable[[float], None] | None, timeout: float) -> None:
        """Copy an empty database that is cached next to the program: Label Studio takes over a minute to make one."""
        database = self.data / "label_studio.sqlite3"
        if database.exists() or "DJANGO_DB" in self.environment:
            return
        prefix, name = self.executable.parent.parent, f"softirr-empty-{VERSION}.sqlite3"
        empty_database = prefix / "share" / name
        if not empty_database.exists() and not all(
            os.access(folder, os.W_OK) for folder in (prefix, empty_database.parent) if folder.exists()
        ):
            empty_database = self.folder / name
        if not empty_database.exists():
            empty_database.parent.mkdir(exist_ok=True)
            with FileLock(f"{empty_database}.lock", timeout=timeout):  # servers that start together make one
                if not empty_database.exists():
                    self._make_empty_tables(empty_database, waiting, timeout)
        shutil.copyfile(empty_database, database)

    def _make_empty_tables(self, file: Path, waiting: Callable[[float], None] | None, timeout: float) -> None:
        with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
            # Any command migrates the database first; this one does nothing after it.
            log = Path(scratch) / "log"
            environment = {
                **self.environment,
                "LABEL_STUDIO_BASE_DATA_DIR": scratch,
                "DATABASE_NAME": f"{scratch}/empty",
            }
            migration = Process([self.executable, "version"], environment=environment, log=log, name="Label Studio")
            try:
                migration.wait_until(lambda: not migration.running(), timeout=timeout, waiting=waiting)
                if migration.wait() != 0:
                    raise ServerError(
                        f"{self.executable} could not make Label Studio's database. Last lines of its log:\n"
                        f"{migration.last_words()}\nIf the installation is broken, delete the environment that the "
                        f"program is in; `make demo` installs a new one."
                    )
                os.replace(f"{scratch}/empty", file)
            finally:
                migration.stop()

    def healthy(self) -> bool:
        """Whether the server answers."""
        with contextlib.suppress(requests.RequestException):
            return requests.get(f"{self.url}/health", timeout=5).ok
        return False

    def stop(self) -> None:
        """Stop it."""
        self.process.stop()

    def __enter__(self) -> LabelStudio:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def login(self, email: str = ADMIN_EMAIL, password: str = ADMIN_PASSWORD) -> requests.Session:
        """An HTTP session with the cookies of a logged-in user, like a browser."""
        return self._form("/user/login/", email=email, password=password)

    def sign_up(self, email: str, password: str, *, first_name: str = "", last_name: str = "") -> tuple[int, str]:
        """Make a user who can log in: id and personal access token.

        Users made through the API have no password that works.
        """
        session = self._form("/user/signup/", email=email, password=password, allow_newsletters="false")
        user = int(session.get(f"{self.url}/api/current-user/whoami", timeout=60).json()["id"])
        if first_name or last_name:
            name = {"first_name": first_name, "last_name": last_name}
            session.patch(f"{self.url}/api/users/{user}/", json=name, timeout=60).raise_for_status()
        return user, self.new_token(session)

    def new_token(self, session: requests.Session) -> str:
        """A personal access token for the logged-in user. Each user has at most one, shown only now."""
        reply = session.post(f"{self.url}/api/token/", timeout=60)
        if reply.status_code != 201:
            raise ServerError(f"Label Studio gave no access token (status {reply.status_code}).")
        return str(reply.json()["token"])

    def _form(self, path: str, **fields: str) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.get(self.url + path, timeout=60).raise_for_status()
        fields["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
        reply = session.post(
            self.url + path, data=fields, headers={"Referer": self.url + path}, allow_redirects=False, timeout=60
        )
        if reply.status_code != 302:
            raise ServerError(f"Label Studio did not accept {fields['email']} at {path}.")
        session.headers.update({"X-CSRFToken": session.cookies["csrftoken"], "Referer": self.url})
        return session


@contextlib.contextmanager
def label_studio(folder: Path, **options: Any) -> Iterator[LabelStudio]:
    """Run a Label Studio within a with statement, on a free port unless one is given."""
    options.setdefault("port", free_port())
    with LabelStudio(folder, **options) as server:
        yield server
