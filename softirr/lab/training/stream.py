"""Drawing directed pairs: from concepts, from changed wordings, from labelled pairs.

An endless stream in chunks, each fixed by seed and number.

A pair says whether its first text entails its second. Nothing is stored: every chunk has new negatives and wordings,
and an interrupted training continues with the same chunks.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from softirr.lab.training.concept_choice import TRIES, Choice, look_alikes
from softirr.lab.training.graph import Graph
from softirr.lab.training.modifiers import compounds, durations, first_person, joins, modifiers
from softirr.lab.training.perturb import (
    contrast,
    false_initials,
    initials,
    likeness_to_initials,
    opposite,
    renumber,
    respell,
    rewrite_number,
    swap,
    typo,
    vary,
)
from softirr.lab.training.sources import Sources, fingerprint, folded_pair
from softirr.lab.training.wordings import with_noun
from softirr.lab.training.words import LAY, LISTS, SHORT_FORMS
from softirr.measures.lexical import tokens

WEIGHTS: dict[str, float] = {
    "synonym": 62,
    "hypernym": 30,
    "sibling": 26,
    "neighbour": 14,
    "look-alike": 26,
    "random": 28,
    "everyday": 14,
    "modifier": 9,
    "opposite": 18,
    "other word": 4,
    "number": 4,
    "initials": 12,
    "joined": 20,
    "same words": 5,
    "spelling": 6,
    "confused": 32,
    "definition": 8,
    "one way": 16,
    "compound": 26,
    "word form": 8,
    "lay": 12,
    "labelled": 16,
    "judged": 3,
    "hard": 14,
}
"""How often each kind is drawn."""
KINDS = tuple(WEIGHTS)
_IN_CONTEXT = frozenset({"synonym", "sibling", "neighbour", "look-alike", "random", "everyday"})
"""Kinds of which some pairs are drawn with the same thing said about both texts."""


@dataclass(frozen=True, slots=True)
class Example:
    """The first text entails the second (1) or not (0)."""

    premise: str
    hypothesis: str
    entails: int
    kind: str


Drawn = tuple[str, str, int] | None


class PairStream:
    """Examples from sources.

    Parameters
    ----------
    sources
    seed
    hard
        Pairs that the model got wrong lately, with the truth.
    development
        Draw from the concepts kept for development instead of the others.
    weights
        How often each kind is drawn; kinds that the sources lack are left out.
    fewest_names
        Names that a concept needs so that synonyms are drawn from it.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        seed: int = 0,
        hard: Sequence[tuple[str, str, int]] = (),
        development: bool = False,
        weights: dict[str, float] | None = None,
        fewest_names: int = 2,
    ) -> None:
        self.sources, self.seed, self.hard, self._development = sources, seed, hard, development
        self._meanings = sources.meanings
        self._pools = [
            [k for k, forms in enumerate(g.forms) if forms and g.held_out[k] == development] for g in sources.graphs
        ]
        self._synonyms = self._choices(lambda g, k: len(g.forms[k]) >= fewest_names)
        self._any = self._choices(lambda g, k: True)
        self._children = self._choices(lambda g, k: bool(g.parents[k]) or bool(g.narrower[k]) or bool(g.broader[k]))
        self._close = self._choices(lambda g, k: bool(g.contrasts[k]))
        self._everyday = self._choices(lambda g, k: g.name in LISTS)
        self._abbreviated = self._choices(lambda g, k: g.name in SHORT_FORMS)
        self._look_alikes = {id(g): look_alikes(g) for g in sources.graphs}
        self._alike = self._choices(lambda g, k: k in self._look_alikes[id(g)])
        self._defined = self._choices(lambda g, k: bool(g.definitions[k]))
        self._one_sided = self._choices(lambda g, k: bool(g.one_way) and bool(g.one_way[k]))
        self._lay = self._choices(lambda g, k: g.name in LAY)
        self._nouns = dict(sources.nouns)
        kept = {t.casefold() for g in sources.graphs for k in range(len(g)) if g.held_out[k] for t in g.forms[k]}
        self._mistaken = [pair for pair in sources.confused if kept.isdisjoint(t.casefold() for t in pair)]
        self._draws: dict[str, Callable[[Random], Drawn]] = {
            "synonym": self._synonym,
            "hypernym": self._hypernym,
            "sibling": self._sibling,
            "neighbour": self._neighbor,
            "look-alike": self._look_alike,
            "random": self._random,
            "everyday": self._everyday_words,
            "modifier": self._modifier,
            "opposite": self._opposite,
            "other word": lambda rng: self._changed(rng, contrast),
            "number": lambda rng: self._changed(rng, renumber),
            "initials": self._initials,
            "joined": self._joined,
            "same words": self._same_words,
            "spelling": self._spelling,
            "confused": self._confused,
            "definition": self._definition,
            "one way": self._one_way,
            "compound": self._compound,
            "word form": self._word_form,
            "lay": self._lay_sentence,
            "labelled": lambda rng: _labelled(rng, sources.pairs),
            "judged": lambda rng: _labelled(rng, sources.judged),
            "hard": lambda rng: rng.choice(self.hard),
        }
        there = {
            "synonym": bool(self._synonyms),
            "hypernym": bool(self._children),
            "sibling": bool(self._children),
            "neighbour": bool(self._close),
            "look-alike": bool(self._alike),
            "everyday": bool(self._everyday),
            "definition": bool(self._defined),
            "one way": bool(self._one_sided),
            "compound": bool(self._children),
            "word form": bool(self._nouns) and bool(self._any),
            "lay": bool(self._lay),
            "confused": bool(self._mistaken) and not development,
            "labelled": bool(sources.pairs) and not development,
            "judged": bool(sources.judged) and not development,
            "hard": bool(self.hard),
        }
        if not self._any:
            there = {kind: there.get(kind, False) for kind in KINDS}
        given = WEIGHTS if weights is None else weights
        self._kinds = [kind for kind in KINDS if given.get(kind, 0) > 0 and there.get(kind, True)]
        self._cumulative = list(accumulate(given[kind] for kind in self._kinds))

    def has(self, kind: str) -> bool:
        """Whether the sources give pairs of a kind."""
        return kind in self._kinds

    def chunk(self, number: int, size: int) -> list[Example]:
        """Chunk `number` of the stream: its examples do not depend on earlier draws."""
        rng = Random(f"{self.seed}/{'dev' if self._development else 'train'}/{number}")
        found: list[Example] = []
        barren = 0
        while len(found) < size and barren < 1000 + 50 * size:
            kind = self._kinds[bisect(self._cumulative, rng.random() * self._cumulative[-1])] if self._kinds else ""
            example = self.example(rng, kind) if kind else None
            if example is None:
                barren += 1
            else:
                found.append(example)
        return found

    def of_kind(self, kind: str, size: int) -> list[Example]:
        """`size` different examples of one kind, or as many as a few draws of each find."""
        rng = Random(f"{self.seed}/{'dev' if self._development else 'train'}/{kind}")
        found: dict[Example, None] = {}
        for _ in range(20 * size if self.has(kind) else 0):
            example = self.example(rng, kind)
            if example is not None:
                found[example] = None
            if len(found) == size:
                break
        return list(found)

    def example(self, rng: Random, kind: str) -> Example | None:
        """One example of a kind, or None where the draw gave none."""
        drawn = self._draws[kind](rng)
        if drawn is None:
            return None
        premise, hypothesis, entails = drawn
        if kind not in ("labelled", "judged", "hard"):
            if kind in _IN_CONTEXT and rng.random() < 0.12:
                premise, hypothesis = self._in_one_context(rng, premise, hypothesis)
            premise, hypothesis = self._reworded(rng, premise), self._reworded(rng, hypothesis)
            if folded_pair(premise, hypothesis) in self.sources.kept_apart:
                return None
            banned = self.sources.banned
            if banned and (fingerprint(premise) in banned or fingerprint(hypothesis) in banned):
                return None
        if not entails and premise.casefold() == hypothesis.casefold():
            return None
        return Example(premise, hypothesis, entails, kind)

    def _choices(self, fits: Callable[[Graph, int], bool]) -> Choice | None:
        pools = [
            [k for k in pool if fits(graph, k)] for graph, pool in zip(self.sources.graphs, self._pools, strict=True)
        ]
        return Choice.of(self.sources.graphs, pools)

    def _reworded(self, rng: Random, text: str) -> str:
        draw = rng.random()
        if draw < 0.16:
            return vary(rng, text)
        if draw < 0.28:
            return swap(rng, text) or text
        if draw < 0.29:
            return self._slip(rng, text) or text
        if draw < 0.30:
            return rewrite_number(rng, text) or text
        return text

    def _in_one_context(self, rng: Random, premise: str, hypothesis: str) -> tuple[str, str]:
        """Both texts with the same modifier, which keeps their relation."""
        group = rng.choice(rng.choice(modifiers()).groups)
        return rng.choice(group).format(premise), rng.choice(group).format(hypothesis)

    def _synonym(self, rng: Random) -> Drawn:
        assert self._synonyms is not None
        graph, k = self._synonyms.draw(rng)
        one, other = rng.sample(graph.forms[k], 2)
        return one, other, 1

    def _hypernym(self, rng: Random) -> Drawn:
        """The narrower text entails the broader one, and not the reverse."""
        assert self._children is not None
        graph, k = self._children.draw(rng)
        above = graph.parents[k]
        if above and (rng.random() < 0.8 or not (graph.narrower[k] or graph.broader[k])):
            up = rng.choice(above)
            if graph.parents[up] and rng.random() < 0.25:
                up = rng.choice(graph.parents[up])
            if not graph.forms[up] or self._meanings.same(graph.forms[k][0], graph.forms[up][0]):
                return None
            low, high = graph.text(k, rng), graph.text(up, rng)
        else:
            pairs = [(t, graph.forms[k][0]) for t in graph.narrower[k]] + [
                (graph.forms[k][0], t) for t in graph.broader[k]
            ]
            if not pairs:
                return None
            low, high = rng.choice(pairs)
        # the direction to the broader text is easy by the shared words, the reverse is hard
        return (low, high, 1) if rng.random() < 0.42 else (high, low, 0)

    def _sibling(self, rng: Random) -> Drawn:
        assert self._children is not None
        graph, k = self._children.draw(rng)
        if not graph.parents[k]:
            return None
        up = rng.choice(graph.parents[k])
        if graph.parents[up] and rng.random() < 0.2:
            up = rng.choice(graph.children[rng.choice(graph.parents[up])])
        return self._different(rng, graph, k, rng.choice(graph.children[up])) if graph.children[up] else None

    def _neighbor(self, rng: Random) -> Drawn:
        assert self._close is not None
        graph, k = self._close.draw(rng)
        return self._different(rng, graph, k, rng.choice(graph.contrasts[k]))

    def _look_alike(self, rng: Random) -> Drawn:
        assert self._alike is not None
        graph, k = self._alike.draw(rng)
        return self._different(rng, graph, k, rng.choice(self._look_alikes[id(graph)][k]), first=True)

    def _different(self, rng: Random, graph: Graph, k: int, other: int, *, first: bool = False) -> Drawn:
        """Texts (the first ones, if `first`) of two concepts of a graph that are neither the same nor ancestor and descendant."""
        if k == other or not graph.forms[other] or graph.held_out[other] != self._development:
            return None
        if graph.related(k, other):
            return None
        one, two = (graph.forms[c][0] if first else graph.text(c, rng) for c in (k, other))
        if self._meanings.same(one, two):
            return None
        return (one, two, 0) if rng.random() < 0.5 else (two, one, 0)

    def _random(self, rng: Random) -> Drawn:
        """Two texts, mostly of one source.

        Raters of one project write about one field, so chance pairs come from one field too.
        """
        assert self._any is not None
        graph, k = self._any.draw(rng)
        if rng.random() < 0.7:
            return self._different(rng, graph, k, self._any.beside(rng, graph, k))
        one, two = graph.text(k, rng), self._text(rng)
        return None if self._meanings.same(one, two) else (one, two, 0)

    def _everyday_words(self, rng: Random) -> Drawn:
        """Two texts of the word lists: frequent texts are seldom drawn otherwise, and so seldom seen as different."""
        assert self._everyday is not None
        graph, k = self._everyday.draw(rng)
        if graph.contrasts[k] and rng.random() < 0.7:
            return self._different(rng, graph, k, rng.choice(graph.contrasts[k]))
        other_graph, other = self._everyday.draw(rng)
        one, two = graph.text(k, rng), other_graph.text(other, rng)
        return None if self._meanings.same(one, two) else (one, two, 0)

    def _text(self, rng: Random, among: Choice | None = None) -> str:
        among = among or self._any
        assert among is not None
        graph, k = among.draw(rng)
        return graph.text(k, rng)

    def _two_texts(self, rng: Random) -> tuple[str, str]:
        """Two texts of one concept, often the same one twice."""
        assert self._any is not None
        graph, k = self._any.draw(rng)
        one = graph.text(k, rng)
        return one, graph.text(k, rng) if rng.random() < 0.3 else one

    def _modifier(self, rng: Random) -> Drawn:
        """A modifier of a text: in other words, replaced by another one, or left out."""
        one, two = self._two_texts(rng)
        modifier = rng.choice(modifiers())
        first = rng.choice(modifier.groups)
        draw = rng.random()
        if draw < 0.4:
            return rng.choice(first).format(one), rng.choice(first).format(two), 1
        if modifier.restricts and draw < 0.62:
            said = rng.choice(first).format(one)
            return (said, two, 1) if rng.random() < 0.5 else (two, said, 0)
        second = rng.choice([group for group in modifier.groups if group is not first])
        return rng.choice(first).format(one), rng.choice(second).format(two), 0

    def _changed(self, rng: Random, change: Callable[[Random, str], str | None]) -> Drawn:
        for _ in range(TRIES):
            one, two = self._two_texts(rng)
            changed = change(rng, one)
            if changed is not None and not self._meanings.same(two, changed):
                return (two, changed, 0) if rng.random() < 0.5 else (changed, two, 0)
        return None

    def _opposite(self, rng: Random) -> Drawn:
        antonyms = self.sources.antonyms
        if antonyms and not self._development and rng.random() < 0.2:
            pair = rng.choice(antonyms)
            one, two = pair if rng.random() < 0.5 else pair[::-1]
            if rng.random() < 0.5:
                text = self._text(rng)
                one, two = f"{one} {text}", f"{two} {text}"
            return one, two, 0
        return self._changed(rng, opposite)

    def _initials(self, rng: Random) -> Drawn:
        """A term and its initials, other initials, or those of another term; or an abbreviation that people use."""
        if self._abbreviated is not None and rng.random() < 0.5:
            return self._expansion(rng)
        for _ in range(TRIES):
            one, two = self._two_texts(rng)
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
                two, entails = self._text(rng), 0
                if initials(two) == short:
                    continue
            return (short, two, entails) if rng.random() < 0.5 else (two, short, entails)
        return None

    def _expansion(self, rng: Random) -> Drawn:
        """A common abbreviation with its long form, or with the most similar of some texts that begin with the same letter."""
        assert self._abbreviated is not None
        graph, k = self._abbreviated.draw(rng)
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
        return (short, two, entails) if rng.random() < 0.5 else (two, short, entails)

    def _wrong_expansion(self, rng: Random, short: str) -> str | None:
        # one text in twenty begins with the letter
        drawn = (self._text(rng) for _ in range(10 * TRIES))
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

    def _joined(self, rng: Random) -> Drawn:
        """Two findings in one text: both ways to say it, with the roles swapped, and each finding alone."""
        # short texts differ in the roles alone; long texts alone do not teach the roles
        plain = self._everyday if rng.random() < 0.6 else None
        one, two = self._text(rng, plain), self._text(rng, plain)
        if self._meanings.same(one, two):
            return None
        join = rng.choice(joins())
        wording = rng.choice(join.wordings)
        said = wording.format(one, two)
        draw = rng.random()
        if draw < 0.33:
            return said, rng.choice(join.wordings).format(one, two), 1
        if draw < 0.72:
            other_wording = wording if rng.random() < 0.6 else rng.choice(join.wordings)
            return said, other_wording.format(two, one), int(join.symmetric)
        if draw < 0.8:
            other = rng.choice([j for j in joins() if j is not join])
            return said, rng.choice(other.wordings).format(one, two), int((join.name, other.name) in _IMPLIED)
        first = rng.random() < 0.5
        alone = one if first else two
        if rng.random() < 0.6:
            return said, alone, int(join.first_holds if first else join.second_holds)
        return alone, said, int(join.name == "or")

    def _same_words(self, rng: Random) -> Drawn:
        """A text against a slightly changed wording of it."""
        text = self._text(rng)
        other = swap(rng, text) if rng.random() < 0.65 else vary(rng, text)
        return None if other is None or other == text else (text, other, 1) if rng.random() < 0.5 else (other, text, 1)

    def _spelling(self, rng: Random) -> Drawn:
        """A text against itself in British or American spelling, or mistyped."""
        for _ in range(TRIES):
            text = self._text(rng)
            other = self._slip(rng, text) if rng.random() < 0.3 else respell(rng, text)
            if other is not None and other.casefold() != text.casefold():
                return (text, other, 1) if rng.random() < 0.5 else (other, text, 1)
        return None

    def _slip(self, rng: Random, text: str) -> str | None:
        """The text mistyped, or None where the slip makes another word: prostate is not prostrate."""
        other = typo(rng, text)
        if other is None or tokens(other) <= tokens(text):
            return None
        return None if self._meanings.has_another_word(other, text) else other

    def _confused(self, rng: Random) -> Drawn:
        """Two texts that are often confused, possibly in another wording; or one of them and another wording of it.

        Without the latter the model seldom sees such a text with an equivalent one.
        """
        one, two = rng.choice(self._mistaken)
        if rng.random() < 0.35:
            text = rng.choice((one, two))
            name = self._meanings.another_name(rng, text)
            return None if name is None else (text, name, 1) if rng.random() < 0.5 else (name, text, 1)
        one, two = (self._meanings.reworded(rng, text) if rng.random() < 0.3 else text for text in (one, two))
        if self._meanings.same(one, two):
            return None
        return (one, two, 0) if rng.random() < 0.5 else (two, one, 0)

    def _definition(self, rng: Random) -> Drawn:
        """A definition entails its term and the broader ones, and not those of its neighbors.

        The reverse direction is not trained.
        """
        assert self._defined is not None
        graph, k = self._defined.draw(rng)
        defined, draw = graph.definitions[k], rng.random()
        if draw < 0.35:
            return defined, graph.text(k, rng), 1
        if draw < 0.5:
            above = [p for p in graph.parents[k] if graph.forms[p]]
            return (defined, graph.text(rng.choice(above), rng), 1) if above else None
        near = graph.contrasts[k] or tuple(s for p in graph.parents[k] for s in graph.children[p])
        other = rng.choice(near) if near and draw < 0.85 else self._any.beside(rng, graph, k) if self._any else k
        drawn = self._different(rng, graph, k, other)
        return None if drawn is None else (defined, graph.text(other, rng), 0)

    def _one_way(self, rng: Random) -> Drawn:
        """Texts of which only one direction is known: a name and its acronym.

        Against the acronyms and names of others.
        """
        assert self._one_sided is not None
        graph, k = self._one_sided.draw(rng)
        premise, hypothesis = rng.choice(graph.one_way[k])
        if rng.random() < 0.55:
            return premise, hypothesis, 1
        near = graph.contrasts[k] or tuple(s for p in graph.parents[k] for s in graph.children[p])
        other = rng.choice(near) if near and rng.random() < 0.7 else self._any.beside(rng, graph, k) if self._any else k
        if other == k or graph.held_out[other] != self._development or graph.related(k, other):
            return None
        texts = [t for pair in graph.one_way[other] for t in pair] or list(graph.forms[other])
        two = rng.choice(texts) if texts else premise
        if self._meanings.same(premise, two) or self._meanings.same(hypothesis, two):
            return None
        return (premise, two, 0) if rng.random() < 0.5 else (two, premise, 0)

    def _compound(self, rng: Random) -> Drawn:
        """Two related findings in one text, against one of them, both in the other order, or one of them with a third."""
        assert self._children is not None
        graph, k = self._children.draw(rng)
        kin = [c for p in graph.parents[k] for c in graph.children[p]] or list(graph.contrasts[k])
        kin += graph.contrasts[k]
        if not kin:
            return None
        pair = self._different(rng, graph, k, rng.choice(kin))
        if pair is None:
            return None
        one, two, _ = pair
        wordings = compounds()[rng.random() < 0.2]
        said = rng.choice(wordings).format(one, two)
        either, draw = wordings is compounds()[1], rng.random()
        if draw < 0.2:
            return said, rng.choice(wordings).format(two, one), 1
        if draw < 0.4:
            third = self._different(rng, graph, k, rng.choice(kin))
            if third is None or self._meanings.same(third[0], two) or self._meanings.same(third[1], two):
                return None
            changed = rng.choice(wordings).format(*rng.sample(third[:2], 2))
            return None if {one, two} == set(third[:2]) else (said, changed, 0)
        alone = self._meanings.reworded(rng, rng.choice((one, two)))
        return (said, alone, int(not either)) if draw < 0.6 else (alone, said, int(either))

    def _word_form(self, rng: Random) -> Drawn:
        """An adjective against the noun that it pertains to (renal cyst, cyst of the kidney), or against the noun of another one."""
        for _ in range(4 * TRIES):
            text = self._text(rng)
            found = with_noun(text, self._nouns)
            if found is None:
                continue
            _, noun, rest = found
            held = rng.random() < 0.6
            chosen = noun if held else rng.choice(self.sources.nouns)[1]
            other = rng.choice(("{1} of the {0}", "{0} {1}", "{1} of {0}")).format(chosen, rest)
            if not held and (chosen == noun or self._meanings.same(text, other)):
                continue
            return (text, other, int(held)) if rng.random() < 0.5 else (other, text, int(held))
        return None

    def _lay_sentence(self, rng: Random) -> Drawn:
        """What a patient says of a finding, against the clinician's words for it, for its neighbor, or the patient's own with another duration."""
        assert self._lay is not None
        graph, k = self._lay.draw(rng)
        one, two = graph.text(k, rng), graph.text(k, rng)
        said = first_person(rng, one)
        draw = rng.random()
        if draw < 0.4:
            return (said, two, 1) if rng.random() < 0.5 else (two, said, 1)
        if draw < 0.6:
            times = rng.sample(durations(), 2)
            kept = rng.random() < 0.6
            first = f"{said} {rng.choice(times[0])}"
            second = rng.choice(("{} {}", "{}, {}", "{} {}")).format(
                two if rng.random() < 0.5 else first_person(rng, two), rng.choice(times[0 if kept else 1])
            )
            return first, second, int(kept)
        if draw < 0.7:
            timed = f"{said} {rng.choice(rng.choice(durations()))}"
            return (timed, two, 1) if rng.random() < 0.5 else (two, timed, 0)
        other = rng.choice(graph.contrasts[k]) if graph.contrasts[k] and rng.random() < 0.7 else None
        drawn = self._different(rng, graph, k, self._lay.beside(rng, graph, k) if other is None else other)
        if drawn is None:
            return None
        a, b, _ = drawn
        return first_person(rng, a), b if rng.random() < 0.5 else first_person(rng, b), 0


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
"""Joins of which the first entails the second, both findings in the same places."""


def _labelled(rng: Random, files: Sequence) -> Drawn:
    """A labelled pair; files are weighted by the square root of their size, and contradictions are drawn less often."""
    cumulative = list(accumulate(len(f.pairs) ** 0.5 for f in files))
    data = files[bisect(cumulative, rng.random() * cumulative[-1])]
    place = rng.randrange(len(data.pairs))
    if place in data.contradictions and rng.random() < 0.5:
        place = rng.randrange(len(data.pairs))
    pair: tuple[str, str, int] = data.pairs[place]
    return pair
