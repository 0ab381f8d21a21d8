"""Drawing directed pairs: from concepts, from changed wordings, from labeled pairs.

An endless stream in chunks, each fixed by seed and number.

A pair says whether its first text entails its second. Nothing is stored: every chunk has new negatives and wordings,
and an interrupted training continues with the same chunks.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from random import Random

from lab.train.concept_pairs import ConceptPairs, Drawn
from lab.train.labeled import LabeledPairs
from lab.train.modifiers import modifiers
from lab.train.perturb import rewrite_number, swap, vary
from lab.train.sources import Sources, fingerprint, folded_pair
from lab.train.wording_pairs import WordingPairs

WEIGHTS: dict[str, float] = {
    "synonym": 62,
    "hypernym": 30,
    "sibling": 26,
    "neighbor": 14,
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
    "labeled": 16,
    "judged": 3,
    "hard": 14,
}
"""How often each kind is drawn."""
KINDS = tuple(WEIGHTS)
_IN_CONTEXT = frozenset({"synonym", "sibling", "neighbor", "look-alike", "random", "everyday"})
"""Kinds whose pairs are sometimes drawn with the same words around both texts."""


@dataclass(frozen=True, slots=True)
class Example:
    """The first text entails the second (1) or not (0)."""

    premise: str
    hypothesis: str
    entails: int
    kind: str


class PairStream:
    """Examples from sources.

    Parameters
    ----------
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
        self.sources = sources
        self._seed = f"{seed}/{'dev' if development else 'train'}"
        self.concepts = ConceptPairs(sources, development, fewest_names)
        self.wordings = WordingPairs(sources, self.concepts)
        self._draws = self.concepts.draws() | self.wordings.draws()
        for kind, files in (("labeled", sources.pairs), ("judged", sources.judged)):
            if files and not development:
                self._draws[kind] = partial(_labeled, files)
        if hard:
            self._draws["hard"] = lambda rng: rng.choice(hard)
        given = WEIGHTS if weights is None else weights
        self._kinds = [kind for kind in KINDS if given.get(kind, 0) > 0 and kind in self._draws]
        self._cumulative = list(accumulate(given[kind] for kind in self._kinds))

    def has(self, kind: str) -> bool:
        """Whether the sources give pairs of a kind."""
        return kind in self._kinds

    def chunk(self, number: int, size: int) -> list[Example]:
        """Chunk `number` of the stream: its examples do not depend on earlier draws."""
        rng = Random(f"{self._seed}/{number}")
        examples: list[Example] = []
        barren = 0
        while len(examples) < size and barren < 1000 + 50 * size:
            kind = self._kinds[bisect(self._cumulative, rng.random() * self._cumulative[-1])] if self._kinds else ""
            example = self.example(rng, kind) if kind else None
            if example is None:
                barren += 1
            else:
                examples.append(example)
        return examples

    def of_kind(self, kind: str, size: int) -> list[Example]:
        """`size` different examples of one kind, or as many as a few draws of each find."""
        rng = Random(f"{self._seed}/{kind}")
        examples: dict[Example, None] = {}
        for _ in range(20 * size if self.has(kind) else 0):
            example = self.example(rng, kind)
            if example is not None:
                examples[example] = None
            if len(examples) == size:
                break
        return list(examples)

    def example(self, rng: Random, kind: str) -> Example | None:
        """One example of a kind, or None where the draw gave none."""
        drawn = self._draws[kind](rng)
        if drawn is None:
            return None
        premise, hypothesis, entails = drawn
        if kind not in ("labeled", "judged", "hard"):
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

    def _reworded(self, rng: Random, text: str) -> str:
        draw = rng.random()
        if draw < 0.16:
            return vary(rng, text)
        if draw < 0.28:
            return swap(rng, text) or text
        if draw < 0.29:
            return self.wordings.slip(rng, text) or text
        if draw < 0.30:
            return rewrite_number(rng, text) or text
        return text

    def _in_one_context(self, rng: Random, premise: str, hypothesis: str) -> tuple[str, str]:
        """Both texts with the same modifier, which keeps their relation."""
        group = rng.choice(rng.choice(modifiers()).groups)
        return rng.choice(group).format(premise), rng.choice(group).format(hypothesis)


def _labeled(files: Sequence[LabeledPairs], rng: Random) -> Drawn:
    """A labeled pair; files are weighted by the square root of their size, and contradictions are drawn less often."""
    cumulative = list(accumulate(len(f.pairs) ** 0.5 for f in files))
    data = files[bisect(cumulative, rng.random() * cumulative[-1])]
    place = rng.randrange(len(data.pairs))
    if place in data.contradictions and rng.random() < 0.5:
        place = rng.randrange(len(data.pairs))
    pair: tuple[str, str, int] = data.pairs[place]
    return pair
