"""The equivalence of the distinct answers of a table, which may be sets of texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.answers.kinds import find_kind
from softirr.answers.ratings import Floats, Ints, OrderedRatings, Ratings
from softirr.meaning.measures.arrays import crossed, mutual, pair_keys
from softirr.statistics.matching.assignment import batched_set_equivalence, check_method, grid_set_equivalence

if TYPE_CHECKING:
    from softirr.answers.table import AnnotationTable
    from softirr.meaning.measures.pairs import PairScorer

# Text pairs that are requested at once: enough to keep a model busy, few enough to bound the memory.
_ASKED_AT_ONCE = 1 << 18


class AnswerScorer:
    """Equivalence of the distinct answers of a table, which may be sets of texts.

    Parameters
    ----------
    scorer : PairScorer
        Over ``table.texts``, in that order.
    method : {"optimal", "greedy"}
        How two sets are matched.

    Attributes
    ----------
    sizes : shape (n_answers,)
        Number of texts of each distinct answer.
    texts : shape (sum of the sizes,)
        The texts of the answers, one after the other, as numbers.
    """

    def __init__(self, table: AnnotationTable, scorer: PairScorer, *, method: str = "optimal") -> None:
        check_method(method)
        self.table = table
        self.scorer = scorer
        self.method = method
        self.sets = find_kind(table.kind).sets
        self.single = table.is_single
        self.sizes = np.array([len(a) for a in table.answers], dtype=np.int64)
        self._starts = np.cumsum(self.sizes) - self.sizes
        self.texts = np.fromiter((t for a in table.answers for t in a), dtype=np.int64, count=int(self.sizes.sum()))

    @cached_property
    def ordered(self) -> OrderedRatings:
        """The ratings of the table in the order of its ids."""
        return OrderedRatings.of(self.table)

    def score(self, k: ArrayLike, l: ArrayLike) -> Floats:  # noqa: E741
        """Equivalence of answer ``k[i]`` with answer ``l[i]``.

        Parameters
        ----------
        k, l : array_like of int, shape (n,)
            Indices into ``table.answers``.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        left_answers, right_answers = np.asarray(k, dtype=np.int64), np.asarray(l, dtype=np.int64)
        if self.single:
            return mutual(self.scorer.directions(self.texts[left_answers], self.texts[right_answers]))
        # an answer is equivalent to itself under every measure
        differing = np.flatnonzero(left_answers != right_answers)
        key, back = np.unique(left_answers[differing] * len(self.sizes) + right_answers[differing], return_inverse=True)
        left_sets, right_sets = np.divmod(key, len(self.sizes))
        set_scores = np.empty(len(key))
        sizes = np.stack([self.sizes[left_sets], self.sizes[right_sets]], axis=1)
        for batch, left_texts, right_texts in self.text_pairs(left_sets, right_sets):
            weights = mutual(self.scorer.directions(left_texts, right_texts))
            set_scores[batch] = batched_set_equivalence(weights, sizes[batch], method=self.method, sets=self.sets)
        out = np.ones(len(left_answers))
        out[differing] = set_scores[back]
        return out

    def of_comparisons(self, ratings: Ratings) -> Floats:
        """Equivalence of the two answers of each comparison, shape (P,)."""
        comparisons = ratings.comparisons
        return self.score(ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows])

    def block(self, ks: ArrayLike, ls: ArrayLike) -> NDArray[Any]:
        """Equivalence of each answer in ``ks`` with each in ``ls``.

        All texts of the block are compared with each other once; the sets take their weights from that grid.

        Parameters
        ----------
        ks, ls : array_like of int, shape (r,) and (c,)

        Returns
        -------
        ndarray, shape (r, c)
            The dtype of the measure (float32) if every answer is one text, else float64.
        """
        rows, cols = np.asarray(ks, dtype=np.int64), np.asarray(ls, dtype=np.int64)
        if self.single:
            return np.asarray(self.scorer.block(self.texts[rows], self.texts[cols]))
        row_texts, row_sets = self._locate(rows)
        col_texts, col_sets = self._locate(cols)
        grid: NDArray[Any] = np.empty((0, 0))
        if len(row_texts) and len(col_texts):
            grid = np.asarray(self.scorer.block(row_texts, col_texts))
        out = np.empty((len(rows), len(cols)))
        settings = {"method": self.method, "sets": self.sets}
        for of_rows, row_members in row_sets:
            for of_cols, col_members in col_sets:
                out[np.ix_(of_rows, of_cols)] = grid_set_equivalence(grid, row_members, col_members, **settings)
        out[rows[:, None] == cols] = 1.0
        return out

    def text_pairs(self, left_answers: Ints, right_answers: Ints) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield the text pairs of some answer pairs, row by row for each answer pair, in batches of bounded size.

        Yields
        ------
        batch : slice
            The answer pairs of this batch.
        left_texts, right_texts : ndarray of int64
            Their text pairs.
        """
        left_sizes, right_sizes = self.sizes[left_answers], self.sizes[right_answers]
        left_starts, right_starts = self._starts[left_answers], self._starts[right_answers]
        ends = np.cumsum(left_sizes * right_sizes)
        start = 0
        while start < len(ends):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _ASKED_AT_ONCE, side="right")))
            batch = slice(start, stop)
            owner, row, column = crossed(left_sizes[batch], right_sizes[batch])
            yield batch, self.texts[left_starts[batch][owner] + row], self.texts[right_starts[batch][owner] + column]
            start = stop

    def text_pairs_of_items(self, ratings: Ratings) -> tuple[Ints, Ints]:
        """Return each pair of texts that two raters gave to one item once, also of a text with itself, in order.

        Returns
        -------
        shape (n,), shape (n,)
            The lower and the higher number of each pair.
        """
        comparisons, size = ratings.comparisons, max(len(self.table.texts), 1)
        answers = ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows]
        keys = [np.unique(pair_keys(a, b, size)) for _, a, b in self.text_pairs(*answers)]
        return np.divmod(np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *keys])), size)

    def _locate(self, answers: Ints) -> tuple[Ints, list[tuple[Ints, Ints]]]:
        """Distinct texts of some answers; for each answer size, the answers and the positions of their texts."""
        size = self.sizes[answers]
        of_size = [(int(m), np.flatnonzero(size == m)) for m in np.unique(size)]
        members = [self.texts[self._starts[answers[which]][:, None] + np.arange(m)] for m, which in of_size]
        texts = np.unique(np.concatenate([x.ravel() for x in members])) if members else np.array([], dtype=np.int64)
        return texts, [(which, np.searchsorted(texts, x)) for (_, which), x in zip(of_size, members, strict=True)]
