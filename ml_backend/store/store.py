"""The store: projects, tasks, acts, audits and requests in one database."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.store.acts import DecisionStore
from ml_backend.store.database import Row
from ml_backend.store.schema import projects, service
from ml_backend.store.tasks import TaskStore


class Store(TaskStore, DecisionStore):
    """The persistent state. Each method is a short transaction; several processes may use one database."""

    # --- service ------------------------------------------------------------------------------------------------------

    def secret(self) -> bytes:
        """Return the key from which panel keys are derived; made once per database."""
        query = sa.select(service.c.value).where(service.c.name == "secret")
        value = self.scalar(query)
        if value is None:
            insert = self.upsert(service, name="secret", value=secrets.token_hex(32))
            self.execute(insert.on_conflict_do_nothing())
            value = self.scalar(query)
        assert value is not None
        return bytes.fromhex(value)

    def note(self, name: str, state: Mapping[str, Any]) -> None:
        """Store the state of a part of the service, such as ``alive:worker`` or ``run:7``."""
        self.execute(self.upsert(service, ("name",), name=name, value=json.dumps(state)))

    def noted(self, name: str) -> dict[str, Any] | None:
        """Return a state that `note` stored."""
        value = self.scalar(sa.select(service.c.value).where(service.c.name == name))
        return json.loads(value) if value else None

    # --- projects -----------------------------------------------------------------------------------------------------

    def project(self, server: str, number: int) -> Row | None:
        """Return the project's row, or None if it is unknown."""
        return self.row(sa.select(projects).where(projects.c.server == server, projects.c.number == number))

    def project_by_id(self, project: int) -> Row | None:
        """Return the project with this key in the store."""
        return self.row(sa.select(projects).where(projects.c.id == project))

    def is_connected(self, project: int) -> bool:
        """Whether the worker updates the project regularly."""
        return is_connected(self.scalar(sa.select(projects.c.connection).where(projects.c.id == project)))

    def connected(self, server: str) -> list[Row]:
        """Return the connected projects: id, number, key_round, connection, webhook_secret and origins."""
        names = ("id", "number", "key_round", "connection", "webhook_secret", "origins")
        query = sa.select(*(projects.c[name] for name in names)).where(projects.c.server == server)
        return [row for row in self.rows(query.order_by(projects.c.id)) if is_connected(row["connection"])]

    def projects(self) -> list[Row]:
        """Return all projects."""
        return self.rows(sa.select(projects).order_by(projects.c.id))

    def ensure_project(self, server: str, number: int, *, born: str | None = None) -> Row:
        """Return the project's row, made if it is new.

        If `born` differs from the stored value, the number belongs to another project now (the server was set up
        again), and everything about the former project is removed.
        """
        row = self.project(server, number)
        if row is not None and born and row["born"] and row["born"] != born:
            self.forget_project(row["id"])
            row = None
        if row is None:
            insert = self.upsert(projects, server=server, number=number, born=born)
            self.execute(insert.on_conflict_do_nothing())
            row = self.project(server, number)
        elif born and not row["born"]:
            self.update_project(row["id"], born=born)
        assert row is not None
        return row

    def update_project(self, project: int, **values: Any) -> None:
        """Set columns of a project, whatever they are now; `change_project` changes them."""
        self.execute(sa.update(projects).where(projects.c.id == project).values(**values))

    def change_project(self, project: int, change: Callable[[Row], Mapping[str, Any]]) -> Row | None:
        """Read a project and set columns in one transaction, so that simultaneous changes lose nothing.

        Parameters
        ----------
        change : callable
            Returns the new values of some columns for the project's row.

        Returns
        -------
        mapping or None
            The project's row after the change; None if the project is unknown.
        """
        query = sa.select(projects).where(projects.c.id == project)
        with self.writing() as connection:
            row: Any = connection.execute(query.with_for_update()).mappings().first()
            if row is None:
                return None
            stored = dict(row)
            values = dict(change(stored))
            if values:
                connection.execute(sa.update(projects).where(projects.c.id == project).values(**values))
            return stored | values

    def choose(self, project: int, options: Mapping[str, Any], *, reset: bool = False) -> Row | None:
        """Set some of a project's settings, or with `reset` all; returns the project's row."""
        return self.change_project(project, lambda row: {"chosen": {**({} if reset else row["chosen"]), **options}})

    def forget_project(self, project: int) -> None:
        """Remove a project and everything that belongs to it."""
        with self.writing() as connection:
            connection.execute(sa.delete(projects).where(projects.c.id == project))  # the other tables cascade
            connection.execute(sa.delete(service).where(service.c.name == f"run:{project}"))

    # --- when the worker updates a project ----------------------------------------------------------------------------

    def want(self, project: int, *, full: bool = False, due_at: float | None = None) -> None:
        """Have the worker update the project soon; several requests before it does are one run.

        Parameters
        ----------
        full : bool
            Read every task again.
        due_at : float, optional
            Not before this time.
        """
        due_at = time.time() if due_at is None else due_at
        earlier = sa.case((projects.c.due_at < due_at, projects.c.due_at), else_=due_at)
        marks: dict[str, Any] = {"pulled_at": None, "summary_stale": True, "summary_due": 0.0} if full else {}
        if full:
            self.read_again(project)
        self.execute(sa.update(projects).where(projects.c.id == project).values(due_at=earlier, **marks))

    def due(self, now: float) -> list[int]:
        """Return the projects that the worker has to update now, the one that is due first at first."""
        is_held, is_paused = projects.c.held_until > now, projects.c.not_before > now
        free = ~sa.func.coalesce(is_held, sa.false()) & ~sa.func.coalesce(is_paused, sa.false())
        return self.scalars(sa.select(projects.c.id).where(projects.c.due_at <= now, free).order_by(projects.c.due_at))

    def is_due(self, project: int) -> bool:
        """Whether an update was requested that no run has begun to serve."""
        return bool(self.scalar(sa.select(projects.c.due_at <= time.time()).where(projects.c.id == project)))

    # --- one user of a project at a time ------------------------------------------------------------------------------

    def begin_run(self, project: int, state: Mapping[str, Any]) -> bool:
        """Note that a run begins; False while a command has the project to itself."""
        now = time.time()
        hold_query = sa.select(projects.c.held_until).where(projects.c.id == project).with_for_update()
        with self.writing() as connection:
            row = connection.execute(hold_query).first()
            if row is None or (row.held_until or 0.0) > now:
                return False
            values = self.upsert(service, ("name",), name=f"run:{project}", value=json.dumps(state))
            connection.execute(values)
            connection.execute(sa.update(projects).where(projects.c.id == project).values(due_at=None))
        return True

    def hold(self, project: int, seconds: float) -> None:
        """Let no run begin for some seconds; a run that is under way stops when it notices."""
        self.update_project(project, held_until=time.time() + seconds)

    def release(self, project: int) -> None:
        """End a `hold`."""
        self.update_project(project, held_until=None)

    def is_held(self, project: int) -> bool:
        """Whether a command has the project to itself."""
        return (self.scalar(sa.select(projects.c.held_until).where(projects.c.id == project)) or 0.0) > time.time()

    def run_of(self, project: int) -> dict[str, Any] | None:
        """Return the state of the project's present or last run."""
        return self.noted(f"run:{project}")

    def runs(self) -> dict[int, dict[str, Any]]:
        """Return the state of each project's present or last run."""
        listed = self.rows(sa.select(service).where(service.c.name.startswith("run:")))
        return {int(row["name"].partition(":")[2]): json.loads(row["value"]) for row in listed}

    def jobs(self, project: int | None = None, *, limit: int = 20) -> list[Row]:
        """Return the present or last run of one project or of each, the newest first."""
        rows: list[Row] = []
        for row in self.rows(sa.select(projects.c.id, projects.c.due_at)):
            run = self.run_of(row["id"]) if project in (None, row["id"]) else None
            waits = row["due_at"] is not None and row["due_at"] <= time.time()
            if waits and project in (None, row["id"]) and (run is None or run["state"] == "done"):
                run = {**(run or NO_RUN), "state": "queued", "requested_at": row["due_at"]}
            if run is not None:
                rows.append({**NO_RUN, **run, "id": row["id"], "project": row["id"]})
        return sorted(rows, key=lambda run: -(run["requested_at"] or 0.0))[:limit]


NO_RUN: Mapping[str, Any] = {
    "number": 0,
    "state": "queued",
    "phase": "",
    "done": 0,
    "total": None,
    "requested_at": None,
    "started_at": None,
    "finished_at": None,
    "message": "",
    "result": None,
    "failures": 0,
}
"""The state of a run before it begins."""


def is_connected(connection: Mapping[str, Any] | None) -> bool:
    """Whether a project's `connection` was made by ``softirr-ls connect``.

    Rows of earlier versions can have one that only Label Studio's settings page made: such a project is not connected.
    """
    return "mode" in (connection or ())
