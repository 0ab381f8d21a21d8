"""The schema of this version: makes an empty database, and adds what a store of an earlier revision lacks.

Revisions 0001 to 0016 are squashed into this one. Each of them only added tables, columns and indexes, except that 0006 turned decisions
into a log. The tables below are frozen: later changes of `ml_backend.store.schema` get their own revision.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = None
branch_labels = None
depends_on = None

METADATA = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
ONE_DECISION_PER_PAIR = "uq_decisions_project"
"""Constraint of the decisions before revision 0006."""


def key(name: str, target: str = "projects.id", *, primary: bool = False) -> sa.Column[int]:
    """Column that refers to a row of another table and goes with it."""
    return sa.Column(name, sa.Integer, sa.ForeignKey(target, ondelete="CASCADE"), primary_key=primary, nullable=False)


def required(name: str, kind: Any) -> sa.Column[Any]:
    """Column that is never null."""
    return sa.Column(name, kind, nullable=False)


sa.Table(
    "counters",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    required("value", sa.Float),
)

sa.Table(
    "projects",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    required("server", sa.String(512)),
    required("number", sa.Integer),
    sa.Column("born", sa.String(64)),
    required("title", sa.Text),
    required("label_config", sa.Text),
    required("controls", sa.JSON),
    sa.Column("control_history", sa.JSON),
    required("raters", sa.JSON),
    sa.Column("required", sa.Integer, nullable=False, server_default="1"),
    required("chosen", sa.JSON),
    required("extra_params", sa.JSON),
    required("connection", sa.JSON),
    required("origins", sa.JSON),
    required("key_round", sa.Integer),
    sa.Column("webhook_secret", sa.String(128)),
    sa.Column("fingerprint", sa.String(64)),
    sa.Column("watermark", sa.String(64)),
    sa.Column("watermark_at", sa.Float),
    sa.Column("seen_versions", sa.JSON),
    required("generation", sa.Integer),
    sa.Column("pulled_at", sa.Float),
    sa.Column("checked_at", sa.Float),
    sa.Column("wanted_at", sa.Float),
    required("wanted_full", sa.Boolean),
    sa.Column("summary", sa.JSON),
    sa.Column("summary_at", sa.Float),
    required("summary_stale", sa.Boolean),
    sa.Column("summary_due", sa.Float),
    sa.Column("lease_owner", sa.String(128)),
    sa.Column("lease_until", sa.Float),
    sa.UniqueConstraint("server", "number"),
)

sa.Table(
    "service",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    required("value", sa.Text),
)

sa.Table(
    "agreed_answers",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("task", sa.Integer),
    required("control", sa.String(256)),
    required("texts", sa.JSON),
    sa.Column("codes", sa.JSON),
    required("source", sa.String(16)),
    sa.Column("annotation", sa.Integer),
    sa.Column("edited", sa.Boolean),
    required("given_hash", sa.String(64)),
    required("reviewer", sa.String(256)),
    required("reviewer_id", sa.String(64)),
    required("known_by", sa.String(16)),
    required("at", sa.Float),
    required("withdrawn", sa.Boolean),
    sa.Index("ix_agreed_answers_project_task", "project", "task", "control", "id"),
)

sa.Table(
    "audits",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("control", sa.String(256)),
    required("measure", sa.Text),
    required("seed", sa.BigInteger),
    required("wanted", sa.Integer),
    required("sheet", sa.JSON),
    required("answers", sa.JSON),
    sa.Column("drawn_from", sa.JSON),
    required("answers_hash", sa.String(64)),
    required("created_at", sa.Float),
    required("created_by", sa.String(256)),
    sa.Column("asked_at", sa.Float),
    sa.Column("problem", sa.Text),
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
    sa.Column("look_asked_at", sa.Float),
    sa.Column("looks", sa.JSON),
    sa.Index("ix_audits_project_id", "project", "id"),
)

sa.Table(
    "calibrations",
    METADATA,
    key("project", primary=True),
    required("measure", sa.Text),
    required("n", sa.Integer),
    sa.Column("report", sa.JSON),
    sa.Column("problem", sa.Text),
    required("at", sa.Float),
)

sa.Table(
    "codebooks",
    METADATA,
    key("project", primary=True),
    sa.Column("control", sa.String(256), primary_key=True),
    sa.Column("wanted_at", sa.Float),
    sa.Column("comparisons", sa.JSON),
    sa.Column("made_at", sa.Float),
    sa.Column("based_on", sa.String(64)),
    sa.Column("problem", sa.Text),
)

sa.Table(
    "comparisons",
    METADATA,
    key("project", primary=True),
    sa.Column("control", sa.String(256), primary_key=True),
    required("measures", sa.JSON),
    sa.Column("wanted_at", sa.Float),
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
    sa.Column("based_on", sa.String(64)),
)

sa.Table(
    "decisions",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("pair", sa.String(64)),
    required("text_a", sa.Text),
    required("text_b", sa.Text),
    required("same", sa.Boolean),
    sa.Column("task", sa.Integer),
    required("reviewer", sa.String(256)),
    required("decided_at", sa.Float),
    sa.Column("withdrawn", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("reviewer_id", sa.String(64), nullable=False, server_default=""),
    sa.Column("known_by", sa.String(16), nullable=False, server_default=""),
    sa.Index("ix_decisions_project_pair", "project", "pair", "id"),
)

sa.Table(
    "jobs",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("state", sa.String(16)),
    required("reason", sa.String(64)),
    required("phase", sa.String(32)),
    required("done", sa.Integer),
    sa.Column("total", sa.Integer),
    required("pairs", sa.BigInteger),
    required("requested_at", sa.Float),
    sa.Column("started_at", sa.Float),
    sa.Column("phase_at", sa.Float),
    sa.Column("seen_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    required("message", sa.Text),
    sa.Column("result", sa.JSON),
    sa.Index("ix_jobs_project_id", "project", "id"),
)

sa.Table(
    "policy_looks",
    METADATA,
    key("project", primary=True),
    sa.Column("control", sa.String(256), primary_key=True),
    required("policies", sa.JSON),
    sa.Column("wanted_at", sa.Float),
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
)

sa.Table(
    "reviewed",
    METADATA,
    key("project", primary=True),
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    required("answers_hash", sa.String(64)),
    required("reviewer", sa.String(256)),
    required("at", sa.Float),
    sa.Column("sent_back", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
)

sa.Table(
    "side_by_side",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("question", sa.JSON),
    required("asked_at", sa.Float),
    sa.Column("wanted_at", sa.Float),
    sa.Column("problem", sa.Text),
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
    sa.Column("based_on", sa.String(64)),
    sa.Index("ix_side_by_side_project_id", "project", "id"),
)

sa.Table(
    "splittings",
    METADATA,
    key("project", primary=True),
    sa.Column("control", sa.String(256), primary_key=True),
    required("mode", sa.String(16)),
    required("marks", sa.JSON),
    required("joiner", sa.String(16)),
    required("alone", sa.JSON),
    required("answers", sa.Integer),
    required("at", sa.Float),
)

sa.Table(
    "tasks",
    METADATA,
    key("project", primary=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("updated_at", sa.String(64)),
    required("generation", sa.Integer),
    required("n_annotations", sa.Integer),
    required("n_answers", sa.Integer),
    required("answers", sa.JSON),
    required("answers_hash", sa.String(64)),
    sa.Column("facts", sa.JSON),
    sa.Column("scored_hash", sa.String(64)),
    sa.Column("agreement", sa.Float),
    sa.Column("details", sa.JSON),
    sa.Column("scored_at", sa.Float),
    sa.Column("desired", sa.String(64)),
    required("actual", sa.JSON),
    required("write", sa.Boolean),
    required("suspect", sa.Boolean),
    required("in_flight", sa.Boolean),
    sa.Column("columns_at", sa.Float),
    sa.Index("ix_tasks_project_agreement", "project", "agreement"),
    sa.Index("ix_tasks_project_write", "project", "write"),
)

sa.Table(
    "uncounted",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    key("project"),
    required("attribute", sa.String(16)),
    required("task", sa.Integer),
    required("reviewer", sa.String(256)),
    required("reviewer_id", sa.String(64)),
    required("known_by", sa.String(16)),
    required("at", sa.Float),
    required("withdrawn", sa.Boolean),
    sa.Index("ix_uncounted_project", "project", "attribute", "task", "id"),
)

sa.Table(
    "audit_judgements",
    METADATA,
    key("audit", "audits.id", primary=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("judge", sa.String(256), primary_key=True),
    required("verdict", sa.String(16)),
    required("at", sa.Float),
)


def upgrade() -> None:
    """Add what is missing; nothing else changes, except what revision 0006 changed."""
    connection = op.get_bind()
    present = sa.inspect(connection)
    names = present.get_table_names()
    if "decisions" in names:
        decisions_become_a_log(present)
    for table in METADATA.sorted_tables:
        if table.name not in names:
            table.create(connection)
            continue
        columns = {column["name"] for column in present.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                server_default: Any = getattr(column.server_default, "arg", None)
                values = {"nullable": column.nullable, "server_default": server_default}
                op.add_column(table.name, sa.Column(column.name, column.type, **values))
        indexes = {index["name"] for index in present.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)


def decisions_become_a_log(present: sa.Inspector) -> None:
    """Allow several rows of one pair, as revision 0006 did."""
    if ONE_DECISION_PER_PAIR not in {one["name"] for one in present.get_unique_constraints("decisions")}:
        return
    with op.batch_alter_table("decisions") as table:
        table.drop_constraint(ONE_DECISION_PER_PAIR, type_="unique")
    # Anybody could write into this column by calling /setup; softirr-ls connect --label-studio-url fills it now.
    op.execute("UPDATE projects SET origins = '[]'")
