"""Options that several commands have, and what the commands make of them: measure, policy, chance, cache."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any

from softirr.defaults import CHEAP_TARGET_SE, PERMUTATIONS, TARGET_SE
from softirr.errors import InputError
from softirr.terminal import bounded, fraction, print_json, progress_bar

__all__ = [
    "add_also",
    "add_chance",
    "add_json",
    "add_measure",
    "add_model",
    "add_model_options",
    "add_policy",
    "add_scoring",
    "add_seed",
    "add_terminology",
    "agreement_options",
    "chosen_policy",
    "made_measure",
    "print_report",
    "print_result",
    "scoring",
]


def add_measure(command: argparse.ArgumentParser) -> None:
    """Add the measure, its model and how sets are matched."""
    add_model(command)
    command.add_argument(
        "--assignment",
        choices=("optimal", "greedy"),
        default="optimal",
        help="how the texts of two sets are paired (optimal)",
    )


def add_model(command: argparse.ArgumentParser) -> None:
    """Add the measure and what its model needs."""
    from softirr.meaning.measures import DEFAULT_MEASURE

    command.add_argument(
        "--measure",
        default=DEFAULT_MEASURE,
        metavar="NAME",
        help=f"how two texts are compared; softirr measures lists the names ({DEFAULT_MEASURE})",
    )
    add_terminology(command)
    add_model_options(command)


def add_model_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say where models run and where scores are stored, for every command that scores."""
    command.add_argument("--device", metavar="NAME", help="where a model runs: auto, cpu, cuda, cuda:1, mps (auto)")
    command.add_argument(
        "--precision",
        metavar="NAME",
        help="number format of the model: auto, float32, bfloat16, int8 (auto: the fastest with the same scores)",
    )
    command.add_argument(
        "--engine", metavar="NAME", help="local, or ray to distribute the work of a model over a Ray cluster (local)"
    )
    command.add_argument(
        "--cache",
        metavar="URL",
        help="store of scored pairs: a file, a PostgreSQL URL, or none (a file in your cache folder; SOFTIRR_CACHE)",
    )


def add_terminology(command: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add ``--terminology``."""
    command.add_argument(
        "--terminology",
        action="append",
        default=[],
        required=required,
        metavar="PATH",
        help="look texts up in this terminology first; repeatable",
    )


def add_chance(command: argparse.ArgumentParser) -> None:
    """Add how chance is computed."""
    command.add_argument(
        "--chance",
        choices=("auto", "exact", "permutation", "stratified"),
        default="auto",
        help="how chance agreement is computed (auto: exact if the pairs fit the budget, else stratified)",
    )
    command.add_argument(
        "--permutations",
        type=bounded(1_000_000),
        default=PERMUTATIONS,
        metavar="N",
        help=f"number of permutations for --chance permutation ({PERMUTATIONS})",
    )
    command.add_argument(
        "--target-error",
        type=fraction,
        metavar="X",
        help=f"standard error at which --chance stratified stops ({TARGET_SE:g}; {CHEAP_TARGET_SE:g} for measures "
        "without a model)",
    )


def add_also(command: argparse.ArgumentParser) -> None:
    """Add ``--also``: coefficients that reports have only when asked for them."""
    from softirr.statistics.coefficients.registry import coefficient_keys

    more = coefficient_keys(shown=False)
    command.add_argument(
        "--also",
        action="append",
        choices=more,
        default=[],
        metavar="NAME",
        help=f"also report this coefficient: {', '.join(more)}; repeatable",
    )


def agreement_options(arguments: argparse.Namespace, **changes: Any) -> Any:
    """The options of :func:`softirr.agreement` of a command."""
    from softirr.report.options import AgreementOptions

    return AgreementOptions(
        chance=arguments.chance,
        permutations=arguments.permutations,
        target_se=arguments.target_error,
        seed=arguments.seed,
        assignment=arguments.assignment,
        also=tuple(getattr(arguments, "also", ())),
        **changes,
    )


def add_policy(command: argparse.ArgumentParser, *, split: bool = True) -> None:
    """Add what counts as the same; without ``--split`` where the command reads no answers."""
    from softirr.meaning.policy.rules import MORE_GENERAL, PRESETS, SPLITS

    command.add_argument(
        "--policy",
        default="as-written",
        metavar="NAME",
        help=f"what counts as the same: {', '.join(PRESETS)}, or a JSON file (as-written)",
    )
    command.add_argument(
        "--ignore",
        type=_kinds,
        metavar="KINDS",
        help="attributes that do not count, separated by commas: side, severity, time, number, certainty, negation, "
        "subject, cause; replaces the policy's list",
    )
    command.add_argument(
        "--count",
        type=_kinds,
        metavar="KINDS",
        help="attributes that decide: texts with different values of one never match; replaces the policy's list",
    )
    command.add_argument(
        "--more-general",
        choices=tuple(MORE_GENERAL),
        help="whether a more general text counts as the same: no (strict), in part (graded) or yes (lenient); "
        "replaces the policy's choice",
    )
    if split:
        command.add_argument(
            "--split",
            choices=SPLITS,
            metavar="MODE",
            help=f"split a text that contains a list: {', '.join(SPLITS)}; in place of the policy's",
        )


def _kinds(text: str) -> frozenset[str]:
    from softirr.meaning.policy.attributes import kinds_of

    try:
        return kinds_of([kind.strip() for kind in text.split(",") if kind.strip()])
    except InputError as error:
        raise argparse.ArgumentTypeError(error.on_command_line) from None


def chosen_policy(arguments: argparse.Namespace) -> Any:
    """The policy of a command: a preset or a file, with the parts that the command names itself."""
    from softirr.meaning.policy.rules import find_policy

    return find_policy(arguments.policy).changed(
        ignore=arguments.ignore,
        more_general=arguments.more_general,
        split=getattr(arguments, "split", None),
        count=arguments.count,
    )


def add_scoring(command: argparse.ArgumentParser) -> None:
    """Add everything that agreement depends on: measure, policy, chance and seed."""
    add_measure(command)
    add_policy(command)
    add_chance(command)
    add_seed(command)


def add_seed(command: argparse.ArgumentParser, what: str = "random seed (0)", default: int | None = 0) -> None:
    """Add ``--seed``."""
    command.add_argument("--seed", type=int, default=default, metavar="N", help=what)


def add_json(command: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    command.add_argument("--json", action="store_true", help="print one JSON object")


def made_measure(arguments: argparse.Namespace) -> Any:
    """Make the measure of a command."""
    from softirr.meaning.measures import takes_model
    from softirr.meaning.policy.build_measure import measure

    named = {"device": arguments.device, "precision": arguments.precision, "engine": arguments.engine}
    options = {name: value for name, value in named.items() if value is not None}
    if options and not takes_model(arguments.measure):
        raise InputError(
            f"The measure {arguments.measure} has no model, so --{next(iter(options))} has no effect: leave it out."
        )
    policy = chosen_policy(arguments) if hasattr(arguments, "policy") else None
    return measure(arguments.measure, terminology=arguments.terminology, policy=policy, **options)


@contextlib.contextmanager
def scoring(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Cache and progress, as every function that scores takes them."""
    from softirr.meaning.measures import takes_model
    from softirr.meaning.measures.cache import open_cache

    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(open_cache(arguments.cache)) if takes_model(arguments.measure) else None
        yield {"cache": cache, "progress": stack.enter_context(progress_bar("scoring pairs"))}


def print_result(result: Any, arguments: argparse.Namespace) -> None:
    """Print a result, which has ``lines()`` and ``to_dict()``, as text or as JSON."""
    if arguments.json:
        print_json(result.to_dict())
    else:
        print(*result.lines(), sep="\n")


def print_report(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Print a report as text, or as JSON."""
    if arguments.json:
        print_json(report)
        return
    from softirr.report.terminal_report import report_lines

    print(*report_lines(report, source=arguments.file), sep="\n")
