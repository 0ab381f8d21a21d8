"""Exports of annotation tools: one module for each, a reader and what its records look like."""

__all__: list[str] = []
