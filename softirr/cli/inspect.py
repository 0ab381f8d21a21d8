"""``softirr inspect``: how a file is read, before anything is scored."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from softirr.cli.arguments import add_json, in_own_terms
from softirr.cli.read_answers import add_input_options, read_tables
from softirr.errors import Note
from softirr.numbers import plural
from softirr.terminal import print_json
from softirr.text import printable, shortened

if TYPE_CHECKING:
    from softirr.answers.layout import UnknownColumns

_MOST = 20
_WIDEST = 60
_SAMPLE = 10_000
"""Texts by which the language is recognized."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of ``inspect``."""
    add_input_options(command)
    add_json(command)
    command.set_defaults(run=_inspect)


def _inspect(arguments: argparse.Namespace) -> int:
    from softirr.answers.inspection import inspected
    from softirr.answers.kinds import AUTO
    from softirr.answers.layout import UnknownColumns
    from softirr.meaning.measures.languages import project_language

    arguments.kind = AUTO
    try:
        tables = read_tables(arguments, needs_two=False)
    except UnknownColumns as unknown:
        return _show_columns(unknown, arguments)
    inspections = {name: in_own_terms(inspected(table)) for name, table in tables.items()}
    samples = {name: table.texts[:: len(table.texts) // _SAMPLE + 1] for name, table in tables.items()}
    languages = {name: project_language(texts) for name, texts in samples.items()}
    if arguments.json:
        print_json({name: entry.to_dict() | {"language": languages[name]} for name, entry in inspections.items()})
        return 0
    for number, (name, entry) in enumerate(inspections.items()):
        if len(inspections) > 1:
            print(f"{'' if number == 0 else chr(10)}Text {name}")
        print(*_lines(entry, languages[name], arguments.file), sep="\n")
    return 0


def _show_columns(unknown: UnknownColumns, arguments: argparse.Namespace) -> int:
    """List the columns of a table without obvious names, and the commands that name them."""
    from softirr.answers.layout import LONG, WIDE

    commands = [f"softirr score {arguments.file} {Note(options).on_command_line}" for options in (LONG, WIDE)]
    if arguments.json:
        print_json({"columns": list(unknown.columns), "commands": commands})
        return 0
    print(f"{printable(arguments.file)} has {plural(len(unknown.columns), 'column')} without obvious names:")
    print(*(f"  {printable(name) or '(no name)'}" for name in unknown.columns), sep="\n")
    print("\nName the columns in the command, for a row for each answer, each item or each rater:")
    print(*(f"  {printable(command)}" for command in commands), sep="\n")
    return 0


def _lines(inspection: Any, language: str | None, source: str) -> Iterator[str]:
    from softirr.report.terminal_report import table_lines

    yield f"{printable(source)}: format {inspection.format}, {plural(inspection.n_rows, 'row')}"
    if inspection.columns:
        role_texts = [f"{printable(role)} = {printable(name)}" for role, name in inspection.columns[:_MOST]]
        n_more = len(inspection.columns) - len(role_texts)
        yield f"columns: {', '.join(role_texts)}{f' and {n_more} more' if n_more else ''}"
    yield ""
    facts = list(_facts(inspection, language))
    width = max(len(name) for name, _ in facts)
    yield from (f"{name:<{width}}  {value}" for name, value in facts)
    yield ""
    yield from table_lines(("rater", "items"), [(printable(name), f"{n:,}") for name, n in inspection.raters[:_MOST]])
    if len(inspection.raters) > _MOST:
        yield f"and {len(inspection.raters) - _MOST:,} more"
    yield ""
    rows = [
        (shortened(printable(item), _WIDEST), printable(rater), shortened(" | ".join(texts) or "(empty)", _WIDEST))
        for item, rater, texts in inspection.rows
    ]
    yield from table_lines(("item", "rater", "texts"), rows)
    for warning in inspection.warnings:
        yield f"Note: {printable(warning)}"


def _facts(inspection: Any, language: str | None) -> Iterator[tuple[str, str]]:
    sizes = ", ".join(
        f"{n:,} with {plural(size, 'text') if size else 'no text'}" for size, n in inspection.texts_per_answer.items()
    )
    yield "items", f"{inspection.n_items:,}, {inspection.n_compared:,} of them with answers of two raters or more"
    yield "raters", f"{len(inspection.raters):,}"
    yield "answers", f"{inspection.n_answers:,}{f': {sizes}' if sizes else ''}"
    yield "missing", f"{plural(inspection.n_missing, 'pair')} of an item and a rater without an answer"
    yield "empty", f"{plural(inspection.n_empty, 'answer')} that found nothing"
    if inspection.missing_marks:
        marks = sum(map(Counter, inspection.missing_marks.values()), Counter[str]())
        mark_counts = ", ".join(f"{n:,} {printable(mark)}" for mark, n in marks.most_common())
        by_rater = ", ".join(
            f"{printable(rater)} {sum(counts.values()):,}" for rater, counts in inspection.missing_marks.items()
        )
        yield "missing marks", f"{plural(marks.total(), 'cell')} ({mark_counts}) by {by_rater} (--missing)"
    if inspection.n_blank:
        meaning = "missing answers" if inspection.blank_is == "missing" else "answers that found nothing"
        yield "empty cells", f"{inspection.n_blank:,}, which count as {meaning} (--empty)"
    if inspection.n_repeated:
        rows = plural(inspection.n_repeated, "row")
        yield "repeats", f"{rows} of a rater on an item that the rater has answered before (--repeats)"
    same_words = plural(inspection.n_duplicates, "time")
    yield "texts", f"{inspection.n_texts:,} different; {same_words} several raters of an item use the same words"
    if inspection.n_texts:
        yield "language", language or "not recognized: no text has a function word"
    yield from (("left out", f"{n:,} {reason}") for reason, n in inspection.excluded.items())
