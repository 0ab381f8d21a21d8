"""The cheap equivalence that assigns pairs to strata: one measure, or the mean of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures import Measure, measure
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.chance.equivalence import Equivalence
from softirr.statistics.matching.assignment import AnswerScorer

__all__ = ["LEXICAL", "MeanEquivalence", "sorting_equivalence"]

LEXICAL = "indel+jaccard"
"""Letters and words together correlate better with meaning than either alone, so fewer pairs have to be scored."""


@dataclass(frozen=True, eq=False)
class MeanEquivalence:
    """Mean of several equivalences."""

    members: tuple[Equivalence, ...]

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Mean equivalence of answer k[i] with answer l[i], shape (n,)."""
        return np.asarray(np.mean([member.score(k, l) for member in self.members], axis=0), dtype=np.float64)

    def block(self, ks: Ints, ls: Ints) -> NDArray[Any]:
        """Mean equivalence of each answer in ks with each in ls, shape (len(ks), len(ls))."""
        total = self.members[0].block(ks, ls)
        for member in self.members[1:]:
            total = total + member.block(ks, ls)
        return np.asarray(total / len(self.members))


def sorting_equivalence(
    table: AnnotationTable,
    name: str | Measure = LEXICAL,
    *,
    method: str = "optimal",
) -> Equivalence:
    """The equivalence of a table's answers, as they are written, under a cheap measure.

    No policy rewrites them: strata are valid whatever they are made of, and one sample then serves every policy, whose
    measure meets only the texts that it rewrites.

    Parameters
    ----------
    table : AnnotationTable
    name : str or Measure
        A measure that scores blocks (lexical or embedding), or its name; names joined by ``+`` are averaged.
    method : {"optimal", "greedy"}
        How sets are matched.

    Returns
    -------
    Equivalence

    Raises
    ------
    InputError
        If a measure is unknown, or too slow for all pairs.
    """
    measures = [measure(part) for part in name.split("+")] if isinstance(name, str) else [name]
    for one in measures:
        if not one.has_blocks:
            raise InputError(
                f"The measure {one.name} cannot sort pairs into strata, because it is too slow for all of them: "
                "take a lexical one or an embedding."
            )
    scorers = tuple(AnswerScorer(table, PairScorer(one, table.texts), method=method) for one in measures)
    return scorers[0] if len(scorers) == 1 else MeanEquivalence(scorers)
