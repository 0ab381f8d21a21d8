"""What reports group and date tasks by; the next complete reading of a project fills it."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.add_column("tasks", sa.Column("facts", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Change it back."""
    op.drop_column("tasks", "facts")
