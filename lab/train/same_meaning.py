"""Texts that may mean the same, which are never used as training pairs with different meanings."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from lab.train.graph import Graph
from softirr.meaning.measures.lexical import tokens


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
