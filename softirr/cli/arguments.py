"""Options that several commands share, and the objects that commands make of them: measure, policy, chance."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

from softirr.defaults import PERMUTATIONS
from softirr.errors import InputError, on_command_line
from softirr.terminal import bounded, print_json

Group = argparse.ArgumentParser | argparse._ArgumentGroup


def add_command(commands: Any, name: str, help: str) -> argparse.ArgumentParser:
    """Add a command, or a step of one, with its line in the list of commands as its description."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
    return command


def add_option(
    group: Group, usage: str, help: str, *, earlier: tuple[str, ...] = (), default: Any = None, **settings: Any
) -> None:
    """Add an option or argument.

    Parameters
    ----------
    usage : str
        Name and value: ``--item COLUMN``, ``--text COLUMNS...`` if it may be repeated, ``--header first|none`` with its
        choices. An option without a value is a flag.
    help : str
        Description for ``--help``, which ends with the default unless it explains that itself.
    earlier : tuple of str
        Names that it had in earlier releases, which the help does not show.
    """
    name, _, value = usage.partition(" ")
    if isinstance(default, str | int) and f"({default}" not in help:
        help = f"{help} ({default})"
    if not value:
        settings = {"action": "store_true", **settings}
    elif "|" in value:
        settings |= {"choices": tuple(value.split("|")), "default": default}
    elif value.endswith("..."):
        settings |= {"metavar": value.removesuffix("..."), "default": [], "action": "append"}
    else:
        settings |= {"metavar": value, "default": default}
    action = group.add_argument(name, help=help, **settings)
    for old in earlier:
        group.add_argument(old, **{**settings, "dest": action.dest, "help": argparse.SUPPRESS})


def add_scoring(command: argparse.ArgumentParser) -> None:
    """Add all options that agreement depends on: measure, policy, chance, and where models run."""
    from softirr.answers.splitting import SPLITS, check_split
    from softirr.meaning.measures import DEFAULT_MEASURE
    from softirr.meaning.policy.attributes import KINDS, kinds_of
    from softirr.meaning.policy.rules import MORE_GENERAL, PRESETS

    attributes = _checked(lambda text: kinds_of([kind.strip() for kind in text.split(",") if kind.strip()]))
    add = partial(add_option, command.add_argument_group("how texts are compared"))
    add("--measure NAME", "measure that compares two texts; softirr measures lists the names", default=DEFAULT_MEASURE)
    add("--terminology PATH...", "look texts up in this terminology first; may be repeated")
    add("--policy NAME", f"what counts as the same: {', '.join(PRESETS)}, or a JSON file", default="as-written")
    add(
        "--ignore KINDS",
        f"attributes that do not count, separated by commas: {', '.join(KINDS)}; replaces the policy's list",
        type=attributes,
    )
    add(
        "--count KINDS",
        "attributes that decide: texts with different values of one never match; replaces the policy's list",
        type=attributes,
    )
    add(
        f"--more-general {'|'.join(MORE_GENERAL)}",
        "whether a more general text counts as the same: no (strict), in part (graded) or yes (lenient); "
        "replaces the policy's choice",
    )
    add(
        "--split MODE",
        f"split a text that contains a list: {', '.join(SPLITS)}, or the marks, such as ';|'; replaces the "
        "policy's choice",
        type=_checked(check_split),
    )
    _add_computation(command)


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
    count = bounded(1_000_000)
    add("--permutations N", "number of permutations for --chance permutation", type=count, default=PERMUTATIONS)
    add("--assignment optimal|greedy", "how the texts of two sets are paired", default="optimal")
    add("--seed N", "random seed", type=int, default=0)
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


def add_json(group: Group) -> None:
    """Add ``--json``."""
    add_option(group, "--json", "print one JSON object")


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

    if arguments.permutations != PERMUTATIONS and arguments.chance != "permutation":
        raise InputError("--permutations needs --chance permutation.")
    options = options_of(AgreementOptions, arguments) | {"seed": arguments.seed or 0}
    return AgreementOptions(**options | changes)


def options_of(kind: type, arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of a command that are fields of a data class."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in vars(arguments).items() if name in names}


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


def print_report(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Print a report as text or as JSON."""
    if arguments.json:
        print_json(report)
        return
    from softirr.report.terminal_report import report_lines

    print(*report_lines(report, source=arguments.file), sep="\n")


def in_own_terms(result: Any) -> Any:
    """A result with the options of the command line in its notes."""
    names = [name for name in ("warnings", "misfits") if name in vars(result)]
    return replace(result, **{name: tuple(map(on_command_line, getattr(result, name))) for name in names})
