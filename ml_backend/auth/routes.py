"""Who may do what: one table of method, route and role, and the check of every request against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from flask import g, request

from ml_backend.auth.browser_auth import enter, project_of_key, require_lead, require_link, require_reviewer, visitor
from ml_backend.auth.keys import Person
from ml_backend.auth.origins import check_host, check_source
from ml_backend.auth.program_auth import (
    connected_project,
    is_operator,
    require_connection,
    require_operator,
    webhook_project,
)
from ml_backend.auth.requests import Refused, connected_projects, json_body, project_number
from ml_backend.store.store import Row

Access = Literal[
    "anyone",  # the answer holds no data
    "panel key",  # whoever has a key of a panel: the page without data
    "personal link",
    "annotator",  # people of the project; whoever has only the panel's key is shown nothing about a task
    "reviewer",  # reviewers, leads, and whoever has the report's key
    "known reviewer",  # reviewers and leads with a known name, because a decision is signed
    "lead",  # leads, and whoever has the report's key
    "operator",
    "connection",  # Label Studio's connection, and the operator
    "connected project",  # the same, with a body that names the project
    "webhook",
]
Place = Literal["address", "query", "body", ""]
HEALTH = "/health"
"""The only address that is served under every host name, and before a project is connected."""


@dataclass(frozen=True)
class Route:
    """A row of the table.

    Attributes
    ----------
    method : str
        GET includes HEAD.
    rule : str
        The address as Flask writes it.
    access : str
        Who may use it.
    project : str
        Where the request names the project: in the ``address``, the ``query`` or the ``body``; empty if it does not.
    """

    method: str
    rule: str
    access: Access
    project: Place = ""


def _routes(access: Access, project: Place, *addresses: str) -> list[Route]:
    split = (address.partition(" ") for address in addresses)
    return [Route(method, rule, access, project) for method, _, rule in split]


ROUTES: tuple[Route, ...] = (
    *_routes("anyone", "", "GET /health", "GET /panel/static/<version>/<path:name>"),
    *_routes("anyone", "", "GET /report/static/<version>/<path:name>"),
    # Label Studio and the operator's programs
    *_routes("connection", "", "GET /", "GET /versions"),
    *_routes("connected project", "", "POST /setup", "POST /predict"),
    *_routes("webhook", "", "POST /webhook"),
    *_routes("operator", "", "GET /metrics"),
    # the panel
    *_routes("panel key", "", "GET /panel"),
    *_routes("personal link", "address", "GET /enter/<int:number>"),
    *_routes("annotator", "query", "GET /api/panel"),
    *_routes("known reviewer", "body", "POST /api/decisions"),
    *_routes("known reviewer", "body", "POST /api/agreed"),
    *_routes("known reviewer", "query", "DELETE /api/agreed/<int:task>"),
    *_routes("reviewer", "query", "GET /api/decisions", "GET /api/agreed"),
    # the report and the queue
    *_routes("reviewer", "address", "GET /report/<int:number>", "GET /report/<int:number>/<name>"),
    *_routes("reviewer", "query", "GET /api/report", "GET /api/report/state", "GET /api/queue", "GET /api/queue/next"),
    *_routes("reviewer", "body", "POST /api/queue"),
    *_routes("reviewer", "query", "DELETE /api/queue/<int:task>"),
    *_routes("lead", "body", "POST /api/report/link", "POST /api/report/policy", "POST /api/report/target"),
    # the audit
    *_routes("reviewer", "address", "GET /audit/<int:number>", "GET /audit/<int:number>/<int:which>.csv"),
    *_routes("reviewer", "query", "GET /api/audit", "GET /api/audit/<int:which>"),
    *_routes("reviewer", "body", "POST /api/audit", "POST /api/audit/<int:which>/finish"),
    *_routes("reviewer", "body", "POST /api/audit/<int:which>/judgments"),
    *_routes("reviewer", "query", "DELETE /api/audit/<int:which>/judgments"),
    # browsers ask before requests from Label Studio's pages; the answer names these pages only
    *_routes("anyone", "", "OPTIONS /api/panel"),
    *_routes("anyone", "", "OPTIONS /api/decisions"),
    *_routes("anyone", "", "OPTIONS /api/agreed", "OPTIONS /api/agreed/<int:task>"),
    *_routes("anyone", "", "OPTIONS /api/queue", "OPTIONS /api/queue/next", "OPTIONS /api/queue/<int:task>"),
)
_BY_ADDRESS = {(route.method, route.rule): route for route in ROUTES}


def check_request() -> None:
    """Refuse a request that its row of the table does not allow, and every request without a row.

    Raises
    ------
    Refused
    """
    if request.url_rule is None:  # Flask answers that the address is unknown
        _check_backend()
        return
    rule = request.url_rule.rule
    if rule != HEALTH:
        _check_backend()
    route = _BY_ADDRESS.get(("GET" if request.method == "HEAD" else request.method, rule))
    if route is None:
        raise Refused(403, "This address is closed: the table of routes gives it no role.")
    g.softirr_project = _allowed(route)


def _check_backend() -> None:
    check_host()
    if not is_operator() and not connected_projects():
        raise Refused(403, "No project is connected to this backend: run softirr-ls connect.")


def _allowed(route: Route) -> Row | None:
    """The project that the request may use in the role that the table names; None if it does not name one."""
    if route.access in _WITHOUT_PROJECT:
        return _WITHOUT_PROJECT[route.access]()
    return _OF_PROJECT[route.access](_named_project(route))


def _named_project(route: Route) -> int:
    match route.project:
        case "address":
            return int((request.view_args or {})["number"])
        case "body":
            return project_number(json_body().get("project"))
        case _:
            return project_number(request.args.get("project"))


def _operator() -> None:
    require_operator()
    check_source(None)  # a browser may send the password without a click


def _page_of_panel() -> Row:
    project = project_of_key(request.args.get("k"))
    check_source(project)
    return project


def _report(number: int) -> Row:
    """The project, for those who may see its report."""
    return enter(number, "report")


def _known_reviewer(number: int) -> Row:
    project = enter(number, "panel")
    require_reviewer(project)
    return project


def _lead(number: int) -> Row:
    project = enter(number, "report")
    require_lead(project)
    return project


_WITHOUT_PROJECT: dict[Access, Callable[[], Row | None]] = {
    "anyone": lambda: None,
    "operator": _operator,
    "panel key": _page_of_panel,
    "connection": require_connection,
    "connected project": connected_project,
    "webhook": webhook_project,
}
_OF_PROJECT: dict[Access, Callable[[int], Row]] = {
    "personal link": lambda number: require_link(number)[0],
    "annotator": lambda number: enter(number, "panel"),
    "reviewer": _report,
    "known reviewer": _known_reviewer,
    "lead": _lead,
}


def current_project() -> Row:
    """The project of the request, which `check_request` allowed."""
    project: Row | None = g.get("softirr_project")
    if project is None:
        raise Refused(400, "The request names no project.")
    return project


def current_person() -> Person | None:
    """The person behind the request; None for a key that names nobody."""
    return visitor(current_project())


def current_reviewer() -> Person:
    """The person behind a request that a known reviewer sends.

    Raises
    ------
    Refused
    """
    return require_reviewer(current_project())
