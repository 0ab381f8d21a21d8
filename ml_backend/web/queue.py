"""The list of tasks that need a look: its order, the next task, and people's marks on tasks."""

import re

from flask import Blueprint, Response, request

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project
from ml_backend.review.release import mark_state
from ml_backend.review.returned import answer_hashes
from ml_backend.store.store import Row
from ml_backend.web import arguments, responses
from ml_backend.web.panel import allow_label_studio, allow_preflights
from ml_backend.web.running import links_of, marking, reports, reviews, settings_of
from ml_backend.web.task_queue import Queue, mark_details

queue = Blueprint("queue", __name__)
queue.register_error_handler(Refused, responses.refusal)
allow_preflights(queue, "/api/queue", "/api/queue/next", "/api/queue/<int:task>")
MOST_QUEUE = 1000
_TAB = re.compile(r"[A-Za-z0-9_-]{1,2000}")  # the id of a saved tab, or a tab that has its filters in the address


@queue.get("/api/queue")
def tasks_in_order() -> Response:
    """Tasks in the order in which a review helps most: ``project``, ``limit``, ``offset``, ``done`` (0 or 1)."""
    project = current_project()
    done = {"0": False, "1": True}.get(request.args.get("done", ""))
    entries = _queue(project).view(done=done)
    limit = min(MOST_QUEUE, max(0, request.args.get("limit", 100, type=int)))
    start = max(0, request.args.get("offset", 0, type=int))
    return responses.data({"total": len(entries), "offset": start, "tasks": entries[start : start + limit]})


@queue.post("/api/queue")
def mark() -> Response:
    """A person looked at a task, or sends it back: ``{"project", "task", "who", "state", "note"}``.

    The mark lapses when the answers change.
    """
    body, project = json_body(), current_project()
    task = arguments.task(project, body)
    number, sign = task["number"], {"answers_hash": task["answers_hash"], "reviewer": arguments.acting_name(body)}
    if body.get("state", "done") not in ("done", "sent back"):
        raise Refused(400, "state is neither done nor sent back.")
    with marking(project, number):
        if body.get("state") == "sent back":
            answers = answer_hashes(task)
            reviews().send_back(project["id"], number, note=arguments.note(body), answers=answers, **sign)
        else:
            reviews().mark_done(project["id"], number, **sign)
    mark = reviews().mark(project["id"], number)
    state = mark_state(mark, task["answers_hash"])
    marks = {name: mark_details(mark) if state == name.replace("_", " ") else None for name in ("done", "sent_back")}
    return allow_label_studio(responses.data({"task": number, **marks, "marks": reports().marks(project)}, status=201))


@queue.get("/api/queue/next")
def next_task() -> Response:
    """The task of the queue after ``task``, with its address: ``project``, ``task``; ``tab`` stays in the address."""
    project = current_project()
    task = request.args.get("task") or None
    number = None if task is None else arguments.whole_number(task, "task")
    tab = request.args.get("tab", "")
    following = _queue(project).after(number, tab=tab if _TAB.fullmatch(tab) else None)
    return allow_label_studio(responses.data(following))


@queue.delete("/api/queue/<int:task>")
def unmark(task: int) -> Response:
    """Remove the mark; a task without one stays as it is, because a key may be pressed twice."""
    project = current_project()
    with marking(project, task):
        reviews().unmark(project["id"], task)
    return allow_label_studio(
        responses.data({"task": task, "done": None, "sent_back": None, "marks": reports().marks(project)})
    )


def _queue(project: Row) -> Queue:
    return reports().queue(project, settings_of(project), links_of(project))
