"""Directed pairs of changed wordings in any language: modifiers, opposites, initials, joined texts, same words."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lab.train.concept_pairs import TRIES, ConceptPairs, Draw, Drawn, either_way
from lab.train.language import language
from lab.train.perturb import typo
from lab.train.sources import Sources
from lab.train.wordings import false_initials, initials
from softirr.meaning.measures.lexical import tokens

_IMPLIED = {"due to": ("and", "or"), "after": ("and", "or"), "while": ("and", "or"), "and": ("or",)}
"""For each join those that it implies: a text with the join entails the same text with the implied one."""


class WordingPairs:
    """Draws texts of concepts and changes their wording.

    Parameters
    ----------
    concepts
        Concepts of the same sources.
    """

    def __init__(self, sources: Sources, concepts: ConceptPairs) -> None:
        self._sources, self._concepts, self._meanings = sources, concepts, sources.meanings
        self.language = language(sources.language)

    def draws(self) -> dict[str, Draw]:
        """Functions that draw a pair, by kind, for the kinds that the sources and the language have."""
        if "any" not in self._concepts.pools:
            return {}
        draws: dict[str, Draw] = {"same words": self.same_words, "initials": self.initials}
        if self.language.modifiers:
            draws["modifier"] = self.modifier
            draws["opposite"] = self.opposite
        if self.language.joins:
            draws["joined"] = self.joined
        return draws

    def modifier(self, rng: Random) -> Drawn:
        """A modifier of a text: in other words, replaced by another one, or left out."""
        text_a, text_b = self._concepts.two_texts(rng)
        modifier = rng.choice(self.language.modifiers)
        first = rng.choice(modifier.groups)
        draw = rng.random()
        if draw < 0.4:
            return rng.choice(first).format(text_a), rng.choice(first).format(text_b), 1
        if modifier.restricts and draw < 0.62:
            sentence = rng.choice(first).format(text_a)
            return (sentence, text_b, 1) if rng.random() < 0.5 else (text_b, sentence, 0)
        second = rng.choice([group for group in modifier.groups if group is not first])
        return rng.choice(first).format(text_a), rng.choice(second).format(text_b), 0

    def _changed(self, rng: Random, change: Callable[[Random, str], str | None]) -> Drawn:
        for _ in range(TRIES):
            text_a, text_b = self._concepts.two_texts(rng)
            changed = change(rng, text_a)
            if changed is not None and not self._meanings.same(text_b, changed):
                return either_way(rng, text_b, changed, 0)
        return None

    def opposite(self, rng: Random) -> Drawn:
        """A text and the same with an opposite in it, or a pair of antonyms."""
        antonyms = self._sources.antonyms
        if antonyms and not self._concepts.development and rng.random() < 0.2:
            pair = rng.choice(antonyms)
            text_a, text_b = pair if rng.random() < 0.5 else pair[::-1]
            if rng.random() < 0.5:
                text = self._concepts.text(rng)
                text_a, text_b = f"{text_a} {text}", f"{text_b} {text}"
            return text_a, text_b, 0
        return self._changed(rng, self.language.opposite)

    def initials(self, rng: Random) -> Drawn:
        """A term and its initials, other initials, or initials of another term."""
        for _ in range(TRIES):
            text_a, text_b = self._concepts.two_texts(rng)
            short = initials(text_a)
            # a common abbreviation means its usual long form
            if short is None or (self._meanings.has(short) and not self._meanings.same(short, text_a)):
                continue
            draw = rng.random()
            if draw < 0.4:
                entails = 1
            elif draw < 0.7:
                short, entails = false_initials(rng, short), 0
            else:
                text_b, entails = self._concepts.text(rng), 0
                if initials(text_b) == short:
                    continue
            return either_way(rng, short, text_b, entails)
        return None

    def joined(self, rng: Random) -> Drawn:
        """Two findings in one text: in other words, with the roles swapped, and each finding alone."""
        # short texts differ in the roles alone; long texts alone do not teach the roles
        pool = "everyday" if rng.random() < 0.6 and "everyday" in self._concepts.pools else "any"
        text_a, text_b = self._concepts.text(rng, pool), self._concepts.text(rng, pool)
        if self._meanings.same(text_a, text_b):
            return None
        join = rng.choice(self.language.joins)
        wording = rng.choice(join.wordings)
        sentence = wording.format(text_a, text_b)
        draw = rng.random()
        if draw < 0.33:
            return sentence, rng.choice(join.wordings).format(text_a, text_b), 1
        if draw < 0.72:
            other_wording = wording if rng.random() < 0.6 else rng.choice(join.wordings)
            return sentence, other_wording.format(text_b, text_a), int(join.symmetric)
        if draw < 0.8:
            third = rng.choice([j for j in self.language.joins if j is not join])
            return (
                sentence,
                rng.choice(third.wordings).format(text_a, text_b),
                int(third.name in _IMPLIED.get(join.name, ())),
            )
        first = rng.random() < 0.5
        single = text_a if first else text_b
        if rng.random() < 0.6:
            return sentence, single, int(join.first_holds if first else join.second_holds)
        return single, sentence, int(join.name == "or")

    def same_words(self, rng: Random) -> Drawn:
        """A text against a slightly changed wording of it."""
        text = self._concepts.text(rng)
        changed = self.reworded(rng, text)
        return None if changed == text else either_way(rng, text, changed, 1)

    def reworded(self, rng: Random, text: str) -> str:
        """The text as another person would type it, sometimes mistyped."""
        if rng.random() < 0.1:
            return self.slip(rng, text) or text
        return self.language.vary(rng, text)

    def slip(self, rng: Random, text: str) -> str | None:
        """The text mistyped, or None if the slip makes another word: prostate is not prostrate."""
        changed = typo(rng, text)
        if changed is None or tokens(changed) <= tokens(text):
            return None
        return None if self._meanings.has_another_word(changed, text) else changed
