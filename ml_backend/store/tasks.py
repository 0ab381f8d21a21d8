"""Storage of the projects' tasks: answers, scores, and which prediction Label Studio has and should have."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Database, Row, in_parts
from ml_backend.store.schema import projects, tasks

_FIELDS = tasks.c.facts["fields"].label("fields")
_TO_SCORE = (tasks.c.number, tasks.c.answers, tasks.c.answers_hash, tasks.c.n_annotations)
_UNSCORED = tasks.c.scored_hash.is_(None) | (tasks.c.scored_hash != tasks.c.answers_hash)
_READ_AT_ONCE = 1000
NO_PREDICTION = ""
"""The hash of a prediction that does not exist; None if it is unknown."""


class TaskStore(Database):
    """Reads and writes the tasks in the store's database."""

    # --- reading ------------------------------------------------------------------------------------------------------

    def put_read(self, project: int, read: Sequence[Mapping[str, Any]]) -> int:
        """Store tasks as read from Label Studio; returns the number of tasks with changed answers, of any kind.

        Parameters
        ----------
        read : sequence of mappings
            As `ml_backend.labelstudio.answers.pulled_row` returns them.
        """
        if not read:
            return 0
        insert = self.upsert(tasks)
        names = [column.name for column in tasks.c if column.name in read[0] and column.name != "number"]
        replaced = {name: insert.excluded[name] for name in names}
        insert = insert.on_conflict_do_update(index_elements=["project", "number"], set_=replaced)
        with self.writing() as connection:
            numbers = [row["number"] for row in read]
            query = sa.select(tasks.c.number, tasks.c.answers_hash)
            query = query.where(tasks.c.project == project, tasks.c.number.in_(numbers))
            stored = {row.number: row.answers_hash for row in connection.execute(query)}
            connection.execute(insert, [{"project": project, **row} for row in read])
            n_changed = sum(stored.get(row["number"]) != row["answers_hash"] for row in read)
            if n_changed:
                connection.execute(_make_stale(project))
        return n_changed

    def stamps(self, project: int) -> dict[int, tuple[str | None, int]]:
        """Return ``updated_at`` and the listed number of annotations with which each task was read.

        ``updated_at`` is None if the task has to be read again whatever Label Studio lists.
        """
        stamp = sa.case((_marked(), None), else_=tasks.c.updated_at).label("stamp")
        listed = self.rows(sa.select(tasks.c.number, stamp, tasks.c.n_listed).where(tasks.c.project == project))
        return {row["number"]: (row["stamp"], row["n_listed"]) for row in listed}

    def read_again(self, project: int, numbers: Sequence[int] | None = None) -> None:
        """Have these tasks, or all, read again by the next run."""
        self._set(project, numbers, again_at=0.0)

    def marked(self, project: int, limit: int) -> list[int]:
        """Return at most `limit` tasks that have to be read again."""
        query = sa.select(tasks.c.number).where(tasks.c.project == project, _marked())
        return self.scalars(query.order_by(tasks.c.number).limit(limit))

    def drop_tasks(self, project: int, numbers: Sequence[int]) -> None:
        """Remove these tasks."""
        with self.writing() as connection:
            for chunk in in_parts(numbers):
                connection.execute(sa.delete(tasks).where(tasks.c.project == project, tasks.c.number.in_(chunk)))
            if numbers:
                connection.execute(_make_stale(project))

    # --- scoring ------------------------------------------------------------------------------------------------------

    def unscored(
        self,
        project: int,
        limit: int,
        *,
        above: int = -1,
        end: int = 2**31 - 1,
        only: Sequence[int] | None = None,
        fields: bool = True,
    ) -> list[Row]:
        """Return tasks with present answers that are not scored yet, in order of number.

        Parameters
        ----------
        above, end : int
            Only tasks with a higher number than `above`, up to `end`.
        only : sequence of int, optional
            Only these tasks.
        fields : bool
            With the answers to other fields, which take as long to decode as the texts.
        """
        selection = (tasks.c.number > above) & (tasks.c.number <= end) if only is None else tasks.c.number.in_(only)
        columns = (*_TO_SCORE, _FIELDS) if fields else _TO_SCORE
        query = sa.select(*columns).where(tasks.c.project == project, selection, _UNSCORED)
        return self.rows(query.order_by(tasks.c.number).limit(limit))

    def scored(self, project: int) -> Iterator[list[Row]]:
        """Return tasks with scored present answers, as `unscored` does and with ``details``, in batches."""
        scored = tasks.c.scored_hash == tasks.c.answers_hash
        return self._in_batches(project, sa.select(*_TO_SCORE, _FIELDS, tasks.c.details).where(scored))

    def count_unscored(self, project: int) -> int:
        """Return the number of tasks that wait for scoring."""
        return self._count(project, _UNSCORED)

    def put_scored(self, project: int, scored: Sequence[Mapping[str, Any]]) -> None:
        """Store results: number, answers_hash, agreement, details, desired (hash of the prediction or None)."""
        now = time.time()
        names = {"scored_hash": "answers_hash", "agreement": "agreement", "details": "details", "desired": "desired"}
        values = {
            row["number"]: {"scored_at": now} | {column: row[name] for column, name in names.items()} for row in scored
        }
        self._set_each(project, values)

    def put_answers(self, project: int, changed: Mapping[int, Mapping[str, Any]]) -> None:
        """Store other answers of tasks: number -> answers and answers_hash."""
        self._set_each(project, changed)

    def forget_scores_of(self, project: int, numbers: Sequence[int]) -> None:
        """Mark these tasks for scoring."""
        self._set(project, numbers, scored_hash=None)

    def forget_scores(self, project: int) -> None:
        """Mark every task for scoring."""
        self._set(project, None, scored_hash=None)

    # --- predictions --------------------------------------------------------------------------------------------------

    def to_write(self, project: int) -> list[Row]:
        """Return number, desired, prediction_hash and prediction_id of the scored tasks with an outdated prediction."""
        differs = sa.func.coalesce(tasks.c.desired, NO_PREDICTION) != tasks.c.prediction_hash
        scored = tasks.c.scored_hash == tasks.c.answers_hash
        columns = (tasks.c.number, tasks.c.desired, tasks.c.prediction_hash, tasks.c.prediction_id)
        query = sa.select(*columns).where(tasks.c.project == project, scored, differs)
        return self.rows(query.order_by(tasks.c.number))

    def put_written(self, project: int, predictions: Mapping[int, tuple[int | None, str]]) -> None:
        """Store the predictions that Label Studio has now: task number -> (id or None, hash)."""
        names = ("prediction_id", "prediction_hash")
        self._set_each(project, {n: dict(zip(names, prediction, strict=True)) for n, prediction in predictions.items()})

    def forget_predictions(self, project: int, numbers: Sequence[int] | None = None) -> None:
        """Note that the predictions of these tasks, or of all, are unknown, so that the tasks are read again."""
        self._set(project, numbers, prediction_hash=None)

    def all_predictions_removed(self, project: int) -> None:
        """Note that Label Studio has none of our predictions."""
        self._set(project, None, prediction_hash=NO_PREDICTION, prediction_id=None)

    def unknown_predictions(self, project: int) -> int:
        """Return the number of tasks with an unknown prediction, such as after an interrupted write."""
        return self._count(project, tasks.c.prediction_hash.is_(None))

    # --- queries ------------------------------------------------------------------------------------------------------

    def highest(self, project: int) -> int:
        """Return the highest number of any task; 0 without tasks."""
        return self.scalar(sa.select(sa.func.max(tasks.c.number)).where(tasks.c.project == project)) or 0

    def totals(self, project: int) -> dict[str, int]:
        """Return the numbers of tasks, of annotations that are not skipped, and of desired predictions."""
        query = sa.select(
            sa.func.count().label("tasks"),
            sa.func.coalesce(sa.func.sum(tasks.c.n_listed), 0).label("annotations"),
            sa.func.count(tasks.c.desired).label("predictions"),
        )
        (row,) = self.rows(query.where(tasks.c.project == project))
        return {name: int(value) for name, value in row.items()}

    def get_tasks(self, project: int, numbers: Sequence[int], *, columns: Sequence[str] = ()) -> dict[int, Row]:
        """Return the rows of these tasks, with all columns or with some; tasks that are not stored are left out."""
        query = sa.select(*(tasks.c[name] for name in ("number", *columns)) if columns else (tasks,))
        query = query.where(tasks.c.project == project)
        chunks = in_parts(numbers)
        return {row["number"]: row for chunk in chunks for row in self.rows(query.where(tasks.c.number.in_(chunk)))}

    def count_agreements(self, project: int) -> int:
        """Return the number of tasks with an agreement."""
        return self._count(project, tasks.c.agreement.is_not(None))

    def answers(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (task number, raw answers) of all tasks in order of number, in batches."""
        return self._each(project, tasks.c.answers)

    def fields(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (task number, answers to controls of other kinds) of all tasks in order of number, in batches."""
        return ((number, fields or {}) for number, fields in self._each(project, tasks.c.facts["fields"]))

    def facts(self, project: int, name: str) -> Iterator[dict[str, Any]]:
        """Yield a fact about each task that has it, such as ``seconds`` or ``not_compared``."""
        return (value for _, value in self._each(project, tasks.c.facts[name]) if value)

    def details(self, project: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return (task number, details of its last scoring) of all scored tasks in order of number, in batches."""
        return ((number, details) for number, details in self._each(project, tasks.c.details) if details)

    def answer_rows(self, project: Row) -> Iterator[list[Any]]:
        """Yield the answers as a table with the tasks' data as columns, the header first.

        There is a row for each text; an answer without texts has one row with an empty text. Annotators are named as in
        Label Studio; fields of the tasks' data that are longer than 60 characters are not in the store.
        """
        query = sa.select(tasks.c.number, tasks.c.answers, tasks.c.facts).where(tasks.c.project == project["id"])
        listed = self.rows(query.order_by(tasks.c.number))
        data_of = {row["number"]: (row["facts"] or {}).get("data") or {} for row in listed}
        data_names = sorted({name for data in data_of.values() for name in data})
        yield ["item", "rater", "field", "text", *(f"data.{name}" for name in data_names)]
        for row in listed:
            data = [data_of[row["number"]].get(name, "") for name in data_names]
            fields = {**((row["facts"] or {}).get("fields") or {}), **row["answers"]}
            for name, entry in fields.items():
                for rater, texts in entry.get("written", entry["answers"]).items():
                    for text in texts or [""]:
                        yield [row["number"], project["raters"].get(rater, rater), name, text, *data]

    def _each(self, project: int, column: sa.ColumnElement[Any]) -> Iterator[tuple[int, Any]]:
        for chunk in self._in_batches(project, sa.select(tasks.c.number, column.label("value"))):
            yield from ((row["number"], row["value"]) for row in chunk)

    def _in_batches(self, project: int, query: sa.Select[Any]) -> Iterator[list[Row]]:
        """Return the rows of a query, which has the tasks' numbers, in order of number."""
        query = query.where(tasks.c.project == project).order_by(tasks.c.number).limit(_READ_AT_ONCE)
        chunk = self.rows(query)
        while chunk:
            yield chunk
            chunk = self.rows(query.where(tasks.c.number > chunk[-1]["number"]))

    def _set(self, project: int, numbers: Sequence[int] | None, **values: Any) -> None:
        update = sa.update(tasks).where(tasks.c.project == project).values(**values)
        with self.writing() as connection:
            if numbers is None:
                connection.execute(update)
            for chunk in in_parts(numbers or ()):
                connection.execute(update.where(tasks.c.number.in_(chunk)))

    def _set_each(self, project: int, values: Mapping[int, Mapping[str, Any]]) -> None:
        """Set columns of tasks, the same of each: number -> values by column."""
        if not values:
            return
        columns = {name: sa.bindparam(f"b_{name}", type_=tasks.c[name].type) for name in next(iter(values.values()))}
        number = tasks.c.number == sa.bindparam("b_number")
        update = sa.update(tasks).where(tasks.c.project == project, number).values(**columns)
        rows = ({"number": n, **of_task} for n, of_task in values.items())
        self.execute(update, [{f"b_{name}": value for name, value in row.items()} for row in rows])

    def _count(self, project: int, which: sa.ColumnElement[bool]) -> int:
        return self.scalar(sa.select(sa.func.count()).where(tasks.c.project == project, which)) or 0


def _marked() -> sa.ColumnElement[bool]:
    """Condition of tasks that have to be read again, whatever Label Studio lists."""
    late = sa.func.coalesce(tasks.c.again_at < time.time(), sa.false())
    return tasks.c.prediction_hash.is_(None) | late


def _make_stale(project: int) -> sa.Update:
    """Mark the report for computing, in the transaction that changes tasks: an interrupted run then loses nothing."""
    return sa.update(projects).where(projects.c.id == project).values(summary_stale=True)
