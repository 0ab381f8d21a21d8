"""Tables of answers for comparisons: of fields, of periods, with fields of the tasks and with predictions of models.

Answers come from the store, as the report counts them. Fields of tasks and predictions of other models are not in the
store: they are read from Label Studio when a comparison needs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.answers import Reading, task_answers, unanswered_of, without
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import Control, control_names
from ml_backend.labelstudio.marks import opposites_of
from ml_backend.review.project_work import ProjectWork, counted_answers
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.stored_answers import places
from ml_backend.store.splittings import Decision, SplittingStore
from ml_backend.store.store import Row
from softirr.answers.item_fields import ANNOTATED_AT, field_text, task_fields
from softirr.answers.period import Period
from softirr.answers.table import MODEL, AnnotationTable, Answer
from softirr.errors import InputError

__all__ = ["ComparedTables", "FromLabelStudio", "rater_names"]

PAGE_SIZE = 200


@dataclass(frozen=True)
class FromLabelStudio:
    """What Label Studio says about the tasks of a project: values of fields, and predictions of models as answers."""

    fields: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    models: Mapping[int, Mapping[str, Sequence[str]]] = field(default_factory=dict)


class ComparedTables:
    """Reads the tables of one comparison; those that are not in the store need Label Studio's client."""

    def __init__(self, work: ProjectWork):
        self.store, self.project, self.settings = work.store, work.project, work.settings
        self.work = work

    def rounds(self, date: str, control: str) -> dict[str, AnnotationTable]:
        """The answers before a day, and from it on.

        The store has only the newest answer of each annotator, so they are read from Label Studio.
        """
        row, rounds = self.project, (Period.of(None, date), Period.of(date, None))
        chosen = [Control.from_dict(one) for one in row["controls"] if one["name"] == control]
        names = control_names(row["label_config"]) if row["label_config"] else None
        splittings = SplittingStore(self.store).decisions(row["id"])
        history = row["control_history"] or {}
        reading = Reading(chosen, self.settings, names, history, splittings, opposites_of(row))
        unanswered, done = unanswered_of(row), 0
        of_period: dict[str, list[tuple[int, dict[str, Any]]]] = {period.in_words(): [] for period in rounds}
        for page in tasks.pages(self._label_studio(), row["number"], page_size=PAGE_SIZE):
            self.work.check()
            for task in page:
                if task.get("unreadable"):
                    continue
                for period in rounds:
                    given = [one for one in task.get("annotations") or () if period.holds(one)]
                    entry = task_answers({**task, "annotations": given, "predictions": []}, reading)
                    of_period[period.in_words()].append((int(task["id"]), without(entry, unanswered)))
            done += len(page)
            self.work.report("reading", done, None, 0)
        for words, entries in of_period.items():
            if not any(entry[control]["answers"] for _, entry in entries if control in entry):
                raise InputError(f"No answer was last changed {words}.")
        return {words: self.of_field(row, control, answers=entries) for words, entries in of_period.items()}

    def of_field(
        self,
        row: Row,
        control: str,
        read: FromLabelStudio | None = None,
        *,
        item: str = "",
        models: bool = False,
        answers: Iterable[tuple[int, dict[str, Any]]] | None = None,
    ) -> AnnotationTable:
        """The answers of a field, by names of annotators.

        Parameters
        ----------
        read : FromLabelStudio, optional
            What Label Studio says about the tasks.
        item : str
            Field whose value names the same task in several projects; empty for the task's own number.
        models : bool
            Add the predictions of models to the answers of a task, with the texts of all its regions together.
        answers : iterable, optional
            The answers of each task; by default the answers in the store.
        """
        names, answers_there = rater_names(row), list[Answer]()
        items: dict[str, int] = {}
        values: dict[str, dict[str, str]] = {}
        at_places: list[tuple[str, Mapping[str, Sequence[str]]]]
        for number, entry in counted_answers(self.store, row) if answers is None else answers:
            of_task = (read.fields if read is not None else {}).get(number, {})
            name = of_task.get(item, "") if item else str(number)
            if control not in entry or not name:
                continue
            if items.setdefault(name, number) != number:
                raise InputError(
                    f"{row['title'] or 'A project'} has several tasks with the same value of {item}, so it does not "
                    "say which tasks are the same."
                )
            if models and read is not None:
                people = {r: t for r, t in entry[control]["answers"].items() if not r.startswith(MODEL)}
                at_places = [(name, people | dict(read.models.get(number, {})))]
            else:
                at_places = [
                    (name + place.removeprefix(str(number)), given) for place, given in places(number, entry[control])
                ]
            for place, given in at_places:
                values[place] = dict(of_task)
                answers_there += [Answer(place, names(rater), tuple(texts)) for rater, texts in given.items()]
        if not answers_there:
            raise InputError(f"{row['title'] or 'A project'} has no answers to compare.")
        return AnnotationTable.from_answers(
            answers_there, items=values, casefold=self.settings.casefold, fields=values if read is not None else None
        )

    def _label_studio(self) -> Client:
        return cast(Client, self.work.client)

    def read(self, row: Row, *, fields: Sequence[str] = (), control: str | None = None) -> FromLabelStudio:
        """Fields of the tasks, and predictions for a control."""
        values: dict[int, dict[str, str]] = {}
        models: dict[int, dict[str, Sequence[str]]] = {}
        known: set[str] = set()
        splittings = SplittingStore(self.store).decisions(row["id"])
        for page in tasks.pages(self._label_studio(), row["number"], page_size=PAGE_SIZE, data=bool(fields)):
            self.work.check()
            for task in page:
                if task.get("unreadable"):
                    continue
                if fields:
                    known |= set(task.get("data") or ())
                    shown = task_fields(task, fields)
                    values[task["id"]] = {name: field_text(shown[name]) for name in fields}
                if control is not None:
                    models[task["id"]] = self._predicted(row, task, control, splittings)
            self.work.report("reading", max(len(values), len(models)), None, 0)
        for name in fields:
            if not any(of_task[name] for of_task in values.values()):
                there = ", ".join(sorted(known | {ANNOTATED_AT})[:30])
                raise InputError(f"No task of {row['title'] or 'the project'} has the field {name}; there are {there}.")
        return FromLabelStudio(values, models)

    def _predicted(
        self, row: Row, task: Mapping[str, Any], control: str, splittings: Mapping[str, Decision]
    ) -> dict[str, Sequence[str]]:
        """Answers of models, split as people's are."""
        chosen: Mapping[str, Any] = next((one for one in row["controls"] if one["name"] == control), {})
        wanted = [Control(control, chosen.get("to_name", ""))]
        names = control_names(row["label_config"]) if row["label_config"] else None
        settings = replace(self.settings, predictions_as_raters=True)
        reading = Reading(wanted, settings, names, splittings=splittings, opposites=opposites_of(row))
        by_control = task_answers(task, reading)
        given = by_control[control]["answers"]
        return {rater: texts for rater, texts in given.items() if rater.startswith(MODEL)}


def rater_names(row: Row) -> Callable[[str], str]:
    """How results call a project's annotators and models; the ids of annotators who share a name are added."""

    def called(rater: str) -> str:
        return " ".join(name_of(row["raters"], rater).split())[:80] or f"Annotator {rater}"

    n = Counter(map(called, row["raters"]))

    def name(rater: str) -> str:
        name_there = called(rater)
        if rater.startswith(MODEL):
            return name_there
        return f"{name_there} ({rater})" if n[name_there] > 1 or name_there.startswith("model ") else name_there

    return name
