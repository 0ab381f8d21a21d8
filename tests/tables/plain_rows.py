"""Tables as plain values, and tables from the text of a file."""

from __future__ import annotations

import io
from typing import Any

import softirr
from softirr.tables.table import AnnotationTable


def rows(table: AnnotationTable) -> set[tuple[str, str, tuple[str, ...]]]:
    """Item, rater and texts of each answer."""
    return {
        (table.items[i], table.raters[r], table.texts_of(a))
        for i, r, a in zip(table.item, table.rater, table.answer, strict=True)
    }


def read(content: str, **options: Any) -> AnnotationTable:
    return softirr.read(io.StringIO(content), **options)
