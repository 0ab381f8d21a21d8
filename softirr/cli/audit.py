"""``softirr audit``: correct the coefficients with judgments of a random sample."""

from __future__ import annotations

import argparse
import sys

from softirr.cli.arguments import (
    add_command,
    add_json,
    add_option,
    add_scoring,
    agreement_options,
    build_measure,
    in_own_terms,
    print_report,
)
from softirr.cli.read_answers import add_input_options, add_reading_options, read_table
from softirr.defaults import JUDGMENTS
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.terminal import positive


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the steps of ``audit``."""
    steps = command.add_subparsers(title="steps", required=True, metavar="STEP")
    sample = add_command(steps, "sample", "draw the pairs to judge, as CSV on standard output")
    group = sample.add_argument_group("what is drawn")
    add_option(
        group,
        "--judgments N",
        "number of pairs of texts to draw, including the pairs of --without",
        earlier=("--judgements",),
        type=positive,
        default=JUDGMENTS,
    )
    add_option(
        group,
        "--without SHEET",
        "earlier sheets of this sample: print only pairs that are not in them",
        nargs="+",
        action="extend",
        default=[],
    )
    add_input_options(sample)
    add_scoring(sample)
    sample.set_defaults(run=_sample, seed=None)
    apply = add_command(steps, "apply", "print the corrected coefficients, as score --judgments does")
    add_option(apply, "file FILE", "the file that the sheets were drawn from")
    add_option(apply, "judgments SHEET", "judged sheet; repeatable, for several draws or judges", nargs="+")
    add_json(apply)
    add_reading_options(apply)
    add_scoring(apply)
    apply.set_defaults(run=_apply)


def _sample(arguments: argparse.Namespace) -> int:
    from softirr.answers.sheets import read_sheet
    from softirr.audit import draw_sheet
    from softirr.statistics.evidence.sampling_frames import seed_of

    sheets = [read_sheet(path) for path in arguments.without]
    units = {unit for sheet in sheets for unit, _ in sheet.values}
    seed = seed_of(sheets) if arguments.seed is None else arguments.seed
    table, measure = read_table(arguments), build_measure(arguments)
    sheet = draw_sheet(
        table,
        measure,
        judgments=arguments.judgments,
        seed=seed,
        assignment=arguments.assignment,
        without=units,
        cache=arguments.cache or "auto",
    )
    if not sheet.units:
        raise InputError(
            f"Nothing is left to judge: the sheets of --without contain {plural(len(units), 'unit')}, and "
            f"--judgments {arguments.judgments} includes them."
        )
    print(sheet.to_csv(), end="")
    n_units = len(sheet.units) + len(units)
    if n_units < arguments.judgments:
        print(f"softirr: the file has only {plural(n_units, 'unit')} to judge.", file=sys.stderr)
    return 0


def _apply(arguments: argparse.Namespace) -> int:
    from softirr.audit import apply

    table, measure = read_table(arguments), build_measure(arguments)
    options, cache = agreement_options(arguments), arguments.cache or "auto"
    report = apply(table, measure, arguments.judgments, options=options, cache=cache)
    print_report(in_own_terms(report).to_dict(), arguments)
    return 0
