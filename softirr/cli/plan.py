"""``softirr plan``: how many items, raters and judgments an interval needs."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import (
    add_json,
    add_measure,
    add_policy,
    add_seed,
    made_measure,
    read_table,
    scoring,
    write_picture,
)
from softirr.defaults import ANSWER_COST, ASSUMED_CHANCE, ASSUMED_VALUE, JUDGMENT_COST, WIDTH
from softirr.errors import InputError
from softirr.terminal import add_reading_options, fraction, positive_number, print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``plan`` to the commands."""
    from softirr.coefficients.registry import coefficient_keys

    plan = commands.add_parser("plan", help="how many items, raters and judgments an interval needs")
    plan.add_argument(
        "file", nargs="?", metavar="FILE", help="a pilot; without one, --kappa and --expected are assumed"
    )
    plan.add_argument(
        "--width",
        type=fraction,
        default=WIDTH,
        metavar="X",
        help=f"wanted width of the 95%% interval, from end to end ({WIDTH:g})",
    )
    plan.add_argument(
        "--kappa", type=fraction, metavar="X", help=f"coefficient to assume without a pilot ({ASSUMED_VALUE:g})"
    )
    plan.add_argument(
        "--expected",
        type=fraction,
        metavar="X",
        help=f"agreement by chance to assume without a pilot ({ASSUMED_CHANCE:g})",
    )
    plan.add_argument("--sheets", nargs="+", default=[], metavar="SHEET", help="judged audit sheets of the pilot")
    plan.add_argument(
        "--answer-cost",
        type=positive_number,
        default=ANSWER_COST,
        metavar="X",
        help=f"cost of an answer ({ANSWER_COST:g})",
    )
    plan.add_argument(
        "--judgement-cost",
        type=positive_number,
        default=JUDGMENT_COST,
        metavar="X",
        help=f"cost of a judgment ({JUDGMENT_COST:g})",
    )
    plan.add_argument(
        "--coefficient", choices=coefficient_keys(audited=True), help="what is planned for (the headline)"
    )
    add_reading_options(plan)
    add_measure(plan)
    add_policy(plan)
    add_seed(plan)
    plan.add_argument("--plot", metavar="FILE", help="write the curves: .svg or .html")
    add_json(plan)
    plan.set_defaults(run=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from softirr.planning.plan import plan
    from softirr.report.options import AgreementOptions

    wanted = {
        "width": arguments.width,
        "coefficient": arguments.coefficient,
        "answer_cost": arguments.answer_cost,
        "judgement_cost": arguments.judgement_cost,
    }
    if arguments.file is None:
        if arguments.sheets:
            raise InputError("--sheets are of a pilot: name its file.")
        result = plan(value=arguments.kappa or ASSUMED_VALUE, chance=arguments.expected or ASSUMED_CHANCE, **wanted)
    else:
        if arguments.kappa or arguments.expected:
            raise InputError("--kappa and --expected are assumed where there is no pilot: leave them out.")
        table, measure = read_table(arguments), made_measure(arguments)
        options = AgreementOptions(seed=arguments.seed, assignment=arguments.assignment)
        with scoring(arguments) as kept:
            result = plan(table, measure, options, sheets=arguments.sheets, **wanted, **kept)
    if arguments.plot:
        write_picture(result.to_svg(), result.lines(), "Plan", arguments.plot)
    if arguments.json:
        print_json(result.to_dict())
    else:
        for line in result.lines():
            print(line)
    return 0
