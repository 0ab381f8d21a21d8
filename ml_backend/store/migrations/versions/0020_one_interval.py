"""The interval has one method, so projects no longer choose it."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

PROJECTS = sa.table(
    "projects", sa.column("id", sa.Integer), sa.column("chosen", sa.JSON), sa.column("extra_params", sa.JSON)
)


def upgrade() -> None:
    """Remove the choice."""
    connection = op.get_bind()
    for id, *kept in connection.execute(sa.select(PROJECTS)).fetchall():
        chosen, extra_params = ({name: one[name] for name in one if name != "interval"} for one in kept)
        changed = sa.update(PROJECTS).where(PROJECTS.c.id == id)
        connection.execute(changed.values(chosen=chosen, extra_params=extra_params))
