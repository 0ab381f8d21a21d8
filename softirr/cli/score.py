"""``softirr score``: the agreement of a file."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from softirr.cli.arguments import (
    add_also,
    add_json,
    add_scoring,
    agreement_options,
    made_measure,
    print_report,
    read_tables,
    scoring,
)
from softirr.terminal import add_input_options, fraction, print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``score`` to the commands."""
    score = commands.add_parser("score", help="print the agreement of a file of answers")
    add_input_options(score)
    score.add_argument(
        "--weight",
        metavar="COLUMN",
        help="weight of each item: a column, key or field with a number of 0 or more",
    )
    add_scoring(score)
    add_also(score)
    add_json(score)
    score.add_argument(
        "--output",
        metavar="FOLDER",
        help="also write tables (CSV, XLSX, Parquet), an HTML page and JSON into this folder",
    )
    score.add_argument(
        "--no-reasons",
        dest="reasons",
        action="store_false",
        help="do not explain why texts do not match: faster, with the same coefficients and matches",
    )
    score.add_argument(
        "--fail-below",
        type=fraction,
        metavar="X",
        help="exit with status 1 if the headline is below this number, or is not defined",
    )
    score.set_defaults(run=_score)


def _score(arguments: argparse.Namespace) -> int:
    from softirr.measures.suitability import AUTO, chosen_for
    from softirr.report.agreement import agreement

    tables = read_tables(arguments)
    if arguments.measure == AUTO:
        arguments.measure, tables = chosen_for(tables)
    measure = made_measure(arguments)
    reports = {}
    with scoring(arguments) as kept:
        for name, table in tables.items():
            reports[name] = agreement(
                table,
                measure,
                agreement_options(arguments, reasons=arguments.reasons, what_if=arguments.reasons),
                **kept,
            ).to_dict()
    if arguments.output is not None:
        _write(reports, arguments)
    if len(reports) == 1:
        print_report(next(iter(reports.values())), arguments)
    elif arguments.json:
        print_json({"schema_version": 1, "texts": reports})
    else:
        for number, (name, report) in enumerate(reports.items()):
            print(f"{'' if number == 0 else chr(10)}Text {name}")
            print_report(report, arguments)
    return 0 if arguments.fail_below is None else _status(reports, arguments.fail_below)


def _status(reports: dict[str, Any], least: float) -> int:
    """1 where the headline of a report is below the number that was asked for, with the reason on standard error."""
    from softirr.coefficients.registry import coefficient_name
    from softirr.report.headline import headline
    from softirr.report.text import printable

    status = 0
    for name, report in reports.items():
        known = headline(report)
        if known is not None and known[1]["value"] >= least:
            continue
        status = 1
        of = f"Text {printable(name)}: " if len(reports) > 1 else ""
        value = "" if known is None else f"{coefficient_name(known[0])} is {known[1]['value']:.4f}"
        print(
            f"softirr: {of}{value or 'no coefficient is defined'}, but --fail-below asks for {least:g}.",
            file=sys.stderr,
        )
    return status


def _write(reports: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Write each report; several have a folder of their own each."""
    from pathlib import Path

    from softirr.report.output import write_report

    notes: dict[str, None] = {}
    for number, (name, report) in enumerate(reports.items(), start=1):
        plain = "".join(mark if mark.isalnum() or mark in "-_ " else "_" for mark in name).strip() or str(number)
        folder = Path(arguments.output) / plain if len(reports) > 1 else Path(arguments.output)
        source = None if arguments.file == "-" else Path(arguments.file).name
        notes |= dict.fromkeys(write_report(report, folder, source=source))
    for note in notes:
        print(f"softirr: {note}", file=sys.stderr)
