"""Every module with tables of the store: once this is imported, ``schema.metadata`` is complete."""

from ml_backend.store import agreed, codebooks, policies, reviews, schema, side_by_side

__all__ = ["agreed", "codebooks", "policies", "reviews", "schema", "side_by_side"]
