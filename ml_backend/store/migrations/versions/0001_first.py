"""First schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", sa.String(length=512), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("born", sa.String(length=64), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("label_config", sa.Text(), nullable=False),
        sa.Column("controls", sa.JSON(), nullable=False),
        sa.Column("raters", sa.JSON(), nullable=False),
        sa.Column("required", sa.Integer(), server_default="1", nullable=False),
        sa.Column("chosen", sa.JSON(), nullable=False),
        sa.Column("extra_params", sa.JSON(), nullable=False),
        sa.Column("connection", sa.JSON(), nullable=False),
        sa.Column("origins", sa.JSON(), nullable=False),
        sa.Column("key_round", sa.Integer(), nullable=False),
        sa.Column("webhook_secret", sa.String(length=128), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=True),
        sa.Column("watermark", sa.String(length=64), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("pulled_at", sa.Float(), nullable=True),
        sa.Column("checked_at", sa.Float(), nullable=True),
        sa.Column("wanted_at", sa.Float(), nullable=True),
        sa.Column("wanted_full", sa.Boolean(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("summary_at", sa.Float(), nullable=True),
        sa.Column("summary_stale", sa.Boolean(), nullable=False),
        sa.Column("lease_owner", sa.String(length=128), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("server", "number", name=op.f("uq_projects_server")),
    )
    op.create_table(
        "service",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service")),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("pair", sa.String(length=64), nullable=False),
        sa.Column("text_a", sa.Text(), nullable=False),
        sa.Column("text_b", sa.Text(), nullable=False),
        sa.Column("same", sa.Boolean(), nullable=False),
        sa.Column("task", sa.Integer(), nullable=True),
        sa.Column("reviewer", sa.String(length=256), nullable=False),
        sa.Column("decided_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_decisions_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("project", "pair", name=op.f("uq_decisions_project")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("phase", sa.String(length=32), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("pairs", sa.BigInteger(), nullable=False),
        sa.Column("requested_at", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("phase_at", sa.Float(), nullable=True),
        sa.Column("seen_at", sa.Float(), nullable=True),
        sa.Column("finished_at", sa.Float(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_jobs_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_project_id", "jobs", ["project", "id"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.String(length=64), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("n_annotations", sa.Integer(), nullable=False),
        sa.Column("n_answers", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("answers_hash", sa.String(length=64), nullable=False),
        sa.Column("scored_hash", sa.String(length=64), nullable=True),
        sa.Column("agreement", sa.Float(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=True),
        sa.Column("scored_at", sa.Float(), nullable=True),
        sa.Column("desired", sa.String(length=64), nullable=True),
        sa.Column("actual", sa.JSON(), nullable=False),
        sa.Column("write", sa.Boolean(), nullable=False),
        sa.Column("suspect", sa.Boolean(), nullable=False),
        sa.Column("in_flight", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_tasks_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "number", name=op.f("pk_tasks")),
    )
    op.create_index("ix_tasks_project_agreement", "tasks", ["project", "agreement"], unique=False)
    op.create_index("ix_tasks_project_write", "tasks", ["project", "write"], unique=False)


def downgrade() -> None:
    """Change it back."""
    op.drop_index("ix_tasks_project_write", table_name="tasks")
    op.drop_index("ix_tasks_project_agreement", table_name="tasks")
    op.drop_table("tasks")
    op.drop_index("ix_jobs_project_id", table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("decisions")
    op.drop_table("service")
    op.drop_table("projects")
    op.drop_table("counters")
