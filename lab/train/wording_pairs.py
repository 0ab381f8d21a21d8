"""Directed pairs of changed wordings: other words, modifiers, abbreviations, joined findings, spellings."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lab.train.concept_choice import TRIES
from lab.train.concept_pairs import ConceptPairs, Draw, Drawn, either_way
from lab.train.modifiers import compounds, durations, first_person, joins, modifiers
from lab.train.perturb import (
    contrast,
    false_initials,
    initials,
    likeness_to_initials,
    opposite,
    renumber,
    respell,
    swap,
    typo,
    vary,
)
from lab.train.sources import Sources
from lab.train.wordings import with_noun
from softirr.meaning.measures.lexical import tokens

__all__ = ["WordingPairs"]

_IMPLIED = frozenset(
    {
        ("due to", "and"),
        ("and", "or"),
        ("due to", "or"),
        ("after", "and"),
        ("after", "or"),
        ("while", "and"),
        ("while", "or"),
    }
)
"""Joins where the first entails the second, both findings in the same places."""


class WordingPairs:
    """Draws texts of concepts and changes their wording.

    Parameters
    ----------
    concepts
        Of the same sources.
    """

    def __init__(self, sources: Sources, concepts: ConceptPairs) -> None:
        self._sources, self._concepts, self._meanings = sources, concepts, sources.meanings
        self._nouns = dict(sources.nouns)
        kept = {t.casefold() for g in sources.graphs for k in range(len(g)) if g.held_out[k] for t in g.forms[k]}
        self._mistaken = [pair for pair in sources.confused if kept.isdisjoint(t.casefold() for t in pair)]

    def draws(self) -> dict[str, Draw]:
        """Functions that draw a pair, by kind, for the kinds that the sources have."""
        draws: dict[str, tuple[str, Draw]] = {
            "modifier": ("any", self.modifier),
            "opposite": ("any", self.opposite),
            "other word": ("any", lambda rng: self._changed(rng, contrast)),
            "number": ("any", lambda rng: self._changed(rng, renumber)),
            "initials": ("any", self.initials),
            "joined": ("any", self.joined),
            "same words": ("any", self.same_words),
            "spelling": ("any", self.spelling),
            "compound": ("related", self.compound),
            "lay": ("lay", self.lay),
        }
        if self._nouns:
            draws["word form"] = ("any", self.word_form)
        there = {kind: draw for kind, (pool, draw) in draws.items() if pool in self._concepts.pools}
        return there | ({"confused": self.confused} if self._mistaken and not self._concepts.development else {})

    def modifier(self, rng: Random) -> Drawn:
        """A modifier of a text: in other words, replaced by another one, or left out."""
        one, two = self._concepts.two_texts(rng)
        modifier = rng.choice(modifiers())
        first = rng.choice(modifier.groups)
        draw = rng.random()
        if draw < 0.4:
            return rng.choice(first).format(one), rng.choice(first).format(two), 1
        if modifier.restricts and draw < 0.62:
            sentence = rng.choice(first).format(one)
            return (sentence, two, 1) if rng.random() < 0.5 else (two, sentence, 0)
        second = rng.choice([group for group in modifier.groups if group is not first])
        return rng.choice(first).format(one), rng.choice(second).format(two), 0

    def _changed(self, rng: Random, change: Callable[[Random, str], str | None]) -> Drawn:
        for _ in range(TRIES):
            one, two = self._concepts.two_texts(rng)
            changed = change(rng, one)
            if changed is not None and not self._meanings.same(two, changed):
                return either_way(rng, two, changed, 0)
        return None

    def opposite(self, rng: Random) -> Drawn:
        """A text and the same with an opposite in it, or a pair of antonyms."""
        antonyms = self._sources.antonyms
        if antonyms and not self._concepts.development and rng.random() < 0.2:
            pair = rng.choice(antonyms)
            one, two = pair if rng.random() < 0.5 else pair[::-1]
            if rng.random() < 0.5:
                text = self._concepts.text(rng)
                one, two = f"{one} {text}", f"{two} {text}"
            return one, two, 0
        return self._changed(rng, opposite)

    def initials(self, rng: Random) -> Drawn:
        """A term and its initials, other initials, or initials of another term; or an abbreviation in use."""
        if "abbreviated" in self._concepts.pools and rng.random() < 0.5:
            return self.expansion(rng)
        for _ in range(TRIES):
            one, two = self._concepts.two_texts(rng)
            short = initials(one)
            # a common abbreviation means its usual long form
            if short is None or (self._meanings.has(short) and not self._meanings.same(short, one)):
                continue
            draw = rng.random()
            if draw < 0.4:
                entails = 1
            elif draw < 0.7:
                short, entails = false_initials(rng, short), 0
            else:
                two, entails = self._concepts.text(rng), 0
                if initials(two) == short:
                    continue
            return either_way(rng, short, two, entails)
        return None

    def expansion(self, rng: Random) -> Drawn:
        """A common abbreviation with its long form, or with a similar text that has the same first letter."""
        graph, k = self._concepts.pools["abbreviated"].draw(rng)
        short, *right = graph.forms[k]
        if " " in short:  # the abbreviation itself was left out
            return None
        if right and rng.random() < 0.35:
            two, entails = rng.choice(right), 1
        else:
            wrong = self._wrong_expansion(rng, short)
            if wrong is None:
                return None
            two, entails = wrong, 0
        return either_way(rng, short, two, entails)

    def _wrong_expansion(self, rng: Random, short: str) -> str | None:
        # one text in twenty begins with the letter
        drawn = (self._concepts.text(rng) for _ in range(10 * TRIES))
        wrong = (
            text
            for text in drawn
            if text[:1].casefold() == short[:1].casefold()
            and likeness_to_initials(text, short)[0] < len(short)
            and not self._meanings.same(short, text)
        )
        if rng.random() < 0.6:
            return max(wrong, key=lambda text: likeness_to_initials(text, short), default=None)
        return next(wrong, None)

    def joined(self, rng: Random) -> Drawn:
        """Two findings in one text: both ways to say it, with the roles swapped, and each finding alone."""
        # short texts differ in the roles alone; long texts alone do not teach the roles
        plain = "everyday" if rng.random() < 0.6 and "everyday" in self._concepts.pools else "any"
        one, two = self._concepts.text(rng, plain), self._concepts.text(rng, plain)
        if self._meanings.same(one, two):
            return None
        join = rng.choice(joins())
        wording = rng.choice(join.wordings)
        sentence = wording.format(one, two)
        draw = rng.random()
        if draw < 0.33:
            return sentence, rng.choice(join.wordings).format(one, two), 1
        if draw < 0.72:
            other_wording = wording if rng.random() < 0.6 else rng.choice(join.wordings)
            return sentence, other_wording.format(two, one), int(join.symmetric)
        if draw < 0.8:
            other = rng.choice([j for j in joins() if j is not join])
            return sentence, rng.choice(other.wordings).format(one, two), int((join.name, other.name) in _IMPLIED)
        first = rng.random() < 0.5
        alone = one if first else two
        if rng.random() < 0.6:
            return sentence, alone, int(join.first_holds if first else join.second_holds)
        return alone, sentence, int(join.name == "or")

    def same_words(self, rng: Random) -> Drawn:
        """A text against a slightly changed wording of it."""
        text = self._concepts.text(rng)
        other = swap(rng, text) if rng.random() < 0.65 else vary(rng, text)
        return None if other is None or other == text else either_way(rng, text, other, 1)

    def spelling(self, rng: Random) -> Drawn:
        """A text against itself in British or American spelling, or mistyped."""
        for _ in range(TRIES):
            text = self._concepts.text(rng)
            other = self.slip(rng, text) if rng.random() < 0.3 else respell(rng, text)
            if other is not None and other.casefold() != text.casefold():
                return either_way(rng, text, other, 1)
        return None

    def slip(self, rng: Random, text: str) -> str | None:
        """The text mistyped, or None where the slip makes another word: prostate is not prostrate."""
        other = typo(rng, text)
        if other is None or tokens(other) <= tokens(text):
            return None
        return None if self._meanings.has_another_word(other, text) else other

    def confused(self, rng: Random) -> Drawn:
        """Two texts that are often confused, possibly in another wording; or one of them and another wording of it.

        Without the latter the model seldom sees such a text with an equivalent one.
        """
        one, two = rng.choice(self._mistaken)
        if rng.random() < 0.35:
            text = rng.choice((one, two))
            name = self._meanings.another_name(rng, text)
            return None if name is None else either_way(rng, text, name, 1)
        one, two = (self._meanings.reworded(rng, text) if rng.random() < 0.3 else text for text in (one, two))
        if self._meanings.same(one, two):
            return None
        return either_way(rng, one, two, 0)

    def compound(self, rng: Random) -> Drawn:
        """Two related findings in one text, against one, both in the other order, or one of them with a third."""
        graph, k = self._concepts.pools["related"].draw(rng)
        kin = [c for p in graph.parents[k] for c in graph.children[p]] or list(graph.contrasts[k])
        kin += graph.contrasts[k]
        if not kin:
            return None
        pair = self._concepts.different(rng, graph, k, rng.choice(kin))
        if pair is None:
            return None
        one, two, _ = pair
        wordings = compounds()[rng.random() < 0.2]
        sentence = rng.choice(wordings).format(one, two)
        either, draw = wordings is compounds()[1], rng.random()
        if draw < 0.2:
            return sentence, rng.choice(wordings).format(two, one), 1
        if draw < 0.4:
            third = self._concepts.different(rng, graph, k, rng.choice(kin))
            if third is None or self._meanings.same(third[0], two) or self._meanings.same(third[1], two):
                return None
            changed = rng.choice(wordings).format(*rng.sample(third[:2], 2))
            return None if {one, two} == set(third[:2]) else (sentence, changed, 0)
        alone = self._meanings.reworded(rng, rng.choice((one, two)))
        return (sentence, alone, int(not either)) if draw < 0.6 else (alone, sentence, int(either))

    def word_form(self, rng: Random) -> Drawn:
        """An adjective against its noun (renal cyst, cyst of the kidney), or against the noun of another one."""
        for _ in range(4 * TRIES):
            text = self._concepts.text(rng)
            match = with_noun(text, self._nouns)
            if match is None:
                continue
            _, noun, rest = match
            held = rng.random() < 0.6
            chosen = noun if held else rng.choice(self._sources.nouns)[1]
            other = rng.choice(("{1} of the {0}", "{0} {1}", "{1} of {0}")).format(chosen, rest)
            if not held and (chosen == noun or self._meanings.same(text, other)):
                continue
            return either_way(rng, text, other, int(held))
        return None

    def lay(self, rng: Random) -> Drawn:
        """What a patient says of a finding, against other words for it.

        They are a clinician's, for this or a neighboring finding, or the patient's own with another duration.
        """
        graph, k = self._concepts.pools["lay"].draw(rng)
        one, two = graph.text(k, rng), graph.text(k, rng)
        sentence = first_person(rng, one)
        draw = rng.random()
        if draw < 0.4:
            return either_way(rng, sentence, two, 1)
        if draw < 0.6:
            times = rng.sample(durations(), 2)
            kept = rng.random() < 0.6
            first = f"{sentence} {rng.choice(times[0])}"
            second = rng.choice(("{} {}", "{}, {}", "{} {}")).format(
                two if rng.random() < 0.5 else first_person(rng, two), rng.choice(times[0 if kept else 1])
            )
            return first, second, int(kept)
        if draw < 0.7:
            timed = f"{sentence} {rng.choice(rng.choice(durations()))}"
            return (timed, two, 1) if rng.random() < 0.5 else (two, timed, 0)
        other = rng.choice(graph.contrasts[k]) if graph.contrasts[k] and rng.random() < 0.7 else None
        drawn = self._concepts.different(
            rng, graph, k, self._concepts.pools["lay"].beside(rng, graph, k) if other is None else other
        )
        if drawn is None:
            return None
        a, b, _ = drawn
        return first_person(rng, a), b if rng.random() < 0.5 else first_person(rng, b), 0
