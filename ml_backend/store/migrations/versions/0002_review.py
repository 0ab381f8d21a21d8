"""What people do on our pages: marks on tasks, audits and judgements."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the schema."""
    op.create_table(
        "reviewed",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("task", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("answers_hash", sa.String(length=64), nullable=False),
        sa.Column("reviewer", sa.String(length=256), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_reviewed_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project", "task", name=op.f("pk_reviewed")),
    )
    op.create_table(
        "audits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(length=256), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("sheet", sa.JSON(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("answers_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("created_by", sa.String(length=256), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("result_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_audits_project_projects"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audits")),
    )
    op.create_index("ix_audits_project_id", "audits", ["project", "id"])
    op.create_table(
        "audit_judgements",
        sa.Column("audit", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("judge", sa.String(length=256), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["audit"], ["audits.id"], name=op.f("fk_audit_judgements_audit_audits"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("audit", "place", "judge", name=op.f("pk_audit_judgements")),
    )


def downgrade() -> None:
    """Change it back."""
    for table in ("audit_judgements", "audits", "reviewed"):
        op.drop_table(table)
