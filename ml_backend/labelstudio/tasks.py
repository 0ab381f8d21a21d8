"""Reading tasks page by page, and skipping tasks that Label Studio can't deliver."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import LabelStudioError, NotFound, Unreachable
from ml_backend.labelstudio.transport import TRIES, Attempts

log = logging.getLogger(__name__)

_Listed = tuple[list[dict[str, Any]], int]  # tasks, and how many there are in all

# `include` is applied to the nested annotations, drafts and predictions too: their field names must be in the same
# list.
TASK_FIELDS = (
    "id,updated_at,created_at,annotations,result,completed_by,was_cancelled,parent_prediction,"
    "drafts,user,predictions,score,model_version,ground_truth,updated_by,lead_time"
)
COMPLETE = {"fields": "all", "include": f"{TASK_FIELDS},data"}
DATES = {"include": "id,updated_at,total_annotations"}
DATES_AT_ONCE = 5000
SMALLER = 4  # factor by which a page that can't be delivered shrinks, until one task is left


def pages(
    client: Client, project: int, *, page_size: int, updated_after: str | None = None, above: int = 0
) -> Iterator[list[dict[str, Any]]]:
    """The project's tasks with data, annotations, drafts and predictions, in order of id, page by page.

    Each page requests the ids above the last one, so that added and removed tasks do not shift pages. Reading ends at
    the task that was the newest when the first page was read, so it ends however fast tasks are added. A task that the
    server can't deliver (1.23.2 answers 500 where an annotation contains a lone surrogate) is yielded with
    ``"unreadable": True`` and without annotations.

    Parameters
    ----------
    updated_after : str, optional
        ISO date: only tasks that changed after it.
    above : int
        Only tasks with a higher id.
    """
    changed = [_condition("updated_at", "greater", "Datetime", exact(updated_after))] if updated_after else []
    yield from _pages(client, project, page_size, changed, above)


def separate_tasks(
    client: Client, project: int, numbers: Iterable[int], *, page_size: int
) -> Iterator[list[dict[str, Any]]]:
    """Read each of these tasks with a separate request; yields pages of one task, as `pages` does.

    Parameters
    ----------
    page_size : int
        As for `pages`: a failing server gets as many tries as there, before a task counts as unreadable.
    """
    for number in sorted(set(numbers)):
        yield from _pages(client, project, page_size, [_condition("id", "equal", "Number", number)])


def dates(client: Client, project: int) -> dict[int, tuple[str, int]]:
    """Id -> ``updated_at`` and number of annotations that are not skipped; much faster than reading the tasks."""
    dated: dict[int, tuple[str, int]] = {}
    size = DATES_AT_ONCE
    end: int | None = None
    while True:
        conditions = [_above(max(dated, default=0))]
        size, (page, total) = _smaller(size, partial(_page, client, project, conditions=conditions, columns=DATES))
        dated.update(_dated(page))
        if not page or len(page) >= total:
            return dated
        end = highest(client, project) if end is None else end
        if max(dated) >= end:
            return dated


def newest(client: Client, project: int, n: int) -> dict[int, tuple[str, int]]:
    """The `n` tasks that changed last, the newest first, in the form of :func:`dates`."""
    query = json.dumps({"ordering": ["-tasks:updated_at"]})
    _, (page, _) = _smaller(n, partial(_listed, client, {"project": project, **DATES, "query": query}))
    return _dated(page)


def newest_change(client: Client, project: int) -> str | None:
    """The newest ``updated_at`` of any task; None in an empty project."""
    return next((stamp or None for stamp, _ in newest(client, project, 1).values()), None)


def highest(client: Client, project: int) -> int:
    """The highest id of any task; 0 in an empty project."""
    query = json.dumps({"ordering": ["-tasks:id"]})
    page, _ = _listed(client, {"project": project, **DATES, "query": query}, 1, tries_on_500=TRIES)
    return max((task["id"] for task in page), default=0)


def _dated(page: Iterable[dict[str, Any]]) -> dict[int, tuple[str, int]]:
    return {task["id"]: (task.get("updated_at") or "", task.get("total_annotations") or 0) for task in page}


def _pages(
    client: Client, project: int, page_size: int, fixed: list[dict[str, Any]], above: int = 0
) -> Iterator[list[dict[str, Any]]]:
    last, size, doubtful = above, page_size, 0
    end: int | None = None
    while True:
        read_page = partial(_page, client, project, conditions=[*fixed, _above(last)])
        try:
            n_requested, (page, total) = _smaller(size, partial(read_page, columns=COMPLETE), tries_on_one=2)
            _refuse_incomplete(page)
            if n_requested < size:
                size, doubtful = n_requested, page_size  # these tasks are requested in smaller pages
        except Unreachable as error:
            if error.status != 500:
                raise
            # If this fails too, the server is the cause and not the task.
            page, total = read_page(1, columns=DATES)
            page = [_unreadable(client, task) for task in page]
            doubtful = 0
        if not page:
            return
        yield page
        last = max(task["id"] for task in page)
        doubtful -= len(page)
        size = size if doubtful > 0 else page_size
        if len(page) >= total:
            return
        end = highest(client, project) if end is None else end
        if last >= end:
            return


def _smaller(size: int, read: Callable[..., _Listed], *, tries_on_one: int = TRIES) -> tuple[int, _Listed]:
    """Read a page of `size` tasks, or of fewer if the server answers 500; returns the size and the tasks.

    Label Studio 1.23.2 answers 500 if a text contains a lone surrogate and, on SQLite, if a page has answers of a
    thousand people. A 500 for a single task is more likely a fault of the server: it is tried `tries_on_one` times.
    """
    while True:
        try:
            return size, read(size, tries_on_500=tries_on_one if size == 1 else 2)
        except Unreachable as error:
            if error.status != 500 or size == 1:
                raise
            size = max(1, size // SMALLER)


def _unreadable(client: Client, task: dict[str, Any]) -> dict[str, Any]:
    log.warning("task %d can't be read: Label Studio answers 500 for it; it is left out", task["id"])
    return {**task, "unreadable": True, "predictions": client.predictions_of(task["id"])}


def _page(
    client: Client,
    project: int,
    size: int,
    *,
    conditions: list[dict[str, Any]],
    columns: Mapping[str, str],
    tries_on_500: int = TRIES,
) -> _Listed:
    """The first tasks under these conditions in order of id, and the number of all such tasks."""
    query = {"filters": {"conjunction": "and", "items": conditions}, "ordering": ["tasks:id"]}
    params = {"project": project, **columns, "query": json.dumps(query)}
    return _listed(client, params, size, tries_on_500=tries_on_500)


def _refuse_incomplete(page: Iterable[Mapping[str, Any]]) -> None:
    if not all(isinstance(task.get(name), list) for task in page for name in ("annotations", "predictions")):
        raise LabelStudioError(
            "Label Studio gave a task without its annotations or predictions; is it older than 1.13?"
        )


def _listed(client: Client, params: Mapping[str, Any], size: int, *, tries_on_500: int = TRIES) -> _Listed:
    """The first page of a list of tasks, and the total number of tasks.

    Label Studio answers an empty list with 200, so a 404 never means "no tasks" and is an error.
    """
    params = {**params, "page": 1, "page_size": size}
    try:
        reply = client.request("GET", "/api/tasks/", params=params, attempts=Attempts(tries_on_500=tries_on_500))
    except NotFound:
        raise NotFound(
            f"Label Studio answered 404 when asked for the tasks of project {params['project']}: the project is gone, "
            "or something between here and Label Studio failed.",
            404,
        ) from None
    page = reply.get("tasks") if isinstance(reply, dict) else None
    total = reply.get("total") if isinstance(reply, dict) else None
    if not isinstance(page, list) or not isinstance(total, int) or not all(_is_task(task) for task in page):
        raise LabelStudioError("Label Studio's list of tasks has an unknown shape; is it older than 1.13?")
    return page, total


def _is_task(task: Any) -> bool:
    """Whether an entry of a list is a task with an id."""
    return isinstance(task, dict) and isinstance(task.get("id"), int) and not isinstance(task["id"], bool)


def exact(moment: str) -> str:
    """An ISO date in UTC with all six digits of the second's fraction.

    Label Studio answers 500 to a filter without them.
    """
    date = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    return date.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _above(number: int) -> dict[str, Any]:
    return _condition("id", "greater", "Number", number)


def _condition(column: str, operator: str, kind: str, value: Any) -> dict[str, Any]:
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
