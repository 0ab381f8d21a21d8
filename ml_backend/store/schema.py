"""Tables of the store. Migrations in ``migrations/`` bring a database to this state."""

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

service = sa.Table(
    "service",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),  # "secret": key of all panel keys; counters for /metrics
    sa.Column("value", sa.Text, nullable=False),
)

counters = sa.Table(
    "counters",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Float, nullable=False),
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
    sa.Column("controls", sa.JSON, nullable=False, default=list),
    sa.Column("control_history", sa.JSON),  # TextArea -> [[since, until], ...]: when the label config had it
    sa.Column("raters", sa.JSON, nullable=False, default=dict),  # rater id -> name
    sa.Column("required", sa.Integer, nullable=False, server_default="1"),  # annotations that each task is to get
    sa.Column("chosen", sa.JSON, nullable=False, default=dict),  # options given by softirr-ls
    sa.Column("extra_params", sa.JSON, nullable=False, default=dict),  # options given by the connection
    sa.Column("connection", sa.JSON, nullable=False, default=dict),  # what connect made and what was there before
    sa.Column("origins", sa.JSON, nullable=False, default=list),  # where people open this Label Studio
    sa.Column("key_round", sa.Integer, nullable=False, default=0),
    sa.Column("webhook_secret", sa.String(128)),
    sa.Column("fingerprint", sa.String(64)),  # of settings, model and label config that the tasks were pulled under
    sa.Column("watermark", sa.String(64)),  # all changes up to this task.updated_at were read, in Label Studio's clock
    sa.Column(
        "watermark_at", sa.Float
    ),  # since when (this machine's clock); null: so long ago that no older change can still appear
    sa.Column("seen_versions", sa.JSON),  # model versions and numbers of their predictions at the last complete pull
    sa.Column("generation", sa.Integer, nullable=False, default=0),  # number of the last complete pull
    sa.Column("pulled_at", sa.Float),
    sa.Column("checked_at", sa.Float),
    sa.Column("wanted_at", sa.Float),  # a wake-up that is not served yet
    sa.Column("wanted_full", sa.Boolean, nullable=False, default=False),
    sa.Column("summary", sa.JSON),  # control -> report without its items
    sa.Column("summary_at", sa.Float),
    sa.Column("summary_stale", sa.Boolean, nullable=False, default=False),
    sa.Column("summary_due", sa.Float),  # stale coefficients are computed again from then on
    sa.Column("lease_owner", sa.String(128)),
    sa.Column("lease_until", sa.Float),
    sa.UniqueConstraint("server", "number"),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("updated_at", sa.String(64)),
    sa.Column("generation", sa.Integer, nullable=False, default=0),
    sa.Column("n_annotations", sa.Integer, nullable=False, default=0),
    sa.Column("n_answers", sa.Integer, nullable=False, default=0),  # largest number of answers of any control
    sa.Column("answers", sa.JSON, nullable=False, default=dict),  # control -> {"answers": ..., "excluded": ...}
    sa.Column("answers_hash", sa.String(64), nullable=False, default=""),
    sa.Column(
        "facts", sa.JSON(none_as_null=True)
    ),  # what reports group and date tasks by; null: read before there were any
    sa.Column("scored_hash", sa.String(64)),  # answers_hash at scoring; differs: to be scored
    sa.Column("agreement", sa.Float),
    sa.Column("details", sa.JSON),
    sa.Column("scored_at", sa.Float),
    sa.Column("desired", sa.String(64)),  # hash of the prediction that should be there
    sa.Column(
        "actual", sa.JSON, nullable=False, default=list
    ),  # [[prediction id or null, hash]] as last seen or written
    sa.Column("write", sa.Boolean, nullable=False, default=False),  # desired and actual differ
    sa.Column("suspect", sa.Boolean, nullable=False, default=False),  # a hint says that it changed or is gone
    sa.Column("in_flight", sa.Boolean, nullable=False, default=False),  # being written: what arrived is unknown
    sa.Column("columns_at", sa.Float),  # when its columns of the triage tab were written
    sa.Index("ix_tasks_project_write", "project", "write"),
    sa.Index("ix_tasks_project_agreement", "project", "agreement"),
)

# How the answers to each field are split. It is decided once, so that a task's score does not change with answers that
# come later.
splittings = sa.Table(
    "splittings",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("control", sa.String(256), primary_key=True),
    sa.Column("mode", sa.String(16), nullable=False),  # as the policy says
    sa.Column("marks", sa.JSON, nullable=False),
    sa.Column("joiner", sa.String(16), nullable=False),
    sa.Column("alone", sa.JSON, nullable=False),  # texts that stand alone: "and" splits between such texts
    sa.Column("answers", sa.Integer, nullable=False),  # that were there when it was decided
    sa.Column("at", sa.Float, nullable=False),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("reason", sa.String(64), nullable=False, default=""),
    sa.Column("phase", sa.String(32), nullable=False, default=""),
    sa.Column("done", sa.Integer, nullable=False, default=0),
    sa.Column("total", sa.Integer),
    sa.Column("pairs", sa.BigInteger, nullable=False, default=0),
    sa.Column("requested_at", sa.Float, nullable=False),
    sa.Column("started_at", sa.Float),
    sa.Column("phase_at", sa.Float),
    sa.Column("seen_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("message", sa.Text, nullable=False, default=""),
    sa.Column("result", sa.JSON),
    sa.Index("ix_jobs_project_id", "project", "id"),
)

# A log: rows are added, never changed. The newest row of a pair is its current decision; a withdrawal is a row too.
decisions = sa.Table(
    "decisions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("pair", sa.String(64), nullable=False),  # hash of the two normalized texts, smaller first
    sa.Column("text_a", sa.Text, nullable=False),
    sa.Column("text_b", sa.Text, nullable=False),
    sa.Column("same", sa.Boolean, nullable=False),
    sa.Column("task", sa.Integer),
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),  # their name then
    sa.Column("decided_at", sa.Float, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Column("reviewer_id", sa.String(64), nullable=False, default="", server_default=""),  # user in Label Studio
    sa.Column(
        "known_by", sa.String(16), nullable=False, default="", server_default=""
    ),  # session, link; "": not verified
    sa.Index("ix_decisions_project_pair", "project", "pair", "id"),
)

reviewed = sa.Table(
    "reviewed",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("answers_hash", sa.String(64), nullable=False, default=""),  # the mark lapses when the answers change
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("sent_back", sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Column("note", sa.Text, nullable=False, default="", server_default=""),  # what annotators are asked to do
)

# A log: rows are added, never changed. The newest row of an attribute and task is the current one; a withdrawal is a
# row too.
uncounted = sa.Table(
    "uncounted",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("attribute", sa.String(16), nullable=False),  # it does not count in the project, a reviewer says
    sa.Column("task", sa.Integer, nullable=False),  # where they saw it
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),  # their name then
    sa.Column("reviewer_id", sa.String(64), nullable=False, default=""),  # user in Label Studio
    sa.Column("known_by", sa.String(16), nullable=False, default=""),  # session, link
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False, default=False),
    sa.Index("ix_uncounted_project", "project", "attribute", "task", "id"),
)

audits = sa.Table(
    "audits",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("control", sa.String(256), nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("wanted", sa.Integer, nullable=False),  # judgments that were asked for
    sa.Column("sheet", sa.JSON, nullable=False),  # [[unit, pair, text_a, text_b]] in the order of judging
    sa.Column("answers", sa.JSON, nullable=False),  # what the sample was drawn from: items, and [item, rater, texts]
    sa.Column("drawn_from", sa.JSON),  # task -> hash of its answers then
    sa.Column("answers_hash", sa.String(64), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("created_by", sa.String(256), nullable=False, default=""),
    sa.Column("asked_at", sa.Float),  # to be drawn, or to be worked out, and not done yet
    sa.Column("problem", sa.Text),  # why it can't be
    sa.Column("result", sa.JSON),  # the audited report, without items
    sa.Column("result_at", sa.Float),
    sa.Column("look_asked_at", sa.Float),  # the width of the interval is to be worked out, while judging goes on
    sa.Column("looks", sa.JSON),  # [{"judged", "width", "needed"}]: widths only, so that no judge is influenced
    sa.Index("ix_audits_project_id", "project", "id"),
)

audit_judgements = sa.Table(
    "audit_judgements",
    metadata,
    sa.Column("audit", sa.Integer, sa.ForeignKey("audits.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),  # row of the sheet
    sa.Column("judge", sa.String(256), primary_key=True),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)

# A log: rows are added, never changed. The newest row of a task's field is its agreed answer; a withdrawal is a row
# too.
agreed_answers = sa.Table(
    "agreed_answers",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("task", sa.Integer, nullable=False),
    sa.Column("control", sa.String(256), nullable=False),
    sa.Column("texts", sa.JSON, nullable=False),  # none: it is agreed that there is nothing to say
    sa.Column("codes", sa.JSON),  # text -> its concepts, where the project has a terminology
    sa.Column("source", sa.String(16), nullable=False),  # panel, annotation or ground truth
    sa.Column("annotation", sa.Integer),  # in Label Studio
    sa.Column("edited", sa.Boolean),  # it differs from the suggestion; null: unknown
    sa.Column("given_hash", sa.String(64), nullable=False, default=""),  # of the annotators' answers then
    sa.Column("reviewer", sa.String(256), nullable=False, default=""),  # their name then
    sa.Column("reviewer_id", sa.String(64), nullable=False, default=""),  # user in Label Studio
    sa.Column("known_by", sa.String(16), nullable=False, default=""),  # session, link or label studio
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False, default=False),
    sa.Index("ix_agreed_answers_project_task", "project", "task", "control", "id"),
)

policy_looks = sa.Table(
    "policy_looks",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("control", sa.String(256), primary_key=True),
    sa.Column("policies", sa.JSON, nullable=False),  # the lead's own candidates
    sa.Column("wanted_at", sa.Float),  # asked for and not computed yet
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
)

codebooks = sa.Table(
    "codebooks",
    metadata,
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("control", sa.String(256), primary_key=True),
    sa.Column("wanted_at", sa.Float),  # asked for and not made yet
    sa.Column("comparisons", sa.JSON),  # softirr.report.codebook.Comparisons.to_dict()
    sa.Column("made_at", sa.Float),
    sa.Column("based_on", sa.String(64)),  # what the answers were like then
    sa.Column("problem", sa.Text),  # why it could not be made
)

side_by_side = sa.Table(
    "side_by_side",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("question", sa.JSON, nullable=False),  # what is compared
    sa.Column("asked_at", sa.Float, nullable=False),
    sa.Column("wanted_at", sa.Float),  # asked for and not computed yet
    sa.Column("problem", sa.Text),  # why it can't be computed
    sa.Column("result", sa.JSON),
    sa.Column("result_at", sa.Float),
    sa.Column("based_on", sa.String(64)),  # what answers and decisions were like then
    sa.Index("ix_side_by_side_project_id", "project", "id"),
)
