"""Storage of requested looks at what counts as the same: coefficients and moved tasks under candidate policies."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables
from ml_backend.store.schema import policy_looks

__all__ = ["PolicyStore"]


class PolicyStore(Tables):
    """Reads and writes looks in the store's database."""

    def want(self, project: int, control: str, policies: Sequence[Mapping[str, Any]]) -> None:
        """Request a look; a later request for the same field replaces an earlier one."""
        values = {"policies": [dict(one) for one in policies], "wanted_at": time.time()}
        self.execute(self.upsert(policy_looks, ("project", "control"), project=project, control=control, **values))

    def wanted(self, project: int) -> list[Row]:
        """Looks that are not computed yet."""
        table = policy_looks
        return self.rows(sa.select(table).where(table.c.project == project, table.c.wanted_at.is_not(None)))

    def get(self, project: int, control: str) -> Row | None:
        """The look at a field, requested or computed."""
        return self.row(sa.select(policy_looks).where(_of(project, control)))

    def stamps(self, project: int) -> list[tuple[Any, ...]]:
        """(field, requested at, computed at) of each look."""
        table = policy_looks
        query = sa.select(table.c.control, table.c.wanted_at, table.c.result_at).where(table.c.project == project)
        return [tuple(row.values()) for row in self.rows(query.order_by(table.c.control))]

    def put(self, wish: Row, result: Mapping[str, Any]) -> None:
        """Store the result; a request made in the meantime stays pending."""
        update = sa.update(policy_looks).where(_of(wish["project"], wish["control"]))
        self.execute(update.values(result=dict(result), result_at=time.time()))
        self.execute(update.where(policy_looks.c.wanted_at == wish["wanted_at"]).values(wanted_at=None))

    def put_part(self, wish: Row, result: Mapping[str, Any]) -> None:
        """Store the rows that are ready; the look stays requested."""
        wanted = _of(wish["project"], wish["control"]) & (policy_looks.c.wanted_at == wish["wanted_at"])
        self.execute(sa.update(policy_looks).where(wanted).values(result=dict(result), result_at=time.time()))


def _of(project: int, control: str) -> sa.ColumnElement[bool]:
    return (policy_looks.c.project == project) & (policy_looks.c.control == control)
