"""``softirr``: the science from the command line.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 2 unusable input or options
(one plain sentence on standard error), 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from softirr.cli import audit, calibrate, code, codebook, compare, inspect, measures, plan, raters, report, score
from softirr.terminal import Parser, end_program, guarded


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    if argv is None:
        end_program(lambda: _run(sys.argv[1:]))
    return guarded(lambda: _run(list(argv)))


def _run(given: list[str]) -> int | None:
    arguments = parser().parse_args(given)
    status: int | None = arguments.run(arguments)
    return status


def parser() -> argparse.ArgumentParser:
    """The parser of every subcommand; the documentation test walks it."""
    top = Parser(prog="softirr", description="Inter-rater reliability of free text: how far raters agree in meaning.")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (score, inspect, measures, report, audit, calibrate, compare, plan, raters, code, codebook):
        command.add_command(commands)
    _describe(commands)
    return top


def _describe(commands: argparse._SubParsersAction[Any]) -> None:
    """``--help`` of each command begins with its line in the list of commands."""
    for choice in commands._choices_actions:
        command = commands.choices[choice.dest]
        command.description = command.description or f"{(choice.help or '')[:1].upper()}{(choice.help or '')[1:]}."
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)
