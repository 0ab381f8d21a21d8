"""Storage of what people do on the pages: reviewed tasks, audits and judgments."""

import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables
from ml_backend.store.schema import audit_judgements, audits, reviewed, tasks


class ReviewStore(Tables):
    """Reads and writes these tables in the store's database."""

    # --- triage -----------------------------------------------------------------------------------------------------

    def mark_done(self, project: int, task: int, *, answers_hash: str, reviewer: str) -> None:
        """Mark the task as reviewed with its present answers."""
        self._mark(project, task, answers_hash=answers_hash, reviewer=reviewer, sent_back=False, note="")

    def send_back(self, project: int, task: int, *, answers_hash: str, reviewer: str, note: str) -> None:
        """Mark the task as sent back to its annotators, with a note for them; it returns once its answers change."""
        self._mark(project, task, answers_hash=answers_hash, reviewer=reviewer, sent_back=True, note=note)

    def _mark(self, project: int, task: int, *, reviewer: str, **values: Any) -> None:
        values |= {"project": project, "task": task, "reviewer": reviewer[:256], "at": time.time()}
        self.execute(self.upsert(reviewed, ("project", "task"), **values))

    def unmark(self, project: int, task: int) -> bool:
        """Remove the mark; False if there was none."""
        gone = sa.delete(reviewed).where(reviewed.c.project == project, reviewed.c.task == task)
        here = (tasks.c.project == project) & (tasks.c.number == task)
        self.execute(sa.update(tasks).where(here).values(columns_at=None))  # its columns still say that it is marked
        return self.execute(gone).rowcount > 0

    def marks(self, project: int) -> dict[int, Row]:
        """Marks of a project by task number: done, or sent back."""
        return {row["task"]: row for row in self.rows(sa.select(reviewed).where(reviewed.c.project == project))}

    def mark(self, project: int, task: int) -> Row | None:
        """The mark of one task."""
        query = sa.select(reviewed).where(reviewed.c.project == project, reviewed.c.task == task)
        return self.row(query)

    # --- audits -----------------------------------------------------------------------------------------------------

    def ask_for_audit(self, project: int, **values: Any) -> int:
        """Request an audit (control, measure, seed, wanted, created_by); returns its number."""
        now = time.time()
        empty = {"sheet": [], "answers": [], "answers_hash": "", "created_at": now, "asked_at": now}
        return self.insert(audits, project=project, **empty, **values)

    def update_audit(self, number: int, **values: Any) -> None:
        """Set columns of an audit."""
        self.execute(sa.update(audits).where(audits.c.id == number).values(**values))

    def audit(self, number: int) -> Row | None:
        """One audit."""
        return self.row(sa.select(audits).where(audits.c.id == number))

    def audits(self, project: int) -> list[Row]:
        """All audits of a project, newest first, without the sheets and the answers they were drawn from."""
        kept = [column for column in audits.c if column.name not in ("answers", "drawn_from", "sheet")]
        return self.rows(sa.select(*kept).where(audits.c.project == project).order_by(audits.c.id.desc()))

    def audited(self, project: int, control: str) -> Row | None:
        """The newest audit of a field that has a result."""
        return next((row for row in self.audits(project) if row["control"] == control and row["result"]), None)

    def asked_audits(self, project: int) -> list[int]:
        """Audits that wait for drawing, evaluation or a look at the width of their interval."""
        waits = sa.or_(audits.c.asked_at.is_not(None), audits.c.look_asked_at.is_not(None))
        return self.scalars(sa.select(audits.c.id).where(audits.c.project == project, waits).order_by(audits.c.id))

    def judge(self, audit: int, places: Sequence[int], judge: str, verdict: str) -> None:
        """Store a judgment on pairs; a judge's later judgment replaces an earlier one."""
        values = {"verdict": verdict, "at": time.time()}
        insert = self.upsert(audit_judgements)
        insert = insert.on_conflict_do_update(index_elements=["audit", "place", "judge"], set_=values)
        self.execute(insert, [{"audit": audit, "place": place, "judge": judge[:256], **values} for place in places])

    def unjudge(self, audit: int, places: Sequence[int], judge: str) -> bool:
        """Remove judgments; False if there were none."""
        table = audit_judgements
        gone = sa.delete(table).where(table.c.audit == audit, table.c.place.in_(places), table.c.judge == judge)
        return self.execute(gone).rowcount > 0

    def judgements(self, audit: int, judge: str | None = None) -> list[Row]:
        """Judgements of an audit, of one judge or of all, in the order in which they were given."""
        query = sa.select(audit_judgements).where(audit_judgements.c.audit == audit)
        if judge is not None:
            query = query.where(audit_judgements.c.judge == judge)
        return self.rows(query.order_by(audit_judgements.c.at))

    def judged(self, project: int) -> list[tuple[Any, ...]]:
        """(audit, pair, judge, verdict) of all judgments of a project."""
        table = audit_judgements
        columns = (table.c.audit, table.c.place, table.c.judge, table.c.verdict)
        query = sa.select(*columns).join(audits, audits.c.id == table.c.audit).where(audits.c.project == project)
        return [tuple(row.values()) for row in self.rows(query.order_by(*columns))]

    def judges(self, audit: int) -> dict[str, int]:
        """Number of pairs that each judge has judged."""
        table = audit_judgements
        query = (
            sa.select(table.c.judge, sa.func.count().label("n")).where(table.c.audit == audit).group_by(table.c.judge)
        )
        return {row["judge"]: int(row["n"]) for row in self.rows(query.order_by(table.c.judge))}
