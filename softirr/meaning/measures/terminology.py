"""The stage that looks texts up in terminologies, and leaves to the measure what these do not tell.

If terminologies know both texts, equivalence and direction come from them: the same concept is 1, an ancestor is more
general, other concepts differ. If they know one text, the measure compares the other one with all names of its concept,
too, and the best counts. If they know none, the measure compares the texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from softirr.errors import InputError
from softirr.meaning.measures.arrays import numbered_pairs
from softirr.meaning.measures.decisions import decisions_of
from softirr.meaning.measures.lexical import Exact
from softirr.meaning.measures.protocols import Measure, Pairs
from softirr.meaning.measures.stages import Stage
from softirr.meaning.measures.terminology_texts import TerminologyTexts
from softirr.meaning.terminology.coder import Coder, Simplify
from softirr.meaning.terminology.index import TerminologyIndex, open_index
from softirr.provenance import Provenance, TerminologyUsed

__all__ = ["Source", "Terminologies", "make", "sources_of", "terminologies_of", "with_terminology"]

Source = Literal["decision", "identical", "terminology", "names", "measure"]
"""Origin of a score: a reviewer, identical texts, the terminologies, or the measure on a concept's names or the texts."""


class Terminologies(Stage):
    """Texts are looked up in terminologies.

    Parameters
    ----------
    coder : Coder
    name : str, optional
        Name of the measure with this stage; by default made of the names of the measure and the terminologies.
    lenient : bool
        Whether blocks have 1 if the terminologies call one text more general, which is the same under some policies.
    """

    rank = 4
    has_directions = True

    def __init__(self, coder: Coder, name: str | None = None, *, lenient: bool = False) -> None:
        self.coder = coder
        self._name, self._lenient = name, lenient

    def as_lenient(self) -> Terminologies:
        """The stage for a policy by which a more general text is the same."""
        return Terminologies(self.coder, self._name, lenient=True)

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> TerminologyTexts:
        """The texts as the terminologies know them."""
        return TerminologyTexts(self.coder, texts, lenient=self._lenient)

    def name_with(self, name: str) -> str:
        """The names of the measure and of the terminologies."""
        return self._name or f"{name} with {', '.join(terminology.name for terminology in self.coder.terminologies)}"

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance with the terminologies."""
        used = tuple(
            TerminologyUsed(terminology.name, terminology.sha256, terminology.n_concepts, terminology.n_names)
            for terminology in self.coder.terminologies
        )
        return replace(provenance, terminologies=used)


def with_terminology(
    measure: Measure,
    terminologies: Sequence[str | os.PathLike[str] | TerminologyIndex],
    *,
    simplify: Simplify | None = None,
    name: str | None = None,
) -> Measure:
    """The measure with terminologies in which texts are looked up first.

    Parameters
    ----------
    measure : Measure
    terminologies : sequence of path or TerminologyIndex
        As for :func:`softirr.meaning.terminology.load`.
    simplify : callable, optional
        Returns shorter forms of a text that is not known as it is, such as
        :func:`softirr.meaning.policy.simplified.simplifications`.
    name : str, optional
        Name of the result.

    Raises
    ------
    InputError
        If there is no terminology, or one can't be read.
    """
    if not terminologies:
        raise InputError("A terminology is needed: name the path of one.")
    indexes = [
        index if isinstance(index, TerminologyIndex) else open_index(os.fspath(index)) for index in terminologies
    ]
    return measure.with_stage(Terminologies(Coder(indexes, simplify), name))


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """The measure ``terminology:PATH``: what a terminology tells, and exact match where it tells nothing.

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


def terminologies_of(measure: Measure) -> Terminologies | None:
    """The terminologies of a measure."""
    return next((stage for stage in measure.stages if isinstance(stage, Terminologies)), None)


def sources_of(measure: Measure, pairs: Pairs) -> tuple[Source, ...]:
    """Where the score of each pair comes from; empty if the measure has no terminologies."""
    if terminologies_of(measure) is None:
        return ()
    texts, left, right = numbered_pairs(pairs)
    result: list[Source] = ["measure"] * len(left)
    a, b = left, right
    for prepared in measure.pipeline(texts).stages:
        if isinstance(prepared, TerminologyTexts):
            result = list(prepared.sources(a, b))
        a, b = prepared.rewrite(a, b)
    decided = decisions_of(measure)
    for k, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if (texts[min(i, j)], texts[max(i, j)]) in decided and result[k] != "identical":
            result[k] = "decision"
    return tuple(result)
