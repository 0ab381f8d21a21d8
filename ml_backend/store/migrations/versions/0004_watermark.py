"""When the watermark was set, which model versions were seen, and when the coefficients are due."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.add_column("projects", sa.Column("watermark_at", sa.Float(), nullable=True))
    op.add_column("projects", sa.Column("seen_versions", sa.JSON(), nullable=True))
    op.add_column("projects", sa.Column("summary_due", sa.Float(), nullable=True))


def downgrade() -> None:
    """Change it back."""
    for column in ("watermark_at", "seen_versions", "summary_due"):
        op.drop_column("projects", column)
