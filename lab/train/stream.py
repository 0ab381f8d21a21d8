"""Endless streams of directed pairs from concepts, changed wordings and labeled pairs.

Seed and number determine a chunk, so an interrupted training continues with the same chunks. Nothing is stored: every
chunk has new negatives and wordings.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from random import Random

from lab.train.concept_pairs import ConceptPairs, Drawn
from lab.train.english_pairs import EnglishPairs
from lab.train.labeled import LabeledPairs
from lab.train.perturb import rewrite_number, swap, vary
from lab.train.sources import ENGLISH, Sources, fingerprint, folded_pair
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
    "one way": 16,
    "compound": 26,
    "labeled": 16,
}
"""How often each kind is drawn in English."""
OTHER_LANGUAGES: dict[str, float] = {
    "synonym": 45,
    "hypernym": 11,
    "sibling": 15,
    "neighbor": 10,
    "look-alike": 10,
    "random": 12,
    "one way": 4,
    "modifier": 23,
    "opposite": 15,
    "joined": 12,
    "initials": 5,
    "same words": 8,
    "labeled": 15,
}
"""How often each kind is drawn in other languages."""
KINDS = tuple(WEIGHTS | OTHER_LANGUAGES)
_IN_CONTEXT = frozenset({"synonym", "sibling", "neighbor", "look-alike", "random", "everyday"})
"""Kinds of pairs that are sometimes drawn with the same words around both texts."""


@dataclass(frozen=True, slots=True)
class Example:
    """Two texts, and whether the first entails the second (1) or not (0)."""

    premise: str
    hypothesis: str
    entails: int
    kind: str


class PairStream:
    """Examples of one language.

    Parameters
    ----------
    development
        Draw from the concepts held out for development instead of the others.
    fewest_names
        Names that a concept needs so that synonyms are drawn from it.
    """

    def __init__(self, sources: Sources, *, seed: int = 0, development: bool = False, fewest_names: int = 2) -> None:
        self.sources = sources
        self._seed = f"{seed}/{'dev' if development else 'train'}"
        self.concepts = ConceptPairs(sources, development, fewest_names)
        self._is_english = sources.language == ENGLISH
        self.wordings = (EnglishPairs if self._is_english else WordingPairs)(sources, self.concepts)
        self._draws = self.concepts.draws() | self.wordings.draws()
        if sources.pairs and not development:
            self._draws["labeled"] = partial(_labeled, sources.pairs)
        weights = WEIGHTS if self._is_english else OTHER_LANGUAGES
        self._kinds = [kind for kind in weights if kind in self._draws]
        self._cumulative = list(accumulate(weights[kind] for kind in self._kinds))

    def has(self, kind: str) -> bool:
        """Whether the sources give pairs of a kind."""
        return kind in self._kinds

    def chunk(self, number: int, size: int) -> list[Example]:
        """Chunk `number` of the stream: its examples do not depend on earlier draws."""
        rng = Random(f"{self._seed}/{self.sources.language}/{number}")
        examples: list[Example] = []
        n_failed = 0
        while len(examples) < size and n_failed < 1000 + 50 * size:
            kind = self._kinds[bisect(self._cumulative, rng.random() * self._cumulative[-1])] if self._kinds else ""
            example = self.example(rng, kind) if kind else None
            if example is None:
                n_failed += 1
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
        """One example of a kind, or None if the draw failed."""
        pair = self._draws[kind](rng)
        if pair is None:
            return None
        premise, hypothesis, entails = pair
        if kind != "labeled":
            if kind in _IN_CONTEXT and rng.random() < 0.12 and self.wordings.language.modifiers:
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
        if not self._is_english:
            return self.wordings.reworded(rng, text) if draw < 0.1 else text
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
        """Both texts with the same modifier, which does not change their relation."""
        group = rng.choice(rng.choice(self.wordings.language.modifiers).groups)
        return rng.choice(group).format(premise), rng.choice(group).format(hypothesis)


class MixedStream:
    """Examples of several languages, in the proportion of their weights.

    Parameters
    ----------
    sources
        One entry for each language.
    """

    def __init__(self, sources: Sequence[Sources], *, seed: int = 0) -> None:
        self._sources, self._seed = sources, seed
        self._streams: dict[int, PairStream] = {}
        self._cumulative = list(accumulate(source.weight for source in sources))

    def chunk(self, number: int, size: int) -> list[Example]:
        """Chunk `number` of the stream, in which the examples of each language follow each other."""
        rng = Random(f"{self._seed}/{number}")
        sizes = Counter(bisect(self._cumulative, rng.random() * self._cumulative[-1]) for _ in range(size))
        return [example for k, count in sorted(sizes.items()) for example in self._stream(k).chunk(number, count)]

    def _stream(self, k: int) -> PairStream:
        if k not in self._streams:
            self._streams[k] = PairStream(self._sources[k], seed=self._seed)
        return self._streams[k]


def _labeled(files: Sequence[LabeledPairs], rng: Random) -> Drawn:
    """A labeled pair; files are weighted by the square root of their size, and contradictions are drawn less often."""
    cumulative = list(accumulate(len(f.pairs) ** 0.5 for f in files))
    data = files[bisect(cumulative, rng.random() * cumulative[-1])]
    position = rng.randrange(len(data.pairs))
    if position in data.contradictions and rng.random() < 0.5:
        position = rng.randrange(len(data.pairs))
    pair: tuple[str, str, int] = data.pairs[position]
    return pair
