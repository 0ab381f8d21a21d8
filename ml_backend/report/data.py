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
from ml_backend.report.groups import batches, histogram, over_time
from ml_backend.report.headline import audit_of, coefficients, headline_of, target_line
from ml_backend.report.links import Links
from ml_backend.report.people import pair_rows, rater_rows
from ml_backend.report.questions import MEASURES, basis
from ml_backend.report.queue import Queue
from ml_backend.report.reasons import reasons_of
from ml_backend.report.subgroups import dimensions, period, regions, subgroups
from ml_backend.report.task_cache import TaskRow, TaskRows
from ml_backend.report.trends import person_trends
from ml_backend.report.units import words_for
from ml_backend.review import consensus
from ml_backend.review.agreement_words import chance_of
from ml_backend.review.headline import field_headline, target_of
from ml_backend.review.panel_payload import moment
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.task_score import chosen_score
from ml_backend.settings import MISSING_OPTION, TEXTS, Settings, effective
from ml_backend.store.agreed import AgreedStore
from ml_backend.store.policies import PolicyStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.side_by_side import SideBySideStore
from ml_backend.store.store import Row, Store
from softirr.answers.missing import MarkCounts
from softirr.report.headline import is_exact
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_title

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

    def get(
        self,
        project: Row,
        control: str | None,
        links: Links,
        *,
        by: str | None = None,
        days: tuple[str, str] = ("", ""),
    ) -> dict[str, Any] | None:
        """The report on one control (the first by default); None while the project has not been scored.

        Parameters
        ----------
        by : str, optional
            What the tasks are grouped by; by default the project's condition.
        days : (str, str)
            First and last day of the last answer, as ISO dates; tasks of other days are not counted
            task by task.
        """
        summary = project["summary"]
        if not summary or not summary.get("controls"):
            return None
        name: str = next(iter(summary["controls"])) if control is None else control
        key = (project["id"], name, links.queued(0), by, days, *self._state(project))
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        rows = self._rows.get(project["id"], name)
        whole = rows if _only_field(project) == name else self._rows.get(project["id"], None)
        built = build(self._store, self._reviews, project, name, rows, links, queue_rows=whole, by=by, days=days)
        with self._lock:
            self._cache[key] = built
            while len(self._cache) > self._kept:
                self._cache.popitem(last=False)
        return built

    def queue(
        self, project: Row, links: Links, control: str | None = None, *, days: tuple[str, str] = ("", "")
    ) -> Queue:
        """Every task with an agreement, of one field or over all fields, of all days or some."""
        rows = self._rows.get(project["id"], control if control is not None else _only_field(project))
        return _queue(self._reviews, project, _of_days(rows, days), links)

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
        asked = [wanted_at for wanted_at, _ in SideBySideStore(self._store).stamps(project["id"], MEASURES)]
        return (*self._results(project), len(marks), max((row["at"] for row in marks.values()), default=0), *asked)

    def _results(self, project: Row) -> tuple[Any, ...]:
        with self._store.engine.connect() as connection:
            scored = connection.execute(
                sa.select(sa.func.count(), sa.func.max(tasks.c.scored_at), sa.func.count(tasks.c.facts)).where(
                    tasks.c.project == project["id"]
                )
            ).one()
        audits = [(row["id"], row["result_at"]) for row in self._reviews.audits(project["id"])]
        decided = [(row["id"], row["decided_at"]) for row in self._store.decisions(project["id"])]
        looked = PolicyStore(self._store).stamps(project["id"])
        compared = [result_at for _, result_at in SideBySideStore(self._store).stamps(project["id"], MEASURES)]
        proposed = [row["id"] for row in self._reviews.uncounted(project["id"])]
        return (
            project["summary_at"],
            project["title"],
            *sorted(project["raters"].items()),
            project["required"],
            project["connection"].get("rival_note"),
            target_of(project),
            _condition(project),
            *scored,
            *audits,
            len(decided),
            *decided[-1:],
            *compared,
            *looked,
            *proposed,
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
    by: str | None = None,
    days: tuple[str, str] = ("", ""),
) -> dict[str, Any]:
    """The report on one control of a project; the triage queue is over all controls, like the Data Manager's tab."""
    summary = project["summary"]["controls"][control]
    names = {rater: name_of(project["raters"], rater) for rater in _raters(summary, rows)}
    whole = rows
    first, last = days
    rows = _of_days(whole, days)
    field_queue = _queue(reviews, project, rows, links)
    queue = field_queue
    if queue_rows is not None and queue_rows is not whole:
        queue = _queue(reviews, project, _of_days(queue_rows, days), links)
    whole_queue = field_queue if rows is whole else _queue(reviews, project, whole, links)
    audit = reviews.audited(project["id"], control)
    head = headline_of(project, control, whole)
    known = dimensions(whole)
    condition = _condition(project)
    by = next((one for one in (by, condition, *known) if one in known), None)
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
        "n_tasks": len(whole),
        "n_compared": sum(row["agreement"] is not None for row in whole),
        "days": {
            "first": first,
            "last": last,
            "from": min((row["day"] for row in whole if row["day"]), default=""),
            "to": max((row["day"] for row in whole if row["day"]), default=""),
            "n": len(rows),
            "found": period(rows, head, summary, links) if first or last else None,
        },
        "dimensions": known,
        "condition": condition,
        "subgroups": subgroups(rows, by, head, summary, links) if by is not None else None,
        "regions": regions(rows, links),
        "per_region": next(
            (one.get("per_region", False) for one in project["controls"] if one["name"] == control), False
        ),
        "person_trends": person_trends(rows, names),
        "n_raters": summary["n_raters"],
        "headline": head,
        "target": target_line(project, head, summary),
        "audit": audit_of(reviews, project, control, audit, whole),
        "scored_link": links.scored("All tasks with an agreement"),
        "coefficients": coefficients(summary, links, words_for(project, control)),
        "expected_agreement": summary["expected_agreement"],
        "reviewers": _reviewers(project),
        "raters": rater_rows(summary, rows, names, links),
        "rater_pairs": pair_rows(summary, names, links),
        "names": names,
        "distributions": summary.get("distributions"),
        "over_time": over_time(rows, links),
        "batches": batches(rows, links),
        "histogram": histogram(rows, links),
        "reasons": reasons_of(summary, names, field_queue, links, uncounted=reviews.uncounted(project["id"])),
        "queue": queue.view(0, QUEUE),
        "n_queue_low": queue.n_low,
        "n_queue_open": queue.n_open,
        "n_queue_done": queue.n_done,
        "n_queue_waiting": queue.n_waiting,
        "n_queue_sent_back": queue.n_sent_back,
        "excluded": _excluded(rows, names, links),
        "decisions": _decisions(store, project),
        "consensus": _consensus(store, project, control, whole_queue, links),
        "comparison": _comparison(store, project, control, summary),
        "codes": summary.get("codes"),
        "warnings": [*_missing_marks(summary, names), *summary.get("warnings", ()), *summary.get("cut_reasons", ())],
        "settings": project["summary"].get("settings"),
        "provenance": {
            **summary.get("provenance", {}),
            "computed_at": moment(project["summary_at"]),
            "seconds": project["summary"].get("seconds"),
        },
    }


def _condition(project: Row) -> str | None:
    """What the project's tasks are grouped by first."""
    return effective(Settings(), connection=project["extra_params"], chosen=project["chosen"]).values.condition


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


def _of_days(rows: Sequence[TaskRow], days: tuple[str, str]) -> Sequence[TaskRow]:
    """The tasks whose last answer is of these days; tasks without a date are of none."""
    first, last = days
    return [row for row in rows if row["day"] and first <= row["day"] <= (last or "9999")] if first or last else rows


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


def _comparison(store: Store, project: Row, control: str, summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The newest comparison of measures that is computed, with the measure in use."""
    every = SideBySideStore(store).of(project["id"], MEASURES)
    asked = [row for row in every if row["question"]["control"] == control]
    if not asked:
        return None
    kept = next((row for row in asked if row["result"]), asked[0])
    keys = coefficient_keys(shown=True)
    current = {"measure": summary["measure"], "coefficients": summary["coefficients"], "current": True}
    compared = (kept["result"] or {}).get(MEASURES, ())
    others = [row for row in compared if row["measure"] != summary["measure"]]
    rows = [
        {
            "measure": row["measure"],
            "current": row.get("current", False),
            "error": row.get("error"),
            "values": [(row.get("coefficients") or {}).get(key) or {"value": None, "ci95": None} for key in keys],
        }
        for row in (current, *others)
    ]
    return {
        "names": [coefficient_title(key) for key in keys],
        "keys": list(keys),
        "rows": rows if kept["result"] else [],
        "at": moment(kept["result_at"]),
        "waiting": any(row["wanted_at"] is not None for row in asked),
        "stale": bool(kept["result"]) and kept["based_on"] != basis(store, project, kept["question"]),
    }
