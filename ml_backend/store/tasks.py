"""Storage of the projects' tasks: pulled answers, scores and written predictions."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Database, Row, in_parts
from ml_backend.store.schema import tasks

_FIELDS = tasks.c.facts["fields"].label("fields")
_TO_SCORE = (*(tasks.c.number, tasks.c.answers, tasks.c.answers_hash, tasks.c.n_answers, tasks.c.n_annotations),)
_UNSCORED = tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash)
_READ_AT_ONCE = 1000


class TaskStore(Database):
    """Reads and writes the tasks in the store's database."""

    def put_pulled(self, project: int, pulled: Sequence[Mapping[str, Any]]) -> int:
        """Store tasks as read from Label Studio; returns the number of tasks with changed answers, of any kind.

        Parameters
        ----------
        pulled : sequence of mappings
            With number, updated_at, generation, n_annotations, n_answers, answers, answers_hash and actual.
        """
        if not pulled:
            return 0
        insert = self.upsert(tasks)
        names = (
            "updated_at",
            "generation",
            "n_annotations",
            "n_answers",
            "answers",
            "answers_hash",
            "facts",
            "actual",
            "write",
        )
        insert = insert.on_conflict_do_update(
            index_elements=["project", "number"],
            set_={name: insert.excluded[name] for name in names} | {"in_flight": sa.false(), "suspect": sa.false()},
        )
        with self.writing() as connection:
            query = sa.select(
                *(tasks.c.number, tasks.c.answers_hash, tasks.c.scored_hash, tasks.c.desired, _FIELDS)
            ).where(tasks.c.project == project, tasks.c.number.in_([row["number"] for row in pulled]))
            before = {row.number: row for row in connection.execute(query)}
            values = []
            for row in pulled:
                known = before.get(row["number"])
                right = False
                if known is not None and known.scored_hash == row["answers_hash"]:
                    hashes = [entry[1] for entry in row["actual"]]
                    right = hashes == ([] if known.desired is None else [known.desired])
                values.append({"project": project, "write": not right, "facts": None, **row})
            connection.execute(insert, values)
        stored = [row for row in pulled if row["number"] in before]
        others = [row["number"] for row in stored if (before[row["number"]].fields or {}) != _fields(row)]
        texts = [row["number"] for row in stored if before[row["number"]].answers_hash != row["answers_hash"]]
        if others:
            self.forget_scores_of(project, others)  # which may count in the score
        return len(pulled) - len(stored) + len({*others, *texts})

    def unscored(
        self,
        project: int,
        limit: int,
        *,
        after: int = -1,
        end: int = 2**31 - 1,
        only: Sequence[int] | None = None,
        fields: bool = True,
    ) -> list[Row]:
        """Tasks whose present answers are not scored yet, in order of number.

        Parameters
        ----------
        after, end : int
            Only tasks with a number above `after` and at most `end`.
        only : sequence of int, optional
            Only these tasks.
        fields : bool
            With the answers to controls that are no text, which take as long to decode as the texts.
        """
        wanted = (tasks.c.number > after) & (tasks.c.number <= end) if only is None else tasks.c.number.in_(only)
        query = sa.select(*_TO_SCORE, *([_FIELDS] if fields else [])).where(
            tasks.c.project == project, wanted, _UNSCORED
        )
        return self.rows(query.order_by(tasks.c.number).limit(limit))

    def scored(self, project: int) -> Iterator[list[Row]]:
        """Tasks whose present answers are scored, as `unscored` gives them and with ``details``, in batches."""
        scored = tasks.c.scored_hash == tasks.c.answers_hash
        return self._in_batches(project, sa.select(*_TO_SCORE, _FIELDS, tasks.c.details).where(scored))

    def count_unscored(self, project: int) -> int:
        """Number of tasks that wait for scoring."""
        return self._count(project, _UNSCORED)

    def put_scored(self, project: int, scored: Sequence[Mapping[str, Any]]) -> None:
        """Store results: number, answers_hash, agreement, details, desired (hash of the prediction or None)."""
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
        values = [
            {
                "b_number": row["number"],
                "b_hash": row["answers_hash"],
                "b_agreement": row["agreement"],
                "b_details": row["details"],
                "b_desired": row["desired"],
                "b_now": now,
            }
            for row in scored
        ]
        self.execute(update, values)

    def forget_scores_of(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks for scoring."""
        self._for_numbers(project, numbers, scored_hash=None)

    def forget_scores(self, project: int) -> None:
        """Mark every task for scoring."""
        self.execute(sa.update(tasks).where(tasks.c.project == project).values(scored_hash=None))

    def to_write(self, project: int) -> list[Row]:
        """Number, desired and actual of the scored tasks for which the two differ."""
        query = sa.select(tasks.c.number, tasks.c.desired, tasks.c.actual).where(
            tasks.c.project == project, tasks.c.write, tasks.c.scored_hash == tasks.c.answers_hash
        )
        return self.rows(query.order_by(tasks.c.number))

    def suspect(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks for reading again."""
        self._for_numbers(project, numbers, suspect=True)

    def suspects(self, project: int) -> list[int]:
        """Numbers of the tasks marked for reading again."""
        return self._numbers(project, tasks.c.suspect)

    def set_in_flight(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks' predictions in Label Studio as unknown until `put_written`."""
        self._for_numbers(project, numbers, in_flight=True)

    def all_in_flight(self, project: int) -> None:
        """Mark every task's predictions in Label Studio as unknown until they are written again."""
        self.execute(sa.update(tasks).where(tasks.c.project == project).values(in_flight=True))

    def settle(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks' predictions in Label Studio as up to date."""
        self._for_numbers(project, numbers, write=False)

    def put_written(self, project: int, actual: Mapping[int, list[list[Any]]]) -> None:
        """Store the predictions in Label Studio: task number -> [[prediction id or None, hash]]."""
        if not actual:
            return
        update = (
            sa.update(tasks)
            .where(tasks.c.project == project, tasks.c.number == sa.bindparam("b_number"))
            .values(actual=sa.bindparam("b_actual", type_=sa.JSON), in_flight=sa.false(), write=sa.false())
        )
        self.execute(update, [{"b_number": number, "b_actual": seen} for number, seen in actual.items()])

    def _for_numbers(self, project: int, numbers: Sequence[int], **values: Any) -> None:
        here = tasks.c.project == project
        with self.writing() as connection:
            for part in in_parts(numbers):
                connection.execute(sa.update(tasks).where(here, tasks.c.number.in_(part)).values(**values))

    def forget_actual(self, project: int) -> None:
        """Record that all predictions of our version were removed from Label Studio."""
        wanted = tasks.c.desired.is_not(None)
        self.execute(
            sa.update(tasks).where(tasks.c.project == project).values(actual=[], write=wanted, in_flight=wanted)
        )

    def in_flight(self, project: int) -> int:
        """Number of tasks with an unknown state after an interrupted write."""
        return self._count(project, tasks.c.in_flight)

    def highest(self, project: int) -> int:
        """The highest number of any task; 0 where there is none."""
        return self.scalar(sa.select(sa.func.max(tasks.c.number)).where(tasks.c.project == project)) or 0

    def doubtful(self, project: int, limit: int) -> list[int]:
        """Numbers of tasks with an unknown state after an interrupted write, at most `limit`."""
        return self._numbers(project, tasks.c.in_flight, limit)

    def older(self, project: int, generation: int) -> list[int]:
        """Numbers of the tasks that the complete pull `generation` did not return."""
        return self._numbers(project, tasks.c.generation < generation)

    def drop_tasks(self, project: int, numbers: Sequence[int]) -> None:
        """Remove these tasks."""
        with self.writing() as connection:
            for part in in_parts(numbers):
                connection.execute(sa.delete(tasks).where(tasks.c.project == project, tasks.c.number.in_(part)))

    def totals(self, project: int) -> dict[str, int]:
        """Numbers of tasks, of annotations that are not skipped, of predictions wanted and of tasks left to write."""
        query = sa.select(
            sa.func.count().label("tasks"),
            sa.func.coalesce(sa.func.sum(tasks.c.n_annotations), 0).label("annotations"),
            sa.func.count(tasks.c.desired).label("predictions"),
            sa.func.coalesce(sa.func.sum(sa.cast(tasks.c.write, sa.Integer)), 0).label("to_write"),
        )
        (row,) = self.rows(query.where(tasks.c.project == project))
        return {name: int(value) for name, value in row.items()}

    def get_tasks(self, project: int, numbers: Sequence[int], *, columns: Sequence[str] = ()) -> dict[int, Row]:
        """Rows of these tasks, as far as they are stored; of all columns, or of some, which are decoded alone."""
        query = sa.select(*(tasks.c[name] for name in ("number", *columns)) if columns else (tasks,))
        query = query.where(tasks.c.project == project)
        return {
            row["number"]: row for part in in_parts(numbers) for row in self.rows(query.where(tasks.c.number.in_(part)))
        }

    def predictions_of(self, project: int, numbers: Sequence[int]) -> dict[int, tuple[str | None, set[str], bool]]:
        """Of these tasks, as far as known.

        Hash of the wanted prediction, hashes of those last seen or written, whether in doubt.
        """
        return {
            number: (row["desired"], {entry[1] for entry in row["actual"]}, row["in_flight"])
            for number, row in self.get_tasks(project, numbers, columns=("desired", "actual", "in_flight")).items()
        }

    def stamps(self, project: int, numbers: Sequence[int]) -> dict[int, str | None]:
        """``updated_at`` of these tasks when they were read, as far as they are stored."""
        rows = self.get_tasks(project, numbers, columns=("updated_at",))
        return {number: row["updated_at"] for number, row in rows.items()}

    def annotation_counts(self, project: int) -> dict[int, int]:
        """Task number -> number of its annotations that are not skipped."""
        query = sa.select(tasks.c.number, tasks.c.n_annotations).where(tasks.c.project == project)
        return {row["number"]: row["n_annotations"] for row in self.rows(query)}

    def rank(self, project: int, agreement: float) -> tuple[int, int]:
        """(rank of this agreement from the lowest, number of tasks with an agreement)."""
        below = self._count(project, tasks.c.agreement < agreement)
        return below + 1, self._count(project, tasks.c.agreement.is_not(None))

    def answers(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(task number, stored answers) of all tasks in order of number, in batches."""
        return self._each(project, tasks.c.answers)

    def fields(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(task number, stored answers to controls of other kinds) of all tasks in order of number, in batches."""
        return ((number, fields or {}) for number, fields in self._each(project, tasks.c.facts["fields"]))

    def details(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(task number, details of its last scoring) of all scored tasks in order of number, in batches."""
        return ((number, details) for number, details in self._each(project, tasks.c.details) if details)

    def _each(self, project: int, column: sa.ColumnElement[Any]) -> Iterator[tuple[int, Any]]:
        for part in self._in_batches(project, sa.select(tasks.c.number, column.label("value"))):
            yield from ((row["number"], row["value"]) for row in part)

    def _in_batches(self, project: int, query: sa.Select[Any]) -> Iterator[list[Row]]:
        """The rows of a query, which has the tasks' numbers, in order of number."""
        query = query.where(tasks.c.project == project).order_by(tasks.c.number).limit(_READ_AT_ONCE)
        part = self.rows(query)
        while part:
            yield part
            part = self.rows(query.where(tasks.c.number > part[-1]["number"]))

    def _numbers(self, project: int, which: sa.ColumnElement[bool], limit: int | None = None) -> list[int]:
        """Numbers of these tasks, in order."""
        query = sa.select(tasks.c.number).where(tasks.c.project == project, which)
        return self.scalars(query.order_by(tasks.c.number).limit(limit))

    def _count(self, project: int, which: sa.ColumnElement[bool]) -> int:
        """How many of the tasks are of this kind."""
        return self.scalar(sa.select(sa.func.count()).where(tasks.c.project == project, which)) or 0


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to controls of other kinds in a row."""
    return (row.get("facts") or {}).get("fields") or {}
