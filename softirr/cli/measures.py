"""``softirr measures``: the equivalence measures and what each needs."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_json
from softirr.terminal import print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``measures`` to the commands."""
    measures = commands.add_parser("measures", help="list the measures and what each needs")
    add_json(measures)
    measures.set_defaults(run=_measures)


def _measures(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from softirr.meaning.measures import catalogue

    entries = catalogue()
    if arguments.json:
        print_json([asdict(entry) for entry in entries])
        return 0
    from softirr.report.terminal_report import catalogue_lines

    for line in catalogue_lines(entries):
        print(line)
    return 0
