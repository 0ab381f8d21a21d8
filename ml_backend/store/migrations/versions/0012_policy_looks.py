"""Coefficients and moved tasks under candidate policies, which a lead asks for before choosing one."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "policy_looks",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(256), nullable=False),
        sa.Column("policies", sa.JSON(), nullable=False),
        sa.Column("wanted_at", sa.Float()),
        sa.Column("result", sa.JSON()),
        sa.Column("result_at", sa.Float()),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_policy_looks_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "control", name=op.f("pk_policy_looks")),
    )


def downgrade() -> None:
    """Change it back."""
    op.drop_table("policy_looks")
