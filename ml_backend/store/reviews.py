"""Reviewed tasks, and audits with their judgments."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.acts import ActStore
from ml_backend.store.database import Row
from ml_backend.store.schema import DONE, REOPENED, SENT_BACK, audits

Judgment = list[Any]
"""Row of the sheet, judge, verdict and time."""


class ReviewStore(ActStore):
    """Reads and writes marks and audits in the store's database."""

    # --- marks of tasks -----------------------------------------------------------------------------------------------

    def mark_done(self, project: int, task: int, *, answers_hash: str, **signature: str) -> None:
        """Mark the task as reviewed with its present answers."""
        self.add_act(project, DONE, task=task, content={"answers_hash": answers_hash, "note": ""}, **signature)

    def send_back(
        self,
        project: int,
        task: int,
        *,
        answers_hash: str,
        note: str,
        answers: Mapping[str, Mapping[str, str]],
        **signature: str,
    ) -> None:
        """Mark the task as sent back to its annotators, with a note for them; it returns once its answers change.

        Parameters
        ----------
        answers : mapping
            Hashes of the present answers (`ml_backend.review.returned.answer_hashes`).
        """
        content = {"answers_hash": answers_hash, "note": note, "answers": answers}
        self.add_act(project, SENT_BACK, task=task, content=content, **signature)

    def returns(self, project: int, *, tasks: Collection[int] | None = None) -> dict[int, list[Row]]:
        """Return every act that sent a task back, by task number."""
        by_task: dict[int, list[Row]] = {}
        for act in self.acts(project, SENT_BACK, tasks=tasks):
            by_task.setdefault(act["task"], []).append(act)
        return by_task

    def unmark(self, project: int, task: int, **signature: str) -> bool:
        """Remove the mark, which adds an act; False if there was none."""
        if self.mark(project, task) is None:
            return False
        self.add_act(project, REOPENED, task=task, content={}, **signature)
        return True

    def marks(self, project: int, *, tasks: Sequence[int] | None = None) -> dict[int, Row]:
        """Return the marks of a project by task number: done, or sent back."""
        newest = {row["task"]: row for row in self.acts(project, DONE, SENT_BACK, REOPENED, tasks=tasks)}
        return {task: _mark(row) for task, row in newest.items() if row["kind"] != REOPENED}

    def mark(self, project: int, task: int) -> Row | None:
        """Return the mark of one task."""
        return self.marks(project, tasks=[task]).get(task)

    # --- audits -------------------------------------------------------------------------------------------------------

    def add_audit(self, project: int, **values: Any) -> int:
        """Add an audit without pairs (control, measure, seed, wanted, created_by); returns its number."""
        return self.insert(audits, project=project, sheet=[], created_at=time.time(), **values)

    def update_audit(self, number: int, **values: Any) -> None:
        """Set columns of an audit."""
        self.execute(sa.update(audits).where(audits.c.id == number).values(**values))

    def audit(self, number: int) -> Row | None:
        """Return one audit."""
        return self.row(sa.select(audits).where(audits.c.id == number))

    def audits(self, project: int) -> list[Row]:
        """Return all audits of a project, newest first, without sheets and judgments."""
        columns = [column for column in audits.c if column.name not in ("sheet", "judgments")]
        return self.rows(sa.select(*columns).where(audits.c.project == project).order_by(audits.c.id.desc()))

    # --- judgments ----------------------------------------------------------------------------------------------------

    def judge(self, audit: int, sheet_rows: Sequence[int], judge: str, verdict: str) -> None:
        """Store a judgment on rows of the sheet; a judge's later judgment replaces an earlier one."""
        now = time.time()
        self._change(audit, sheet_rows, judge[:256], [[row, judge[:256], verdict, now] for row in sheet_rows])

    def unjudge(self, audit: int, sheet_rows: Sequence[int], judge: str) -> bool:
        """Remove judgments; False if there were none."""
        return self._change(audit, sheet_rows, judge, []) > 0

    def _change(self, audit: int, sheet_rows: Sequence[int], judge: str, new: list[Judgment]) -> int:
        """Replace a judge's judgments on some rows in one transaction; returns the number of replaced ones."""
        with self.writing() as connection:
            query = sa.select(audits.c.judgments).where(audits.c.id == audit).with_for_update()
            stored = connection.scalar(query) or []
            remaining_judgments = [entry for entry in stored if entry[1] != judge or entry[0] not in sheet_rows]
            connection.execute(
                sa.update(audits).where(audits.c.id == audit).values(judgments=remaining_judgments + new)
            )
        return len(stored) - len(remaining_judgments)

    def judgments(self, audit: int, judge: str | None = None) -> list[Row]:
        """Return the judgments of an audit, of one judge or of all, in the order in which they were made."""
        entries = self.scalar(sa.select(audits.c.judgments).where(audits.c.id == audit)) or []
        names = ("row", "judge", "verdict", "at")
        listed = [{"audit": audit, **dict(zip(names, entry, strict=True))} for entry in entries]
        return sorted((row for row in listed if judge in (None, row["judge"])), key=lambda row: row["at"])

    def judged(self, project: int) -> list[tuple[Any, ...]]:
        """Return (audit, row of the sheet, judge, verdict) of all judgments of a project."""
        query = sa.select(audits.c.id, audits.c.judgments).where(audits.c.project == project)
        return sorted((row["id"], *entry[:3]) for row in self.rows(query) for entry in row["judgments"] or ())

    def judges(self, audit: int) -> dict[str, int]:
        """Return the number of pairs that each judge has judged."""
        return dict(sorted(Counter(row["judge"] for row in self.judgments(audit)).items()))


def _mark(row: Row) -> Row:
    return {
        **{name: row[name] for name in ("project", "task", "reviewer", "reviewer_id", "known_by", "at")},
        "sent_back": row["kind"] == SENT_BACK,
        "answers_hash": row["content"].get("answers_hash", ""),
        "note": row["content"].get("note", ""),
    }
