"""``softirr codebook``: groups of equivalent answers over a whole file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from softirr.cli.arguments import add_json, add_measure, add_policy, made_measure, print_result, scoring
from softirr.cli.read_answers import add_input_options, read_table
from softirr.defaults import THRESHOLD
from softirr.errors import writing

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``codebook`` to the commands.

    Parameters
    ----------
    commands : the subparsers of the command line
    """
    book = commands.add_parser("codebook", help="group equivalent answers, with names, counts and raters")
    add_input_options(book)
    add_measure(book)
    add_policy(book)
    book.add_argument(
        "--threshold",
        type=float,
        default=THRESHOLD,
        metavar="P",
        help=f"least mean equivalence of the texts of an entry ({THRESHOLD:g})",
    )
    book.add_argument(
        "--neighbors",
        type=int,
        default=10,
        metavar="N",
        help="compare each text with this number of similarly spelled texts (10)",
    )
    book.add_argument(
        "--output",
        metavar="FILE",
        help="write the codebook: .tsv for --terminology, .csv, .qdc (REFI-QDA) or .sav (SPSS)",
    )
    book.add_argument(
        "--contributions",
        metavar="FILE",
        help="write what each rater contributes, with 95%% intervals, as CSV",
    )
    add_json(book)
    book.set_defaults(run=_codebook)


def _codebook(arguments: argparse.Namespace) -> int:
    from softirr.report.codebook import codebook
    from softirr.report.codebook_files import check_ending, codebook_file, contributions_csv

    if arguments.output:
        check_ending(arguments.output)
    table = read_table(arguments, least_raters=1)
    scorer = made_measure(arguments)
    with scoring(arguments) as kept:
        entries = codebook(table, scorer, threshold=arguments.threshold, neighbors=arguments.neighbors, **kept)
    print_result(entries, arguments)
    if arguments.output:
        with writing(arguments.output):
            Path(arguments.output).write_bytes(codebook_file(entries, table, Path(arguments.output).suffix))
    if arguments.contributions:
        with writing(arguments.contributions):
            Path(arguments.contributions).write_bytes(contributions_csv(entries).encode())
    return 0
