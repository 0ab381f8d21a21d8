"""Concepts with their texts and neighbors, from which pairs are drawn, and texts that may mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from lab.terminologies.relations import children_of
from softirr.meaning.measures.lexical import tokens


@dataclass(frozen=True)
class Graph:
    """Concepts by position.

    Texts of one concept mean the same; texts of different concepts don't, unless the concepts share a text. A field
    without values is filled with empty rows, and concepts are clinical and not held out by default.

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
    held_out
        Concepts kept for development: no pair for training is drawn from them.
    clinical
        Concepts of clinical texts (all, except in a general dictionary).
    origin
        Number of the terminology of each concept, so that a large one does not dominate a small one.
    share
        Weight of the graph among others when concepts are drawn.
    one_way
        For each concept pairs of texts. The first text entails the second, and nothing is known of the reverse: an
        acronym has other senses, an entry term may be narrower than its heading.
    unclear
        For each concept those that it shares an ambiguous text with, which neither has here: their texts may mean the
        same.
    """

    name: str
    forms: Sequence[Sequence[str]]
    parents: Sequence[Sequence[int]] = ()
    narrower: Sequence[Sequence[str]] = ()
    broader: Sequence[Sequence[str]] = ()
    contrasts: Sequence[Sequence[int]] = ()
    held_out: Sequence[bool] = ()
    clinical: Sequence[bool] = ()
    origin: Sequence[int] = ()
    share: float = 1.0
    one_way: Sequence[Sequence[tuple[str, str]]] = ()
    unclear: Sequence[Sequence[int]] = ()

    def __post_init__(self) -> None:
        n = len(self.forms)
        for name in ("forms", "parents", "narrower", "broader", "contrasts", "one_way", "unclear"):
            object.__setattr__(self, name, tuple(map(tuple, getattr(self, name))) or ((),) * n)
        for name, default in (("held_out", False), ("clinical", True), ("origin", 0)):
            object.__setattr__(self, name, tuple(getattr(self, name)) or (default,) * n)

    def __len__(self) -> int:
        return len(self.forms)

    def part(self, k: int) -> tuple[bool, int]:
        """The concepts that a concept is drawn with: clinical like it or not, and of the same terminology."""
        return self.clinical[k], self.origin[k]

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
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Less general concepts."""
        return children_of(self.parents)

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


class Meanings:
    """Which texts have a concept in common, over all graphs together."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        meanings: dict[str, list[int]] = {}
        texts: list[list[str]] = []
        one_way: dict[str, set[str]] = {}
        self._unclear: dict[int, tuple[int, ...]] = {}
        for graph in graphs:
            first = len(texts)
            for k, neighbors in enumerate(graph.unclear):
                if neighbors:
                    self._unclear[first + k] = tuple(first + j for j in neighbors)
            for k in range(len(graph)):
                folded = [t.casefold() for t in graph.forms[k]]
                for text in folded:
                    meanings.setdefault(text, []).append(len(texts))
                texts.append(folded)
            for pairs in graph.one_way:
                for premise, hypothesis in pairs:
                    text_a, text_b = premise.casefold(), hypothesis.casefold()
                    one_way.setdefault(text_a, set()).add(text_b)
                    one_way.setdefault(text_b, set()).add(text_a)
        self._one_way = {text: frozenset(related) for text, related in one_way.items()}
        self._concepts = {text: tuple(concepts) for text, concepts in meanings.items()}
        self._texts = texts
        self._words = tokens(" ".join(self._concepts))

    def has(self, text: str) -> bool:
        """Whether some concept has this text."""
        return text.casefold() in self._concepts

    def same(self, text_a: str, text_b: str) -> bool:
        """Whether two texts may mean the same.

        Some concept has both, two concepts that share a text have one each, or one is known to entail the other. In
        the last case the reverse is not known, so that both may mean the same. Texts that are too ambiguous to be drawn
        count as shared, too. The senses of an acronym do not count as the same as each other.
        """
        a, b = text_a.casefold(), text_b.casefold()
        if a == b or self._may_be(a, b) or self._may_be(b, a):
            return True
        concepts_of_b = self._concepts.get(b)
        if concepts_of_b is None:
            return False
        concepts = self._concepts.get(a, ())
        near = {c for concept in concepts for text in self._texts[concept] for c in self._concepts[text]}
        near.update(c for concept in concepts for c in self._unclear.get(concept, ()))
        return not near.isdisjoint(concepts_of_b)

    def _may_be(self, text: str, text_b: str) -> bool:
        """Whether one of both texts entails the other, or a text of a concept that has the other."""
        near = self._one_way.get(text)
        if not near:
            return False
        if text_b in near:
            return True
        concepts_of_b = set(self._concepts.get(text_b, ()))
        return bool(concepts_of_b) and any(not concepts_of_b.isdisjoint(self._concepts.get(t, ())) for t in near)

    def has_another_word(self, text: str, than: str) -> bool:
        """Whether the text has a word that the other one lacks and that occurs in a text of some concept."""
        return not self._words.isdisjoint(tokens(text) - tokens(than))

    def reworded(self, rng: Random, text: str) -> str:
        """Another text of the only concept that has this one; the text itself where none or several have it."""
        concepts = self._concepts.get(text.casefold(), ())
        return rng.choice(self._texts[concepts[0]]) if len(concepts) == 1 else text

    def another_name(self, rng: Random, text: str) -> str | None:
        """Another text of some concept that has this one; None if there is none."""
        folded = text.casefold()
        concepts = self._concepts.get(folded)
        names = [t for t in self._texts[rng.choice(concepts)] if t != folded] if concepts else []
        return rng.choice(names) if names else None
