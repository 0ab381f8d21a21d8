"""Comparisons asked for on the comparison page, computed by the scorer process.

Answers are those of the store, which the report counts. Fields of tasks and predictions of other models are not in the
store: they are read from Label Studio when a comparison needs them, and only its result is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.answers import task_answers, unanswered_of, without
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import Control, control_names
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.marks import opposites_of
from ml_backend.report.questions import KINDS, MEASURES, basis, names_in
from ml_backend.report.units import words_for
from ml_backend.review import audits
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.tables import places, table_of
from ml_backend.settings import ProjectSettings
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.side_by_side import SideBySideStore
from ml_backend.store.splittings import Decision, SplittingStore
from ml_backend.store.store import Row, Store
from softirr.coefficients.registry import coefficient_keys, coefficient_name
from softirr.errors import InputError
from softirr.planning.alternative_annotator import EPSILON
from softirr.planning.compare import compare, compare_groups
from softirr.planning.compare_raters import compare_raters
from softirr.planning.compare_time import compare_time
from softirr.planning.comparison import Comparison
from softirr.report.forest import Row as Line
from softirr.report.options import AgreementOptions
from softirr.report.page.sentences import Words
from softirr.tables.fields import ANNOTATED_AT, field_text, task_fields
from softirr.tables.period import Period
from softirr.tables.table import MODEL, AnnotationTable, Answer

__all__ = ["run_wanted"]

MOST_DIFFERENCES = 10
"""Differences that the figure shows; the table has all."""
PAGE_SIZE = 200
Report = Callable[[str, int, int | None, int], None]


def _said(row: Line, names: Sequence[str], words: Words) -> Line:
    """A line of the figure in the words of the screens."""
    return replace(row, label=words.said(row.label, names), note=words.said(row.note, names))


def run_wanted(
    store: Store,
    scorer: Scorer,
    project: Row,
    settings: ProjectSettings,
    client: Client | None,
    *,
    kinds: Collection[str] = KINDS,
    report: Report = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Compute the requested comparisons; returns their number. What can't be computed gets a sentence that says why.

    Comparisons of other `kinds` wait. All but those of measures read Label Studio, with the `client`.
    """
    kept = SideBySideStore(store)
    wishes = [one for one in kept.wanted(project["id"]) if one["question"]["kind"] in kinds]
    for wish in wishes:
        check()
        report("comparing", 0, None, 0)
        work = _Work(store, scorer, project, settings, client, report, check)
        based_on = basis(store, project, wish["question"])
        try:
            result, problem = work.result(wish["question"]), None
        except (InputError, LabelStudioError) as error:
            result, problem = None, str(error)
        kept.put(wish, result=result, problem=problem, based_on=based_on)
    return len(wishes)


@dataclass(frozen=True)
class _Read:
    """What Label Studio says about the tasks of a project: values of fields, and predictions of models as answers."""

    fields: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    models: Mapping[int, Mapping[str, Sequence[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Work:
    """One run: the project with its measure, which all parts of a comparison are scored with."""

    store: Store
    scorer: Scorer
    project: Row
    settings: ProjectSettings
    client: Client | None
    report: Report
    check: Callable[[], None]

    def result(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The comparison as the page shows it."""
        if question["kind"] == MEASURES:
            return {MEASURES: list(self._measures(question))}

        def progress(done: int, total: int) -> None:
            self.check()
            self.report("comparing", done, total, done)

        settings = self.settings
        compared = self._compared(question)
        with self.scorer.alone_with(settings.measure, progress) as counted:
            decisions = self.store.decisions(self.project["id"])
            found = compared(
                self.scorer.judged_measure(settings, decisions),
                AgreementOptions(chance=settings.chance, permutations=settings.permutations),
                {"cache": self.scorer.cache(settings.measure), "progress": counted},
            )
        rows = found.rows()
        if len(found.differences) > MOST_DIFFERENCES:
            rows = [row for row in rows if not row.is_difference]
        name, told = coefficient_name(found.coefficient), found.to_dict()
        names, words = names_in(told, question), words_for(self.project, question["control"])
        return {
            "comparison": told,
            "coefficient_name": name,
            "sentences": found.sentences(),
            "adjustment": found.adjustment,
            "figure": [asdict(_said(row, names, words)) for row in rows],
            "policy": settings.policy.told() if settings.policy.changes_scores else None,
        }

    def _measures(self, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The coefficients under each measure, with the project's settings; a sentence where a model is missing."""
        names = question[MEASURES]
        for done, name in enumerate(names):
            self.check()
            self.report("comparing", done, len(names), 0)
            try:
                summary = self.scorer.summary(
                    self.store.answers(self.project["id"]),
                    question["control"],
                    replace(self.settings, measure=name),
                    decisions=self.store.decisions(self.project["id"]),
                    progress=lambda *_: self.check(),
                )
            except InputError as error:
                yield {"measure": name, "error": str(error)}
                continue
            every = summary["coefficients"]
            coefficients = {key: every[key] for key in coefficient_keys(shown=True) if key in every}
            yield {"measure": name, "coefficients": coefficients, "expected_agreement": summary["expected_agreement"]}

    def _compared(self, question: Mapping[str, Any]) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison]:
        """What to do once the measure is there; Label Studio is read before."""
        kind, control = question["kind"], question["control"]
        if kind == "projects":
            return self._projects(question)
        if kind == "fields":
            parts = {name: self._table(self.project, name) for name in self.project["summary"]["controls"]}
            sheets = {name: self._sheets(self.project, name) for name in parts}
            return lambda made, how, kept: compare(parts, made, how, sheets=sheets, **kept)
        names = _names(self.project)
        if kind in ("annotator", "models") and (found := self._judged_raters(question, names)) is not None:
            return found
        if kind == "models":
            read = self._read(self.project, control=control)
            table = self._table(self.project, control, read, models=True)
            chosen = sorted({names(rater) for given in read.models.values() for rater in given})
            if not chosen:
                raise InputError("No task of this project has a prediction of another model.")
            wanted = {"margin": question["margin"], "epsilon": EPSILON}
            return lambda made, how, kept: compare_raters(table, chosen, made, how, **wanted, **kept)
        if kind == "rounds":
            rounds = self._rounds(question["date"], control)
            return lambda made, how, kept: compare(rounds, made, how, items="same", **kept)
        if kind in ("groups", "time"):
            wanted, same = question["field"], question.get("same") or None
            fields = [wanted] if same is None else [wanted, same]
            table = self._table(self.project, control, self._read(self.project, fields=fields))
            if kind == "groups":
                return lambda made, how, kept: compare_groups(table, wanted, made, how, same=same, **kept)
            rater = names(question["annotator"]) if "annotator" in question else None
            return lambda made, how, kept: compare_time(table, wanted, made, how, rater=rater, **kept)
        table = self._table(self.project, control)
        if kind == "annotator":
            only = [names(question["annotator"])]
            return lambda made, how, kept: compare_raters(table, only, made, how, margin=question["margin"], **kept)
        teams = {
            ", ".join(names(one) for one in team): table.part(raters=[names(one) for one in team])
            for team in question["teams"]
        }
        return lambda made, how, kept: compare(teams, made, how, **kept)

    def _projects(self, question: Mapping[str, Any]) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison]:
        parts: dict[str, AnnotationTable] = {}
        sheets: dict[str, list[Any]] = {}
        for number in (self.project["number"], *question["projects"]):
            row = self.store.project(self.project["server"], number)
            if row is None:
                raise InputError(f"Project {number} is not connected any more.")
            title = " ".join((row["title"] or "").split())[:60] or f"Project {number}"
            label = title if title not in parts else f"{title} ({number})"
            control = _same_control(row, question["control"])
            read = self._read(row, fields=[question["field"]]) if question["field"] else None
            parts[label] = self._table(row, control, read, item=question["field"])
            sheets[label] = [] if question["field"] else self._sheets(row, control)
        items = "same" if question["field"] else "other"
        return lambda made, how, kept: compare(parts, made, how, items=items, sheets=sheets, **kept)

    def _rounds(self, date: str, control: str) -> dict[str, AnnotationTable]:
        """The answers before a day, and from it on.

        The store holds only the newest answer of each annotator, so they are read from Label Studio.
        """
        row, rounds = self.project, (Period.of(None, date), Period.of(date, None))
        chosen = [Control.from_dict(one) for one in row["controls"] if one["name"] == control]
        names = control_names(row["label_config"]) if row["label_config"] else None
        splittings = SplittingStore(self.store).decisions(row["id"])
        unanswered, done = unanswered_of(row), 0
        found: dict[str, list[tuple[int, dict[str, Any]]]] = {period.in_words(): [] for period in rounds}
        for page in tasks.pages(self._label_studio(), row["number"], page_size=PAGE_SIZE):
            self.check()
            for task in page:
                if task.get("unreadable"):
                    continue
                for period in rounds:
                    given = [one for one in task.get("annotations") or () if period.holds(one)]
                    entry = task_answers(
                        {**task, "annotations": given, "predictions": []},
                        chosen,
                        self.settings,
                        names=names,
                        history=row["control_history"],
                        splittings=splittings,
                        opposites=opposites_of(row),
                    )
                    found[period.in_words()].append((int(task["id"]), without(entry, unanswered)))
            done += len(page)
            self.report("reading", done, None, 0)
        for told, entries in found.items():
            if not any(entry[control]["answers"] for _, entry in entries if control in entry):
                raise InputError(f"No answer was last changed {told}.")
        return {told: self._table(row, control, answers=entries) for told, entries in found.items()}

    def _table(
        self,
        row: Row,
        control: str,
        read: _Read | None = None,
        *,
        item: str = "",
        models: bool = False,
        answers: Iterable[tuple[int, dict[str, Any]]] | None = None,
    ) -> AnnotationTable:
        """The answers of a field, by names of annotators.

        Parameters
        ----------
        read : _Read, optional
            What Label Studio says about the tasks.
        item : str
            Field whose value names the same task in several projects; empty for the task's own number.
        models : bool
            Add the predictions of models to the answers of a task, with the texts of all its regions together.
        answers : iterable, optional
            The answers of each task; by default those of the store.
        """
        names, made = _names(row), list[Answer]()
        items: dict[str, int] = {}
        values: dict[str, dict[str, str]] = {}
        found: list[tuple[str, Mapping[str, Sequence[str]]]]
        for number, entry in self._answers(row) if answers is None else answers:
            of_task = (read.fields if read is not None else {}).get(number, {})
            name = of_task.get(item, "") if item else str(number)
            if control not in entry or not name:
                continue
            if items.setdefault(name, number) != number:
                raise InputError(
                    f"{row['title'] or 'A project'} has several tasks with the same value of {item}, so it does not say which tasks are the same."
                )
            if models and read is not None:
                people = {r: t for r, t in entry[control]["answers"].items() if not r.startswith(MODEL)}
                found = [(name, people | dict(read.models.get(number, {})))]
            else:
                found = [
                    (name + place.removeprefix(str(number)), given) for place, given in places(number, entry[control])
                ]
            for place, given in found:
                values[place] = dict(of_task)
                made += [Answer(place, names(rater), tuple(texts)) for rater, texts in given.items()]
        if not made:
            raise InputError(f"{row['title'] or 'A project'} has no answers to compare.")
        return AnnotationTable.from_answers(
            made, items=values, casefold=self.settings.casefold, fields=values if read is not None else None
        )

    def _label_studio(self) -> Client:
        return cast(Client, self.client)

    def _answers(self, row: Row) -> Iterator[tuple[int, dict[str, Any]]]:
        unanswered = unanswered_of(row)
        for number, entry in self.store.answers(row["id"]):
            yield number, without(entry, unanswered)

    def _read(self, row: Row, *, fields: Sequence[str] = (), control: str | None = None) -> _Read:
        """Fields of the tasks, and predictions for a control."""
        values: dict[int, dict[str, str]] = {}
        models: dict[int, dict[str, Sequence[str]]] = {}
        known: set[str] = set()
        splittings = SplittingStore(self.store).decisions(row["id"])
        for page in tasks.pages(self._label_studio(), row["number"], page_size=PAGE_SIZE, data=bool(fields)):
            self.check()
            for task in page:
                if task.get("unreadable"):
                    continue
                if fields:
                    known |= set(task.get("data") or ())
                    found = task_fields(task, fields)
                    values[task["id"]] = {name: field_text(found[name]) for name in fields}
                if control is not None:
                    models[task["id"]] = self._predicted(row, task, control, splittings)
            self.report("reading", max(len(values), len(models)), None, 0)
        for name in fields:
            if not any(of_task[name] for of_task in values.values()):
                there = ", ".join(sorted(known | {ANNOTATED_AT})[:30])
                raise InputError(f"No task of {row['title'] or 'the project'} has the field {name}; there are {there}.")
        return _Read(values, models)

    def _predicted(
        self, row: Row, task: Mapping[str, Any], control: str, splittings: Mapping[str, Decision]
    ) -> dict[str, Sequence[str]]:
        """Answers of models, split as people's are."""
        chosen: Mapping[str, Any] = next((one for one in row["controls"] if one["name"] == control), {})
        wanted = [Control(control, chosen.get("to_name", ""))]
        found = task_answers(
            task,
            wanted,
            replace(self.settings, predictions_as_raters=True),
            names=control_names(row["label_config"]) if row["label_config"] else None,
            splittings=splittings,
            opposites=opposites_of(row),
        )
        given = found[control]["answers"]
        return {rater: texts for rater, texts in given.items() if rater.startswith(MODEL)}

    def _judged_raters(
        self, question: Mapping[str, Any], names: Callable[[str], str]
    ) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison] | None:
        """An annotator or models with the others by judgments of pairs of texts, where there are some."""
        sheets = self._sheets(self.project, question["control"])
        if not sheets:
            return None
        table = table_of(self.store.answers(self.project["id"]), question["control"], self.settings)
        models = [rater for rater in table.raters if rater.startswith(MODEL)]
        chosen = models if question["kind"] == "models" else [question["annotator"]]
        if not chosen:
            return None
        settings = self.settings

        def compared(_: Any, how: AgreementOptions, kept: dict[str, Any]) -> Comparison:
            # the measure that the sheet was drawn with: judgments of the audit correct it, not decisions
            made = self.scorer.measure_under(settings.measure, settings.policy, settings.terminologies)
            labels = {rater: names(rater) for rater in table.raters}
            wanted = {"margin": question["margin"], "epsilon": EPSILON if question["kind"] == "models" else None}
            return compare_raters(table, chosen, made, how, sheets=sheets, labels=labels, **wanted, **kept)

        return compared

    def _sheets(self, row: Row, control: str) -> list[Any]:
        """What people judged of pairs of a field."""
        return audits.judged_sheets(ReviewStore(self.store), row["id"], control)


def _names(row: Row) -> Callable[[str], str]:
    """How results call a project's annotators and models; annotators who share a name are told apart by their ids."""

    def called(rater: str) -> str:
        return " ".join(name_of(row["raters"], rater).split())[:80] or f"Annotator {rater}"

    n = Counter(map(called, row["raters"]))

    def name(rater: str) -> str:
        found = called(rater)
        if rater.startswith(MODEL):
            return found
        return f"{found} ({rater})" if n[found] > 1 or found.startswith("model ") else found

    return name


def _same_control(row: Row, control: str) -> str:
    """The field of another project: the one of this name, else its only one."""
    names = list((row["summary"] or {}).get("controls") or ())
    if control in names:
        return control
    if len(names) == 1:
        return str(names[0])
    title = row["title"] or f"Project {row['number']}"
    raise InputError(
        f"{title} has no field {control}; it has {', '.join(names)}." if names else f"{title} has not been scored yet."
    )
