"""Access checks of the panel, the report and the audit page: the Flask side of `ml_backend.access`."""

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from flask import Response, current_app, jsonify, request

from ml_backend.access import (
    Person,
    PersonalLinks,
    Role,
    Scope,
    embedding_allowed,
    page_policy,
    panel_policy,
)
from ml_backend.settings import effective, origin
from ml_backend.store.store import Row, is_connected
from ml_backend.web.callers import Refused, keys, services

COOKIE = "softirr-access"
PERSON_COOKIE = "softirr-person"
HOW_TO_BE_KNOWN = "log in to Label Studio on the same host, or open your personal link (softirr-ls link makes it) once in this browser."
_LABEL_STUDIO_ROLES: dict[str | None, Role] = {"OW": "lead", "AD": "lead", "MA": "lead", "RE": "reviewer"}
COOKIE_SECONDS = 30 * 24 * 3600
KEY_HEADER = "X-Softirr-Key"
WHO_SECONDS = 60.0


def enter(number: int, scope: Scope) -> Row:
    """The project's row, if the request has access to the scope.

    Every annotator can read the panel's key in the label config: it gives access to the panel, and `visitor` decides what is shown
    there. The report is about people: reviewers, leads and holders of the report's key have access.

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
        if keys().opens(given_key(number), number, scope, generation=row["key_round"]):
            return row
        if who is not None:
            raise Refused(403, "The report is about people: it is for the project’s lead and reviewers.")
    raise Refused(403, "This needs the project’s access key, or a login in Label Studio.")


def visitor(project: Row) -> Person | None:
    """The person behind the request, identified by Label Studio's session, a personal link, or the report's key, which is a lead's."""
    number, generation = project["number"], project["key_round"]
    session = people().person(project)
    token = request.cookies.get(f"{PERSON_COOKIE}-{number}")
    link = links().read(token, number, generation=generation, now=time.time())
    who = session or link
    if session is not None and link is not None and session.user == link.user and link.at_least(session.role):
        who = replace(session, role=link.role)
    if keys().opens(given_key(number), number, "report", generation=generation):
        who = Person("", "", "lead", "") if who is None else who if who.at_least("lead") else replace(who, role="lead")
    return who


def reviewer(project: Row) -> Person:
    """The person behind the request, if they are identified and may decide.

    Raises
    ------
    Refused
    """
    who = visitor(project)
    if who is None or not who.known_by:
        raise Refused(403, f"A decision needs to know who takes it: {HOW_TO_BE_KNOWN}")
    if not who.at_least("reviewer"):
        raise Refused(403, "Deciding is for the project’s lead and reviewers.")
    return who


def links() -> PersonalLinks:
    """Reads personal links."""
    return current_app.extensions.setdefault("softirr-links", PersonalLinks(services().store.secret()))


def project_of_key(key: str | None) -> Row:
    """The connected project whose panel this key opens.

    Raises
    ------
    Refused
    """
    for row in services().store.connected(services().settings.label_studio_url):
        if keys().opens(key, row["number"], "panel", generation=row["key_round"]):
            return row
    raise Refused(403, "The panel’s address lacks the right key: run softirr-ls connect again.")


def find_project(number: int) -> Row | None:
    """The project with this id in Label Studio; None also for a number that no project can have."""
    if not 0 < number < 2**31:
        return None
    return services().store.project(services().settings.label_studio_url, number)


def people() -> "_People":
    """The cache of the people that sessions of Label Studio belong to."""
    return current_app.extensions.setdefault("softirr-people", _People())


def key_of(row: Row, scope: Scope) -> str:
    """The project's current key for a scope."""
    return keys().key(row["number"], scope, generation=row["key_round"])


def check_source(row: Row | None) -> None:
    """Refuse requests that a page of another site makes on a visitor's behalf; following a link from there is allowed.

    Raises
    ------
    Refused
    """
    headers = request.headers
    if request.method == "GET" and headers.get("Sec-Fetch-Dest") == "document":
        return
    places = label_studio_places(row)
    for source in (headers.get("Origin"), headers.get("Referer")):
        if not embedding_allowed(source, own=own_origin(), label_studio=places):
            raise Refused(403, "This was asked for by a page of another site.")
    if headers.get("Sec-Fetch-Site") == "cross-site" and not (headers.get("Origin") or headers.get("Referer")):
        raise Refused(403, "This was asked for by a page that hides where it is.")


def label_studio_places(row: Row | None) -> list[str]:
    """Origins under which people open this Label Studio."""
    settings = services().settings
    places = {
        origin(p) for p in (settings.label_studio_url, *settings.label_studio_origins, *(row["origins"] if row else ()))
    }
    return sorted(places - {""} | _loopback_twins(places))


def label_studio_home() -> str:
    """Base address of links into Label Studio: the one the operator configured for browsers, else the one this backend uses itself.

    The address sent to `/setup` is not used for links, because anybody can send it.
    """
    settings = services().settings
    return (settings.label_studio_origins or (settings.label_studio_url,))[0].rstrip("/")


def given_key(number: int) -> str | None:
    """The key of the request: in the address, in a header, or in the cookie of an earlier visit."""
    return request.args.get("k") or request.headers.get(KEY_HEADER) or request.cookies.get(f"{COOKIE}-{number}")


def own_origin() -> str:
    """The origin under which the browser reaches this backend."""
    return origin(request.host_url)


def remember_given_key(response: Response, project: Row, scope: Scope) -> None:
    """Store the key of the URL in a cookie, so that later URLs need not contain it."""
    key, number = request.args.get("k"), project["number"]
    if key is not None and keys().opens(key, number, scope, generation=project["key_round"]):
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


def remember_person(response: Response, project: Row, token: str, seconds: float) -> None:
    """Store a personal link's token in the browser.

    Pages of Label Studio on the same host, whatever its port, and behind the same proxy are of the same site. On another host the
    browser sends the cookie from the panel's frame only over https.
    """
    secure = request.is_secure or str(project["connection"].get("panel_base") or "").startswith("https:")
    response.set_cookie(
        f"{PERSON_COOKIE}-{project['number']}",
        token,
        max_age=int(seconds),
        httponly=True,
        samesite="None" if secure else "Lax",
        secure=secure,
        path=urlsplit(request.script_root).path or "/",
    )


def page(html: str, *, label_studio: list[str] | None = None) -> Response:
    """A page of ours: strict policy, not stored by anyone; in frames of Label Studio only if `label_studio` is given."""
    response = current_app.make_response(html)
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Content-Security-Policy"] = page_policy() if label_studio is None else panel_policy(label_studio)
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def data(body: Any, *, status: int = 200, etag: bool = False) -> Response:
    """JSON for one visitor; with `etag`, unchanged content is 304 without a body."""
    response = jsonify(body)
    response.status_code = status
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Vary"] = "Cookie, Origin, X-Softirr-Key"
    if not etag:
        response.headers["Cache-Control"] = "private, no-store"
        return response
    response.headers["Cache-Control"] = "private, no-cache"
    response.set_etag(hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:24])
    response.make_conditional(request)
    return response


def refusal(error: Refused) -> Response:
    """The reason for a refusal: a page for people, JSON for programs."""
    if request.path.startswith("/api/") or request.path.rpartition(".")[2] in ("csv", "json"):
        return data({"error": error.sentence}, status=error.status)
    from ml_backend.web.pages import message

    up = "../" * max(1, request.path.strip("/").count("/"))
    response = page(message("Not shown", error.sentence, asks_key=error.status == 403, up=up))
    response.status_code = error.status
    if error.status == 401:
        response.headers["WWW-Authenticate"] = 'Basic realm="softirr"'
    return response


def person(project: Row, body: Mapping[str, Any]) -> str:
    """Name of the person, by Label Studio's session or a personal link; a lead with the report's address types a name."""
    who = visitor(project)
    known = who.name if who is not None else ""
    typed = body.get("who")
    return known or (" ".join(typed.split())[:80] if isinstance(typed, str) else "")


def whole_number(value: Any, name: str) -> int:
    """`value` as a positive whole number.

    Raises
    ------
    Refused
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise Refused(400, f"{name} is not a positive whole number.")
    return value


def _loopback_twins(places: set[str]) -> set[str]:
    """The same origins with localhost and 127.0.0.1 exchanged, because both are this machine."""
    twins = set()
    for place in places:
        host = urlsplit(place).hostname
        other = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}.get(host or "")
        if other:
            twins.add(place.replace(f"//{host}", f"//{other}", 1))
    return twins


class _People:
    """Asks Label Studio who a session belongs to; only where its cookie reaches this server: on the same host, or behind the same proxy."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, dict[str, Any] | None]] = {}
        self._lock = threading.Lock()

    def person(self, project: Row) -> Person | None:
        """The session's user, if that user can open the project in Label Studio."""
        session = request.cookies.get("sessionid")
        if not session:
            return None
        place = hashlib.sha256(f"{project['number']}:{session}".encode()).hexdigest()
        now = time.monotonic()
        with self._lock:
            known = self._known.get(place)
        if known is None or now - known[0] >= WHO_SECONDS:
            known = now, _from_label_studio(session, project["number"])
            with self._lock:
                if len(self._known) > 1000:
                    self._known.clear()
                self._known[place] = known
        user = known[1]
        return None if user is None else Person(str(user.get("id")), _name(user), _role(user, project), "session")


def _from_label_studio(session: str, number: int) -> dict[str, Any] | None:
    import httpx

    try:
        with httpx.Client(
            base_url=services().settings.label_studio_url, cookies={"sessionid": session}, timeout=5
        ) as http:
            me = http.get("/api/current-user/whoami")
            project = http.get(f"/api/projects/{number}/")
        if me.status_code != 200 or project.status_code != 200:
            return None
        user = me.json()
    except (httpx.HTTPError, ValueError):
        return None
    return user if isinstance(user, dict) and user.get("id") is not None else None


def _name(user: Mapping[str, Any]) -> str:
    full = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return full or user.get("email") or user.get("username") or f"user {user.get('id')}"


def _role(user: Mapping[str, Any], project: Row) -> Role:
    """The role by what `connect` stored, the project's reviewers, and Label Studio's own roles in editions that have them."""
    number = str(user["id"])
    if number in project["connection"].get("leads", ()):
        return "lead"
    chosen = effective(services().settings, connection=project["extra_params"], chosen=project["chosen"]).values
    membership = user.get("organization_membership")
    theirs = _LABEL_STUDIO_ROLES.get(membership.get("role") if isinstance(membership, Mapping) else None, "annotator")
    return "reviewer" if number in chosen.reviewers and theirs == "annotator" else theirs


def fields(project: Row) -> list[str]:
    """The scored fields of a project."""
    return list((project["summary"] or {}).get("controls") or ())


def field(project: Row, given: Any) -> str | None:
    """The field that a request names; without a name the project's first, or None while nothing is scored.

    Raises
    ------
    Refused
        If there is no such field.
    """
    names = fields(project)
    return next(iter(names), None) if given is None or not names else known_field(project, given)


def known_field(project: Row, given: Any) -> str:
    """The field that a request has to name.

    Raises
    ------
    Refused
        If the project has no such field: another one's numbers under its name would mislead.
    """
    if not isinstance(given, str) or given not in fields(project):
        raise Refused(404, "This project has no such field.")
    return given
