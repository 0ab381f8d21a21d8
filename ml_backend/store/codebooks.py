"""Storage of what codebooks are made of: the texts of a field and the equivalence of the pairs that were compared."""

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables
from ml_backend.store.schema import codebooks

__all__ = ["CodebookStore"]


class CodebookStore(Tables):
    """Reads and writes this table in the store's database."""

    def want(self, project: int, control: str) -> None:
        """Request the codebook of a field, or an update of it."""
        values = {"project": project, "control": control, "wanted_at": time.time(), "problem": None}
        self.execute(self.upsert(codebooks, ("project", "control"), **values))

    def wanted(self, project: int) -> list[Row]:
        """Requested codebooks that are not made yet: project, control, wanted_at."""
        table = codebooks
        query = sa.select(table.c.project, table.c.control, table.c.wanted_at)
        return self.rows(query.where(table.c.project == project, table.c.wanted_at.is_not(None)))

    def get(self, project: int, control: str) -> Row | None:
        """The codebook of a field, requested or made."""
        return self.row(sa.select(codebooks).where(_of(project, control)))

    def stamp(self, project: int, control: str) -> Row | None:
        """The same without the comparisons."""
        kept = [column for column in codebooks.c if column.name != "comparisons"]
        return self.row(sa.select(*kept).where(_of(project, control)))

    def put(
        self, wish: Row, comparisons: Mapping[str, Any] | None, *, based_on: str = "", problem: str | None = None
    ) -> None:
        """Store what was made, or why it could not be; a request made in the meantime stays pending."""
        values: dict[str, Any] = {"problem": problem}
        if comparisons is not None:
            values |= {"comparisons": dict(comparisons), "made_at": time.time(), "based_on": based_on}
        update = sa.update(codebooks).where(_of(wish["project"], wish["control"]))
        self.execute(update.values(**values))
        self.execute(update.where(codebooks.c.wanted_at == wish["wanted_at"]).values(wanted_at=None))


def _of(project: int, control: str) -> sa.ColumnElement[bool]:
    return (codebooks.c.project == project) & (codebooks.c.control == control)
