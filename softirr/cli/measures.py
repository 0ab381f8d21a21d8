"""``softirr measures``: the equivalence measures and their requirements."""

from __future__ import annotations

import argparse

from softirr.cli.arguments import add_json
from softirr.terminal import print_json


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of ``measures``."""
    add_json(command)
    command.set_defaults(run=_measures)


def _measures(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from softirr.meaning.measures import catalogue

    entries = catalogue()
    if arguments.json:
        print_json([asdict(entry) for entry in entries])
        return 0
    from softirr.meaning.measures import SPEEDS
    from softirr.report.terminal_report import table_lines

    head = ("measure", "speed", "runs on", "size", "what it is")
    rows = [
        (
            entry.name,
            entry.speed,
            entry.device,
            entry.size or "-",
            entry.summary if entry.installed else f"{entry.summary} (not on this machine)",
        )
        for entry in entries
    ]
    print(*table_lines(head, rows), "", *(f"{speed}: {meaning}" for speed, meaning in SPEEDS.items()), sep="\n")
    return 0
