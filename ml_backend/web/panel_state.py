"""The content of the agreement panel of a task, as the person who looks may see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ml_backend.auth.keys import Person
from ml_backend.auth.origins import label_studio_home, label_studio_origins
from ml_backend.labelstudio.answers import texts_of
from ml_backend.project_settings import ProjectSettings
from ml_backend.review.field_entries import Regions, field_entries, other_entries, regions_of
from ml_backend.review.headline import misfits_of
from ml_backend.review.rater_names import display_names
from ml_backend.review.release import mark_state, n_given
from ml_backend.review.returned import changed_raters, names_sentence
from ml_backend.scoring.details import languages_sentence
from ml_backend.scoring.other_fields import field_of_task, fits_of
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.services import Services
from ml_backend.store.acts import AgreedStore, given_hash
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web.panel_cards import other_field, sentence_field, text_field
from ml_backend.web.responses import job_view, moment
from ml_backend.web.task_queue import mark_details
from ml_backend.web.task_rows import sentence_of
from softirr.answers.answer import DRAFT
from softirr.numbers import plural
from softirr.report.view import Names, adapted

CAUSES = {"ambiguous": "ambiguous text", "guideline": "guideline gap", "slip": "slip"}
"""Why annotators disagreed, as a reviewer may add to a decision."""
OPEN_A_TASK = "Open a task from the Data Manager to see its agreement."
HIDDEN: dict[str, Any] = {"status": "hidden", "message": ""}
"""What annotators see while they answer: nothing."""
_TASKS = Names(item="task", rater="annotator")


@dataclass(frozen=True)
class PanelState:
    """Builds the panel's content for a request.

    Attributes
    ----------
    project : mapping
        The project's row.
    who : Person
        The person who looks.
    """

    services: Services
    project: Row
    settings: ProjectSettings
    who: Person

    def content(self, number: int | None, *, labeling: bool) -> dict[str, Any]:
        """Return the content for a task.

        Parameters
        ----------
        number : int or None
            Number of the open task.
        labeling : bool
            Whether the task is open in the label stream, so that the person is about to answer it.
        """
        project, store = self.project, self.services.store
        base = {"project": {"id": project["number"], "title": project["title"]}, "task": {"id": number}}
        raw = None if number is None else store.get_tasks(project["id"], [number]).get(number)
        task = None if raw is None else AnswerPreparation.of(project, self.settings).task(raw)
        if labeling:
            return base | HIDDEN
        if not self.who.at_least("reviewer"):
            return base | (HIDDEN if task is None else self._note(task))
        if number is None:
            return base | {"status": "none", "message": OPEN_A_TASK}
        job = next(iter(store.jobs(project["id"], limit=1)), None)
        return base | (self._not_ready(task, job) or self._ready(task))  # type: ignore[arg-type]

    def _note(self, task: Row) -> dict[str, Any]:
        """Return the note with which a task came back, and the annotator's texts; nothing about colleagues."""
        raw = {**task, "answers": task["raw_answers"]}
        answered = any(
            self.who.user in entry["answers"]
            or any(str(rater) == self.who.user and reason != DRAFT for rater, reason in entry["excluded"])
            for entry in field_entries(raw).values()
        )
        mark = ReviewStore(self.services.store).mark(self.project["id"], task["number"])
        if not answered or mark_state(mark, task["answers_hash"]) != "sent back":
            return HIDDEN
        texts = [
            text for entry in texts_of(raw["answers"]).values() for text in entry["answers"].get(self.who.user, ())
        ]
        return {"status": "note", "message": "", "texts": texts, "note": mark["note"] if mark else ""}

    def _not_ready(self, task: Row | None, job: Row | None) -> dict[str, Any] | None:
        """Return why the agreement is unavailable; None if it is available."""
        project = self.project
        working = job is not None and job["state"] in ("queued", "running")
        if task is None:
            if working or project["pulled_at"] is None:
                return {"status": "pending", "message": "This task is not read yet.", "job": job_view(job)}
            return {"status": "none", "message": "Nobody has answered this task yet."}
        scored = task["details"] is not None and (
            task["scored_hash"] is None or task["scored_hash"] == task["answers_hash"]
        )
        if not scored:
            message = "The agreement of this task is being computed."
            return {"status": "pending", "message": message, "job": job_view(job)}
        if task["agreement"] is None:
            nobody = "No answer to this task counts." if _excluded(task) else "Nobody has answered this task yet."
            message = (
                nobody
                if not any(entry["answers"] for entry in task["answers"].values())
                else "Only one annotator has answered: there is nothing to compare."
            )
            names = self._names([rater for rater, _ in _excluded(task)])
            excluded = [{"name": names[rater], "reason": reason} for rater, reason in _excluded(task)]
            return {"status": "none", "message": message, "excluded": excluded}
        return None

    def _ready(self, task: Row) -> dict[str, Any]:
        project, who = self.project, self.who
        raters = dict.fromkeys(rater for entry in field_entries(task).values() for rater in entry["answers"])
        names = self._names([*raters, *(rater for rater, _ in _excluded(task))])
        decisions = self.services.store.decisions(project["id"])
        fields = [*self._text_fields(task, names, decisions), *self._other_fields(task)]
        changed = self._changed_after_return(task)
        notes = [*misfits_of(project), languages_sentence(task["details"]), names_sentence(changed, names)]
        return {
            "status": "ready",
            "message": "Being computed again …" if task["scored_hash"] is None else "",
            "warnings": [*filter(None, notes)],
            "task": {"id": task["number"], "agreement": task["agreement"]},
            "sentence": sentence_of(task, names, decisions, threshold=self.settings.threshold),
            "raters": [{"id": rater, "name": names[rater]} for rater in raters],
            "fields": fields,
            "changed_after_return": changed,
            "excluded": [{"name": names[rater], "reason": reason} for rater, reason in _excluded(task)],
            "not_compared": (task["facts"] or {}).get("not_compared") or {},
            "agreed": self._agreed(task),
            "review": self._review(task),
            "queue": self._queue(),
            "causes": CAUSES,
            "viewer": {
                "can_decide": bool(who.known_by),
                "can_agree": who.known_by == "session",
                "name": who.name,
                "role": who.role,
            },
            # relative, because only the browser knows a proxy's path prefix
            "links": {"report": f"report/{project['number']}"},
        }

    def _names(self, raters: Sequence[str]) -> dict[str, str]:
        return display_names(self.project, raters, self.settings, secret=self.services.store.secret())

    def _text_fields(self, task: Row, names: Mapping[str, str], decisions: Sequence[Row]) -> Iterator[dict[str, Any]]:
        for name, entry in texts_of(task["answers"]).items():
            details = task["details"]["controls"].get(name)
            if details is None:
                continue
            field = sentence_field(entry, details, decisions)
            content = text_field(name, field, details, threshold=self.settings.threshold, names=names)
            regions = regions_of(task, name)
            if regions is not None:
                content["shows"] = regions.shows(label_studio_home(), label_studio_origins(self.project))
                for card in content["cards"]:
                    texts = {rater: text["text"] for text in card["texts"] for rater in text["raters"]}
                    card["regions"] = _regions(texts, regions, details)
            yield content

    def _other_fields(self, task: Row) -> Iterator[dict[str, Any]]:
        fits = fits_of(self.project["summary"])
        for entry in other_entries(task):
            fit = fits.get(entry.control)
            if fit is not None:
                answers = {entry.control: entry.entry}
                values, agreed = field_of_task(task["number"], answers, entry.control, fit, self.settings)
                if values:
                    yield other_field(entry, fit.kind, values, agreed)

    def _agreed(self, task: Row) -> dict[str, Any] | None:
        rows = AgreedStore(self.services.store).current(self.project["id"], tasks=[task["number"]])
        if not rows:
            return None
        entries = field_entries({**task, "answers": task["raw_answers"]})
        changed = any(
            row["given_hash"] and row["given_hash"] != given_hash(entries.get(row["control"]) or {}) for row in rows
        )
        newest = max(rows, key=lambda row: row["at"])
        return {
            "fields": {row["control"]: list(row["texts"]) for row in rows},
            "who": newest["reviewer"],
            "when": moment(newest["at"]),
            "answers_changed": changed,
        }

    def _changed_after_return(self, task: Row) -> list[str]:
        """Return the annotators who answered again after a reviewer sent the task back."""
        number = task["number"]
        returns = ReviewStore(self.services.store).returns(self.project["id"], tasks=[number]).get(number, ())
        return changed_raters({**task, "answers": task["raw_answers"]}, returns)

    def _review(self, task: Row) -> dict[str, Any]:
        mark = ReviewStore(self.services.store).mark(self.project["id"], task["number"])
        state = mark_state(mark, task["answers_hash"])
        is_answered_again = mark is not None and mark["sent_back"] and state is None
        required, n = self.project["required"], n_given(task["n_annotations"], task["answers"])
        waits = f"{plural(n, 'annotator has', 'annotators have')} answered, of {required}." if n < required else ""
        details = mark_details(mark) or {} if state or is_answered_again else {}
        return {"state": state or "open", "answered_again": bool(is_answered_again), "waits": waits, **details}

    def _queue(self) -> dict[str, int]:
        """Return how many tasks with an agreement are done, and how many there are."""
        store, project = self.services.store, self.project["id"]
        marks = {number: row for number, row in ReviewStore(store).marks(project).items() if not row["sent_back"]}
        hashes = store.get_tasks(project, sorted(marks), columns=("answers_hash",))
        done = sum(mark_state(marks[number], row["answers_hash"]) == "done" for number, row in hashes.items())
        return {"done": done, "total": store.count_agreements(project)}


def _regions(texts: Mapping[str, str], regions: Regions, details: Mapping[str, Any]) -> list[list[Any]]:
    """Return the region of each text of a card; the same words may be in several places of a task."""
    matches = details["matches"]
    is_alone = len(texts) == 1 and any(texts[rater] in details["unmatched"].get(rater, ()) for rater in texts)
    same = [match for match in matches if texts.items() <= match["texts"].items()]
    smallest: Mapping[str, Any] = min(same, key=lambda match: len(match["texts"]), default={})
    group = None if is_alone else smallest.get("place")
    taken = {
        rater: {match["place"] for match in matches if match["texts"].get(rater) == text and "place" in match}
        for rater, text in texts.items()
    }
    return [
        [rater, regions.of(rater, text, group, without=() if group is not None else taken[rater])]
        for rater, text in texts.items()
    ]


def _excluded(task: Row) -> list[tuple[str, str]]:
    listed = [
        (str(rater), adapted(reason, _TASKS))
        for entry in task["answers"].values()
        for rater, reason in entry.get("excluded", ())
    ]
    return list(dict.fromkeys(listed))
