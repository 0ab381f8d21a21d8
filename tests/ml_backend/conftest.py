"""Stores in SQLite and in PostgreSQL, for the tests in this folder."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from ml_backend.store.store import Store
from tests.ml_backend.bench import OPEN, Bench
from tests.ml_backend.own_session import LabelStudio
from tests.ml_backend.protocol_calls import calling
from tests.ml_backend.seeded_store import Seeded
from tests.servers import postgres

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server that the tests share."""
    with tempfile.TemporaryDirectory(prefix="softirr-postgres-") as home, postgres(Path(home)) as url:
        yield url


@pytest.fixture(scope="session")
def new_postgres_database(postgres_url: str) -> Callable[..., str]:
    """Make an empty database on that server; its URL."""
    server = sa.create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")

    def make() -> str:
        name = f"test_{next(_numbers)}"
        with server.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name}")
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        return postgres_url.rpartition("/")[0] + f"/{name}"

    return make


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    url: str = request.getfixturevalue("new_postgres_database")()
    return url


@pytest.fixture
def store(empty_database: str) -> Iterator[Store]:
    """A store with the present schema, in each kind of database."""
    store = Store(empty_database)
    store.migrate()
    yield store
    store.close()


@pytest.fixture(autouse=True)
def close_stores() -> Iterator[None]:
    """Close the stores that a test has made with `Bench` or `Seeded`."""
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def seed(tmp_path: Path) -> Callable[..., Seeded]:
    """Make a store with tasks that are scored."""
    return functools.partial(Seeded.scored, tmp_path)


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    """The usual tasks, scored."""
    return seed()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project in a fake Label Studio, with a store."""
    return Bench(tmp_path)


@pytest.fixture
def label_studio(monkeypatch: pytest.MonkeyPatch) -> LabelStudio:
    answers, original_client = LabelStudio(), httpx.Client
    monkeypatch.setattr(
        httpx, "Client", lambda **options: original_client(**options, transport=httpx.MockTransport(answers))
    )
    return answers


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    """Sends what Label Studio's connection sends, the secret included."""
    return calling(bench)
