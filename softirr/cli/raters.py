"""``softirr raters``: repeated items, drift, and groups of raters."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_json, add_scoring, agreement_options, made_measure, print_result, scoring
from softirr.cli.read_answers import add_input_options, read_table
from softirr.errors import InputError

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``raters`` to the commands.

    Parameters
    ----------
    commands : the subparsers of the command line
    """
    raters = commands.add_parser("raters", help="look at single raters: repeated items, drift, groups")
    add_input_options(raters)
    again = raters.add_mutually_exclusive_group()
    again.add_argument(
        "--same", metavar="FIELD", help="items with the same value of this field are the same item, shown again"
    )
    again.add_argument(
        "--again", action="store_true", help="compare the first and the last answer of a rater to one item"
    )
    raters.add_argument(
        "--over", metavar="FIELD", help="drift: a field with dates or numbers (annotated_at in an export)"
    )
    add_scoring(raters)
    add_json(raters)
    raters.set_defaults(run=_raters)


def _raters(arguments: argparse.Namespace) -> int:
    from softirr.planning.raters import raters

    if arguments.again and arguments.file == "-":
        raise InputError("--again reads the file twice: name a file instead of standard input.")

    def read(repeats: str | None) -> Any:
        changed = argparse.Namespace(**{**vars(arguments), "repeats": repeats})
        return read_table(changed, fields=[name for name in (arguments.same, arguments.over) if name])

    table = read("last" if arguments.again else arguments.repeats)
    options = agreement_options(arguments)
    measure = made_measure(arguments)
    with scoring(arguments) as kept:
        result = raters(
            table,
            measure,
            options,
            same=arguments.same,
            earlier=read("first") if arguments.again else None,
            over=arguments.over,
            **kept,
        )
    print_result(result, arguments)
    return 0
