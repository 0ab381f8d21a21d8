"""Creating the tables, and upgrading a store of release 0.2.0.

The upgrade keeps what people did: projects with their settings, decisions, marks, audits with judgments, and agreed
answers. Tasks and results are computed again from Label Studio.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ml_backend.store.schema import (
    AGREED,
    DECISION,
    DONE,
    SCHEMA,
    SENT_BACK,
    acts,
    audits,
    metadata,
    projects,
    requests,
    service,
)
from ml_backend.store.trouble import RESTORE
from softirr.numbers import plural

log = logging.getLogger(__name__)

RELEASE_0_2 = "0020"
"""Revision of the tables of release 0.2.0."""
OTHER_COLUMNS = "an unreleased softirr made it. Move it away, and connect the projects again."
Rows = list[dict[str, Any]]


class WrongRelease(Exception):
    """The store belongs to a release that this one can't read; the message completes a sentence."""


def bring_up_to_date(connection: Connection) -> None:
    """Create or upgrade the tables, in the connection's transaction.

    Raises
    ------
    WrongRelease
    """
    inspector = sa.inspect(connection)
    if inspector.has_table("alembic_version"):
        _upgrade(connection)
    elif inspector.has_table(service.name):
        version = connection.scalar(sa.select(service.c.value).where(service.c.name == "schema"))
        if version != str(SCHEMA):
            raise WrongRelease("was made by a newer softirr: upgrade this one.")
        if lacking := sorted(set(metadata.tables) - set(inspector.get_table_names())):
            raise WrongRelease(f"lacks the table {lacking[0]}. {RESTORE}")
        for table in metadata.sorted_tables:
            if {column["name"] for column in inspector.get_columns(table.name)} != set(table.columns.keys()):
                raise WrongRelease(f"has other columns in the table {table.name}: {OTHER_COLUMNS}")
    else:
        _create(connection)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    connection.execute(sa.insert(service).values(name="schema", value=str(SCHEMA)))


def _upgrade(connection: Connection) -> None:
    old = sa.MetaData()
    old.reflect(connection)
    revision = connection.scalar(sa.select(old.tables["alembic_version"].c.version_num))
    if revision is not None and revision > RELEASE_0_2:
        raise WrongRelease("was made by a newer softirr: upgrade this one.")
    if revision != RELEASE_0_2:
        raise WrongRelease("was made by a release before 0.2.0: open it with softirr 0.2.0 once, then with this one.")
    table_names = ("service", "projects", "splittings", "decisions", "reviewed", "audits", "agreed_answers")
    old_rows = {name: _rows(connection, old.tables[name]) for name in (*table_names, "audit_judgements")}
    old.drop_all(connection)
    _create(connection)
    now = time.time()
    _insert(connection, service, [row for row in old_rows["service"] if row["name"] == "secret"])
    _insert(connection, projects, [_project(row, old_rows["splittings"], now) for row in old_rows["projects"]])
    _insert(connection, audits, [_audit(row, old_rows["audit_judgements"]) for row in old_rows["audits"]])
    _insert(connection, requests, [request for row in old_rows["audits"] for request in _requests(row, now)])
    log_of_acts = [
        *map(_decision, old_rows["decisions"]),
        *map(_mark, old_rows["reviewed"]),
        *map(_agreed, old_rows["agreed_answers"]),
    ]
    # Sorted by time, so that the numbers of the acts are in that order too.
    _insert(connection, acts, sorted(log_of_acts, key=lambda act: act["at"]))
    _log_upgrade(old_rows)


def _log_upgrade(old_rows: Mapping[str, Rows]) -> None:
    counts_in_words = (
        plural(len(old_rows[table]), noun)
        for table, noun in (
            ("projects", "project"),
            ("decisions", "decision"),
            ("reviewed", "mark"),
            ("audits", "audit"),
            ("audit_judgements", "judgment"),
        )
    )
    agreed = plural(len(old_rows["agreed_answers"]), "agreed answer")
    # A warning, so that a command without a log prints it, whichever command opens the store first.
    log.warning(
        "upgraded the store of softirr 0.2.0 and kept %s, %s, %s, %s, %s and %s; tasks are read and scored again",
        *counts_in_words,
        agreed,
    )


def _rows(connection: Connection, table: sa.Table) -> Rows:
    return [dict(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()]


def _insert(connection: Connection, table: sa.Table, rows: Iterable[Mapping[str, Any]]) -> None:
    if listed := [dict(row) for row in rows]:
        connection.execute(sa.insert(table), listed)


def _project(row: dict[str, Any], splittings: Rows, now: float) -> dict[str, Any]:
    names = (
        *("id", "server", "number", "born", "title", "label_config", "controls", "control_history", "raters"),
        *("required", "chosen", "extra_params", "connection", "origins", "key_round", "webhook_secret"),
    )
    marks = {mark for entry in splittings if entry["project"] == row["id"] for mark in entry["marks"]}
    options = {
        name: {
            option: _policy(value, marks) if option == "policy" and isinstance(value, dict) else value
            for option, value in row[name].items()
            if option != "triage_columns"
        }
        for name in ("chosen", "extra_params")
    }
    due = {"due_at": now if "mode" in row["connection"] else None}
    states = ("unanswered", "opposites")  # found again when the tasks are read
    controls = [{name: value for name, value in control.items() if name not in states} for control in row["controls"]]
    return {name: row[name] for name in names} | options | {"controls": controls} | due


def _policy(policy: dict[str, Any], marks: set[str]) -> dict[str, Any]:
    """Return a policy that splits at the finest mark which ``auto`` had found; ``none`` was not a choice."""
    split = policy.get("split")
    if split == "auto":
        split = next((mode for mode in ("commas", "semicolons", "bullets", "sentences") if mode in marks), "lines")
    return policy | {"split": None if split == "none" else split}


def _audit(row: dict[str, Any], judgments: Rows) -> dict[str, Any]:
    judgments_of_audit = [
        [judgment["place"], judgment["judge"], judgment["verdict"], judgment["at"]]
        for judgment in judgments
        if judgment["audit"] == row["id"]
    ]
    names = ("id", "project", "control", "measure", "seed", "wanted", "sheet", "created_at", "created_by")
    return {name: row[name] for name in names} | {"judgments": sorted(judgments_of_audit, key=lambda entry: entry[3])}


def _requests(row: dict[str, Any], now: float) -> Rows:
    """Return the requests of an audit: pairs that were not drawn, its result, and the looks at its interval."""
    common = {"project": row["project"], "question": {"audit": row["id"]}, "asked_at": row["created_at"]}
    present = {"wanted_at": None, "problem": None, "based_on": ""}
    rows: Rows = []
    if not row["sheet"]:
        rows.append(
            {"kind": "audit sheet", "wanted_at": now, "problem": row["problem"], "result": None, "result_at": None}
        )
    if row["result"]:
        rows.append({"kind": "audit result", "result": row["result"], "result_at": row["result_at"]})
    if row["looks"]:
        rows.append({"kind": "audit look", "result": {"looks": row["looks"]}, "result_at": row["created_at"]})
    return [common | present | entry for entry in rows]


def _decision(row: dict[str, Any]) -> dict[str, Any]:
    return _act(
        row,
        DECISION,
        {name: row[name] for name in ("text_a", "text_b", "same")},
        at=row["decided_at"],
        pair=row["pair"],
        withdrawn=row["withdrawn"],
    )


def _mark(row: dict[str, Any]) -> dict[str, Any]:
    kind = SENT_BACK if row["sent_back"] else DONE
    return _act(row, kind, {name: row[name] for name in ("answers_hash", "note")})


def _agreed(row: dict[str, Any]) -> dict[str, Any]:
    names = ("texts", "source", "annotation", "edited", "given_hash")
    content = {name: row[name] for name in names}
    return _act(row, AGREED, content, control=row["control"], withdrawn=row["withdrawn"])


def _act(row: dict[str, Any], kind: str, content: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {
        "project": row["project"],
        "kind": kind,
        "task": row["task"],
        "control": None,
        "pair": None,
        "content": content,
        "withdrawn": False,
        "reviewer": row["reviewer"],
        "reviewer_id": row.get("reviewer_id", ""),
        "known_by": row.get("known_by", ""),
        "at": row.get("at"),
    } | values
