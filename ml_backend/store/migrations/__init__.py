"""Migrations of the schema, by Alembic.

A revision calls `add_missing`, which is all that new tables, columns and indexes need, and changes or removes what a store has by its own statements. These
must do nothing in a store without what they change: the first revision makes an empty store as `ml_backend.store.schema` is at the time.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from ml_backend.store.schema import metadata

__all__ = ["add_missing"]


def add_missing() -> None:
    """Add the tables, columns and indexes of the schema that the store lacks."""
    connection = op.get_bind()
    present = sa.inspect(connection)
    names = present.get_table_names()
    for table in metadata.sorted_tables:
        if table.name not in names:
            table.create(connection)
            continue
        columns = {column["name"] for column in present.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                server_default: Any = getattr(column.server_default, "arg", None)
                values = {"nullable": column.nullable, "server_default": server_default}
                op.add_column(table.name, sa.Column(column.name, column.type, **values))
        indexes = {index["name"] for index in present.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)
