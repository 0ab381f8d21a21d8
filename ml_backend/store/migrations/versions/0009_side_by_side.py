"""Comparisons of projects, fields, groups of tasks, annotators and models."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "side_by_side",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("wanted_at", sa.Float(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("result_at", sa.Float(), nullable=True),
        sa.Column("based_on", sa.String(64), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_side_by_side_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_side_by_side")),
    )
    op.create_index("ix_side_by_side_project_id", "side_by_side", ["project", "id"])


def downgrade() -> None:
    """Change it back."""
    op.drop_index("ix_side_by_side_project_id", "side_by_side")
    op.drop_table("side_by_side")
