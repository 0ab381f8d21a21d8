"""The stages that know pairs of texts, and leave the remaining pairs to the measure: decisions and terminologies.

A reviewer decides pairs of texts. Terminologies look texts up. If they contain both texts, equivalence and direction
come from them: the same concept is 1, an ancestor is more general, other concepts differ. If they contain one text, the
measure also compares the other text with the names of its concept, and the best value counts. If they contain none, the
measure compares the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Bools, Floats, Ints, crossed, find_keys, mutual, numbered_pairs, pair_keys
from softirr.meaning.measures.lexical import Exact
from softirr.meaning.measures.protocols import Measure, Pairs
from softirr.meaning.measures.stages import AskPairs, PreparedStage, Stage
from softirr.meaning.terminology import opened_terminology
from softirr.meaning.terminology.concepts import Concept, NameLookup, Terminology
from softirr.provenance import Provenance, TerminologyUsed

Decided = Mapping[tuple[str, str], bool]
"""Whether two texts mean the same, by the sorted pair of normalized texts."""
MOST_NAMES = 8
"""Maximum number of names of a concept that the measure compares with a text that no terminology contains."""


class Decisions(Stage):
    """Pairs that a reviewer has decided are 1 or 0.

    The cache keeps the scores of the measure, so a decision needs no model run.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> measure("indel").with_stage(Decisions({("fever", "pyrexia"): True})).score([("pyrexia", "fever")]).tolist()
    [1.0]
    """

    rank = 0

    def __init__(self, decided: Decided) -> None:
        self.decided = decided

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> PreparedStage:
        """The decided pairs among the texts."""
        return _DecidedTexts(texts, self.decided)


class _DecidedTexts(PreparedStage):
    def __init__(self, texts: Sequence[str], decided: Decided) -> None:
        self.texts = texts
        numbers = {text: number for number, text in enumerate(texts)}
        self._n = max(len(numbers), 1)
        pairs = [(a, b) for a, b in decided if a != b and a in numbers and b in numbers]
        first, second = np.array([(numbers[a], numbers[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2).T
        keys = pair_keys(first, second, self._n)
        order = np.argsort(keys)
        self._keys = keys[order]
        self._values = np.array([decided[pair] for pair in pairs], dtype=np.float64)[order]

    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Ask about pairs that are not decided."""
        index, is_known = find_keys(self._keys, pair_keys(left_texts, right_texts, self._n))
        result = np.empty((len(left_texts), 2), dtype=np.float64)
        result[~is_known] = ask(left_texts[~is_known], right_texts[~is_known])
        result[is_known] = self._values[index[is_known]][:, None]
        return result


def decisions_of(measure: Measure) -> Decided:
    """The decided pairs of a measure."""
    stage = measure.stage(Decisions)
    return {} if stage is None else stage.decided


Source = Literal["decision", "identical", "terminology", "names", "measure"]
"""Origin of a score: a reviewer, identical texts, the terminologies, the measure on names of a concept or on texts."""


class Terminologies(Stage):
    """Texts are looked up in terminologies.

    Parameters
    ----------
    name : str, optional
        Name of the measure with this stage; by default made of the names of the measure and the terminologies.
    """

    rank = 4
    has_directions = True

    def __init__(self, lookup: NameLookup, name: str | None = None) -> None:
        self.lookup, self._name = lookup, name

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> _LookedUpTexts:
        """The concepts of the texts."""
        return _LookedUpTexts(self.lookup, texts)

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance with the terminologies, and their names in the measure's."""
        terminologies = tuple(
            TerminologyUsed(terms.name, terms.sha256, len(terms), sum(map(len, terms.names)))
            for terms in self.lookup.terminologies
        )
        name = self._name or f"{provenance.measure} with {', '.join(terms.name for terms in terminologies)}"
        return replace(provenance, measure=name, terminologies=terminologies)


class _LookedUpTexts(PreparedStage):
    """Texts by the concepts that they name.

    Texts that name the same concepts form a group. Two groups of one terminology differ unless they share a concept or
    one has an ancestor of the other. Such pairs of groups are few; their keys are sorted.
    """

    def __init__(self, lookup: NameLookup, texts: Sequence[str]) -> None:
        numbers: dict[tuple[Concept, ...], int] = {}
        concept_sets = map(lookup.find, texts)
        self._group = np.array(
            [numbers.setdefault(concepts, len(numbers)) if concepts else -1 for concepts in concept_sets],
            dtype=np.int64,
        )
        groups = list(numbers)
        self._n_groups = max(len(groups), 1)
        masks = [sum(1 << number for number in {number for number, _ in concepts}) for concepts in groups]
        self._mask = np.array([*masks, 0], dtype=np.int64)[self._group]  # terminologies that contain each text, as bits
        self._keys, self._values = _related_groups(lookup, groups)
        text_numbers = {text: number for number, text in enumerate(texts)}
        lists = [
            [text_numbers.setdefault(name, len(text_numbers)) for name in lookup.names(concepts, MOST_NAMES)]
            for concepts in groups
        ]
        self.texts = list(text_numbers)
        self._sizes = np.array([*map(len, lists), 0], dtype=np.int64)  # the last entry is for unknown texts
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._names = np.array([number for names in lists for number in names], dtype=np.int64)

    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Ask about pairs that the terminologies do not decide, and about names in place of a known text."""
        result = self._decided(left_texts, right_texts)
        open_pairs = np.flatnonzero(np.isnan(result[:, 0]))
        is_unshared = (self._mask[left_texts[open_pairs]] & self._mask[right_texts[open_pairs]]) == 0
        pairs = open_pairs[is_unshared]
        left_names, left_index = self._names_of(left_texts[pairs])
        right_names, right_index = self._names_of(right_texts[pairs])
        first = np.concatenate([left_texts[open_pairs], left_names, left_texts[pairs][right_index]])
        second = np.concatenate([right_texts[open_pairs], right_texts[pairs][left_index], right_names])
        owners = np.concatenate([open_pairs, pairs[left_index], pairs[right_index]])
        values = ask(first, second)
        order = np.lexsort((-mutual(values), owners))
        best = order[np.diff(owners[order], prepend=-1) > 0]
        result[owners[best]] = values[best]
        return result

    def sources(self, left_texts: Ints, right_texts: Ints) -> list[Source]:
        """Where the score of each pair comes from."""
        is_decided = ~np.isnan(self._decided(left_texts, right_texts)[:, 0])
        has_names = (self._mask[left_texts] & self._mask[right_texts]) == 0
        has_names &= (self._sizes[self._group[left_texts]] > 0) | (self._sizes[self._group[right_texts]] > 0)
        conditions = [left_texts == right_texts, is_decided, has_names]
        sources: list[Source] = np.select(conditions, ["identical", "terminology", "names"], "measure").tolist()
        return sources

    def _decided(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) by the terminologies, shape (n, 2); nan if they do not decide."""
        result = np.full((len(left_texts), 2), np.nan)
        is_shared: Bools = (self._mask[left_texts] & self._mask[right_texts]) > 0
        result[is_shared] = 0.0
        key = self._group[left_texts] * self._n_groups + self._group[right_texts]
        index, is_known = find_keys(self._keys, key)
        is_related = is_shared & is_known
        result[is_related] = self._values[index[is_related]]
        result[left_texts == right_texts] = 1.0
        return result

    def _names_of(self, texts: Ints) -> tuple[Ints, Ints]:
        """Numbers of the names of texts, and the index of the text that each belongs to."""
        group = self._group[texts]
        owner, _, within = crossed(np.ones_like(group), self._sizes[group])
        return self._names[self._starts[group][owner] + within], owner


def _related_groups(lookup: NameLookup, groups: Sequence[tuple[Concept, ...]]) -> tuple[Ints, Floats]:
    """Keys of pairs of groups with a common concept or an ancestor, and their directions.

    A shared concept makes two texts the same, and an ancestor is more general: nan if each has one of the other.
    """
    groups_of: dict[Concept, list[int]] = {}
    for group, concepts in enumerate(groups):
        for concept in concepts:
            groups_of.setdefault(concept, []).append(group)
    same = {(first, second) for members in groups_of.values() for first in members for second in members}
    below = {
        (group, wider)
        for concept, members in groups_of.items()
        for ancestor in lookup.ancestors(concept) & groups_of.keys()
        for group in members
        for wider in groups_of[ancestor]
    }
    above = {(second, first) for first, second in below}
    values = {pair: (float(pair in below), float(pair in above)) for pair in below ^ above}
    values |= dict.fromkeys(below & above, (np.nan, np.nan)) | dict.fromkeys(same, (1.0, 1.0))
    pairs = sorted(values)
    keys = np.array([first * len(groups) + second for first, second in pairs], dtype=np.int64)
    return keys, np.array([values[pair] for pair in pairs], dtype=np.float64).reshape(-1, 2)


def with_terminology(measure: Measure, terminologies: Sequence[Terminology], *, name: str | None = None) -> Measure:
    """The measure with terminologies in which texts are looked up first, after those that it has.

    Parameters
    ----------
    name : str, optional
        Name of the result.
    """
    present = measure.stage(Terminologies)
    earlier = () if present is None else present.lookup.terminologies
    return measure.with_stage(Terminologies(NameLookup([*earlier, *terminologies]), name))


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """The measure ``terminology:PATH``: the terminology, and exact match of texts that it does not contain.

    Raises
    ------
    InputError
        If the path is missing, the terminology can't be read, or there are options.
    """
    if model is None:
        raise InputError("The measure terminology needs a path: terminology:PATH.")
    if options:
        raise InputError(f"The measure {name} does not take these options: {', '.join(sorted(options))}.")
    return with_terminology(Exact(), [opened_terminology(model)], name=f"{name}:{model}")


def sources_of(measure: Measure, pairs: Pairs) -> tuple[Source, ...]:
    """Where the score of each pair comes from; empty if the measure has no terminologies."""
    if measure.stage(Terminologies) is None:
        return ()
    texts, left_texts, right_texts = numbered_pairs(pairs)
    a, b, decided = left_texts, right_texts, decisions_of(measure)
    *earlier, looked_up = measure.pipeline(texts).stages
    assert isinstance(looked_up, _LookedUpTexts), "terminologies have the last rank"
    for prepared in earlier:
        a, b = prepared.rewrite(a, b)
    return tuple(
        "decision" if source != "identical" and (texts[min(i, j)], texts[max(i, j)]) in decided else source
        for source, i, j in zip(looked_up.sources(a, b), left_texts.tolist(), right_texts.tolist(), strict=True)
    )
