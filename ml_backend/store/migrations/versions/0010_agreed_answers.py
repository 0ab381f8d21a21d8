"""The consensus: answers of tasks that a reviewer accepted, a log that only grows."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "agreed_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("task", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(length=256), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("codes", sa.JSON(), nullable=True),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("annotation", sa.Integer(), nullable=True),
        sa.Column("edited", sa.Boolean(), nullable=True),
        sa.Column("given_hash", sa.String(length=64), nullable=False),
        sa.Column("reviewer", sa.String(length=256), nullable=False),
        sa.Column("reviewer_id", sa.String(length=64), nullable=False),
        sa.Column("known_by", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_agreed_answers_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agreed_answers")),
    )
    op.create_index("ix_agreed_answers_project_task", "agreed_answers", ["project", "task", "control", "id"])


def downgrade() -> None:
    """Change it back."""
    op.drop_table("agreed_answers")
