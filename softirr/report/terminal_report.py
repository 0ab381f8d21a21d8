"""A report as lines of text for terminals and as HTML for notebooks: both render the view and compute nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from softirr.numbers import cell, in_terminal, interval, plural, straight_apostrophes
from softirr.report.key_figures import is_exact
from softirr.report.view import View, view
from softirr.statistics.coefficients.registry import coefficient_name
from softirr.text import printable, shortened

_FIRST_ROWS = 5
"""Number of items, meanings and confused values that are listed."""
_SHOWN_AS_1 = 0.995
_shortened = partial(shortened, max_length=100)

Block = str | tuple[Sequence[str], Sequence[Sequence[str]]]
"""A line of text, or the head and the rows of a table."""


def report_lines(report: Mapping[str, Any], *, source: str | None = None) -> Iterable[str]:
    """Lines of the readable form of a report.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``; may have ``fields``.
    source : str, optional
        Name of the input, for the heading.
    """
    return _lines(report_blocks(report, source=source))


def field_lines(report: Mapping[str, Any]) -> Iterable[str]:
    """Lines of the table of fields of a report."""
    return list(_lines(_fields(view(report))))[1:]


def _lines(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        yield from (in_terminal(block),) if isinstance(block, str) else table_lines(*block)


def report_html(report: Mapping[str, Any]) -> str:
    """The readable form of a report as HTML without scripts and styles; every text is escaped.

    Examples
    --------
    >>> table_html(("rater",), [("<b>",)])
    '<table><thead><tr><th>rater</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    blocks = (block for block in report_blocks(report) if block != "")
    html = (f"<p>{escape(block)}</p>" if isinstance(block, str) else table_html(*block) for block in blocks)
    return f"<div>{''.join(html)}</div>"


def report_blocks(report: Mapping[str, Any], *, source: str | None = None) -> Iterable[Block]:
    """The readable form of a report as lines and tables, with the parameters of :func:`report_lines`."""
    report_view = view(report)
    start = "" if source is None else f"{printable(source)}: "
    measured = f"{printable(report['measure'])} values" if is_exact(report) else f"measure {report['measure']}"
    yield f"{start}{plural(report_view.n_items, 'item')}, {plural(report_view.n_raters, 'rater')}, {measured}"
    yield from (f"Warning: {misfit}" for misfit in report_view.misfits)
    yield ""
    yield from _verdict(report_view)
    yield ""
    yield ("coefficient", "value", "95% interval"), [_coefficient(row) for row in report_view.coefficients]
    facts = dict(report_view.facts)
    yield from (f"{term}: {facts[term]}" for term in ("Expected by chance", "Terminologies") if term in facts)
    yield from _audit(report_view)
    yield from _fields(report_view)
    yield from _confused(report_view)
    yield from _people(report_view)
    yield from _items(report_view)
    if report_view.reasons:
        yield from ("", (("why texts do not match", "items"), [(name, f"{n:,}") for name, n in report_view.reasons]))
    yield from _meanings(report_view)
    if not (report["provenance"].get("options") or {}).get("reasons", True) and not is_exact(report):
        yield from ("", "Why texts do not match was left out (--no-reasons).")
    if report_view.excluded:
        n, reasons = sum(n for _, n in report_view.excluded), [f"{n} {why}" for why, n in report_view.excluded]
        yield from ("", f"Left out: {plural(n, 'answer')} ({', '.join(reasons)})")
    yield from (f"Note: {warning}" for warning in report_view.warnings if warning not in report_view.misfits)


def _verdict(report_view: View) -> Iterable[str]:
    yield report_view.verdict.sentence
    if report_view.verdict.basis:
        yield straight_apostrophes(report_view.verdict.basis)
    if report_view.cause is not None:
        yield report_view.cause.sentence
    if report_view.next_step is not None:
        yield f"Next: {report_view.next_step.sentence}"
        yield from (f"  {example}" for example in report_view.next_step.examples)
    yield from map(straight_apostrophes, report_view.what_if)


def _coefficient(row: Any) -> tuple[str, ...]:
    if row.value is None:
        return row.name, "undefined", row.undefined or ""
    return row.name, cell(row.value), interval(row.ci95, none="")


def _audit(report_view: View) -> Iterable[str]:
    yield from report_view.audit
    by_measure = ", ".join(
        f"{row.name} {cell(row.by_measure)}" for row in report_view.coefficients if row.by_measure is not None
    )
    if by_measure:
        yield f"By the measure alone: {by_measure}."


def _fields(report_view: View) -> Iterable[Block]:
    """The table of several fields."""
    head = ("field", "kind", "coefficient", "value", "95% interval", "by chance", "items", "below the others")
    rows = [
        (
            field.name,
            field.kind,
            "-" if field.coefficient is None else coefficient_name(field.coefficient),
            cell(field.value),
            interval(field.ci95, none="-"),
            cell(field.expected),
            f"{field.n_items:,}",
            field.below or "-",
        )
        for field in report_view.fields
    ]
    if len(rows) > 1:
        yield from ("", (head, rows))


def _confused(report_view: View) -> Iterable[Block]:
    """The values that raters confuse."""
    confused = [(field.name, row) for field in report_view.fields for row in field.confused[:_FIRST_ROWS]]
    if confused:
        head = ("confused values of", "", "", "pairs", "items", "such as")
        rows = [
            (name, *map(_shortened, row.values), f"{row.n_pairs:,}", f"{row.n_items:,}", _shortened(row.example))
            for name, row in confused
        ]
        yield from ("", (head, rows))


def _people(report_view: View) -> Iterable[Block]:
    head = ("rater", "items", "agreement", "95% interval", "level of detail")
    rows = [
        (row.name, f"{row.n_items:,}", cell(row.agreement), interval(row.ci95, none=""), row.detail)
        for row in report_view.people
    ]
    n_columns = 5 if any(row.detail for row in report_view.people) else 4
    yield from ("", (head[:n_columns], [row[:n_columns] for row in rows]))


def _items(report_view: View) -> Iterable[Block]:
    items = [row for row in report_view.items if (row.agreement or 0.0) < _SHOWN_AS_1]
    if items:
        rows = [(_shortened(row.name), cell(row.agreement), printable(row.sentence)) for row in items[:_FIRST_ROWS]]
        yield from ("", (("look at first", "agreement", "what differs"), rows), report_view.order)


def _meanings(report_view: View) -> Iterable[Block]:
    if report_view.meanings:
        rows = [
            (
                _shortened(row.name),
                f"{row.n_items:,}",
                _shortened(", ".join(text for text, _ in row.texts if text != row.name)),
            )
            for row in report_view.meanings[:_FIRST_ROWS]
        ]
        yield from ("", (("meaning", "items", "also written"), rows))


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """A plain table: a heading, then a line for each row, with columns padded to their widest cell."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, *rows):
        yield in_terminal("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def table_html(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table; its cells are escaped."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
