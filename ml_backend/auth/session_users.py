"""The people that sessions of Label Studio belong to."""

import functools
import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
from flask import Response, after_this_request, request

from ml_backend.auth.keys import Person, PersonalLinks, Role
from ml_backend.auth.requests import keys, settings
from ml_backend.project_settings import effective
from ml_backend.store.store import Row

_LABEL_STUDIO_ROLES: dict[str | None, Role] = {"OW": "lead", "AD": "lead", "MA": "lead", "RE": "reviewer"}
LOGIN_COOKIE = "softirr-login"
WHO_SECONDS = 60.0
AWAY_SECONDS = 3600.0
"""Seconds for which the last answer counts while Label Studio does not answer."""
TIMEOUT = 20.0
_certificates = functools.cache(httpx.create_ssl_context)  # reading them takes 17 ms


def session_client(base: str, session: str, csrf: str | None = None) -> httpx.Client:
    """Label Studio as the person who owns a session.

    Parameters
    ----------
    base : str
        Address of Label Studio.
    session : str
        Value of the person's session cookie.
    csrf : str, optional
        Value of their CSRF cookie; Label Studio only checks that cookie and header agree.
    """
    token = csrf or secrets.token_hex(16)
    return httpx.Client(
        base_url=base,
        cookies={"sessionid": session, "csrftoken": token},
        headers={"X-CSRFToken": token, "Referer": f"{base.rstrip('/')}/"},
        timeout=TIMEOUT,
        verify=_certificates(),
    )


def session_user(project: Row) -> Person | None:
    """The user of the request's session in Label Studio, if that user can open the project there.

    Only where its cookie reaches this server: on the same host, or behind the same proxy. Label Studio is asked once a
    minute. Its cookie changes with each reply, so the browser keeps the answer in a cookie that only this login opens.
    """
    session = request.cookies.get("sessionid")
    if not session:
        return None
    number, generation = project["number"], project["key_round"]
    login = hashlib.sha256(session.partition(":")[0].encode()).hexdigest()  # without the time and the signature
    tokens = PersonalLinks(keys().secret, purpose=f"login {login}")
    token = request.cookies.get(f"{LOGIN_COOKIE}-{number}")
    person = tokens.read(token, number, generation=generation, now=time.time())
    if person is None:
        try:
            person = _from_label_studio(session, number)
        except _NoAnswer:
            person = tokens.read(token, number, generation=generation, now=time.time() - AWAY_SECONDS)
        else:
            if person is not None:
                token = tokens.make(person, number, generation=generation, until=time.time() + WHO_SECONDS)
                after_this_request(functools.partial(keep_cookie, project, LOGIN_COOKIE, token))
    return None if person is None else replace(person, role=_role(person, project), known_by="session")


def keep_cookie(project: Row, name: str, token: str, response: Response, *, seconds: int | None = None) -> Response:
    """Store a token about the person in the browser.

    Pages of Label Studio on the same host, whatever its port, and behind the same proxy are of the same site. On
    another host the browser sends the cookie from the panel's frame only over https.
    """
    secure = request.is_secure or str(project["connection"].get("panel_base") or "").startswith("https:")
    response.set_cookie(
        f"{name}-{project['number']}",
        token,
        max_age=seconds,
        httponly=True,
        samesite="None" if secure else "Lax",
        secure=secure,
        path=urlsplit(request.script_root).path or "/",
    )
    return response


class _NoAnswer(Exception):
    """Label Studio can't be reached or is too slow, so it is unknown who the session belongs to."""


def _from_label_studio(session: str, number: int) -> Person | None:
    try:
        with session_client(settings().label_studio_url, session) as http:
            me = http.get("/api/current-user/whoami")
            project = http.get(f"/api/projects/{number}/")
        if me.status_code != 200 or project.status_code != 200:
            return None
        user = me.json()
    except httpx.HTTPError:
        raise _NoAnswer from None
    except ValueError:
        return None
    if not isinstance(user, dict) or user.get("id") is None:
        return None
    membership = user.get("organization_membership")
    role = membership.get("role") if isinstance(membership, Mapping) else None
    return Person(str(user["id"]), _name(user), _LABEL_STUDIO_ROLES.get(role, "annotator"), "session")


def _name(user: Mapping[str, Any]) -> str:
    full = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return full or user.get("email") or user.get("username") or f"user {user.get('id')}"


def _role(person: Person, project: Row) -> Role:
    """The role by what `connect` stored, the project's reviewers, and Label Studio's roles, if it has any."""
    if person.user in project["connection"].get("leads", ()):
        return "lead"
    options = effective(settings(), connection=project["extra_params"], command_options=project["chosen"]).values
    return "reviewer" if person.user in options.reviewers and person.role == "annotator" else person.role
