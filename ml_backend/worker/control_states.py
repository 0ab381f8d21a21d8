"""Properties of TextAreas that all answers of a project determine: no answers, and missing marks that are answers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ml_backend.review.notes import Note
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.worker.project_run import ProjectRun
from softirr.answers.splitting import split_text


class ControlStates:
    """The states of the TextAreas of a project; if one changes, all tasks are scored again.

    Attributes
    ----------
    preparation : AnswerPreparation
        How answers are prepared under the present states.
    lock : threading.Lock
        Held while the states change, and while scores that depend on them are stored.
    """

    def __init__(self, run: ProjectRun):
        self._run = run
        self._names = [control.name for control in run.controls]
        self.preparation = AnswerPreparation.of(run.row(), run.settings)
        self.lock = threading.Lock()

    def note(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note what some tasks change that were just read, before they are stored: an interrupted run loses nothing."""
        now, answers = self.preparation, [row["answers"] for row in rows]
        answered = {name for name in self._names if name in now.unanswered and self._is_answered(name, answers)}
        opposites = dict(now.opposites)
        for name in self._names:
            opposites[name] = self._opposites(name, answers).union(opposites.get(name, ()))
        self._put(now.unanswered - answered, opposites)

    def settle(self, *, changed: bool) -> None:
        """Find controls that nobody answers any more, and opposites that are gone.

        Parameters
        ----------
        changed : bool
            Whether answers changed, or tasks were removed, since the last report.
        """
        now = self.preparation
        unknown = set(self._names) - now.unanswered
        for answers in self._all_answers() if unknown else ():
            unknown -= {name for name in unknown if self._is_answered(name, [answers])}
            if not unknown:
                break
        opposites = {name: texts for name, texts in now.opposites.items() if name not in unknown}
        for name in opposites.keys() & self._names if changed else ():
            opposites[name] = self._opposites(name, self._all_answers())
        self._put(now.unanswered | unknown, opposites)

    def unanswered_notes(self) -> list[Note]:
        """Return notes on the controls that nobody answers, unless nothing has been read."""
        if not self._run.store.totals(self._run.project)["annotations"]:
            return []
        return [
            Note(
                f"Nobody has answered the TextArea “{name}” in the whole project, so it is left out.",
                "If it was renamed, answers stay under the old name: rename it back, or have the tasks answered again. "
                "If it does not matter, choose the others with --control.",
            )
            for name in self._names
            if name in self.preparation.unanswered
        ]

    def _put(self, unanswered: frozenset[str], opposites: Mapping[str, frozenset[str]]) -> None:
        """Store other states of controls; all tasks are scored again under them."""
        opposites = {name: texts for name, texts in opposites.items() if texts}
        preparation = replace(self.preparation, unanswered=unanswered, opposites=opposites)
        if preparation == self.preparation:
            return
        store, project = self._run.store, self._run.project
        controls = preparation.noted(self._run.row()["controls"])
        with self.lock:
            store.forget_scores(project)  # first, so that an interrupted run scores again
            store.update_project(project, controls=controls, summary_stale=True, summary_due=0.0)
            self.preparation = preparation

    def _all_answers(self) -> Iterator[Mapping[str, Any]]:
        return (answers for _, answers in self._run.store.answers(self._run.project))

    def _is_answered(self, name: str, answers: Iterable[Mapping[str, Any]]) -> bool:
        marks = self.preparation.marks(name)
        return any(not marks.has(text) for text in self._texts(name, answers))

    def _opposites(self, name: str, answers: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The texts of a control with opposites among the marks for a missing answer."""
        return self.preparation.chosen_marks.opposites_in(self._texts(name, answers))

    def _texts(self, name: str, answers: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """Yield the texts of a control, split by the policy."""
        mode = self._run.settings.policy.split
        entries = (entries[name] for entries in answers if name in entries)
        texts = (text for entry in entries for texts_of_rater in entry["answers"].values() for text in texts_of_rater)
        return texts if mode is None else (piece for text in texts for piece in split_text(text, mode))
