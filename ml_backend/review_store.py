"""What people do on our pages: tasks looked at, audits and the judgements in them."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from ml_backend.schema import metadata
from ml_backend.store import Store

Row = Mapping[str, Any]
VERDICTS = ("same", "different", "unsure", "first", "second")

reviewed = sa.Table(
    "reviewed",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("answers_hash", sa.String(64), nullable=False, default=""),  # the mark lapses when the answers change
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),
    sa.Column("at", sa.Float, nullable=False),
)

audits = sa.Table(
    "audits",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("control", sa.String(256), nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("wanted", sa.Integer, nullable=False),  # judgements that were asked for
    sa.Column("sheet", sa.JSON, nullable=False),  # [[unit, pair, text_a, text_b]] in the order of judging
    sa.Column("answers", sa.JSON, nullable=False),  # what the sample was drawn from
    sa.Column("answers_hash", sa.String(64), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("created_by", sa.String(256), nullable=False, default=""),
    sa.Column("result", sa.JSON),  # the audited report, without items
    sa.Column("result_at", sa.Float),
    sa.Index("ix_audits_project_id", "project", "id"),
)

audit_judgements = sa.Table(
    "audit_judgements",
    metadata,
    sa.Column("audit", sa.Integer, sa.ForeignKey("audits.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),  # row of the sheet
    sa.Column("judge", sa.String(256), primary_key=True),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)


class ReviewStore:
    """Reads and writes these tables in the store's database."""

    def __init__(self, store: Store):
        self.engine = store.engine

    def _insert(self, table: sa.Table) -> Any:
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)

    def _run(self, statement: Any) -> Any:
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            return connection.execute(statement)

    def _rows(self, query: Any) -> list[Row]:
        with self.engine.connect() as connection:
            return list(connection.execute(query).mappings())

    # --- triage -----------------------------------------------------------------------------------------------------

    def mark_done(self, project: int, task: int, *, answers_hash: str, reviewer: str) -> None:
        """Note that a person looked at the task as it is now."""
        values = {"answers_hash": answers_hash, "reviewer": reviewer[:256], "at": time.time()}
        insert = self._insert(reviewed).values(project=project, task=task, **values)
        self._run(insert.on_conflict_do_update(index_elements=["project", "task"], set_=values))

    def unmark(self, project: int, task: int) -> bool:
        """Take the mark back; False if there was none."""
        gone = sa.delete(reviewed).where(reviewed.c.project == project, reviewed.c.task == task)
        return self._run(gone).rowcount > 0

    def done(self, project: int) -> dict[int, Row]:
        """Marks of a project by task number."""
        return {row["task"]: row for row in self._rows(sa.select(reviewed).where(reviewed.c.project == project))}

    # --- audits -----------------------------------------------------------------------------------------------------

    def add_audit(self, project: int, **values: Any) -> int:
        """Keep a drawn sample; its number."""
        insert = sa.insert(audits).values(project=project, created_at=time.time(), **values)
        return int(self._run(insert).inserted_primary_key[0])

    def audit(self, number: int) -> Row | None:
        """One audit."""
        return next(iter(self._rows(sa.select(audits).where(audits.c.id == number))), None)

    def audits(self, project: int) -> list[Row]:
        """All audits of a project without what they were drawn from, newest first."""
        kept = [column for column in audits.c if column.name != "answers"]
        return self._rows(sa.select(*kept).where(audits.c.project == project).order_by(audits.c.id.desc()))

    def judge(self, audit: int, place: int, judge: str, verdict: str) -> None:
        """Note one judgement; a judge's later word replaces the earlier one."""
        values = {"verdict": verdict, "at": time.time()}
        insert = self._insert(audit_judgements).values(audit=audit, place=place, judge=judge[:256], **values)
        self._run(insert.on_conflict_do_update(index_elements=["audit", "place", "judge"], set_=values))
        self._run(sa.update(audits).where(audits.c.id == audit).values(result=None, result_at=None))

    def unjudge(self, audit: int, place: int, judge: str) -> bool:
        """Take a judgement back; False if there was none."""
        table = audit_judgements
        gone = sa.delete(table).where(table.c.audit == audit, table.c.place == place, table.c.judge == judge)
        found = self._run(gone).rowcount > 0
        if found:
            self._run(sa.update(audits).where(audits.c.id == audit).values(result=None, result_at=None))
        return found

    def judgements(self, audit: int, judge: str | None = None) -> list[Row]:
        """Judgements of an audit, of one judge or of all, in the order in which they were given."""
        query = sa.select(audit_judgements).where(audit_judgements.c.audit == audit)
        if judge is not None:
            query = query.where(audit_judgements.c.judge == judge)
        return self._rows(query.order_by(audit_judgements.c.at))

    def put_result(self, audit: int, result: Mapping[str, Any]) -> None:
        """Keep the audited report."""
        self._run(sa.update(audits).where(audits.c.id == audit).values(result=dict(result), result_at=time.time()))


def majority(rows: Sequence[Row]) -> dict[int, str]:
    """One verdict for each place: what most judges said; a tie is ``unsure``."""
    votes: dict[int, dict[str, int]] = {}
    for row in rows:
        place = votes.setdefault(row["place"], {})
        place[row["verdict"]] = place.get(row["verdict"], 0) + 1
    decided = {}
    for place, counts in votes.items():
        best = max(counts.values())
        winners = [verdict for verdict, n in counts.items() if n == best]
        decided[place] = winners[0] if len(winners) == 1 else "unsure"
    return decided
