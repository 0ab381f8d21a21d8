"""Storage of the projects' jobs."""

import time
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Database, Row
from ml_backend.store.schema import jobs, projects

__all__ = ["KEPT_JOBS", "JobStore"]

KEPT_JOBS = 50
"""Finished jobs shown per project; older ones are forgotten."""


class JobStore(Database):
    """Reads and writes the jobs in the store's database."""

    def open_job(self, project: int, reason: str, *, state: str = "queued") -> int:
        """Number of the project's unfinished job, made if there is none."""
        with self.writing() as connection:
            waiting = (
                sa.select(jobs.c.id).where(jobs.c.project == project, jobs.c.state == "queued").order_by(jobs.c.id)
            )
            # Held until the end, so that two callers don't both find no job.
            connection.execute(sa.select(projects.c.id).where(projects.c.id == project).with_for_update())
            number = connection.scalar(waiting)
            if number is None:
                insert = sa.insert(jobs).values(project=project, state=state, reason=reason, requested_at=time.time())
                key = connection.execute(insert).inserted_primary_key
                assert key is not None
                number = key[0]
            return int(number)

    def update_job(self, job: int, **values: Any) -> None:
        """Set columns of a job."""
        self.execute(sa.update(jobs).where(jobs.c.id == job).values(seen_at=time.time(), **values))

    def close_stale_jobs(self, project: int, but: int) -> None:
        """End the jobs of killed processes; the present job does their work."""
        with self.writing() as connection:
            connection.execute(
                sa.update(jobs)
                .where(jobs.c.project == project, jobs.c.state.in_(("running", "queued")), jobs.c.id != but)
                .values(state="failed", finished_at=time.time(), message="Broken off; a later job took over.")
            )
            keep = sa.select(jobs.c.id).where(jobs.c.project == project).order_by(jobs.c.id.desc()).limit(KEPT_JOBS)
            kept = list(connection.scalars(keep))
            if len(kept) == KEPT_JOBS:
                connection.execute(sa.delete(jobs).where(jobs.c.project == project, jobs.c.id < kept[-1]))

    def jobs(self, project: int | None = None, *, limit: int = 20) -> list[Row]:
        """Newest jobs first."""
        query = sa.select(jobs).order_by(jobs.c.id.desc()).limit(limit)
        return self.rows(query if project is None else query.where(jobs.c.project == project))

    def job_states(self) -> dict[str, int]:
        """Number of jobs in each state."""
        query = sa.select(jobs.c.state, sa.func.count().label("n")).group_by(jobs.c.state)
        return {row["state"]: row["n"] for row in self.rows(query)}
