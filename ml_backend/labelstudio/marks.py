"""Marks for a missing answer that are answers in a project: "-" is one where another answer to the control is "+"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from softirr.answers.missing import MissingMarks

__all__ = ["Opposites", "opposites_of"]


@dataclass(frozen=True)
class Opposites:
    """The texts of one control whose opposites are marks for a missing answer.

    Attributes
    ----------
    whole : frozenset of str
        Those that annotators wrote as a text of their own.
    parts : frozenset of str
        Those that splitting found in a text.
    """

    whole: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[Mapping[str, Any]], marks: MissingMarks) -> Opposites:
        """The opposites in the stored answers to a control.

        Parameters
        ----------
        entries : iterable of mapping
            As `answers.task_answers` returns them for the control.
        marks : MissingMarks
            As the project chose them.

        Returns
        -------
        Opposites
        """
        whole: set[str] = set()
        parts: set[str] = set()
        for entry in entries if marks.opposites else ():
            for texts in entry.get("written", entry["answers"]).values():
                whole |= marks.opposites_in(texts)
            for texts in entry["answers"].values() if "written" in entry else ():
                parts |= marks.opposites_in(texts)
        return cls(frozenset(whole), frozenset(parts))

    def __or__(self, other: Opposites) -> Opposites:
        return Opposites(self.whole | other.whole, self.parts | other.parts)

    def __bool__(self) -> bool:
        return bool(self.whole or self.parts)

    def to_dict(self) -> dict[str, list[str]]:
        """The texts as the project's row has them."""
        return {"whole": sorted(self.whole), "parts": sorted(self.parts)}


def opposites_of(project: Mapping[str, Any]) -> dict[str, Opposites]:
    """The opposites of each control of a project that has some.

    Parameters
    ----------
    project : mapping
        The project's row.

    Returns
    -------
    dict of str to Opposites
    """
    return {
        control["name"]: Opposites(frozenset(known["whole"]), frozenset(known["parts"]))
        for control in project["controls"]
        if (known := control.get("opposites"))
    }
