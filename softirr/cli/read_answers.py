"""The file of answers of a command: the options that control how it is read, and its tables."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import partial
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.cli.arguments import add_option, chosen_policy, options_of
from softirr.errors import InputError
from softirr.terminal import progress_bar

_LARGE = 8_000_000
"""Size in bytes from which reading a file shows a progress bar."""


def add_input_options(command: argparse.ArgumentParser) -> None:
    """Add the file of answers, and how it is read."""
    add_option(
        command,
        "file FILE",
        "table (CSV, TSV, XLSX, Parquet, JSON lines), export of an annotation tool, or folder with a file for "
        "each rater; - reads standard input",
    )
    add_reading_options(command)


def add_reading_options(command: argparse.ArgumentParser) -> None:
    """Add how a file of answers is read."""
    add = partial(add_option, command.add_argument_group("how the file is read"))
    add("--item COLUMN", "column of the items")
    add("--rater COLUMN", "column of the raters", earlier=("--rater-column",))
    add("--text COLUMNS...", "columns of the texts, each with its own report; a+b is one answer in two columns")
    add("--raters COLUMNS...", "a column for each rater, such as nurse_1,nurse_2")
    first_row = "whether the first row names the columns; without a header they are 1, 2, 3"
    add("--header first|none", first_row, default="first")
    add("--control NAME...", "TextArea to read if a Label Studio export has several")
    add(
        "--predictions-as-raters",
        "count the predictions of each model version in an export as a rater",
        earlier=("--model-raters",),
    )
    add(
        "--regions pooled|matched",
        "texts on regions: one answer of an annotation, or regions matched one to one",
        default="pooled",
    )
    add("--rater-names FILE", "names of raters, as CSV with the columns rater,name")
    add("--ignore-raters NAMES", "raters to leave out, separated by commas")
    add("--casefold", "treat texts that differ only in case as the same text")
    add("--ignore-harakat", "treat texts that differ only in Arabic vowel signs as the same")
    add(
        "--empty missing|none",
        "what an empty cell is: a missing answer, or an answer without text (missing; none for item,rater,text)",
    )
    add(
        "--missing TEXTS",
        "texts that mark a missing answer, such as NA,n/a, or none (auto: NA, n/a, -, ? and similar, with a note)",
    )
    add(
        "--repeats set|first|last|refuse",
        "several rows of a rater on an item: a set, versions (the first or the last counts), or an error",
    )
    add("--format NAME", "format of the file (auto: recognized from the content)", default="auto")
    add("--sheet NAME", "sheet of an Excel workbook (the only one with a table)")
    add("--encoding NAME", "encoding of a text file (UTF-8 or UTF-16, recognized from the content)")


def _rater_names(path: str | None) -> dict[str, str]:
    """Read the file of ``--rater-names``."""
    from softirr.answers.sheets import rows

    names: dict[str, str] = {}
    lines = () if path is None else rows(path, ("rater", "name"), "list of names of raters")[1]
    for location, (rater, name) in lines:
        shown_name = name.strip()
        if shown_name and names.setdefault(rater.strip(), shown_name) != shown_name:
            raise InputError(f"{location}: the rater {rater.strip()!r} has another name above.")
    return names


def read_tables(
    arguments: argparse.Namespace, path: str | None = None, *, models: bool = False, needs_two: bool = True
) -> dict[str, Any]:
    """Read the file of a command: a table for each text.

    Parameters
    ----------
    path : str, optional
        Another file than ``arguments.file``.
    models : bool
        Count predictions as raters even without ``--predictions-as-raters``.
    needs_two : bool
        Refuse texts of fewer than two raters.

    Raises
    ------
    InputError
        If a text has answers of too few raters.
    """
    from softirr.answers.files import read_texts
    from softirr.answers.read_options import ReadOptions

    name = arguments.file if path is None else path
    options = options_of(ReadOptions, arguments)
    options["rater_names"] = _rater_names(arguments.rater_names)
    options["ignore_raters"] = [name for name in (arguments.ignore_raters or "").split(",") if name.strip()]
    options["predictions_as_raters"] |= models
    if hasattr(arguments, "policy"):
        options["split"] = chosen_policy(arguments).split
    with progress_bar("reading", "B", scaled=True) as show:

        def show_if_large(done: int, total: int) -> None:
            if total > _LARGE:
                show(done, total)

        tables: dict[str, Any] = read_texts(name, progress=show_if_large, **options)
    return _with_enough_raters(tables, name) if needs_two else tables


def _with_enough_raters(tables: dict[str, Any], name: str) -> dict[str, Any]:
    """The tables without fields of one rater; a text of one rater is refused."""
    too_few = [text for text, table in tables.items() if table.kind != TEXT and len(table.raters) < 2]
    for text in too_few if len(too_few) < len(tables) else []:
        del tables[text]
        print(f"softirr: the field {text!r} has answers of one rater only and is left out.", file=sys.stderr)
    for text, table in tables.items():
        where = f"{name}, text {text}," if len(tables) > 1 else name
        why = ", ".join(f"{n:,} {reason}" for reason, n in Counter(e.reason for e in table.excluded).most_common())
        left_out = f" (left out: {why})" if why else ""
        if not table.raters:
            raise InputError(f"{where} has no answers to compare{left_out}.")
        if len(table.raters) < 2:
            raise InputError(f"{where} has answers of one rater only: agreement needs two{left_out}.")
    return tables


def read_table(arguments: argparse.Namespace, path: str | None = None, *, models: bool = False) -> Any:
    """Read the file of a command that takes one text.

    Parameters
    ----------
    path : str, optional
        Another file than ``arguments.file``.
    models : bool
        As for :func:`read_tables`.

    Raises
    ------
    InputError
        If there are several texts, or answers of too few raters.
    """
    tables = read_tables(arguments, path, models=models)
    if len(tables) > 1:
        raise InputError(
            f"This command reads one column of texts: choose one of {', '.join(tables)} with --text or --control."
        )
    return next(iter(tables.values()))
