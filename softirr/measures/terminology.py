"""Measures that look texts up in terminologies first, and estimate only what these do not tell.

Where terminologies know both texts, equivalence and direction come from them: the same concept is 1, an ancestor is more general, other concepts
differ. Where they know one text, the measure compares the other one with all names of its concept too, and the best counts. Where they know
none, the measure scores the texts as they are.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.measures.base import Measure, Pairs, layers_of, mutual, raw_of
from softirr.measures.layers import rewritten_pairs
from softirr.measures.lexical import Exact
from softirr.provenance import Progress, Provenance, TerminologyUsed
from softirr.tables.ratings import Floats, Ints
from softirr.terminology.coder import RULES, Coder, Known, Simplify
from softirr.terminology.index import TerminologyIndex, open_index
from softirr.text import normalize

__all__ = [
    "MOST_NAMES",
    "Expansion",
    "Source",
    "TerminologyMeasure",
    "make",
    "sources_of",
    "terminology_measure_of",
    "with_terminology",
]

MOST_NAMES = 8
"""Names of a concept that the measure compares with a text that no terminology knows."""

Source = Literal["decision", "identical", "terminology", "names", "measure"]
"""Where a score comes from: people, texts that are the same, the terminologies, the measure on a concept's names too, or on the texts alone."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """What is told of n pairs, and the m pairs of texts that the raw measure has to score for the others.

    Attributes
    ----------
    told : shape (n, 2)
        P(a ⇒ b) and P(b ⇒ a); nan where the raw measure is needed.
    pairs : list of (str, str)
        For each such pair the texts themselves, then names in place of a known text.
    owner : shape (m,)
        The pair that each belongs to, ascending.
    source : tuple of str
        Where the score of each of the n pairs comes from.
    """

    told: Floats
    pairs: list[tuple[str, str]]
    owner: Ints
    source: tuple[Source, ...]

    def combine(self, directions: Floats) -> Floats:
        """The directions of the n pairs, shape (n, 2), from the raw measure's, shape (m, 2): those of the best names."""
        result = self.told.copy()
        if len(self.owner):
            order = np.lexsort((-mutual(directions), self.owner))
            first = np.concatenate([[True], np.diff(self.owner[order]) > 0])
            result[self.owner[order[first]]] = directions[order[first]]
        return result


class TerminologyMeasure:
    """A measure with terminologies; see :func:`with_terminology`.

    Attributes
    ----------
    raw : Measure
        The measure that scores what the terminologies do not tell.
    coder : Coder
        The terminologies.
    """

    def __init__(self, raw: Measure, coder: Coder, name: str | None = None) -> None:
        self.raw = raw
        self.coder = coder
        self._name = name
        self._lenient = False

    @property
    def name(self) -> str:
        """The raw measure's name and those of the terminologies."""
        return self._name or f"{self.raw.name} with {', '.join(one.name for one in self.coder.terminologies)}"

    def over(self, raw: Measure) -> TerminologyMeasure:
        """The same terminologies, under the same name, over another raw measure."""
        return _made(raw, self.coder, self.name)

    def lenient(self) -> TerminologyMeasure:
        """The measure whose blocks have 1 where terminologies call one text more general: for policies by which that is the same."""
        found = copy.copy(self)
        found._lenient = True
        return found

    @property
    def symmetric(self) -> bool:
        """Whether only the terminologies tell directions: the raw measure has none."""
        return not hasattr(self.raw, "entail_both")

    @cached_property
    def terminology_key(self) -> str:
        """Everything that the terminologies' part of a score depends on."""
        told = [(one.name, one.sha256) for one in self.coder.terminologies]
        simplify = self.coder.simplify
        how = "" if simplify is None else f"{simplify.__module__}.{getattr(simplify, '__qualname__', '')}"
        return hashlib.sha256(repr((told, how, MOST_NAMES, RULES)).encode()).hexdigest()[:16]

    def expand(self, pairs: Pairs) -> Expansion:
        """What the terminologies tell of the pairs, and which pairs the raw measure has to score."""
        texts = list(dict.fromkeys(normalize(text) for pair in pairs for text in pair))
        number = {text: place for place, text in enumerate(texts)}
        relations = Relations(self.coder, texts)
        left, right = (
            np.fromiter((number[normalize(pair[side])] for pair in pairs), dtype=np.int64, count=len(pairs))
            for side in (0, 1)
        )
        told = relations.told(left, right)
        told[left == right] = 1.0
        source: list[Source] = ["identical" if same else "terminology" for same in (left == right).tolist()]
        wanted: list[tuple[str, str]] = []
        owner: list[int] = []
        for place in np.flatnonzero(np.isnan(told[:, 0])).tolist():
            i, j = int(left[place]), int(right[place])
            own = [(texts[i], texts[j])]
            own += [(name, texts[j]) for name in relations.names(i, j)]
            own += [(texts[i], name) for name in relations.names(j, i)]
            source[place] = "measure" if len(own) == 1 else "names"
            wanted += own
            owner += [place] * len(own)
        return Expansion(told, wanted, np.array(owner, dtype=np.int64), tuple(source))

    def sources(self, pairs: Pairs) -> tuple[Source, ...]:
        """Where the score of each pair comes from."""
        return self.expand(pairs).source

    def entail_both(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2); both are P(a ≡ b) where a measure without directions scored it."""
        expansion = self.expand(pairs)
        return expansion.combine(_directions(self.raw, expansion.pairs))

    def entail(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) of each pair, shape (n,)."""
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Pairs) -> Floats:
        """P(a ≡ b) of each pair, shape (n,)."""
        return mutual(self.entail_both(pairs))

    def provenance(self) -> Provenance:
        """The raw measure's provenance, with the name and the terminologies."""
        used = tuple(
            TerminologyUsed(one.name, one.sha256, one.n_concepts, one.n_names) for one in self.coder.terminologies
        )
        return replace(self.raw.provenance(), measure=self.name, terminologies=used)


class _Checked(TerminologyMeasure):
    @property
    def cache_key(self) -> str:
        """The raw measure's key and the terminologies'."""
        return f"{cast(Any, self.raw).cache_key}+terminology:{self.terminology_key}"

    def entail_checked(self, pairs: Pairs, *, progress: Progress | None = None) -> tuple[Floats, NDArray[np.bool_]]:
        """Both directions, shape (n, 2), and which rows are valid, shape (n,)."""
        expansion = self.expand(pairs)
        values, sound = cast(Any, self.raw).entail_checked(expansion.pairs, progress=progress)
        valid = np.ones(len(pairs), dtype=bool)
        np.logical_and.at(valid, expansion.owner, sound)
        return expansion.combine(values), valid


class _Indexed(TerminologyMeasure):
    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P(a ≡ b) of all rows with all columns, shape (len(rows), len(cols))."""
        index = self.index([*rows, *cols])
        return index.block(np.arange(len(rows)), np.arange(len(rows), len(rows) + len(cols)))

    def index(self, texts: Sequence[str]) -> TerminologyTextIndex:
        """An index of the texts."""
        return TerminologyTextIndex(self.raw, Relations(self.coder, texts), texts, lenient=self._lenient)


def _directions(raw: Any, pairs: Pairs) -> Floats:
    if hasattr(raw, "entail_both"):
        return np.asarray(raw.entail_both(pairs))
    return np.repeat(np.asarray(raw.score(pairs), dtype=np.float64)[:, None], 2, axis=1)


def _stronger(directions: Floats) -> Floats:
    return np.asarray(directions.max(axis=1))


class Relations:
    """What terminologies tell of the pairs of some texts.

    Texts that are known alike (the same concepts and attributes) form a group. Two groups of one terminology differ unless they share a concept or one
    has an ancestor of the other; such pairs of groups are few, and are kept sorted.
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

    def told(self, left: Ints, right: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of text left[k] with text right[k], shape (n, 2); nan where the terminologies do not tell."""
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
        """Names to compare a text by, beside itself: those of its concept, where no terminology knows both texts."""
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
        found: dict[int, tuple[float, float]] = {}
        n = len(self.groups)
        for group, known in enumerate(self.groups):
            near: set[int] = set()
            for concept in known.concepts:
                near.update(groups_of[concept])
                for above in self._coder.ancestors(concept) & groups_of.keys():
                    near.update(groups_of[above])
            for other in near:
                forward, backward = self._coder.compare(known, self.groups[other]) or (np.nan, np.nan)
                found[group * n + other] = forward, backward
                found[other * n + group] = backward, forward
        keys = np.array(sorted(found), dtype=np.int64)
        return keys, np.array([found[key] for key in keys.tolist()], dtype=np.float64).reshape(-1, 2)


class TerminologyTextIndex:
    """Preprocessed texts of a cheap measure with terminologies."""

    def __init__(self, raw: Any, relations: Relations, texts: Sequence[str], *, lenient: bool = False) -> None:
        self._relations = relations
        self._equivalence = _stronger if lenient else mutual
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
        result = self._equivalence(self._relations.told(left, right))
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


def with_terminology(
    measure: Measure,
    terminologies: Sequence[str | os.PathLike[str] | TerminologyIndex],
    *,
    simplify: Simplify | None = None,
    name: str | None = None,
) -> TerminologyMeasure:
    """A measure that looks texts up in terminologies first, with the capabilities of the raw one (blocks, caching).

    Parameters
    ----------
    measure : Measure
        Scores what the terminologies do not tell.
    terminologies : sequence of path or TerminologyIndex
        As for :func:`softirr.terminology.load`.
    simplify : callable, optional
        Shorter forms of a text that is not known as it stands, such as :func:`softirr.policy.simplified.simplifications`.
    name : str, optional
        Name of the result; by default made of the names of the measure and the terminologies.

    Returns
    -------
    TerminologyMeasure

    Raises
    ------
    InputError
        If there is no terminology, or one can't be read.
    """
    if not terminologies:
        raise InputError("A terminology is needed: name the path of one.")
    indexes = [one if isinstance(one, TerminologyIndex) else open_index(os.fspath(one)) for one in terminologies]
    return _made(measure, Coder(indexes, simplify), name)


def _made(measure: Measure, coder: Coder, name: str | None) -> TerminologyMeasure:
    """A measure with terminologies and the capabilities of the raw one."""
    kinds: list[type] = []
    if hasattr(measure, "entail_checked"):
        kinds.append(_Checked)
    if hasattr(measure, "index"):
        kinds.append(_Indexed)
    kind: Any = (
        TerminologyMeasure
        if not kinds
        else kinds[0]
        if len(kinds) == 1
        else type("TerminologyMeasure", tuple(kinds), {})
    )
    made: TerminologyMeasure = kind(measure, coder, name)
    return made


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """The measure ``terminology:PATH``: what a terminology tells, and exact match where it tells nothing.

    Parameters
    ----------
    name
        ``terminology``.
    model
        Path of the terminology.
    **options
        ``simplify``, see :func:`with_terminology`.

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        If the path is missing, the terminology can't be read, or an option is not known.
    """
    if model is None:
        raise InputError("The measure terminology needs a path: terminology:PATH.")
    if unknown := sorted(set(options) - {"simplify"}):
        raise InputError(f"The measure {name} does not take these options: {', '.join(unknown)}; it takes simplify.")
    return with_terminology(Exact(), [model], simplify=options.get("simplify"), name=f"{name}:{model}")


def terminology_measure_of(measure: Measure) -> TerminologyMeasure | None:
    """Find the measure with terminologies below whatever corrects it.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    TerminologyMeasure or None
    """
    inner = raw_of(measure)
    return inner if isinstance(inner, TerminologyMeasure) else None


def sources_of(measure: Measure, pairs: Pairs) -> tuple[Source, ...]:
    """Where the score of each pair comes from.

    Parameters
    ----------
    measure : Measure
    pairs : sequence of (str, str)

    Returns
    -------
    tuple of str
        One of ``Source`` for each pair; empty where the measure has no terminologies.
    """
    found = terminology_measure_of(measure)
    if found is None:
        return ()
    layers = list(layers_of(measure))
    decided = {pair for layer in layers for pair in layer.decided}
    keys = [tuple(sorted((normalize(a), normalize(b)))) for a, b in pairs]
    written = rewritten_pairs(layers, pairs)
    return tuple(
        "decision" if key in decided and source != "identical" else source
        for key, source in zip(keys, found.sources(written), strict=True)
    )
