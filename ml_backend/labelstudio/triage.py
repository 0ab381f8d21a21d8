"""The Data Manager tab for reviewers: lowest agreement first."""

from typing import Any

from ml_backend.labelstudio.client import Client

TITLE = "Triage: low agreement first"


def tab(number: int) -> dict[str, Any]:
    """The tab as the API expects it: tasks with an agreement, lowest first."""
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
            "hiddenColumns": {
                "explore": [
                    "tasks:annotations_results",
                    "tasks:predictions_results",
                    "tasks:file_upload",
                    "tasks:storage_filename",
                    "tasks:annotations_ids",
                    "tasks:predictions_model_versions",
                    "tasks:draft_exists",
                    "tasks:updated_by",
                ],
                "labeling": [],
            },
        },
    }


def view(client: Client, number: int) -> dict[str, Any] | None:
    """The tab as the API gives it, if the project has it."""
    return next((found for found in client.views(number) if (found.get("data") or {}).get("title") == TITLE), None)


def find(client: Client, number: int) -> int | None:
    """Id of the tab, if the project has it."""
    found = view(client, number)
    return None if found is None else found["id"]


def ensure(client: Client, number: int) -> tuple[int, bool]:
    """(id of the tab, whether it had to be made)."""
    found = find(client, number)
    if found is not None:
        return found, False
    if not client.views(number):
        # Label Studio makes its default tab only for a project without tabs, so make that one first.
        client.request("POST", "/api/dm/views/", body={"project": number, "data": {"title": "Default"}})
    return int(client.create("/api/dm/views/", tab(number))["id"]), True


def delete(client: Client, view: int) -> None:
    """Remove the tab."""
    client.request("DELETE", f"/api/dm/views/{view}/")
