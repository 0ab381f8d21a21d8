"""``softirr code``: the concepts of every text of a file."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_policy, add_terminology
from softirr.cli.read_answers import add_input_options, read_table

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``code`` to the commands."""
    code = commands.add_parser("code", help="print the concepts of each text in your terminologies, as CSV")
    add_input_options(code)
    add_policy(code)
    add_terminology(code, required=True)
    code.set_defaults(run=_code)


def _code(arguments: argparse.Namespace) -> int:
    from softirr.meaning.policy.simplified import simplifications
    from softirr.meaning.terminology.coder import Coder
    from softirr.meaning.terminology.index import open_index
    from softirr.report.codes import codes_csv

    coder = Coder([open_index(path) for path in arguments.terminology], simplifications)
    print(codes_csv(read_table(arguments, least_raters=1), coder), end="")
    return 0
