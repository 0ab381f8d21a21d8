"""Connecting a project to this backend, with a list of the changes."""

import contextlib
import ipaddress
import re
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import chosen_controls
from ml_backend.labelstudio.disconnect import Changes, Disconnector
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.webhook_actions import WEBHOOK_ACTIONS
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings, clean_url, effective, origin
from ml_backend.store.lock import alone
from ml_backend.store.store import Row, Store, is_connected
from softirr.errors import InputError, SoftirrError

FIELDS = ("model_version", "show_collab_predictions", "evaluate_predictions_automatically")
RESERVED = (
    "Label Studio refuses the address {url} because it is private or local: start Label Studio with "
    "ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false, or connect with --pull-only."
)

DOTLESS = (
    "Label Studio takes no webhook for a host name without a dot, so it can't call this backend at {url}. Give the "
    "host a name with a dot: in Docker Compose a network alias such as {host}.internal, and connect with --url "
    "{better}."
)
# What Label Studio's check of webhooks (Django's URLValidator) takes: letters, digits and hyphens between dots, no
# digits after the last.
_HOST = re.compile(r"((?!-)([^\W_]|-)+(?<!-)\.)+(xn--[a-z0-9-]+|(?!-)([^\W\d_]|-){2,}(?<!-))\.?")


def blinding_notes(required: int, predictions: str, number: int) -> list[str]:
    """What annotators can see before they answer, because Label Studio Community shows it to whoever opens a task.

    Parameters
    ----------
    required : int
        Annotations that each task is to get.
    predictions : str
        The setting of that name (`ml_backend.settings.ProjectSettings`).
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


def callable_url(url: str) -> str:
    """The address of the backend in a form that Label Studio accepts for a connection and its webhook.

    Raises
    ------
    InputError
        If Label Studio refuses the host name for webhooks. It reports this only after it has registered the connection.
    """
    url = clean_url(url, "--url")
    host = urlsplit(url).hostname or ""
    if host == "localhost" or _is_address(host):
        return url
    if _HOST.fullmatch(host):
        return url
    if "." not in host.rstrip("."):
        raise InputError(DOTLESS.format(url=url, host=host, better=url.replace(host, f"{host}.internal", 1)))
    raise InputError(
        f"Label Studio takes no webhook for the host name {host}, so it can't call this backend there: a host name may "
        "have letters, digits, hyphens and dots, and no digits after the last dot."
    )


def has_secret(connection: Mapping[str, Any]) -> bool:
    """Whether Label Studio's connection carries a secret that `connect` made."""
    return connection.get("auth_method") == "BASIC_AUTH" and connection.get("basic_auth_user") == CONNECTION_USER


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Connector(Disconnector):
    """Connects and disconnects projects.

    Parameters
    ----------
    browser_url : str, optional
        Address of Label Studio as browsers reach it: for the links that are printed, and the panel answers pages of it.
        The one we use by default.
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
            return self._connect(row, remote, url, panel_base, panel=panel, options=options, rotate_keys=rotate_keys)
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

    def _connect(
        self,
        row: Row,
        remote: Mapping[str, Any],
        url: str | None,
        panel_base: str | None,
        *,
        panel: bool,
        options: Mapping[str, Any] | None,
        rotate_keys: bool,
    ) -> Changes:
        """The steps of `connect`; each is recorded when it is done."""
        number = row["number"]
        changes = Changes(number)
        connection: dict[str, Any] = dict(row["connection"])
        connection.pop("registered_in_label_studio", None)
        connection.setdefault("before", {name: remote.get(name) for name in FIELDS})
        if options and {**row["chosen"], **options} != row["chosen"]:
            self.store.choose(row["id"], options)
            changes.done.append("Noted the settings " + ", ".join(sorted(options)) + ".")
        if rotate_keys:
            self.store.change_project(
                row["id"], lambda now: {"key_round": now["key_round"] + 1, "webhook_secret": None}
            )
            changes.done.append("Made new keys for panel and report, and new secrets for connection and webhook.")
        opened_at = [origin(self.browser_url)]
        if self.browser_url != self.settings.label_studio_url and opened_at != row["origins"]:
            self.store.update_project(row["id"], origins=opened_at)
        row = self._row(row["id"])

        def save() -> None:
            # Saved after each step, so that disconnect can undo an interrupted connect.
            self.store.update_project(row["id"], connection=connection)

        # Saved before Label Studio's first call: the backend accepts calls for connected projects only, under these
        # addresses.
        connection.setdefault("mode", "connecting")
        connection |= {"url": url, "panel_base": panel_base, "leads": self._leads(remote)}
        save()
        if url:
            if not row["webhook_secret"]:
                self.store.update_project(row["id"], webhook_secret=secrets.token_urlsafe(24))
                row = self._row(row["id"])
            self._register(number, url, row, connection, changes, save)
            self._webhook(number, url, row, connection, changes, save)
        connection["mode"] = "connected" if url else "pull-only"
        for name in ("since", "rival", "rival_note"):  # of release 0.2.0
            connection.pop(name, None)
        save()
        self._fields(number, url is not None, connection, changes)
        view, view_is_new = triage.ensure(self.client, number)
        if view_is_new:
            connection["view"] = view
            save()
            changes.done.append(f"Made the Data Manager tab “{triage.TITLE}”.")
        if panel and panel_base:
            self._panel(number, panel_base, row, connection, changes, save)
        changes.links = self.links(row, view, panel_base)
        now = effective(self.settings, connection=row["extra_params"], command_options=row["chosen"]).values
        changes.notes = blinding_notes(int(remote.get("maximum_annotations") or 1), now.predictions, number)
        return changes

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

    def _register(
        self, number: int, url: str, row: Row, connection: dict[str, Any], changes: Changes, save: Any
    ) -> None:
        body: dict[str, Any] = {
            "url": url,
            "project": number,
            "title": MODEL_VERSION,
            "auth_method": "BASIC_AUTH",
            "basic_auth_user": CONNECTION_USER,
            "basic_auth_pass": Keys(self.store.secret()).password(number, generation=row["key_round"]),
        }
        present = self.client.connections(number)
        matching = [
            c for c in present if c.get("url", "").rstrip("/") == url or c["id"] == connection.get("connection_id")
        ]
        for extra in matching[1:]:
            self.client.request("DELETE", f"/api/ml/{extra['id']}")
            changes.done.append(f"Removed a second connection to {extra['url']}.")
        if matching:
            existing = matching[0]
            connection["connection_id"] = existing["id"]
            same = existing.get("title") == MODEL_VERSION and existing.get("url", "").rstrip("/") == url
            secured = has_secret(existing) and connection.get("secret_round") == row["key_round"]
            if not same or not secured or existing.get("state") != "CO":
                reply = self.client.request("PATCH", f"/api/ml/{existing['id']}", body=body)
                self._check_state(reply, url)
                connection["secret_round"] = row["key_round"]
                changes.done.append(f"Updated the connection “{MODEL_VERSION}” to {url}, with a secret.")
            save()
        else:
            try:
                reply = self.client.create("/api/ml/", body)
            except LabelStudioError as error:
                # After a 403 the connection can exist (only its webhook was refused): remove it.
                with contextlib.suppress(LabelStudioError):
                    for leftover in self.client.connections(number):
                        if leftover.get("url", "").rstrip("/") == url and leftover not in present:
                            self.client.request("DELETE", f"/api/ml/{leftover['id']}")
                raise self._explained(error, url) from None
            connection |= {"connection_id": reply["id"], "secret_round": row["key_round"]}
            save()
            self._check_state(reply, url)
            changes.done.append(f"Registered this backend as “{MODEL_VERSION}” at {url}, with a secret.")
        other_titles = [c["title"] for c in self.client.connections(number) if c["id"] != connection["connection_id"]]
        if other_titles:
            changes.done.append(
                "Note: the project has other ML backends; Label Studio asks only the first one for predictions, which "
                "does not matter here, since agreement is written by us."
            )

    @staticmethod
    def _check_state(reply: Any, url: str) -> None:
        if not isinstance(reply, Mapping) or reply.get("state") not in ("CO", "TR", "PR"):
            raise LabelStudioError(
                f"Label Studio can't reach this backend at {url}: is softirr-ls serve running there?"
            )

    @staticmethod
    def _explained(error: LabelStudioError, url: str) -> LabelStudioError:
        if error.status == 403:
            return LabelStudioError(RESERVED.format(url=url), 403)
        if error.status == 400:
            return LabelStudioError(
                f"Label Studio can't use a backend at {url}: is softirr-ls serve running there, and is that address "
                "right as seen from Label Studio (inside a container, localhost is the container itself)? It has to "
                f"use the same SOFTIRR_DATA or SOFTIRR_DATABASE_URL as this command. {error}",
                400,
            )
        return error

    def _webhook(
        self, number: int, url: str, row: Row, connection: dict[str, Any], changes: Changes, save: Any
    ) -> None:
        target = f"{url}/webhook"
        body = {
            "url": target,
            "send_payload": True,
            "send_for_all_actions": False,
            "actions": WEBHOOK_ACTIONS,
            "headers": {SECRET_HEADER: row["webhook_secret"]},
            "is_active": True,
        }
        # Label Studio made a webhook with the connection, without a secret: add the secret to it.
        matching = [
            h for h in self.client.webhooks(number) if h.get("url") == target or h["id"] == connection.get("webhook_id")
        ]
        for extra in matching[1:]:
            self.client.request("DELETE", f"/api/webhooks/{extra['id']}/")
        if not matching:
            try:
                reply = self.client.create("/api/webhooks/", {**body, "project": number})
            except LabelStudioError as error:
                raise self._explained(error, url) from None
            connection["webhook_id"] = reply["id"]
            changes.done.append("Made a webhook with a secret header.")
        else:
            hook = matching[0]
            connection["webhook_id"] = hook["id"]
            desired = {name: hook.get(name) for name in body}
            desired["actions"] = sorted(desired["actions"] or [])
            if desired != {**body, "actions": sorted(WEBHOOK_ACTIONS)}:
                self.client.request("PATCH", f"/api/webhooks/{hook['id']}/", body=body)
                changes.done.append("Gave the webhook a secret header and the actions that matter.")
        save()

    def _fields(self, number: int, registered: bool, connection: dict[str, Any], changes: Changes) -> None:
        """Change all fields in one request, because setting show_collab_predictions alone resets model_version."""
        remote = self.client.project(number)
        desired: dict[str, Any] = {"show_collab_predictions": False, "evaluate_predictions_automatically": False}
        has_ours = registered or self.client.model_versions(number).get(MODEL_VERSION)
        desired["model_version"] = MODEL_VERSION if has_ours else remote.get("model_version") or ""
        if all(remote.get(name) == value for name, value in desired.items()):
            return
        self.client.update_project(number, **desired)
        connection["fields"] = desired
        text = ", ".join(
            f"{name} {old_value!r} → {desired[name]!r}"
            for name, old_value in ((n, remote.get(n)) for n in desired)
            if old_value != desired[name]
        )
        changes.done.append(
            f"Set the project's {text}: annotators see no agreement and no suggestions before they answer."
        )

    def _panel(
        self, number: int, panel_base: str, row: Row, connection: dict[str, Any], changes: Changes, save: Any
    ) -> None:
        label_config = self.client.project(number).get("label_config") or ""
        address = self.panel_address(row, panel_base)
        if snippet.present(label_config, address):
            return
        changed = snippet.insert(label_config, address)
        self.client.check_label_config(number, changed)
        self.client.update_project(number, label_config=changed)
        connection["panel"] = True
        save()
        changes.done.append("Put the agreement panel at the end of the label config.")
