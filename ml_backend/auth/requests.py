"""The refusal, the app's store and keys, and the project that a request names: for every check of a request."""

from collections.abc import Mapping
from typing import Any, Protocol

from flask import current_app, g, request

from ml_backend.auth.keys import Keys
from ml_backend.settings import Settings
from ml_backend.store.store import Row, Store

LARGEST_NUMBER = 2**31 - 1


class Refused(Exception):
    """A request is refused.

    Attributes
    ----------
    status : int
        HTTP status of the answer.
    sentence : str
        The reason, for whoever sent the request.
    """

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class _Running(Protocol):
    @property
    def settings(self) -> Settings: ...

    @property
    def store(self) -> Store: ...


def _running() -> _Running:
    return current_app.extensions["softirr"]


def settings() -> Settings:
    """The settings of the running app."""
    return _running().settings


def store() -> Store:
    """The store of the running app."""
    return _running().store


def keys() -> Keys:
    """Makes and checks keys."""
    extensions = current_app.extensions
    if "softirr-keys" not in extensions:
        extensions["softirr-keys"] = Keys(store().secret())
    return extensions["softirr-keys"]


def find_project(number: int) -> Row | None:
    """The project with this id in Label Studio; None also for a number that no project can have."""
    if not 0 < number <= LARGEST_NUMBER:
        return None
    return store().project(settings().label_studio_url, number)


def connected_projects() -> list[Row]:
    """The projects that are connected to this backend."""
    return store().connected(settings().label_studio_url)


def json_body() -> dict[str, Any]:
    """The request's JSON object.

    Raises
    ------
    Refused
        Also if the content type is not JSON: browsers let pages of other sites send other types without a preflight
        request.
    """
    if not request.is_json:
        raise Refused(415, "The request's body must be sent as application/json.")
    try:
        body = request.get_json(silent=True)
    except RecursionError:
        raise Refused(400, "The request's body is nested too deeply.") from None
    if not isinstance(body, dict):
        raise Refused(400, "The request's body is not a JSON object.")
    return body


def body_or_nothing() -> dict[str, Any]:
    """Return the request's JSON object; an empty one if the body is anything else."""
    try:
        return {} if g.get("softirr_ignored_body") else json_body()
    except Refused:
        return {}


def project_number(value: Any) -> int:
    """Project id from ``4``, ``"4"`` or Label Studio's ``"4.1795179834"``.

    Raises
    ------
    Refused
    """
    text = str(value).partition(".")[0] if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) <= LARGEST_NUMBER or len(text) > 12:
        raise Refused(400, "The request names no project.")
    return int(text)


def project_in(body: Mapping[str, Any]) -> int:
    """Project id in a body of Label Studio: ``{"project": 4}`` or ``{"project": {"id": 4}}``.

    Raises
    ------
    Refused
    """
    project = body.get("project")
    return project_number(project.get("id") if isinstance(project, Mapping) else project)
