"""Options that several commands share, and the objects that commands make of them: measure, policy, chance, cache."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from softirr.defaults import PERMUTATIONS
from softirr.errors import InputError, on_command_line
from softirr.terminal import bounded, print_json, progress_bar

Group = argparse.ArgumentParser | argparse._ArgumentGroup


def add_option(group: Group, name: str, *, earlier: tuple[str, ...] = (), **settings: Any) -> None:
    """Add an option, and the names that it had in earlier releases, which the help does not show."""
    action = group.add_argument(name, **settings)
    for old in earlier:
        group.add_argument(old, **{**settings, "dest": action.dest, "help": argparse.SUPPRESS})


def add_scoring(command: argparse.ArgumentParser) -> None:
    """Add all options that agreement depends on: measure, policy, chance, and where models run."""
    from softirr.meaning.measures import DEFAULT_MEASURE

    group = command.add_argument_group("how texts are compared")
    group.add_argument(
        "--measure",
        default=DEFAULT_MEASURE,
        metavar="NAME",
        help=f"measure that compares two texts; softirr measures lists the names ({DEFAULT_MEASURE})",
    )
    group.add_argument(
        "--terminology",
        action="append",
        default=[],
        metavar="PATH",
        help="look texts up in this terminology first; may be repeated",
    )
    _add_policy(group)
    _add_computation(command)


def _add_policy(group: Group) -> None:
    from softirr.answers.splitting import SPLITS, check_split
    from softirr.meaning.policy.attributes import kinds_of
    from softirr.meaning.policy.rules import MORE_GENERAL, PRESETS

    attributes = _checked(lambda text: kinds_of([kind.strip() for kind in text.split(",") if kind.strip()]))
    group.add_argument(
        "--policy",
        default="as-written",
        metavar="NAME",
        help=f"what counts as the same: {', '.join(PRESETS)}, or a JSON file (as-written)",
    )
    group.add_argument(
        "--ignore",
        type=attributes,
        metavar="KINDS",
        help="attributes that do not count, separated by commas: side, severity, time, number, certainty, negation, "
        "subject, cause; replaces the policy's list",
    )
    group.add_argument(
        "--count",
        type=attributes,
        metavar="KINDS",
        help="attributes that decide: texts with different values of one never match; replaces the policy's list",
    )
    group.add_argument(
        "--more-general",
        choices=tuple(MORE_GENERAL),
        help="whether a more general text counts as the same: no (strict), in part (graded) or yes (lenient); "
        "replaces the policy's choice",
    )
    group.add_argument(
        "--split",
        type=_checked(check_split),
        metavar="MODE",
        help=f"split a text that contains a list: {', '.join(SPLITS)}, or the marks, such as ';|'; replaces the "
        "policy's choice",
    )


def _add_computation(command: argparse.ArgumentParser) -> None:
    """Add the options that few people need: chance, matching, and where models run."""
    group = command.add_argument_group("how it is computed (rarely needed)")
    group.add_argument(
        "--chance",
        choices=("auto", "exact", "permutation", "sample"),
        metavar="METHOD",
        default="auto",
        help="how chance agreement is computed: exact, permutation or sample (auto: exact if the pairs fit the budget, "
        "else sample)",
    )
    group.add_argument(
        "--permutations",
        type=bounded(1_000_000),
        default=PERMUTATIONS,
        metavar="N",
        help=f"number of permutations for --chance permutation ({PERMUTATIONS})",
    )
    group.add_argument(
        "--assignment",
        choices=("optimal", "greedy"),
        default="optimal",
        help="how the texts of two sets are paired (optimal)",
    )
    add_seed(group)
    add_model_options(group)


def add_model_options(group: Group) -> None:
    """Add the options for the device of a model and the store of its scores."""
    group.add_argument("--device", metavar="NAME", help="where a model runs: auto, cpu, cuda, cuda:1, mps (auto)")
    group.add_argument(
        "--precision",
        metavar="NAME",
        help="number format of the model: auto, float32, bfloat16, int8 (auto: the fastest with the same scores)",
    )
    group.add_argument(
        "--engine", metavar="NAME", help="local, or ray to distribute the work of a model over a Ray cluster (local)"
    )
    group.add_argument(
        "--cache",
        metavar="URL",
        help="store of scored pairs: a file, or none (a file in your cache folder; SOFTIRR_CACHE)",
    )


def add_judgments(group: Group) -> None:
    """Add ``--judgments``: judged sheets."""
    add_option(
        group,
        "--judgments",
        earlier=("--judgements", "--sheets"),
        nargs="+",
        default=[],
        metavar="SHEET",
        help="judged audit sheets, which correct the coefficients and narrow their intervals",
    )


def add_seed(group: Group) -> None:
    """Add ``--seed``."""
    group.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")


def add_json(group: Group) -> None:
    """Add ``--json``."""
    group.add_argument("--json", action="store_true", help="print one JSON object")


def _checked(check: Callable[[str], Any]) -> Callable[[str], Any]:
    """Make the type of an option from a function that refuses values."""

    def option_type(text: str) -> Any:
        try:
            return check(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(error.on_command_line) from None

    return option_type


def agreement_options(arguments: argparse.Namespace, **changes: Any) -> Any:
    """The options of :func:`softirr.agreement` that a command received."""
    from softirr.report.inputs import AgreementOptions

    return AgreementOptions(
        chance=arguments.chance,
        permutations=arguments.permutations,
        seed=arguments.seed or 0,
        assignment=arguments.assignment,
        **changes,
    )


def chosen_policy(arguments: argparse.Namespace) -> Any:
    """The policy of a command: a preset or a file, with the parts that single options replace."""
    from softirr.meaning.policy.rules import find_policy

    return find_policy(arguments.policy).changed(
        ignore=arguments.ignore, more_general=arguments.more_general, split=arguments.split, count=arguments.count
    )


def build_measure(arguments: argparse.Namespace, name: str | None = None) -> Any:
    """Make the measure of a command, or the measure of another name with the command's options."""
    from softirr.meaning.measures import takes
    from softirr.meaning.policy.measure import measure

    name = name or arguments.measure
    model_options = {"device": arguments.device, "precision": arguments.precision, "engine": arguments.engine}
    options = {option: value for option, value in model_options.items() if value is not None}
    if options and takes(name) != "model":
        raise InputError(f"The measure {name} has no model, so --{next(iter(options))} has no effect: leave it out.")
    return measure(name, terminology=arguments.terminology, policy=chosen_policy(arguments), **options)


@contextlib.contextmanager
def open_scoring(arguments: argparse.Namespace, *measures: str) -> Iterator[dict[str, Any]]:
    """Cache and progress, as the parameters of every function that scores."""
    from softirr.meaning.measures import takes
    from softirr.meaning.measures.cache import open_cache

    needs_cache = any(takes(name) == "model" for name in measures or (arguments.measure,))
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(open_cache(arguments.cache)) if needs_cache else None
        yield {"cache": cache, "progress": stack.enter_context(progress_bar("scoring pairs"))}


def print_report(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Print a report as text or as JSON."""
    if arguments.json:
        print_json(report)
        return
    from softirr.report.terminal_report import report_lines

    print(*report_lines(report, source=arguments.file), sep="\n")


def report_values(report: Any) -> dict[str, Any]:
    """A report as its JSON object, with the options of the command line in its notes."""
    values: dict[str, Any] = report.to_dict()
    return values | {name: [on_command_line(note) for note in values[name]] for name in ("warnings", "misfits")}
