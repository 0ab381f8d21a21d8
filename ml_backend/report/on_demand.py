"""Computations requested on the pages, which the scorer process runs once the project is up to date."""

from __future__ import annotations

from ml_backend.report import policies, side_by_side
from ml_backend.report.questions import KINDS, MEASURES
from ml_backend.review import audits, codebook
from ml_backend.review.project_work import ProjectWork


def run_wanted(work: ProjectWork) -> int:
    """Draw and evaluate audits, look at policies, make codebooks, and compare; returns their number.

    Without a client, comparisons that read Label Studio wait.
    """
    done = audits.run_asked(work) + policies.run_wanted(work) + codebook.run_wanted(work)
    return done + side_by_side.run_wanted(work, KINDS if work.client is not None else (MEASURES,))
