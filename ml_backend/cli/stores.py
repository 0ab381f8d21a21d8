"""Commands about the store: backup, restore, check, forget."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ml_backend.cli.options import open_services, print_result
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["backup", "check", "forget", "restore"]


def _unopened_store() -> tuple[Any, Any]:
    """Settings and a store that may be damaged: nothing was read yet."""
    from ml_backend.settings import Settings
    from ml_backend.store.permissions import keep_private
    from ml_backend.store.store import Store

    settings = Settings.from_environment()
    keep_private(settings.data)
    return settings, Store(settings.database_url, settings.data)


def backup(parsed: argparse.Namespace) -> None:
    """Write the store and all keys into one file."""
    from ml_backend.store.backup import back_up

    _, store = _unopened_store()
    counts = back_up(store, Path(parsed.file))
    print_result(
        parsed,
        {"file": parsed.file, **counts},
        f"Wrote {parsed.file}: {plural(counts['projects'], 'project')}, {plural(counts['tasks'], 'task')}. It "
        "contains texts and keys: keep it safe.",
    )


def restore(parsed: argparse.Namespace) -> None:
    """Replace the store with a backup."""
    from ml_backend.store.backup import restore

    settings, store = _unopened_store()
    counts = restore(store, Path(parsed.file), settings.data)
    print_result(
        parsed,
        counts,
        f"Restored {plural(counts['projects'], 'project')} and {plural(counts['tasks'], 'task')} as of "
        f"{counts['made_at']}.",
        *([f"The former store is kept as {counts['aside']}."] if counts["aside"] else []),
        "What changed in Label Studio since then is read at the next start of softirr-ls serve.",
    )


def check(parsed: argparse.Namespace) -> int:
    """Check the whole store."""
    from ml_backend.store.integrity import examine

    settings, store = _unopened_store()
    problems = list(examine(store.engine, settings.data))
    print_result(parsed, {"ok": not problems, "problems": problems}, *(problems or ["The store is whole."]))
    return 1 if problems else 0


def forget(parsed: argparse.Namespace) -> int:
    """Erase a project."""
    from ml_backend.store.former_stores import AsideErased, erase_aside
    from ml_backend.store.integrity import sqlite_file

    services = open_services()
    store, server = services.store, services.settings.label_studio_url
    row = store.project(server, parsed.project)
    if row is not None and row["connection"]:
        number = parsed.project
        raise InputError(
            f"Project {number} is connected, so its texts would be read again: run softirr-ls disconnect --project "
            f"{number} first."
        )
    tasks = store.totals(row["id"])["tasks"] if row is not None else 0
    if row is not None:
        store.erase_project(row["id"])
    file = sqlite_file(store.engine)
    aside = erase_aside(file, server, parsed.project) if file is not None else AsideErased((), ())
    if row is None and not aside.erased and not aside.left:
        raise InputError(f"Project {parsed.project} is not known here.")
    files = {"erased_from": list(map(str, aside.erased)), "left_in": list(map(str, aside.left))}
    erased = f"Erased project {parsed.project} with {plural(tasks, 'task')} from the store."
    print_result(
        parsed,
        {"project": parsed.project, "tasks": tasks, **files},
        *([f"{erased} Backups made before still hold it."] if row is not None else []),
        *(f"Erased it from {former} too, the store before a restore." for former in aside.erased),
        *(
            f"{former}, the store before a restore, can't be read and may still hold its texts: delete it, with its "
            "-wal and -shm."
            for former in aside.left
        ),
    )
    return 1 if aside.left else 0
