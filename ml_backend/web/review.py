"""Sending all tasks with low agreement back."""

from flask import Blueprint, Response

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project
from ml_backend.web import arguments, responses
from ml_backend.web.links import MOST_IDS
from ml_backend.web.panel import refused_as_json
from ml_backend.web.running import links_of, reports, reviews, services, settings_of

review = Blueprint("review", __name__)


review.register_error_handler(Refused, refused_as_json)


@review.post("/api/queue/low")
def send_back_low() -> Response:
    """Send all ready tasks with low agreement back with a note: ``{"project", "below", "note", "who"}``.

    With ``"only_count": true`` nothing is marked. The answer has the tasks, and the address of a tab of Label Studio
    with them, from which more
    annotators can be asked for answers.
    """
    body, project = json_body(), current_project()
    below = body.get("below")
    if not isinstance(below, int | float) or isinstance(below, bool) or not 0 < below <= 1:
        raise Refused(400, "below is not a number above 0 and up to 1.")
    links = links_of(project)
    ready = [
        one for one in reports().queue(project, settings_of(project), links).view(done=False) if one["state"] == "ready"
    ]
    numbers = [one["task"] for one in ready if one["agreement"] < below]
    if not body.get("only_count"):
        who, note = arguments.acting_name(body), arguments.note(body)
        rows = services().store.get_tasks(project["id"], numbers)
        for number in numbers:
            hashed = rows[number]["answers_hash"]
            reviews().send_back(project["id"], number, answers_hash=hashed, reviewer=who, note=note)
        services().store.want(project["id"])
    link = links.tasks(numbers, f"Agreement below {below:.2f}") if numbers else None
    return responses.data({"tasks": numbers, "link": link, "shown": min(len(numbers), MOST_IDS)})
