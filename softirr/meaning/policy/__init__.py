"""Attributes of texts, and policies that define which of them count."""
