"""Reference values for measures: coefficients on concept codes, by equality or overlap of sets of codes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.chance.exact import exact
from softirr.coefficients.registry import coefficient_keys
from softirr.coefficients.summary import Summary, summarize
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.tables.table import AnnotationTable

Overlap = Literal["jaccard", "dice", "equal"]


class SetOverlap:
    """Equivalence of answers as sets of codes; what :mod:`softirr.chance.exact` takes.

    Parameters
    ----------
    table : AnnotationTable
        Whose texts are codes.
    overlap : {"jaccard", "dice", "equal"}
        |A ∩ B| / |A ∪ B| (the truth in Wullschleger et al. 2026), 2 |A ∩ B| / (|A| + |B|) (what the set equivalence of a perfect measure gives), or whether the
        sets are equal. For sets of one all three are equality. Two empty sets are equal.
    """

    def __init__(self, table: AnnotationTable, overlap: Overlap = "jaccard") -> None:
        from scipy.sparse import csr_matrix

        lengths = np.array([len(answer) for answer in table.answers], dtype=np.int64)
        codes = np.array([code for answer in table.answers for code in answer], dtype=np.int64)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        self._members = csr_matrix((np.ones(len(codes)), (rows, codes)), shape=(len(lengths), max(len(table.texts), 1)))
        self._size = lengths.astype(np.float64)
        self._overlap = overlap

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence of answer k[i] with answer l[i], shape (n,)."""
        common = np.asarray(self._members[k].multiply(self._members[l]).sum(axis=1), dtype=np.float64).ravel()
        return self._value(common, self._size[k], self._size[l])

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls))."""
        common = (self._members[ks] @ self._members[ls].T).toarray()
        return self._value(common, self._size[ks][:, None], self._size[ls][None, :])

    def _value(self, common: Floats, m: Floats, n: Floats) -> Floats:
        total = m + n
        both_empty = total == 0
        if self._overlap == "dice":
            value = 2 * common / np.where(both_empty, 1, total)
        else:
            value = common / np.where(both_empty, 1, total - common)
        if self._overlap == "equal":
            value = (value == 1).astype(np.float64)
        return np.asarray(np.where(both_empty, 1.0, value))


def gold_summary(table: AnnotationTable, overlap: Overlap = "jaccard") -> Summary:
    """Every coefficient of a table of codes, chance computed exactly."""
    ratings = Ratings.of(table)
    equivalence = SetOverlap(table, overlap)
    comparisons = ratings.comparisons
    scores = equivalence.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])
    chance = exact(ratings, equivalence, scores) if len(comparisons.left) else None
    return summarize(ratings, scores, chance)


def values(summary: Summary) -> dict[str, float | None]:
    """Value of each coefficient; None where it is not defined."""
    return {name: summary.coefficients[name].value for name in coefficient_keys(shown=True)}


def jaccard(a: NDArray[np.str_] | tuple[str, ...], b: NDArray[np.str_] | tuple[str, ...]) -> float:
    """Jaccard coefficient of two sets of codes; 1 for two empty ones."""
    first, second = set(a), set(b)
    union = first | second
    return len(first & second) / len(union) if union else 1.0
