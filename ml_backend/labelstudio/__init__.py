"""Talking to a Label Studio server: read, write, connect, diagnose."""
