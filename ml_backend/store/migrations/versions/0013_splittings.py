"""How the answers of each field are split, so that the score of a task does not change with answers that come later."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "splittings",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(256), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("marks", sa.JSON(), nullable=False),
        sa.Column("joiner", sa.String(16), nullable=False),
        sa.Column("alone", sa.JSON(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_splittings_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "control", name=op.f("pk_splittings")),
    )


def downgrade() -> None:
    """Change it back."""
    op.drop_table("splittings")
