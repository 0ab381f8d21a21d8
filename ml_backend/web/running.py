"""The services of the running app."""

from flask import current_app

from ml_backend.services import Services

__all__ = ["services"]


def services() -> Services:
    """Store, queue and scorer of this process."""
    return current_app.extensions["softirr"]
