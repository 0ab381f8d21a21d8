"""``softirr plan``: plan how many items, raters and judgments an interval needs."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import add_json, add_measure, add_policy, add_seed, made_measure, print_result, scoring
from softirr.cli.pictures import add_plot, write_picture
from softirr.cli.read_answers import add_reading_options, read_table, takes_predictions
from softirr.defaults import ANSWER_COST, ASSUMED_CHANCE, ASSUMED_VALUE, JUDGMENT_COST, MARGIN, POWER, WIDTH
from softirr.errors import InputError
from softirr.terminal import fraction, not_negative, positive_number

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``plan`` to the commands."""
    from softirr.statistics.coefficients.registry import coefficient_keys

    plan = commands.add_parser("plan", help="plan how many items, raters and judgments an interval needs")
    plan.add_argument(
        "file", nargs="?", metavar="FILE", help="answers of a pilot; without it, the plan uses --kappa and --expected"
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
        "--coefficient", choices=coefficient_keys(audited=True), help="coefficient to plan for (the headline)"
    )
    plan.add_argument(
        "--models",
        nargs="*",
        metavar="RATER",
        help="plan what verdicts on models need: the raters named here, else predictions of an export and raters named "
        "model:NAME",
    )
    plan.add_argument(
        "--margin", type=not_negative, metavar="X", help=f"with --models: margin of the verdicts ({MARGIN:g})"
    )
    plan.add_argument(
        "--power", type=fraction, metavar="X", help=f"with --models: wanted probability of the verdict ({POWER:g})"
    )
    plan.add_argument(
        "--below",
        type=not_negative,
        metavar="X",
        help="with --models: how far below the others the models are assumed to be (0)",
    )
    add_reading_options(plan)
    add_measure(plan)
    add_policy(plan)
    add_seed(plan)
    add_plot(plan, "the curves")
    add_json(plan)
    plan.set_defaults(run=_plan)


_OF_MODELS = ("margin", "power", "below")


def _plan(arguments: argparse.Namespace) -> int:
    from softirr.planning.plan import plan
    from softirr.report.options import AgreementOptions

    result: Any
    wanted = {
        "width": arguments.width,
        "coefficient": arguments.coefficient,
        "answer_cost": arguments.answer_cost,
        "judgement_cost": arguments.judgement_cost,
    }
    if arguments.models is None and any(getattr(arguments, name) is not None for name in _OF_MODELS):
        raise InputError("--margin, --power and --below go with --models.")
    if arguments.models is not None and arguments.plot:
        raise InputError("A plan for models has no curves: leave --plot out.")
    if arguments.file is None:
        if arguments.models is not None:
            raise InputError("--models plans from a pilot: name its file.")
        if arguments.sheets:
            raise InputError("--sheets needs the file of the pilot.")
        result = plan(value=arguments.kappa or ASSUMED_VALUE, chance=arguments.expected or ASSUMED_CHANCE, **wanted)
    else:
        if arguments.kappa or arguments.expected:
            raise InputError("--kappa and --expected are only for a plan without a pilot: remove them.")
        table, measure = read_table(arguments, models=takes_predictions(arguments.models)), made_measure(arguments)
        options = AgreementOptions(seed=arguments.seed, assignment=arguments.assignment)
        with scoring(arguments) as kept:
            if arguments.models is None:
                result = plan(table, measure, options, sheets=arguments.sheets, **wanted, **kept)
            else:
                result = _of_models(arguments, table, measure, options, kept)
    print_result(result, arguments)
    if arguments.plot:
        write_picture(result.to_svg(), result.lines(), "Plan", arguments.plot)
    return 0


def _of_models(arguments: argparse.Namespace, table: Any, measure: Any, options: Any, kept: dict[str, Any]) -> Any:
    from softirr.planning.plan_models import plan_models

    return plan_models(
        table,
        arguments.models or None,
        measure,
        options,
        coefficient=arguments.coefficient or "cohen_kappa",
        **{name: value for name in _OF_MODELS if (value := getattr(arguments, name)) is not None},
        sheets=arguments.sheets,
        answer_cost=arguments.answer_cost,
        judgment_cost=arguments.judgement_cost,
        **kept,
    )
