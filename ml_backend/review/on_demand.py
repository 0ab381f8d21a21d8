"""Computations requested on the pages, which the worker runs once the project is up to date."""

from __future__ import annotations

from ml_backend.review import audits
from ml_backend.review.project_work import ProjectWork


def run_wanted(work: ProjectWork) -> int:
    """Draw and evaluate audits; returns their number."""
    return audits.run_asked(work)
