"""doccano's exports of texts (sequence to sequence): one file for each annotator (version 1.8), or annotators' numbers (version 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.errors import InputError
from softirr.tables.request import Records, Request, gathered_tables
from softirr.tables.rows import Gathered
from softirr.tables.table import AnnotationTable

__all__ = ["is_doccano", "keep_doccano", "read_doccano"]


def is_doccano(record: Mapping[str, Any]) -> bool:
    """Whether a line is an example with texts by doccano."""
    if "text" not in record or "id" not in record:
        return False
    return isinstance(record.get("label"), list) or (
        isinstance(record.get("annotations"), list) and "data" not in record
    )


def read_doccano(records: Records, request: Request) -> dict[str, AnnotationTable]:
    """The answers of a file that names annotators, as version 1.0 wrote it.

    Raises
    ------
    InputError
        If it names none, or a line can't be used.
    """
    gathered = request.gathered(repeats="set")
    n = keep_doccano(records, request, gathered, None)
    return gathered_tables(request, "doccano", {"label": gathered}, n_rows=n)


def keep_doccano(records: Records, request: Request, gathered: Gathered, rater: str | None) -> int:
    """Add the examples of a file to the answers gathered so far.

    Parameters
    ----------
    records : iterable of (int, dict)
    request : Request
    gathered : Gathered
    rater : str or None
        Whose file it is; None for a file with annotators in it.

    Returns
    -------
    int
        Examples in the file.
    """
    n = 0
    for line, record in records:
        n += 1
        place = request.line(line)
        if not isinstance(record, Mapping) or record.get("id") in (None, ""):
            raise InputError(f"{place}: expected an example of doccano, with id.")
        item = str(record["id"])
        if rater is not None and isinstance(record.get("label"), list):
            gathered.add(item, rater, _texts(record["label"], place), place)
        elif isinstance(record.get("annotations"), list):
            gathered.drop(item, "")
            for entry in record["annotations"]:
                if not isinstance(entry, Mapping) or entry.get("user") in (None, ""):
                    raise InputError(f"{place}: an annotation names no user.")
                gathered.add(item, str(entry["user"]), _texts([entry.get("text")], place), place)
        elif rater is None and isinstance(record.get("label"), list):
            raise InputError(
                f"{request.name} is doccano's file of one annotator, or of a project whose annotators share their annotations: give the folder or "
                "ZIP archive with a file for each annotator."
            )
        else:
            raise InputError(f"{place}: expected an example of doccano, with a list of labels.")
    return n


def _texts(values: list[Any], place: str) -> tuple[str, ...] | None:
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"{place}: a label is no text: only exports of texts (sequence to sequence) can be read.")
    return tuple(value for value in values if value.strip()) or None
