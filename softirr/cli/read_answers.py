"""The file of answers of a command: the options that say how it is read, and its tables."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.cli.arguments import chosen_policy
from softirr.errors import InputError
from softirr.terminal import progress_bar

__all__ = [
    "add_input_options",
    "add_reading_options",
    "read_options",
    "read_table",
    "read_tables",
    "takes_predictions",
]

_LARGE = 8_000_000
"""Bytes of a file from which on reading it has a progress bar."""


def add_input_options(command: argparse.ArgumentParser, *, format: str = "--format") -> None:
    """The file of answers and how it is read: the same for every command that reads one."""
    command.add_argument(
        "file",
        metavar="FILE",
        help="table (CSV, XLSX, Parquet, JSON lines), export of an annotation tool, or folder with a file for each "
        "rater; - reads standard input",
    )
    add_reading_options(command, format=format)


def add_reading_options(command: argparse.ArgumentParser, *, rater: str = "--rater", format: str = "--format") -> None:
    """How a file of answers is read.

    Parameters
    ----------
    command : ArgumentParser
    rater : str
        Name of the option for the column of the raters, where the command has another ``--rater``.
    format : str
        Name of the option for the format of the file, where the command has another ``--format``.
    """
    command.add_argument(
        "--control", metavar="NAME", action="append", help="TextArea to read, when a Label Studio export has several"
    )
    command.add_argument(
        "--casefold", action="store_true", help="treat texts that differ only in case as the same text"
    )
    command.add_argument(
        "--model-raters", action="store_true", help="count each model version's predictions in an export as a rater"
    )
    table = command.add_argument_group("how a file is read, if its columns are not recognized")
    table.add_argument(
        format,
        dest="format",
        default="auto",
        metavar="NAME",
        help="format of the file (auto: recognized from the content)",
    )
    table.add_argument("--item", metavar="COLUMN", help="column of the items")
    table.add_argument(rater, dest="rater_column", metavar="COLUMN", help="column of the raters")
    table.add_argument(
        "--text",
        metavar="COLUMNS",
        action="append",
        help="columns of the texts, each with its own report; a+b is one answer in two columns",
    )
    table.add_argument(
        "--raters", metavar="COLUMNS", action="append", help="a column for each rater, such as nurse_1,nurse_2"
    )
    table.add_argument(
        "--items", metavar="COLUMNS", action="append", help="a column for each item, and a row for each rater"
    )
    table.add_argument(
        "--empty",
        choices=("missing", "none"),
        help="what an empty cell is: a missing answer, or an answer without text (missing; none for item,rater,text)",
    )
    table.add_argument(
        "--repeats",
        choices=("set", "first", "last", "refuse"),
        help="several rows of a rater on an item: a set, versions (the first or the last counts), or an error",
    )
    table.add_argument(
        "--missing",
        metavar="TEXTS",
        help="texts that mark a missing answer, such as NA,n/a, or none (auto: NA, n/a, -, ? and similar, with a note)",
    )
    table.add_argument(
        "--sheet",
        metavar="NAME",
        help="sheet of an Excel workbook, or '*' for all (one sheet for each rater, or the first with a table)",
    )
    table.add_argument(
        "--encoding", metavar="NAME", help="encoding of a text file (UTF-8 or UTF-16, recognized from the content)"
    )


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
    from softirr.answers.table import MODEL

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
    from softirr.answers.files import read_texts

    name = arguments.file if path is None else path
    options = read_options(arguments) | {"fields": fields, "weight": getattr(arguments, "weight", None)}
    options |= {"since": since, "before": before}
    options["predictions_as_raters"] |= models
    if control is not None:
        options["control"] = (control,)
    with progress_bar("reading", "B", scaled=True) as show:

        def show_if_large(done: int, total: int) -> None:
            if total > _LARGE:  # smaller files are read at once
                show(done, total)

        tables: dict[str, Any] = read_texts(name, progress=show_if_large, **options)
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
        from softirr.answers.files import read
        from softirr.answers.outputs import with_outputs

        same = {name: options[name] for name in ("casefold", "missing")}
        more = {path: read(path, **same) for path in outputs}
        tables = {text: with_outputs(table, more) for text, table in tables.items()}
    split: Any = chosen_policy(arguments).split if hasattr(arguments, "policy") else "none"
    if split != "none":
        from softirr.meaning.policy.splitting import split_table

        tables = {text: split_table(table, split) if table.kind == TEXT else table for text, table in tables.items()}
    return tables


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
