"""The commands of the page Operate that back up and restore a store."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ml_backend.store.store import Store
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.programs import run_program


def commands(root: Path, word: str) -> list[str]:
    """Return the shell commands of the page that contain a word, in order."""
    page = (root / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    return [line for line in blocks.splitlines() if word in line]


def run(command: str, folder: Path, **environment: str) -> None:
    run_program("sh", "-e", "-c", command, folder=folder, environment={**os.environ, **environment})


def fill(store: Store) -> int:
    store.migrate()
    project = int(store.ensure_project(URL, NUMBER)["id"])
    store.decide(project, "fever", "pyrexia", same=True, reviewer="Ann")
    return project


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the program sqlite3")
def test_sqlite_is_backed_up_while_it_is_in_use_and_restored(root: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'softirr.sqlite3'}")
    project = fill(store)
    backup, *restore = commands(root, "sqlite3")
    assert ".backup" in backup and len(restore) == 3
    run(backup, tmp_path, SOFTIRR_DATA=str(tmp_path))
    store.forget_project(project)
    store.close()
    for command in restore:
        run(command, tmp_path, SOFTIRR_DATA=str(tmp_path))
    store.migrate()
    assert [row["reviewer"] for row in store.decisions(project)] == ["Ann"]
    store.close()


@pytest.mark.postgres
def test_postgresql_is_dumped_and_restored(
    root: Path, tmp_path: Path, new_postgres_database: Callable[..., str]
) -> None:
    url = new_postgres_database()
    store = Store(url)
    project = fill(store)
    dump, restore = commands(root, "SOFTIRR_DATABASE_URL")
    assert dump.startswith("pg_dump") and restore.startswith("pg_restore")
    run(dump, tmp_path, SOFTIRR_DATABASE_URL=url)
    store.forget_project(project)
    run(restore, tmp_path, SOFTIRR_DATABASE_URL=url)
    assert [row["reviewer"] for row in store.decisions(project)] == ["Ann"]
    store.close()
