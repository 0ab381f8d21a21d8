"""Directed pairs of changed English wordings: abbreviations, spellings, confusions, compounds."""

from __future__ import annotations

from random import Random

from lab.train.concept_pairs import TRIES, ConceptPairs, Draw, Drawn, either_way
from lab.train.modifiers import compounds
from lab.train.perturb import contrast, renumber, respell, swap, vary
from lab.train.sources import Sources
from lab.train.wording_pairs import WordingPairs
from lab.train.wordings import likeness_to_initials


class EnglishPairs(WordingPairs):
    """Draws English texts and changes their wording."""

    def __init__(self, sources: Sources, concepts: ConceptPairs) -> None:
        super().__init__(sources, concepts)
        held_out = {t.casefold() for g in sources.graphs for k in range(len(g)) if g.held_out[k] for t in g.forms[k]}
        self._mistaken = [pair for pair in sources.confused if held_out.isdisjoint(t.casefold() for t in pair)]

    def draws(self) -> dict[str, Draw]:
        """Functions that draw a pair, by kind, for the kinds that the sources have."""
        draws: dict[str, tuple[str, Draw]] = {
            "other word": ("any", lambda rng: self._changed(rng, contrast)),
            "number": ("any", lambda rng: self._changed(rng, renumber)),
            "spelling": ("any", self.spelling),
            "compound": ("related", self.compound),
        }
        available = {kind: draw for kind, (pool, draw) in draws.items() if pool in self._concepts.pools}
        confused = {"confused": self.confused} if self._mistaken and not self._concepts.development else {}
        return super().draws() | available | confused

    def initials(self, rng: Random) -> Drawn:
        """A term and its initials, or an abbreviation in use and its long form or another one."""
        if "abbreviated" in self._concepts.pools and rng.random() < 0.5:
            return self.expansion(rng)
        return super().initials(rng)

    def expansion(self, rng: Random) -> Drawn:
        """A common abbreviation with its long form, or with a similar text that has the same first letter."""
        graph, k = self._concepts.pools["abbreviated"].draw(rng)
        short, *right = graph.forms[k]
        if " " in short:  # the abbreviation itself was left out
            return None
        if right and rng.random() < 0.35:
            text_b, entails = rng.choice(right), 1
        else:
            wrong = self._wrong_expansion(rng, short)
            if wrong is None:
                return None
            text_b, entails = wrong, 0
        return either_way(rng, short, text_b, entails)

    def _wrong_expansion(self, rng: Random, short: str) -> str | None:
        # one text in twenty begins with the letter
        candidates = (self._concepts.text(rng) for _ in range(10 * TRIES))
        wrong = (
            text
            for text in candidates
            if text[:1].casefold() == short[:1].casefold()
            and likeness_to_initials(text, short)[0] < len(short)
            and not self._meanings.same(short, text)
        )
        if rng.random() < 0.6:
            return max(wrong, key=lambda text: likeness_to_initials(text, short), default=None)
        return next(wrong, None)

    def same_words(self, rng: Random) -> Drawn:
        """A text against a slightly changed wording of it."""
        text = self._concepts.text(rng)
        changed = swap(rng, text) if rng.random() < 0.65 else vary(rng, text)
        return None if changed is None or changed == text else either_way(rng, text, changed, 1)

    def spelling(self, rng: Random) -> Drawn:
        """A text against itself in British or American spelling, or mistyped."""
        for _ in range(TRIES):
            text = self._concepts.text(rng)
            changed = self.slip(rng, text) if rng.random() < 0.3 else respell(rng, text)
            if changed is not None and changed.casefold() != text.casefold():
                return either_way(rng, text, changed, 1)
        return None

    def confused(self, rng: Random) -> Drawn:
        """Two texts that are often confused, possibly in another wording; or one of them and another wording of it.

        Without the latter the model seldom sees such a text with an equivalent one.
        """
        text_a, text_b = rng.choice(self._mistaken)
        if rng.random() < 0.35:
            text = rng.choice((text_a, text_b))
            name = self._meanings.another_name(rng, text)
            return None if name is None else either_way(rng, text, name, 1)
        text_a, text_b = (
            self._meanings.reworded(rng, text) if rng.random() < 0.3 else text for text in (text_a, text_b)
        )
        if self._meanings.same(text_a, text_b):
            return None
        return either_way(rng, text_a, text_b, 0)

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
        text_a, text_b, _ = pair
        wordings = compounds()[rng.random() < 0.2]
        sentence = rng.choice(wordings).format(text_a, text_b)
        either, draw = wordings is compounds()[1], rng.random()
        if draw < 0.2:
            return sentence, rng.choice(wordings).format(text_b, text_a), 1
        if draw < 0.4:
            third = self._concepts.different(rng, graph, k, rng.choice(kin))
            if third is None or self._meanings.same(third[0], text_b) or self._meanings.same(third[1], text_b):
                return None
            changed = rng.choice(wordings).format(*rng.sample(third[:2], 2))
            return None if {text_a, text_b} == set(third[:2]) else (sentence, changed, 0)
        single = self._meanings.reworded(rng, rng.choice((text_a, text_b)))
        return (sentence, single, int(not either)) if draw < 0.6 else (single, sentence, int(either))
