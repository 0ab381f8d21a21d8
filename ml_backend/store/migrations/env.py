"""Alembic's entry: migrates over the connection that the store hands in."""

from alembic import context

from ml_backend.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=connection.dialect.name == "sqlite")
with context.begin_transaction():
    context.run_migrations()
