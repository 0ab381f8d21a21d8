"""The command ``softirr-ls``: connects, updates and checks projects of Label Studio."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from softirr.errors import SoftirrError
from softirr.terminal import Parser, guarded

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 done, 1 findings or a fault on the server's side, 2 unusable input."""
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    lacking = [name for name in ("flask", "label_studio_sdk", "sqlalchemy") if not find_spec(name)]
    if lacking:
        print(f"softirr-ls needs {', '.join(lacking)}: pip install 'softirr[labelstudio]'", file=sys.stderr)
        return 2
    if command_line[:1] == ["demo"]:
        from ml_backend.demo import main as demo

        return guarded(lambda: demo(command_line[1:]), program="softirr-ls", fault=1)
    if command_line[:1] == ["serve"] and sys.stdout is None:  # a service needs none
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - as long as the process

    def run() -> int:
        parsed = parser().parse_args(command_line)
        try:
            return int(parsed.run(parsed) or 0)
        except Exception as error:
            from ml_backend.store.trouble import store_trouble

            if isinstance(error, OSError | SoftirrError) or (sentence := store_trouble(error)) is None:
                raise
            raise SoftirrError(sentence) from None

    return guarded(run, program="softirr-ls", fault=1)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line; each command loads its modules when it runs."""
    top = Parser(
        prog="softirr-ls",
        description="softirr for Label Studio: agreement in meaning beside each task.",
        epilog="Server and token: LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY. State: SOFTIRR_DATA or "
        "SOFTIRR_DATABASE_URL.",
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=lambda parsed: getattr(importlib.import_module("ml_backend.cli.projects"), name)(parsed))
        return sub

    _add_serve(command("serve", "Run the backend: web server and worker process."))
    _add_connect(command("connect", "Connect a project; a second run changes nothing."))
    disconnect = command("disconnect", "Undo connect.")
    _add_project(disconnect)
    disconnect.add_argument("--keep-predictions", action="store_true", help="leave the scores in Label Studio")
    _add_json(disconnect)
    _add_sync(command("sync", "Bring one project up to date, then exit."))
    _add_settings(command("settings", "Show a project's settings and where each comes from."))
    doctor = command("doctor", "Check the connection and print each problem with its solution.")
    _add_project(doctor, required=False)
    doctor.add_argument("--url", help="address of this backend as Label Studio reaches it")
    _add_json(doctor)
    export = command("export", "Print a project's answers as CSV, with the tasks' data as columns.")
    _add_project(export)
    export.add_argument("--output", metavar="FILE", help="write the CSV into this file")
    forget = command("forget", "Erase a project: its texts, scores, decisions, audits and agreed answers.")
    _add_project(forget)
    _add_json(forget)
    commands.add_parser("demo", help="Start Label Studio with an example project, scored.", add_help=False)
    return top


def _add_project(sub: argparse.ArgumentParser, *, required: bool = True) -> None:
    sub.add_argument("--project", type=int, required=required, metavar="ID", help="the project's number in its address")


def _add_json(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="print JSON")


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--port", type=_port, help="port to listen on (default: PORT, else 9090)")
    serve.add_argument("--host", help="address to listen on (default 127.0.0.1; 0.0.0.0 for all)")


def _add_connect(connect: argparse.ArgumentParser) -> None:
    from ml_backend.cli.options import add_options

    _add_project(connect)
    connect.add_argument("--url", help="address of this backend as Label Studio reaches it")
    connect.add_argument("--panel-url", help="address of this backend as browsers reach it (default: --url)")
    connect.add_argument(
        "--pull-only",
        action="store_true",
        help="register nothing in Label Studio; the backend looks for changes by itself",
    )
    connect.add_argument("--no-panel", action="store_true", help="leave the label config unchanged")
    connect.add_argument(
        "--rotate-keys", action="store_true", help="make all addresses and links printed so far stop working"
    )
    connect.add_argument("--label-studio-url", help="Label Studio's address as browsers reach it, for printed links")
    _add_json(connect)
    add_options(connect)


def _add_sync(sync: argparse.ArgumentParser) -> None:
    from ml_backend.cli.options import add_options

    _add_project(sync)
    _add_json(sync)
    sync.add_argument("--changes", action="store_true", help="read only what changed since the last run")
    add_options(sync)


def _add_settings(show: argparse.ArgumentParser) -> None:
    from ml_backend.cli.options import add_options

    _add_project(show)
    _add_json(show)
    show.add_argument("--reset", action="store_true", help="remove the settings given by softirr-ls")
    show.add_argument("--link", metavar="EMAIL", help="print a personal link for this user of Label Studio")
    show.add_argument(
        "--role", choices=["annotator", "reviewer", "lead"], default="reviewer", help="role in --link (reviewer)"
    )
    show.add_argument("--days", type=_days, default=90, metavar="N", help="days until --link expires (default 90)")
    add_options(show)


def _port(text: str) -> int:
    return _number(text, "a port from 1 to 65535", 65535)


def _days(text: str) -> int:
    return _number(text, "a number of days from 1 to 3650", 3650)


def _number(text: str, what: str, largest: int) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= largest:
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return int(text)
