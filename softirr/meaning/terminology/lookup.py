"""Exact lookup of texts among the names of terminologies, and the relation of the concepts that two texts name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Terminology
from softirr.text import normalize

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
    >>> lookup.find("Heart attack"), lookup.compare(lookup.find("mi"), lookup.find("heart disease"))
    (((0, 1),), (1.0, 0.0))
    """

    def __init__(self, terminologies: Sequence[Terminology]) -> None:
        self.terminologies = tuple(terminologies)
        self._concepts: dict[str, list[Concept]] = {}
        self._ancestors: dict[Concept, frozenset[Concept]] = {}
        for number, terminology in enumerate(self.terminologies):
            _refuse_cycles(terminology)
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
            parents = self.terminologies[number].parents
            ancestors: set[int] = set()
            waiting = list(parents[index])
            while waiting:
                parent = waiting.pop()
                if parent not in ancestors:
                    ancestors.add(parent)
                    waiting += parents[parent]
            self._ancestors[concept] = frozenset((number, parent) for parent in ancestors)
        return self._ancestors[concept]

    def compare(self, first: Sequence[Concept], second: Sequence[Concept]) -> tuple[float, float] | None:
        """P(a ⇒ b) and P(b ⇒ a) of two texts by the concepts that they name; None if the terminologies do not decide.

        A shared concept makes two texts the same, an ancestor is more general, and other concepts differ.
        """
        if {number for number, _ in first}.isdisjoint(number for number, _ in second):
            return None
        if set(first) & set(second):
            return 1.0, 1.0
        is_below = any(b in self.ancestors(a) for a in first for b in second)
        is_above = any(a in self.ancestors(b) for a in first for b in second)
        return None if is_below and is_above else (float(is_below), float(is_above))


def _refuse_cycles(terminology: Terminology) -> None:
    try:
        TopologicalSorter(dict(enumerate(terminology.parents))).prepare()
    except CycleError as error:
        concept = terminology.ids[error.args[1][0]]
        raise InputError(f"The terminology {terminology.name} has a cycle: {concept} is its own ancestor.") from None
