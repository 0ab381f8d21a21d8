"""The people that sessions of Label Studio belong to."""

import hashlib
import threading
import time
from collections.abc import Mapping
from typing import Any

from flask import current_app, request

from ml_backend.auth.keys import Person, Role
from ml_backend.auth.requests import settings
from ml_backend.project_settings import effective
from ml_backend.store.store import Row

__all__ = ["session_user"]

_LABEL_STUDIO_ROLES: dict[str | None, Role] = {"OW": "lead", "AD": "lead", "MA": "lead", "RE": "reviewer"}
WHO_SECONDS = 60.0
TIMEOUT = 20.0


def session_user(project: Row) -> Person | None:
    """The user of the request's session in Label Studio, if that user can open the project there."""
    users: _SessionUsers = current_app.extensions.setdefault("softirr-people", _SessionUsers())
    return users.person(project)


class _SessionUsers:
    """Asks Label Studio who a session belongs to.

    Only where its cookie reaches this server: on the same host, or behind the same proxy.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, dict[str, Any] | None]] = {}
        self._lock = threading.Lock()

    def person(self, project: Row) -> Person | None:
        """The session's user, if that user can open the project in Label Studio."""
        session = request.cookies.get("sessionid")
        if not session:
            return None
        digest = hashlib.sha256(f"{project['number']}:{session}".encode()).hexdigest()
        now = time.monotonic()
        with self._lock:
            cached = self._known.get(digest)
        if cached is None or now - cached[0] >= WHO_SECONDS:
            try:
                cached = now, _from_label_studio(session, project["number"])
            except _NoAnswer:  # not stored: the next request asks again, and until then the last answer holds
                cached = cached or (now, None)
            else:
                with self._lock:
                    if len(self._known) > 1000:
                        self._known.clear()
                    self._known[digest] = cached
        user = cached[1]
        return None if user is None else Person(str(user.get("id")), _name(user), _role(user, project), "session")


class _NoAnswer(Exception):
    """Label Studio can't be reached or is too slow, so it is unknown who the session belongs to."""


def _from_label_studio(session: str, number: int) -> dict[str, Any] | None:
    import httpx

    try:
        with httpx.Client(
            base_url=settings().label_studio_url, cookies={"sessionid": session}, timeout=TIMEOUT
        ) as http:
            me = http.get("/api/current-user/whoami")
            project = http.get(f"/api/projects/{number}/")
        if me.status_code != 200 or project.status_code != 200:
            return None
        user = me.json()
    except httpx.HTTPError:
        raise _NoAnswer from None
    except ValueError:
        return None
    return user if isinstance(user, dict) and user.get("id") is not None else None


def _name(user: Mapping[str, Any]) -> str:
    full = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return full or user.get("email") or user.get("username") or f"user {user.get('id')}"


def _role(user: Mapping[str, Any], project: Row) -> Role:
    """The role by what `connect` stored, the project's reviewers, and Label Studio's roles, if it has any."""
    number = str(user["id"])
    if number in project["connection"].get("leads", ()):
        return "lead"
    options = effective(settings(), connection=project["extra_params"], command_options=project["chosen"]).values
    membership = user.get("organization_membership")
    role = _LABEL_STUDIO_ROLES.get(membership.get("role") if isinstance(membership, Mapping) else None, "annotator")
    return "reviewer" if number in options.reviewers and role == "annotator" else role
