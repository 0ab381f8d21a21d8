"""Storage of comparisons that people ask for: of projects, fields, groups of tasks, annotators, models and measures."""

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables
from ml_backend.store.schema import side_by_side

__all__ = ["SideBySideStore"]

KEPT = 20
"""Comparisons of a project that are kept, the newest ones."""


class SideBySideStore(Tables):
    """Reads and writes these comparisons in the store's database."""

    def ask(self, project: int, question: Mapping[str, Any]) -> int:
        """Ask for a comparison, again if it was asked for before; returns its number. The oldest ones are dropped."""
        now = time.time()
        with self.writing() as connection:
            query = sa.select(side_by_side.c.id, side_by_side.c.question).where(side_by_side.c.project == project)
            before = connection.execute(query.order_by(side_by_side.c.asked_at.desc())).all()
            number = next((row.id for row in before if row.question == question), None)
            if number is not None:
                again = sa.update(side_by_side).where(side_by_side.c.id == number)
                connection.execute(again.values(asked_at=now, wanted_at=now))
                return int(number)
            old = [row.id for row in before[KEPT - 1 :]]
            connection.execute(sa.delete(side_by_side).where(side_by_side.c.id.in_(old)))
            values = {"project": project, "question": dict(question), "asked_at": now, "wanted_at": now}
            return int(connection.execute(sa.insert(side_by_side).values(**values)).inserted_primary_key[0])  # type: ignore[index]

    def get(self, number: int) -> Row | None:
        """One comparison."""
        return self.row(sa.select(side_by_side).where(side_by_side.c.id == number))

    def of(self, project: int, kind: str | None = None) -> list[Row]:
        """Comparisons of a project, all or of one kind, asked for last first."""
        every = self._newest_first(side_by_side.c.project == project)
        return [row for row in every if kind is None or row["question"]["kind"] == kind]

    def stamps(self, project: int, kind: str) -> list[tuple[float | None, float | None]]:
        """(waiting since, computed at) of each comparison of one kind, without reading the results."""
        table = side_by_side
        query = sa.select(table.c.question, table.c.wanted_at, table.c.result_at).where(table.c.project == project)
        every = self.rows(query.order_by(table.c.asked_at.desc()))
        return [(row["wanted_at"], row["result_at"]) for row in every if row["question"]["kind"] == kind]

    def wanted(self, project: int) -> list[Row]:
        """Those that are not computed yet."""
        return self._newest_first((side_by_side.c.project == project) & side_by_side.c.wanted_at.is_not(None))

    def put(
        self, wish: Mapping[str, Any], *, result: Mapping[str, Any] | None, problem: str | None, based_on: str
    ) -> None:
        """Store what was found; a request made in the meantime stays pending."""
        values = {"result": result, "problem": problem, "result_at": time.time(), "based_on": based_on}
        update = sa.update(side_by_side).where(side_by_side.c.id == wish["id"])
        self.execute(update.values(**values))
        self.execute(update.where(side_by_side.c.wanted_at == wish["wanted_at"]).values(wanted_at=None))

    def _newest_first(self, where: sa.ColumnElement[bool]) -> list[Row]:
        return self.rows(sa.select(side_by_side).where(where).order_by(side_by_side.c.asked_at.desc()))
