"""Texts as people wrote them, with the concept ids that human coders gave them, and projects drawn from them.

A file contains ``text, concept, source_id, n`` with a header line (gzip TSV). A third of the concepts, chosen by hash,
is set aside: nothing is fitted to it or tuned on it, and results on it are reported apart.

A project of two raters: both raters describe the same thing, so they name the same concept with the probability
``share``. Otherwise the second rater names another concept, a random one or one with a similar wording. Each rater
draws one of the concept's texts.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from softirr.errors import InputError
from softirr.text import normalize

ASIDE = 3
"""One of this number of concepts is set aside."""
Subset = Literal["visible", "aside", "all"]
Negatives = Literal["random", "similar"]
NEGATIVES: tuple[Negatives, ...] = ("random", "similar")
CONTEXT_IS_PREFIX = frozenset({"craft"})
"""Sets in which both raters stay inside one vocabulary: the part of the source before its first slash."""
CONTEXT_IS_SOURCE = frozenset({"intents", "icu_labels", "keypoints", "xlbel"})
"""Sets in which both raters stay inside one source."""
_NEAREST = 10
_LONGEST = 400


def is_aside(concept: str) -> bool:
    """Whether a concept belongs to the third that is set aside."""
    return int(hashlib.sha256(concept.encode()).hexdigest()[:8], 16) % ASIDE == 0


@dataclass(frozen=True)
class Project:
    """A simulated project: what two raters wrote about each item, and which concepts they meant.

    Attributes
    ----------
    texts, concepts : tuple of (str, str)
        One pair for each item.
    """

    texts: tuple[tuple[str, str], ...]
    concepts: tuple[tuple[str, str], ...]

    def identity(self) -> dict[str, frozenset[str]]:
        """The concepts of each text, by its normalized form."""
        rows = zip(self.texts, self.concepts, strict=True)
        return concepts_of_texts(pair for texts, codes in rows for pair in zip(texts, codes, strict=True))


def concepts_of_texts(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """The concepts of each normalized text."""
    concepts: dict[str, set[str]] = {}
    for text, concept in pairs:
        concepts.setdefault(normalize(text), set()).add(concept)
    return {text: frozenset(concepts_of_text) for text, concepts_of_text in concepts.items()}


@dataclass(frozen=True, eq=False)
class Wording:
    """The texts of one set, without those that carry two or more concepts.

    Attributes
    ----------
    texts : dict of str to dict of str to tuple of str
        Context to concept to its distinct texts. Two raters of an item stay inside one context.
    """

    name: str
    texts: dict[str, dict[str, tuple[str, ...]]]

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(context, concept) of every concept with two texts or more."""
        return tuple(
            (context, concept)
            for context, concepts in self.texts.items()
            for concept, texts in concepts.items()
            if len(texts) > 1
        )

    def project(self, n_items: int, share: float, negatives: Negatives, seed: int, *, skewed: bool = False) -> Project:
        """Draw a project.

        Parameters
        ----------
        share : float
            Probability that both raters name the same concept.
        negatives : {"random", "similar"}
            Which other concept the second rater names: any of the same context, or one of the ten with the most similar
            text (Indel).
        skewed : bool
            Whether few concepts are frequent (Zipf's law), so that agreement by chance is high; else every concept is
            as frequent.
        """
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.pairs))
        if skewed:
            frequency = 1 / np.arange(1, len(order) + 1)
            order = rng.choice(order, n_items, p=frequency / frequency.sum())
        texts, concepts = [], []
        for index in range(n_items):
            context, concept = self.pairs[int(order[index % len(order)])]
            wordings = self.texts[context][concept]
            first = wordings[int(rng.integers(len(wordings)))]
            if rng.random() < share:
                candidates = [text for text in wordings if text != first] or list(wordings)
                # sometimes both use the same words, as people do
                second = (
                    first if rng.random() < 1 / (2 * len(wordings)) else candidates[int(rng.integers(len(candidates)))]
                )
                second_concept = concept
            else:
                second_concept = self._other(context, concept, first, negatives, rng)
                names = self.texts[context][second_concept]
                second = names[int(rng.integers(len(names)))]
            texts.append((first, second))
            concepts.append((concept, second_concept))
        return Project(tuple(texts), tuple(concepts))

    def _other(self, context: str, concept: str, text: str, negatives: Negatives, rng: np.random.Generator) -> str:
        names = tuple(self.texts[context])
        if negatives == "random":
            while (second_concept := names[int(rng.integers(len(names)))]) == concept:
                pass
            return second_concept
        from rapidfuzz import process
        from rapidfuzz.distance import Indel

        wordings, owner = self._flat[context]
        limit = _NEAREST + len(self.texts[context][concept])
        nearest = process.extract(text, wordings, scorer=Indel.normalized_similarity, limit=limit, processor=None)
        candidates = list(dict.fromkeys(owner[index] for _, _, index in nearest if owner[index] != concept))[:_NEAREST]
        return (
            candidates[int(rng.integers(len(candidates)))]
            if candidates
            else self._other(context, concept, text, "random", rng)
        )

    @cached_property
    def _flat(self) -> dict[str, tuple[list[str], list[str]]]:
        result = {}
        for context, concepts in self.texts.items():
            rows = [(text, concept) for concept, texts in concepts.items() for text in texts]
            result[context] = [text for text, _ in rows], [concept for _, concept in rows]
        return result


def read_wording(path: str | Path, *, subset: Subset = "visible") -> Wording:
    """Read one set of texts.

    Parameters
    ----------
    path : path
        ``NAME.tsv.gz``; the set is called NAME.
    subset : {"visible", "aside", "all"}
        The two thirds of the concepts that may be learnt from, the third that is set aside, or both.

    Raises
    ------
    InputError
        If the file has other columns or no concept with two texts.
    """
    name = Path(path).name.removesuffix(".tsv.gz")
    owners: dict[tuple[str, str], set[str]] = {}
    for row in coded_rows(path):
        owners.setdefault((row.context, row.text), set()).add(row.concept)
    result: dict[str, dict[str, list[str]]] = {}
    spellings: set[tuple[str, str]] = set()
    for (context, text), concepts in owners.items():
        (concept, *further_concepts) = concepts
        folded = text.casefold()
        if further_concepts or (concept, folded) in spellings or len(text) > _LONGEST:
            continue
        if subset != "all" and is_aside(concept) != (subset == "aside"):
            continue
        spellings.add((concept, folded))
        result.setdefault(context, {}).setdefault(concept, []).append(text)
    texts = {
        context: {concept: tuple(wordings) for concept, wordings in concepts.items()}
        for context, concepts in result.items()
        if len(concepts) > 1
    }
    wording = Wording(name, texts)
    if not wording.pairs:
        raise InputError(f"{path}: no concept has two texts, so no project can be drawn from it.")
    return wording


class CodedText(NamedTuple):
    """A line of a file: what both raters of an item share, the concept that a coder gave, the text, and its place."""

    context: str
    concept: str
    text: str
    source: str


def coded_rows(path: str | Path) -> Iterator[CodedText]:
    """The lines of a file.

    Parameters
    ----------
    path : path
        ``NAME.tsv.gz``; the set is called NAME.

    Yields
    ------
    CodedText
        The text is normalized.

    Raises
    ------
    InputError
        If the file has other columns.
    """
    name = Path(path).name.removesuffix(".tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"text", "concept", "source_id"} <= set(reader.fieldnames or ()):
            raise InputError(f"{path}: the columns are not text, concept, source_id and n.")
        for row in reader:
            source = row["source_id"] or ""
            if name in CONTEXT_IS_PREFIX:
                context = source.partition("/")[0]
            else:
                context = source if name in CONTEXT_IS_SOURCE else ""
            yield CodedText(context, row["concept"], normalize(row["text"]), source)
