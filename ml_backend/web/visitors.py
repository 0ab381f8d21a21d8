"""Who is let in to the panel, the report and the audit page: the Flask side of `ml_backend.access`."""

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Response, current_app, jsonify, request

from ml_backend.access import Door, Keys, embedding_allowed, page_policy, panel_policy
from ml_backend.settings import origin
from ml_backend.store.store import Row
from ml_backend.web.protocol import Refused, services

COOKIE = "softirr-access"
COOKIE_SECONDS = 30 * 24 * 3600
KEY_HEADER = "X-Softirr-Key"
WHO_SECONDS = 60.0


def enter(number: int, door: Door) -> Row:
    """The project's row, if the request may pass the door.

    Raises
    ------
    Refused
        An unknown project answers like a wrong key: who has no key learns nothing.
    """
    row = find_project(number)
    check_source(row)
    opens = keys().opens(given_key(number), number, door, generation=row["key_round"] if row else 0)
    if row is None or not (opens or people().name(number)):
        raise Refused(403, "This needs the project’s access key, or a login in Label Studio.")
    return row


def find_project(number: int) -> Row | None:
    """The project with this id in Label Studio."""
    return services().store.project(services().settings.label_studio_url, number)


def keys() -> Keys:
    """Makes and checks keys."""
    extensions = current_app.extensions
    if "softirr-keys" not in extensions:
        extensions["softirr-keys"] = Keys(services().store.secret())
    return extensions["softirr-keys"]


def people() -> "_People":
    """Knows whose session a request carries."""
    return current_app.extensions.setdefault("softirr-people", _People())


def key_of(row: Row, door: Door) -> str:
    """The project's present key for a door."""
    return keys().key(row["number"], door, generation=row["key_round"])


def check_source(row: Row | None) -> None:
    """Refuse what a page of another site asks for in a visitor's name; following a link from there is a visit, not that.

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
    """Where links into Label Studio lead: what the operator names for browsers, else the address that we use ourselves.

    What `/setup` says is not taken for links: anybody may send it.
    """
    settings = services().settings
    return (settings.label_studio_origins or (settings.label_studio_url,))[0].rstrip("/")


def given_key(number: int) -> str | None:
    """The key of the request: in the address, in a header, or in the cookie that an earlier visit left."""
    return request.args.get("k") or request.headers.get(KEY_HEADER) or request.cookies.get(f"{COOKIE}-{number}")


def own_origin() -> str:
    """Where the browser thinks we are."""
    return origin(request.host_url)


def remember_given_key(response: Response, project: Row, door: Door) -> None:
    """Leave the address's key with the browser, so that it need not stand in addresses."""
    key, number = request.args.get("k"), project["number"]
    if key is None or not keys().opens(key, number, door, generation=project["key_round"]):
        return
    path = urlsplit(request.script_root).path or "/"
    response.set_cookie(
        f"{COOKIE}-{number}",
        key,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        path=path,
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
    """JSON for one visitor; with `etag` an unchanged answer is 304 without a body."""
    response = jsonify(body)
    response.status_code = status
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Vary"] = "Cookie, Origin, X-Softirr-Key"
    if not etag:
        response.headers["Cache-Control"] = "private, no-store"
        return response
    response.headers["Cache-Control"] = "private, no-cache"
    response.set_etag(hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:24])
    return response.make_conditional(request)


def refusal(error: Refused) -> Response:
    """Why not: a page for people, JSON for programs."""
    if request.path.startswith("/api/") or request.path.rpartition(".")[2] in ("csv", "json"):
        return data({"error": error.sentence}, status=error.status)
    from ml_backend.web.pages import message

    up = "../" * max(1, request.path.strip("/").count("/"))
    response = page(message("Not shown", error.sentence, asks_key=error.status == 403, up=up))
    response.status_code = error.status
    return response


def person(project: Row, body: Mapping[str, Any]) -> str:
    """Who does something: by Label Studio's session where there is one, else the name as typed."""
    known = people().name(project["number"])
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
    """localhost and 127.0.0.1 are one machine, whichever a person typed."""
    twins = set()
    for place in places:
        host = urlsplit(place).hostname
        other = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}.get(host or "")
        if other:
            twins.add(place.replace(f"//{host}", f"//{other}", 1))
    return twins


class _People:
    """Asks Label Studio who a session belongs to; only where its cookie reaches us, which is in same-origin mode."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, str | None]] = {}
        self._lock = threading.Lock()

    def name(self, number: int) -> str | None:
        """Name of the session's user, if that user can open the project in Label Studio."""
        session = request.cookies.get("sessionid")
        if not session:
            return None
        place = hashlib.sha256(f"{number}:{session}".encode()).hexdigest()
        now = time.monotonic()
        with self._lock:
            known = self._known.get(place)
        if known and now - known[0] < WHO_SECONDS:
            return known[1]
        name = _from_label_studio(session, number)
        with self._lock:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[place] = now, name
        return name


def _from_label_studio(session: str, number: int) -> str | None:
    import httpx

    try:
        with httpx.Client(
            base_url=services().settings.label_studio_url, cookies={"sessionid": session}, timeout=5
        ) as http:
            me = http.get("/api/current-user/whoami")
            project = http.get(f"/api/projects/{number}/")
        if me.status_code != 200 or project.status_code != 200:
            return None
        person = me.json()
    except (httpx.HTTPError, ValueError):
        return None
    full = f"{person.get('first_name') or ''} {person.get('last_name') or ''}".strip()
    return full or person.get("email") or person.get("username") or f"user {person.get('id')}"
