"""Concepts with their names and parents, the builder that every reader fills, and exact lookup of texts among names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from softirr.errors import InputError
from softirr.text import normalize

SAME_MEANING = frozenset({"EXACT", "ENTRY", "INCLUSION"})
"""Scopes of synonyms that count as names of the concept. Inclusion terms (ICD) and entry terms (MeSH) count, although
some are narrower than the concept."""


@dataclass(frozen=True, eq=False)
class Terminology:
    """A vocabulary: concepts, each with a preferred name, synonyms and parents.

    Attributes
    ----------
    ids : tuple of str
        Identifiers, in the order of the file.
    names : tuple of tuple of str
        Names of each concept, the preferred one first; names that differ in case only are one name.
    parents : tuple of tuple of int
        Parents of each concept, as indices.
    synonyms : tuple of (int, str, str)
        Every synonym with its concept and its scope (EXACT, NARROW, ...), including those that are not names.
    notes : tuple of str
        Content that was skipped on reading, and why.
    sha256 : str
        Hash of the file.
    """

    name: str
    ids: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    synonyms: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.ids)


class Builder:
    """Collects the concepts of a reader; ids may be used before they are defined."""

    def __init__(self, name: str, location: str) -> None:
        self.name = name
        self.place = location
        self._preferred: dict[str, str] = {}
        self._synonyms: list[tuple[str, str, str]] = []
        self._parents: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def concept(self, id: str, name: str, line: int) -> None:
        """Add a concept; ``line`` is its line number for error messages."""
        folded = normalize(name)
        if not id or not folded:
            raise InputError(f"{self.place}, line {line}: a concept has no {'name' if id else 'id'}.")
        if id in self._preferred:
            raise InputError(f"{self.place}, line {line}: the concept {id} is listed twice.")
        self._preferred[id] = folded

    def synonym(self, id: str, text: str, scope: str = "EXACT") -> None:
        """Add another name of a concept."""
        if folded := normalize(text):
            self._synonyms.append((id, folded, scope))

    def parent(self, child: str, parent: str) -> None:
        """Add the relation that ``child`` is a kind of ``parent``."""
        self._parents.append((child, parent))

    def __contains__(self, id: str) -> bool:
        return id in self._preferred

    def build(self) -> Terminology:
        """The terminology, with the synonyms of :data:`SAME_MEANING` as names."""
        if not self._preferred:
            raise InputError(f"{self.place} contains no concepts.")
        numbers = {id: number for number, id in enumerate(self._preferred)}
        names: list[dict[str, str]] = [{name.casefold(): name} for name in self._preferred.values()]
        synonyms = []
        for id, text, scope in self._synonyms:
            if id in numbers:
                synonyms.append((numbers[id], text, scope))
                if scope in SAME_MEANING:
                    names[numbers[id]].setdefault(text.casefold(), text)
        links = [
            (numbers[child], numbers[parent]) for child, parent in self._parents if {child, parent} <= numbers.keys()
        ]
        parents: list[dict[int, None]] = [{} for _ in numbers]
        for child, parent in links:
            if child != parent:
                parents[child][parent] = None
        n_lost = {
            "synonyms": len(self._synonyms) - len(synonyms),
            "links to parents": len(self._parents) - len(links),
        }
        notes = [
            f"{count} {what} left out: they name a concept that {self.place} does not define."
            for what, count in n_lost.items()
            if count
        ]
        return Terminology(
            name=self.name,
            ids=tuple(numbers),
            names=tuple(tuple(entries.values()) for entries in names),
            parents=tuple(tuple(entries) for entries in parents),
            synonyms=tuple(synonyms),
            notes=(*notes, *self.notes),
        )


Concept = tuple[int, int]
"""Number of a terminology, and number of a concept in it."""


class NameLookup:
    """The names of several terminologies.

    Raises
    ------
    InputError
        If a concept is its own ancestor.

    Examples
    --------
    >>> heart = Terminology("heart", ("1", "2"), (("heart disease",), ("heart attack", "MI")), ((), (0,)))
    >>> lookup = NameLookup([heart])
    >>> lookup.find("Heart attack"), lookup.ancestors((0, 1))
    (((0, 1),), frozenset({(0, 0)}))
    """

    def __init__(self, terminologies: Sequence[Terminology]) -> None:
        self.terminologies = tuple(terminologies)
        self._concepts: dict[str, list[Concept]] = {}
        self._ancestors: dict[Concept, frozenset[Concept]] = {}
        for number, terminology in enumerate(self.terminologies):
            try:
                TopologicalSorter(dict(enumerate(terminology.parents))).prepare()
            except CycleError as error:
                concept = terminology.ids[error.args[1][0]]
                raise InputError(
                    f"The terminology {terminology.name} has a cycle: {concept} is its own ancestor."
                ) from None
            for index, names in enumerate(terminology.names):
                for name in dict.fromkeys(normalize(name, casefold=True) for name in names):
                    self._concepts.setdefault(name, []).append((number, index))

    def find(self, text: str) -> tuple[Concept, ...]:
        """All concepts that a text names, ascending; case and white space do not matter."""
        return tuple(self._concepts.get(normalize(text, casefold=True), ()))

    def names(self, concepts: Iterable[Concept], limit: int) -> list[str]:
        """Up to `limit` normalized names of concepts, in turn for each concept, the preferred names first."""
        lists = [self.terminologies[number].names[index] for number, index in concepts]
        in_turn = (normalize(names[i]) for i in range(limit) for names in lists if i < len(names))
        return list(dict.fromkeys(in_turn))[:limit]

    def ancestors(self, concept: Concept) -> frozenset[Concept]:
        """All concepts above a concept."""
        if concept not in self._ancestors:
            number, index = concept
            parents = [(number, parent) for parent in self.terminologies[number].parents[index]]
            self._ancestors[concept] = frozenset(parents).union(*map(self.ancestors, parents))
        return self._ancestors[concept]
