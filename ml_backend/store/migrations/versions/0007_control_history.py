"""When the label config had each TextArea: an annotation from another time that has no answer to it is missing, not empty."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.add_column("projects", sa.Column("control_history", sa.JSON()))


def downgrade() -> None:
    """Change it back."""
    op.drop_column(
        "projects", "control_history"
    )  # not in a batch: SQLite would make the table anew and drop what hangs on it
