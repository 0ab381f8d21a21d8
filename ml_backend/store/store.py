"""The store: projects and leases, with tasks, jobs and decisions, in one database."""

import functools
import json
import os
import secrets
import socket
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row
from ml_backend.store.decisions import DecisionStore
from ml_backend.store.jobs import JobStore
from ml_backend.store.process_locks import Presence, is_alive
from ml_backend.store.schema import counters, decisions, jobs, projects, service, tasks
from ml_backend.store.tasks import TaskStore
from softirr.errors import SoftirrError

LEASE_SECONDS = 60.0
LEASE_EVERY = 10.0  # seconds after which its owner extends it, or notices that it is lost

__all__ = ["LEASE_EVERY", "Row", "Store", "is_connected", "process_name"]


class Store(TaskStore, JobStore, DecisionStore):
    """The persistent state. Each method is a short transaction; several processes may use one database."""

    @functools.cached_property
    def presence(self) -> Presence | None:
        """Mark of this running process; None without a writable folder for it."""
        try:
            return Presence(self.folder) if self.folder is not None else None
        except OSError:
            return None

    def own_name(self) -> str:
        """Name of this process for leases, by which other processes check whether it is running."""
        token = self.presence.token if self.presence is not None else "-"
        return f"{process_name()}:{token}"

    # --- service ----------------------------------------------------------------------------------------------------

    def secret(self) -> bytes:
        """Key from which panel keys are derived; made once per database."""
        query = sa.select(service.c.value).where(service.c.name == "secret")
        value = self.scalar(query)
        if value is None:
            insert = self.upsert(service, name="secret", value=secrets.token_hex(32))
            self.execute(insert.on_conflict_do_nothing())
            value = self.scalar(query)
        assert value is not None
        return bytes.fromhex(value)

    def count(self, **amounts: float) -> None:
        """Add to the counters of all processes that /metrics shows."""
        amounts = {name: amount for name, amount in amounts.items() if amount}
        if not amounts:
            return
        insert = self.upsert(counters)
        insert = insert.on_conflict_do_update(
            index_elements=["name"], set_={"value": counters.c.value + insert.excluded.value}
        )
        self.execute(insert, [{"name": name, "value": value} for name, value in sorted(amounts.items())])

    def counts(self) -> dict[str, float]:
        """The counters."""
        return {row["name"]: row["value"] for row in self.rows(sa.select(counters))}

    # --- projects ---------------------------------------------------------------------------------------------------

    def project(self, server: str, number: int) -> Row | None:
        """The project's row, or None if it is unknown."""
        return self.row(sa.select(projects).where(projects.c.server == server, projects.c.number == number))

    def project_by_id(self, project: int) -> Row | None:
        """The project with this key in the store."""
        return self.row(sa.select(projects).where(projects.c.id == project))

    def is_connected(self, project: int) -> bool:
        """Whether jobs may run for the project automatically."""
        return is_connected(self.scalar(sa.select(projects.c.connection).where(projects.c.id == project)))

    def connected(self, server: str) -> list[Row]:
        """Projects that ``softirr-ls connect`` connected, in brief.

        Id, number, key_round, connection, webhook_secret, origins.
        """
        names = ("id", "number", "key_round", "connection", "webhook_secret", "origins")
        query = sa.select(*(projects.c[name] for name in names)).where(projects.c.server == server)
        return [row for row in self.rows(query.order_by(projects.c.id)) if is_connected(row["connection"])]

    def projects(self) -> list[Row]:
        """All projects."""
        return self.rows(sa.select(projects).order_by(projects.c.id))

    def ensure_project(self, server: str, number: int, *, born: str | None = None) -> Row:
        """The project's row, made if it is new.

        If `born` differs from what was noted, the number belongs to another project now (the server was set up anew):
        what was known of the old one is removed.
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
        """Set columns of a project."""
        self.execute(sa.update(projects).where(projects.c.id == project).values(**values))

    def forget_project(self, project: int) -> None:
        """Remove a project and all that belongs to it."""
        with self.writing() as connection:
            for table in (tasks, jobs, decisions):
                connection.execute(sa.delete(table).where(table.c.project == project))
            connection.execute(sa.delete(projects).where(projects.c.id == project))

    def erase_project(self, project: int) -> None:
        """Remove a project so that the bytes of its texts are gone from the database's files.

        Raises
        ------
        SoftirrError
            If a process is at work on it, or its bytes are still there.
        """
        owner = f"{self.own_name()}:erase"
        if not self.take_lease(project, owner):
            raise SoftirrError("A job is running on this project: try again when it is done.")
        self.forget_project(project)
        self.erase_what_is_free()

    def note_heartbeat(self, name: str, state: Mapping[str, Any]) -> None:
        """Record that a part of the service is running, and its state."""
        value = json.dumps({"at": time.time(), **state})
        self.execute(self.upsert(service, ("name",), name=f"alive:{name}", value=value))

    def heartbeat(self, name: str) -> dict[str, Any] | None:
        """The last recorded state of a part, with the time ``at``."""
        value = self.scalar(sa.select(service.c.value).where(service.c.name == f"alive:{name}"))
        return json.loads(value) if value else None

    # --- wake-ups and the lease -------------------------------------------------------------------------------------

    def want(self, project: int, *, full: bool = False) -> bool:
        """Request an update of the project; False if one was already requested.

        The note is the truth, the queue only carries it: what is lost there is found here.
        """
        now = time.time()
        fresh = (
            sa.update(projects).where(projects.c.id == project, projects.c.wanted_at.is_(None)).values(wanted_at=now)
        )
        noted = self.row(sa.select(projects.c.wanted_at, projects.c.wanted_full).where(projects.c.id == project))
        if noted is not None and noted["wanted_at"] is not None and (noted["wanted_full"] or not full):
            return False
        with self.writing() as connection:
            first = connection.execute(fresh).rowcount == 1
            if full:
                connection.execute(sa.update(projects).where(projects.c.id == project).values(wanted_full=True))
        return first

    def take_wanted(self, project: int) -> tuple[bool, bool]:
        """Clear the request; returns (whether there was one, whether it was for a complete pull)."""
        with self.writing() as connection:
            row = connection.execute(
                sa.select(projects.c.wanted_at, projects.c.wanted_full)
                .where(projects.c.id == project)
                .with_for_update()
            ).first()
            if row is None or row.wanted_at is None:
                return False, False
            connection.execute(
                sa.update(projects).where(projects.c.id == project).values(wanted_at=None, wanted_full=False)
            )
            return True, bool(row.wanted_full)

    def wanted(self) -> list[int]:
        """Keys of the projects with an unserved wake-up or unfinished work."""
        unfinished = sa.select(jobs.c.project).where(jobs.c.state.in_(("queued", "running")))
        query = sa.select(projects.c.id).where(projects.c.wanted_at.is_not(None) | projects.c.id.in_(unfinished))
        return self.scalars(query.order_by(projects.c.id))

    def take_lease(self, project: int, owner: str, *, force: bool = False) -> bool:
        """Take the project's lease, which only one process can have; a dead owner on this machine is replaced at once.

        With `force` a living one is replaced too: it stops when it next looks at its lease.
        """
        now = time.time()
        with self.writing() as connection:
            row = connection.execute(
                sa.select(projects.c.lease_owner, projects.c.lease_until)
                .where(projects.c.id == project)
                .with_for_update()
            ).first()
            if row is None:
                return False
            free = (
                force
                or row.lease_owner in (None, owner)
                or (row.lease_until or 0) < now
                or self.lease_is_dead(row.lease_owner)
            )
            if free:
                connection.execute(
                    sa.update(projects)
                    .where(projects.c.id == project)
                    .values(lease_owner=owner, lease_until=now + LEASE_SECONDS)
                )
            return free

    def keep_lease(self, project: int, owner: str) -> bool:
        """Extend the lease; False if it was lost."""
        held = sa.update(projects).where(projects.c.id == project, projects.c.lease_owner == owner)
        return self.execute(held.values(lease_until=time.time() + LEASE_SECONDS)).rowcount == 1

    def lease_is_dead(self, owner: str | None) -> bool:
        """Whether the lease's owner is known to have ended."""
        if owner is None:
            return False
        token = (owner.split(":") + ["", ""])[2]
        alive = is_alive(self.folder, token) if self.folder is not None else None
        return _is_dead(owner) if alive is None else not alive

    def drop_lease(self, project: int, owner: str) -> None:
        """Release the lease."""
        held = sa.update(projects).where(projects.c.id == project, projects.c.lease_owner == owner)
        self.execute(held.values(lease_owner=None, lease_until=None))


def is_connected(connection: Mapping[str, Any] | None) -> bool:
    """Whether a project's `connection` was made by ``softirr-ls connect``.

    Rows of earlier versions can hold one that only Label Studio's settings page made: such a project is not connected.
    """
    return "mode" in (connection or ())


def process_name() -> str:
    """host:pid of this process, for leases."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def _is_dead(owner: str) -> bool:
    """Whether the owner was a process of this machine that has ended."""
    host, _, rest = owner.partition(":")
    number = rest.partition(":")[0]
    if host != socket.gethostname()[:60] or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
