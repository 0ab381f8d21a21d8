"""Measures that look texts up in terminologies first, and estimate only what these do not tell.

Where terminologies know both texts, equivalence and direction come from them: the same concept is 1, an ancestor is
more general, other concepts differ. Where they know one text, the measure compares the other one with all names of its
concept too, and the best counts. Where they know none, the measure scores the texts as they are.
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

from softirr.answers.ratings import Floats, Ints
from softirr.errors import InputError
from softirr.meaning.measures.base_classes import BothDirections, IndexedTexts, like
from softirr.meaning.measures.layers import rewritten_pairs
from softirr.meaning.measures.lexical import Exact
from softirr.meaning.measures.protocols import Measure, Pairs, layers_of, mutual, numbered_pairs, raw_of
from softirr.meaning.measures.terminology_texts import MOST_NAMES, Relations, TerminologyTextIndex
from softirr.meaning.terminology.coder import RULES, Coder, Simplify
from softirr.meaning.terminology.index import TerminologyIndex, open_index
from softirr.provenance import Progress, Provenance, TerminologyUsed
from softirr.text import normalize

__all__ = [
    "Expansion",
    "Source",
    "TerminologyMeasure",
    "make",
    "sources_of",
    "terminology_measure_of",
    "with_terminology",
]

Source = Literal["decision", "identical", "terminology", "names", "measure"]
"""Where a score comes from: people, texts that are the same, the terminologies, the measure on a concept's names too, or on the texts alone."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """What terminologies say of n pairs, and the m pairs of texts that the raw measure has to score for the others.

    Attributes
    ----------
    directions : shape (n, 2)
        P(a ⇒ b) and P(b ⇒ a); nan where the raw measure is needed.
    pairs : list of (str, str)
        For each such pair the texts themselves, then names in place of a known text.
    owner : shape (m,)
        The pair that each belongs to, ascending.
    source : tuple of str
        Where the score of each of the n pairs comes from.
    """

    directions: Floats
    pairs: list[tuple[str, str]]
    owner: Ints
    source: tuple[Source, ...]

    def combine(self, directions: Floats) -> Floats:
        """The directions of the n pairs, shape (n, 2), from the raw measure's, shape (m, 2).

        The directions of the best names.
        """
        result = self.directions.copy()
        if len(self.owner):
            order = np.lexsort((-mutual(directions), self.owner))
            first = np.concatenate([[True], np.diff(self.owner[order]) > 0])
            result[self.owner[order[first]]] = directions[order[first]]
        return result


class TerminologyMeasure(BothDirections):
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
        """The names of the raw measure and of the terminologies."""
        return self._name or f"{self.raw.name} with {', '.join(one.name for one in self.coder.terminologies)}"

    def over(self, raw: Measure) -> TerminologyMeasure:
        """The same terminologies, under the same name, over another raw measure."""
        return _made(raw, self.coder, self.name)

    def lenient(self) -> TerminologyMeasure:
        """The measure whose blocks have 1 where terminologies call one text more general.

        For policies by which that is the same.
        """
        copied = copy.copy(self)
        copied._lenient = True
        return copied

    @property
    def symmetric(self) -> bool:
        """Whether only the terminologies tell directions: the raw measure has none."""
        return not hasattr(self.raw, "entail_both")

    @cached_property
    def terminology_key(self) -> str:
        """Everything that the terminologies' part of a score depends on."""
        sources = [(one.name, one.sha256) for one in self.coder.terminologies]
        simplify = self.coder.simplify
        simplifier = "" if simplify is None else f"{simplify.__module__}.{getattr(simplify, '__qualname__', '')}"
        return hashlib.sha256(repr((sources, simplifier, MOST_NAMES, RULES)).encode()).hexdigest()[:16]

    def expand(self, pairs: Pairs) -> Expansion:
        """What the terminologies tell of the pairs, and which pairs the raw measure has to score."""
        texts, left, right = numbered_pairs(pairs)
        relations = Relations(self.coder, texts)
        known = relations.directions(left, right)
        known[left == right] = 1.0
        source: list[Source] = ["identical" if same else "terminology" for same in (left == right).tolist()]
        wanted: list[tuple[str, str]] = []
        owner: list[int] = []
        for place in np.flatnonzero(np.isnan(known[:, 0])).tolist():
            i, j = int(left[place]), int(right[place])
            own = [(texts[i], texts[j])]
            own += [(name, texts[j]) for name in relations.names(i, j)]
            own += [(texts[i], name) for name in relations.names(j, i)]
            source[place] = "measure" if len(own) == 1 else "names"
            wanted += own
            owner += [place] * len(own)
        return Expansion(known, wanted, np.array(owner, dtype=np.int64), tuple(source))

    def sources(self, pairs: Pairs) -> tuple[Source, ...]:
        """Where the score of each pair comes from."""
        return self.expand(pairs).source

    def entail_both(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2).

        Both are P(a ≡ b) where a measure without directions scored it.
        """
        expansion = self.expand(pairs)
        return expansion.combine(_directions(self.raw, expansion.pairs))

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


class _Indexed(TerminologyMeasure, IndexedTexts):
    def index(self, texts: Sequence[str]) -> TerminologyTextIndex:
        """An index of the texts."""
        return TerminologyTextIndex(self.raw, Relations(self.coder, texts), texts, lenient=self._lenient)


def _directions(raw: Any, pairs: Pairs) -> Floats:
    if hasattr(raw, "entail_both"):
        return np.asarray(raw.entail_both(pairs))
    return np.repeat(np.asarray(raw.score(pairs), dtype=np.float64)[:, None], 2, axis=1)


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
        As for :func:`softirr.meaning.terminology.load`.
    simplify : callable, optional
        Shorter forms of a text that is not known as it is, such as
        :func:`softirr.meaning.policy.simplified.simplifications`.
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
    kind = like(measure, TerminologyMeasure, {"entail_checked": _Checked, "index": _Indexed})
    result: TerminologyMeasure = kind(measure, coder, name)
    return result


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
    inner = terminology_measure_of(measure)
    if inner is None:
        return ()
    layers = list(layers_of(measure))
    decided = {pair for layer in layers for pair in layer.decided}
    keys = [tuple(sorted((normalize(a), normalize(b)))) for a, b in pairs]
    written = rewritten_pairs(layers, pairs)
    return tuple(
        "decision" if key in decided and source != "identical" else source
        for key, source in zip(keys, inner.sources(written), strict=True)
    )
