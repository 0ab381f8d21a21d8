"""The six tables of the store."""

import sqlalchemy as sa

SCHEMA = 3
"""Version of the tables; the row ``schema`` of the table ``service`` names it."""

DECISION, DONE, SENT_BACK, REOPENED, AGREED = "decision", "done", "sent back", "reopened", "agreed"
"""Kinds of acts."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _project(*, primary_key: bool = False) -> sa.Column[int]:
    reference = sa.ForeignKey("projects.id", ondelete="CASCADE")
    return sa.Column("project", sa.Integer, reference, primary_key=primary_key, nullable=False)


service = sa.Table(
    "service",
    metadata,
    sa.Column("name", sa.String(96), primary_key=True),  # schema, secret, count:NAME, alive:NAME, run:PROJECT
    sa.Column("value", sa.Text, nullable=False),
)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("server", sa.String(512), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # the project's id in Label Studio
    sa.Column("born", sa.String(64)),  # created_at in Label Studio: a re-created server reuses numbers
    sa.Column("title", sa.Text, nullable=False, default=""),
    sa.Column("label_config", sa.Text, nullable=False, default=""),
    sa.Column("controls", sa.JSON, nullable=False, default=list),  # TextAreas, with what their answers decide
    sa.Column("control_history", sa.JSON),  # TextArea -> [[since, until], ...]: when the label config had it
    sa.Column("raters", sa.JSON, nullable=False, default=dict),  # rater id -> name
    sa.Column("required", sa.Integer, nullable=False, default=1),  # annotations that each task needs
    sa.Column("chosen", sa.JSON, nullable=False, default=dict),  # settings from softirr-ls
    sa.Column("extra_params", sa.JSON, nullable=False, default=dict),  # settings from the connection
    sa.Column("connection", sa.JSON, nullable=False, default=dict),  # what connect changed, and the values before
    sa.Column("origins", sa.JSON, nullable=False, default=list),  # addresses at which browsers open Label Studio
    sa.Column("key_round", sa.Integer, nullable=False, default=0),
    sa.Column("webhook_secret", sa.String(128)),
    sa.Column("fingerprint", sa.String(64)),  # of settings, model and label config under which tasks were read
    sa.Column("other_versions", sa.JSON),  # other model versions -> number of predictions, if these are raters
    sa.Column("pulled_at", sa.Float),  # when every task was read; null: every task has to be read
    sa.Column("list_due", sa.Float),  # from then on the whole list of tasks is compared again
    sa.Column("checked_at", sa.Float),
    sa.Column("due_at", sa.Float),  # the worker updates the project from then on; null: never
    sa.Column("not_before", sa.Float),  # pause after a failure
    sa.Column("held_until", sa.Float),  # until then a command has the project to itself
    sa.Column("summary", sa.JSON),  # control -> report without its items
    sa.Column("summary_at", sa.Float),
    sa.Column("summary_stale", sa.Boolean, nullable=False, default=False),
    sa.Column("summary_due", sa.Float),  # stale coefficients are computed again from then on
    sa.UniqueConstraint("server", "number"),
)

tasks = sa.Table(
    "tasks",
    metadata,
    _project(primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("updated_at", sa.String(64)),  # as Label Studio listed it when the task was read
    sa.Column("again_at", sa.Float),  # from then on the task is read again, whatever Label Studio lists
    sa.Column("n_listed", sa.Integer, nullable=False, default=0),  # annotations as Label Studio counts them
    sa.Column("n_annotations", sa.Integer, nullable=False, default=0),  # without agreed answers
    sa.Column("answers", sa.JSON, nullable=False, default=dict),  # raw: control -> {"answers": ..., "excluded": ...}
    sa.Column("answers_hash", sa.String(64), nullable=False, default=""),
    sa.Column("facts", sa.JSON(none_as_null=True)),  # data, seconds, regions and other fields
    sa.Column("scored_hash", sa.String(64)),  # answers_hash at scoring; differs: score it
    sa.Column("agreement", sa.Float),
    sa.Column("details", sa.JSON),
    sa.Column("scored_at", sa.Float),
    sa.Column("desired", sa.String(64)),  # hash of the prediction that Label Studio should have
    sa.Column("prediction_hash", sa.String(64)),  # hash of the prediction that it has; "": none; null: unknown
    sa.Column("prediction_id", sa.Integer),  # null: unknown, as after a bulk import
    sa.Index("ix_tasks_project_agreement", "project", "agreement"),
)

# A log: rows are added, never changed. The newest row about a pair, a task or a field counts.
acts = sa.Table(
    "acts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _project(),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("task", sa.Integer),
    sa.Column("control", sa.String(256)),
    sa.Column("pair", sa.String(64)),  # hash of the two normalized texts of a decision
    sa.Column("content", sa.JSON, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False, default=False),
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),  # the person's name then
    sa.Column("reviewer_id", sa.String(64), nullable=False, default=""),  # user in Label Studio
    sa.Column("known_by", sa.String(16), nullable=False, default=""),  # session, link, label studio; "": not verified
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("ix_acts_project_kind", "project", "kind", "task"),
)

audits = sa.Table(
    "audits",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _project(),
    sa.Column("control", sa.String(256), nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("wanted", sa.Integer, nullable=False),  # number of judgments to draw
    sa.Column("sheet", sa.JSON, nullable=False),  # [[unit, pair, text_a, text_b]] in the order of judging
    sa.Column("judgments", sa.JSON, nullable=False, default=list),  # [[row of the sheet, judge, verdict, time]]
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("created_by", sa.String(256), nullable=False, default=""),
    sa.Index("ix_audits_project_id", "project", "id"),
)

requests = sa.Table(
    "requests",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _project(),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("question", sa.JSON, nullable=False),  # such as {"audit": 3}
    sa.Column("asked_at", sa.Float, nullable=False),
    sa.Column("wanted_at", sa.Float),  # the worker has to compute it
    sa.Column("problem", sa.Text),  # why it can't be computed
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
    sa.Column("based_on", sa.String(64)),  # hash of the result's inputs
    sa.Index("ix_requests_project_id", "project", "id"),
)
