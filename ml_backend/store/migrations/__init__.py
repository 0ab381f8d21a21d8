"""Migrations of the schema, by Alembic."""
