"""Data Manager tabs: lowest agreement first, and with columns the tasks that reviewers sent back."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import unused_fields

TITLE = "Triage: low agreement first"
SENT_BACK_TITLE = "Sent back by reviewers"
_SENT_BACK = "softirr_sent_back"
"""In the triage tab's data: id of the tab of tasks sent back, so that a tab that somebody removed is not made again."""
HIDDEN = (
    *("inner_id", "completed_at", "total_annotations", "cancelled_annotations", "total_predictions", "annotators"),
    *("annotations_results", "annotations_ids", "predictions_results", "predictions_model_versions", "file_upload"),
    *("storage_filename", "created_at", "updated_at", "updated_by", "avg_lead_time", "draft_exists"),
)
"""Columns that stand before the tasks' data in Label Studio, whose order of columns is fixed."""
COLUMNS = ("agreement", "reason", "done", "triage")
"""Fields in the tasks' data that are the tab's columns, where the project wants them; the last one gives the order."""


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
    return next((one for one in client.views(number) if (one.get("data") or {}).get("title") == title), None)


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
    return {str(one.get("id")) for one in columns if one.get("parent") == "data"}


def set_field(client: Client, number: int, name: str, value: str | float, tasks: Sequence[int]) -> None:
    """Set a field in the data of tasks; doing it twice does no harm."""
    body = {
        "value_name": name,
        "value_type": "String" if isinstance(value, str) else "Number",
        "value": value,
        "selectedItems": {"all": False, "included": list(tasks)},
    }
    path = "/api/dm/actions"
    client.request("POST", path, params={"id": "add_data_field", "project": number}, body=body, repeat=True)


def show_columns(client: Client, number: int) -> None:
    """Let the tab show the columns in the tasks' data and sort by them, with a tab of tasks sent back; once."""
    tab = view(client, number)
    ordering = [f"-tasks:data.{COLUMNS[-1]}"]
    if tab is None or (tab["data"].get("ordering") == ordering and _SENT_BACK in tab["data"]):
        return
    hidden = (tab["data"].get("hiddenColumns") or {}).get("explore") or ()
    kept = [name.removeprefix("tasks:data.") for name in hidden if name.startswith("tasks:data.")]
    more = [f"data.{name}" for name in kept if name not in COLUMNS]
    data = tab["data"] | {
        "ordering": ordering,
        "columnsDisplayType": {f"tasks:data.{name}": "Number" for name in ("agreement", COLUMNS[-1])},
        "hiddenColumns": _hidden([*more, "predictions_score", f"data.{COLUMNS[-1]}"]),
    }
    data[_SENT_BACK] = find(client, number, SENT_BACK_TITLE) or _make_sent_back(client, number, data)
    client.request("PATCH", f"/api/dm/views/{tab['id']}/", body={"data": data})


def _make_sent_back(client: Client, number: int, triage: Mapping[str, Any]) -> int:
    """Make the tab of tasks sent back, with the columns of the triage tab; its id."""
    sent_back = {"filter": "filter:tasks:data.done", "operator": "contains", "type": "String", "value": "sent back"}
    kept = ("type", "target", "ordering", "columnsDisplayType", "hiddenColumns")
    data = {name: triage[name] for name in kept if name in triage}
    data |= {"title": SENT_BACK_TITLE, "filters": {"conjunction": "and", "items": [sent_back]}}
    return int(client.create("/api/dm/views/", {"project": number, "data": data})["id"])


def _hidden(more: Sequence[str]) -> dict[str, list[str]]:
    """The columns that the tab hides, in the table and beside an open task."""
    names = [f"tasks:{name}" for name in (*HIDDEN, *more)]
    return {"explore": names, "labeling": names}


def delete(client: Client, view: int) -> None:
    """Remove the tab."""
    client.request("DELETE", f"/api/dm/views/{view}/")
