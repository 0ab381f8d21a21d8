"""Directed pairs of concepts: synonyms, broader, narrower and neighboring concepts, random ones."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from lab.train.graph import Graph
from lab.train.sources import Sources
from lab.train.words import LISTS, SHORT_FORMS

TRIES = 40
"""How often a draw is tried again."""

_ALIKE = 0.7
"""Indel similarity from which two words look alike."""


def look_alikes(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Concepts with one word as the first text, each with its neighbors that differ in a few letters of one word."""
    from rapidfuzz.distance import Indel

    def word(k: int) -> str:
        text = graph.forms[k][0].casefold() if graph.forms[k] else ""
        return text if len(text) > 4 and " " not in text else ""

    close_concepts: dict[int, tuple[int, ...]] = {}
    for k, near in enumerate(graph.contrasts):
        name = word(k) if near else ""
        if name:
            close = tuple(c for c in near if Indel.normalized_similarity(name, word(c)) >= _ALIKE)
            if close:
                close_concepts[k] = close
    return close_concepts


@dataclass(frozen=True)
class Choice:
    """Draws concepts of several graphs.

    Parts of a clinical graph are weighted by their size, with a minimum; a general dictionary has less weight.

    A concept's weight is :attr:`Graph.novelty`, so that all strings have the same weight, although sources repeat each
    other.
    """

    graphs: tuple[Graph, ...]
    pools: tuple[list[int], ...]
    cumulative: tuple[float, ...]

    @classmethod
    def of(cls, graphs: Sequence[Graph], pools: Sequence[list[int]]) -> Choice | None:
        """A choice of the concepts of each graph's pool; None if all pools are empty."""
        weighted_pools: list[tuple[Graph, list[int], float]] = []
        for graph, pool in zip(graphs, pools, strict=True):
            by_part: dict[tuple[bool, int], list[int]] = {}
            for k in pool:
                by_part.setdefault(graph.part(k), []).append(k)
            for (clinical, _), members in by_part.items():
                novelty = sum(graph.novelty[k] for k in members)
                # the square root gives small handwritten lists some weight; texts of several sources count in part
                weight = graph.share * (1.0 if clinical else 0.35) * novelty / len(members) ** 0.5
                weighted_pools.append((graph, members, weight))
        if not weighted_pools:
            return None
        return cls(
            tuple(graph for graph, _, _ in weighted_pools),
            tuple(pool for _, pool, _ in weighted_pools),
            tuple(accumulate(weight for _, _, weight in weighted_pools)),
        )

    def draw(self, rng: Random) -> tuple[Graph, int]:
        """A graph and a concept in it."""
        position = bisect(self.cumulative, rng.random() * self.cumulative[-1])
        graph, pool = self.graphs[position], self.pools[position]
        for _ in range(TRIES):
            k = rng.choice(pool)
            if rng.random() < graph.novelty[k]:
                break
        return graph, k

    def beside(self, rng: Random, graph: Graph, k: int) -> int:
        """A concept drawn from the same part of the graph."""
        part_of_concept = graph.part(k)
        weighted_pools = zip(self.graphs, self.pools, strict=True)
        return rng.choice(next(pool for g, pool in weighted_pools if g is graph and g.part(pool[0]) == part_of_concept))


Drawn = tuple[str, str, int] | None
"""Two texts, and whether the first entails the second; None if a draw gave none."""
Draw = Callable[[Random], Drawn]


def either_way(rng: Random, text_a: str, text_b: str, entails: int) -> Drawn:
    """Two texts in random order, where both directions have the same truth."""
    return (text_a, text_b, entails) if rng.random() < 0.5 else (text_b, text_a, entails)


class ConceptPairs:
    """Draws from the graphs of sources.

    Parameters
    ----------
    development
        Draw from the concepts kept for development instead of the others.
    fewest_names
        Names that a concept needs so that synonyms are drawn from it.
    """

    def __init__(self, sources: Sources, development: bool, fewest_names: int) -> None:
        self.development, self.meanings = development, sources.meanings
        self._look_alikes = {id(g): look_alikes(g) for g in sources.graphs}
        fits: dict[str, Callable[[Graph, int], bool]] = {
            "any": lambda g, k: True,
            "synonyms": lambda g, k: len(g.forms[k]) >= fewest_names,
            "related": lambda g, k: bool(g.parents[k]) or bool(g.narrower[k]) or bool(g.broader[k]),
            "contrasts": lambda g, k: bool(g.contrasts[k]),
            "everyday": lambda g, k: g.name in LISTS,
            "abbreviated": lambda g, k: g.name in SHORT_FORMS,
            "look-alikes": lambda g, k: k in self._look_alikes[id(g)],
            "one way": lambda g, k: bool(g.one_way[k]),
        }
        candidates = [
            [k for k, forms in enumerate(g.forms) if forms and g.held_out[k] == development] for g in sources.graphs
        ]
        self.pools: dict[str, Choice] = {}
        """Concepts of each kind that the sources have."""
        for name, fit in fits.items():
            pools = [[k for k in pool if fit(g, k)] for g, pool in zip(sources.graphs, candidates, strict=True)]
            if choice := Choice.of(sources.graphs, pools):
                self.pools[name] = choice

    def draws(self) -> dict[str, Draw]:
        """Functions that draw a pair, by kind, for the kinds that the sources have."""
        draws: dict[str, tuple[str, Draw]] = {
            "synonym": ("synonyms", self.synonym),
            "hypernym": ("related", self.hypernym),
            "sibling": ("related", self.sibling),
            "neighbor": ("contrasts", self.neighbor),
            "look-alike": ("look-alikes", self.look_alike),
            "random": ("any", self.random),
            "everyday": ("everyday", self.everyday),
            "one way": ("one way", self.one_way),
        }
        return {kind: draw for kind, (pool, draw) in draws.items() if pool in self.pools}

    def synonym(self, rng: Random) -> Drawn:
        """Two names of one concept."""
        graph, k = self.pools["synonyms"].draw(rng)
        text_a, text_b = rng.sample(graph.forms[k], 2)
        return text_a, text_b, 1

    def hypernym(self, rng: Random) -> Drawn:
        """The narrower text entails the broader one, and not the reverse."""
        graph, k = self.pools["related"].draw(rng)
        above = graph.parents[k]
        if above and (rng.random() < 0.8 or not (graph.narrower[k] or graph.broader[k])):
            up = rng.choice(above)
            if graph.parents[up] and rng.random() < 0.25:
                up = rng.choice(graph.parents[up])
            if not graph.forms[up] or self.meanings.same(graph.forms[k][0], graph.forms[up][0]):
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

    def sibling(self, rng: Random) -> Drawn:
        """Two concepts of one parent, or with one grandparent."""
        graph, k = self.pools["related"].draw(rng)
        if not graph.parents[k]:
            return None
        up = rng.choice(graph.parents[k])
        if graph.parents[up] and rng.random() < 0.2:
            up = rng.choice(graph.children[rng.choice(graph.parents[up])])
        return self.different(rng, graph, k, rng.choice(graph.children[up])) if graph.children[up] else None

    def neighbor(self, rng: Random) -> Drawn:
        """Two concepts that are easily taken for each other."""
        graph, k = self.pools["contrasts"].draw(rng)
        return self.different(rng, graph, k, rng.choice(graph.contrasts[k]))

    def look_alike(self, rng: Random) -> Drawn:
        """Two concepts with names that differ in a few letters."""
        graph, k = self.pools["look-alikes"].draw(rng)
        return self.different(rng, graph, k, rng.choice(self._look_alikes[id(graph)][k]), first=True)

    def different(self, rng: Random, graph: Graph, k: int, second: int, *, first: bool = False) -> Drawn:
        """Texts (the first ones, if `first`) of two concepts that are neither the same nor ancestor and descendant."""
        if k == second or not graph.forms[second] or graph.held_out[second] != self.development:
            return None
        if graph.related(k, second):
            return None
        text_a, text_b = (graph.forms[c][0] if first else graph.text(c, rng) for c in (k, second))
        if self.meanings.same(text_a, text_b):
            return None
        return either_way(rng, text_a, text_b, 0)

    def random(self, rng: Random) -> Drawn:
        """Two texts, mostly of one source.

        Raters of one project write about one field, so chance pairs come from one field too.
        """
        graph, k = self.pools["any"].draw(rng)
        if rng.random() < 0.7:
            return self.different(rng, graph, k, self.pools["any"].beside(rng, graph, k))
        text_a, text_b = graph.text(k, rng), self.text(rng)
        return None if self.meanings.same(text_a, text_b) else (text_a, text_b, 0)

    def everyday(self, rng: Random) -> Drawn:
        """Two texts of the word lists: frequent texts are seldom drawn otherwise, and so seldom seen as different."""
        graph, k = self.pools["everyday"].draw(rng)
        if graph.contrasts[k] and rng.random() < 0.7:
            return self.different(rng, graph, k, rng.choice(graph.contrasts[k]))
        second_graph, second = self.pools["everyday"].draw(rng)
        text_a, text_b = graph.text(k, rng), second_graph.text(second, rng)
        return None if self.meanings.same(text_a, text_b) else (text_a, text_b, 0)

    def one_way(self, rng: Random) -> Drawn:
        """Texts with one known direction: a name and its acronym.

        Against the acronyms and names of others.
        """
        graph, k = self.pools["one way"].draw(rng)
        premise, hypothesis = rng.choice(graph.one_way[k])
        if rng.random() < 0.55:
            return premise, hypothesis, 1
        near = graph.contrasts[k] or [sibling for parent in graph.parents[k] for sibling in graph.children[parent]]
        second = rng.choice(near) if near and rng.random() < 0.7 else self.pools["any"].beside(rng, graph, k)
        if second == k or graph.held_out[second] != self.development or graph.related(k, second):
            return None
        texts = [t for pair in graph.one_way[second] for t in pair] or list(graph.forms[second])
        text_b = rng.choice(texts) if texts else premise
        if self.meanings.same(premise, text_b) or self.meanings.same(hypothesis, text_b):
            return None
        return either_way(rng, premise, text_b, 0)

    def text(self, rng: Random, among: str = "any") -> str:
        """A text of a concept that is drawn from one of the pools."""
        graph, k = self.pools[among].draw(rng)
        return graph.text(k, rng)

    def two_texts(self, rng: Random) -> tuple[str, str]:
        """Two texts of one concept, often the same one twice."""
        graph, k = self.pools["any"].draw(rng)
        text_a = graph.text(k, rng)
        return text_a, graph.text(k, rng) if rng.random() < 0.3 else text_a
