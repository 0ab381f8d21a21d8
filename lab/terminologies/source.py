"""Terminologies with all that training and experiments read: scopes of synonyms, and notes on omitted content."""

from __future__ import annotations

from dataclasses import dataclass

from softirr.meaning.terminology.concepts import Builder, Terminology
from softirr.text import normalize

SAME_MEANING = frozenset({"EXACT", "ENTRY", "INCLUSION"})
"""Scopes of synonyms that count as names of the concept. Inclusion terms (ICD) and entry terms (MeSH) count, although
some are narrower than the concept."""


@dataclass(frozen=True, eq=False)
class SourceTerminology(Terminology):
    """A terminology with its synonyms of every scope.

    Attributes
    ----------
    synonyms : tuple of (int, str, str)
        Every synonym with its concept and its scope (EXACT, NARROW, ...), including those that are not names.
    notes : tuple of str
        Content that was skipped on reading, and why.
    """

    synonyms: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[str, ...] = ()


class SourceBuilder(Builder):
    """Collects the concepts of a reader, the scopes of their synonyms, and notes."""

    def __init__(self, name: str, location: str) -> None:
        super().__init__(name, location)
        self.notes: list[str] = []
        self._scoped: list[tuple[str, str, str]] = []
        self._links: list[tuple[str, str]] = []

    def __contains__(self, id: str) -> bool:
        return id in self._preferred

    def synonym(self, id: str, text: str, scope: str = "EXACT") -> None:
        """Add another name of a concept, or a text of another scope."""
        super().synonym(id, text, "EXACT" if scope in SAME_MEANING else scope)
        if folded := normalize(text):
            self._scoped.append((id, folded, scope))

    def parent(self, child: str, parent: str) -> None:
        """Add the relation that ``child`` is a kind of ``parent``."""
        super().parent(child, parent)
        self._links.append((child, parent))

    def build(self) -> SourceTerminology:
        """The terminology, with the synonyms of :data:`SAME_MEANING` as names."""
        terminology = super().build()
        numbers = {id: number for number, id in enumerate(terminology.ids)}
        synonyms = tuple((numbers[id], text, scope) for id, text, scope in self._scoped if id in numbers)
        n_lost = {
            "synonyms": len(self._scoped) - len(synonyms),
            "links to parents": sum(not {child, parent} <= numbers.keys() for child, parent in self._links),
        }
        notes = [
            f"{count} {what} left out: they name a concept that {self.place} does not define."
            for what, count in n_lost.items()
            if count
        ]
        return SourceTerminology(**vars(terminology), synonyms=synonyms, notes=(*notes, *self.notes))
