"""INCEpTION's agreement page, exported as CSV: a row for each position, a column for each annotator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from softirr.answers.gathered import Request, Tables
from softirr.answers.registry import Format, Ways
from softirr.answers.row_tables import rows_tables
from softirr.answers.rows import Rows
from softirr.text import normalize

__all__ = ["FORMATS"]

_HEADER = ["type", "collection", "document", "layer", "feature", "position"]


def _is_it(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return [normalize(name, casefold=True) for name in columns[: len(_HEADER)]] == _HEADER and len(columns) > len(
        _HEADER
    )


def _read(table: Rows, request: Request) -> Tables:
    """Positions in documents are items; "null" is a missing answer."""
    rows = ((number, [None if cell == "null" else cell for cell in cells]) for number, cells in table.rows)
    layout = request.options.layout
    if not layout.says_columns:
        names = table.columns
        layout = replace(layout, item=f"{names[2]}+{names[5]}", raters=names[len(_HEADER) :])
    return rows_tables(replace(table, rows=rows), request, layout)


FORMATS = (Format("inception", table=Ways(_is_it, _read)),)
