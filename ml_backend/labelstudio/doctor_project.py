"""Checks of one project's connection, in Label Studio and in the store, and the result of a check."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.backend_address import RESERVED
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import chosen_controls, other_controls
from ml_backend.labelstudio.errors import LabelStudioError, NotFound
from ml_backend.labelstudio.registration import has_secret
from ml_backend.project_settings import effective, refused
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings
from ml_backend.store.store import Row, Store
from softirr.errors import InputError
from softirr.numbers import plural

WAITS_TOO_LONG = 600.0  # seconds after which a first run that has not ended is worth a look


@dataclass(frozen=True)
class Finding:
    """The result of one check; `fix` is empty if nothing needs to be done."""

    ok: bool
    what: str
    fix: str = ""

    def __post_init__(self) -> None:
        if not (self.ok or self.fix):
            raise ValueError(f"A finding without the next step: {self.what}")

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"ok": self.ok, "what": self.what, "fix": self.fix}


def right(what: str) -> Finding:
    """The finding of a check that went well."""
    return Finding(True, what)


def wrong(what: str, fix: str) -> Finding:
    """The finding of a check that shows a problem."""
    return Finding(False, what, fix)


def project_findings(
    settings: Settings, store: Store, client: Client, number: int, url: str | None
) -> Iterator[Finding]:
    """Check the connection of a project in Label Studio and in the store."""
    try:
        remote = client.project(number)
    except NotFound as error:
        yield wrong(str(error), "Check the number in the project's address, and whose token it is.")
        return
    row = store.project(settings.label_studio_url, number)
    yield from _label_config(settings, remote, row)
    connection: Mapping[str, Any] = row["connection"] if row is not None else {}
    command = _again(settings, number, connection, url)
    if row is not None and row["born"] and row["born"] != remote.get("created_at"):
        yield wrong(f"Project {number} in the store is another, older one.", command)
    if not connection:
        yield wrong(f"Project {number} is not connected.", command)
    elif "mode" not in connection:
        yield wrong(
            f"Project {number} was connected in Label Studio's settings only: without the secrets, its calls are "
            "refused.",
            command,
        )
    yield from _connection(client, number, connection, url, command)
    yield from _webhook(client, number, connection, row, command)
    yield from _fields(remote, bool(connection), command)
    yield from _predictions(store, client, number, row)
    if connection and triage.find(client, number) is None:
        yield wrong("The triage tab is missing.", f"{command} makes it again.")
    if connection.get("panel") and not snippet.present(remote.get("label_config") or ""):
        yield wrong("The agreement panel is no longer in the label config.", command)
    if row is not None:
        yield from _last_job(store, row)


def _again(settings: Settings, number: int, stored_connection: Mapping[str, Any], url: str | None) -> str:
    """The command line that connects the project."""
    if stored_connection.get("mode") == "pull-only":
        return f"softirr-ls connect --project {number} --pull-only"
    address = (
        url
        or stored_connection.get("url")
        or stored_connection.get("panel_base")
        or f"http://{settings.host}:{settings.port}"
    )
    return f"softirr-ls connect --project {number} --url {address}"


def _label_config(settings: Settings, remote: Mapping[str, Any], row: Row | None) -> Iterator[Finding]:
    params, command_options = (row["extra_params"], row["chosen"]) if row else (None, None)
    try:
        control_names = effective(settings, connection=params, command_options=command_options).values.controls
        for sentence in refused(settings, params).values():
            step = "Until then the project's own measure is used: take it out of the connection's extra params."
            yield wrong(sentence, step)
        label_config = remote.get("label_config") or ""
        controls = chosen_controls(label_config, control_names)
    except InputError as error:
        yield wrong(str(error), "Add a <TextArea> or <Choices> to the label config, or choose another control.")
        return
    if controls:
        yield right("Free text in " + ", ".join(control.name for control in controls) + ".")
    else:
        other_names = ", ".join(name for name, _ in other_controls(label_config))
        yield right(f"No free text; compared exactly: {other_names}.")


def _connection(
    client: Client, number: int, stored_connection: Mapping[str, Any], url: str | None, command: str
) -> Iterator[Finding]:
    present = client.connections(number)
    if stored_connection.get("mode") == "pull-only":
        yield right("Pull-only: Label Studio does not call this backend; a timer reads what changed.")
    for connection in present:
        is_ours = connection["id"] == stored_connection.get("connection_id")
        address = connection.get("url", "")
        same = connection.get("title") == MODEL_VERSION or (url and address.rstrip("/") == url.rstrip("/"))
        if same and not is_ours and "mode" in stored_connection:
            yield wrong(
                f"A leftover connection to {address} is next to ours; Label Studio keeps one even where it refused the "
                "address.",
                f"Delete it under Settings > Model (id {connection['id']}).",
            )
        if is_ours and connection.get("title") != MODEL_VERSION:
            yield wrong(
                f"The connection's title is “{connection.get('title')}”: with another title than “{MODEL_VERSION}” the "
                "score column stays empty.",
                command,
            )
        if is_ours and not has_secret(connection):
            what = "The connection carries no secret of this backend, so Label Studio's calls over it are refused."
            yield wrong(what, command)
        elif is_ours and connection.get("state") not in ("CO", "TR", "PR"):
            yield wrong(f"Label Studio can't reach this backend at {address}.", _backend_fix(address))
        elif is_ours:
            yield right(f"Label Studio reaches this backend at {address}.")
    if stored_connection.get("mode") == "connected" and stored_connection.get("connection_id") not in {
        c["id"] for c in present
    }:
        yield wrong("The connection is gone from Label Studio.", command)
    if url:
        yield from _probe(client, number, url)


def _backend_fix(address: str) -> str:
    if urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1"):
        return (
            "Is softirr-ls serve running? If Label Studio runs in a container, localhost is that container: connect "
            "with --url http://host.docker.internal:9090, or with the service's name."
        )
    return "Is softirr-ls serve running, and can Label Studio reach that address?"


def _probe(client: Client, number: int, url: str) -> Iterator[Finding]:
    """Check whether Label Studio accepts this address, by making and removing a webhook."""
    try:
        webhook = client.create(
            "/api/webhooks/",
            {"url": f"{url.rstrip('/')}/webhook", "project": number, "is_active": False, "send_payload": False},
        )
    except LabelStudioError as error:
        if error.status == 403:
            yield wrong(
                RESERVED.format(url=url),
                "Set ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false where Label Studio runs, or connect "
                "with --pull-only.",
            )
        else:
            step = f"Can Label Studio call {url}? Connect under the address at which it can, with --url."
            yield wrong(str(error), step)
        return
    client.request("DELETE", f"/api/webhooks/{webhook['id']}/")
    yield right(f"Label Studio accepts the address {url}.")


def _webhook(
    client: Client, number: int, stored_connection: Mapping[str, Any], row: Row | None, command: str
) -> Iterator[Finding]:
    if stored_connection.get("mode") != "connected":
        return
    own_hook = next(
        (hook for hook in client.webhooks(number) if hook["id"] == stored_connection.get("webhook_id")), None
    )
    if own_hook is None:
        yield wrong("The webhook is missing: changes show only at the next regular look.", command)
    elif not own_hook.get("is_active"):
        yield wrong("The webhook is switched off: changes show only at the next regular look.", command)
    elif not own_hook.get("send_payload"):
        yield wrong("The webhook sends no payload, so this backend does not learn which actions it reports.", command)
    elif (own_hook.get("headers") or {}).get(SECRET_HEADER) != (row["webhook_secret"] if row else None):
        yield wrong("The webhook does not carry this backend's secret, so its calls are refused.", command)
    else:
        yield right("The webhook is there and carries the secret.")


def _fields(remote: Mapping[str, Any], connected: bool, command: str) -> Iterator[Finding]:
    version = remote.get("model_version")
    if version != MODEL_VERSION:
        yield wrong(
            f"The project's model version is {version!r}, not “{MODEL_VERSION}”: the score column does not show "
            "agreement.",
            f"{command} sets it.",
        )
    for name, text in {
        "show_collab_predictions": "suggestions from other annotators' answers are shown before an annotator has "
        "answered",
        "evaluate_predictions_automatically": "Label Studio asks for predictions whenever the Data Manager is opened",
    }.items():
        if connected and remote.get(name):
            yield wrong(f"{name} is on: {text}.", f"{command} switches it off.")


def _predictions(store: Store, client: Client, number: int, row: Row | None) -> Iterator[Finding]:
    counts = client.model_versions(number)
    expected = store.totals(row["id"])["predictions"] if row is not None else 0
    if counts.get(MODEL_VERSION, 0) != expected:
        yield wrong(
            f"Label Studio has {plural(counts.get(MODEL_VERSION, 0), 'prediction')} of version “{MODEL_VERSION}”, "
            f"the store expects {expected}.",
            f"softirr-ls sync --project {number}",
        )
    elif expected:
        yield right(f"{plural(expected, 'task has its agreement', 'tasks have their agreement')}.")
    other_counts = {name: n for name, n in counts.items() if name != MODEL_VERSION}
    if other_counts:
        listed = ", ".join(f"{n} of “{name}”" for name, n in other_counts.items())
        yield right(f"There are predictions of other versions too ({listed}); they are left alone.")


def _last_job(store: Store, row: Row) -> Iterator[Finding]:
    run = next(iter(store.jobs(row["id"])), None)
    if run is None:
        return
    if run["state"] == "failed":
        n = max(1, run["failures"])
        times = "The last run failed" if n == 1 else f"The last {n} runs failed"
        step = f"It is tried again by itself; softirr-ls sync does it now: softirr-ls sync --project {row['number']}"
        last = f"the last one that did not was {_ago(row['checked_at'])} ago" if row["checked_at"] else "none succeeded"
        yield wrong(f"{times} ({last}): {run['message']}", step)
    elif run["state"] == "done":
        yield right(f"The last run succeeded, {_ago(run['finished_at'])} ago.")
        for note in (run["result"] or {}).get("notes", ()):
            yield wrong(note["what"], note["fix"])
    elif row["checked_at"] is None and time.time() - (run["requested_at"] or 0.0) > WAITS_TOO_LONG:
        yield wrong(
            f"The first run was requested {_ago(run['requested_at'])} ago and has not ended.",
            "Is softirr-ls serve running? If it is, the report page shows how far the run is.",
        )
    elif row["checked_at"] is None:
        yield right(f"The first run is {run['state']}.")


def _ago(moment: float | None) -> str:
    """Time since `at`, in the largest suitable unit."""
    seconds = max(0.0, time.time() - (moment or 0.0))
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            n = int(seconds // size)
            return plural(n, unit)
    return plural(int(seconds), "second")
