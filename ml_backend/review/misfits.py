"""Warnings that the measure does not fit the texts of a project, for every screen and export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["misfits_of"]


def misfits_of(project: Mapping[str, Any], control: str | None = None) -> list[str]:
    """Why the measure does not fit the texts; empty where it does.

    Parameters
    ----------
    project : mapping
        A row of the store.
    control : str, optional
        One field; by default all of them.

    Returns
    -------
    list of str
        Each sentence once.
    """
    fields = (project["summary"] or {}).get("controls") or {}
    chosen = fields.values() if control is None else [fields[control]] if control in fields else []
    return list(dict.fromkeys(sentence for field in chosen for sentence in field.get("misfits") or ()))
