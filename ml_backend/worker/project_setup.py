"""A project as Label Studio has it when a run begins, and the settings by which it is read and scored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import softirr
from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import (
    Control,
    check_kinds,
    check_score,
    chosen_controls,
    control_names,
    other_controls,
    text_controls,
    with_score,
)
from ml_backend.labelstudio.history import History, has_now, with_controls
from ml_backend.project_settings import EffectiveSettings, ProjectSettings, effective
from ml_backend.settings import Settings
from ml_backend.store.store import Row, Store


@dataclass(frozen=True)
class ProjectSetup:
    """What does not change during a run, unless the run begins again.

    Attributes
    ----------
    row : mapping
        The project's row in the store, as it was before.
    remote : mapping
        The project as Label Studio's API returns it.
    history : mapping
        When the label config had each TextArea.
    controls : tuple of Control
        The TextAreas that count.
    """

    row: Row
    remote: Mapping[str, Any]
    history: History
    controls: tuple[Control, ...]
    effective: EffectiveSettings

    @property
    def label_config(self) -> str:
        """The label config, as XML."""
        return self.remote.get("label_config") or ""

    @property
    def required(self) -> int:
        """How many annotations a task needs."""
        return _required(self.remote)

    @property
    def values(self) -> ProjectSettings:
        """The settings without their sources."""
        return self.effective.values

    def fingerprint(self, provenance: Mapping[str, Any]) -> str:
        """Return a hash of what decides how answers are read and scored: if it changes, every task is read again.

        Parameters
        ----------
        provenance : mapping
            Provenance of the measure, the policy and the terminologies.
        """
        names = sorted(control_names(self.label_config))
        controls = [control.to_dict() for control in self.controls]
        # Another release may read and score differently: it reads everything again, also the tasks that were set aside.
        ingredients: list[Any] = [softirr.__version__, self.values.fingerprint(), provenance, controls, names]
        if self.values.predictions == "complete" and self.required > 2:  # else nothing is withheld
            ingredients.append(["predictions of complete tasks", self.required])
        if other_fields := other_controls(self.label_config):
            ingredients.append(["other controls", other_fields])
        return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:32]


def look_at_project(store: Store, client: Client, settings: Settings, number: int) -> ProjectSetup:
    """Ask Label Studio for a project, and note its title, label config and controls in the store.

    Parameters
    ----------
    number : int
        The project's id in Label Studio.

    Raises
    ------
    softirr.errors.SoftirrError
        If the settings do not fit the label config.
    """
    remote = client.project(number)
    label_config = remote.get("label_config") or ""
    row = store.ensure_project(settings.label_studio_url, number, born=remote.get("created_at"))
    controls = text_controls(label_config)
    states = {
        control["name"]: {key: control[key] for key in ("unanswered", "opposites") if key in control}
        for control in row["controls"]
    }
    values = {
        "label_config": label_config,
        "title": remote.get("title") or "",
        "required": _required(remote),
        "controls": [control.to_dict() | states.get(control.name, {}) for control in controls],
    }
    history = _history(client, number, row, {control.name for control in controls})
    if history != row["control_history"]:
        values["control_history"] = history
    if any(row[name] != value for name, value in values.items()):
        store.update_project(row["id"], **values)
    settings_in_effect = effective(settings, connection=row["extra_params"], command_options=row["chosen"])
    counting = chosen_controls(label_config, settings_in_effect.values.controls)
    settings_in_effect = replace(settings_in_effect, values=with_score(settings_in_effect.values, counting))
    check_kinds(label_config, settings_in_effect.values.kinds)
    check_score(label_config, settings_in_effect.values.score)
    return ProjectSetup(row, remote, history, counting, settings_in_effect)


def _required(remote: Mapping[str, Any]) -> int:
    return int(remote.get("maximum_annotations") or 1)


def _history(client: Client, number: int, row: Row, names: set[str]) -> History:
    """The periods in which the label config had each TextArea.

    TextAreas of the first reading count as there from the start.
    """
    times: History = row["control_history"] or {
        control["name"]: [[None, None]] for control in row["controls"] or [{"name": name} for name in names]
    }
    if has_now(times) == names:
        return times
    newest = tasks.newest_change(client, number)
    return with_controls(times, names, tasks.exact(newest)) if newest else {name: [[None, None]] for name in names}
