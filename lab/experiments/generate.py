"""Populations of two simulated raters who name the same concepts, or near misses of them, in their own words.

Wullschleger et al. 2026, section "Synthetic Experiments", and appendix, "Synthetic Set-Pair Generation". Three
settings:

``paper``
    One label per rater. 100 concepts with two names or more are sampled; the target agreement α, uniform in [0, 1], is
    the share of pairs that keep their concept, the others get a different concept for the second rater; then each side
    is one of its concept's names, drawn uniformly.
``hard``
    The same on concepts with three names or more, where two raters seldom use the same string.
``sets``
    Sets of 2 to 5 concepts, with the appendix's rule for their sizes and for the number of shared concepts.

Four kinds of negatives: ``random``, ``sibling`` (equality errors), ``ancestor`` (parents and grandparents:
generalization errors) and ``lexical`` (one of the 10 concepts with the closest preferred names by Indel). All kinds of
one population share their concepts, their target, the places of disagreement and the first rater's words, so that kinds
are compared pairwise.

What Wullschleger et al. leave open is decided here: the preferred name is one of the names that are drawn; a negative
never shares a name with the concept it replaces (the answers would agree); and concepts that lack a sibling or an
ancestor that could replace them are left out for all four kinds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

from lab.experiments.draw import Draw
from lab.experiments.set_sizes import LARGEST, nearest, set_sizes
from lab.terminologies.relations import Relations
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Terminology

Setting = Literal["paper", "hard", "sets"]
Negatives = Literal["random", "sibling", "ancestor", "lexical"]
SETTINGS: tuple[Setting, ...] = ("paper", "hard", "sets")
NEGATIVES: tuple[Negatives, ...] = ("random", "sibling", "ancestor", "lexical")
POPULATIONS = {"paper": 30, "hard": 30, "sets": 15}
"""Populations of each setting in Wullschleger et al. 2026."""
PERMUTATIONS = {"paper": 3, "hard": 3, "sets": 2}
"""D of each setting in Wullschleger et al. 2026."""
SIZE = 100
NEIGHBOURS = 10
"""Lexical negatives are drawn from this many closest concepts."""
RATERS = ("1", "2")
_NAMES_NEEDED = {"paper": 2, "hard": 3, "sets": 2}
_TRIES = 200
_Words = tuple[tuple[str, ...], tuple[str, ...]]
_Drawn = tuple[float, list[tuple[list[int], list[int]]], list[_Words], int]
"""Target, concepts and texts of both raters for each item, and the number of random stand-ins."""


@dataclass(frozen=True, eq=False)
class Population:
    """One simulated project.

    Attributes
    ----------
    target : float
        α, the target agreement.
    concepts, texts : tuple of ((str, ...), (str, ...))
        For each item the concepts of both raters, and their wordings: ``texts[i][r][j]`` is a name of
        ``concepts[i][r][j]``.
    substituted : int
        Negatives that were drawn at random because no related concept fits (sets only).
    """

    terminology: str
    setting: Setting
    negatives: Negatives
    number: int
    target: float
    concepts: tuple[_Words, ...]
    texts: tuple[_Words, ...]
    substituted: int = 0

    @cached_property
    def digest(self) -> str:
        """Hash of its content: two populations with one digest are identical."""
        name = f"{self.terminology}/{self.setting}/{self.negatives}/{self.number}"
        content = json.dumps([name, self.target, self.concepts, self.texts], ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def table(self) -> AnnotationTable:
        """The texts of the raters."""
        return table_of_raters(self.texts)

    def gold(self) -> AnnotationTable:
        """The concepts they meant, as if these were texts."""
        return table_of_raters(self.concepts)


def table_of_raters(
    answers: Iterable[Sequence[str | tuple[str, ...]]], raters: Sequence[str] = RATERS, digits: int = 1
) -> AnnotationTable:
    """The table of two raters' answers to each item; the ids of the items have at least this number of digits."""
    return AnnotationTable.from_answers(
        (f"{item:0{digits}d}", rater, answer)
        for item, item_answers in enumerate(answers)
        for rater, answer in zip(raters, item_answers, strict=True)
    )


class Generator:
    """Makes populations from one terminology.

    Parameters
    ----------
    setting : {"paper", "hard", "sets"}
    size : int
        Items of a population.
    negatives : tuple of str
        Kinds of negatives; concepts without relatives of these kinds are left out.

    Raises
    ------
    InputError
        If the terminology has too few concepts that can be used, or lacks a hierarchy that is needed.
    """

    def __init__(
        self,
        terminology: Terminology,
        setting: Setting,
        *,
        seed: int = 0,
        size: int = SIZE,
        negatives: Sequence[Negatives] = NEGATIVES,
    ) -> None:
        self.terminology, self.setting, self.seed, self.size = terminology, setting, seed, size
        self.relations = Relations(terminology)
        self._wanted = tuple(negatives)
        self._neighbors: dict[int, tuple[int, ...]] = {}
        named_concepts = [c for c, names in enumerate(terminology.names) if len(names) >= _NAMES_NEEDED[setting]]
        self.pool: tuple[int, ...] = tuple(c for c in named_concepts if self._has_relatives(c))
        n_needed = max(size, 2 * NEIGHBOURS) if setting != "sets" else 4 * LARGEST
        if len(self.pool) < n_needed:
            raise InputError(
                f"{terminology.name} has {len(self.pool)} concepts with {_NAMES_NEEDED[setting]} names or more"
                f"{' and with relatives' if len(self.pool) < len(named_concepts) else ''}, "
                f"but the setting {setting!r} needs {n_needed}: "
                "name other settings with --setting, or ask for less with --size or --negatives."
            )

    def population(self, number: int, negatives: Negatives = "random") -> Population:
        """Population ``number`` with negatives of this kind."""
        if negatives not in self._wanted:
            raise InputError(f"The generator was not made for {negatives!r} negatives.")
        make = self._sets if self.setting == "sets" else self._single
        target, concepts, texts, substituted = make(number, negatives)
        ids = self.terminology.ids
        return Population(
            terminology=self.terminology.name,
            setting=self.setting,
            negatives=negatives,
            number=number,
            target=target,
            concepts=tuple((tuple(ids[c] for c in a), tuple(ids[c] for c in b)) for a, b in concepts),
            texts=tuple(texts),
            substituted=substituted,
        )

    def candidates(self, concept: int, negatives: Negatives) -> tuple[int, ...]:
        """Concepts that may replace this one; empty for ``random``, where nearly all may."""
        if negatives == "lexical":
            return self._lexical(concept)
        if negatives == "random":
            return ()
        relations = self.relations
        concepts = relations.siblings(concept) if negatives == "sibling" else relations.ancestors(concept)
        return tuple(c for c in concepts if self._differ(c, concept))

    def _streams(self, number: int, negatives: Negatives) -> tuple[Draw, Draw]:
        """Draws that all kinds of negatives share, and draws of one kind."""
        key = (self.seed, self.terminology.name, self.setting, number)
        return Draw(*key), Draw(*key, negatives)

    def _has_relatives(self, concept: int) -> bool:
        return all(self.candidates(concept, kind) for kind in ("sibling", "ancestor") if kind in self._wanted)

    def _differ(self, a: int, b: int) -> bool:
        """Different concepts that share no name."""
        folded = self.relations.folded
        return a != b and folded[a].isdisjoint(folded[b])

    def _lexical(self, concept: int) -> tuple[int, ...]:
        """The pool's concepts with the preferred names closest to this one (normalized Indel)."""
        if concept not in self._neighbors:
            import numpy as np
            from rapidfuzz import process
            from rapidfuzz.distance import Indel

            names = self.terminology.names
            preferred = [names[c][0] for c in self.pool]
            close = process.cdist([names[concept][0]], preferred, scorer=Indel.normalized_similarity, dtype=np.float64)
            order = np.argsort(-close[0], kind="stable").tolist()
            in_order = (self.pool[position] for position in order)
            different = (stand_in for stand_in in in_order if self._differ(stand_in, concept))
            self._neighbors[concept] = tuple(islice(different, NEIGHBOURS))
        return self._neighbors[concept]

    def _negative(
        self, concept: int, negatives: Negatives, draw: Draw, taken: frozenset[int] = frozenset()
    ) -> int | None:
        """A concept to replace this one that shares no name with those already used; None if there is none."""
        if negatives == "random":
            for _ in range(_TRIES):
                stand_in = draw.choice(self.pool)
                if self._differ(stand_in, concept) and all(self._differ(stand_in, c) for c in taken):
                    return stand_in
            return None
        free = [c for c in self.candidates(concept, negatives) if all(self._differ(c, t) for t in taken)]
        return draw.choice(free) if free else None

    def _name(self, concept: int, draw: Draw) -> str:
        return draw.choice(self.terminology.names[concept])

    def _single(self, number: int, negatives: Negatives) -> _Drawn:
        shared, draw_of_kind = self._streams(number, negatives)
        target = shared.unit()
        first = shared.sample(self.pool, self.size)
        agreed_items = set(shared.sample(range(self.size), nearest(target * self.size)))
        words = [self._name(c, shared) for c in first]
        # drawn for every pair, also for kept ones, so that all kinds of negatives share the words of the kept pairs
        same = [self._name(c, shared) for c in first]
        concepts: list[tuple[list[int], list[int]]] = []
        texts: list[_Words] = []
        for position, concept in enumerate(first):
            stand_in: int | None = concept
            word = same[position]
            if position not in agreed_items:
                stand_in = self._negative(concept, negatives, draw_of_kind)
                if stand_in is None:
                    raise InputError(f"{self.terminology.name} has no concept to stand in for {concept!r}.")
                word = self._name(stand_in, draw_of_kind)
            assert stand_in is not None
            concepts.append(([concept], [stand_in]))
            texts.append(((words[position],), (word,)))
        return target, concepts, texts, 0

    def _sets(self, number: int, negatives: Negatives) -> _Drawn:
        shared, draw_of_kind = self._streams(number, negatives)
        target = shared.unit()
        concepts, texts = [], []
        substituted = 0
        for _ in range(self.size):
            m, n, k = set_sizes(target, shared)
            a = self._distinct(m, shared)
            common = shared.sample(a, k)
            words = tuple(self._name(c, shared) for c in a)
            repeated = [self._name(c, shared) for c in common]
            missed = [c for c in a if c not in common]
            b = list(common)
            for slot in range(n - k):
                # negatives for the concepts that are not shared, in turn; for any concept when b has more places than
                # that
                order = (missed[slot % len(missed) :] + missed[: slot % len(missed)] + common) if missed else common
                stand_in, fell_back = self._stand_in(order, negatives, draw_of_kind, frozenset(a) | frozenset(b))
                substituted += fell_back
                b.append(stand_in)
            second_names = repeated + [self._name(c, draw_of_kind) for c in b[k:]]
            concepts.append((a, b))
            texts.append((words, tuple(second_names)))
        return target, concepts, texts, substituted

    def _stand_in(
        self, concepts: Sequence[int], negatives: Negatives, draw: Draw, taken: frozenset[int]
    ) -> tuple[int, bool]:
        """A negative for the first of these concepts that has one; a random one, which is reported, where none has."""
        for concept in concepts:
            stand_in = self._negative(concept, negatives, draw, taken)
            if stand_in is not None:
                return stand_in, False
        stand_in = self._negative(concepts[0], "random", draw, taken)
        if stand_in is None:
            raise InputError(f"{self.terminology.name} is too small for sets: its concepts share their names.")
        return stand_in, True

    def _distinct(self, count: int, draw: Draw) -> list[int]:
        """Concepts without a name in common."""
        concepts_of_item: list[int] = []
        for _ in range(_TRIES):
            concept = draw.choice(self.pool)
            if all(self._differ(concept, stand_in) for stand_in in concepts_of_item):
                concepts_of_item.append(concept)
            if len(concepts_of_item) == count:
                return concepts_of_item
        raise InputError(f"{self.terminology.name} is too small for sets: its concepts share their names.")
