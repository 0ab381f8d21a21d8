"""The parts of a codebook: its texts, its groups of equivalent answers, and the whole as JSON, table and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softirr.answers.cells import csv_text
from softirr.defaults import SCHEMA_VERSION
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.report.open_lists import FIGURES, Contribution, contributions
from softirr.report.terminal_report import printable, table_lines

__all__ = ["Codebook", "Entry", "Wording"]


@dataclass(frozen=True)
class Wording:
    """A text of the codebook.

    Attributes
    ----------
    text : str
    count : int
        Answers that hold it.
    items : int
        Items whose answers hold it.
    raters : dict of str to int
        Answers that hold it, by rater.
    definition : str
        What it means, where the input defines it.
    places : mapping of str to frozenset of int
        Numbers of the items in whose answers each rater gave it; empty where an earlier version stored it.
    """

    text: str
    count: int
    items: int
    raters: dict[str, int]
    definition: str = ""
    places: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of the codebook (docs/reference/json.md)."""
        defined = {"definition": self.definition} if self.definition else {}
        return {"text": self.text, "count": self.count, "items": self.items, "raters": dict(self.raters), **defined}


@dataclass(frozen=True)
class Entry(JsonObject):
    """A group of equivalent texts.

    Attributes
    ----------
    id : str
        Stays the same as long as the name does.
    name : str
        Its clearest text: the one with the fewest shortened words ("SOB", "wt gain"), of these the most frequent, then
        the most central, then the shortest.
    wordings : tuple of Wording
        Its texts, the name first, then the most frequent ones.
    """

    id: str
    name: str
    wordings: tuple[Wording, ...]

    @property
    def count(self) -> int:
        """Answers that hold one of its texts, counted for each text."""
        return sum(wording.count for wording in self.wordings)

    @property
    def raters(self) -> dict[str, int]:
        """The same by rater."""
        total: Counter[str] = Counter()
        for wording in self.wordings:
            total.update(wording.raters)
        return dict(sorted(total.items()))

    @property
    def places(self) -> dict[str, frozenset[int]]:
        """Numbers of the items in whose answers each rater gave one of its texts."""
        places: dict[str, frozenset[int]] = {}
        for wording in self.wordings:
            for rater, items in wording.places.items():
                places[rater] = places.get(rater, frozenset()) | items
        return places

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of the codebook (docs/reference/json.md)."""
        return {**super().to_dict(), "count": self.count, "raters": self.raters}


@dataclass(frozen=True)
class Codebook(JsonObject):
    """The codebook of a table of answers.

    Attributes
    ----------
    entries : tuple of Entry
        The most frequent first.
    measure : str
    threshold : float
        Mean equivalence of the texts of an entry, at least.
    texts : int
        Distinct texts.
    pairs_compared, pairs_possible : int
        Pairs of distinct texts that were compared, and that there are.
    contradictions : tuple of (str, str)
        Pairs decided to be the same that other decisions keep apart.
    notes : tuple of str
        What was left out.
    misfits : tuple of str
        Why the measure does not fit the texts. The entries are then not reliable, and the codebook is no terminology.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> rows.append(("3", "ann", "fever"))
    >>> codebook = softirr.codebook(softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows), "indel")
    >>> [(entry.name, entry.count) for entry in codebook.entries]
    [('fever', 3), ('cough', 1), ('rash', 1)]
    """

    entries: tuple[Entry, ...]
    measure: str
    threshold: float
    texts: int
    pairs_compared: int
    pairs_possible: int
    contradictions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each rater contributes to the entries."""
        return contributions([entry.places or tuple(entry.raters) for entry in self.entries])

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the codebook (docs/reference/json.md)."""
        contributions = [one.to_dict() for one in self.contributions]
        return {"schema_version": SCHEMA_VERSION, **super().to_dict(), "contributions": contributions}

    def to_tsv(self) -> str:
        """A terminology that ``--terminology`` reads: a row for each text, with its entry's id and name.

        Raises
        ------
        InputError
            If the measure does not fit the texts.
        """
        if self.misfits:
            raise InputError(
                f"The codebook is not a terminology yet. {self.misfits[0]} "
                "Choose a measure that fits, then create it again."
            )
        rows = (
            (entry.id, entry.name, wording.text, wording.count, ", ".join(sorted(wording.raters)))
            for entry in self.entries
            for wording in entry.wordings
        )
        return csv_text([("id", "name", "synonym", "count", "raters"), *rows], delimiter="\t")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The codebook as lines of text."""
        lines = [
            f"{plural(len(self.entries), 'entry', 'entries')} of {plural(self.texts, 'distinct text')}, by "
            f"{self.measure} from {self.threshold:g} on; "
            f"{self.pairs_compared:,} of {plural(self.pairs_possible, 'pair')} of texts "
            f"{'was' if self.pairs_compared == 1 else 'were'} compared."
        ]
        for entry in self.entries:
            others = [wording.text for wording in entry.wordings[1:]]
            same = f" = {'; '.join(others[:6])}{' …' if len(others) > 6 else ''}" if others else ""
            used = plural(len(entry.raters), "rater")
            lines.append(f"{entry.count:>6}  {used:>9}  {entry.name}{same}")
            lines += [f"{'':>19}{one.text}: {printable(one.definition)}" for one in entry.wordings if one.definition]
        lines += _contribution_lines(self.contributions)
        return [*(f"Warning: {misfit}" for misfit in self.misfits), *lines, *self.notes]


def _contribution_lines(raters: Sequence[Contribution]) -> list[str]:
    """A row for each of two raters or more."""
    if len(raters) < 2:
        return []
    head = ("rater", "entries", *(f"{figure}, 95% interval" for figure in FIGURES))
    rows = [
        (
            printable(one.rater),
            f"{one.entries:,}",
            *(_with_interval(getattr(one, name), ci95) for name, ci95 in zip(FIGURES, one.ci95, strict=True)),
        )
        for one in raters
    ]
    return ["", *table_lines(head, rows)]


def _with_interval(value: float | None, ci95: tuple[float, float] | None) -> str:
    return number(value, none="-") + (f" ({interval(ci95)})" if ci95 else "")
