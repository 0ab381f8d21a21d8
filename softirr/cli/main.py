"""``softirr``: the science from the command line.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 1 a --fail-below or
--fail-unless condition failed, 2 unusable input or options (one plain sentence on standard error), 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from softirr.cli.arguments import add_command
from softirr.terminal import Interrupts, Parser, end_process, guarded

COMMANDS = {
    "score": "print the agreement of a file of answers",
    "inspect": "show what softirr reads from a file, without scoring it",
    "audit": "correct the coefficients with judgments of a random sample",
    "compare": "compare files, measures, policies, or models with people",
    "measures": "list the measures and what each needs",
}
"""Each is a module of this package."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status, or ends the process if `argv` is None."""
    interrupts = Interrupts() if argv is None else None

    def run() -> Any:
        words = sys.argv[1:] if argv is None else argv
        arguments = parser(words).parse_args(words)
        return arguments.run(arguments)

    status = guarded(run, interrupts=interrupts)
    if argv is None:
        end_process(status)
    return status


def parser(words: Sequence[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of the commands; only those among the words have their options, and load what these need."""
    top = Parser(prog="softirr", description="Inter-rater reliability of free text: how far raters agree in meaning.")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, help in COMMANDS.items():
        command = add_command(commands, name, help)
        if name in words:
            importlib.import_module(f"softirr.cli.{name}").add_options(command)
    return top


class _Version(argparse.Action):
    """Print the version; it is looked up only when it is needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from softirr.provenance import version

        print(f"softirr {version()}")
        parser.exit()
