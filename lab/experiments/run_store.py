"""The scores of a run in one SQLite file, so that a resumed run scores no population again."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lab.experiments.scoring import Scored, Values
from softirr.answers.ratings import Floats
from softirr.errors import InputError

_LAYOUT = 2
_SCHEMA = f"""
PRAGMA user_version = {_LAYOUT};
CREATE TABLE IF NOT EXISTS populations (
    digest TEXT PRIMARY KEY, source TEXT NOT NULL, setting TEXT NOT NULL, negatives TEXT NOT NULL,
    number INTEGER NOT NULL, truth TEXT NOT NULL, about TEXT NOT NULL, arrays BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS scores (
    digest TEXT NOT NULL REFERENCES populations (digest), measure TEXT NOT NULL,
    label TEXT NOT NULL, estimates TEXT NOT NULL, pairs INTEGER NOT NULL, texts INTEGER NOT NULL,
    seconds REAL NOT NULL, prompts INTEGER NOT NULL, arrays BLOB NOT NULL, PRIMARY KEY (digest, measure)
);
CREATE TABLE IF NOT EXISTS commands (command TEXT NOT NULL, softirr TEXT NOT NULL, PRIMARY KEY (command, softirr));
CREATE TABLE IF NOT EXISTS made_with (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True)
class PopulationRow:
    """A population or an annotated table, as the store knows it.

    Attributes
    ----------
    source : str
        Name of the terminology or table.
    truth : dict
        Coefficients by the codes.
    about : dict
        Counts and notes for the report.
    """

    digest: str
    source: str
    setting: str
    negatives: str
    number: int
    truth: Values
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """One population under one measure."""

    population: PopulationRow
    measure: str
    label: str
    estimates: dict[str, Values]
    pairs: int
    texts: int
    seconds: float
    prompts: int

    def error(self, coefficient: str = "cohen_kappa", assignment: str = "optimal") -> float | None:
        """|estimate - truth|, or None if one of them is not defined."""
        estimate, truth = self.estimates[assignment][coefficient], self.population.truth[coefficient]
        return None if estimate is None or truth is None else abs(estimate - truth)


@dataclass(frozen=True, eq=False)
class Arrays:
    """What :class:`Scored` has of a table, by the codes or by a measure: the same-item pairs, and the contributions."""

    same: Floats
    contributions: dict[str, Floats]


class RunStore:
    """The scores of a run folder.

    Parameters
    ----------
    folder : Path
        Made if it is missing; contains ``scores.sqlite``.

    Raises
    ------
    InputError
        If the file can't be used, or an earlier version wrote it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(folder / "scores.sqlite", timeout=60)
            self._db.execute("PRAGMA journal_mode=WAL")
            tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and self._db.execute("PRAGMA user_version").fetchone()[0] != _LAYOUT:
                raise InputError(f"{folder} is of another version of softirr: give another folder with --output.")
            self._db.executescript(_SCHEMA)
        except OSError as error:
            raise InputError(f"{folder} can't be written: {error.strerror or error}.") from None
        except sqlite3.Error as error:
            raise InputError(f"{folder / 'scores.sqlite'} can't be used: {error}.") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def settle(self, **options: object) -> None:
        """Store what the folder's results depend on, and refuse other values.

        Raises
        ------
        InputError
            If the folder was made with another value of one of the options.
        """
        settings = dict(self._db.execute("SELECT name, value FROM made_with"))
        for name, value in options.items():
            if settings.get(name, str(value)) != str(value):
                raise InputError(
                    f"The run folder was made with {name} {settings[name]}, not {value}: give another folder with "
                    "--output."
                )
        self._insert("OR IGNORE INTO made_with", *((name, str(value)) for name, value in options.items()))

    def remember(self, command: str, version: str) -> None:
        """Store a command that worked on the folder, and the version of softirr; repeated commands once."""
        self._insert("OR IGNORE INTO commands", (command, version))

    def commands(self) -> list[tuple[str, str]]:
        """Commands and versions, the oldest first."""
        return list(self._db.execute("SELECT command, softirr FROM commands ORDER BY rowid"))

    def has(self, digest: str, measure: str) -> bool:
        """Whether this was scored."""
        query = "SELECT 1 FROM scores WHERE digest = ? AND measure = ?"
        return self._db.execute(query, (digest, measure)).fetchone() is not None

    def labels(self) -> dict[str, str]:
        """The measure of each label."""
        return dict(self._db.execute("SELECT DISTINCT label, measure FROM scores"))

    def put_population(self, row: PopulationRow, truth: Scored) -> None:
        """Store a population and the truth about it."""
        packed = (json.dumps(row.truth), json.dumps(row.about), _packed(truth))
        self._insert(
            "OR IGNORE INTO populations", (row.digest, row.source, row.setting, row.negatives, row.number, *packed)
        )

    def put(self, digest: str, measure: str, label: str, scored: Scored, prompts: int) -> None:
        """Store the scores of a population under a measure."""
        cost = (scored.pairs, scored.texts, scored.seconds, prompts)
        row = (digest, measure, label, json.dumps(scored.estimates), *cost, _packed(scored))
        self._insert("OR REPLACE INTO scores", row)

    def records(self) -> list[Record]:
        """Everything scored, ordered by population, then measure."""
        query = (
            "SELECT p.digest, source, setting, negatives, number, truth, about,"
            " measure, label, estimates, pairs, texts, seconds, prompts"
            " FROM scores JOIN populations p USING (digest)"
            " ORDER BY setting, source, negatives, number, label"
        )
        with closing(self._db.execute(query)) as rows:
            return [_record(*row) for row in rows]

    def truth(self, digest: str) -> Arrays:
        """Arrays of a population by its codes."""
        return self._arrays("SELECT arrays FROM populations WHERE digest = ?", digest)

    def scores(self, record: Record) -> Arrays:
        """Arrays of a record."""
        query = "SELECT arrays FROM scores WHERE digest = ? AND measure = ?"
        return self._arrays(query, record.population.digest, record.measure)

    def _arrays(self, query: str, *key: str) -> Arrays:
        (packed,) = self._db.execute(query, key).fetchone()
        with np.load(io.BytesIO(packed), allow_pickle=False) as packed_arrays:
            arrays = {name: packed_arrays[name] for name in packed_arrays.files}
        return Arrays(arrays.pop("same"), arrays)

    def _insert(self, into: str, *rows: tuple[object, ...]) -> None:
        marks = ", ".join("?" for _ in rows[0])
        with self._db:
            self._db.executemany(f"INSERT {into} VALUES ({marks})", rows)  # noqa: S608 - no user's text in it


def _record(*row: Any) -> Record:
    digest, source, setting, negatives, number, truth, counts = row[:7]
    measure, label, estimates, *cost = row[7:]
    population = PopulationRow(digest, source, setting, negatives, number, json.loads(truth), json.loads(counts))
    return Record(population, measure, label, json.loads(estimates), *cost)


def _packed(scored: Scored) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, same=scored.same, **scored.contributions)
    return out.getvalue()
