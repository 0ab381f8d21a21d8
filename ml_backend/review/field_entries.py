"""The answers to a task by field, and the region of each text of a field that annotators answer for each region.

Choices, ratings and the like of a Repeater are one field for each turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin

from ml_backend.labelstudio.config import is_repeated
from ml_backend.settings import origin
from softirr.answers.labelstudio_results import name_in_turn, readable_name

_SHOWN = ("label", "where", "quote", "box", "ratio", "annotation", "region")


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
    in_order = [
        (turn, field)
        for name, entry in (facts.get("fields") or {}).items()
        if name not in facts.get("of_regions", ())
        for turn, field in _by_turn(name, entry)
    ]
    return [field for _, field in sorted(in_order, key=lambda numbered: numbered[0])]


def _by_turn(name: str, entry: Mapping[str, Any]) -> Iterator[tuple[int, FieldEntry]]:
    """Yield number and answers of each turn; -1 for a field of the whole task."""
    if "turns" not in entry or not is_repeated(name):
        yield -1, FieldEntry(name, name, readable_name(name), entry)
        return
    for turn, answers in zip(entry["turns"], entry["groups"], strict=True):
        of_turn = {"answers": answers, "excluded": [], "kind": entry["kind"]}
        yield turn, FieldEntry(name_in_turn(name, turn), name, readable_name(name, turn), of_turn)


def field_entries(task: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the answers to every field of a task by name: its texts and `other_entries`."""
    texts = {name: entry for name, entry in task["answers"].items() if "kind" not in entry}
    return {**{field.name: field.entry for field in other_entries(task)}, **texts}


class Regions:
    """The regions of one field of a task.

    Parameters
    ----------
    stored : mapping
        As `ml_backend.labelstudio.answers` keeps them: kind and address of the object, and the rows of
        `labelstudio.regions.region_rows`.
    """

    def __init__(self, stored: Mapping[str, Any]):
        self._stored, self._rows = stored, stored.get("rows") or ()

    def shows(self, home: str, origins: Collection[str]) -> dict[str, Any]:
        """The object of the regions; its address only if Label Studio itself serves it.

        Parameters
        ----------
        home : str
            Label Studio's address for browsers.
        origins : collection of str
            Its origins.
        """
        address = self._stored.get("address")
        url = urljoin(f"{home}/", address) if address else ""
        return {"kind": self._stored.get("kind"), "address": url if url and origin(url) in origins else None}

    def of(
        self, rater: str, text: str, group: int | None = None, *, without: Collection[int] = ()
    ) -> dict[str, Any] | None:
        """The region of an annotator's text.

        Parameters
        ----------
        group : int, optional
            Number of the group of overlapping regions that the text belongs to.
        without : collection of int
            Groups that the text does not belong to, if there are others.
        """
        row = self.find(text, rater, group, without=without)
        return None if row is None else {name: row[name] for name in _SHOWN}

    def find(
        self, text: str, rater: str | None = None, group: int | None = None, *, without: Collection[int] = ()
    ) -> Mapping[str, Any] | None:
        """The stored row of a region with this text, or with a text that contains it."""
        rows = [
            row
            for row in self._rows
            if (rater is None or row["rater"] == rater) and (group is None or row["place"] == group)
        ]
        exact = [row for row in rows if text in row["texts"]]
        similar = exact or [row for row in rows if any(text in answer for answer in row["texts"])]
        return next((row for row in similar if row["place"] not in without), similar[0] if similar else None)

    def members(self, row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the annotators' regions that overlap with this one and are compared with it."""
        return [member for member in self._rows if member["place"] == row["place"]]

    def suggested(
        self, details: Mapping[str, Any], texts: Sequence[str], *, by_group: bool = False
    ) -> list[tuple[Mapping[str, Any], list[str]]]:
        """Return the regions with agreed texts: in each group that suggests them, else in the first region with a text.

        Parameters
        ----------
        details : mapping
            Scoring details of the field.
        texts : sequence of str
            Agreed texts.
        by_group : bool
            Whether a group gets one region, as a turn of a dialogue has one answer.
        """
        suggestions = {int(group): suggested for group, suggested in (details.get("suggested") or {}).items()}
        in_groups = [(group, text) for group, suggested in suggestions.items() for text in suggested if text in texts]
        elsewhere = [(None, text) for text in texts if text not in {text for _, text in in_groups}]
        rows = [(self.find(text, None, group), text) for group, text in [*in_groups, *elsewhere]]
        of_region: dict[Any, tuple[Mapping[str, Any], list[str]]] = {}
        for row, text in rows:
            if row is not None:
                region = row["place"] if by_group else (row["annotation"], row["region"])
                of_region.setdefault(region, (row, []))[1].append(text)
        return list(of_region.values())


def regions_of(task: Mapping[str, Any], control: str) -> Regions | None:
    """The regions of a field; None if its texts have none, or were read by a version that did not store them."""
    stored = ((task.get("facts") or {}).get("regions") or {}).get(control)
    return Regions(stored) if stored and stored.get("rows") else None
