"""Options that several commands share, and the objects that commands make of them: measure, policy, chance, cache."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from softirr.defaults import PERMUTATIONS
from softirr.errors import InputError, on_command_line
from softirr.terminal import bounded, print_json, progress_bar

Group = argparse.ArgumentParser | argparse._ArgumentGroup


def add_option(group: Group, usage: str, help: str, *, earlier: tuple[str, ...] = (), **settings: Any) -> None:
    """Add an option or argument.

    Parameters
    ----------
    usage : str
        Name, and the name of its value if there is any, such as ``--item COLUMN``.
    help : str
        Description for ``--help``.
    earlier : tuple of str
        Names that it had in earlier releases, which the help does not show.
    """
    name, _, value = usage.partition(" ")
    settings |= {"metavar": value} if value else {}
    action = group.add_argument(name, help=help, **settings)
    for old in earlier:
        group.add_argument(old, **{**settings, "dest": action.dest, "help": argparse.SUPPRESS})


def add_scoring(command: argparse.ArgumentParser) -> None:
    """Add all options that agreement depends on: measure, policy, chance, and where models run."""
    from softirr.meaning.measures import DEFAULT_MEASURE

    group = command.add_argument_group("how texts are compared")
    add_option(
        group,
        "--measure NAME",
        f"measure that compares two texts; softirr measures lists the names ({DEFAULT_MEASURE})",
        default=DEFAULT_MEASURE,
    )
    add_option(
        group,
        "--terminology PATH",
        "look texts up in this terminology first; may be repeated",
        action="append",
        default=[],
    )
    _add_policy(group)
    _add_computation(command)


def _add_policy(group: Group) -> None:
    from softirr.answers.splitting import SPLITS, check_split
    from softirr.meaning.policy.attributes import kinds_of
    from softirr.meaning.policy.rules import MORE_GENERAL, PRESETS

    attributes = _checked(lambda text: kinds_of([kind.strip() for kind in text.split(",") if kind.strip()]))
    add = partial(add_option, group)
    add(
        "--policy NAME",
        f"what counts as the same: {', '.join(PRESETS)}, or a JSON file (as-written)",
        default="as-written",
    )
    add(
        "--ignore KINDS",
        "attributes that do not count, separated by commas: side, severity, time, number, certainty, negation, "
        "subject, cause; replaces the policy's list",
        type=attributes,
    )
    add(
        "--count KINDS",
        "attributes that decide: texts with different values of one never match; replaces the policy's list",
        type=attributes,
    )
    add(
        "--more-general",
        "whether a more general text counts as the same: no (strict), in part (graded) or yes (lenient); "
        "replaces the policy's choice",
        choices=tuple(MORE_GENERAL),
    )
    add(
        "--split MODE",
        f"split a text that contains a list: {', '.join(SPLITS)}, or the marks, such as ';|'; replaces the "
        "policy's choice",
        type=_checked(check_split),
    )


def _add_computation(command: argparse.ArgumentParser) -> None:
    """Add the options that few people need: chance, matching, and where models run."""
    group = command.add_argument_group("how it is computed (rarely needed)")
    add = partial(add_option, group)
    add(
        "--chance METHOD",
        "how chance agreement is computed: exact, permutation or sample (auto: exact if the pairs fit the budget, "
        "else sample)",
        choices=("auto", "exact", "permutation", "sample"),
        default="auto",
    )
    add(
        "--permutations N",
        f"number of permutations for --chance permutation ({PERMUTATIONS})",
        type=bounded(1_000_000),
        default=PERMUTATIONS,
    )
    add(
        "--assignment",
        "how the texts of two sets are paired (optimal)",
        choices=("optimal", "greedy"),
        default="optimal",
    )
    add_seed(group)
    add_model_options(group)


def add_model_options(group: Group) -> None:
    """Add the options for the device of a model and the store of its scores."""
    add = partial(add_option, group)
    add("--device NAME", "where a model runs: auto, cpu, cuda, cuda:1, mps (auto)")
    add(
        "--precision NAME",
        "number format of the model: auto, float32, bfloat16, int8 (auto: the fastest with the same scores)",
    )
    add("--engine NAME", "local, or ray to distribute the work of a model over a Ray cluster (local)")
    add("--cache URL", "store of scored pairs: a file, or none (a file in your cache folder; SOFTIRR_CACHE)")


def add_judgments(group: Group) -> None:
    """Add ``--judgments``: judged sheets."""
    add_option(
        group,
        "--judgments SHEET",
        "judged audit sheets, which correct the coefficients and narrow their intervals",
        earlier=("--judgements", "--sheets"),
        nargs="+",
        default=[],
    )


def add_seed(group: Group) -> None:
    """Add ``--seed``."""
    add_option(group, "--seed N", "random seed (0)", type=int, default=0)


def add_json(group: Group) -> None:
    """Add ``--json``."""
    add_option(group, "--json", "print one JSON object", action="store_true")


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
