"""``softirr-ls``: serve, connect, disconnect, sync, settings, link, consensus, doctor, backup, restore, check, forget, demo."""

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.terminal import Parser, guarded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 done, 1 findings or a fault on the server's side, 2 unusable input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    lacking = sorted(
        name for name in ("alembic", "flask", "huey", "label_studio_sdk", "sqlalchemy") if not find_spec(name)
    )
    if lacking:
        print(f"softirr-ls needs {', '.join(lacking)}: pip install 'softirr[labelstudio]'", file=sys.stderr)
        return 2
    if given[:1] == ["demo"]:
        from ml_backend.demo import main as demo

        return guarded(lambda: demo(given[1:]), program="softirr-ls", fault=1)
    if given[:1] == ["serve"] and sys.stdout is None:  # a service needs none
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - as long as the process

    def run() -> int:
        parsed = _parser().parse_args(given)
        return int(parsed.run(parsed) or 0)

    return guarded(run, program="softirr-ls", fault=1)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="softirr-ls",
        description="softirr for Label Studio: agreement in meaning beside each task.",
        epilog="Server and token: LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY. State: SOFTIRR_DATA or SOFTIRR_DATABASE_URL.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add_project(sub: argparse.ArgumentParser, *, required: bool = True) -> None:
        sub.add_argument(
            "--project", type=int, required=required, metavar="ID", help="the project's number in its address"
        )

    def add_json(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--json", action="store_true", help="print JSON")

    def command(name: str, run: Callable[[argparse.Namespace], Any], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    serve = command("serve", _serve, "Run the backend: web server and scorer process.")
    serve.add_argument("--port", type=_port, help="port to listen on (default: PORT, else 9090)")
    serve.add_argument("--host", help="address to listen on (default 127.0.0.1; 0.0.0.0 for all)")

    connect = command("connect", _connect, "Connect a project; a second run changes nothing.")
    add_project(connect)
    connect.add_argument("--url", help="address of this backend as Label Studio reaches it")
    connect.add_argument("--panel-url", help="address of this backend as browsers reach it (default: --url)")
    connect.add_argument(
        "--pull-only",
        action="store_true",
        help="register nothing in Label Studio; the backend looks for changes by itself",
    )
    connect.add_argument("--no-panel", action="store_true", help="leave the label config unchanged")
    connect.add_argument("--rotate-keys", action="store_true", help="make the addresses given out so far stop working")
    connect.add_argument("--label-studio-url", help="Label Studio's address in the links printed")
    add_json(connect)
    _add_options(connect)

    disconnect = command("disconnect", _disconnect, "Undo connect.")
    add_project(disconnect)
    disconnect.add_argument("--keep-predictions", action="store_true", help="leave the scores in Label Studio")
    add_json(disconnect)

    sync = command("sync", _sync, "Bring one project up to date and end.")
    add_project(sync)
    add_json(sync)
    sync.add_argument("--changes", action="store_true", help="read only what changed since the last time")
    sync.add_argument(
        "--split-again", action="store_true", help="decide again, from all answers, how answers are split"
    )
    _add_options(sync)

    show = command("settings", _settings, "Show a project's settings and where each comes from.")
    add_project(show)
    add_json(show)
    show.add_argument("--reset", action="store_true", help="forget the options given by softirr-ls")
    _add_options(show)

    link = command(
        "link",
        _link,
        "Print a personal link: whoever opens it once is known to the panel and the report in that browser.",
    )
    add_project(link)
    link.add_argument("--user", required=True, metavar="EMAIL", help="email address or id of the user in Label Studio")
    link.add_argument("--role", choices=["annotator", "reviewer", "lead"], default="reviewer", help="default: reviewer")
    link.add_argument("--days", type=int, default=90, metavar="N", help="how long the link is good for (default 90)")
    add_json(link)

    agreed = command("consensus", _consensus, "Print the agreed answers of a project as CSV.")
    add_project(agreed)
    agreed.add_argument("--control", metavar="NAME", help="only this TextArea (default: all)")
    agreed.add_argument("--output", metavar="FILE", help="write the CSV into this file")
    agreed.add_argument(
        "--predictions",
        action="store_true",
        help="write the agreed answers into Label Studio as predictions of the model version “consensus”",
    )
    agreed.add_argument(
        "--ground-truth",
        action="store_true",
        help="write the agreed answers into Label Studio as ground-truth annotations of the token’s user",
    )
    add_json(agreed)

    doctor = command(
        "doctor",
        _doctor,
        "Check the connection and say how to fix it.",
    )
    add_project(doctor, required=False)
    doctor.add_argument("--url", help="address of this backend as Label Studio reaches it")
    add_json(doctor)

    backup = command("backup", _backup, "Write the store and all keys into one file.")
    backup.add_argument("file", metavar="FILE", help="the file to write; it must not exist")
    add_json(backup)

    restore = command("restore", _restore, "Replace the store with a backup; the old store is kept.")
    restore.add_argument("file", metavar="FILE", help="a file that softirr-ls backup wrote")
    add_json(restore)

    check = command("check", _check, "Check the whole store and say what is wrong with it.")
    add_json(check)

    forget = command("forget", _forget, "Erase a project: its texts, scores, decisions, audits and agreed answers.")
    add_project(forget)
    add_json(forget)

    commands.add_parser("demo", help="Start Label Studio with an example project, scored.", add_help=False)
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError
    return port


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings of the project (kept for later runs)")
    group.add_argument(
        "--measure", metavar="NAME", help="how two texts are compared (softirr measures lists the names)"
    )
    group.add_argument(
        "--control",
        action="append",
        dest="controls",
        metavar="NAME",
        help="a TextArea to score; repeatable (default: all)",
    )
    group.add_argument(
        "--chance", choices=["auto", "exact", "permutation", "stratified"], help="how chance agreement is computed"
    )
    group.add_argument("--permutations", type=int, metavar="N", help="for --chance permutation (default 3)")
    group.add_argument("--interval", choices=["analytic", "bootstrap"], help="how intervals are computed")
    group.add_argument("--threshold", type=float, metavar="P", help="equivalence from which texts match (default 0.5)")
    group.add_argument(
        "--regions",
        choices=["pooled", "overlap"],
        help="texts of regions: pooled per task, or compared where regions overlap",
    )
    group.add_argument(
        "--casefold", action=argparse.BooleanOptionalAction, help="“Fever” and “fever” are the same text"
    )
    group.add_argument(
        "--predictions-as-raters",
        action=argparse.BooleanOptionalAction,
        help="the newest prediction of each model counts as a rater's answer",
    )
    group.add_argument(
        "--suggestions", action=argparse.BooleanOptionalAction, help="write suggested texts beside the score"
    )
    group.add_argument(
        "--triage-columns",
        action=argparse.BooleanOptionalAction,
        help="write agreement, reason and state into the tasks' data, as columns of the triage tab",
    )
    group.add_argument(
        "--reviewer",
        action="append",
        dest="reviewers",
        metavar="EMAIL",
        help="a user who reviews, by email address or id; repeatable (none: nobody does)",
    )
    group.add_argument(
        "--count-reviewers",
        action=argparse.BooleanOptionalAction,
        help="reviewers' own answers count as annotators' (default: they are left out)",
    )
    group.add_argument(
        "--panel",
        choices=["complete", "always"],
        help="show the panel once a task has all its annotations, or from the second on",
    )
    group.add_argument(
        "--policy",
        metavar="NAME",
        help="what counts as the same: as-written, exact-concept, any-severity, finding, adverse-event, or a JSON file",
    )
    group.add_argument(
        "--terminology",
        action="append",
        dest="terminologies",
        metavar="PATH",
        help="look texts up in this terminology first; repeatable (none: no terminology)",
    )
    group.add_argument("--ignore", metavar="KINDS", help="attributes that do not count, joined by commas")
    group.add_argument(
        "--count",
        metavar="KINDS",
        help="attributes that decide, joined by commas: texts that say different things of one are not the same",
    )
    group.add_argument(
        "--more-general", choices=["strict", "graded", "lenient"], help="whether a more general text counts as the same"
    )
    group.add_argument(
        "--split",
        choices=["auto", "lines", "semicolons", "commas", "bullets", "sentences", "none"],
        help="how a box that holds a list is split into texts (none: as written)",
    )
    group.add_argument("--condition", metavar="FIELD", help="field of the tasks' data by which the report groups tasks")
    group.add_argument("--target", type=float, metavar="X", help="value that the project's coefficient is to reach")


_OPTIONS = (
    "measure",
    "controls",
    "chance",
    "permutations",
    "interval",
    "threshold",
    "regions",
    "casefold",
    "predictions_as_raters",
    "suggestions",
    "triage_columns",
    "panel",
    "reviewers",
    "count_reviewers",
    "target",
    "condition",
    "policy",
    "terminologies",
)


def _options(parsed: argparse.Namespace) -> dict[str, Any]:
    from ml_backend.settings import checked_options

    given = {name: getattr(parsed, name) for name in _OPTIONS if getattr(parsed, name) is not None}
    if "reviewers" in given:
        given["reviewers"] = [user for user, _ in _users([name for name in given["reviewers"] if name != "none"])]
    given.pop("policy", None)
    if (policy := _policy(parsed)) is not None:
        given["policy"] = policy
    if "terminologies" in given:
        given["terminologies"] = [_terminology(path) for path in given["terminologies"] if path != "none"]
    if given.get("condition") == "none":
        given["condition"] = None
    options = checked_options(given, source="softirr-ls")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def _policy(parsed: argparse.Namespace) -> dict[str, Any] | None:
    """The policy of a command, None where it names no part of one."""
    from softirr.policy.rules import AS_WRITTEN, find_policy

    given = (parsed.policy, parsed.ignore, parsed.count, parsed.more_general, parsed.split)
    if all(part is None for part in given):
        return None
    found = AS_WRITTEN if parsed.policy is None else find_policy(parsed.policy)
    ignore, count = (
        None if kinds is None else [kind.strip() for kind in kinds.split(",") if kind.strip()]
        for kinds in (parsed.ignore, parsed.count)
    )
    return found.changed(ignore=ignore, more_general=parsed.more_general, split=parsed.split, count=count).to_dict()


def _terminology(source: str) -> str:
    """A terminology by its absolute path, once it has been read.

    Raises
    ------
    InputError
        If it can't be read.
    """
    from ml_backend.services import INDEXES
    from softirr.terminology.base import named_paths
    from softirr.terminology.index import open_index

    name, path, second = named_paths(source)
    found = f"{name}=" if name else ""
    found += ",".join(str(one.resolve()) for one in (path, second) if one is not None)
    open_index(found, cache=_services().settings.data / INDEXES)
    return found


def _users(names: Sequence[str]) -> list[tuple[str, str]]:
    """Id and name of users of Label Studio, by email address or id.

    Raises
    ------
    InputError
        Naming who is not there.
    """
    if not names:
        return []
    with _services().client() as client:
        emails, known = client.user_emails(), client.users()
    found = [name if name in known else emails.get(name.lower(), "") for name in names]
    for name, user in zip(names, found, strict=True):
        if not user:
            raise InputError(f"Label Studio has no user {name}.")
    return [(user, known[user]) for user in found]


def _services(**overrides: Any) -> Any:
    from ml_backend.services import Services
    from ml_backend.settings import Settings
    from ml_backend.store.files import keep_private

    services = Services(Settings.from_environment(**overrides))
    keep_private(services.settings.data)
    services.store.migrate()
    return services


def _serve(parsed: argparse.Namespace) -> int:
    from ml_backend.serve import serve
    from ml_backend.settings import Settings

    return serve(Settings.from_environment(port=parsed.port, host=parsed.host))


def _connect(parsed: argparse.Namespace) -> None:
    from ml_backend.labelstudio.connect import Connector
    from ml_backend.labelstudio.own_backend import check_own_backend

    if bool(parsed.url) == parsed.pull_only:
        raise InputError("Name the address of this backend with --url, or choose --pull-only.")
    services = _services()
    for address in (parsed.url, parsed.panel_url):
        check_own_backend(address, services.settings, services.store.secret())
    with services.client() as client:
        connector = Connector(services.store, client, services.settings, browser_url=parsed.label_studio_url)
        changes = connector.connect(
            parsed.project,
            parsed.url,
            panel_url=parsed.panel_url,
            panel=not parsed.no_panel,
            options=_options(parsed),
            rotate_keys=parsed.rotate_keys,
        )
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    services.wakeups.want(row["id"], "connect", full=True)
    _print_changes(changes, parsed.json, "Project {} was connected already; nothing had to be changed.")


def _disconnect(parsed: argparse.Namespace) -> None:
    from ml_backend.labelstudio.connect import Connector

    services = _services()
    with services.client() as client:
        connector = Connector(services.store, client, services.settings)
        changes = connector.disconnect(parsed.project, predictions=not parsed.keep_predictions)
    _print_changes(changes, parsed.json, "Project {} was not connected; nothing had to be changed.")


def _print_changes(changes: Any, as_json: bool, nothing: str) -> None:
    if as_json:
        print(json.dumps(changes.to_dict(), ensure_ascii=False))
        return
    for sentence in changes.done or [nothing.format(changes.project)]:
        print(sentence)
    for name, address in changes.links.items():
        print(f"  {name:8} {address}")


def _sync(parsed: argparse.Namespace) -> None:
    from ml_backend.logs import set_up_logging
    from ml_backend.sync.jobs import Runner

    services = _services()
    store, settings = services.store, services.settings
    set_up_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    options = _options(parsed)
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
    if parsed.json:
        print(json.dumps(result.to_dict()))
    else:
        print(
            f"Project {result.project}: {result.items} items; predictions: {result.created} created, {result.updated} updated, "
            f"{result.deleted} deleted, {result.unchanged} unchanged."
        )
        for note in result.notes:
            print(f"Note: {note.what} {note.fix}")
        for line in _headline_lines(store, row["id"]):
            print(line)


def _headline_lines(store: Any, project: int) -> list[str]:
    """What the panel and the report say, too."""
    from ml_backend.review.headline import headline_lines
    from ml_backend.store.reviews import ReviewStore

    row = store.project_by_id(project)
    controls = (row["summary"] or {}).get("controls") or () if row else ()
    audits = {control: ReviewStore(store).audited(project, control) for control in controls}
    return headline_lines(row, audits) if row else []


def _settings(parsed: argparse.Namespace) -> None:
    from ml_backend.settings import effective

    services = _services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None:
        raise InputError(f"Project {parsed.project} is not known here: connect or sync it first.")
    options = _options(parsed)
    if options or parsed.reset:
        services.store.update_project(row["id"], chosen=options if parsed.reset else {**row["chosen"], **options})
        row = services.store.project_by_id(row["id"])
        if services.store.is_connected(row["id"]):
            services.wakeups.want(row["id"], "settings")
    shown = effective(services.settings, connection=row["extra_params"], chosen=row["chosen"]).to_dict()
    if parsed.json:
        print(json.dumps(shown))
        return
    for name, entry in shown.items():
        print(f"{name:22} {json.dumps(entry['value']):20} {entry['source']}")


def _unopened_store() -> tuple[Any, Any]:
    """Settings and a store that may be damaged: nothing was read yet."""
    from ml_backend.settings import Settings
    from ml_backend.store.files import keep_private
    from ml_backend.store.store import Store

    settings = Settings.from_environment()
    keep_private(settings.data)
    return settings, Store(settings.database_url, settings.data)


def _backup(parsed: argparse.Namespace) -> None:
    from ml_backend.store.backup import back_up

    _, store = _unopened_store()
    made = back_up(store, Path(parsed.file))
    if parsed.json:
        print(json.dumps({"file": parsed.file, **made}))
    else:
        print(
            f"Wrote {parsed.file}: {made['projects']} projects, {made['tasks']} tasks. It holds texts and keys: keep it safe."
        )


def _restore(parsed: argparse.Namespace) -> None:
    from ml_backend.store.backup import restore

    settings, store = _unopened_store()
    made = restore(store, Path(parsed.file), settings.data)
    if parsed.json:
        print(json.dumps(made))
        return
    print(f"Restored {made['projects']} projects and {made['tasks']} tasks as of {made['made_at']}.")
    if made["aside"]:
        print(f"The former store is kept as {made['aside']}.")
    print("What changed in Label Studio since then is read at the next start of softirr-ls serve.")


def _check(parsed: argparse.Namespace) -> int:
    from ml_backend.store.integrity import examine

    settings, store = _unopened_store()
    found = list(examine(store.engine, settings.data))
    if parsed.json:
        print(json.dumps({"ok": not found, "problems": found}))
    else:
        for sentence in found or ["The store is whole."]:
            print(sentence)
    return 1 if found else 0


def _forget(parsed: argparse.Namespace) -> None:
    services = _services()
    store = services.store
    row = store.project(services.settings.label_studio_url, parsed.project)
    if row is None:
        raise InputError(f"Project {parsed.project} is not known here.")
    if row["connection"]:
        number = parsed.project
        raise InputError(
            f"Project {number} is connected, so its texts would be read again: run softirr-ls disconnect --project {number} first."
        )
    tasks = store.totals(row["id"])["tasks"]
    store.erase_project(row["id"])
    if parsed.json:
        print(json.dumps({"project": parsed.project, "tasks": tasks}))
    else:
        print(f"Erased project {parsed.project} with {tasks} tasks from the store. Backups made before still hold it.")


def _link(parsed: argparse.Namespace) -> None:
    import time

    from ml_backend.access import Person, PersonalLinks
    from ml_backend.store.store import is_connected

    if not 0 < parsed.days <= 3650:
        raise InputError("--days is not between 1 and 3650.")
    services = _services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None or not is_connected(row["connection"]):
        raise InputError(f"Project {parsed.project} is not connected: run softirr-ls connect first.")
    base = row["connection"].get("panel_base")
    if not base:
        raise InputError("Nothing says where browsers reach this backend: run softirr-ls connect with --panel-url.")
    ((user, name),) = _users([parsed.user])
    until = time.time() + 86400 * parsed.days
    token = PersonalLinks(services.store.secret()).make(
        Person(user, name, parsed.role, "link"), parsed.project, generation=row["key_round"], until=until
    )
    address = f"{base}/enter/{parsed.project}?t={token}"
    if parsed.json:
        print(json.dumps({"user": user, "name": name, "role": parsed.role, "link": address}, ensure_ascii=False))
    else:
        print(f"{name} ({parsed.role}) opens this once in the browser:\n  {address}")


def _consensus(parsed: argparse.Namespace) -> None:
    import csv

    from ml_backend.labelstudio.consensus import write_ground_truth, write_predictions
    from ml_backend.review.consensus import csv_rows, entries
    from ml_backend.store.agreed import AgreedStore
    from softirr.tables.cells import plain_cell

    services = _services()
    row = services.store.project(services.settings.label_studio_url, parsed.project)
    if row is None:
        raise InputError(f"Project {parsed.project} is not known here: connect or sync it first.")
    names = [control["name"] for control in row["controls"]]
    if parsed.control is not None and parsed.control not in names:
        raise InputError(f"Project {parsed.project} has no TextArea {parsed.control}; it has {', '.join(names)}.")
    if parsed.control is not None and (parsed.ground_truth or parsed.predictions):
        # those of one field would take the place of the others'
        what = "ground truth" if parsed.ground_truth else "prediction"
        raise InputError(f"A {what} holds every field of a task: leave out --control.")
    found = entries(services.store, row, parsed.control)
    if parsed.ground_truth:
        once = {entry["task"] for entry in AgreedStore(services.store).log(row["id"])}
        with services.client() as client:
            done = write_ground_truth(
                client, parsed.project, row["label_config"], found, once=once, page_size=services.settings.page_size
            )
        told = "{created} ground truths written, {updated} updated, {deleted} removed, {kept} set by people kept."
        print(json.dumps(done) if parsed.json else told.format(**done))
        return
    if parsed.predictions:
        with services.client() as client:
            written = write_predictions(
                client, parsed.project, row["label_config"], found, bulk_size=services.settings.bulk_size
            )
        print(json.dumps(written) if parsed.json else f"{written['created']} predictions written.")
        return
    if parsed.json:
        print(json.dumps({"project": parsed.project, "answers": found}, ensure_ascii=False))
        return
    table = [[plain_cell(value) for value in line] for line in csv_rows(found)]
    if parsed.output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
        return
    with open(parsed.output, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    print(f"Wrote {len(found)} agreed answers into {parsed.output}.")


def _doctor(parsed: argparse.Namespace) -> int:
    from ml_backend.labelstudio.doctor import examine

    services = _services()
    findings = []
    for finding in examine(services.settings, services.store, parsed.project, url=parsed.url):
        findings.append(finding)
        if not parsed.json:
            print(f"{'ok ' if finding.ok else 'BAD'} {finding.what}" + (f"\n    {finding.fix}" if finding.fix else ""))
    if parsed.json:
        print(json.dumps([finding.to_dict() for finding in findings], ensure_ascii=False))
    return 0 if all(finding.ok for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
