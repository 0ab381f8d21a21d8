"""Texts as terminologies know them: what these tell of each pair, and the names that the measure compares, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Bools, Floats, Ints, mutual, stronger
from softirr.meaning.measures.stages import AskBlock, PreparedStage, Step
from softirr.meaning.terminology.coder import Coder, Known
from softirr.text import normalize

__all__ = ["MOST_NAMES", "TerminologyTexts"]

MOST_NAMES = 8
"""Maximum number of names of a concept that the measure compares with a text that no terminology knows."""


class TerminologyTexts(PreparedStage):
    """Texts that were looked up.

    Texts that are known alike (the same concepts and attributes) form a group. Two groups of one terminology differ
    unless they share a concept or one has an ancestor of the other; such pairs of groups are few, and are sorted.
    """

    def __init__(self, coder: Coder, texts: Sequence[str], *, lenient: bool = False) -> None:
        self._coder = coder
        self._equivalence = stronger if lenient else mutual
        known = coder.know(texts)
        numbers: dict[Known, int] = {}
        self._group = np.array(
            [-1 if text is None else numbers.setdefault(text, len(numbers)) for text in known], dtype=np.int64
        )
        self._groups = list(numbers)
        masks = np.array([*(sum(1 << t for t in group.terminologies) for group in self._groups), 0], dtype=np.int64)
        self._mask = masks[self._group]  # the terminologies that know each text, as bits
        self._keys, self._values = self._related()
        names: dict[str, int] = {text: number for number, text in enumerate(texts)}
        lists = [
            [names.setdefault(name, len(names)) for name in self._names_of_group(k)] for k in range(len(masks) - 1)
        ]
        self.texts = list(names)
        self._sizes = np.array([*map(len, lists), 0], dtype=np.int64)  # the last entry is for unknown texts
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._flat = np.array([number for group in lists for number in group], dtype=np.int64)

    def step(self, left: Ints, right: Ints) -> Step:
        """Ask about pairs that the terminologies do not decide, and about names in place of a known text."""
        directions = self._told(left, right)
        open_pairs = np.flatnonzero(np.isnan(directions[:, 0]))
        first, second, owner = [left[open_pairs]], [right[open_pairs]], [open_pairs]
        is_unshared = (self._mask[left[open_pairs]] & self._mask[right[open_pairs]]) == 0
        pairs = open_pairs[is_unshared]
        names, place = self._names_of(left[pairs])
        first, second, owner = [*first, names], [*second, right[pairs][place]], [*owner, pairs[place]]
        names, place = self._names_of(right[pairs])
        first, second, owner = [*first, left[pairs][place]], [*second, names], [*owner, pairs[place]]
        owners = np.concatenate(owner)

        def combine(values: Floats) -> Floats:
            result = directions
            if len(owners):
                order = np.lexsort((-mutual(values), owners))
                best = order[np.concatenate([[True], np.diff(owners[order]) > 0])]
                result[owners[best]] = values[best]
            return result

        return Step(np.concatenate(first), np.concatenate(second), combine)

    def block(self, rows: Ints, columns: Ints, ask: AskBlock) -> NDArray[np.float32]:
        """P by the measure and by names, with what the terminologies tell."""
        result = np.array(ask(rows, columns), dtype=np.float32)
        is_shared = (self._mask[rows][:, None] & self._mask[columns][None, :]) > 0
        for known, others, view, shared in (
            (rows, columns, result, is_shared),
            (columns, rows, result.T, is_shared.T),
        ):
            with_names = np.flatnonzero(self._sizes[self._group[known]] > 0)
            names, owner = self._names_of(known[with_names])
            if len(names):
                first = np.flatnonzero(np.concatenate([[True], np.diff(owner) > 0]))
                best = np.maximum.reduceat(np.asarray(ask(names, others)), first, axis=0)
                measured = view[with_names]
                view[with_names] = np.where(shared[with_names], measured, np.maximum(measured, best))
        self._tell(result, rows, columns, is_shared)
        return result

    def sources(self, left: Ints, right: Ints) -> Iterator[Literal["identical", "terminology", "names", "measure"]]:
        """Where the score of each pair comes from."""
        directions = self._told(left, right)
        has_names = (self._mask[left] & self._mask[right]) == 0
        has_names &= (self._sizes[self._group[left]] > 0) | (self._sizes[self._group[right]] > 0)
        for is_same, value, named in zip(
            (left == right).tolist(), directions[:, 0].tolist(), has_names.tolist(), strict=True
        ):
            is_told = not np.isnan(value)
            yield "identical" if is_same else "terminology" if is_told else "names" if named else "measure"

    def _told(self, left: Ints, right: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) by the terminologies, shape (n, 2); nan if they do not tell."""
        g, h = self._group[left], self._group[right]
        result = np.full((len(g), 2), np.nan)
        is_shared: Bools = (self._mask[left] & self._mask[right]) > 0
        result[is_shared] = 0.0
        if len(self._keys):
            key = g * len(self._groups) + h
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            is_related = is_shared & (self._keys[place] == key)
            result[is_related] = self._values[place[is_related]]
        result[left == right] = 1.0
        return result

    def _tell(self, result: NDArray[np.float32], rows: Ints, columns: Ints, is_shared: Bools) -> None:
        """Put what the terminologies tell in place of the scores of texts that they know."""
        measured = result.copy() if np.isnan(self._values).any() else result
        result[is_shared] = 0.0
        g, h = self._group[rows], self._group[columns]
        first, second = np.divmod(self._keys, max(len(self._groups), 1))
        equivalence = self._equivalence(self._values)
        for key in np.flatnonzero(np.isin(first, g) & np.isin(second, h)).tolist():
            value = equivalence[key]
            if value != 0.0:
                cells = np.ix_(np.flatnonzero(g == first[key]), np.flatnonzero(h == second[key]))
                result[cells] = measured[cells] if np.isnan(value) else value
        result[rows[:, None] == columns[None, :]] = 1.0

    def _names_of(self, texts: Ints) -> tuple[Ints, Ints]:
        """Numbers of the names of texts, and the place of the text that each belongs to."""
        group = self._group[texts]
        sizes = self._sizes[group]
        owner = np.repeat(np.arange(len(texts)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self._flat[self._starts[group][owner] + within], owner

    def _names_of_group(self, group: int) -> list[str]:
        """Names of the concepts of a group; none if attributes were taken off."""
        known = self._groups[group]
        return [] if known.attributes else [normalize(name) for name in self._coder.names(known, MOST_NAMES)]

    def _related(self) -> tuple[Ints, Floats]:
        """Keys of related groups, and the directions of each."""
        groups_of: dict[int, list[int]] = {}
        for group, known in enumerate(self._groups):
            for concept in known.concepts:
                groups_of.setdefault(concept, []).append(group)
        values: dict[int, tuple[float, float]] = {}
        n = len(self._groups)
        for group, known in enumerate(self._groups):
            near: set[int] = set()
            for concept in known.concepts:
                near.update(groups_of[concept])
                for above in self._coder.ancestors(concept) & groups_of.keys():
                    near.update(groups_of[above])
            for other in near:
                forward, backward = self._coder.compare(known, self._groups[other]) or (np.nan, np.nan)
                values[group * n + other] = forward, backward
                values[other * n + group] = backward, forward
        keys = np.array(sorted(values), dtype=np.int64)
        return keys, np.array([values[key] for key in keys.tolist()], dtype=np.float64).reshape(-1, 2)
