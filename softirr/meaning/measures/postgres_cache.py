"""Scored pairs in PostgreSQL."""

from __future__ import annotations

from typing import Any

from softirr.errors import InputError
from softirr.meaning.measures.pair_cache import ROWS_AT_ONCE, PairCache

__all__ = ["PostgresCache"]


class PostgresCache(PairCache):
    """Scored pairs in a table ``softirr_scored_pairs`` of a PostgreSQL database, for several machines.

    Parameters
    ----------
    url
        ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises
    ------
    InputError
        If the driver is not installed or the database can't be reached.
    """

    def __init__(self, url: str) -> None:
        import sqlalchemy as sa

        self._text = sa.text
        try:
            address = sa.make_url(url).set(drivername="postgresql+psycopg")
            self._engine = sa.create_engine(address, pool_pre_ping=True)
            with self._engine.begin() as connection:
                # two processes that start together must not both create the table
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('softirr_scored_pairs'))"))
                connection.execute(
                    sa.text(
                        "CREATE TABLE IF NOT EXISTS softirr_scored_pairs (pair bytea PRIMARY KEY, "
                        "forward double precision NOT NULL, backward double precision NOT NULL)"
                    )
                )
        except ImportError as error:
            raise InputError("A cache in PostgreSQL needs its driver; install softirr[postgres].") from error
        except sa.exc.SQLAlchemyError as error:
            raise InputError("The database of the cache can't be reached or used; check its URL.") from error

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()

    def _read(self, keys: list[bytes]) -> list[Any]:
        query = self._text("SELECT pair, forward, backward FROM softirr_scored_pairs WHERE pair = ANY(:keys)")
        rows: list[Any] = []
        with self._engine.connect() as connection:
            for start in range(0, len(keys), ROWS_AT_ONCE):
                rows.extend(connection.execute(query, {"keys": keys[start : start + ROWS_AT_ONCE]}).fetchall())
        return rows

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        query = self._text(
            "INSERT INTO softirr_scored_pairs SELECT * FROM unnest(CAST(:keys AS bytea[]), CAST(:forward AS float8[]), "
            "CAST(:backward AS float8[])) ON CONFLICT (pair) "
            "DO UPDATE SET forward = EXCLUDED.forward, backward = EXCLUDED.backward"
        )
        with self._engine.begin() as connection:
            for start in range(0, len(rows), ROWS_AT_ONCE):
                keys, forward, backward = map(list, zip(*rows[start : start + ROWS_AT_ONCE], strict=True))
                connection.execute(query, {"keys": keys, "forward": forward, "backward": backward})
