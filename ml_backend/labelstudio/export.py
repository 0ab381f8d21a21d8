"""The answers of a project as a table, with the tasks' data as columns."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store

COLUMNS = ("item", "rater", "field", "text")


def answer_rows(store: Store, project: Row) -> Iterator[list[Any]]:
    """Return the table, the header first: a row for each text; an answer without texts has one row with an empty text.

    Parameters
    ----------
    project : mapping
        The project's row. Annotators are named as in Label Studio; fields of the tasks' data that are longer than 60
        characters are not in the store.
    """
    listed = store.rows(
        sa.select(tasks.c.number, tasks.c.answers, tasks.c.facts)
        .where(tasks.c.project == project["id"])
        .order_by(tasks.c.number)
    )
    data_of = {row["number"]: (row["facts"] or {}).get("data") or {} for row in listed}
    data_names = sorted({name for data in data_of.values() for name in data})
    yield [*COLUMNS, *(f"data.{name}" for name in data_names)]
    for row in listed:
        data = [data_of[row["number"]].get(name, "") for name in data_names]
        fields = {**((row["facts"] or {}).get("fields") or {}), **row["answers"]}
        for name, entry in fields.items():
            for rater, texts in entry.get("written", entry["answers"]).items():
                for text in texts or [""]:
                    yield [row["number"], project["raters"].get(rater, rater), name, text, *data]
