"""A store of release 0.2.0 opens and keeps what people did, in SQLite and in PostgreSQL.

``old_stores/`` has the tables of that release in both dialects, and the rows of a small project that it scored.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend.store import upgrade
from ml_backend.store.acts import AgreedStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import metadata
from ml_backend.store.store import Store
from softirr.errors import SoftirrError
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.programs import run_program

OLD_STORES = Path(__file__).parent / "old_stores"
ROWS: dict[str, list[dict[str, Any]]] = json.loads((OLD_STORES / "rows.json").read_text(encoding="utf-8"))


def make_old_store(url: str) -> None:
    """Write the tables and rows of release 0.2.0 into an empty database."""
    engine = Store(url).engine
    statements = (OLD_STORES / f"{engine.dialect.name}.sql").read_text(encoding="utf-8").splitlines()
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0020')")
        tables = sa.MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            for row in ROWS.get(table.name, ()):
                connection.execute(sa.insert(table).values(row))
    engine.dispose()


@pytest.fixture
def old_store(empty_database: str) -> Iterator[Store]:
    make_old_store(empty_database)
    store = Store(empty_database)
    yield store
    store.close()


def test_upgrade_keeps_decisions_marks_and_judgments(old_store: Store, caplog: pytest.LogCaptureFixture) -> None:
    old_store.migrate()
    assert (
        "kept 1 project, 5 decisions, 2 marks, 1 audit, 3 judgments and 4 agreed answers"
        in caplog.records[0].getMessage()
    )
    row = old_store.project(URL, NUMBER)
    assert row is not None and row["chosen"] == {"reviewers": ["3"]} and row["raters"]["1"] == "User1"
    assert old_store.secret().hex() == ROWS["service"][0]["value"], "printed links still open"
    project = row["id"]
    assert [
        (d["text_a"], d["text_b"], d["same"], d["reviewer"], d["known_by"]) for d in old_store.decisions(project)
    ] == [
        ("fever", "pyrexia", True, "Ann", "session"),
        ("cough", "rash", False, "Ben", "link"),
    ]
    assert len(old_store.decision_log(project)) == 5
    reviews = ReviewStore(old_store)
    marks = reviews.marks(project)
    assert (marks[1]["sent_back"], marks[4]["sent_back"], marks[4]["note"]) == (False, True, "Which rash?")
    (audit,) = reviews.audits(project)
    stored_audit = reviews.audit(audit["id"])
    assert stored_audit is not None
    assert stored_audit["sheet"] == [[1, 1, "fever", "pyrexia"], [2, 2, "cough", "rash"]]
    judged = [(j["row"], j["judge"], j["verdict"]) for j in reviews.judgments(audit["id"])]
    assert judged == [(0, "Ann", "same"), (1, "Ann", "different"), (1, "Ben", "same")]
    agreed = AgreedStore(old_store)
    assert [(a["task"], a["texts"], a["edited"]) for a in agreed.current(project)] == [
        (1, ["fever"], False),
        (4, ["cough"], True),
    ]
    assert [a["withdrawn"] for a in agreed.log(project)] == [False, False, False, True]


def test_leaves_the_six_tables_and_nothing_else(old_store: Store) -> None:
    old_store.migrate()
    assert set(sa.inspect(old_store.engine).get_table_names()) == set(metadata.tables)
    assert len(metadata.tables) == 6


def test_a_second_opening_changes_nothing(old_store: Store, caplog: pytest.LogCaptureFixture) -> None:
    old_store.migrate()
    project = old_store.project(URL, NUMBER)["id"]  # type: ignore[index]
    old_store.decide(project, "fever", "pyrexia", same=False)
    caplog.clear()
    old_store.migrate()
    assert caplog.records == []
    assert len(old_store.decision_log(project)) == 6


def test_an_interrupted_upgrade_changes_nothing(old_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "_agreed", lambda row: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        old_store.migrate()
    monkeypatch.undo()
    old_store.migrate()
    project = old_store.project(URL, NUMBER)["id"]  # type: ignore[index]
    assert len(old_store.decision_log(project)) == 5


def test_next_run_reads_the_tasks_and_keeps_the_marks(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.sqlite3'}"
    make_old_store(url)
    Store(url).migrate()
    bench = Bench(tmp_path, database_url=url)
    for answers in (
        {1: ["fever"], 2: ["pyrexia"]},
        {1: ["cough", "rash"], 2: ["cough"]},
        {1: ["nausea"], 2: ["nausea"]},
    ):
        bench.fake.add_task(answers)
    marks = ReviewStore(bench.store).marks(bench.row["id"])
    returned = {task for task, mark in marks.items() if mark["sent_back"]}
    assert bench.sync().created == 2
    assert set(bench.fake.predictions()) == set(bench.fake.tasks) - returned
    assert bench.fake.predictions()[1][0]["score"] == 1.0, "decided by a reviewer"
    assert all(bench.task(task)["answers_hash"] == mark["answers_hash"] for task, mark in marks.items())


@pytest.mark.parametrize(("revision", "words"), [("0005", "before 0.2.0"), ("0021", "newer softirr")])
def test_other_releases_are_refused_in_a_sentence(old_store: Store, revision: str, words: str) -> None:
    with old_store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    with pytest.raises(SoftirrError, match=words):
        old_store.migrate()


def test_a_store_of_a_later_release_is_refused(store: Store) -> None:
    store.execute(sa.text("UPDATE service SET value = '4' WHERE name = 'schema'"))
    with pytest.raises(SoftirrError, match="newer softirr"):
        store.migrate()


@pytest.mark.parametrize(
    "change", ["ADD COLUMN n_answers INTEGER NOT NULL DEFAULT 0", "RENAME COLUMN again_at TO read_again_at"]
)
def test_a_store_with_other_columns_is_refused(store: Store, change: str) -> None:
    store.migrate()
    store.execute(sa.text(f"ALTER TABLE tasks {change}"))
    with pytest.raises(SoftirrError, match="other columns in the table tasks"):
        store.migrate()


@pytest.mark.slow
def test_command_that_opens_an_old_store_prints_the_kept_rows(tmp_path: Path) -> None:
    make_old_store(f"sqlite:///{tmp_path / 'softirr.sqlite3'}")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SOFTIRR", "LABEL_STUDIO"))
    }
    environment |= {"SOFTIRR_DATA": str(tmp_path), "LABEL_STUDIO_URL": URL}
    command = (sys.executable, "-m", "ml_backend", "settings", "--project", "4", "--json")
    done = run_program(*command, environment=environment)
    assert json.loads(done.stdout)["reviewers"]["value"] == ["3"]
    assert "upgraded the store of softirr 0.2.0 and kept 1 project, 5 decisions" in done.stderr
