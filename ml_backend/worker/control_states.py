"""Properties of TextAreas that all answers of a project determine: no answers, and missing marks that are answers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.review.notes import Note
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.worker.project_run import ProjectRun
from softirr.answers.splitting import split_text

States = dict[str, dict[str, Any]]
"""Control -> ``unanswered`` and ``opposites``, as the project's row has them."""


class ControlStates:
    """The states of the TextAreas of a project; if one changes, all tasks are scored again.

    Attributes
    ----------
    settings : ProjectSettings
        The project's settings.
    preparation : AnswerPreparation
        How answers are prepared under the present states.
    lock : threading.Lock
        Held while the states change, and while scores that depend on them are stored.
    """

    def __init__(self, run: ProjectRun, controls: Sequence[Control], settings: ProjectSettings):
        self._run, self.settings = run, settings
        self._names = [control.name for control in controls]
        self.preparation = AnswerPreparation.of(run.row(), settings)
        self.lock = threading.Lock()

    def note(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note what some tasks change that were just read, before they are stored: an interrupted run loses nothing."""
        states = self._states()
        answers = [row["answers"] for row in rows]
        for name in self._names:
            if "unanswered" in states[name] and self._is_answered(name, answers):
                del states[name]["unanswered"]
            self._add_opposites(states[name], name, answers)
        self._put(states)

    def settle(self, *, changed: bool) -> None:
        """Find controls that nobody answers any more, and opposites that are gone.

        Parameters
        ----------
        changed : bool
            Whether answers changed, or tasks were removed.
        """
        states = self._states()
        unknown = {name for name in self._names if "unanswered" not in states[name]}
        for answers in self._all_answers() if unknown else ():
            unknown -= {name for name in unknown if self._is_answered(name, [answers])}
            if not unknown:
                break
        for name in self._names:
            if name in unknown:
                states[name] = {"unanswered": True}
            elif changed and states[name].pop("opposites", None):
                self._add_opposites(states[name], name, self._all_answers())
        self._put(states)

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

    def _states(self) -> States:
        """Return the present states of all controls."""
        preparation = self.preparation
        return {
            name: ({"unanswered": True} if name in preparation.unanswered else {})
            | ({"opposites": sorted(preparation.opposites[name])} if name in preparation.opposites else {})
            for name in self._names
        }

    def _put(self, states: States) -> None:
        """Store other states of controls; all tasks are scored again under them."""
        if states == self._states():
            return
        store, project, row = self._run.store, self._run.project, self._run.row()
        controls = [
            {key: value for key, value in control.items() if key not in ("unanswered", "opposites")}
            | states.get(control["name"], {})
            for control in row["controls"]
        ]
        with self.lock:
            store.forget_scores(project)  # first, so that an interrupted run scores again
            store.update_project(project, controls=controls, summary_stale=True, summary_due=0.0)
            self.preparation = AnswerPreparation.of({**row, "controls": controls}, self.settings)

    def _all_answers(self) -> Iterator[Mapping[str, Any]]:
        return (answers for _, answers in self._run.store.answers(self._run.project))

    def _is_answered(self, name: str, answers: Iterable[Mapping[str, Any]]) -> bool:
        marks = self.preparation.marks(name)
        return any(not marks.has(text) for text in self._texts(name, answers))

    def _add_opposites(self, state: dict[str, Any], name: str, answers: Iterable[Mapping[str, Any]]) -> None:
        """Add the texts with opposites among the marks for a missing answer to a control's state."""
        marks = self.preparation.chosen_marks
        if marks.opposites and (opposites := marks.opposites_in(self._texts(name, answers))):
            state["opposites"] = sorted(opposites.union(state.get("opposites", ())))

    def _texts(self, name: str, answers: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """Yield the texts of a control, split by the policy."""
        mode = self.settings.policy.split
        entries = (entries[name] for entries in answers if name in entries)
        texts = (text for entry in entries for texts_of_rater in entry["answers"].values() for text in texts_of_rater)
        return texts if mode is None else (piece for text in texts for piece in split_text(text, mode))
