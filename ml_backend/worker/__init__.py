"""Keeps projects up to date: reads what changed, scores it, writes what differs."""
