"""The view of a project's report, and the list of its tasks: built from the store, rendered by the pages."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.project_settings import MISSING_OPTION, TEXTS, ProjectSettings
from ml_backend.review.headline import part_of_tasks, report_target, target_of
from ml_backend.review.rater_names import display_names
from ml_backend.review.requests import MODELS, RequestStore, basis_of
from ml_backend.review.returned import changed_raters, count_sentence, names_sentence
from ml_backend.scoring.preparation import AnswerPreparation, task_of
from ml_backend.scoring.task_score import chosen_score
from ml_backend.store.acts import AgreedStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from ml_backend.web.links import Links
from ml_backend.web.task_queue import STATES, Queue
from ml_backend.web.task_rows import Context, TaskRow, TaskRows
from softirr.answers.answer import MODEL
from softirr.answers.missing import MarkCounts
from softirr.report import view as report_view
from softirr.report.key_figures import is_exact

_STATE_NOTES = {"waiting": "Waits for more answers.", "sent back": "Sent back to the annotators."}


class ProjectReports:
    """Builds views of reports and caches the last few; they change only when the project changes.

    Parameters
    ----------
    n_cached : int
        Maximum number of cached views.
    """

    def __init__(self, store: Store, *, n_cached: int = 8):
        self._store, self._n_cached = store, n_cached
        self._reviews = ReviewStore(store)
        self._rows = TaskRows(store)
        self._views: OrderedDict[Hashable, report_view.View] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, project: Row, control: str, settings: ProjectSettings, links: Links) -> report_view.View:
        """Return the view of the report on one scored field.

        Parameters
        ----------
        links : Links
            Addresses in Label Studio.
        """
        key = project["id"], control, links.project(), self.version(project), self.marks(project), settings.hide_names
        with self._lock:
            if key in self._views:
                self._views.move_to_end(key)
                return self._views[key]
        view = self._built(project, control, settings, links)
        with self._lock:
            self._views[key] = view
            while len(self._views) > self._n_cached:
                self._views.popitem(last=False)
        return view

    def queue(self, project: Row, settings: ProjectSettings, links: Links) -> Queue:
        """Return every task with an agreement over all fields, in the order of "next"."""
        context = self._context(project, settings)
        rows = self._rows.get(project["id"], _only_field(project), context)
        return self._queue(project, rows, links)

    def version(self, project: Row) -> str:
        """Return the version of the results, which changes when the report changes other than by marks on tasks."""
        with self._store.engine.connect() as connection:
            scored = connection.execute(
                sa.select(sa.func.count(), sa.func.max(tasks.c.scored_at)).where(tasks.c.project == project["id"])
            ).one()
        answered = RequestStore(self._store).answered(project["id"])
        decided = [row["id"] for row in self._store.decisions(project["id"])]
        agreed = AgreedStore(self._store).state(project["id"])
        names = sorted(project["raters"].items())
        state = (project["summary_at"], project["title"], names, project["required"], target_of(project))
        return _digest((*state, *scored, answered, decided, agreed))

    def marks(self, project: Row) -> str:
        """Return the version of the marks on tasks."""
        return _digest(sorted((task, row["at"]) for task, row in self._reviews.marks(project["id"]).items()))

    def decisions(self, project: Row) -> dict[str, Any]:
        """Count the decisions of reviewers and their causes."""
        rows = self._store.decisions(project["id"])
        causes = Counter(row["cause"] for row in rows if row.get("cause"))
        return {"n": len(rows), "same": sum(bool(row["same"]) for row in rows), "causes": dict(causes.most_common())}

    def agreed_tasks(self, project: Row) -> int:
        """Return the number of tasks with an agreed answer."""
        return len({row["task"] for row in AgreedStore(self._store).current(project["id"])})

    def _context(self, project: Row, settings: ProjectSettings) -> Context:
        raters = dict.fromkeys(project["raters"])
        for summary in ((project["summary"] or {}).get("controls") or {}).values():
            raters |= dict.fromkeys(rater["id"] for rater in summary["raters"])
        names = display_names(project, raters, settings, secret=self._store.secret())
        return Context(names, self._store.decisions(project["id"]), AnswerPreparation.of(project, settings))

    def _queue(self, project: Row, rows: Sequence[TaskRow], links: Links) -> Queue:
        return Queue(rows, self._reviews.marks(project["id"]), links, required=project["required"])

    def _built(self, project: Row, control: str, settings: ProjectSettings, links: Links) -> report_view.View:
        context = self._context(project, settings)
        rows = self._rows.get(project["id"], control, context)
        states = {entry.task: entry.state for entry in self._queue(project, rows, links)}
        changed = self._changed_after_return(project["id"])
        notes = {task: names_sentence(raters, context.names) for task, raters in changed.items()}
        summary = project["summary"]["controls"][control]
        report: dict[str, Any] = {
            **summary,
            "items": [_item(row, states.get(row["number"], "ready"), notes.get(row["number"], "")) for row in rows],
            "fields": [
                {**field, "item_word": part_of_tasks(project, field["name"]) or "task"}
                for field in project["summary"].get("fields") or ()
            ],
            "median_seconds": project["summary"].get("median_seconds") or {},
            "models": self._models(project, control),
            "warnings": [*_warnings(project, summary, context.names), *filter(None, [count_sentence(changed)])],
            **report_target(project),
        }
        part_word = part_of_tasks(project, control)
        if part_word:
            report |= {"n_items": self._store.totals(project["id"])["tasks"], "n_parts": summary["n_compared"]}
        number = project["number"]
        return report_view.view(
            report,
            report_view.Names(context.names, item="task", rater="annotator", part_word=part_word),
            report_view.Links(
                item=lambda item: links.queued(task_of(item)),
                items=lambda items, title: links.tasks(_tasks(items), title) if items else None,
                rater=lambda rater: links.annotated_by([rater], f"Answered by {context.names.get(rater, rater)}"),
                judge=None if is_exact(summary) else f"../audit/{number}",
                policy=None if is_exact(summary) else "#h-policy",
            ),
        )

    def _changed_after_return(self, project: int) -> dict[int, list[str]]:
        """Return the annotators who answered again after a reviewer sent their task back, by task."""
        returns = self._reviews.returns(project)
        rows = self._store.get_tasks(project, sorted(returns), columns=("answers", "facts"))
        return {number: raters for number, row in rows.items() if (raters := changed_raters(row, returns[number]))}

    def _models(self, project: Row, control: str) -> dict[str, Any]:
        """Return the comparison of models with people; the worker computes it if the report has models."""
        if not any(rater["id"].startswith(MODEL) for rater in project["summary"]["controls"][control]["raters"]):
            return {}
        requests, question = RequestStore(self._store), {"control": control}
        stored = requests.find(project["id"], MODELS, question)
        if stored is None or (stored["based_on"] != basis_of(project) and stored["wanted_at"] is None):
            requests.ask(project["id"], MODELS, question)
            self._store.want(project["id"])
        return (stored and stored["result"]) or {}


def _tasks(items: Sequence[str]) -> list[int]:
    """Return the tasks that items are, or are parts of."""
    return list(dict.fromkeys(map(task_of, items)))


def _warnings(project: Row, summary: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """Return what a reader has to know: missing answers, misfits of the measure, answers that are left out."""
    counts = summary.get("missing_marks")
    missing = MarkCounts(**counts).sentences(names=names, option=MISSING_OPTION) if counts else ()
    left_out = project["summary"].get("left_out", ())
    return [*missing, *summary.get("warnings", ()), *left_out]


def _item(row: TaskRow, state: str, note: str) -> dict[str, Any]:
    """Return the task as the view reads it."""
    return {
        "id": str(row["number"]),
        "agreement": row["agreement"],
        "n_raters": row["n_raters"],
        "pairs": row["pairs"],
        "sentence": row["sentence"],
        "note": " ".join(filter(None, (_STATE_NOTES.get(state), note))),
        "turn": STATES.index(state),
        "is_done": state == "done",
        "matches": [],
        "unmatched": {},
    }


def _only_field(project: Row) -> str | None:
    """Return the project's field if it has only one and its agreement is the score."""
    if chosen_score(project["summary"]) != TEXTS:
        return None
    names = list(((project["summary"] or {}).get("controls")) or ())
    return names[0] if len(names) == 1 else None


def _digest(state: Any) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]
