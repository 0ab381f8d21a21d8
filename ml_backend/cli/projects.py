"""Commands about one project in Label Studio."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import threading
import time
from typing import Any

from ml_backend.cli.options import find_users, given_options, open_services, print_result
from ml_backend.settings import Settings
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["connect", "consensus", "disconnect", "doctor", "link", "serve", "settings", "sync"]


def serve(parsed: argparse.Namespace) -> int:
    """Run the backend."""
    from ml_backend.serve import serve

    return serve(Settings.from_environment(port=parsed.port, host=parsed.host))


def connect(parsed: argparse.Namespace) -> None:
    """Connect a project."""
    from ml_backend.labelstudio.connect import Connector
    from ml_backend.labelstudio.own_backend import check_own_backend

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
    services.wakeups.want(row["id"], "connect", full=True)
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
    from ml_backend.sync.jobs import Runner

    services = open_services()
    store, settings = services.store, services.settings
    set_up_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    options = given_options(parsed)
    with services.client() as client:
        remote = client.project(parsed.project)
    row = store.ensure_project(settings.label_studio_url, parsed.project, born=remote.get("created_at"))
    if options:
        store.update_project(row["id"], chosen={**row["chosen"], **options})
    if parsed.split_again:
        from ml_backend.store.splittings import SplittingStore

        SplittingStore(store).forget(row["id"])
    stop = threading.Event()
    runner = Runner(store, settings, services.scorer, services.client, stop=stop)
    result = runner.run_now(row["id"], parsed.project, full=not parsed.changes)
    row = store.project_by_id(row["id"])
    print_result(
        parsed,
        result.to_dict(),
        f"Project {result.project}: {plural(result.items, 'item')}; predictions: {result.created} created, "
        f"{result.updated} updated, {result.deleted} deleted, {result.unchanged} unchanged.",
        *(f"Note: {note.what} {note.fix}" for note in result.notes),
        *(headline_lines(row) if row else []),
    )


def settings(parsed: argparse.Namespace) -> None:
    """Show or change a project's settings."""
    from ml_backend.settings import effective

    services = open_services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None:
        raise InputError(f"Project {parsed.project} is not known here: connect or sync it first.")
    options = given_options(parsed)
    if options or parsed.reset:
        services.store.update_project(row["id"], chosen=options if parsed.reset else {**row["chosen"], **options})
        row = services.store.project_by_id(row["id"])
        if services.store.is_connected(row["id"]):
            services.wakeups.want(row["id"], "settings")
    shown = effective(services.settings, connection=row["extra_params"], chosen=row["chosen"]).to_dict()
    rows = (f"{name:22} {json.dumps(entry['value']):20} {entry['source']}" for name, entry in shown.items())
    print_result(parsed, shown, *rows)


def link(parsed: argparse.Namespace) -> None:
    """Print a personal link."""
    from ml_backend.auth.keys import Person, PersonalLinks
    from ml_backend.store.store import is_connected

    if not 0 < parsed.days <= 3650:
        raise InputError("--days is not between 1 and 3650.")
    services = open_services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None or not is_connected(row["connection"]):
        raise InputError(f"Project {parsed.project} is not connected: run softirr-ls connect first.")
    base = row["connection"].get("panel_base")
    if not base:
        raise InputError(
            "The address of this backend for browsers is unknown: run softirr-ls connect with --panel-url."
        )
    ((user, name),) = find_users([parsed.user])
    until = time.time() + 86400 * parsed.days
    token = PersonalLinks(services.store.secret()).make(
        Person(user, name, parsed.role, "link"), parsed.project, generation=row["key_round"], until=until
    )
    address = f"{base}/enter/{parsed.project}?t={token}"
    values = {"user": user, "name": name, "role": parsed.role, "link": address}
    print_result(parsed, values, f"{name} ({parsed.role}) opens this once in the browser:", f"  {address}")


def consensus(parsed: argparse.Namespace) -> None:
    """Print or write the agreed answers of a project."""
    from ml_backend.labelstudio.consensus import write_ground_truth, write_predictions
    from ml_backend.review.consensus import csv_rows, entries
    from ml_backend.store.agreed import AgreedStore
    from softirr.answers.cells import plain_cell

    services = open_services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None:
        raise InputError(f"Project {parsed.project} is not known here: connect or sync it first.")
    names = [control["name"] for control in row["controls"]]
    if parsed.control is not None and parsed.control not in names:
        raise InputError(f"Project {parsed.project} has no TextArea {parsed.control}; it has {', '.join(names)}.")
    if parsed.control is not None and (parsed.ground_truth or parsed.predictions):
        # those of one field would take the place of the others'
        what = "ground truth" if parsed.ground_truth else "prediction"
        raise InputError(f"A {what} contains every field of a task: leave out --control.")
    agreed = entries(services.store, row, parsed.control)
    if parsed.ground_truth:
        once = {entry["task"] for entry in AgreedStore(services.store).log(row["id"])}
        with services.client() as client:
            done = write_ground_truth(
                client, parsed.project, row["label_config"], agreed, once=once, page_size=services.settings.page_size
            )
        sentence = "{created} ground truths written, {updated} updated, {deleted} removed, {kept} set by people kept."
        print_result(parsed, done, sentence.format(**done))
        return
    if parsed.predictions:
        with services.client() as client:
            written = write_predictions(
                client, parsed.project, row["label_config"], agreed, bulk_size=services.settings.bulk_size
            )
        print_result(parsed, written, f"{plural(written['created'], 'prediction')} written.")
        return
    if parsed.json:
        print(json.dumps({"project": parsed.project, "answers": agreed}, ensure_ascii=False))
        return
    table = [[plain_cell(value) for value in line] for line in csv_rows(agreed)]
    if parsed.output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
        return
    with open(parsed.output, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    print(f"Wrote {plural(len(agreed), 'agreed answer')} into {parsed.output}.")


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
