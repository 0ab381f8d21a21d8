"""The scores of a run in one SQLite file, so that a resumed run scores no population again."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.pools import Pool, pack, unpack
from softirr.lab.experiments.scoring import Scored
from softirr.tables.ratings import Floats

_SCHEMA = """
CREATE TABLE IF NOT EXISTS populations (
    digest TEXT PRIMARY KEY, source TEXT NOT NULL, setting TEXT NOT NULL, negatives TEXT NOT NULL, number INTEGER NOT NULL,
    target REAL, truth TEXT NOT NULL, about TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS scores (
    digest TEXT NOT NULL REFERENCES populations (digest), measure TEXT NOT NULL, chance TEXT NOT NULL,
    label TEXT NOT NULL, estimates TEXT NOT NULL, pools BLOB NOT NULL, pairs INTEGER NOT NULL, texts INTEGER NOT NULL,
    seconds REAL NOT NULL, prompts INTEGER NOT NULL, PRIMARY KEY (digest, measure, chance)
);
CREATE TABLE IF NOT EXISTS items (
    digest TEXT NOT NULL, measure TEXT NOT NULL, chance TEXT NOT NULL, contributions BLOB NOT NULL,
    PRIMARY KEY (digest, measure, chance)
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
        Counts for the report.
    """

    digest: str
    source: str
    setting: str
    negatives: str
    number: int
    target: float | None
    truth: dict[str, float | None]
    about: dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One population under one measure."""

    population: PopulationRow
    measure: str
    label: str
    chance: str
    estimates: dict[str, dict[str, float | None]]
    pairs: int
    texts: int
    seconds: float
    prompts: int

    def error(self, coefficient: str = "cohen_kappa", assignment: str = "optimal") -> float | None:
        """|estimate - truth|, or None where one of them is not defined."""
        estimate, truth = self.estimates[assignment][coefficient], self.population.truth[coefficient]
        return None if estimate is None or truth is None else abs(estimate - truth)


class RunStore:
    """The scores of a run folder.

    Parameters
    ----------
    folder : Path
        Made if it is missing; holds ``scores.sqlite``.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(folder / "scores.sqlite", timeout=60)
            self._db.execute("PRAGMA journal_mode=WAL")
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
        known = dict(self._db.execute("SELECT name, value FROM made_with"))
        for name, value in options.items():
            if known.get(name, str(value)) != str(value):
                raise InputError(
                    f"The run folder was made with {name} {known[name]}, not {value}: give another folder with --output."
                )
        with self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO made_with VALUES (?, ?)", [(n, str(v)) for n, v in options.items()]
            )

    def remember(self, command: str, version: str) -> None:
        """Store a command that worked on the folder, and the version of softirr; repeated commands once."""
        with self._db:
            self._db.execute("INSERT OR IGNORE INTO commands VALUES (?, ?)", (command, version))

    def commands(self) -> list[tuple[str, str]]:
        """Commands and versions, the oldest first."""
        return list(self._db.execute("SELECT command, softirr FROM commands ORDER BY rowid"))

    def has(self, digest: str, measure: str, chance: str) -> bool:
        """Whether this was scored."""
        query = "SELECT 1 FROM scores WHERE digest = ? AND measure = ? AND chance = ?"
        return self._db.execute(query, (digest, measure, chance)).fetchone() is not None

    def scored(self) -> frozenset[tuple[str, str, str]]:
        """(digest, measure, chance) of everything that was scored."""
        return frozenset(self._db.execute("SELECT digest, measure, chance FROM scores"))

    def put_population(self, row: PopulationRow) -> None:
        """Store a population and its truth."""
        with self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO populations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.digest,
                    row.source,
                    row.setting,
                    row.negatives,
                    row.number,
                    row.target,
                    json.dumps(row.truth),
                    json.dumps(row.about),
                ),
            )

    def put(self, digest: str, measure: str, chance: str, label: str, scored: Scored, prompts: int) -> None:
        """Store the scores of a population under a measure."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    digest,
                    measure,
                    chance,
                    label,
                    json.dumps(scored.estimates),
                    pack(scored.same, scored.chance),
                    scored.pairs,
                    scored.texts,
                    scored.seconds,
                    prompts,
                ),
            )

    def records(self, *, chance: str | None = None) -> list[Record]:
        """Everything scored, ordered by population, then measure."""
        query = (
            "SELECT p.digest, source, setting, negatives, number, target, truth, about,"
            " measure, label, chance, estimates, pairs, texts, seconds, prompts"
            " FROM scores JOIN populations p USING (digest)"
            " ORDER BY source, setting, negatives, number, label"
        )
        records = []
        with closing(self._db.execute(query)) as rows:
            for row in rows:
                if chance is not None and row[10] != chance:
                    continue
                digest, source, setting, negatives, number, target, truth, about, measure, label, name, estimates = row[
                    :12
                ]
                population = PopulationRow(
                    digest, source, setting, negatives, number, target, json.loads(truth), json.loads(about)
                )
                records.append(Record(population, measure, label, name, json.loads(estimates), *row[12:]))
        return records

    def put_items(self, digest: str, measure: str, chance: str, contributions: Mapping[str, Floats]) -> None:
        """Store each item's contribution to each coefficient (its value plus the item's influence)."""
        out = io.BytesIO()
        np.savez_compressed(out, **dict(contributions))  # type: ignore[arg-type]
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", (digest, measure, chance, out.getvalue())
            )

    def items(self, digest: str, measure: str, chance: str) -> dict[str, Floats]:
        """What :meth:`put_items` stored; empty if nothing."""
        query = "SELECT contributions FROM items WHERE digest = ? AND measure = ? AND chance = ?"
        row = self._db.execute(query, (digest, measure, chance)).fetchone()
        if row is None:
            return {}
        with np.load(io.BytesIO(row[0]), allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}

    def pools(self, record: Record) -> tuple[Pool, Pool]:
        """Same-item and chance pairs of a record."""
        query = "SELECT pools FROM scores WHERE digest = ? AND measure = ? AND chance = ?"
        key = (record.population.digest, record.measure, record.chance)
        return unpack(self._db.execute(query, key).fetchone()[0])

    def each(self, records: list[Record]) -> Iterator[tuple[Record, Pool, Pool]]:
        """Records with their pools, one at a time."""
        for record in records:
            same, chance = self.pools(record)
            yield record, same, chance
