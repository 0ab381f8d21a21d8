"""Texts as terminologies know them: what these tell of each pair of texts, and the pairs' scores by a cheap measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints
from softirr.meaning.measures.protocols import mutual, stronger
from softirr.meaning.terminology.coder import Coder, Known
from softirr.text import normalize

__all__ = ["MOST_NAMES", "Relations", "TerminologyTextIndex"]

MOST_NAMES = 8
"""Names of a concept that the measure compares with a text that no terminology knows."""


class Relations:
    """What terminologies tell of the pairs of some texts.

    Texts that are known alike (the same concepts and attributes) form a group. Two groups of one terminology differ
    unless they share a concept or one has an ancestor of the other; such pairs of groups are few, and are kept sorted.
    """

    def __init__(self, coder: Coder, texts: Sequence[str]) -> None:
        self._coder = coder
        self.texts = texts
        known = coder.know(texts)
        numbers: dict[Known, int] = {}
        self.group = np.array(
            [-1 if one is None else numbers.setdefault(one, len(numbers)) for one in known], dtype=np.int64
        )
        self.groups = list(numbers)
        masks = np.array([*(sum(1 << t for t in one.terminologies) for one in self.groups), 0], dtype=np.int64)
        self.mask = masks[self.group]
        """The terminologies that know each text, as bits."""
        self.keys, self.values = self._related()
        self._names: dict[int, list[str]] = {}

    def directions(self, left: Ints, right: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of text left[k] with text right[k], shape (n, 2).

        NaN where the terminologies do not tell.
        """
        g, h = self.group[left], self.group[right]
        result = np.full((len(g), 2), np.nan)
        both = (self.mask[left] & self.mask[right]) > 0
        result[both] = 0.0
        if len(self.keys):
            key = g * len(self.groups) + h
            place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            related = both & (self.keys[place] == key)
            result[related] = self.values[place[related]]
        return result

    def names(self, text: int, other: int) -> list[str]:
        """Names to compare a text by, beside itself.

        The names of its concept, where no terminology knows both texts.
        """
        if not self.mask[text] or self.mask[text] & self.mask[other]:
            return []
        return [name for name in self.names_of(int(self.group[text])) if name != self.texts[text]]

    def names_of(self, group: int) -> list[str]:
        """Names of the concepts of a group; none where attributes were taken off."""
        if group not in self._names:
            known = self.groups[group]
            self._names[group] = [] if known.attributes else self._coder.names(known, MOST_NAMES)
        return self._names[group]

    def _related(self) -> tuple[Ints, Floats]:
        groups_of: dict[int, list[int]] = {}
        for group, known in enumerate(self.groups):
            for concept in known.concepts:
                groups_of.setdefault(concept, []).append(group)
        values: dict[int, tuple[float, float]] = {}
        n = len(self.groups)
        for group, known in enumerate(self.groups):
            near: set[int] = set()
            for concept in known.concepts:
                near.update(groups_of[concept])
                for above in self._coder.ancestors(concept) & groups_of.keys():
                    near.update(groups_of[above])
            for other in near:
                forward, backward = self._coder.compare(known, self.groups[other]) or (np.nan, np.nan)
                values[group * n + other] = forward, backward
                values[other * n + group] = backward, forward
        keys = np.array(sorted(values), dtype=np.int64)
        return keys, np.array([values[key] for key in keys.tolist()], dtype=np.float64).reshape(-1, 2)


class TerminologyTextIndex:
    """Preprocessed texts of a cheap measure with terminologies."""

    def __init__(self, raw: Any, relations: Relations, texts: Sequence[str], *, lenient: bool = False) -> None:
        self._relations = relations
        self._equivalence = stronger if lenient else mutual
        names: dict[str, int] = {}
        lists = [
            [names.setdefault(normalize(name), len(names)) for name in relations.names_of(group)]
            for group in range(len(relations.groups))
        ]
        self._sizes = np.array([*map(len, lists), 0], dtype=np.int64)
        # of each text by its group; -1 is the last entry
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._flat = np.array([one for own in lists for one in own], dtype=np.int64) + len(texts)
        self._index = raw.index([*texts, *names])

    def pairs(self, left: Ints, right: Ints) -> Floats:
        """P(a ≡ b) of text left[k] with text right[k], shape (n,)."""
        result = self._equivalence(self._relations.directions(left, right))
        rest = np.flatnonzero(np.isnan(result))
        if len(rest):
            a, b = left[rest], right[rest]
            best = np.asarray(self._index.pairs(a, b), dtype=np.float64)
            unshared = (self._relations.mask[a] & self._relations.mask[b]) == 0
            for known, other in ((a, b), (b, a)):
                names, owner = self._names_of(known[unshared])
                if len(names):
                    values = self._index.pairs(names, other[unshared][owner])
                    np.maximum.at(best, np.flatnonzero(unshared)[owner], values)
            result[rest] = best
        return result

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(cols))."""
        result = np.array(self._index.block(rows, cols), dtype=np.float32)
        shared = (self._relations.mask[rows][:, None] & self._relations.mask[cols][None, :]) > 0
        group = self._relations.group
        for names_first in (True, False):
            known, other = (rows, cols) if names_first else (cols, rows)
            with_names = np.flatnonzero(self._sizes[group[known]] > 0)
            names, owner = self._names_of(known[with_names])
            if not len(names):
                continue
            first = np.flatnonzero(np.concatenate([[True], np.diff(owner) > 0]))
            best = np.maximum.reduceat(np.asarray(self._index.block(names, other)), first, axis=0)
            if names_first:
                result[with_names] = np.where(
                    shared[with_names], result[with_names], np.maximum(result[with_names], best)
                )
            else:
                own = result[:, with_names]
                result[:, with_names] = np.where(shared[:, with_names], own, np.maximum(own, best.T))
        self._tell(result, rows, cols, shared)
        return result

    def _tell(self, result: NDArray[np.float32], rows: Ints, cols: Ints, shared: NDArray[np.bool_]) -> None:
        """Put what the terminologies tell in place of the raw scores of texts that they know."""
        relations, n = self._relations, len(self._relations.groups)
        own = result.copy() if np.isnan(relations.values).any() else result
        result[shared] = 0.0
        g, h = relations.group[rows], relations.group[cols]
        first, second = np.divmod(relations.keys, max(n, 1))
        here = np.flatnonzero(np.isin(first, g) & np.isin(second, h))
        equivalence = self._equivalence(relations.values)
        places: dict[int, Ints] = {}
        for key in here.tolist():
            i, j = int(first[key]), int(second[key])
            value = equivalence[key]
            if value == 0.0:
                continue
            at = places.setdefault(i, np.flatnonzero(g == i)), places.setdefault(-1 - j, np.flatnonzero(h == j))
            where = np.ix_(*at)
            result[where] = own[where] if np.isnan(value) else value

    def _names_of(self, texts: Ints) -> tuple[Ints, Ints]:
        """Numbers of the names of texts, and the place of the text that each belongs to."""
        group = self._relations.group[texts]
        sizes = self._sizes[group]
        owner = np.repeat(np.arange(len(texts)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self._flat[self._starts[group][owner] + within], owner
