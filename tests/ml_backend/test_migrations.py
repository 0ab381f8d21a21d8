"""An upgrade from any earlier revision keeps every row, in SQLite and in PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import ml_backend
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import metadata
from ml_backend.store.store import Store

FOLDER = Path(ml_backend.__file__).parent / "store" / "migrations"
REVISIONS = [script.revision for script in ScriptDirectory(str(FOLDER)).walk_revisions()][::-1]


def to_revision(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    with store.engine.connect().execution_options(write=True) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()


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
            return column.name != "withdrawn"
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
    made = Store(empty_database)
    yield made
    made.close()


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_an_upgrade_keeps_every_row(old_store: Store, revision: str) -> None:
    to_revision(old_store, revision)
    with old_store.engine.connect().execution_options(write=True) as connection, connection.begin():
        for table in tables_of(old_store):
            connection.execute(sa.insert(table).values({c.name: some_value(c) for c in table.columns}))
    before = rows_of(old_store)
    assert {"projects", "tasks", "jobs", "decisions"} <= set(before)
    old_store.migrate()
    after = rows_of(old_store)
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


def test_the_migrations_end_where_the_code_is(old_store: Store) -> None:
    old_store.migrate()
    with old_store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": metadata})
        assert compare_metadata(context, metadata) == []


def test_every_module_with_tables_is_known_to_the_store() -> None:
    """A process that uses only some of them would find nothing missing in a store that lacks the others."""
    from ml_backend.store import tables

    folder = Path(ml_backend.__file__).parent / "store"
    having = {path.stem for path in folder.glob("*.py") if "sa.Table(" in path.read_text(encoding="utf-8")}
    assert having == set(tables.__all__)


def test_revisions_follow_one_another() -> None:
    assert [f"{n:04d}" for n in range(1, len(REVISIONS) + 1)] == REVISIONS


def test_a_downgrade_and_an_upgrade_again_keep_what_reviewers_decided(old_store: Store) -> None:
    old_store.migrate()
    project = old_store.ensure_project("http://labels.example", 4)["id"]
    old_store.decide(project, "fever", "pyrexia", same=False, reviewer="Ben")
    old_store.decide(project, "fever", "pyrexia", same=True, reviewer="Ann")
    old_store.decide(project, "fever", "rash", same=True)
    old_store.undecide(project, "fever", "rash")
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    with old_store.engine.connect().execution_options(write=True) as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, REVISIONS[0])
        connection.commit()
    old_store.migrate()
    (decision,) = old_store.decisions(project)
    assert (decision["text_a"], decision["text_b"], decision["same"]) == ("fever", "pyrexia", True)
