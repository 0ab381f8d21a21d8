"""Concepts near a concept of a terminology, and names that several concepts share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from lab.terminologies.source import SourceTerminology
from softirr.meaning.terminology.concepts import Terminology


class Relations:
    """Siblings, ancestors and case-folded names of the concepts of a terminology."""

    def __init__(self, terminology: Terminology) -> None:
        self._terminology = terminology

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each concept."""
        return children_of(self._terminology.parents)

    @cached_property
    def folded(self) -> tuple[frozenset[str], ...]:
        """Case-folded names of each concept."""
        return tuple(frozenset(name.casefold() for name in names) for names in self._terminology.names)

    def siblings(self, concept: int) -> tuple[int, ...]:
        """Concepts that share a parent with this one and are neither its parent nor its child, in order."""
        parents = self._terminology.parents[concept]
        kin = {concept, *parents, *self.children[concept]}
        sisters = {child for parent in parents for child in self.children[parent]}
        return tuple(sorted(sisters - kin))

    def ancestors(self, concept: int) -> tuple[int, ...]:
        """Parents and grandparents, in order."""
        parents = self._terminology.parents
        above = {*parents[concept], *(grand for parent in parents[concept] for grand in parents[parent])}
        return tuple(sorted(above - {concept}))


def children_of(parents: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The concepts that have each concept as a parent."""
    below: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            below[parent].append(child)
    return tuple(map(tuple, below))


def texts_of(terminology: SourceTerminology) -> Iterator[str]:
    """Every preferred name, then every synonym of whatever scope."""
    yield from (names[0] for names in terminology.names)
    yield from (text for _, text, _ in terminology.synonyms)
