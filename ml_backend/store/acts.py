"""The append-only log of reviewers' acts."""

import time
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables, in_parts
from ml_backend.store.schema import acts


class ActStore(Tables):
    """Reads and extends the log in the store's database."""

    def add_act(
        self,
        project: int,
        kind: str,
        *,
        reviewer: str = "",
        reviewer_id: str = "",
        **values: Any,
    ) -> int:
        """Add an act; returns its number."""
        signed = {"reviewer": reviewer[:256], "reviewer_id": reviewer_id[:64]}
        return self.insert(acts, project=project, kind=kind, **{"at": time.time(), **signed, **values})

    def acts(self, project: int, *kinds: str, tasks: Collection[int] | None = None) -> list[Row]:
        """Return the acts of these kinds, oldest first.

        Parameters
        ----------
        tasks : collection of int, optional
            Only acts about these tasks.
        """
        query = sa.select(acts).where(acts.c.project == project, acts.c.kind.in_(kinds)).order_by(acts.c.id)
        if tasks is None:
            return self.rows(query)
        chunks = in_parts(sorted(set(tasks)))
        listed = [row for chunk in chunks for row in self.rows(query.where(acts.c.task.in_(chunk)))]
        return sorted(listed, key=lambda row: row["id"])
