"""Drawing concepts from graphs: by share, part and novelty, and those that look alike."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from lab.train.graph import Graph

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
            # the square root gives small handwritten lists some weight; what other sources
            # have, too, counts in part
            weighted_pools.extend(
                (
                    graph,
                    members,
                    graph.share
                    * (1.0 if clinical else 0.35)
                    * sum(graph.novelty[k] for k in members)
                    / len(members) ** 0.5,
                )
                for (clinical, _), members in by_part.items()
            )
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
