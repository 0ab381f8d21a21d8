"""The Data Manager tab with the lowest agreement first."""

from collections.abc import Collection, Sequence
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import unused_fields

TITLE = "Triage: low agreement first"
HIDDEN = (
    *("inner_id", "completed_at", "total_annotations", "cancelled_annotations", "total_predictions", "annotators"),
    *("annotations_results", "annotations_ids", "predictions_results", "predictions_model_versions", "file_upload"),
    *("storage_filename", "created_at", "updated_at", "updated_by", "avg_lead_time", "draft_exists"),
)
"""Columns that precede the tasks' data in Label Studio's fixed order of columns."""


def tab(number: int, unused: Collection[str] = ()) -> dict[str, Any]:
    """The tab as the API expects it: tasks with an agreement, lowest first.

    Fields of the tasks' data that annotators don't see are hidden.
    """
    return {
        "project": number,
        "data": {
            "title": TITLE,
            "type": "list",
            "target": "tasks",
            "ordering": ["tasks:predictions_score"],
            "filters": {
                "conjunction": "and",
                "items": [
                    {"filter": "filter:tasks:predictions_score", "operator": "empty", "type": "Number", "value": False}
                ],
            },
            "hiddenColumns": _hidden([f"data.{name}" for name in sorted(unused)]),
        },
    }


def view(client: Client, number: int, title: str = TITLE) -> dict[str, Any] | None:
    """The tab as the API gives it, if the project has it."""
    return next((tab for tab in client.views(number) if (tab.get("data") or {}).get("title") == title), None)


def find(client: Client, number: int, title: str = TITLE) -> int | None:
    """Id of the tab, if the project has it."""
    tab = view(client, number, title)
    return None if tab is None else tab["id"]


def ensure(client: Client, number: int) -> tuple[int, bool]:
    """(id of the tab, whether it had to be made)."""
    present = find(client, number)
    if present is not None:
        return present, False
    if not client.views(number):
        # Label Studio makes its default tab only for a project without tabs, so make that one first.
        client.request("POST", "/api/dm/views/", body={"project": number, "data": {"title": "Default"}})
    unused = unused_fields(client.project(number).get("label_config") or "", data_fields(client, number))
    return int(client.create("/api/dm/views/", tab(number, unused))["id"]), True


def data_fields(client: Client, number: int) -> set[str]:
    """Names of the fields in the data of the project's tasks."""
    reply = client.request("GET", "/api/dm/columns", params={"project": number})
    columns = reply.get("columns", []) if isinstance(reply, dict) else []
    return {str(column.get("id")) for column in columns if column.get("parent") == "data"}


def _hidden(more: Sequence[str]) -> dict[str, list[str]]:
    """The columns that the tab hides, in the table and next to an open task."""
    names = [f"tasks:{name}" for name in (*HIDDEN, *more)]
    return {"explore": names, "labeling": names}


def delete(client: Client, view: int) -> None:
    """Remove the tab."""
    client.request("DELETE", f"/api/dm/views/{view}/")
