"""What counts as the same: the lead looks at candidate policies, and chooses one for the project."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, Response

from ml_backend.report.policies import MOST
from ml_backend.settings import checked_options, effective
from ml_backend.store.policies import PolicyStore
from ml_backend.store.store import Row
from ml_backend.web import visitors
from ml_backend.web.callers import Refused, json_body, project_number, services
from softirr.errors import InputError
from softirr.policy.rules import Policy

policies = Blueprint("policies", __name__)
policies.register_error_handler(Refused, visitors.refusal)


@policies.post("/api/policies")
def look() -> Response:
    """Ask for the coefficient and the moved tasks under candidates: ``{"project", "control", "policies"}``; the scorer process computes it."""
    body = json_body()
    project = _project_of_lead(body)
    control, given = visitors.known_field(project, body.get("control")), body.get("policies", [])
    if not isinstance(given, list) or len(given) > MOST:
        raise Refused(400, f"policies is not a list of up to {MOST} policies.")
    PolicyStore(services().store).want(project["id"], control, [_checked(one).to_dict() for one in given])
    services().wakeups.want(project["id"], "policies")
    return visitors.data({"wanted": len(given)}, status=202)


@policies.post("/api/policies/choice")
def choose() -> Response:
    """Choose what counts in the project: ``{"project", "policy"}``; the project is scored again, as after a change of the setting."""
    body = json_body()
    project = _project_of_lead(body)
    store = services().store
    used = effective(services().settings, connection=project["extra_params"], chosen=project["chosen"]).values.policy
    chosen = replace(_checked(body.get("policy")), split=used.split)  # how answers are split is another setting
    store.update_project(project["id"], chosen={**project["chosen"], "policy": chosen.to_dict()})
    services().wakeups.want(project["id"], "settings")
    return visitors.data({"policy": chosen.to_dict(), "told": chosen.told()}, status=202)


def _project_of_lead(body: dict[str, Any]) -> Row:
    """The project of a request by its lead.

    Raises
    ------
    Refused
    """
    project = visitors.enter(project_number(body.get("project")), "report")
    who = visitors.visitor(project)
    if who is None or not who.at_least("lead"):
        raise Refused(403, "What counts as the same is for the project’s lead to choose.")
    return project


def _checked(given: Any) -> Policy:
    """A preset by its name, or a policy as a JSON object; nothing else of the project's settings can be set here."""
    try:
        return Policy.from_dict(checked_options({"policy": given}, source="The request")["policy"])
    except InputError as error:
        raise Refused(400, str(error)) from None
