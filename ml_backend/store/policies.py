"""Storage of requested looks at what counts as the same: coefficients and moved tasks under candidate policies."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from ml_backend.store.database import Row, rows
from ml_backend.store.schema import policy_looks
from ml_backend.store.store import Store

__all__ = ["PolicyStore"]


class PolicyStore:
    """Reads and writes looks in the store's database."""

    def __init__(self, store: Store):
        self._engine = store.engine

    def want(self, project: int, control: str, policies: Sequence[Mapping[str, Any]]) -> None:
        """Request a look; a later request for the same field replaces an earlier one."""
        insert = (postgresql if self._engine.dialect.name == "postgresql" else sqlite).insert(policy_looks)
        values = {"policies": [dict(one) for one in policies], "wanted_at": time.time()}
        statement = insert.values(project=project, control=control, **values)
        self._run(statement.on_conflict_do_update(index_elements=["project", "control"], set_=values))

    def wanted(self, project: int) -> list[Row]:
        """Looks that are not computed yet."""
        table = policy_looks
        return self._rows(sa.select(table).where(table.c.project == project, table.c.wanted_at.is_not(None)))

    def get(self, project: int, control: str) -> Row | None:
        """The look at a field, requested or computed."""
        table = policy_looks
        query = sa.select(table).where(table.c.project == project, table.c.control == control)
        return next(iter(self._rows(query)), None)

    def stamps(self, project: int) -> list[tuple[Any, ...]]:
        """(field, requested at, computed at) of each look."""
        table = policy_looks
        query = sa.select(table.c.control, table.c.wanted_at, table.c.result_at).where(table.c.project == project)
        return [tuple(row.values()) for row in self._rows(query.order_by(table.c.control))]

    def put(self, wish: Row, result: Mapping[str, Any]) -> None:
        """Store the result; a request made in the meantime stays pending."""
        table = policy_looks
        here = (table.c.project == wish["project"]) & (table.c.control == wish["control"])
        values = {"result": dict(result), "result_at": time.time()}
        self._run(sa.update(table).where(here).values(**values))
        self._run(sa.update(table).where(here, table.c.wanted_at == wish["wanted_at"]).values(wanted_at=None))

    def put_part(self, wish: Row, result: Mapping[str, Any]) -> None:
        """Store the rows that are ready; the look stays requested."""
        here = (policy_looks.c.project == wish["project"]) & (policy_looks.c.control == wish["control"])
        values = {"result": dict(result), "result_at": time.time()}
        self._run(sa.update(policy_looks).where(here, policy_looks.c.wanted_at == wish["wanted_at"]).values(**values))

    def _run(self, statement: Any) -> None:
        with self._engine.connect().execution_options(write=True) as connection, connection.begin():
            connection.execute(statement)

    def _rows(self, query: Any) -> list[Row]:
        with self._engine.connect() as connection:
            return rows(connection.execute(query))
