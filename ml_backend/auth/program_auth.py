"""Requests of programs: of the operator, and of Label Studio with the secrets that ``softirr-ls connect`` makes."""

import hmac

from flask import request

from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.auth.requests import Refused, connected_projects, find_project, json_body, keys, project_in, settings
from ml_backend.settings import SECRET_HEADER, origin
from ml_backend.store.store import Row, is_connected


def is_operator() -> bool:
    """Whether the request carries the operator's user and password (BASIC_AUTH_USER, BASIC_AUTH_PASS)."""
    user, password = settings().basic_auth_user, settings().basic_auth_pass
    sent = _sent_password()
    if sent is None or not user or not password:
        return False
    is_right = hmac.compare_digest(sent[0].encode(), user.encode())
    is_right &= hmac.compare_digest(sent[1].encode(), password.encode())
    return is_right


def require_operator() -> None:
    """Refuse the request unless it is the operator's.

    Raises
    ------
    Refused
    """
    if is_operator():
        return
    if not settings().basic_auth_user:
        raise Refused(401, "Only the operator can do this: set BASIC_AUTH_USER and BASIC_AUTH_PASS, and send them.")
    raise Refused(401, "This needs the operator's user and password (BASIC_AUTH_USER, BASIC_AUTH_PASS).")


def require_connection() -> Row | None:
    """The connected project that the request's secret names, or None for the operator.

    ``softirr-ls connect`` makes a secret for each project and gives it to Label Studio's connection, which sends it as
    the password of basic auth.

    Raises
    ------
    Refused
        If the secret is wrong, whether or not the project exists, or if a page of another site sends the request.
    """
    source = request.headers.get("Origin")
    if source is not None and origin(source) != origin(request.host_url):
        raise Refused(403, "The request came from a page of another site.")
    if is_operator():
        return None
    user, password = _sent_password() or ("", "")
    number = Keys.project_of_password(password)
    row = find_project(number) if number else None
    # An unknown project takes as long as a wrong secret.
    right = keys().is_password(password, number or 0, generation=row["key_round"] if row else 0)
    if not right or row is None or not is_connected(row["connection"]) or user != CONNECTION_USER:
        raise Refused(401, "The connection has no valid secret: run softirr-ls connect for this project.")
    return row


def connected_project() -> Row:
    """The connected project that a request of Label Studio's connection is about.

    Its body is not read before the secret is right.

    Raises
    ------
    Refused
    """
    row = require_connection()
    number = project_in(json_body())
    if row is None:
        row = find_project(number)
        if row is None or not is_connected(row["connection"]):
            raise Refused(404, f"Project {number} is not connected to this backend: run softirr-ls connect.")
    if row["number"] != number:
        raise Refused(401, "The connection has the secret of another project.")
    return row


def webhook_project() -> Row:
    """The project that the secret of a webhook's call names, whatever the body is.

    Our own webhook carries its secret; "Start training" comes over the connection.

    Raises
    ------
    Refused
    """
    secret = request.headers.get(SECRET_HEADER)
    if secret is None:
        if request.authorization is None:
            raise Refused(403, f"The webhook lacks the header {SECRET_HEADER}: run softirr-ls connect again.")
        return require_connection() or connected_project()
    candidate, project = secret.encode("utf-8", "replace"), None
    for row in connected_projects():
        if row["webhook_secret"] and hmac.compare_digest(candidate, row["webhook_secret"].encode()):
            project = row
    if project is None:
        raise Refused(403, "The webhook's secret is wrong: run softirr-ls connect again.")
    return project


def _sent_password() -> tuple[str, str] | None:
    authorization = request.authorization
    if authorization is None or authorization.type != "basic":
        return None
    return authorization.username or "", authorization.password or ""
