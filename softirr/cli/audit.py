"""``softirr audit``: correct the coefficients with judgments of a random sample."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from softirr.cli.arguments import add_json, add_measure, add_policy, add_seed, made_measure, scoring
from softirr.cli.read_answers import add_input_options, read_table
from softirr.defaults import JUDGMENTS
from softirr.errors import InputError
from softirr.plural import plural
from softirr.terminal import positive, print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``audit`` and its steps to the commands."""
    audit = commands.add_parser("audit", help="correct the coefficients with judgments of a random sample")
    steps = audit.add_subparsers(title="steps", required=True, metavar="STEP")
    sample = steps.add_parser("sample", help="draw the pairs to judge, as CSV on standard output")
    add_input_options(sample)
    add_measure(sample)
    add_policy(sample)
    sample.add_argument(
        "--judgements",
        type=positive,
        default=JUDGMENTS,
        metavar="N",
        help=f"number of pairs of texts to draw, including the pairs of --without ({JUDGMENTS})",
    )
    sample.add_argument(
        "--without",
        nargs="+",
        action="extend",
        default=[],
        metavar="SHEET",
        help="earlier sheets of this sample: print only pairs that are not in them",
    )
    add_seed(sample, "seed of the draw (default: the seed of --without, else 0)", None)
    sample.set_defaults(run=_sample)
    apply = steps.add_parser("apply", help="print the corrected coefficients from a judged sheet")
    add_input_options(apply)
    apply.add_argument(
        "sheets", nargs="+", metavar="SHEET", help="judged sheet; repeatable, for several draws or judges"
    )
    add_measure(apply)
    add_policy(apply)
    add_json(apply)
    apply.set_defaults(run=_apply)


def _sample(arguments: argparse.Namespace) -> int:
    from softirr.answers.sheets import read_sheet
    from softirr.audit.workflow import draw_sheet
    from softirr.statistics.evidence.sampling_frames import seed_of

    sheets = [read_sheet(path) for path in arguments.without]
    places = {unit: sheet.place((unit, pair)) for sheet in sheets for unit, pair in sheet.values}
    seed = arguments.seed if arguments.seed is not None else seed_of(places) if places else 0
    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        sheet = draw_sheet(
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
            f"Nothing is left to judge: the sheets of --without contain {plural(len(places), 'unit')}, and "
            f"--judgements {arguments.judgements} includes them."
        )
    print(sheet.to_csv(), end="")
    if len(sheet.units) + len(places) < arguments.judgements:
        print(
            f"softirr: only {plural(len(sheet.units) + len(places), 'unit is', 'units are')} there to judge.",
            file=sys.stderr,
        )
    return 0


def _apply(arguments: argparse.Namespace) -> int:
    from softirr.audit.workflow import apply, audit_lines

    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        report = apply(
            table,
            measure,
            arguments.sheets,
            assignment=arguments.assignment,
            **kept,
        )
    if arguments.json:
        print_json(report.to_dict())
    else:
        print(*audit_lines(report), sep="\n")
    return 0
