"""``softirr audit``: correct the coefficients with judgements of a random sample."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from softirr.cli.arguments import (
    add_calibration,
    add_json,
    add_measure,
    add_policy,
    add_seed,
    made_measure,
    read_table,
    scoring,
)
from softirr.errors import InputError
from softirr.terminal import add_input_options, positive, print_json

__all__ = ["add_command"]

_BETTER_P = (
    "what softirr calibrate learned: the better the scores, the narrower the interval (the same for sample and apply)"
)


def add_command(commands: Any) -> None:
    """Add ``audit`` and its steps to the commands."""
    audit = commands.add_parser("audit", help="correct the coefficients with judgements of a random sample")
    steps = audit.add_subparsers(title="steps", required=True, metavar="STEP")
    sample = steps.add_parser("sample", help="draw the pairs to judge, as CSV on standard output")
    add_input_options(sample)
    add_measure(sample)
    add_policy(sample)
    add_calibration(sample, _BETTER_P)
    sample.add_argument(
        "--judgements",
        type=positive,
        default=60,
        metavar="N",
        help="how many pairs of texts to draw, including those of --without (60)",
    )
    sample.add_argument(
        "--without",
        nargs="+",
        action="extend",
        default=[],
        metavar="SHEET",
        help="earlier sheets of this sample: print only what is not on them",
    )
    add_seed(sample, "seed of the draw (default: that of --without, else 0)", None)
    sample.set_defaults(run=_sample)
    apply = steps.add_parser("apply", help="print coefficients and intervals from a judged sample")
    add_input_options(apply)
    apply.add_argument("sheets", nargs="+", metavar="SHEET", help="judged sheet; one for each draw and judge")
    add_measure(apply)
    add_policy(apply)
    add_calibration(apply, _BETTER_P)
    apply.add_argument(
        "--proxies",
        metavar="NAMES",
        default="",
        help="further measures that help to correct, comma-separated, such as indel,jaccard: they narrow the interval a little from about 40 judgements on",
    )
    add_json(apply)
    apply.set_defaults(run=_apply)


def _sample(arguments: argparse.Namespace) -> int:
    from softirr.audit.audited import sample, seed_of
    from softirr.tables.sheets import read_sheet

    sheets = [read_sheet(path) for path in arguments.without]
    places = {unit: sheet.place((unit, pair)) for sheet in sheets for unit, pair in sheet.values}
    seed = arguments.seed if arguments.seed is not None else seed_of(places) if places else 0
    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        sheet = sample(
            table,
            measure,
            judgements=arguments.judgements,
            seed=seed,
            assignment=arguments.assignment,
            without=places.keys(),
            **kept,
        )
    if not sheet.units:
        raise InputError(
            f"Nothing is left to judge: the sheets of --without hold {len(places)} units, and --judgements {arguments.judgements} includes them."
        )
    print(sheet.to_csv(), end="")
    if len(sheet.units) + len(places) < arguments.judgements:
        print(f"softirr: there are only {len(sheet.units) + len(places)} units to judge.", file=sys.stderr)
    return 0


def _apply(arguments: argparse.Namespace) -> int:
    from softirr.audit.audited import apply

    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        report = apply(
            table,
            measure,
            arguments.sheets,
            proxies=[name.strip() for name in arguments.proxies.split(",") if name.strip()],
            assignment=arguments.assignment,
            **kept,
        )
    if arguments.json:
        print_json(report.to_dict())
    else:
        for line in report.lines():
            print(line)
    return 0
