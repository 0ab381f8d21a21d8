"""The one database: what was pulled, scored, wanted and decided. SQLite (WAL) by default, PostgreSQL by URL."""

import contextlib
import hashlib
import json
import os
import secrets
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from ml_backend.schema import counters, decisions, jobs, projects, service, tasks
from softirr.errors import InputError, SoftirrError
from softirr.text import normalise

Row = Mapping[str, Any]
LEASE_SECONDS = 60.0
LEASE_EVERY = 10.0  # seconds after which its owner prolongs it, and notices that it is lost
KEPT_JOBS = 50  # finished jobs shown per project; older ones are forgotten


class Store:
    """Everything that outlives a process. Methods are short transactions; several processes may use one database.

    Parameters
    ----------
    url : str
        SQLAlchemy URL, ``sqlite:///...`` or ``postgresql+psycopg://...``.
    """

    def __init__(self, url: str):
        self.url = url
        self.engine = _engine(url)

    # --- life -------------------------------------------------------------------------------------------------------

    def migrate(self) -> None:
        """Bring the database to the present schema; nothing is lost.

        Raises
        ------
        SoftirrError
            If the database can't be reached or written.
        """
        try:
            self._migrate()
        except sa.exc.OperationalError:
            where = self.engine.url.render_as_string(hide_password=True)
            raise SoftirrError(f"The database {where} can't be used: is it running, and may it be written?") from None

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.engine.connect().execution_options(write=True) as connection:
            if connection.dialect.name == "postgresql":  # one process migrates, the others wait for it
                connection.execute(sa.text("SELECT pg_advisory_lock(7331010)"))
                connection.commit()
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            finally:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.text("SELECT pg_advisory_unlock(7331010)"))
                    connection.commit()

    def close(self) -> None:
        """Give back the connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def _read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def _write(self) -> Iterator[Connection]:
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            yield connection

    def _upsert(self, table: sa.Table) -> Any:
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)

    # --- service ----------------------------------------------------------------------------------------------------

    def secret(self) -> bytes:
        """Key from which panel keys are derived; made once per database."""
        query = sa.select(service.c.value).where(service.c.name == "secret")
        with self._read() as connection:
            value = connection.scalar(query)
        if value is None:
            made = self._upsert(service).values(name="secret", value=secrets.token_hex(32)).on_conflict_do_nothing()
            with self._write() as connection:
                connection.execute(made)
                value = connection.scalar(query)
        return bytes.fromhex(value)

    def count(self, **amounts: float) -> None:
        """Add to the counters that /metrics shows, over all processes."""
        amounts = {name: amount for name, amount in amounts.items() if amount}
        if not amounts:
            return
        insert = self._upsert(counters)
        insert = insert.on_conflict_do_update(
            index_elements=["name"], set_={"value": counters.c.value + insert.excluded.value}
        )
        with self._write() as connection:
            connection.execute(insert, [{"name": name, "value": value} for name, value in sorted(amounts.items())])

    def counts(self) -> dict[str, float]:
        """The counters."""
        with self._read() as connection:
            return {row.name: row.value for row in connection.execute(sa.select(counters))}

    # --- projects ---------------------------------------------------------------------------------------------------

    def project(self, server: str, number: int) -> Row | None:
        """The project's row, or None if it is not known here."""
        with self._read() as connection:
            found = connection.execute(
                sa.select(projects).where(projects.c.server == server, projects.c.number == number)
            ).mappings()
            return found.first()

    def project_by_id(self, project: int) -> Row | None:
        """The project with this key in the store."""
        with self._read() as connection:
            return connection.execute(sa.select(projects).where(projects.c.id == project)).mappings().first()

    def is_connected(self, project: int) -> bool:
        """Whether jobs may run for the project by themselves."""
        with self._read() as connection:
            return bool(connection.scalar(sa.select(projects.c.connection).where(projects.c.id == project)))

    def projects(self) -> list[Row]:
        """All projects."""
        with self._read() as connection:
            return list(connection.execute(sa.select(projects).order_by(projects.c.id)).mappings())

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
            insert = self._upsert(projects).values(server=server, number=number, born=born).on_conflict_do_nothing()
            with self._write() as connection:
                connection.execute(insert)
            row = self.project(server, number)
        elif born and not row["born"]:
            self.update_project(row["id"], born=born)
        assert row is not None
        return row

    def update_project(self, project: int, **values: Any) -> None:
        """Set columns of a project."""
        with self._write() as connection:
            connection.execute(sa.update(projects).where(projects.c.id == project).values(**values))

    def forget_project(self, project: int) -> None:
        """Remove a project and all that belongs to it."""
        with self._write() as connection:
            for table in (tasks, jobs, decisions):
                connection.execute(sa.delete(table).where(table.c.project == project))
            connection.execute(sa.delete(projects).where(projects.c.id == project))

    # --- wake-ups and the lease -------------------------------------------------------------------------------------

    def want(self, project: int, *, full: bool = False) -> bool:
        """Note that the project is to be brought up to date; False if that was already noted.

        The note is the truth, the queue only carries it: what is lost there is found here.
        """
        now = time.time()
        fresh = (
            sa.update(projects).where(projects.c.id == project, projects.c.wanted_at.is_(None)).values(wanted_at=now)
        )
        with self._read() as connection:
            noted = connection.execute(
                sa.select(projects.c.wanted_at, projects.c.wanted_full).where(projects.c.id == project)
            ).first()
        if noted is not None and noted.wanted_at is not None and (noted.wanted_full or not full):
            return False
        with self._write() as connection:
            first = connection.execute(fresh).rowcount == 1
            if full:
                connection.execute(sa.update(projects).where(projects.c.id == project).values(wanted_full=True))
        return first

    def take_wanted(self, project: int) -> tuple[bool, bool]:
        """Clear the note; (was there one, was a complete pull asked for)."""
        with self._write() as connection:
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
        """Keys of the projects with an unserved wake-up or with unfinished work, whoever asked for it."""
        unfinished = sa.select(jobs.c.project).where(jobs.c.state.in_(("queued", "running")))
        with self._read() as connection:
            query = sa.select(projects.c.id).where(projects.c.wanted_at.is_not(None) | projects.c.id.in_(unfinished))
            return list(connection.scalars(query.order_by(projects.c.id)))

    def take_lease(self, project: int, owner: str, *, force: bool = False) -> bool:
        """Become the only process that works on the project; a dead owner on this machine is replaced at once.

        With `force` a living one is replaced too: it stops when it next looks at its lease.
        """
        now = time.time()
        with self._write() as connection:
            row = connection.execute(
                sa.select(projects.c.lease_owner, projects.c.lease_until)
                .where(projects.c.id == project)
                .with_for_update()
            ).first()
            if row is None:
                return False
            free = (
                force or row.lease_owner in (None, owner) or (row.lease_until or 0) < now or _is_dead(row.lease_owner)
            )
            if free:
                connection.execute(
                    sa.update(projects)
                    .where(projects.c.id == project)
                    .values(lease_owner=owner, lease_until=now + LEASE_SECONDS)
                )
            return free

    def keep_lease(self, project: int, owner: str) -> bool:
        """Prolong the lease; False if it was lost."""
        with self._write() as connection:
            kept = connection.execute(
                sa.update(projects)
                .where(projects.c.id == project, projects.c.lease_owner == owner)
                .values(lease_until=time.time() + LEASE_SECONDS)
            )
            return kept.rowcount == 1

    @staticmethod
    def lease_is_dead(owner: str | None) -> bool:
        """Whether the lease's owner was a process of this machine that is no more."""
        return owner is not None and _is_dead(owner)

    def drop_lease(self, project: int, owner: str) -> None:
        """Let others work on the project."""
        with self._write() as connection:
            connection.execute(
                sa.update(projects)
                .where(projects.c.id == project, projects.c.lease_owner == owner)
                .values(lease_owner=None, lease_until=None)
            )

    # --- tasks ------------------------------------------------------------------------------------------------------

    def put_pulled(self, project: int, pulled: Sequence[Mapping[str, Any]]) -> int:
        """Note tasks as they stand in Label Studio; returns how many have other answers than before.

        Parameters
        ----------
        pulled : sequence of mappings
            With number, updated_at, generation, n_annotations, n_answers, answers, answers_hash and actual.
        """
        if not pulled:
            return 0
        insert = self._upsert(tasks)
        names = ("updated_at", "generation", "n_annotations", "n_answers", "answers", "answers_hash", "actual", "write")
        insert = insert.on_conflict_do_update(
            index_elements=["project", "number"],
            set_={name: insert.excluded[name] for name in names} | {"in_flight": sa.false(), "suspect": sa.false()},
        )
        with self._write() as connection:
            query = sa.select(tasks.c.number, tasks.c.answers_hash, tasks.c.scored_hash, tasks.c.desired).where(
                tasks.c.project == project, tasks.c.number.in_([row["number"] for row in pulled])
            )
            before = {row.number: row for row in connection.execute(query)}
            rows = []
            for row in pulled:
                known = before.get(row["number"])
                scored = known is not None and known.scored_hash == row["answers_hash"]
                found = [entry[1] for entry in row["actual"]]
                right = scored and found == ([] if known.desired is None else [known.desired])
                rows.append({"project": project, "write": not right, **row})
            connection.execute(insert, rows)
        return sum(
            row["number"] not in before or before[row["number"]].answers_hash != row["answers_hash"] for row in pulled
        )

    def unscored(self, project: int, limit: int) -> list[Row]:
        """Tasks whose answers were not scored yet as they are now."""
        with self._read() as connection:
            query = (
                sa.select(tasks.c.number, tasks.c.answers, tasks.c.answers_hash, tasks.c.n_answers)
                .where(
                    tasks.c.project == project,
                    tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash),
                )
                .order_by(tasks.c.number)
                .limit(limit)
            )
            return list(connection.execute(query).mappings())

    def count_unscored(self, project: int) -> int:
        """How many tasks wait to be scored."""
        with self._read() as connection:
            query = sa.select(sa.func.count()).where(
                tasks.c.project == project,
                tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash),
            )
            return connection.scalar(query) or 0

    def put_scored(self, project: int, scored: Sequence[Mapping[str, Any]]) -> None:
        """Note results: number, answers_hash, agreement, details, desired (hash of the prediction or None)."""
        if not scored:
            return
        update = (
            sa.update(tasks)
            .where(tasks.c.project == project, tasks.c.number == sa.bindparam("b_number"))
            .values(
                scored_hash=sa.bindparam("b_hash"),
                agreement=sa.bindparam("b_agreement"),
                details=sa.bindparam("b_details", type_=sa.JSON),
                desired=sa.bindparam("b_desired"),
                scored_at=sa.bindparam("b_now"),
                write=sa.true(),
            )
        )
        now = time.time()
        with self._write() as connection:
            connection.execute(
                update,
                [
                    {
                        "b_number": row["number"],
                        "b_hash": row["answers_hash"],
                        "b_agreement": row["agreement"],
                        "b_details": row["details"],
                        "b_desired": row["desired"],
                        "b_now": now,
                    }
                    for row in scored
                ],
            )

    def forget_scores_of(self, project: int, numbers: Sequence[int]) -> None:
        """These tasks are to be scored again."""
        self._for_numbers(project, numbers, scored_hash=None)

    def forget_scores(self, project: int) -> None:
        """Every task is to be scored again."""
        with self._write() as connection:
            connection.execute(sa.update(tasks).where(tasks.c.project == project).values(scored_hash=None))

    def to_write(self, project: int) -> list[Row]:
        """Number, desired and actual of the scored tasks for which the two differ."""
        with self._read() as connection:
            query = (
                sa.select(tasks.c.number, tasks.c.desired, tasks.c.actual)
                .where(tasks.c.project == project, tasks.c.write, tasks.c.scored_hash == tasks.c.answers_hash)
                .order_by(tasks.c.number)
            )
            return list(connection.execute(query).mappings())

    def suspect(self, project: int, numbers: Sequence[int]) -> None:
        """Note that these tasks are to be looked at again."""
        self._for_numbers(project, numbers, suspect=True)

    def suspects(self, project: int) -> list[int]:
        """Numbers of the tasks that are to be looked at again."""
        with self._read() as connection:
            return list(
                connection.scalars(sa.select(tasks.c.number).where(tasks.c.project == project, tasks.c.suspect))
            )

    def set_in_flight(self, project: int, numbers: Sequence[int]) -> None:
        """From now until `put_written`, what Label Studio holds for these tasks is unknown."""
        self._for_numbers(project, numbers, in_flight=True)

    def all_in_flight(self, project: int) -> None:
        """From now until they are written anew, what Label Studio holds is unknown for every task."""
        with self._write() as connection:
            connection.execute(sa.update(tasks).where(tasks.c.project == project).values(in_flight=True))

    def settle(self, project: int, numbers: Sequence[int]) -> None:
        """For these tasks, what should be there is there."""
        self._for_numbers(project, numbers, write=False)

    def put_written(self, project: int, actual: Mapping[int, list[list[Any]]]) -> None:
        """Note what Label Studio holds now: task number -> [[prediction id or None, hash]]."""
        if not actual:
            return
        update = (
            sa.update(tasks)
            .where(tasks.c.project == project, tasks.c.number == sa.bindparam("b_number"))
            .values(actual=sa.bindparam("b_actual", type_=sa.JSON), in_flight=sa.false(), write=sa.false())
        )
        with self._write() as connection:
            connection.execute(update, [{"b_number": number, "b_actual": seen} for number, seen in actual.items()])

    def _for_numbers(self, project: int, numbers: Sequence[int], **values: Any) -> None:
        with self._write() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                connection.execute(
                    sa.update(tasks).where(tasks.c.project == project, tasks.c.number.in_(part)).values(**values)
                )

    def forget_actual(self, project: int) -> None:
        """All predictions of our version were just removed from Label Studio."""
        with self._write() as connection:
            connection.execute(
                sa.update(tasks)
                .where(tasks.c.project == project)
                .values(actual=[], write=tasks.c.desired.is_not(None), in_flight=tasks.c.desired.is_not(None))
            )

    def in_flight(self, project: int) -> int:
        """How many tasks a broken-off write left in doubt."""
        with self._read() as connection:
            return (
                connection.scalar(sa.select(sa.func.count()).where(tasks.c.project == project, tasks.c.in_flight)) or 0
            )

    def drop_older(self, project: int, generation: int) -> int:
        """Remove tasks that the complete pull number `generation` did not meet: they are gone from Label Studio."""
        with self._write() as connection:
            gone = sa.delete(tasks).where(tasks.c.project == project, tasks.c.generation < generation)
            return connection.execute(gone).rowcount

    def drop_tasks(self, project: int, numbers: Sequence[int]) -> None:
        """Remove these tasks."""
        with self._write() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                connection.execute(sa.delete(tasks).where(tasks.c.project == project, tasks.c.number.in_(part)))

    def totals(self, project: int) -> dict[str, int]:
        """Numbers of tasks, of annotations that are not skipped, of predictions wanted and of tasks left to write."""
        with self._read() as connection:
            row = connection.execute(
                sa.select(
                    sa.func.count().label("tasks"),
                    sa.func.coalesce(sa.func.sum(tasks.c.n_annotations), 0).label("annotations"),
                    sa.func.count(tasks.c.desired).label("predictions"),
                    sa.func.coalesce(sa.func.sum(sa.cast(tasks.c.write, sa.Integer)), 0).label("to_write"),
                ).where(tasks.c.project == project)
            ).one()
            return {name: int(value) for name, value in row._mapping.items()}

    def get_tasks(self, project: int, numbers: Sequence[int]) -> dict[int, Row]:
        """Rows of these tasks, as far as they are known."""
        found: dict[int, Row] = {}
        with self._read() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                query = sa.select(tasks).where(tasks.c.project == project, tasks.c.number.in_(part))
                found |= {row["number"]: row for row in connection.execute(query).mappings()}
        return found

    def rank(self, project: int, agreement: float) -> tuple[int, int]:
        """(place of this agreement counted from the lowest, number of tasks that have one)."""
        with self._read() as connection:
            scored = (tasks.c.project == project) & tasks.c.agreement.is_not(None)
            below = connection.scalar(sa.select(sa.func.count()).where(scored, tasks.c.agreement < agreement)) or 0
            return below + 1, connection.scalar(sa.select(sa.func.count()).where(scored)) or 0

    def answers(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(task number, its stored answers) of all tasks in order of number, in parts."""
        after = -1
        while True:
            with self._read() as connection:
                part = connection.execute(
                    sa.select(tasks.c.number, tasks.c.answers)
                    .where(tasks.c.project == project, tasks.c.number > after)
                    .order_by(tasks.c.number)
                    .limit(1000)
                ).all()
            if not part:
                return
            yield from ((row.number, row.answers) for row in part)
            after = part[-1].number

    def lowest(self, project: int, limit: int, *, offset: int = 0) -> list[Row]:
        """Tasks with an agreement, lowest first."""
        with self._read() as connection:
            query = (
                sa.select(tasks.c.number, tasks.c.agreement, tasks.c.n_answers, tasks.c.details)
                .where(tasks.c.project == project, tasks.c.agreement.is_not(None))
                .order_by(tasks.c.agreement, tasks.c.number)
                .limit(limit)
                .offset(offset)
            )
            return list(connection.execute(query).mappings())

    # --- jobs -------------------------------------------------------------------------------------------------------

    def open_job(self, project: int, reason: str, *, state: str = "queued") -> int:
        """Number of the project's unfinished job, made if there is none."""
        with self._write() as connection:
            waiting = (
                sa.select(jobs.c.id).where(jobs.c.project == project, jobs.c.state == "queued").order_by(jobs.c.id)
            )
            # Held until the end, so that two hands don't both find no job.
            connection.execute(sa.select(projects.c.id).where(projects.c.id == project).with_for_update())
            found = connection.scalar(waiting)
            if found is None:
                made = sa.insert(jobs).values(project=project, state=state, reason=reason, requested_at=time.time())
                found = connection.execute(made).inserted_primary_key[0]
            return int(found)

    def update_job(self, job: int, **values: Any) -> None:
        """Set columns of a job."""
        with self._write() as connection:
            connection.execute(sa.update(jobs).where(jobs.c.id == job).values(seen_at=time.time(), **values))

    def close_stale_jobs(self, project: int, but: int) -> None:
        """Jobs that a killed process left behind are over: the present one does their work."""
        with self._write() as connection:
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
        with self._read() as connection:
            return list(
                connection.execute(query if project is None else query.where(jobs.c.project == project)).mappings()
            )

    def job_states(self) -> dict[str, int]:
        """Number of jobs in each state."""
        with self._read() as connection:
            query = sa.select(jobs.c.state, sa.func.count().label("n")).group_by(jobs.c.state)
            return {row.state: row.n for row in connection.execute(query)}

    # --- what reviewers decided -------------------------------------------------------------------------------------

    def decide(
        self, project: int, text_a: str, text_b: str, *, same: bool, reviewer: str = "", task: int | None = None
    ) -> None:
        """Note that a person judged two texts to mean the same, or not; a later judgement replaces an earlier one."""
        first, second = sorted((normalise(text_a), normalise(text_b)))
        if not first or not second:
            raise InputError("A judgement needs two texts.")
        values = {"text_a": first, "text_b": second, "same": same, "task": task, "reviewer": reviewer[:256]}
        insert = self._upsert(decisions).values(
            project=project, pair=pair_hash(first, second), decided_at=time.time(), **values
        )
        changed = {**values, "decided_at": insert.excluded.decided_at}
        with self._write() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["project", "pair"], set_=changed))

    def undecide(self, project: int, text_a: str, text_b: str) -> bool:
        """Take a judgement back; False if there was none."""
        first, second = sorted((normalise(text_a), normalise(text_b)))
        with self._write() as connection:
            gone = connection.execute(
                sa.delete(decisions).where(decisions.c.project == project, decisions.c.pair == pair_hash(first, second))
            )
            return gone.rowcount > 0

    def decisions(self, project: int) -> list[Row]:
        """All judgements of a project, oldest first."""
        with self._read() as connection:
            query = sa.select(decisions).where(decisions.c.project == project).order_by(decisions.c.id)
            return list(connection.execute(query).mappings())


def pair_hash(text_a: str, text_b: str) -> str:
    """Name of an unordered pair of normalised texts."""
    return hashlib.sha256(json.dumps(sorted((text_a, text_b))).encode()).hexdigest()


def process_name() -> str:
    """host:pid of this process, for leases."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def _is_dead(owner: str) -> bool:
    """Whether the owner was a process of this machine that is no more."""
    host, _, rest = owner.partition(":")
    number = rest.partition(":")[0]
    if host != socket.gethostname()[:80] or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _engine(url: str) -> Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise InputError("SOFTIRR_DATABASE_URL is not a database address.") from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError("SOFTIRR_DATABASE_URL: only sqlite and postgresql are supported.")
    if parsed.get_backend_name() == "postgresql":
        try:
            return sa.create_engine(parsed, hide_parameters=True, pool_pre_ping=True, pool_size=10, max_overflow=20)
        except ImportError:
            raise InputError("PostgreSQL needs the extra: pip install 'softirr[postgres]'.") from None
    if parsed.database:
        folder = Path(parsed.database).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder {folder} can't be made ({error.strerror}): check SOFTIRR_DATA.") from None
    # The values are hidden in errors: they are annotators' texts.
    engine = sa.create_engine(parsed, hide_parameters=True, connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, see below
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: upgrading a read lock can fail however long one waits.
        immediate = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def numbers_of(rows: Iterable[Row]) -> list[int]:
    """Task numbers of rows."""
    return [row["number"] for row in rows]
