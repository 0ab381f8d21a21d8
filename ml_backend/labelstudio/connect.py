"""Connecting a project to this backend, with a list of the changes."""

import contextlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.auth.keys import Keys
from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.backend_address import callable_url
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import chosen_controls
from ml_backend.labelstudio.disconnect import Changes, Disconnector
from ml_backend.labelstudio.registration import ConnectionRecord, register_connection, register_webhook
from ml_backend.project_settings import effective
from ml_backend.settings import MODEL_VERSION, Settings, clean_url, origin
from ml_backend.store.lock import alone
from ml_backend.store.store import Row, Store, is_connected
from softirr.errors import SoftirrError

FIELDS = ("model_version", "show_collab_predictions", "evaluate_predictions_automatically")


@dataclass(frozen=True)
class _Connection:
    """The arguments of `connect`, with clean addresses."""

    url: str | None
    panel_base: str | None
    has_panel: bool
    options: Mapping[str, Any]
    rotates_keys: bool


def blinding_notes(required: int, predictions: str, number: int) -> list[str]:
    """What annotators can see before they answer, because Label Studio Community shows it to whoever opens a task.

    Parameters
    ----------
    required : int
        Annotations that each task is to get.
    predictions : str
        The setting of that name (`ml_backend.project_settings.ProjectSettings`).
    number : int
        The project's id in Label Studio.
    """
    notes = [
        "Label Studio Community shows all answers and predictions of a task to whoever opens it from the Data Manager; "
        "only the label stream hides them. Have annotators work in the label stream."
    ]
    if predictions == "always":
        notes.append(
            "A task's prediction (its agreement and suggestion) is written from the second answer on, so later "
            "annotators can see it there. To withhold it until the task is complete: softirr-ls settings --project "
            f"{number} --predictions complete."
        )
    elif required > 1:
        notes.append(
            f"A task's prediction (its agreement and suggestion) is written once the task has its {required} "
            "annotations, or a reviewer marks it as done."
        )
    else:
        notes.append(
            "This project asks for 1 annotation per task, so a prediction (agreement and suggestion) is written from "
            "the second answer on. If more than two people answer each task, set their number as “Annotations per "
            "task” in Label Studio, and it is withheld until all have answered."
        )
    return notes


class Connector(Disconnector):
    """Connects and disconnects projects.

    Parameters
    ----------
    browser_url : str, optional
        Address of Label Studio as browsers reach it: for the links that are printed, and the panel answers pages of it.
        By default, the address that the backend uses.
    """

    def __init__(self, store: Store, client: Client, settings: Settings, *, browser_url: str | None = None):
        super().__init__(store, client, settings)
        self.browser_url = (browser_url or settings.label_studio_url).rstrip("/")

    def connect(
        self,
        number: int,
        url: str | None,
        *,
        panel_url: str | None = None,
        panel: bool = True,
        options: Mapping[str, Any] | None = None,
        rotate_keys: bool = False,
    ) -> Changes:
        """Connect project `number`; idempotent.

        Parameters
        ----------
        url : str or None
            Address of this backend as Label Studio reaches it; None for pull-only mode: nothing calls the backend, a
            timer pulls.
        panel_url : str, optional
            Address of this backend as browsers reach it; `url` by default.
        panel : bool
            Put the panel into the label config.
        options : mapping, optional
            Settings of the project (as ``softirr-ls`` options).
        rotate_keys : bool
            Invalidate all earlier addresses of panel and report.
        """
        url = callable_url(url) if url else None
        panel_base = clean_url(panel_url, "--panel-url") if panel_url else url
        remote = self.client.project(number)
        chosen_controls(remote.get("label_config") or "", None)
        row = self.store.ensure_project(self.settings.label_studio_url, number, born=remote.get("created_at"))
        is_new = not is_connected(row["connection"])
        try:
            # A run would set the model version, and Label Studio would then save the config without the panel again.
            with alone(self.store, row["id"]):
                return self._connect(row, remote, _Connection(url, panel_base, panel, options or {}, rotate_keys))
        except SoftirrError:
            if is_new:  # connections from before this call stay for `disconnect`
                self._take_back(number, row["id"])
            raise

    def _take_back(self, number: int, project: int) -> None:
        """Undo a first `connect` that failed, with no run at the same time: its end would set the fields again."""
        for waiting in (alone(self.store, project), contextlib.nullcontext()):
            with contextlib.suppress(SoftirrError), waiting:
                self.undo(number, self._row(project), predictions=False)
                return

    def _connect(self, row: Row, remote: Mapping[str, Any], requested: _Connection) -> Changes:
        """The steps of `connect`; each is recorded when it is done."""
        record = self._begin(row, remote, requested)
        number, url, changes = record.number, requested.url, record.changes
        if url:
            if not record.row["webhook_secret"]:
                self.store.update_project(row["id"], webhook_secret=secrets.token_urlsafe(24))
                record.reload()
            password = Keys(self.store.secret()).password(number, generation=record.row["key_round"])
            register_connection(self.client, record, url, password)
            register_webhook(self.client, record, url)
        for name in ("since", "rival", "rival_note"):  # of release 0.2.0
            record.values.pop(name, None)
        record.save(mode="connected" if url else "pull-only")
        self._fields(record, is_registered=url is not None)
        view, view_is_new = triage.ensure(self.client, number)
        if view_is_new:
            record.save(view=view)
            changes.done.append(f"Made the Data Manager tab “{triage.TITLE}”.")
        if requested.has_panel and requested.panel_base:
            self._panel(record, requested.panel_base)
        changes.links = self.links(record.row, view, requested.panel_base)
        now = effective(
            self.settings, connection=record.row["extra_params"], command_options=record.row["chosen"]
        ).values
        changes.notes = blinding_notes(int(remote.get("maximum_annotations") or 1), now.predictions, number)
        return changes

    def _begin(self, row: Row, remote: Mapping[str, Any], requested: _Connection) -> ConnectionRecord:
        """Store settings, keys and addresses, before Label Studio is changed.

        The backend accepts calls for connected projects only, under the stored addresses.
        """
        changes = Changes(row["number"])
        connection: dict[str, Any] = dict(row["connection"])
        connection.pop("registered_in_label_studio", None)
        connection.setdefault("before", {name: remote.get(name) for name in FIELDS})
        options = requested.options
        if options and {**row["chosen"], **options} != row["chosen"]:
            self.store.choose(row["id"], options)
            changes.done.append("Noted the settings " + ", ".join(sorted(options)) + ".")
        if requested.rotates_keys:
            self.store.change_project(
                row["id"], lambda now: {"key_round": now["key_round"] + 1, "webhook_secret": None}
            )
            changes.done.append("Made new keys for panel and report, and new secrets for connection and webhook.")
        opened_at = [origin(self.browser_url)]
        if self.browser_url != self.settings.label_studio_url and opened_at != row["origins"]:
            self.store.update_project(row["id"], origins=opened_at)
        connection.setdefault("mode", "connecting")
        record = ConnectionRecord(self.store, self._row(row["id"]), connection, changes)
        record.save(url=requested.url, panel_base=requested.panel_base, leads=self._leads(remote))
        return record

    def links(self, row: Row, view: int | None, panel_base: str | None) -> dict[str, str]:
        """Addresses for people."""
        base = f"{self.browser_url}/projects/{row['number']}/data"
        addresses = {"project": base}
        if view is not None:
            addresses["triage"] = f"{base}?tab={view}"
        if panel_base:
            keys = Keys(self.store.secret())
            key = keys.key(row["number"], "report", generation=row["key_round"])
            addresses["report"] = f"{panel_base}/report/{row['number']}?k={key}"
        return addresses

    def _leads(self, remote: Mapping[str, Any]) -> list[str]:
        """The project's leads: its creator and the token's user.

        Stored here, because others can edit the project in Label Studio.
        """
        users = [(remote.get("created_by") or {}).get("id"), self.client.whoami().get("id")]
        return sorted({str(user) for user in users if user is not None})

    def _row(self, project: int) -> Row:
        row = self.store.project_by_id(project)
        assert row is not None
        return row

    def _fields(self, record: ConnectionRecord, *, is_registered: bool) -> None:
        """Change all fields in one request, because setting show_collab_predictions alone resets model_version."""
        number = record.number
        remote = self.client.project(number)
        desired: dict[str, Any] = {"show_collab_predictions": False, "evaluate_predictions_automatically": False}
        has_ours = is_registered or self.client.model_versions(number).get(MODEL_VERSION)
        desired["model_version"] = MODEL_VERSION if has_ours else remote.get("model_version") or ""
        if all(remote.get(name) == value for name, value in desired.items()):
            return
        self.client.update_project(number, **desired)
        text = ", ".join(
            f"{name} {old_value!r} → {desired[name]!r}"
            for name, old_value in ((n, remote.get(n)) for n in desired)
            if old_value != desired[name]
        )
        record.changes.done.append(
            f"Set the project's {text}: annotators see no agreement and no suggestions before they answer."
        )

    def _panel(self, record: ConnectionRecord, panel_base: str) -> None:
        number = record.number
        label_config = self.client.project(number).get("label_config") or ""
        key = Keys(self.store.secret()).key(number, "panel", generation=record.row["key_round"])
        address = f"{panel_base}/panel?k={key}"
        if snippet.present(label_config, address):
            return
        changed = snippet.insert(label_config, address)
        self.client.check_label_config(number, changed)
        self.client.update_project(number, label_config=changed)
        record.save(panel=True)
        record.changes.done.append("Put the agreement panel at the end of the label config.")
