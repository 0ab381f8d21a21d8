"""Storage of what codebooks are made of: the texts of a field and the equivalence of the pairs that were compared."""

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from ml_backend.store.database import Row, rows
from ml_backend.store.schema import codebooks
from ml_backend.store.store import Store

__all__ = ["CodebookStore"]


class CodebookStore:
    """Reads and writes this table in the store's database."""

    def __init__(self, store: Store):
        self.engine = store.engine

    def want(self, project: int, control: str) -> None:
        """Request the codebook of a field, or an update of it."""
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(codebooks)
        values = {"wanted_at": time.time(), "problem": None}
        insert = insert.values(project=project, control=control, **values)
        self._run(insert.on_conflict_do_update(index_elements=["project", "control"], set_=values))

    def wanted(self, project: int) -> list[Row]:
        """Requested codebooks that are not made yet: project, control, wanted_at."""
        table = codebooks
        query = sa.select(table.c.project, table.c.control, table.c.wanted_at)
        return self._rows(query.where(table.c.project == project, table.c.wanted_at.is_not(None)))

    def get(self, project: int, control: str) -> Row | None:
        """The codebook of a field, requested or made."""
        query = sa.select(codebooks).where(codebooks.c.project == project, codebooks.c.control == control)
        return next(iter(self._rows(query)), None)

    def stamp(self, project: int, control: str) -> Row | None:
        """The same without the comparisons."""
        kept = [column for column in codebooks.c if column.name != "comparisons"]
        query = sa.select(*kept).where(codebooks.c.project == project, codebooks.c.control == control)
        return next(iter(self._rows(query)), None)

    def put(
        self, wish: Row, comparisons: Mapping[str, Any] | None, *, based_on: str = "", problem: str | None = None
    ) -> None:
        """Store what was made, or why it could not be; a request made in the meantime stays pending."""
        table = codebooks
        here = (table.c.project == wish["project"]) & (table.c.control == wish["control"])
        values: dict[str, Any] = {"problem": problem}
        if comparisons is not None:
            values |= {"comparisons": dict(comparisons), "made_at": time.time(), "based_on": based_on}
        self._run(sa.update(table).where(here).values(**values))
        self._run(sa.update(table).where(here, table.c.wanted_at == wish["wanted_at"]).values(wanted_at=None))

    def _run(self, statement: Any) -> None:
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            connection.execute(statement)

    def _rows(self, query: Any) -> list[Row]:
        with self.engine.connect() as connection:
            return rows(connection.execute(query))
