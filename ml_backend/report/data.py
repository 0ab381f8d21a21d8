"""The content of the report as one JSON-ready object, from which page, file, CSV and JSON are made."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.report.fields import field_rows, labels_and_texts_rows
from ml_backend.report.headline import audit_of, coefficients, headline_of, target_line
from ml_backend.report.links import Links
from ml_backend.report.people import pair_rows, rater_rows
from ml_backend.report.queue import Queue
from ml_backend.report.reasons import reasons_of
from ml_backend.report.regions import regions
from ml_backend.report.task_cache import TaskRow, TaskRows
from ml_backend.report.units import words_for
from ml_backend.review import consensus
from ml_backend.review.agreement_words import chance_of
from ml_backend.review.headline import field_headline, target_of
from ml_backend.review.moments import moment
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.task_score import chosen_score
from ml_backend.settings import MISSING_OPTION, TEXTS
from ml_backend.store.agreed import AgreedStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from softirr.answers.missing import MarkCounts
from softirr.report.headline import is_exact

SCHEMA_VERSION = 1
QUEUE = 200  # tasks of the queue in the report; the API has all
EXCLUDED = 200


class Reports:
    """Builds reports and caches the last few; they change only when the project changes."""

    def __init__(self, store: Store, *, kept: int = 8):
        self._store = store
        self._reviews = ReviewStore(store)
        self._rows = TaskRows(store)
        self._kept = kept
        self._cache: OrderedDict[tuple[Any, ...], dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, project: Row, control: str | None, links: Links) -> dict[str, Any] | None:
        """The report on one control (the first by default); None while the project has not been scored."""
        summary = project["summary"]
        if not summary or not summary.get("controls"):
            return None
        name: str = next(iter(summary["controls"])) if control is None else control
        key = (project["id"], name, links.queued(0), *self._state(project))
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        rows = self._rows.get(project["id"], name)
        whole = rows if _only_field(project) == name else self._rows.get(project["id"], None)
        built = build(self._store, self._reviews, project, name, rows, links, queue_rows=whole)
        with self._lock:
            self._cache[key] = built
            while len(self._cache) > self._kept:
                self._cache.popitem(last=False)
        return built

    def queue(self, project: Row, links: Links, control: str | None = None) -> Queue:
        """Every task with an agreement, of one field or over all fields."""
        rows = self._rows.get(project["id"], control if control is not None else _only_field(project))
        return _queue(self._reviews, project, rows, links)

    def version(self, project: Row) -> str:
        """Version of the present results, which changes when the report changes other than by marks on tasks."""
        return hashlib.sha256(repr(self._results(project)).encode()).hexdigest()[:16]

    def marks(self, project: Row) -> str:
        """Version of the present marks on tasks."""
        marks = sorted((task, row["at"]) for task, row in self._reviews.marks(project["id"]).items())
        return hashlib.sha256(repr(marks).encode()).hexdigest()[:16]

    def _state(self, project: Row) -> tuple[Any, ...]:
        """Everything that a report depends on; cheap to compute."""
        marks = self._reviews.marks(project["id"])
        return (*self._results(project), len(marks), max((row["at"] for row in marks.values()), default=0))

    def _results(self, project: Row) -> tuple[Any, ...]:
        with self._store.engine.connect() as connection:
            scored = connection.execute(
                sa.select(sa.func.count(), sa.func.max(tasks.c.scored_at), sa.func.count(tasks.c.facts)).where(
                    tasks.c.project == project["id"]
                )
            ).one()
        audits = [(row["id"], row["result_at"]) for row in self._reviews.audits(project["id"])]
        decided = [(row["id"], row["decided_at"]) for row in self._store.decisions(project["id"])]
        return (
            project["summary_at"],
            project["title"],
            *sorted(project["raters"].items()),
            project["required"],
            project["connection"].get("rival_note"),
            target_of(project),
            *scored,
            *audits,
            len(decided),
            *decided[-1:],
            *AgreedStore(self._store).state(project["id"]),
        )


def build(
    store: Store,
    reviews: ReviewStore,
    project: Row,
    control: str,
    rows: Sequence[TaskRow],
    links: Links,
    *,
    queue_rows: Sequence[TaskRow] | None = None,
) -> dict[str, Any]:
    """The report on one control of a project; the triage queue is over all controls, like the Data Manager's tab."""
    summary = project["summary"]["controls"][control]
    names = {rater: name_of(project["raters"], rater) for rater in _raters(summary, rows)}
    field_queue = _queue(reviews, project, rows, links)
    queue = field_queue
    if queue_rows is not None and queue_rows is not rows:
        queue = _queue(reviews, project, queue_rows, links)
    audit = reviews.audited(project["id"], control)
    head = headline_of(project, control, rows)
    return {
        "schema_version": SCHEMA_VERSION,
        "generated_at": moment(time.time()),
        "project": {
            "id": project["number"],
            "title": project["title"] or f"Project {project['number']}",
            "link": links.project(),
        },
        "control": control,
        "exact": is_exact(summary),
        "controls": list(project["summary"]["controls"]),
        "fields": [
            {"control": name, "headline": field_headline(project, name)} for name in project["summary"]["controls"]
        ],
        "field_table": field_rows(project, links),
        "labels_and_texts": labels_and_texts_rows(project, control, links),
        "unit": words_for(project, control).item,
        "n_tasks": len(rows),
        "n_compared": sum(row["agreement"] is not None for row in rows),
        "regions": regions(rows, links),
        "per_region": next(
            (one.get("per_region", False) for one in project["controls"] if one["name"] == control), False
        ),
        "n_raters": summary["n_raters"],
        "headline": head,
        "target": target_line(project, head, summary),
        "audit": audit_of(reviews, project, control, audit, rows),
        "scored_link": links.scored("All tasks with an agreement"),
        "coefficients": coefficients(summary, links, words_for(project, control)),
        "expected_agreement": summary["expected_agreement"],
        "reviewers": _reviewers(project),
        "raters": rater_rows(summary, rows, names, links),
        "rater_pairs": pair_rows(summary, names, links),
        "names": names,
        "distributions": summary.get("distributions"),
        "reasons": reasons_of(summary, names, field_queue, links),
        "queue": queue.view(0, QUEUE),
        "n_queue_low": queue.n_low,
        "n_queue_open": queue.n_open,
        "n_queue_done": queue.n_done,
        "n_queue_waiting": queue.n_waiting,
        "n_queue_sent_back": queue.n_sent_back,
        "excluded": _excluded(rows, names, links),
        "decisions": _decisions(store, project),
        "consensus": _consensus(store, project, control, field_queue, links),
        "warnings": [*_missing_marks(summary, names), *summary.get("warnings", ()), *summary.get("cut_reasons", ())],
        "settings": project["summary"].get("settings"),
        "provenance": {
            **summary.get("provenance", {}),
            "computed_at": moment(project["summary_at"]),
            "seconds": project["summary"].get("seconds"),
        },
    }


def _missing_marks(summary: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """How many answers of each annotator are missing because their text is a mark for it."""
    counts = summary.get("missing_marks")
    return MarkCounts.from_dict(counts).sentences(names=names, option=MISSING_OPTION) if counts else ()


def _reviewers(project: Row) -> list[str]:
    """Names of the people whose own answers do not count as an annotator's."""
    chosen = (project["summary"].get("settings") or {}).get("reviewers") or {}
    return [name_of(project["raters"], str(user)) for user in chosen.get("value") or ()]


def _only_field(project: Row) -> str | None:
    """The project's field, where it has only one and its agreement is the score."""
    if chosen_score(project["summary"]) != TEXTS:
        return None
    names = list((project["summary"] or {}).get("controls") or ())
    return names[0] if len(names) == 1 else None


def _queue(reviews: ReviewStore, project: Row, rows: Sequence[TaskRow], links: Links) -> Queue:
    names = {rater: name_of(project["raters"], rater) for row in rows for rater in row["raters"]}
    chance = chance_of(project["summary"])
    return Queue(rows, names, reviews.marks(project["id"]), links, required=project["required"], chance=chance)


def _raters(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    ids = dict.fromkeys(rater["id"] for rater in summary["raters"])
    ids |= dict.fromkeys(rater for row in rows for rater, _ in row["excluded"])
    return list(ids)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _excluded(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], links: Links) -> dict[str, Any]:
    every = [(row["number"], rater, reason) for row in rows for rater, reason in row["excluded"]]
    reasons = Counter(reason for _, _, reason in every)
    shown = [
        {"task": task, "rater": rater, "name": names.get(rater, rater), "reason": reason}
        for task, rater, reason in every
    ]
    return {
        "n": len(every),
        "reasons": [
            {
                "reason": reason,
                "n": n,
                "link": links.tasks(
                    list(dict.fromkeys(task for task, _, why in every if why == reason)), f"Left out: {reason}"
                ),
            }
            for reason, n in reasons.most_common()
        ],
        "answers": [{**row, "link": links.task(row["task"])} for row in shown[:EXCLUDED]],
        "all": shown,
    }


def _decisions(store: Store, project: Row) -> dict[str, Any]:
    rows = store.decisions(project["id"])
    return {"n": len(rows), "same": sum(bool(row["same"]) for row in rows)}


def _consensus(store: Store, project: Row, control: str, queue: Queue, links: Links) -> dict[str, Any]:
    """Progress of the consensus, and the agreed answers, newest first."""
    agreed = consensus.entries(store, project, control)
    there = {row["task"] for row in agreed}
    compared = queue.tasks()
    following = next((task for task in compared if task not in there), None)
    newest = sorted(agreed, key=lambda row: -row["id"])
    return {
        **consensus.progress(agreed, compared),
        "next": None if following is None else {"task": following, "link": links.task(following)},
        "answers": [{**row, "link": links.task(row["task"])} for row in newest],
    }
