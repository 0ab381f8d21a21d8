"""What people ask for on the pages and the scorer process computes: audits, and comparisons of measures."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "comparisons",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(length=256), nullable=False),
        sa.Column("measures", sa.JSON(), nullable=False),
        sa.Column("wanted_at", sa.Float(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("result_at", sa.Float(), nullable=True),
        sa.Column("based_on", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_comparisons_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "control", name=op.f("pk_comparisons")),
    )
    op.add_column("audits", sa.Column("drawn_from", sa.JSON(), nullable=True))
    op.add_column("audits", sa.Column("asked_at", sa.Float(), nullable=True))
    op.add_column("audits", sa.Column("problem", sa.Text(), nullable=True))


def downgrade() -> None:
    """Change it back."""
    for column in ("drawn_from", "asked_at", "problem"):
        op.drop_column("audits", column)
    op.drop_table("comparisons")
