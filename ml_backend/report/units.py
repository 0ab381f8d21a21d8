"""What the items of a project's field are: tasks, or the places of tasks at which regions overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.report.page.sentences import PLACES, TASKS, Words

__all__ = ["words_for"]


def words_for(project: Mapping[str, Any], control: str) -> Words:
    """What a screen calls the items of a field.

    Parameters
    ----------
    project : mapping
        A row of the store, scored.
    control : str

    Returns
    -------
    Words
        Places where the field is asked for each region and regions are compared by overlap, else tasks.
    """
    settings = (project["summary"] or {}).get("settings") or {}
    overlap = (settings.get("regions") or {}).get("value") == "overlap"
    per_region = any(one.get("per_region") for one in project.get("controls", ()) if one["name"] == control)
    return PLACES if overlap and per_region else TASKS
