"""Calibrations by decisions are gone: projects that had one are scored again.

One estimator takes all evidence (design of schema version 2), so a project's scores are those of its measure and its decisions.
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

CALIBRATED = "(SELECT project FROM calibrations WHERE report IS NOT NULL)"


def upgrade() -> None:
    """Mark the tasks of calibrated projects for scoring, and remove the calibrations."""
    op.execute(f"UPDATE tasks SET scored_hash = NULL WHERE project IN {CALIBRATED}")  # noqa: S608 - no value comes from outside
    op.execute(f"UPDATE projects SET summary_stale = TRUE WHERE id IN {CALIBRATED}")  # noqa: S608 - no value comes from outside
    op.drop_table("calibrations")
