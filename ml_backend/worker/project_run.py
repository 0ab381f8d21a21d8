"""One run over one project: the project as Label Studio has it when the run begins, and what parts of the run share."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import softirr
from ml_backend.labelstudio import config, predictions, tasks
from ml_backend.labelstudio.answers import Reading
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.history import History, has_now, with_controls
from ml_backend.project_settings import OF_A_REPORT, effective
from ml_backend.settings import Settings
from ml_backend.store.store import Row, Store

Found = TypeVar("Found")
Report = Callable[[str, int, int | None], None]


class ProjectRun:
    """One run over one project; it asks Label Studio for the project, and stores its title, label config and controls.

    Parameters
    ----------
    number : int
        The project's id in Label Studio.
    report : callable
        Called as ``report(phase, done, total)``.
    check : callable
        Called often; raises `ml_backend.scoring.measures.Stopped` to break off.

    Attributes
    ----------
    remote : dict
        The project as Label Studio's API returns it.
    before : mapping
        The project's row in the store, as it was before.
    project : int
        Its key in the store.
    required : int
        How many annotations a task needs.
    controls : tuple of Control
        The TextAreas that count.
    settings, effective
        The project's settings, without and with their sources.
    reading : Reading
        How answers are read.

    Raises
    ------
    softirr.errors.SoftirrError
        If the settings do not fit the label config.
    """

    def __init__(
        self, store: Store, client: Client, operator: Settings, number: int, report: Report, check: Callable[[], None]
    ):
        report("reading", 0, None)
        self.store, self.client, self.operator, self.number = store, client, operator, number
        self.report, self.check = report, check
        self.remote = client.project(number)
        self.label_config: str = self.remote.get("label_config") or ""
        self.required = int(self.remote.get("maximum_annotations") or 1)
        self.before = store.ensure_project(operator.label_studio_url, number, born=self.remote.get("created_at"))
        self.project: int = self.before["id"]
        history = self._note_config()
        in_effect = effective(operator, connection=self.before["extra_params"], command_options=self.before["chosen"])
        self.controls = config.chosen_controls(self.label_config, in_effect.values.controls)
        self.settings = config.with_score(in_effect.values, self.controls)
        self.effective = replace(in_effect, values=self.settings)
        config.check_fields(self.label_config, self.settings)
        self.control_names = config.control_names(self.label_config)
        self.other_controls = config.other_controls(self.label_config)
        other_names = [name for name, _ in self.other_controls]
        self.reading = Reading(self.controls, self.settings, self.control_names, history, other_names)

    def row(self) -> Row:
        """Return the project's row as it is now."""
        row = self.store.project_by_id(self.project)
        if row is None:
            raise LabelStudioError(f"Project {self.number} was removed from the store meanwhile.")
        return row

    def fingerprint(self, provenance: Mapping[str, Any]) -> str:
        """Return a hash of what decides how answers are read and scored: if it changes, every task is read again.

        Parameters
        ----------
        provenance : mapping
            Provenance of the measure, the policy and the terminologies.
        """
        names = sorted(self.control_names)
        controls = [control.to_dict() for control in self.controls]
        # Another release may read and score differently: it reads everything again, also the tasks that were set aside.
        ingredients: list[Any] = [softirr.__version__, self.settings.fingerprint(), provenance, controls, names]
        if self.settings.predictions == "complete":
            ingredients.append(["predictions of complete tasks", self.required])
        if self.other_controls:
            ingredients.append(["other controls", self.other_controls])
        return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:32]

    def has_other_report_settings(self) -> bool:
        """Whether the project's report was computed with other settings that change no task."""
        stored = (self.before["summary"] or {}).get("settings") or {}
        now = self.effective.to_dict()
        return any(name in stored and stored[name]["value"] != now[name]["value"] for name in OF_A_REPORT)

    def prediction(self, details: Mapping[str, Any]) -> dict[str, Any]:
        """Return the prediction for a task with these details."""
        return predictions.build(details, self.controls, suggestions=self.settings.suggestions)

    @contextlib.contextmanager
    def beside(self, work: Callable[[threading.Event], Found]) -> Iterator[Future[Found]]:
        """Run work in a second thread during a ``with`` statement, which raises what the work raises.

        Parameters
        ----------
        work : callable
            Gets an event that is set when the block ends.
        """
        is_over = threading.Event()
        with ThreadPoolExecutor(1, thread_name_prefix="beside") as pool:
            working = pool.submit(work, is_over)
            try:
                yield working
            finally:
                is_over.set()
            working.result()

    def _note_config(self) -> History:
        """Store the title, label config and controls; returns when the label config had each TextArea.

        TextAreas of the first reading count as there from the start.
        """
        stored = {control["name"]: control for control in self.before["controls"]}
        controls = config.text_controls(self.label_config)
        names, always = {control.name for control in controls}, [[None, None]]
        history: History = self.before["control_history"] or dict.fromkeys(stored or names, always)
        if has_now(history) != names:
            newest = tasks.newest_change(self.client, self.number)
            changed = with_controls(history, names, tasks.exact(newest)) if newest else None
            history = dict.fromkeys(names, always) if changed is None else changed
        values = {
            "label_config": self.label_config,
            "title": self.remote.get("title") or "",
            "required": self.required,
            "controls": [{**stored.get(control.name, {}), **control.to_dict()} for control in controls],
            "control_history": history,
        }
        if any(self.before[name] != value for name, value in values.items()):
            self.store.update_project(self.project, **values)
        return history
