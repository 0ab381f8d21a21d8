"""A report as HTML, for notebooks: the tables of the terminal; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from softirr.report.terminal_report import report_blocks

__all__ = ["report_html", "table_html"]


def report_html(report: Mapping[str, Any]) -> str:
    """The readable form of a report as HTML without scripts or styles of its own.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.

    Returns
    -------
    str

    Examples
    --------
    >>> from softirr.report.html import table_html
    >>> table_html(("rater",), [("<b>",)])
    '<table><thead><tr><th>rater</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    parts = [
        f"<p>{escape(block)}</p>" if isinstance(block, str) else table_html(*block)
        for block in report_blocks(report)
        if block != ""
    ]
    return f"<div>{''.join(parts)}</div>"


def table_html(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table; its cells are escaped.

    Parameters
    ----------
    head : iterable of str
    rows : iterable of iterable of str

    Returns
    -------
    str
    """
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
