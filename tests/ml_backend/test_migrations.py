"""An upgrade from any earlier revision keeps every row, in SQLite and in PostgreSQL.

``old_stores/`` has the statements with which the revisions that are squashed by now changed the schema.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import ml_backend
from ml_backend.demo.processes import Process, free_port
from ml_backend.store.backup import back_up, restore
from ml_backend.store.database import FIRST_REVISION
from ml_backend.store.decisions import pair_hash
from ml_backend.store.integrity import OLDER, examine
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import metadata
from ml_backend.store.store import Store

VERSIONS = Path(ml_backend.__file__).parent / "store" / "migrations" / "versions"
OLD_STORES = Path(__file__).parent / "old_stores"
OLD_REVISIONS = [f"{number:04d}" for number in range(1, 21)]
FIRST_RELEASE = "0005"
"""Revision of the stores of version 0.1.0."""


ROWS_OF_THE_FIRST_RELEASE = (
    "INSERT INTO projects (server, number, title, label_config, controls, raters, chosen, extra_params, connection, origins,"
    " key_round, generation, wanted_full, summary_stale) VALUES ('http://labels.example', 4, 'Reports', '', '[]', '{}',"
    " '{}', '{}', '{}', '[]', 0, 1, false, false)",
    "INSERT INTO decisions (project, pair, text_a, text_b, same, task, reviewer, decided_at) VALUES (1,"
    f" '{pair_hash('fever', 'pyrexia')}', 'fever', 'pyrexia', true, 1, 'Ann', 1.5)",
    "INSERT INTO audits (project, control, measure, seed, wanted, sheet, answers, answers_hash, created_at, created_by)"
    """ VALUES (1, 'answer', 'nli', 0, 1, '[[1, 1, "fever", "rash"]]', '{}', '', 1.5, 'Ann')""",
    "INSERT INTO audit_judgements (audit, place, judge, verdict, at) VALUES (1, 0, 'Ann', 'different', 1.5)",
)


def to_revision(store: Store, revision: str) -> None:
    """Bring an empty database to an old revision."""
    text = (OLD_STORES / f"{store.engine.dialect.name}.sql").read_text(encoding="utf-8")
    parts = dict(zip(*[iter(re.split(r"^-- (\d+)\n", text, flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert list(parts) == OLD_REVISIONS
    with store.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{revision}')")
        for number in OLD_REVISIONS[: OLD_REVISIONS.index(revision) + 1]:
            for statement in parts[number].splitlines():
                connection.exec_driver_sql(statement)


def tables_of(store: Store) -> list[sa.Table]:
    """As they are in the database now, those that others refer to first."""
    reflected = sa.MetaData()
    reflected.reflect(store.engine)
    return [table for table in reflected.sorted_tables if table.name != "alembic_version"]


def some_value(column: sa.Column[Any]) -> Any:
    """Something in each column, so that a lost column shows."""
    if column.foreign_keys or (column.primary_key and isinstance(column.type, sa.Integer)):
        return 1
    match column.type:
        case sa.JSON():
            return {"text": "فَيْفَر <b>🤒</b>"}
        case sa.Boolean():
            return column.name not in ("withdrawn", "summary_stale")
        case sa.Float():
            return 0.1 + 0.2
        case sa.Integer() | sa.BigInteger():
            return 7
        case _:
            return f"{column.name} 🤒"


def rows_of(store: Store) -> dict[str, list[dict[str, Any]]]:
    with store.engine.connect() as connection:
        return {t.name: [dict(row) for row in connection.execute(sa.select(t)).mappings()] for t in tables_of(store)}


@pytest.fixture
def old_store(empty_database: str) -> Any:
    database = Store(empty_database)
    yield database
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize("revision", OLD_REVISIONS)
def test_an_upgrade_keeps_every_row(old_store: Store, revision: str) -> None:
    to_revision(old_store, revision)
    with old_store.writing() as connection:
        for table in tables_of(old_store):
            connection.execute(sa.insert(table).values({c.name: some_value(c) for c in table.columns}))
    before = rows_of(old_store)
    assert {"projects", "tasks", "jobs", "decisions"} <= set(before)
    old_store.migrate()
    after = rows_of(old_store)
    before.pop("comparisons", None)  # of measures; a click computes them again
    if before.pop("calibrations", None):  # the scores of a calibrated project are computed again
        (task,) = before["tasks"]
        task["scored_hash"] = None
        before["projects"][0]["summary_stale"] = True
    for name, (row,) in before.items():
        (kept,) = after[name]
        if name == "projects" and revision < "0006":
            assert kept["origins"] == [], "requests had brought them"
            row["origins"] = []
        assert {column: kept[column] for column in row} == row, name
    # And the present code reads it.
    row = old_store.project_by_id(1)
    assert row is not None
    assert [decision["same"] for decision in old_store.decisions(1)] == [True]
    assert old_store.get_tasks(1, [1])[1]["agreement"] == 0.1 + 0.2
    assert ReviewStore(old_store).audits(1) is not None
    assert old_store.want(1, full=True) in (True, False)


@pytest.mark.parametrize("revision", [FIRST_RELEASE, "0019"])
def test_projects_no_longer_choose_the_interval(old_store: Store, revision: str) -> None:
    to_revision(old_store, revision)
    with old_store.writing() as connection:
        connection.exec_driver_sql(ROWS_OF_THE_FIRST_RELEASE[0])
        projects = sa.Table("projects", sa.MetaData(), autoload_with=connection)
        options = {"interval": "bootstrap", "chance": "exact"}
        connection.execute(sa.update(projects).values(chosen=options, extra_params=options))
    old_store.migrate()
    row = old_store.project_by_id(1)
    assert row is not None and row["chosen"] == row["extra_params"] == {"chance": "exact"}


def test_the_migrations_end_where_the_code_is(old_store: Store) -> None:
    old_store.migrate()
    with old_store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": metadata})
        assert compare_metadata(context, metadata) == []


def test_one_module_has_all_tables() -> None:
    """A process that imports only some of them would find nothing missing in a store that lacks the others."""
    package = Path(ml_backend.__file__).parent
    files = (path for path in package.rglob("*.py") if "migrations" not in path.parts)
    modules = [path.stem for path in files if "sa.Table(" in path.read_text(encoding="utf-8")]
    assert modules == ["schema"]


@pytest.mark.slow
@pytest.mark.parametrize("revision", OLD_REVISIONS)
def test_an_upgraded_store_has_the_schema_of_a_new_one(old_store: Store, revision: str) -> None:
    to_revision(old_store, revision)
    old_store.migrate()
    with old_store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": metadata})
        assert compare_metadata(context, metadata) == []
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == newest_revision()


def newest_revision() -> str:
    return max(path.stem.partition("_")[0] for path in VERSIONS.glob("[0-9]*.py"))


def test_revisions_follow_one_another() -> None:
    numbers = sorted(int(path.stem.partition("_")[0]) for path in VERSIONS.glob("[0-9]*.py"))
    assert numbers == list(range(int(FIRST_REVISION), numbers[-1] + 1))


def fill_as_the_first_release(store: Store) -> None:
    to_revision(store, FIRST_RELEASE)
    with store.writing() as connection:
        for number, statement in enumerate(ROWS_OF_THE_FIRST_RELEASE):
            assert connection.exec_driver_sql(statement).rowcount == 1, number


def test_a_store_of_the_first_release_keeps_decisions_and_audits(
    old_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    fill_as_the_first_release(old_store)
    with caplog.at_level("INFO", logger="ml_backend"):
        old_store.migrate()
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        f"migrated the store from revision {FIRST_RELEASE} to {newest_revision()}"
        " and kept 1 project, 1 decision, 1 audit and 1 judgment"
    ]
    caplog.clear()
    project = old_store.ensure_project("http://labels.example", 4)["id"]
    assert project == 1
    assert [(row["text_a"], row["text_b"], row["same"], row["reviewer"]) for row in old_store.decisions(1)] == [
        ("fever", "pyrexia", True, "Ann")
    ]
    reviews = ReviewStore(old_store)
    (audit,) = reviews.audits(1)
    assert reviews.audit(audit["id"])["sheet"] == [[1, 1, "fever", "rash"]]  # type: ignore[index]
    assert {row["place"]: row["verdict"] for row in reviews.judgements(audit["id"], "Ann")} == {0: "different"}
    # A second decision about the pair is possible, and its withdrawal: decisions are a log now.
    old_store.decide(1, "fever", "pyrexia", same=False, reviewer="Ben")
    assert [row["same"] for row in old_store.decisions(1)] == [False]
    old_store.undecide(1, "fever", "pyrexia")
    assert old_store.decisions(1) == []
    assert len(old_store.decision_log(1)) == 3
    with caplog.at_level("INFO", logger="ml_backend"):
        old_store.migrate()  # again, which changes nothing
    assert caplog.records == []
    assert len(old_store.decision_log(1)) == 3


def test_an_upgrade_that_was_cut_off_is_completed(old_store: Store) -> None:
    """A process that is killed between forgetting the old revision and the migration leaves a store without a revision."""
    to_revision(old_store, FIRST_RELEASE)
    with old_store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM alembic_version")
    old_store.migrate()
    with old_store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": metadata})
        assert compare_metadata(context, metadata) == []


def test_a_store_of_the_first_release_is_checked_and_backed_up_before_the_upgrade(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'softirr.sqlite3'}")
    fill_as_the_first_release(store)
    assert examine(store.engine, tmp_path) == [OLDER]
    back_up(store, tmp_path / "backup.zip")
    assert examine(store.engine, tmp_path) == [OLDER], "nothing was upgraded"
    restore(store, tmp_path / "backup.zip", tmp_path)
    assert examine(store.engine, tmp_path) == []
    assert [row["reviewer"] for row in store.decisions(1)] == ["Ann"]
    store.close()


@pytest.mark.slow
def test_the_start_on_a_store_of_the_first_release_names_what_to_do(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'softirr.sqlite3'}", tmp_path)
    fill_as_the_first_release(store)
    with store.writing() as connection:
        connection.exec_driver_sql("""UPDATE projects SET connection = '{"mode": "connected"}'""")
    store.close()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SOFTIRR", "LABEL_STUDIO"))
    }
    environment |= {"SOFTIRR_DATA": str(tmp_path), "LABEL_STUDIO_URL": "http://127.0.0.1:9"}
    log = tmp_path / "serve.log"
    command = [sys.executable, "-m", "ml_backend", "serve", "--port", str(free_port())]
    server = Process(command, environment=environment, log=log, name="softirr-ls serve")
    try:
        server.wait_until(lambda: "scorer process ready" in log.read_text(encoding="utf-8"), timeout=180)
    finally:
        server.stop()
    text = log.read_text(encoding="utf-8")
    assert f"migrated the store from revision {FIRST_RELEASE}" in text
    assert "project 4: its connection carries no secret, run softirr-ls connect again" in text
    assert "pyrexia" not in text


@pytest.mark.slow
def test_a_command_that_opens_an_old_store_prints_what_was_migrated(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'softirr.sqlite3'}", tmp_path)
    fill_as_the_first_release(store)
    store.close()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SOFTIRR", "LABEL_STUDIO"))
    }
    environment |= {"SOFTIRR_DATA": str(tmp_path), "LABEL_STUDIO_URL": "http://labels.example"}
    command = [sys.executable, "-m", "ml_backend", "forget", "--project", "4", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert json.loads(done.stdout) == {"project": 4, "tasks": 0, "erased_from": [], "left_in": []}, done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(
        f"migrated the store from revision {FIRST_RELEASE} to {newest_revision()} and kept 1 project, "
    )
