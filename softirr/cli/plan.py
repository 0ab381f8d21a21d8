"""``softirr plan``: how many items, raters and judgements an interval needs."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import (
    COEFFICIENT_CHOICES,
    add_calibration,
    add_json,
    add_measure,
    add_policy,
    add_seed,
    made_measure,
    read_table,
    scoring,
    write_picture,
)
from softirr.errors import InputError
from softirr.terminal import add_reading_options, fraction, positive_number, print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``plan`` to the commands."""
    plan = commands.add_parser("plan", help="how many items, raters and judgements an interval needs")
    plan.add_argument(
        "file", nargs="?", metavar="FILE", help="a pilot; without one, --kappa and --expected are assumed"
    )
    plan.add_argument(
        "--width",
        type=fraction,
        default=0.1,
        metavar="X",
        help="wanted width of the 95%% interval, from end to end (0.1)",
    )
    plan.add_argument("--kappa", type=fraction, metavar="X", help="coefficient to assume without a pilot (0.6)")
    plan.add_argument(
        "--expected", type=fraction, metavar="X", help="agreement by chance to assume without a pilot (0.1)"
    )
    plan.add_argument("--sheets", nargs="+", default=[], metavar="SHEET", help="judged audit sheets of the pilot")
    plan.add_argument("--answer-cost", type=positive_number, default=1.0, metavar="X", help="cost of an answer (1)")
    plan.add_argument(
        "--judgement-cost", type=positive_number, default=0.2, metavar="X", help="cost of a judgement (0.2)"
    )
    plan.add_argument("--coefficient", choices=COEFFICIENT_CHOICES[:5], help="what is planned for (the headline)")
    add_reading_options(plan)
    add_measure(plan)
    add_policy(plan)
    add_calibration(plan, "what softirr calibrate learned")
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
        found = plan(value=arguments.kappa or 0.6, chance=arguments.expected or 0.1, **wanted)
    else:
        if arguments.kappa or arguments.expected:
            raise InputError("--kappa and --expected are assumed where there is no pilot: leave them out.")
        table, measure = read_table(arguments), made_measure(arguments)
        options = AgreementOptions(seed=arguments.seed, assignment=arguments.assignment)
        with scoring(arguments) as kept:
            found = plan(table, measure, options, sheets=arguments.sheets, **wanted, **kept)
    if arguments.plot:
        write_picture(found.to_svg(), found.lines(), "Plan", arguments.plot)
    if arguments.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(line)
    return 0
