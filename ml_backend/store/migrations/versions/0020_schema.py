"""Makes an empty store, and brings one of an earlier revision, of a release or of the development between, to the present schema.

Revisions 0001 to 0019 are squashed into this one. Most of them only added tables, columns and indexes; a function below does what another one did. Each
looks at what the store has rather than at its revision.
"""

import sqlalchemy as sa
from alembic import op

from ml_backend.store.migrations import add_missing

revision = "0020"
down_revision = None
branch_labels = None
depends_on = None

ONE_DECISION_PER_PAIR = "uq_decisions_project"
"""Constraint of the decisions before revision 0006."""
CALIBRATED = "(SELECT project FROM calibrations WHERE report IS NOT NULL)"
PROJECTS = sa.table(
    "projects", sa.column("id", sa.Integer), sa.column("chosen", sa.JSON), sa.column("extra_params", sa.JSON)
)


def upgrade() -> None:
    """Add what is missing, and change what is no longer as it was."""
    present = sa.inspect(op.get_bind())
    names = present.get_table_names()
    if "decisions" in names:
        decisions_become_a_log(present)
    add_missing()
    if "calibrations" in names:
        calibrations_are_gone()
    if "comparisons" in names:  # of measures: they lack two coefficients, and a click computes them again
        op.drop_table("comparisons")
    projects_do_not_choose_the_interval()


def decisions_become_a_log(present: sa.Inspector) -> None:
    """Allow several rows of one pair (revision 0006)."""
    if ONE_DECISION_PER_PAIR not in {one["name"] for one in present.get_unique_constraints("decisions")}:
        return
    with op.batch_alter_table("decisions") as table:
        table.drop_constraint(ONE_DECISION_PER_PAIR, type_="unique")
    # Anybody could write into this column by calling /setup; softirr-ls connect --label-studio-url fills it now.
    op.execute("UPDATE projects SET origins = '[]'")


def calibrations_are_gone() -> None:
    """Remove calibrations by decisions (revision 0018): projects that had one are scored again, as one estimator takes all evidence."""
    op.execute(f"UPDATE tasks SET scored_hash = NULL WHERE project IN {CALIBRATED}")  # noqa: S608 - no value comes from outside
    op.execute(f"UPDATE projects SET summary_stale = TRUE WHERE id IN {CALIBRATED}")  # noqa: S608 - no value comes from outside
    op.drop_table("calibrations")


def projects_do_not_choose_the_interval() -> None:
    """Remove the choice (revision 0020): the interval has one method."""
    connection = op.get_bind()
    for id, *kept in connection.execute(sa.select(PROJECTS)).fetchall():
        chosen, extra_params = ({name: one[name] for name in one if name != "interval"} for one in kept)
        changed = sa.update(PROJECTS).where(PROJECTS.c.id == id)
        connection.execute(changed.values(chosen=chosen, extra_params=extra_params))
