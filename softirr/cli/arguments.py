"""Options that several commands have, and what the commands make of them: the table, the measure, the cache."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from softirr.defaults import CHEAP_TARGET_SE, PERMUTATIONS, TARGET_SE
from softirr.errors import InputError
from softirr.tables.kinds import TEXT
from softirr.terminal import add_model_options, bounded, fraction, print_json, progress_bar

__all__ = [
    "add_also",
    "add_chance",
    "add_json",
    "add_measure",
    "add_model",
    "add_policy",
    "add_scoring",
    "add_seed",
    "add_terminology",
    "agreement_options",
    "chosen_policy",
    "made_measure",
    "print_report",
    "print_result",
    "read_options",
    "read_table",
    "read_tables",
    "scoring",
    "takes_predictions",
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
    from softirr.measures import DEFAULT_MEASURE

    command.add_argument(
        "--measure",
        default=DEFAULT_MEASURE,
        metavar="NAME",
        help=f"how two texts are compared; softirr measures lists the names ({DEFAULT_MEASURE})",
    )
    add_terminology(command)
    add_model_options(command)


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
        help=f"standard error at which --chance stratified stops ({TARGET_SE:g}; {CHEAP_TARGET_SE:g} for measures without a model)",
    )


def add_also(command: argparse.ArgumentParser) -> None:
    """Add ``--also``: coefficients that reports have only when asked for them."""
    from softirr.coefficients.registry import coefficient_keys

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
    from softirr.policy.rules import MORE_GENERAL, PRESETS, SPLITS

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
        help="attributes that do not count, separated by commas: side, severity, time, number, certainty, negation, subject, cause; replaces the policy's list",
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
        help="whether a more general text counts as the same: no (strict), in part (graded) or yes (lenient); replaces the policy's choice",
    )
    if split:
        command.add_argument(
            "--split",
            choices=SPLITS,
            metavar="MODE",
            help=f"split a text that contains a list: {', '.join(SPLITS)}; in place of the policy's",
        )


def _kinds(text: str) -> frozenset[str]:
    from softirr.policy.attributes import kinds_of

    try:
        return kinds_of([kind.strip() for kind in text.split(",") if kind.strip()])
    except InputError as error:
        raise argparse.ArgumentTypeError(error.on_command_line) from None


def chosen_policy(arguments: argparse.Namespace) -> Any:
    """The policy of a command: a preset or a file, with the parts that the command names itself."""
    from softirr.policy.rules import find_policy

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


def read_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """How a file is read, as :func:`softirr.read_texts` takes it."""
    return {
        "format": arguments.format,
        "control": arguments.control or (),
        "casefold": arguments.casefold,
        "predictions_as_raters": arguments.model_raters,
        "item": arguments.item,
        "rater": arguments.rater_column,
        "text": arguments.text or (),
        "raters": arguments.raters or (),
        "items": arguments.items or (),
        "empty": arguments.empty,
        "repeats": arguments.repeats,
        "missing": arguments.missing,
        "sheet": arguments.sheet,
        "encoding": arguments.encoding,
        "overlap": arguments.overlap,
        "kind": getattr(arguments, "kinds", None),
    }


def takes_predictions(models: Sequence[str] | None) -> bool:
    """Whether ``--models`` asks for predictions of an export: without names, or by the name of a model version.

    Parameters
    ----------
    models : sequence of str, optional
        Names that the option has; None where it is not given.

    Returns
    -------
    bool
    """
    from softirr.tables.table import MODEL

    return models is not None and (not models or any(name.startswith(MODEL) for name in models))


def read_tables(
    arguments: argparse.Namespace,
    path: str | None = None,
    *,
    control: str | None = None,
    fields: Sequence[str] = (),
    models: bool = False,
    since: str | None = None,
    before: str | None = None,
    outputs: Sequence[str] = (),
    least_raters: int = 2,
) -> dict[str, Any]:
    """Read the file of a command, a table for each text: answers of two raters at least, unless fewer are enough.

    Parameters
    ----------
    arguments : Namespace
    path : str, optional
        Another file than ``arguments.file``.
    control : str, optional
        Another TextArea than ``arguments.control``.
    fields : sequence of str
        Fields of the items to read.
    models : bool
        Count predictions as raters, also without ``--model-raters``.
    since, before : str, optional
        Dates: annotations of an export that were last changed in between.
    outputs : sequence of str
        Files with answers of models to the same items.
    least_raters : int
        Raters that the command needs.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If a text has answers of too few raters.
    """
    from softirr.tables.files import read_texts

    name = arguments.file if path is None else path
    options = read_options(arguments) | {"fields": fields, "weight": getattr(arguments, "weight", None)}
    options |= {"since": since, "before": before}
    options["predictions_as_raters"] |= models
    if control is not None:
        options["control"] = (control,)
    with progress_bar("reading", "B", scaled=True) as show:

        def told(done: int, total: int) -> None:
            if total > _LARGE:  # smaller files are read at once
                show(done, total)

        tables: dict[str, Any] = read_texts(name, progress=told, **options)
    few = [text for text, table in tables.items() if table.kind != TEXT and len(table.raters) < least_raters]
    for text in few if len(few) < len(tables) else []:
        del tables[text]
        print(f"softirr: the field {text!r} has answers of one rater only and is left out.", file=sys.stderr)
    for text, table in tables.items():
        where = f"{name}, text {text}," if len(tables) > 1 else name
        why = ", ".join(f"{n:,} {reason}" for reason, n in Counter(e.reason for e in table.excluded).most_common())
        left_out = f" (left out: {why})" if why else ""
        if least_raters and not table.raters:
            wanted = "compare" if least_raters > 1 else "read"
            raise InputError(f"{where} has no answers to {wanted}{left_out}.")
        if len(table.raters) < least_raters:
            raise InputError(f"{where} has answers of one rater only: agreement needs two{left_out}.")
    if outputs:
        from softirr.tables.files import read
        from softirr.tables.outputs import with_outputs

        same = {name: options[name] for name in ("casefold", "missing")}
        more = {path: read(path, **same) for path in outputs}
        tables = {text: with_outputs(table, more) for text, table in tables.items()}
    split: Any = chosen_policy(arguments).split if hasattr(arguments, "policy") else "none"
    if split != "none":
        from softirr.policy.splitting import split_table

        tables = {text: split_table(table, split) if table.kind == TEXT else table for text, table in tables.items()}
    return tables


_LARGE = 8_000_000


def read_table(arguments: argparse.Namespace, path: str | None = None, **options: Any) -> Any:
    """Read the file of a command that takes one text; options as for :func:`read_tables`.

    Parameters
    ----------
    arguments : Namespace
    path : str, optional
        Another file than ``arguments.file``.
    **options
        As for :func:`read_tables`.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        If there are several texts, or answers of too few raters.
    """
    tables = read_tables(arguments, path, **options)
    if len(tables) > 1:
        raise InputError(
            f"This command reads one column of texts: choose one of {', '.join(tables)} with --text or --control."
        )
    return next(iter(tables.values()))


def made_measure(arguments: argparse.Namespace) -> Any:
    """Make the measure of a command."""
    from softirr.measures import takes_model
    from softirr.policy.build_measure import measure

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
    from softirr.measures import takes_model
    from softirr.measures.cache import open_cache

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
