"""``softirr calibrate``: learn from judged pairs what the scores of a measure mean."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_json, add_model, add_policy, made_measure, scoring
from softirr.errors import InputError
from softirr.terminal import print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``calibrate`` to the commands."""
    calibrate = commands.add_parser("calibrate", help="learn from judged pairs what the scores of a measure mean")
    calibrate.add_argument("pairs", metavar="PAIRS", help="CSV text_a,text_b,judgement with same or different")
    add_model(calibrate)
    add_policy(calibrate, split=False)
    calibrate.add_argument(
        "--method",
        choices=("auto", "isotonic", "platt", "directions"),
        default="auto",
        help="the curve to fit (auto: by both directions where the measure has them, else by the number of pairs)",
    )
    calibrate.add_argument("--output", metavar="FILE", help="file for the result, to use as --calibration FILE")
    calibrate.add_argument(
        "--propose",
        action="store_true",
        help="propose the policy that explains the judgements instead; --output FILE is for --policy FILE",
    )
    calibrate.add_argument(
        "--answers", metavar="ANSWERS", help="with --propose: answers, for the coefficient under each candidate"
    )
    add_json(calibrate)
    calibrate.set_defaults(run=_calibrate)


def _propose(arguments: argparse.Namespace) -> int:
    from softirr.audit.proposal import propose_policy
    from softirr.tables.files import read

    table = None if arguments.answers is None else read(arguments.answers)
    with scoring(arguments) as kept:
        found = propose_policy(arguments.pairs, made_measure(arguments), table=table, **kept)
    if arguments.output is not None:
        found.policy.save(arguments.output)
    if arguments.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(line)
    return 0


def _calibrate(arguments: argparse.Namespace) -> int:
    if arguments.propose:
        return _propose(arguments)
    if arguments.answers is not None:
        raise InputError("--answers is for --propose: a calibration needs judged pairs only.")
    from softirr.measures.calibration import calibrate

    with scoring(arguments) as kept:
        found = calibrate(arguments.pairs, made_measure(arguments), method=arguments.method, **kept)
    if arguments.output is not None:
        found.calibration.save(arguments.output)
    if arguments.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(line)
    return 0
