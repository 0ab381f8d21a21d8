"""How wide the interval of an audit was after each few judgements, so that a judge sees when it is narrow enough."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

COLUMNS = (sa.Column("look_asked_at", sa.Float()), sa.Column("looks", sa.JSON()))


def upgrade() -> None:
    """Change the schema."""
    for column in COLUMNS:
        op.add_column("audits", column)


def downgrade() -> None:
    """Change it back."""
    for column in COLUMNS:
        op.drop_column("audits", column.name)
