"""Commands about one project in Label Studio."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from typing import Any

from ml_backend.cli.options import find_users, given_options, open_services, print_result
from ml_backend.settings import Settings
from softirr.errors import InputError
from softirr.numbers import plural


def serve(parsed: argparse.Namespace) -> int:
    """Run the backend."""
    from ml_backend.serve import serve

    return serve(Settings.from_environment(port=parsed.port, host=parsed.host))


def connect(parsed: argparse.Namespace) -> None:
    """Connect a project."""
    from ml_backend.labelstudio.backend_address import check_own_backend
    from ml_backend.labelstudio.connect import Connector

    if bool(parsed.url) == parsed.pull_only:
        raise InputError("Name the address of this backend with --url, or choose --pull-only.")
    services = open_services()
    for address in (parsed.url, parsed.panel_url):
        check_own_backend(address, services.settings, services.store.secret())
    with services.client() as client:
        connector = Connector(services.store, client, services.settings, browser_url=parsed.label_studio_url)
        changes = connector.connect(
            parsed.project,
            parsed.url,
            panel_url=parsed.panel_url,
            panel=not parsed.no_panel,
            options=given_options(parsed),
            rotate_keys=parsed.rotate_keys,
        )
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    services.store.want(row["id"], full=True)
    _print_changes(parsed, changes, "Project {} was connected already; nothing had to be changed.")


def disconnect(parsed: argparse.Namespace) -> None:
    """Undo `connect`."""
    from ml_backend.labelstudio.connect import Connector

    services = open_services()
    with services.client() as client:
        connector = Connector(services.store, client, services.settings)
        changes = connector.disconnect(parsed.project, predictions=not parsed.keep_predictions)
    _print_changes(parsed, changes, "Project {} was not connected; nothing had to be changed.")


def _print_changes(parsed: argparse.Namespace, changes: Any, nothing: str) -> None:
    print_result(
        parsed,
        changes.to_dict(),
        *(changes.done or [nothing.format(changes.project)]),
        *(f"  {name:8} {address}" for name, address in changes.links.items()),
        *(f"Note: {note}" for note in changes.notes),
    )


def sync(parsed: argparse.Namespace) -> None:
    """Bring one project up to date, then exit."""
    from ml_backend.logs import set_up_logging
    from ml_backend.review.headline import headline_lines

    services = open_services()
    store, service_settings = services.store, services.settings
    set_up_logging("WARNING" if service_settings.log_level == "INFO" else service_settings.log_level)
    options = given_options(parsed)
    with services.client() as client:
        remote = client.project(parsed.project)
    project = store.ensure_project(service_settings.label_studio_url, parsed.project, born=remote.get("created_at"))[
        "id"
    ]
    if options:
        store.choose(project, options)
    result = _update(services, project, full=not parsed.changes)
    row = store.project_by_id(project)
    print_result(
        parsed,
        result,
        f"Project {result['project']}: {plural(result['items'], 'item')}; predictions: {result['created']} created, "
        f"{result['updated']} updated, {result['deleted']} deleted, {result['unchanged']} unchanged.",
        *(f"Note: {note['what']} {note['fix']}" for note in result["notes"]),
        *(headline_lines(row) if row else []),
    )


def _update(services: Any, project: int, *, full: bool) -> Any:
    """Update a project in this process, or by the worker of ``softirr-ls serve`` if it runs."""
    from ml_backend.store.lock import WorkerLock
    from ml_backend.worker.runs import Worker, wait_for_run

    lock = WorkerLock(services.store)
    if not lock.acquire():
        return wait_for_run(services.store, project, full=full)
    try:
        return Worker(services).run_now(project, full=full)
    finally:
        lock.release()


def settings(parsed: argparse.Namespace) -> None:
    """Show or change a project's settings."""
    from ml_backend.project_settings import effective

    services = open_services()
    row = _known(services, parsed.project)
    if parsed.link is not None:
        _print_link(parsed, services, row)
        return
    options = given_options(parsed)
    if options or parsed.reset:
        row = services.store.choose(row["id"], options, reset=parsed.reset)
        if services.store.is_connected(row["id"]):
            services.store.want(row["id"])
    settings_shown = effective(
        services.settings, connection=row["extra_params"], command_options=row["chosen"]
    ).to_dict()
    rows = (f"{name:22} {json.dumps(entry['value']):20} {entry['source']}" for name, entry in settings_shown.items())
    print_result(parsed, settings_shown, *rows)


def _known(services: Any, number: int) -> Any:
    row = services.store.project(services.settings.label_studio_url, number)
    if row is None:
        raise InputError(f"Project {number} is not known here: connect or sync it first.")
    return row


def _print_link(parsed: argparse.Namespace, services: Any, row: Any) -> None:
    """Print a link that identifies a person to the panel and the report in their browser."""
    from ml_backend.auth.keys import Person, PersonalLinks
    from ml_backend.store.store import is_connected

    if not is_connected(row["connection"]):
        raise InputError(f"Project {parsed.project} is not connected: run softirr-ls connect first.")
    base = row["connection"].get("panel_base")
    if not base:
        raise InputError(
            "The address of this backend for browsers is unknown: run softirr-ls connect with --panel-url."
        )
    ((user, name),) = find_users([parsed.link])
    until = time.time() + 86400 * parsed.days
    token = PersonalLinks(services.store.secret()).make(
        Person(user, name, parsed.role, "link"), parsed.project, generation=row["key_round"], until=until
    )
    address = f"{base}/enter/{parsed.project}?t={token}"
    values = {"user": user, "name": name, "role": parsed.role, "link": address}
    print_result(parsed, values, f"{name} ({parsed.role}) opens this once in the browser:", f"  {address}")


def export(parsed: argparse.Namespace) -> None:
    """Print a project's answers as CSV, a row for each text, with the tasks' data as columns."""
    from softirr.answers.sheets import plain_cell

    services = open_services()
    rows = services.store.answer_rows(_known(services, parsed.project))
    table = [[plain_cell(value) for value in row] for row in rows]
    if parsed.output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
        return
    try:
        with open(parsed.output, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)
    except OSError as error:
        raise InputError(f"{parsed.output} can't be written ({error.strerror}).") from None
    print(f"Wrote {plural(len(table) - 1, 'row')} into {parsed.output}.")


def forget(parsed: argparse.Namespace) -> None:
    """Erase a project."""
    from ml_backend.store.lock import alone
    from ml_backend.store.trouble import sqlite_file

    services, number = open_services(), parsed.project
    store = services.store
    row = store.project(services.settings.label_studio_url, number)
    if row is None:
        raise InputError(f"Project {number} is not known here.")
    if row["connection"]:
        raise InputError(
            f"Project {number} is connected, so its texts would be read again: run softirr-ls disconnect --project "
            f"{number} first."
        )
    tasks = store.totals(row["id"])["tasks"]
    with alone(store, row["id"]):
        store.forget_project(row["id"])
    store.erase_what_is_free()
    values = {"project": number, "tasks": tasks}
    erased = f"Erased project {number} with {plural(tasks, 'task')} from the store."
    file = sqlite_file(store.engine)
    former = sorted(file.parent.glob(f"{file.name}.before-restore-*")) if file is not None else []
    print_result(
        parsed,
        values,
        f"{erased} Backups made before still hold it.",
        *(f"{folder} may still have its texts: delete it." for folder in former),
    )


def doctor(parsed: argparse.Namespace) -> int:
    """Check the connection."""
    from ml_backend.labelstudio.doctor import examine

    services = open_services()
    findings = []
    for finding in examine(services.settings, services.store, parsed.project, url=parsed.url):
        findings.append(finding)
        if not parsed.json:
            print(f"{'ok ' if finding.ok else 'BAD'} {finding.what}" + (f"\n    {finding.fix}" if finding.fix else ""))
    if parsed.json:
        print(json.dumps([finding.to_dict() for finding in findings], ensure_ascii=False))
    return 0 if all(finding.ok for finding in findings) else 1
