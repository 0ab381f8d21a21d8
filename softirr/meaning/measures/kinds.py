"""Equivalence of the values of fields other than text: 1 minus an exact distance, without model, judgments or policy.

Distances are scaled to [0, 1] by the largest one between the values of items with two answers or more. Kappa and alpha
do not depend on the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from softirr.answers.kinds import TEXT, Kind, find_kind, steps
from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures.lexical import Exact, shared, sparse_table
from softirr.meaning.measures.protocols import IndexedMeasure, Measure, TextIndex
from softirr.provenance import Provenance

Scale = tuple[list[float], list[float]]
"""Numbers in ascending order, and the place of each on a line of length 1."""
_MOST_PLACES = 500
"""Maximum number of points of an ordinal scale; numbers between two points are interpolated."""


class KindMeasure(IndexedMeasure):
    """The exact measure of a field, fitted to the values of its table.

    Parameters
    ----------
    table : AnnotationTable
        Table of a kind other than text.
    scale : Scale, optional
        Scale of another table's measure, so that a part of a table is compared like the whole table.

    Examples
    --------
    >>> from softirr.answers.prepare import prepare_table
    >>> from softirr.answers.read_options import ReadOptions
    >>> from softirr.answers.table import Answer
    >>> rows = [("1", "ann", "1"), ("1", "bob", "2"), ("2", "ann", "5"), ("2", "bob", "5")]
    >>> rated = AnnotationTable.from_answers(Answer(*row) for row in rows)
    >>> table = prepare_table(rated, ReadOptions(kind="interval"))
    >>> KindMeasure(table).score([("1", "2"), ("1", "5"), ("2", "2")]).tolist()
    [0.9375, 0.0, 1.0]
    """

    def __init__(self, table: AnnotationTable, scale: Scale | None = None) -> None:
        self.kind: Kind = find_kind(table.kind)
        super().__init__(self.kind.name)
        self._family = self.name.partition(":")[0]
        # which texts are answers to items with two answers or more; all texts if no item has two
        compared = np.zeros(len(table.texts), dtype=np.bool_)
        for answer in np.unique(table.answer[Ratings.of(table).comparable]).tolist():
            compared[list(table.answers[answer])] = True
        self._compared = compared if compared.any() else np.ones_like(compared)
        self._places = self._find_places(table, scale)

    @property
    def scale(self) -> Scale | None:
        """Positions of the table's numbers on a line of length 1; None if they do not depend on other answers."""
        if self._places is None or self.kind.number is None or self.name == "ratio":
            return None
        # values of single answers are cut to the range, so they don't define it
        positions = zip(self._places.items(), self._compared, strict=True)
        points = sorted(
            {(self.kind.number(text), position) for (text, position), is_compared in positions if is_compared}
        )
        if self._family != "ordinal":
            points = [*points[:1], *points[1:][-1:]]
        points = [*points[:: 1 + len(points) // _MOST_PLACES], *points[-1:]]
        return [number for number, _ in points], [position for _, position in points]

    def index(self, texts: Sequence[str]) -> TextIndex:
        """The values of these texts."""
        if self._places is not None:
            return _Numbers(np.array([self._places[text] for text in texts], dtype=np.float64), self._family)
        indices: dict[str, Callable[[Sequence[str]], TextIndex]] = {"path": _Paths, "ranking": _Rankings}
        return indices.get(self._family, Exact().index)(texts)

    def _find_places(self, table: AnnotationTable, scale: Scale | None) -> dict[str, float] | None:
        """A number for each text, on a line of length 1 unless only ratios count."""
        if self.kind.number is None:
            return None
        values = np.array([self.kind.number(text) for text in table.texts], dtype=np.float64)
        half = values / 2  # the range of ±1e308 overflows, and so does a sum
        if scale is not None:
            numbers, positions = (np.array(coordinates, dtype=np.float64) for coordinates in scale)
            values = np.interp(half, numbers / 2, positions)
        elif self._family == "ratio":
            values = half
        elif len(values):
            half = _ordinal(table, values) / 2 if self._family == "ordinal" else half
            lowest, highest = half[self._compared].min(), half[self._compared].max()
            values = (np.clip(half, lowest, highest) - lowest) / ((highest - lowest) or 1.0)
        return dict(zip(table.texts, values.tolist(), strict=True))

    def describe(self) -> Provenance:
        """The name of the kind."""
        return Provenance(measure=self.raw_name, kind=self.raw_name)


def check_kind(table: AnnotationTable, measure: Measure) -> None:
    """Refuse choices, ratings, numbers and the like under a measure of texts, which would compare their letters.

    Raises
    ------
    InputError
    """
    if table.kind != TEXT and not isinstance(measure, KindMeasure):
        raise InputError(
            f"The table has values of the kind {table.kind}, which only softirr.agreement and softirr.item_agreement "
            f"compare; the measure {measure.name} compares texts."
        )


def _ordinal(table: AnnotationTable, values: Floats) -> Floats:
    """The place of each value among all answers; Krippendorff's ordinal difference is the squared distance of places.

    Between c and k lie Σ n_g - (n_c + n_k) / 2 answers, where n are the answers of items with two or more.
    """
    ratings = Ratings.of(table)
    rows = ratings.comparable
    n_given = sums(ratings.answer[rows], ratings.weight[ratings.item[rows]], ratings.n_answers)
    n = np.zeros(len(table.texts))
    for answer, times in zip(table.answers, n_given.tolist(), strict=True):
        n[list(answer)] += times
    distinct, rank = np.unique(values, return_inverse=True)
    counts = sums(rank, n, len(distinct))
    return np.asarray((np.cumsum(counts) - counts / 2)[rank])


class _Numbers(TextIndex):
    """Differences, squared or not (``linear``), or squared differences over sums (``ratio``)."""

    def __init__(self, values: Floats, kind: str) -> None:
        self._values, self._kind = values, kind

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        a, b = self._values[left_texts], self._values[right_texts]
        difference = a - b
        if self._kind == "ratio":
            total = a + b
            difference = np.divide(difference, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(1 - (np.abs(difference) if self._kind == "linear" else difference * difference))


class _Paths(TextIndex):
    """Common first levels over the levels of the deeper path."""

    def __init__(self, texts: Sequence[str]) -> None:
        paths = [steps(text) for text in texts]
        self._depth = np.array([len(path) for path in paths], dtype=np.int64)
        prefixes: dict[tuple[str, ...], int] = {}
        # a number for each path's first levels; levels that it lacks are unlike any
        self._first = np.full((len(paths), int(self._depth.max(initial=1))), -1, dtype=np.int64)
        for number, path in enumerate(paths):
            for depth in range(len(path)):
                self._first[number, depth] = prefixes.setdefault(path[: depth + 1], len(prefixes))

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        levels = (
            (self._first[left_texts, depth], self._first[right_texts, depth]) for depth in range(self._first.shape[1])
        )
        common = sum((a == b) & (a >= 0) for a, b in levels)
        return np.asarray(common / np.maximum(np.maximum(self._depth[left_texts], self._depth[right_texts]), 1))


class _Rankings(TextIndex):
    """(1 + Kendall's tau over all things of both rankings) / 2."""

    def __init__(self, texts: Sequence[str]) -> None:
        rankings = [dict.fromkeys(steps(text), 1.0) for text in texts]
        self._size = np.array([len(ranking) for ranking in rankings], dtype=np.int64)
        self._member = sparse_table(rankings)
        self._order = sparse_table(
            {
                (min(first, second), max(first, second)): 1.0 if first < second else -1.0
                for first, second in combinations(ranking, 2)
            }
            for ranking in rankings
        )

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        order, n_shared = shared(self._order, left_texts, right_texts), shared(self._member, left_texts, right_texts)
        union = self._size[left_texts] + self._size[right_texts] - n_shared
        pairs = union * (union - 1) / 2
        tau = np.divide(order, pairs, out=np.ones_like(order), where=pairs > 0)
        return np.asarray((1 + tau) / 2)
