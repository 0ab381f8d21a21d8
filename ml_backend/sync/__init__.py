"""Keeps a project up to date: read, score, write."""
