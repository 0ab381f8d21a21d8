"""Concepts with their texts and neighbors, from which pairs are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Graph:
    """Concepts by position.

    Texts of one concept mean the same; texts of different concepts don't, unless the concepts share a text.

    Attributes
    ----------
    name
        Its source.
    forms
        The texts of each concept.
    narrower, broader
        Further texts that entail the concept, and that are entailed by it.
    parents
        More general concepts.
    contrasts
        Concepts that look or sound close and mean something else: lexical neighbors, neighbors by embedding, other
        fillings of one pattern.
    definitions
        A definition, or an empty text.
    held_out
        Concepts kept for development: no pair for training is drawn from them.
    clinical
        Concepts of clinical texts (all, except in a general dictionary).
    origin
        Number of the terminology of each concept, so that a large one does not dominate a small one. Empty where there
        is only one.
    share
        Weight of the graph among others when concepts are drawn.
    one_way
        For each concept pairs of texts whose first entails the second, while nothing is known of the reverse: an
        acronym has other senses, an entry term may be narrower than its heading.
    unclear
        For each concept those that it shares an ambiguous text with, which neither has here: their texts may mean the
        same.
    """

    name: str
    forms: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    narrower: tuple[tuple[str, ...], ...]
    broader: tuple[tuple[str, ...], ...]
    contrasts: tuple[tuple[int, ...], ...]
    definitions: tuple[str, ...]
    held_out: tuple[bool, ...]
    clinical: tuple[bool, ...]
    origin: tuple[int, ...] = ()
    share: float = 1.0
    one_way: tuple[tuple[tuple[str, str], ...], ...] = ()
    unclear: tuple[tuple[int, ...], ...] = ()
    children: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    @classmethod
    def build(
        cls,
        name: str,
        forms: Sequence[Sequence[str]],
        *,
        parents: Sequence[Sequence[int]] | None = None,
        narrower: Sequence[Sequence[str]] | None = None,
        broader: Sequence[Sequence[str]] | None = None,
        contrasts: Sequence[Iterable[int]] | None = None,
        definitions: Sequence[str] | None = None,
        held_out: Sequence[bool] | None = None,
        clinical: Sequence[bool] | None = None,
        origin: Sequence[int] = (),
        share: float = 1.0,
        one_way: Sequence[Iterable[tuple[str, str]]] = (),
        unclear: Sequence[Iterable[int]] = (),
    ) -> Graph:
        """Make a graph; fields that are not given are empty, and the children of each concept are found."""
        n = len(forms)

        def rows(values: Sequence[Iterable[Any]] | None) -> tuple[tuple[Any, ...], ...]:
            return ((),) * n if values is None else tuple(map(tuple, values))

        up = rows(parents)
        down: list[list[int]] = [[] for _ in range(n)]
        for child, row in enumerate(up):
            for parent in row:
                down[parent].append(child)
        return cls(
            name=name,
            forms=rows(forms),
            parents=up,
            narrower=rows(narrower),
            broader=rows(broader),
            contrasts=rows(contrasts),
            definitions=("",) * n if definitions is None else tuple(definitions),
            held_out=(False,) * n if held_out is None else tuple(held_out),
            clinical=(True,) * n if clinical is None else tuple(clinical),
            origin=tuple(origin),
            share=share,
            one_way=tuple(map(tuple, one_way)),
            unclear=tuple(map(tuple, unclear)),
            children=rows(down),
        )

    def __len__(self) -> int:
        return len(self.forms)

    def part(self, k: int) -> tuple[bool, int]:
        """The concepts that a concept is drawn with: clinical like it or not, and of the same terminology."""
        return self.clinical[k], self.origin[k] if self.origin else 0

    def with_contrasts(self, contrasts: Sequence[Iterable[int]]) -> Graph:
        """The same graph with other contrasts."""
        return replace(self, contrasts=tuple(tuple(c) for c in contrasts))

    def related(self, k: int, j: int) -> bool:
        """Whether one concept is the other one or an ancestor of it."""
        return k == j or j in self.ancestors(k) or k in self.ancestors(j)

    def ancestors(self, k: int) -> frozenset[int]:
        """All more general concepts up to twelve steps away."""
        known_ancestors = self._ancestors.get(k)
        if known_ancestors is None:
            above: set[int] = set()
            front = {k}
            for _ in range(12):
                front = {p for c in front for p in self.parents[c]} - above
                if not front:
                    break
                above |= front
            known_ancestors = self._ancestors[k] = frozenset(above)
        return known_ancestors

    @cached_property
    def novelty(self) -> tuple[float, ...]:
        """For each concept the mean over its texts of one divided by the number of concepts with that text.

        Sources repeat each other. Drawn with these weights, a string counts once, also where many sources have it.
        """
        folded = [tuple(t.casefold() for t in forms) for forms in self.forms]
        having = Counter(text for texts in folded for text in set(texts))
        return tuple(sum(1 / having[t] for t in texts) / len(texts) if texts else 0.0 for texts in folded)

    @cached_property
    def _ancestors(self) -> dict[int, frozenset[int]]:
        return {}

    def text(self, k: int, rng: Random) -> str:
        """One of the texts of a concept; the first one is drawn more often, because people use it more often."""
        forms = self.forms[k]
        return forms[0] if rng.random() < 0.25 else rng.choice(forms)


def nearest(texts: Sequence[str], count: int) -> Iterator[tuple[int, list[int]]]:
    """For each text, the positions of itself and of the `count` texts with the most similar letters (Indel).

    Yields
    ------
    (int, list of int)
        Position of the text, and the others in ascending order.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    folded = [text.casefold() for text in texts]
    last = min(count, len(folded) - 1)
    for start in range(0, len(folded) if last > 0 else 0, 512):
        rows = folded[start : start + 512]
        table = process.cdist(rows, folded, scorer=Indel.normalized_similarity, dtype=np.float32, workers=-1)
        close = np.argpartition(-table, last, axis=1)[:, : last + 1]
        yield from ((start + row, sorted(columns)) for row, columns in enumerate(close.tolist()))
