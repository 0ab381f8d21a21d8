"""What a project's decisions make of its measure's probabilities."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "calibrations",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_calibrations_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_calibrations")),
    )


def downgrade() -> None:
    """Change it back."""
    op.drop_table("calibrations")
