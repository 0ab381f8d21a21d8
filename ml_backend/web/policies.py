"""What counts as the same: the lead looks at candidate policies, and chooses one for the project."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, Response

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project
from ml_backend.options import checked_options
from ml_backend.report.policies import MOST
from ml_backend.store.policies import PolicyStore
from ml_backend.web import arguments, responses
from ml_backend.web.running import services, settings_of
from softirr.errors import InputError
from softirr.meaning.policy.rules import Policy

policies = Blueprint("policies", __name__)
policies.register_error_handler(Refused, responses.refusal)


@policies.post("/api/policies")
def look() -> Response:
    """Ask for the coefficient and the moved tasks under candidates: ``{"project", "control", "policies"}``.

    The scorer process computes it.
    """
    body, project = json_body(), current_project()
    control, given = arguments.known_field(project, body.get("control")), body.get("policies", [])
    if not isinstance(given, list) or len(given) > MOST:
        raise Refused(400, f"policies is not a list of up to {MOST} policies.")
    PolicyStore(services().store).want(project["id"], control, [_checked(one).to_dict() for one in given])
    services().wakeups.want(project["id"], "policies")
    return responses.data({"wanted": len(given)}, status=202)


@policies.post("/api/policies/choice")
def choose() -> Response:
    """Choose what counts in the project: ``{"project", "policy"}``.

    The project is scored again, as after a change of the setting.
    """
    body, project = json_body(), current_project()
    store = services().store
    used = settings_of(project).policy
    chosen = replace(_checked(body.get("policy")), split=used.split)  # how answers are split is another setting
    store.update_project(project["id"], chosen={**project["chosen"], "policy": chosen.to_dict()})
    services().wakeups.want(project["id"], "settings")
    return responses.data({"policy": chosen.to_dict(), "description": chosen.describe()}, status=202)


def _checked(given: Any) -> Policy:
    """A preset by its name, or a policy as a JSON object; nothing else of the project's settings can be set here."""
    try:
        return Policy.from_dict(checked_options({"policy": given}, source="The request")["policy"])
    except InputError as error:
        raise Refused(400, str(error)) from None
