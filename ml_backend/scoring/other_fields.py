"""Agreement on the controls of a project that are no text: choices, ratings, numbers, dates, paths and rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ml_backend.scoring.tables import table_of
from ml_backend.settings import ProjectSettings
from softirr.errors import InputError
from softirr.tables.kinds import of_kind
from softirr.tables.missing import MissingMarks, without_marks
from softirr.tables.table import Reading

__all__ = ["other_field"]

SET = "set"


def other_field(
    stored: Iterable[tuple[int, Mapping[str, Any]]], name: str, kind: str, settings: ProjectSettings
) -> dict[str, Any] | None:
    """One control of another kind in the table of fields, computed as ``softirr score`` computes it from an export.

    Parameters
    ----------
    stored : iterable of (int, mapping)
        Task number and answers by control (`Store.fields`).
    name, kind : str
        Of the control (`config.other_controls`); it is a set if anybody gave several choices, or sorted into buckets.
    settings : ProjectSettings

    Returns
    -------
    dict or None
        As `softirr.report.fields.field_row`, or with a ``problem`` instead of values; None where nobody answered it.
    """
    from softirr import agreement
    from softirr.report.fields import field_row

    kinds: set[str] = set()

    def noted() -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, fields in stored:
            if name in fields:
                kinds.add(fields[name]["kind"])
                yield number, fields

    table = table_of(noted(), name, settings)
    if not table.written:
        return None
    kind = SET if SET in kinds else kind
    table = replace(table, reading=Reading("label-studio", (("text", name),)))
    table = without_marks(table, MissingMarks.of(settings.missing))
    try:
        report = agreement(of_kind(table, kind), chance=settings.chance, cache=None, progress=None)
        return field_row(name, report.to_dict())
    except InputError as error:
        return {"name": name, "kind": kind, "problem": str(error)}
