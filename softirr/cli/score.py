"""``softirr score``: the agreement of a file."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import (
    add_calibration,
    add_chance,
    add_json,
    add_measure,
    add_policy,
    add_seed,
    made_measure,
    print_report,
    read_table,
    scoring,
)
from softirr.terminal import add_input_options

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``score`` to the commands."""
    score = commands.add_parser("score", help="print the agreement of a Label Studio export, CSV or JSONL file")
    add_input_options(score)
    add_measure(score)
    add_policy(score)
    add_calibration(score, "what softirr calibrate learned; use an audit for the coefficient that you report")
    add_chance(score)
    add_seed(score)
    add_json(score)
    score.set_defaults(run=_score)


def _score(arguments: argparse.Namespace) -> int:
    from softirr.report.agreement import agreement

    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        report = agreement(
            table,
            measure,
            chance=arguments.chance,
            permutations=arguments.permutations,
            target_se=arguments.target_error,
            seed=arguments.seed,
            interval=arguments.interval,
            assignment=arguments.assignment,
            what_if=True,
            **kept,
        )
    print_report(report.to_dict(), arguments)
    return 0
