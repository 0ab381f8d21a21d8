"""What the codebooks of projects are made of."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "codebooks",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(length=256), nullable=False),
        sa.Column("wanted_at", sa.Float(), nullable=True),
        sa.Column("comparisons", sa.JSON(), nullable=True),
        sa.Column("made_at", sa.Float(), nullable=True),
        sa.Column("based_on", sa.String(length=64), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_codebooks_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "control", name=op.f("pk_codebooks")),
    )


def downgrade() -> None:
    """Change it back."""
    op.drop_table("codebooks")
