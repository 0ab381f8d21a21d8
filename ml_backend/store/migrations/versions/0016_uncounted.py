"""What reviewers say does not count in a project: proposals for its policy, a log that only grows."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "uncounted",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("attribute", sa.String(length=16), nullable=False),
        sa.Column("task", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.String(length=256), nullable=False),
        sa.Column("reviewer_id", sa.String(length=64), nullable=False),
        sa.Column("known_by", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_uncounted_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uncounted")),
    )
    op.create_index("ix_uncounted_project", "uncounted", ["project", "attribute", "task", "id"])


def downgrade() -> None:
    """Change it back."""
    op.drop_table("uncounted")
