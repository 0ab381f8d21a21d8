"""Concepts with their names and parents, the builder that every reader fills, and exact lookup of texts among names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from softirr.errors import InputError
from softirr.text import normalize


@dataclass(frozen=True, eq=False)
class Terminology:
    """A vocabulary: concepts, each with a preferred name, other names and parents.

    Attributes
    ----------
    ids : tuple of str
        Identifiers, in the order of the file.
    names : tuple of tuple of str
        Names of each concept, the preferred one first; names that differ in case only are one name.
    parents : tuple of tuple of int
        Parents of each concept, as indices.
    sha256 : str
        Hash of the file.
    """

    name: str
    ids: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.ids)


class Builder:
    """Collects the concepts of a reader; ids may be used before they are defined."""

    def __init__(self, name: str, location: str) -> None:
        self.name = name
        self.place = location
        self._preferred: dict[str, str] = {}
        self._synonyms: list[tuple[str, str]] = []
        self._parents: list[tuple[str, str]] = []

    def concept(self, id: str, name: str, line: int) -> None:
        """Add a concept; ``line`` is its line number for error messages."""
        folded = normalize(name)
        if not id or not folded:
            raise InputError(f"{self.place}, line {line}: a concept has no {'name' if id else 'id'}.")
        if id in self._preferred:
            raise InputError(f"{self.place}, line {line}: the concept {id} is listed twice.")
        self._preferred[id] = folded

    def synonym(self, id: str, text: str, scope: str = "EXACT") -> None:
        """Add a synonym of a concept, which is another name of it if it is exact."""
        if scope == "EXACT" and (folded := normalize(text)):
            self._synonyms.append((id, folded))

    def parent(self, child: str, parent: str) -> None:
        """Add the relation that ``child`` is a kind of ``parent``."""
        self._parents.append((child, parent))

    def build(self) -> Terminology:
        """The terminology, without synonyms and parents of concepts that are not in it."""
        if not self._preferred:
            raise InputError(f"{self.place} contains no concepts.")
        numbers = {id: number for number, id in enumerate(self._preferred)}
        names: list[dict[str, str]] = [{name.casefold(): name} for name in self._preferred.values()]
        for id, text in self._synonyms:
            if id in numbers:
                names[numbers[id]].setdefault(text.casefold(), text)
        parents: list[dict[int, None]] = [{} for _ in numbers]
        for child, parent in self._parents:
            if child != parent and {child, parent} <= numbers.keys():
                parents[numbers[child]][numbers[parent]] = None
        return Terminology(
            name=self.name,
            ids=tuple(numbers),
            names=tuple(tuple(entries.values()) for entries in names),
            parents=tuple(tuple(entries) for entries in parents),
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
