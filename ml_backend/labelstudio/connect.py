"""Connecting a project to this backend and disconnecting it, with a list of the changes."""

import contextlib
import ipaddress
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ml_backend.access import CONNECTION_USER, Keys
from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import text_controls
from ml_backend.labelstudio.errors import LabelStudioError, NotFound
from ml_backend.labelstudio.register import Register, backend_name, stronger
from ml_backend.labelstudio.webhook_actions import WEBHOOK_ACTIONS
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings, clean_url, origin
from ml_backend.store.store import LEASE_EVERY, Row, Store, is_connected, process_name
from softirr.errors import InputError, SoftirrError

FIELDS = ("model_version", "show_collab_predictions", "evaluate_predictions_automatically")
WAIT_FOR_JOB = 15.0  # seconds that disconnect leaves to a running job
RESERVED = (
    "Label Studio refuses the address {url} because it is private or local: start Label Studio with "
    "ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false, or connect with --pull-only."
)

DOTLESS = (
    "Label Studio takes no webhook for a host name without a dot, so it can't call this backend at {url}. Give the host a "
    "name with a dot: in Docker Compose a network alias such as {host}.internal, and connect with --url {better}."
)
# What Label Studio's check of webhooks (Django's URLValidator) takes: letters, digits and hyphens between dots, no digits after the last.
_HOST = re.compile(r"((?!-)([^\W_]|-)+(?<!-)\.)+(xn--[a-z0-9-]+|(?!-)([^\W\d_]|-){2,}(?<!-))\.?")


@dataclass
class Changes:
    """The changes, one sentence each, and the addresses to open."""

    project: int
    done: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"project": self.project, "changed": self.done, "links": self.links}


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
        f"Label Studio takes no webhook for the host name {host}, so it can't call this backend there: a host name may have "
        "letters, digits, hyphens and dots, and no digits after the last dot."
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


class Connector:
    """Connects and disconnects projects.

    Parameters
    ----------
    browser_url : str, optional
        Address of Label Studio as browsers reach it: for the links that are printed, and the panel answers pages of it. The one
        we use by default.
    """

    def __init__(self, store: Store, client: Client, settings: Settings, *, browser_url: str | None = None):
        self.store, self.client, self.settings = store, client, settings
        self.browser_url = (browser_url or settings.label_studio_url).rstrip("/")

    # --- connect ------------------------------------------------------------------------------------------------------

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
            Address of this backend as Label Studio reaches it; None for pull-only mode: nothing calls the backend, a timer
            pulls.
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
        if not text_controls(remote.get("label_config") or ""):
            raise InputError(
                f"The label config of project {number} has no TextArea, so there is no free text to compare."
            )
        row = self.store.ensure_project(self.settings.label_studio_url, number, born=remote.get("created_at"))
        is_new = not is_connected(row["connection"])
        try:
            return self._connect(row, remote, url, panel_base, panel=panel, options=options, rotate_keys=rotate_keys)
        except SoftirrError:
            if is_new:  # what was there before this call stays for `disconnect`
                with contextlib.suppress(LabelStudioError):
                    self._disconnect(number, self._row(row["id"]), predictions=False)
            raise

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
        made: dict[str, Any] = dict(row["connection"])
        made.pop("registered_in_label_studio", None)
        made.setdefault("before", {name: remote.get(name) for name in FIELDS})
        if options:
            chosen = {**row["chosen"], **options}
            if chosen != row["chosen"]:
                self.store.update_project(row["id"], chosen=chosen)
                changes.done.append("Noted the settings " + ", ".join(sorted(options)) + ".")
        if rotate_keys:
            self.store.update_project(row["id"], key_round=row["key_round"] + 1, webhook_secret=None)
            changes.done.append("Made new keys for panel and report, and new secrets for connection and webhook.")
        opened_at = [origin(self.browser_url)]
        if self.browser_url != self.settings.label_studio_url and opened_at != row["origins"]:
            self.store.update_project(row["id"], origins=opened_at)
        row = self._row(row["id"])

        def save() -> None:
            # Saved after each step, so that disconnect can undo an interrupted connect.
            self.store.update_project(row["id"], connection=made)

        # Saved before Label Studio's first call: the backend accepts calls for connected projects only, under these addresses.
        made.setdefault("mode", "connecting")
        made |= {"url": url, "panel_base": panel_base, "leads": self._leads(remote)}
        save()
        if url:
            if not row["webhook_secret"]:
                self.store.update_project(row["id"], webhook_secret=secrets.token_urlsafe(24))
                row = self._row(row["id"])
            self._register(number, url, row, made, changes, save)
            self._webhook(number, url, row, made, changes, save)
        made["mode"] = "connected" if url else "pull-only"
        made["since"] = time.time()  # where a project has two backends, the one connected last writes
        for name in ("rival", "rival_note"):
            made.pop(name, None)
        save()
        self._fields(number, url is not None, made, changes)
        view, view_is_new = triage.ensure(self.client, number)
        if view_is_new:
            made["view"] = view
            save()
            changes.done.append(f"Made the Data Manager tab “{triage.TITLE}”.")
        if panel and panel_base:
            self._panel(number, panel_base, row, made, changes, save)
        changes.links = self.links(row, view, panel_base)
        return changes

    def links(self, row: Row, view: int | None, panel_base: str | None) -> dict[str, str]:
        """Addresses for people."""
        base = f"{self.browser_url}/projects/{row['number']}/data"
        found = {"project": base}
        if view is not None:
            found["triage"] = f"{base}?tab={view}"
        if panel_base:
            keys = Keys(self.store.secret())
            key = keys.key(row["number"], "report", generation=row["key_round"])
            found["report"] = f"{panel_base}/report/{row['number']}?k={key}"
        return found

    def _leads(self, remote: Mapping[str, Any]) -> list[str]:
        """The project's leads: its creator and the token's user. Stored here, because others can edit the project in Label Studio."""
        users = [(remote.get("created_by") or {}).get("id"), self.client.whoami().get("id")]
        return sorted({str(user) for user in users if user is not None})

    def panel_address(self, row: Row, panel_base: str) -> str:
        """The panel's address with its key."""
        key = Keys(self.store.secret()).key(row["number"], "panel", generation=row["key_round"])
        return f"{panel_base}/panel?k={key}"

    def _row(self, project: int) -> Row:
        row = self.store.project_by_id(project)
        assert row is not None
        return row

    def _register(self, number: int, url: str, row: Row, made: dict[str, Any], changes: Changes, save: Any) -> None:
        body: dict[str, Any] = {
            "url": url,
            "project": number,
            "title": MODEL_VERSION,
            "auth_method": "BASIC_AUTH",
            "basic_auth_user": CONNECTION_USER,
            "basic_auth_pass": Keys(self.store.secret()).password(number, generation=row["key_round"]),
        }
        present = self.client.connections(number)
        ours = [c for c in present if c.get("url", "").rstrip("/") == url or c["id"] == made.get("connection_id")]
        for extra in ours[1:]:
            self.client.request("DELETE", f"/api/ml/{extra['id']}")
            changes.done.append(f"Removed a second connection to {extra['url']}.")
        if ours:
            found = ours[0]
            made["connection_id"] = found["id"]
            same = found.get("title") == MODEL_VERSION and found.get("url", "").rstrip("/") == url
            secured = has_secret(found) and made.get("secret_round") == row["key_round"]
            if not same or not secured or found.get("state") != "CO":
                reply = self.client.request("PATCH", f"/api/ml/{found['id']}", body=body)
                self._check_state(reply, url)
                made["secret_round"] = row["key_round"]
                changes.done.append(f"Updated the connection “{MODEL_VERSION}” to {url}, with a secret.")
            save()
        else:
            try:
                reply = self.client.create("/api/ml/", body)
            except LabelStudioError as error:
                # After a 403 the connection can exist (only its webhook was refused): remove it.
                with contextlib.suppress(LabelStudioError):
                    for left in self.client.connections(number):
                        if left.get("url", "").rstrip("/") == url and left not in present:
                            self.client.request("DELETE", f"/api/ml/{left['id']}")
                raise self._explained(error, url) from None
            made |= {"connection_id": reply["id"], "secret_round": row["key_round"]}
            save()
            self._check_state(reply, url)
            changes.done.append(f"Registered this backend as “{MODEL_VERSION}” at {url}, with a secret.")
        others = [c["title"] for c in self.client.connections(number) if c["id"] != made["connection_id"]]
        if others:
            changes.done.append(
                "Note: the project has other ML backends; Label Studio asks only the first one for predictions, which does "
                "not matter here, since agreement is written by us."
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
                f"Label Studio can't use a backend at {url}: is softirr-ls serve running there, and is that address right as "
                f"seen from Label Studio (inside a container, localhost is the container itself)? It has to use the same SOFTIRR_DATA or SOFTIRR_DATABASE_URL "
                f"as this command. {error}",
                400,
            )
        return error

    def _webhook(self, number: int, url: str, row: Row, made: dict[str, Any], changes: Changes, save: Any) -> None:
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
        ours = [h for h in self.client.webhooks(number) if h.get("url") == target or h["id"] == made.get("webhook_id")]
        for extra in ours[1:]:
            self.client.request("DELETE", f"/api/webhooks/{extra['id']}/")
        if not ours:
            try:
                reply = self.client.create("/api/webhooks/", {**body, "project": number})
            except LabelStudioError as error:
                raise self._explained(error, url) from None
            made["webhook_id"] = reply["id"]
            changes.done.append("Made a webhook with a secret header.")
        else:
            found = ours[0]
            made["webhook_id"] = found["id"]
            wanted = {name: found.get(name) for name in body}
            wanted["actions"] = sorted(wanted["actions"] or [])
            if wanted != {**body, "actions": sorted(WEBHOOK_ACTIONS)}:
                self.client.request("PATCH", f"/api/webhooks/{found['id']}/", body=body)
                changes.done.append("Gave the webhook a secret header and the actions that matter.")
        save()

    def _fields(self, number: int, registered: bool, made: dict[str, Any], changes: Changes) -> None:
        """Change all fields in one request, because setting show_collab_predictions alone resets model_version."""
        remote = self.client.project(number)
        wanted: dict[str, Any] = {"show_collab_predictions": False, "evaluate_predictions_automatically": False}
        has_ours = registered or self.client.model_versions(number).get(MODEL_VERSION)
        wanted["model_version"] = MODEL_VERSION if has_ours else remote.get("model_version") or ""
        if all(remote.get(name) == value for name, value in wanted.items()):
            return
        self.client.update_project(number, **wanted)
        made["fields"] = wanted
        text = ", ".join(
            f"{name} {before!r} → {wanted[name]!r}"
            for name, before in ((n, remote.get(n)) for n in wanted)
            if before != wanted[name]
        )
        changes.done.append(
            f"Set the project's {text}: annotators see no agreement and no suggestions before they answer."
        )

    def _panel(self, number: int, panel_base: str, row: Row, made: dict[str, Any], changes: Changes, save: Any) -> None:
        label_config = self.client.project(number).get("label_config") or ""
        address = self.panel_address(row, panel_base)
        if snippet.present(label_config, address):
            return
        changed = snippet.insert(label_config, address)
        self.client.check_label_config(number, changed)
        self.client.update_project(number, label_config=changed)
        made["panel"] = True
        save()
        changes.done.append("Put the agreement panel at the end of the label config.")

    # --- disconnect ---------------------------------------------------------------------------------------------------

    def disconnect(self, number: int, *, predictions: bool = True) -> Changes:
        """Undo what `connect` did; idempotent.

        Parameters
        ----------
        predictions : bool
            Remove our predictions too.
        """
        row = self.store.project(self.settings.label_studio_url, number)
        if row is None:
            return self._disconnect(number, None, predictions=predictions)
        with self._alone(row["id"]):
            # Done first, so that a job that starts from now on has nothing to do.
            self.store.update_project(row["id"], wanted_at=None, wanted_full=False)
            self.store.close_stale_jobs(row["id"], but=0)
            changes = self._disconnect(number, row, predictions=predictions)
            self.store.update_project(row["id"], wanted_at=None, wanted_full=False)
            self.store.close_stale_jobs(row["id"], but=0)
            return changes

    @contextlib.contextmanager
    def _alone(self, project: int) -> Iterator[None]:
        """Wait for the running job, then stop it, so that none writes predictions while they are removed."""
        owner = f"{process_name()}:disconnect"
        end = time.monotonic() + WAIT_FOR_JOB
        while not self.store.take_lease(project, owner):
            if time.monotonic() > end:
                self.store.take_lease(project, owner, force=True)
                time.sleep(LEASE_EVERY + 2.0)  # long enough for its owner to notice
            else:
                time.sleep(0.2)
        try:
            yield
        finally:
            self.store.drop_lease(project, owner)

    def _disconnect(self, number: int, row: Row | None, *, predictions: bool) -> Changes:
        changes = Changes(number)
        try:
            remote = self.client.project(number)
        except NotFound:
            if row is None or not row["connection"]:
                raise
            self._forget_connection(row)
            changes.done.append(
                f"Project {number} is gone from Label Studio: forgot its connection. "
                f"Its texts are still in the store; softirr-ls forget --project {number} erases them."
            )
            return changes
        made = dict(row["connection"]) if row is not None else {}
        others = self._other_backends(number, made)
        label_config = remote.get("label_config") or ""
        if snippet.present(label_config) and (not others or self._is_our_panel(label_config, row, made)):
            self.client.update_project(number, label_config=snippet.remove(label_config))
            changes.done.append("Took the agreement panel out of the label config.")
        urls = set()
        for connection in self.client.connections(number):
            is_ours = connection["id"] == made.get("connection_id")
            if is_ours or (connection.get("title") == MODEL_VERSION and not others):
                urls.add(connection.get("url", "").rstrip("/"))
                self.client.request("DELETE", f"/api/ml/{connection['id']}")
                changes.done.append(f"Removed the connection to {connection.get('url')}.")
        for webhook in self.client.webhooks(number):  # removing the connection does not remove its webhook
            has_secret = SECRET_HEADER in (webhook.get("headers") or {}) and not others
            if (
                webhook["id"] == made.get("webhook_id")
                or has_secret
                or webhook.get("url", "").removesuffix("/webhook") in urls
            ):
                self.client.request("DELETE", f"/api/webhooks/{webhook['id']}/")
                changes.done.append("Removed the webhook.")
        if others:
            self._leave_to(others, number, made, changes, predictions=predictions)
            self._forget_connection(row)
            return changes
        view = triage.find(self.client, number)
        if view is not None:
            with contextlib.suppress(NotFound):
                triage.delete(self.client, view)
            changes.done.append(f"Removed the Data Manager tab “{triage.TITLE}”.")
        if row is not None and row["chosen"].get("triage_columns"):
            changes.done.append(
                f"Left the fields {', '.join(triage.COLUMNS)} in the tasks’ data: Label Studio has no call that removes a field."
            )
        if predictions and self.client.model_versions(number).get(MODEL_VERSION):
            n = self.client.delete_version(number, MODEL_VERSION)
            changes.done.append(f"Removed {n} predictions of version “{MODEL_VERSION}”.")
        self._restore_fields(number, made, changes)
        if row is not None:
            self._forget_connection(row)
        return changes

    def _other_backends(self, number: int, made: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Other backends that are connected to the project; none where this one is not, so that leftovers can be removed."""
        if not made:
            return {}
        register, own = Register(self.client, number), self._own_name()
        found = {name: mark for name, mark in register.others(own).items() if name not in register.gone(own)}
        noted = made.get("rival")
        return found | ({noted["backend"]: noted} if noted and noted["backend"] not in register.gone(own) else {})

    def _own_name(self) -> str:
        return backend_name(self.store.secret())

    def _is_our_panel(self, label_config: str, row: Row | None, made: Mapping[str, Any]) -> bool:
        base = str(made.get("panel_base") or "")
        return row is not None and bool(base) and snippet.present(label_config, self.panel_address(row, base))

    def _leave_to(
        self,
        others: Mapping[str, Mapping[str, Any]],
        number: int,
        made: Mapping[str, Any],
        changes: Changes,
        *,
        predictions: bool,
    ) -> None:
        """Leave the project to the other backends: the tab and the fields are theirs too, and the predictions of the one that wins."""
        register, own = Register(self.client, number), self._own_name()
        ours = {"backend": own, "scoring": None, **register.marks.get(own, {}), "connected": made.get("since", 0.0)}
        alike = any(mark.get("scoring") == ours["scoring"] for mark in others.values())
        register.change(own, None)
        kept = "tab and fields"
        if alike or stronger(ours, others.values()) is not None:
            kept = "predictions, tab and fields"
        elif predictions and self.client.model_versions(number).get(MODEL_VERSION):
            n = self.client.delete_version(number, MODEL_VERSION)
            changes.done.append(f"Removed {n} predictions of version “{MODEL_VERSION}”.")
        changes.done.append(f"Left {kept} in place: another backend is connected to the project.")

    def _forget_connection(self, row: Row | None) -> None:
        if row is None:
            return
        self.store.update_project(row["id"], connection={}, webhook_secret=None, watermark=None, pulled_at=None)

    def _restore_fields(self, number: int, made: Mapping[str, Any], changes: Changes) -> None:
        remote = self.client.project(number)
        before = made.get("before")
        if before is None:
            if remote.get("model_version") == MODEL_VERSION:
                self.client.update_project(
                    number, model_version="", show_collab_predictions=remote.get("show_collab_predictions")
                )
                changes.done.append("Set the project's model_version back to ''.")
            return
        wanted = {name: value for name, value in before.items() if value is not None}
        possible = {"", *self.client.model_versions(number), *(c.get("title") for c in self.client.connections(number))}
        if before.get("model_version") not in possible or before.get("model_version") == MODEL_VERSION:
            wanted["model_version"] = ""
        if all(remote.get(name) == value for name, value in wanted.items()):
            return
        self.client.update_project(number, **wanted)
        changes.done.append("Set the project's " + ", ".join(sorted(wanted)) + " back to what they were.")
