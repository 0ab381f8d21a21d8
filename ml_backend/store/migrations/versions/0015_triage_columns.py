"""When each task's columns of the triage tab were written into Label Studio."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.add_column("tasks", sa.Column("columns_at", sa.Float()))


def downgrade() -> None:
    """Change it back."""
    op.drop_column("tasks", "columns_at")
