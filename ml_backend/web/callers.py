"""Checks of every request: a known host name and a JSON body, and the secret of programs."""

import hmac
import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Response, current_app, jsonify, request

from ml_backend.access import CONNECTION_USER, Keys
from ml_backend.services import Services
from ml_backend.settings import origin
from ml_backend.store.store import Row, is_connected

__all__ = [
    "Refused",
    "check_host",
    "host_is_known",
    "is_operator",
    "json_body",
    "keys",
    "project_in",
    "project_number",
    "refused",
    "require_connection",
    "require_operator",
    "services",
]

OPEN = "protocol.health"  # the only endpoint without checks
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to


class Refused(Exception):
    """A request is refused, with a status and one sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


def refused(error: Refused) -> tuple[Response, int, dict[str, str]]:
    """The sentence as JSON."""
    headers = {"WWW-Authenticate": 'Basic realm="softirr"'} if error.status == 401 else {}
    return jsonify({"error": error.sentence}), error.status, headers


def services() -> Services:
    """The services of the running app."""
    return current_app.extensions["softirr"]


def keys() -> Keys:
    """Makes and checks keys."""
    extensions = current_app.extensions
    if "softirr-keys" not in extensions:
        extensions["softirr-keys"] = Keys(services().store.secret())
    return extensions["softirr-keys"]


# --- every request --------------------------------------------------------------------------------------------------


def check_host() -> tuple[Response, int, dict[str, str]] | None:
    """Refuse a request for an unknown host name, and any but ``/health`` while no project is connected.

    A page of another site can point its own host name at this machine (DNS rebinding); the browser then treats this server as that site.
    """
    if request.endpoint == OPEN:
        return None
    if not host_is_known():
        sentence = (
            "This backend is not served under that host name. If it should be, give the address to softirr-ls connect "
            "(--url, --panel-url) or add the name to SOFTIRR_ALLOWED_HOSTS."
        )
        return refused(Refused(421, sentence))
    if not is_operator() and not _connected():
        return refused(Refused(403, "No project is connected to this backend: run softirr-ls connect."))
    return None


def host_is_known() -> bool:
    """Whether the request names a host under which this backend is served."""
    host = _host_name(request.headers.get("Host", ""))
    return host in _own_hosts() or host in _connected_hosts()


def _connected() -> list[Row]:
    return services().store.connected(services().settings.label_studio_url)


def _own_hosts() -> set[str]:
    settings = services().settings
    given = (settings.host, *settings.allowed_hosts, *map(_of_address, settings.label_studio_origins))
    return (set(_LOOPBACK) | {host.lower().strip("[]") for host in given}) - _ANYWHERE


def _connected_hosts() -> set[str]:
    """Host names in the addresses that were given to ``softirr-ls connect``."""
    addresses = [row["connection"].get(name) for row in _connected() for name in ("url", "panel_base")]
    return {_of_address(address) for address in addresses if address} - _ANYWHERE


def _of_address(address: str) -> str:
    return (urlsplit(address).hostname or "").lower()


def _host_name(header: str) -> str:
    try:
        name = (urlsplit(f"//{header}").hostname or "").rstrip(".")
        return str(ipaddress.ip_address(name)) if ":" in name else name
    except ValueError:
        return ""


def json_body() -> dict[str, Any]:
    """The request's JSON object.

    Raises
    ------
    Refused
        Also if the content type is not JSON: browsers let pages of other sites send other types without a preflight request.
    """
    if not request.is_json:
        raise Refused(415, "The request's body has to be sent as application/json.")
    try:
        body = request.get_json(silent=True)
    except RecursionError:
        raise Refused(400, "The request's body is nested too deeply.") from None
    if not isinstance(body, dict):
        raise Refused(400, "The request's body is not a JSON object.")
    return body


def project_number(value: Any) -> int:
    """Project id from ``4``, ``"4"`` or Label Studio's ``"4.1795179834"``."""
    text = str(value).partition(".")[0] if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) < 2**31 or len(text) > 12:
        raise Refused(400, "The request names no project.")
    return int(text)


# --- programs -------------------------------------------------------------------------------------------------------


def project_in(body: Mapping[str, Any]) -> int:
    """Project id in a body of Label Studio: ``{"project": 4}`` or ``{"project": {"id": 4}}``."""
    project = body.get("project")
    return project_number(project.get("id") if isinstance(project, Mapping) else project)


def is_operator() -> bool:
    """Whether the request carries the operator's user and password (BASIC_AUTH_USER, BASIC_AUTH_PASS)."""
    settings = services().settings
    given = _given_password()
    if given is None or not settings.basic_auth_user or not settings.basic_auth_pass:
        return False
    right = hmac.compare_digest(given[0].encode(), settings.basic_auth_user.encode())
    right &= hmac.compare_digest(given[1].encode(), settings.basic_auth_pass.encode())
    return right


def require_operator() -> None:
    """Refuse the request unless it is the operator's.

    Raises
    ------
    Refused
    """
    if is_operator():
        return
    if not services().settings.basic_auth_user:
        raise Refused(401, "This is for the operator: set BASIC_AUTH_USER and BASIC_AUTH_PASS, and send them.")
    raise Refused(401, "This needs the operator's user and password (BASIC_AUTH_USER, BASIC_AUTH_PASS).")


def require_connection() -> Row | None:
    """The connected project whose secret the request carries, or None if it is the operator's.

    ``softirr-ls connect`` makes a secret for each project and gives it to Label Studio's connection, which sends it as the password
    of basic auth.

    Raises
    ------
    Refused
        If the secret is wrong, whether or not the project exists, or if a page of another site sends the request.
    """
    source = request.headers.get("Origin")
    if source is not None and origin(source) != origin(request.host_url):
        raise Refused(403, "This was asked for by a page of another site.")
    if is_operator():
        return None
    user, password = _given_password() or ("", "")
    number = Keys.project_of_password(password)
    row = services().store.project(services().settings.label_studio_url, number) if number else None
    # An unknown project takes as long as a wrong secret.
    right = keys().is_password(password, number or 0, generation=row["key_round"] if row else 0)
    if not right or row is None or not is_connected(row["connection"]) or user != CONNECTION_USER:
        raise Refused(401, "The connection carries no valid secret: run softirr-ls connect for this project.")
    return row


def _given_password() -> tuple[str, str] | None:
    given = request.authorization
    if given is None or given.type != "basic":
        return None
    return given.username or "", given.password or ""
