"""``softirr score``: the agreement of a file."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from softirr.answers.kinds import AUTO as AUTO_KIND
from softirr.answers.kinds import TEXT, named_kinds
from softirr.cli.arguments import (
    add_json,
    add_judgments,
    add_option,
    add_scoring,
    agreement_options,
    build_measure,
    in_own_terms,
    print_report,
)
from softirr.cli.read_answers import add_input_options, read_tables
from softirr.defaults import SCHEMA_VERSION
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE
from softirr.terminal import fraction, print_json

EXACT = "exact"
"""A measure without a model, used if no field is a text."""
_OF_TEXTS: dict[str, Any] = {
    "measure": DEFAULT_MEASURE,
    "terminology": [],
    "policy": "as-written",
    **dict.fromkeys(("ignore", "count", "more_general", "split")),
}
"""Options of texts, with their defaults."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of ``score``."""
    output = command.add_argument_group("output")
    add_json(output)
    add = partial(add_option, output)
    add("--output FOLDER", "also write tables (CSV), an HTML page, a methods paragraph and JSON into this folder")
    add("--fail-below X", "exit with status 1 if the headline is below this number, or is not defined", type=fraction)
    add(
        "--no-reasons",
        "do not explain why texts do not match: faster, with the same coefficients and matches",
        dest="reasons",
        action="store_false",
    )
    add_input_options(command)
    fields = command.add_argument_group("what is scored")
    add_judgments(fields)
    add_option(
        fields,
        "--field NAME[=KIND]...",
        "a column or Label Studio control to score, and what its values are: text, nominal, set, set:jaccard, "
        "ordinal, ordinal:low,medium,high, interval, linear, ratio, date, path or ranking; may be repeated",
    )
    add_option(fields, "--weight COLUMN", "weight of each item: a column, key or field with a number of 0 or more")
    add_scoring(command)
    command.set_defaults(run=score)


def score(arguments: argparse.Namespace) -> int:
    """Score the file of the command, and print and write the reports of its fields."""
    from softirr.answers.sheets import check_judged, read_sheet
    from softirr.meaning.measures.pairs import cache_and_progress
    from softirr.report.agreement import agreement
    from softirr.report.fields import field_row

    _choose_fields(arguments)
    tables = read_tables(arguments)
    texts = {name: table for name, table in tables.items() if table.kind == TEXT}
    if not texts:
        if unused := [name for name, default in _OF_TEXTS.items() if getattr(arguments, name) not in (None, default)]:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
            print(f"softirr: no field has texts to compare, so this has no effect: {options}.", file=sys.stderr)
        arguments.measure = EXACT
    if arguments.judgments and len(texts) != 1:
        raise InputError("--judgments corrects one text: choose it with --text, --control or --field.")
    sheets = [read_sheet(path) for path in arguments.judgments]
    if sheets:
        check_judged(sheets)
    measure, reports, reasons = build_measure(arguments), {}, arguments.reasons
    meanings = reasons and arguments.output is not None
    options = agreement_options(arguments, reasons=reasons, what_if=reasons, meanings=meanings)
    with cache_and_progress(measure, arguments.cache or "auto", "auto") as (cache, progress):
        for name, table in tables.items():
            judgments = sheets if name in texts else ()
            report = agreement(table, measure, options=options, judgments=judgments, cache=cache, progress=progress)
            reports[name] = in_own_terms(report).to_dict()
    # the only text of an export is the report, which lists the other fields
    is_only = len(texts) == 1 and not (arguments.field or arguments.control or arguments.text)
    main = next(iter(reports)) if len(reports) == 1 else next(iter(texts)) if is_only else None
    fields = [field_row(name, report) for name, report in reports.items()]
    if any(field["kind"] != TEXT for field in fields) and main is not None:
        reports[main]["fields"] = fields
    try:  # files first: whoever reads the terminal may stop early, as head does
        if arguments.output is not None:
            _write(reports, arguments, main=main)
    finally:  # a folder that cannot be written does not lose the result
        _print(reports, fields, arguments, main=main)
    judged = reports if main is None else {main: reports[main]}
    return 0 if arguments.fail_below is None else _status(judged, arguments.fail_below)


def _choose_fields(arguments: argparse.Namespace) -> None:
    """Read the columns or controls of ``--field``, each as its kind; Label Studio controls have one by default."""
    kinds = named_kinds(arguments.field)
    arguments.kind = kinds or AUTO_KIND
    # with --raters, the name of a single field is only a title
    if kinds and (len(kinds) > 1 or not arguments.raters):
        option = "control" if arguments.control else "text"
        columns = getattr(arguments, option)
        setattr(arguments, option, [*columns, *(name for name in kinds if name not in columns)])


def _print(
    reports: dict[str, Any], fields: list[dict[str, Any]], arguments: argparse.Namespace, *, main: str | None
) -> None:
    """Print the main report, or the reports of several fields below the table of the fields."""
    if main is not None:
        print_report(reports[main], arguments)
        if len(reports) > 1 and not arguments.json:
            print("\n--field NAME prints the report of another field, and --output writes the reports of all fields.")
        return
    field_table = {"fields": fields} if any(field["kind"] != TEXT for field in fields) else {}
    if arguments.json:
        print_json({"schema_version": SCHEMA_VERSION, "texts": reports} | field_table)
        return
    from softirr.report.terminal_report import field_lines
    from softirr.text import printable

    if field_table:
        print(*field_lines(next(iter(reports.values())) | field_table), sep="\n")
    for number, (name, report) in enumerate(reports.items()):
        title = "Text" if fields[number]["kind"] == TEXT else "Field"
        print(f"{'' if number == 0 and not field_table else chr(10)}{title} {printable(name)}")
        print_report(report | {"fields": [fields[number]]}, arguments)


def _status(reports: dict[str, Any], required: float) -> int:
    """1 if the headline of a report is below the required number, with the reason on standard error."""
    from softirr.numbers import in_terminal, number
    from softirr.report.key_figures import headline, is_exact
    from softirr.statistics.coefficients.registry import coefficient_name
    from softirr.text import printable

    status = 0
    for name, report in reports.items():
        best = headline(report)
        if best is not None and best[1]["value"] >= required:
            continue
        status = 1
        of = f"{'Field' if is_exact(report) else 'Text'} {printable(name)}: " if len(reports) > 1 else ""
        value = "" if best is None else f"{coefficient_name(best[0])} is {in_terminal(number(best[1]['value']))}"
        print(
            f"softirr: {of}{value or 'no coefficient is defined'}, but --fail-below requires {required:g}.",
            file=sys.stderr,
        )
    return status


def _write(reports: dict[str, Any], arguments: argparse.Namespace, *, main: str | None) -> None:
    """Write each report; if there are several, all but the main one have a separate folder."""
    from softirr.report.output import write_report

    folder_names: set[str] = set()
    for number, (name, report) in enumerate(reports.items(), start=1):
        folder_name = "".join(mark if mark.isalnum() or mark in "-_ " else "_" for mark in name).strip() or str(number)
        while folder_name.casefold() in folder_names:  # fields "a/b" and "a?b"
            folder_name = f"{folder_name} {number}"
        folder_names.add(folder_name.casefold())
        folder = Path(arguments.output) / folder_name if len(reports) > 1 and name != main else Path(arguments.output)
        source = None if arguments.file == "-" else Path(arguments.file).name
        write_report(report, folder, source=source)
