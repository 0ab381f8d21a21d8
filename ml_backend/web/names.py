"""The names under which a project's annotators and models appear on pages."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.project_settings import ProjectSettings
from ml_backend.review.rater_names import name_of
from softirr.answers.answer import MODEL


def display_names(
    project: Mapping[str, Any], raters: Iterable[str], settings: ProjectSettings, *, secret: bytes
) -> dict[str, str]:
    """Return the name of each rater, or a number if the project hides names from reviewers.

    Parameters
    ----------
    secret : bytes
        Key of the store: without it nobody can infer the order of the numbers.
    """
    if not settings.hide_names:
        return {rater: name_of(project["raters"], rater) for rater in raters}

    def rank(user: str) -> bytes:
        return hmac.digest(secret, f"annotator of project {project['number']}\x00{user}".encode(), hashlib.sha256)

    people = {*project["raters"], *(rater for rater in raters if not rater.startswith(MODEL))}
    numbers = {user: f"Annotator {number}" for number, user in enumerate(sorted(people, key=rank), start=1)}
    return {rater: numbers.get(rater) or name_of({}, rater) for rater in raters}
