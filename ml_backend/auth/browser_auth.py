"""Requests of people's browsers: Label Studio's session, personal links, and the keys of the panel and the report."""

import time
from dataclasses import replace
from urllib.parse import urlsplit

from flask import Response, current_app, g, request

from ml_backend.auth.keys import Person, PersonalLinks, Scope
from ml_backend.auth.origins import check_source
from ml_backend.auth.requests import Refused, connected_projects, find_project, keys, store
from ml_backend.auth.session_users import session_user
from ml_backend.store.store import Row, is_connected

COOKIE = "softirr-access"
PERSON_COOKIE = "softirr-person"
HOW_TO_BE_KNOWN = (
    "log in to Label Studio on the same host, or open your personal link (softirr-ls settings --link makes it) once in "
    "this browser."
)
COOKIE_SECONDS = 30 * 24 * 3600
KEY_HEADER = "X-Softirr-Key"


def enter(number: int, scope: Scope) -> Row:
    """The project's row, if the request has access to the scope.

    Every annotator can read the panel's key in the label config. The key gives access to the panel, and `visitor`
    limits its content. The report is about people: reviewers, leads and holders of the report's key have access.

    Raises
    ------
    Refused
        An unknown project gets the same answer as a wrong key, so that a request without a key learns nothing.
    """
    row = find_project(number)
    check_source(row)
    if row is not None and is_connected(row["connection"]):
        who = visitor(row)
        if who is not None and (scope == "panel" or who.at_least("reviewer")):
            return row
        if keys().opens(_given_key(number), number, scope, generation=row["key_round"]):
            return row
        if who is not None:
            raise Refused(403, "Only the project’s lead and reviewers can see the report, because it is about people.")
    raise Refused(403, "This needs the project’s access key, or a login in Label Studio.")


def visitor(project: Row) -> Person | None:
    """The person behind the request, by Label Studio's session, a personal link, or the report's key (a lead's)."""
    visitors: dict[int, Person | None] = g.setdefault("softirr_visitors", {})
    number = project["number"]
    if number not in visitors:
        visitors[number] = _identified(project)
    return visitors[number]


def _identified(project: Row) -> Person | None:
    number, generation = project["number"], project["key_round"]
    session = session_user(project)
    token = request.cookies.get(f"{PERSON_COOKIE}-{number}")
    link = _links().read(token, number, generation=generation, now=time.time())
    who = session or link
    if session is not None and link is not None and session.user == link.user and link.at_least(session.role):
        who = replace(session, role=link.role)
    if key_opens_report(project, _given_key(number)):
        who = Person("", "", "lead", "") if who is None else who if who.at_least("lead") else replace(who, role="lead")
    return who


def require_reviewer(project: Row) -> Person:
    """The person behind the request, if they are identified and may decide.

    Raises
    ------
    Refused
    """
    person = visitor(project)
    if person is None or not person.known_by:
        raise Refused(403, f"Decisions need an identified reviewer: {HOW_TO_BE_KNOWN}")
    if not person.at_least("reviewer"):
        raise Refused(403, "Only the project’s lead and reviewers can decide.")
    return person


def require_lead(project: Row) -> None:
    """Refuse the request unless it is a lead's.

    Raises
    ------
    Refused
    """
    person = visitor(project)
    if person is None or not person.at_least("lead"):
        raise Refused(403, "Only the project’s lead can do this.")


def require_link(number: int) -> tuple[Row, Person, float]:
    """The project of a personal link, the person it identifies, and the seconds until it expires.

    Raises
    ------
    Refused
    """
    project = find_project(number)
    token, now = request.args.get("t"), time.time()
    generation = project["key_round"] if project is not None else 0
    person = _links().read(token, number, generation=generation, now=now)
    if project is None or person is None or token is None:
        raise Refused(403, "This personal link has expired or was made for another project: ask for a new one.")
    return project, person, _links().seconds_left(token, now)


def key_opens_report(project: Row, key: str | None) -> bool:
    """Whether a key is the present key of the project's report."""
    return key is not None and keys().opens(key, project["number"], "report", generation=project["key_round"])


def _links() -> PersonalLinks:
    return current_app.extensions.setdefault("softirr-links", PersonalLinks(store().secret()))


def project_of_key(key: str | None) -> Row:
    """The connected project that the panel's key belongs to.

    Raises
    ------
    Refused
    """
    for row in connected_projects():
        if keys().opens(key, row["number"], "panel", generation=row["key_round"]):
            return row
    raise Refused(403, "The key in the panel’s address is wrong: run softirr-ls connect again.")


def report_key(row: Row) -> str:
    """The current key of the project's report."""
    return keys().key(row["number"], "report", generation=row["key_round"])


def _given_key(number: int) -> str | None:
    """The key of the request: in the address, in a header, or in the cookie of an earlier visit."""
    return request.args.get("k") or request.headers.get(KEY_HEADER) or request.cookies.get(f"{COOKIE}-{number}")


def remember_given_key(response: Response, project: Row) -> None:
    """Store the report's key of the URL in a cookie, so that later URLs need not contain it."""
    key, number = request.args.get("k"), project["number"]
    if key is not None and keys().opens(key, number, "report", generation=project["key_round"]):
        remember_key(response, project, key)


def remember_key(response: Response, project: Row, key: str) -> None:
    """Store a key that opens the project in a cookie."""
    path = urlsplit(request.script_root).path or "/"
    response.set_cookie(
        f"{COOKIE}-{project['number']}",
        key,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        path=path,
    )
