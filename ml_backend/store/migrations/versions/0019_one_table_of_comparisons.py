"""Comparisons of measures are kept beside all other comparisons that people ask for.

Old ones are not moved: they lack two coefficients, and a click computes them again.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Remove their own table."""
    op.drop_table("comparisons")
