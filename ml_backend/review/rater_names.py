"""Names under which a project's raters, annotators and models, appear on pages and in notes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.project_settings import ProjectSettings
from softirr.answers.answer import MODEL


def name_of(raters: Mapping[str, str], rater: str) -> str:
    """Display name of a rater.

    Parameters
    ----------
    raters : mapping of str to str
        Names by rater id.
    rater : str
        Id of an annotator in Label Studio, or ``model:`` and the version of a model.
    """
    if rater.startswith(MODEL):
        return f"model {rater.removeprefix(MODEL)}"
    return raters.get(rater) or f"Annotator {rater}"


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
