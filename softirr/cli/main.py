"""``softirr``: the science from the command line.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 1 a --fail-below or
--fail-unless condition failed, 2 unusable input or options (one plain sentence on standard error), 130 interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from softirr.cli import audit, compare, inspect, measures, score
from softirr.terminal import Interrupts, Parser, end_process, guarded

COMMANDS = (score, inspect, audit, compare, measures)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status, or ends the process if `argv` is None."""
    interrupts = Interrupts.caught() if argv is None else None

    def run() -> Any:
        arguments = parser().parse_args(argv)
        return arguments.run(arguments)

    status = guarded(run, interrupts=interrupts)
    if argv is None:
        end_process(status)
    return status


def parser() -> argparse.ArgumentParser:
    """The parser of every subcommand; the documentation test walks it."""
    top = Parser(prog="softirr", description="Inter-rater reliability of free text: how far raters agree in meaning.")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_command(commands)
    _describe(commands)
    return top


class _Version(argparse.Action):
    """Print the version; it is looked up only when it is needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from softirr.provenance import version

        print(f"softirr {version()}")
        parser.exit()


def _describe(commands: argparse._SubParsersAction[Any]) -> None:
    """Begin ``--help`` of each command with its line in the list of commands."""
    for choice in commands._choices_actions:
        command = commands.choices[choice.dest]
        command.description = command.description or f"{(choice.help or '')[:1].upper()}{(choice.help or '')[1:]}."
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)
