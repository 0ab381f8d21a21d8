"""Storage of the projects' tasks: pulled answers, scores and written predictions."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Database, Row, rows
from ml_backend.store.schema import tasks

_FIELDS = tasks.c.facts["fields"].label("fields")
_TO_SCORE = (*(tasks.c.number, tasks.c.answers, tasks.c.answers_hash, tasks.c.n_answers, tasks.c.n_annotations),)
_AT_ONCE = 1000


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
        insert = self._upsert(tasks)
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
        with self._write() as connection:
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
        with self._read() as connection:
            query = (
                sa.select(*_TO_SCORE, *([_FIELDS] if fields else []))
                .where(
                    tasks.c.project == project,
                    wanted,
                    tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash),
                )
                .order_by(tasks.c.number)
                .limit(limit)
            )
            return rows(connection.execute(query))

    def scored(self, project: int) -> Iterator[list[Row]]:
        """Tasks whose present answers are scored, as `unscored` gives them and with ``details``, in batches."""
        after = -1
        while True:
            with self._read() as connection:
                part = rows(
                    connection.execute(
                        sa.select(*_TO_SCORE, _FIELDS, tasks.c.details)
                        .where(
                            tasks.c.project == project,
                            tasks.c.number > after,
                            tasks.c.scored_hash == tasks.c.answers_hash,
                        )
                        .order_by(tasks.c.number)
                        .limit(_AT_ONCE)
                    )
                )
            if not part:
                return
            yield part
            after = part[-1]["number"]

    def count_unscored(self, project: int) -> int:
        """Number of tasks that wait for scoring."""
        with self._read() as connection:
            query = sa.select(sa.func.count()).where(
                tasks.c.project == project,
                tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash),
            )
            return connection.scalar(query) or 0

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
        """Mark these tasks for scoring."""
        self._for_numbers(project, numbers, scored_hash=None)

    def forget_scores(self, project: int) -> None:
        """Mark every task for scoring."""
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
            return rows(connection.execute(query))

    def suspect(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks for reading again."""
        self._for_numbers(project, numbers, suspect=True)

    def suspects(self, project: int) -> list[int]:
        """Numbers of the tasks marked for reading again."""
        with self._read() as connection:
            return list(
                connection.scalars(sa.select(tasks.c.number).where(tasks.c.project == project, tasks.c.suspect))
            )

    def set_in_flight(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks' predictions in Label Studio as unknown until `put_written`."""
        self._for_numbers(project, numbers, in_flight=True)

    def all_in_flight(self, project: int) -> None:
        """Mark every task's predictions in Label Studio as unknown until they are written again."""
        with self._write() as connection:
            connection.execute(sa.update(tasks).where(tasks.c.project == project).values(in_flight=True))

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
        """Record that all predictions of our version were removed from Label Studio."""
        with self._write() as connection:
            connection.execute(
                sa.update(tasks)
                .where(tasks.c.project == project)
                .values(actual=[], write=tasks.c.desired.is_not(None), in_flight=tasks.c.desired.is_not(None))
            )

    def in_flight(self, project: int) -> int:
        """Number of tasks with an unknown state after an interrupted write."""
        with self._read() as connection:
            return (
                connection.scalar(sa.select(sa.func.count()).where(tasks.c.project == project, tasks.c.in_flight)) or 0
            )

    def highest(self, project: int) -> int:
        """The highest number of any task; 0 where there is none."""
        with self._read() as connection:
            return connection.scalar(sa.select(sa.func.max(tasks.c.number)).where(tasks.c.project == project)) or 0

    def doubtful(self, project: int, limit: int) -> list[int]:
        """Numbers of tasks with an unknown state after an interrupted write, at most `limit`."""
        with self._read() as connection:
            query = sa.select(tasks.c.number).where(tasks.c.project == project, tasks.c.in_flight)
            return list(connection.scalars(query.order_by(tasks.c.number).limit(limit)))

    def older(self, project: int, generation: int) -> list[int]:
        """Numbers of the tasks that the complete pull `generation` did not return."""
        with self._read() as connection:
            query = sa.select(tasks.c.number).where(tasks.c.project == project, tasks.c.generation < generation)
            return list(connection.scalars(query.order_by(tasks.c.number)))

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

    def get_tasks(self, project: int, numbers: Sequence[int], *, columns: Sequence[str] = ()) -> dict[int, Row]:
        """Rows of these tasks, as far as they are stored; of all columns, or of some, which are decoded alone."""
        query = sa.select(tasks) if not columns else sa.select(*(tasks.c[name] for name in ("number", *columns)))
        by_number: dict[int, Row] = {}
        with self._read() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                chosen = query.where(tasks.c.project == project, tasks.c.number.in_(part))
                by_number |= {row["number"]: row for row in rows(connection.execute(chosen))}
        return by_number

    def predictions_of(self, project: int, numbers: Sequence[int]) -> dict[int, tuple[str | None, set[str], bool]]:
        """Of these tasks, as far as known.

        Hash of the wanted prediction, hashes of those last seen or written, whether in doubt.
        """
        by_number: dict[int, tuple[str | None, set[str], bool]] = {}
        with self._read() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                query = sa.select(tasks.c.number, tasks.c.desired, tasks.c.actual, tasks.c.in_flight).where(
                    tasks.c.project == project, tasks.c.number.in_(part)
                )
                for row in connection.execute(query):
                    by_number[row.number] = row.desired, {entry[1] for entry in row.actual}, row.in_flight
        return by_number

    def stamps(self, project: int, numbers: Sequence[int]) -> dict[int, str | None]:
        """``updated_at`` of these tasks when they were read, as far as they are stored."""
        by_number: dict[int, str | None] = {}
        with self._read() as connection:
            for start in range(0, len(numbers), 500):
                part = numbers[start : start + 500]
                query = sa.select(tasks.c.number, tasks.c.updated_at).where(
                    tasks.c.project == project, tasks.c.number.in_(part)
                )
                by_number.update({row.number: row.updated_at for row in connection.execute(query)})
        return by_number

    def annotation_counts(self, project: int) -> dict[int, int]:
        """Task number -> number of its annotations that are not skipped."""
        with self._read() as connection:
            query = sa.select(tasks.c.number, tasks.c.n_annotations).where(tasks.c.project == project)
            return {row.number: row.n_annotations for row in connection.execute(query)}

    def rank(self, project: int, agreement: float) -> tuple[int, int]:
        """(rank of this agreement from the lowest, number of tasks with an agreement)."""
        with self._read() as connection:
            scored = (tasks.c.project == project) & tasks.c.agreement.is_not(None)
            below = connection.scalar(sa.select(sa.func.count()).where(scored, tasks.c.agreement < agreement)) or 0
            return below + 1, connection.scalar(sa.select(sa.func.count()).where(scored)) or 0

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
        after = -1
        while True:
            with self._read() as connection:
                part = connection.execute(
                    sa.select(tasks.c.number, column)
                    .where(tasks.c.project == project, tasks.c.number > after)
                    .order_by(tasks.c.number)
                    .limit(_AT_ONCE)
                ).all()
            if not part:
                return
            yield from ((number, value) for number, value in part)
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
            return rows(connection.execute(query))


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to controls of other kinds in a row."""
    return (row.get("facts") or {}).get("fields") or {}
