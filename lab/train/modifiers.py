"""Wordings put around a finding: context, negation, sides, grades, courses; and two findings in one text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lab.train.words import read_sections, shortened


@dataclass(frozen=True)
class ModifierClass:
    """Wordings put around a text.

    Wordings of one group mean the same; wordings of two groups of one class exclude each other.

    Attributes
    ----------
    name
        The kind of its examples.
    groups
        Wordings with ``{}`` for the text.
    restricts
        Whether the text with the wording entails the bare text ("severe pain" is pain; "no pain", "family history of
        pain" are not).
    """

    name: str
    groups: tuple[tuple[str, ...], ...]
    restricts: bool


@dataclass(frozen=True)
class Join:
    """Wordings for two findings in one text, which of them the text entails, and whether they can be swapped."""

    name: str
    wordings: tuple[str, ...]
    symmetric: bool
    first_holds: bool
    second_holds: bool


@cache
def modifiers() -> tuple[ModifierClass, ...]:
    """The classes of wordings around a finding."""
    return tuple(
        ModifierClass(name, tuple(_wordings(line) for line in lines), restricts == "restricts")
        for (name, _, restricts), lines in ((h.partition(" "), lines) for h, lines in read_sections("modifiers"))
    )


@cache
def joins() -> tuple[Join, ...]:
    """The ways to put two findings into one text."""
    result = []
    for line in dict(read_sections("joins"))["joins"]:
        head, *wordings = line.split(" | ")
        name, _, flags = head.partition(":")
        result.append(
            Join(name, tuple(wordings), *(flag in flags.split() for flag in ("symmetric", "first", "second")))
        )
    return tuple(result)


@cache
def compounds() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Wordings of two findings that are both true, and of two with one that is true."""
    both_hold, one_holds = (tuple(line.split(" | ")) for line in dict(read_sections("joins"))["compounds"])
    return both_hold, one_holds


def _wordings(line: str) -> tuple[str, ...]:
    """The wordings of a line; ``@left`` is each short form of the side."""
    result: list[str] = []
    for wording in line.split(" | "):
        side = wording.partition(" ")[0].removeprefix("@")
        forms = shortened()[side] if wording.startswith("@") else ()
        result += [wording.replace(f"@{side}", short) for short in forms] if forms else [wording]
    return tuple(result)
