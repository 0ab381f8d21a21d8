"""What answers decide about TextAreas: which nobody answers, and which missing marks are answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.answers import answered, unanswered_of
from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.marks import opposites_in, opposites_of
from ml_backend.settings import ProjectSettings
from ml_backend.worker.notes import Note
from ml_backend.worker.project_run import ProjectRun
from softirr.answers.missing import MissingMarks

__all__ = ["ControlStates"]


class ControlStates:
    """The state of each TextArea of a project, as it is when a run begins and as answers change it.

    Parameters
    ----------
    run : ProjectRun
    controls : sequence of Control
        The controls that count.
    settings : ProjectSettings

    Attributes
    ----------
    unanswered : set of str
        Controls that nobody has answered so far.
    opposites : dict of str to frozenset of str
        Texts by which marks for a missing answer are answers, as the tasks of this run are read. New ones are stored, and count
        once all tasks are read again.
    """

    def __init__(self, run: ProjectRun, *, controls: Sequence[Control], settings: ProjectSettings):
        self._run, self._controls = run, controls
        self._store, self._project, row = run.store, run.project, run.row()
        self._marks = MissingMarks.of(settings.missing)
        self.unanswered = unanswered_of(row)
        self.opposites = opposites_of(row)

    # --- while tasks are read; stored before their rows, so that an interrupted run does not lose it ------------------

    def note(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note what some tasks change that were read just now.

        Parameters
        ----------
        rows : sequence of mapping
            As ``answers.pulled_row`` returns them.
        """
        if self.unanswered:
            appeared = self.unanswered & set().union(*(answered(row["answers"]) for row in rows))
            if appeared:
                self._set_unanswered(self.unanswered - appeared)
        known = opposites_of(self._run.row()) if self._marks.opposites else {}
        there = dict(known)
        for control in self._controls:
            entries = (row["answers"][control.name] for row in rows if control.name in row["answers"])
            if opposites := opposites_in(entries, self._marks):
                there[control.name] = known.get(control.name, frozenset()) | opposites
        if there != known:
            self._store_opposites(there)

    # --- once they are read -------------------------------------------------------------------------------------------

    def find_unanswered(self) -> None:
        """Find controls that nobody answers in the whole project, whose empty answers are not informative."""
        wanted = {control.name for control in self._controls} - self.unanswered
        for _, answers in self._store.answers(self._project) if wanted else ():
            wanted -= answered(answers)
            if not wanted:
                return
        if wanted:
            self._set_unanswered(self.unanswered | wanted)

    def opposites_changed(self) -> bool:
        """Whether other marks for a missing answer are answers now, so that the tasks must be read again."""
        if not (self.opposites or opposites_of(self._run.row())):
            return False
        there = self._opposites_there()
        self._store_opposites(there)
        return there != self.opposites

    def opposites_are_stored(self) -> bool:
        """Whether the tasks were read with the marks that are stored now."""
        return opposites_of(self._run.row()) == self.opposites

    def unanswered_notes(self) -> list[Note]:
        """The controls that nobody answers, unless nothing has been read."""
        if not self._store.totals(self._project)["annotations"]:
            return []
        return [
            Note(
                f"Nobody has answered the TextArea “{control.name}” in the whole project, so it is left out.",
                "If it was renamed, answers stay under the old name: rename it back, or have the tasks answered again. "
                "If it does not matter, choose the others with --control.",
            )
            for control in self._controls
            if control.name in self.unanswered
        ]

    def _opposites_there(self) -> dict[str, frozenset[str]]:
        """The texts of all stored answers that make marks for a missing answer answers."""
        by_control: dict[str, frozenset[str]] = {}
        for _, answers in self._store.answers(self._project) if self._controls else ():
            for name, entry in answers.items():
                by_control[name] = by_control.get(name, frozenset()) | opposites_in([entry], self._marks)
        return {name: texts for name, texts in by_control.items() if texts}

    def _store_opposites(self, opposites: Mapping[str, frozenset[str]]) -> None:
        states = {name: sorted(texts) for name, texts in opposites.items()}
        self._store.update_project(self._project, controls=self._with("opposites", states))

    def _set_unanswered(self, names: set[str]) -> None:
        self.unanswered = names
        self._store.forget_scores(self._project)
        controls = self._with("unanswered", dict.fromkeys(names, True))
        self._store.update_project(self._project, controls=controls, summary_stale=True, summary_due=0.0)

    def _with(self, state: str, of: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The controls of the project's row, with this state where a control has it and without it elsewhere."""
        return [
            {key: value for key, value in control.items() if key != state}
            | ({state: of[control["name"]]} if control["name"] in of else {})
            for control in self._run.row()["controls"]
        ]
