"""Tasks that a reviewer sends back to the annotators, with a note."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

COLUMNS: tuple[sa.Column[Any], ...] = (
    sa.Column("sent_back", sa.Boolean(), nullable=False, server_default=sa.false()),
    sa.Column("note", sa.Text(), nullable=False, server_default=""),
)


def upgrade() -> None:
    """Change the schema."""
    for column in COLUMNS:
        op.add_column("reviewed", column)


def downgrade() -> None:
    """Change it back."""
    for column in COLUMNS:
        op.drop_column("reviewed", column.name)
