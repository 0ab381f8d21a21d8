"""``softirr calibrate``: compare the scores of a measure with judged pairs, or propose a policy."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_json, add_model, add_policy, made_measure, print_result, scoring
from softirr.errors import InputError

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``calibrate`` to the commands."""
    calibrate = commands.add_parser(
        "calibrate", help="compare the scores of a measure with judged pairs, or propose a policy"
    )
    calibrate.add_argument("pairs", metavar="PAIRS", help="CSV text_a,text_b,judgement with same or different")
    add_model(calibrate)
    add_policy(calibrate, split=False)
    calibrate.add_argument(
        "--propose",
        action="store_true",
        help="propose the policy that explains the judgments instead",
    )
    calibrate.add_argument(
        "--output", metavar="FILE", help="with --propose: write the policy to this file, for --policy FILE"
    )
    calibrate.add_argument(
        "--answers",
        metavar="ANSWERS",
        help="with --propose: file of answers, to show the coefficient under each candidate",
    )
    add_json(calibrate)
    calibrate.set_defaults(run=_calibrate)


def _propose(arguments: argparse.Namespace) -> int:
    from softirr.answers.files import read
    from softirr.audit.proposal import propose_policy

    table = None if arguments.answers is None else read(arguments.answers)
    with scoring(arguments) as kept:
        result = propose_policy(arguments.pairs, made_measure(arguments), table=table, **kept)
    print_result(result, arguments)
    if arguments.output is not None:
        result.policy.save(arguments.output)
    return 0


def _calibrate(arguments: argparse.Namespace) -> int:
    if arguments.propose:
        return _propose(arguments)
    if arguments.answers is not None:
        raise InputError("--answers needs --propose.")
    if arguments.output is not None:
        raise InputError("--output needs --propose.")
    from softirr.meaning.measures.reliability import calibrate

    with scoring(arguments) as kept:
        result = calibrate(arguments.pairs, made_measure(arguments), **kept)
    print_result(result, arguments)
    return 0
