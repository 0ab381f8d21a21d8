"""The answers to a task by field; choices, ratings and the like of a Repeater are one field for each turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ml_backend.labelstudio.config import is_repeated
from softirr.answers.labelstudio_results import name_in_turn, readable_name


class FieldEntry(NamedTuple):
    """The answers to one field of a task that is not a text.

    Attributes
    ----------
    name : str
        Name of the control in the task's results, such as ``tone_2``.
    control : str
        Its name in the label config, such as ``tone_{{idx}}``.
    title : str
        Its name for people, such as ``tone, turn 3``.
    entry : mapping
        The stored answers: ``answers``, ``excluded`` and ``kind``.
    """

    name: str
    control: str
    title: str
    entry: Mapping[str, Any]


def other_entries(task: Mapping[str, Any]) -> list[FieldEntry]:
    """Return the answers to the fields of a task that are not texts, turn by turn.

    Fields of regions are left out if the regions have texts: they are accepted with the text of each region.

    Parameters
    ----------
    task : mapping
        A row of the store. Rows that an earlier version wrote do not have the numbers of turns: their turns are one
        field.
    """
    facts = task["facts"] or {}
    turns: Mapping[str, list[int]] = facts.get("turns") or {}
    in_order = [
        (turn, field)
        for name, entry in (facts.get("fields") or {}).items()
        if name not in facts.get("of_regions", ())
        for turn, field in _by_turn(name, entry, turns.get(name))
    ]
    return [field for _, field in sorted(in_order, key=lambda numbered: numbered[0])]


def _by_turn(name: str, entry: Mapping[str, Any], turns: list[int] | None) -> Iterator[tuple[int, FieldEntry]]:
    """Yield number and answers of each turn; -1 for a field of the whole task."""
    if turns is None or not is_repeated(name):
        yield -1, FieldEntry(name, name, readable_name(name), entry)
        return
    for turn, answers in zip(turns, entry["groups"], strict=True):
        of_turn = {"answers": answers, "excluded": [], "kind": entry["kind"]}
        yield turn, FieldEntry(name_in_turn(name, turn), name, readable_name(name, turn), of_turn)


def field_entries(task: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the answers to every field of a task by name: its texts and `other_entries`."""
    texts = {name: entry for name, entry in task["answers"].items() if "kind" not in entry}
    return {**{field.name: field.entry for field in other_entries(task)}, **texts}
