"""Decisions become a log that only grows, with who made them; addresses that requests brought are forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    with op.batch_alter_table("decisions") as table:
        table.drop_constraint("uq_decisions_project", type_="unique")
        table.add_column(sa.Column("withdrawn", sa.Boolean(), nullable=False, server_default=sa.false()))
        table.add_column(sa.Column("reviewer_id", sa.String(length=64), nullable=False, server_default=""))
        table.add_column(sa.Column("known_by", sa.String(length=16), nullable=False, server_default=""))
        table.create_index("ix_decisions_project_pair", ["project", "pair", "id"])
    # Anybody could write into this column by calling /setup; softirr-ls connect --label-studio-url fills it now.
    op.execute("UPDATE projects SET origins = '[]'")


def downgrade() -> None:
    """Change it back."""
    decisions = sa.table("decisions", sa.column("id"), sa.column("project"), sa.column("pair"), sa.column("withdrawn"))
    newest = sa.select(sa.func.max(decisions.c.id)).group_by(decisions.c.project, decisions.c.pair)
    op.execute(sa.delete(decisions).where(decisions.c.id.not_in(newest) | decisions.c.withdrawn))
    with op.batch_alter_table("decisions") as table:
        table.drop_index("ix_decisions_project_pair")
        for name in ("withdrawn", "reviewer_id", "known_by"):
            table.drop_column(name)
        table.create_unique_constraint("uq_decisions_project", ["project", "pair"])
