"""``softirr-ls demo``: a separate Label Studio with an example project, connected and scored.

All files are in one folder, and all processes end with the demo. It needs no network.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ml_backend.demo import example
from ml_backend.demo.folder import DemoFolder
from ml_backend.demo.processes import Process, ServerError, free_port
from ml_backend.demo.project import CONTROL, email_of, make_projects, true_value
from ml_backend.demo.server import ADMIN_EMAIL, ADMIN_PASSWORD, Api, LabelStudio, find_label_studio
from ml_backend.review.headline import headline_lines
from ml_backend.subprocess_env import child_environment, python_module
from softirr.numbers import plural
from softirr.report.key_figures import headline
from softirr.terminal import Parser

if TYPE_CHECKING:
    from ml_backend.store.store import Row, Store


def parser() -> argparse.ArgumentParser:
    """The options of ``softirr-ls demo``."""
    parser = Parser(prog="softirr-ls demo", description="Start Label Studio with an example project, scored.")
    parser.add_argument(
        "--folder", type=Path, default=Path(".demo"), help="folder of the demo's files (default: .demo)"
    )
    parser.add_argument("--fresh", action="store_true", help="delete the demo's folder and start over")
    parser.add_argument(
        "--check",
        action="store_true",
        help="verify the result through Label Studio's API, then stop; status 1 if wrong",
    )
    parser.add_argument("--measure", help="measure (default: the same as softirr score)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo until Ctrl-C, or until it is checked; returns the exit status."""
    return run(parser().parse_args(arguments))


def run(arguments: argparse.Namespace) -> int:
    """`main` with parsed arguments."""
    # SIGINT too: shells start background processes with SIGINT ignored, so that it could not stop the demo
    handlers = {sign: signal.signal(sign, _interrupt) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:
        with contextlib.ExitStack() as stack:
            demo = Demo(arguments.folder.absolute(), measure=arguments.measure, stack=stack)
            demo.open(fresh=arguments.fresh)
            demo.start()
            if arguments.check:
                return demo.check()
            demo.print_addresses()
            demo.stay()
    except ServerError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:  # a folder that can't be written, a full disk, a server that went away
        print(f"The demo can't go on: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if arguments.check:
            return 130
        print("\nEverything that the demo started is stopped. `make demo` starts it again.", flush=True)
        return 0
    finally:
        for sign, handler in handlers.items():
            signal.signal(sign, handler)
    return 1


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, flush=True)


class Demo:
    """A demo folder and its running servers.

    Parameters
    ----------
    folder
        Contains ``demo.json`` (a record of the demo), ``label-studio/`` and ``softirr/``.
    measure
        Name of the measure; None for the backend's default.
    stack
        Collects the servers to stop.
    """

    def __init__(self, folder: Path, *, measure: str | None, stack: contextlib.ExitStack):
        self.folder = folder
        self.measure = measure
        self.stack = stack
        self.links: Mapping[str, str] = {}
        self.files = DemoFolder(folder)

    def open(self, *, fresh: bool) -> None:
        """Lock the folder; an incomplete folder of an interrupted first start is removed."""
        self.files.open(self.stack, fresh=fresh)

    # --- starting -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Label Studio with the project, the backend, the connection between them, the scores."""
        executable = find_label_studio()
        is_restart = bool(self.files.state)
        _say(f"1/4 Starting Label Studio{'' if is_restart else ' (the first time it takes a minute or two)'} ...")
        ports = self.files.state.get("ports", {})
        self.server = LabelStudio(
            self.folder / "label-studio",
            port=free_port(*([ports["label_studio"]] if ports else [8080, 8081, 8082])),
            executable=executable,
            waiting=lambda seconds: _say(f"      {seconds:.0f} s ..."),
        )
        self.stack.callback(self.server.stop)
        if is_restart:
            _say("2/4 The example project is there from the last time.")
        else:
            _say("2/4 Making four annotators, a lead and a project with 68 narratives and their answers ...")
            self.files.state = make_projects(self.server)
        self.api = Api(self.server.url, self.files.state["token"])
        self.project = int(self.files.state["project"])
        self.german: int | None = self.files.state.get("german")

        _say("3/4 Starting the softirr backend and connecting it ...")
        self._start_backend(free_port(*([ports["backend"]] if ports else [9090, 9091, 9092])))
        options = ["--reviewer", ADMIN_EMAIL, *(["--measure", self.measure] if self.measure else [])]
        self.links = self._json("connect", "--project", str(self.project), "--url", self.url, *options)["links"]

        _say("4/4 Scoring and writing the predictions ...")
        self._json("sync", "--project", str(self.project))
        if self.german is not None:
            german = self._json("connect", "--project", str(self.german), "--url", self.url, *options)["links"]
            self.links = {**self.links, "german": german["report"]}
            self._json("sync", "--project", str(self.german))

    def _start_backend(self, port: int) -> None:
        self.files.state["ports"] = {"label_studio": self.server.port, "backend": port}
        self.files.save()
        self.url = f"http://localhost:{port}"
        self.backend = Process(
            python_module("ml_backend", "serve", "--port", str(port)),
            environment=self._environment(),
            log=self.folder / "softirr" / "backend.log",
            name="The softirr backend",
        )
        self.stack.callback(self.backend.stop)
        self.backend.wait_until(self._backend_healthy, timeout=300)

    def _environment(self) -> dict[str, str]:
        # Settings of another installation of the backend must not affect this one.
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LABEL_STUDIO_", "BASIC_AUTH_"))
            and name not in ("HOST", "PORT", "SOFTIRR_DATABASE_URL")
        }
        return {
            **child_environment(environment),
            "LABEL_STUDIO_URL": self.server.url,
            "LABEL_STUDIO_API_KEY": self.files.state["token"],
            "SOFTIRR_DATA": str(self.folder / "softirr"),
        }

    def _backend_healthy(self) -> bool:
        import requests

        with contextlib.suppress(requests.RequestException):
            return requests.get(f"{self.url}/health", timeout=5).ok
        return False

    def _json(self, *arguments: str) -> dict[str, Any]:
        """Run a ``softirr-ls`` command with --json and return its object."""
        return self._run(python_module("ml_backend", *arguments, "--json"), f"softirr-ls {arguments[0]}")

    def _run(self, command: list[str], name: str) -> dict[str, Any]:
        done = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerError(f"{name} ended with status {done.returncode}: {done.stderr.strip()[-800:]}")
        reply: dict[str, Any] = json.loads(done.stdout)
        return reply

    # --- running ------------------------------------------------------------------------------------------------------

    def row(self) -> Row:
        """The backend's project with its coefficients."""
        with self._store() as store:
            row = store.project(self.server.url, self.project)
            if row is None or not row["summary"]:
                raise ServerError("The backend has no coefficients for the demo's project; its log says why.")
            return row

    @contextlib.contextmanager
    def _store(self) -> Iterator[Store]:
        from ml_backend.settings import Settings
        from ml_backend.store.store import Store

        store = Store(Settings.from_environment(self._environment()).database_url)
        try:
            yield store
        finally:
            store.close()

    def print_addresses(self) -> None:
        """Print the headline and the addresses to open."""
        row = self.row()
        summary = row["summary"]["controls"][CONTROL]
        _say(
            f"\n{plural(summary['n_items'], 'task')}, {plural(summary['n_raters'], 'annotator')}, measure "
            f"{summary['measure']}."
        )
        for line in headline_lines(row):
            _say(line)
        best = headline(summary)
        if best is not None:
            _say(f"The key to the example, which knows what each text means, says {true_value(best[0]):.2f}.\n")
        names = {"project": "Project", "triage": "Triage, lowest agreement first", "report": "Report"}
        names["german"] = "Report of the German project"
        for name, address in self.links.items():
            _say(f"  {names.get(name, name):31} {address}")
        _say(f"\n  Log in as {ADMIN_EMAIL} with the password {ADMIN_PASSWORD}")
        _say(f"  (annotators: {', '.join(email_of(name) for name in example.annotators())}; same password)")
        _say("\nOpen a task from the triage tab: the agreement panel is under the narrative. Ctrl-C stops everything.")

    def stay(self) -> None:
        """Wait for Ctrl-C."""
        while True:
            for process in (self.server.process, self.backend):
                if not process.running():
                    raise ServerError(
                        f"{process.name} ended unexpectedly. Last lines of its log:\n{process.last_words()}"
                    )
            time.sleep(0.5)

    # --- checking -----------------------------------------------------------------------------------------------------

    def check(self) -> int:
        """Compare Label Studio's content with ``softirr score`` on its export, and print differences."""
        from ml_backend.demo.project import problems

        path = self.folder / "export.json"
        path.write_text(json.dumps(self.api.export(self.project)), encoding="utf-8")
        measure = ["--measure", self.measure] if self.measure else []
        command = python_module("softirr", "score", str(path), "--control", CONTROL, "--json", *measure)
        score = self._run(command, "softirr score")
        # Checked before the second sync, which would repair later changes.
        faults = problems(self.api, self.project, score, self.links)
        second = self._json("sync", "--project", str(self.project))
        if any(second[name] for name in ("created", "updated", "deleted")):
            faults.append(f"A second sync wrote something although nothing had changed: {second}.")
        for problem in faults:
            print(f"WRONG: {problem}", file=sys.stderr)
        if not faults:
            scored = sum(item["n_raters"] >= 2 for item in score["items"])
            _say(
                f"Checked: {plural(scored, 'task')} with two answers or more {'has' if scored == 1 else 'have'} "
                "one prediction each, with the score that softirr score "
                f"gives; the score column is filled and sorts; the triage tab is ordered by it."
            )
        return 1 if faults else 0
