"""The pairs of texts that could match in pairs of answers, and those whose truth is known without a judgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums

__all__ = ["TextPairs", "count_once"]


def count_once(owner: Ints, left: Ints, right: Ints, same: Floats) -> Floats:
    """T of pairs of texts, 0 where one of the two texts is in a pair of the same two answers that counts already.

    Parameters
    ----------
    owner : shape (E,)
        Pair of answers that each pair of texts belongs to.
    left, right : shape (E,)
        The texts as numbers.
    same : shape (E,)

    Returns
    -------
    shape (E,)

    Examples
    --------
    >>> zero = np.zeros(3, dtype=np.int64)
    >>> count_once(zero, np.array([1, 2, 3]), np.array([5, 5, 6]), np.ones(3)).tolist()
    [1.0, 0.0, 1.0]
    """
    held = np.flatnonzero(same > 0)
    if not len(held):
        return same
    rows, cols = (owner[held] * (texts.max() + 1) + texts for texts in (left[held], right[held]))
    twice = np.zeros(len(held), dtype=bool)
    for texts in (rows, cols):
        _, at, times = np.unique(texts, return_inverse=True, return_counts=True)
        twice |= times[at] > 1
    result = same.copy()
    row_used: set[int] = set()
    col_used: set[int] = set()
    several = np.flatnonzero(twice)
    for place in several[np.argsort(-same[held[several]], kind="stable")].tolist():
        if int(rows[place]) in row_used or int(cols[place]) in col_used:
            result[held[place]] = 0.0
        else:
            row_used.add(int(rows[place]))
            col_used.add(int(cols[place]))
    return result


@dataclass(frozen=True, eq=False)
class TextPairs:
    """The E pairs of texts that could match in M pairs of answers.

    The true equivalence of pair i of answers is ``known[i]`` plus the sum of ``share`` over its pairs of equivalent
    texts.

    Attributes
    ----------
    known : shape (M,)
        Equivalence that needs no judgment: from texts that occur in both answers or are known to mean the same, and of
        two empty answers.
    settled : shape (M,)
        Number of pairs of different texts that a terminology or a reviewer decided.
    owner : shape (E,)
        Pair of answers that each pair of texts belongs to.
    left, right : shape (E,)
        The texts as numbers; equal numbers mean equal texts.
    share : shape (E,)
        2 / (m + n) for answers of m and n texts.
    p : shape (E,)
        The measure's P.
    """

    known: Floats
    settled: Floats
    owner: Ints
    left: Ints
    right: Ints
    share: Floats
    p: Floats

    @classmethod
    def of(
        cls,
        first: Ints,
        second: Ints,
        sizes: Ints,
        texts: Ints,
        score: Callable[[Ints, Ints], Floats],
        truth: Callable[[Ints, Ints], Floats] | None = None,
    ) -> TextPairs:
        """Make all pairs of texts of pairs of answers whose equivalence is not known.

        Texts that occur in both answers match each other, and so do texts that are known to mean the same: no pair with
        one of them is left.

        Parameters
        ----------
        first, second : shape (M,)
            Answers.
        sizes : shape (V,)
            Number of texts of each answer.
        texts : shape (sum of sizes,)
            The concatenated texts of the answers.
        score : callable
            The measure's P of texts left[i] and right[i].
        truth : callable, optional
            1 or 0 where it is known whether texts left[i] and right[i] mean the same, else nan.
        """
        start = np.cumsum(sizes) - sizes
        m, n = sizes[first], sizes[second]
        area = m * n
        owner = np.repeat(np.arange(len(first)), area)
        within = np.arange(int(area.sum())) - np.repeat(np.cumsum(area) - area, area)
        row, col = within // np.maximum(n[owner], 1), within % np.maximum(n[owner], 1)
        left, right = texts[start[first[owner]] + row], texts[start[second[owner]] + col]
        identical = left == right
        if truth is not None and len(left):
            known_value = truth(left, right)
            different = known_value == 0
            settled = sums(owner, ((left != right) & ~np.isnan(known_value)).astype(np.float64), len(first))
            identical |= known_value == 1
        else:
            settled, different = np.zeros(len(first)), np.zeros(len(left), dtype=bool)
        row_at, col_at = (np.cumsum(m) - m)[owner] + row, (np.cumsum(n) - n)[owner] + col
        row_taken, col_taken = np.zeros(int(m.sum()), dtype=bool), np.zeros(int(n.sum()), dtype=bool)
        row_taken[row_at[identical]] = True
        col_taken[col_at[identical]] = True
        once = identical.astype(np.float64)
        if truth is not None:  # a terminology may know two texts of one answer as the same
            once = count_once(owner, row_at, col_at, once)
        both = sums(owner, once, len(first))
        known = np.where(m + n > 0, 2 * both / np.maximum(m + n, 1), 1.0)
        kept = ~row_taken[row_at] & ~col_taken[col_at] & ~different
        owner, left, right = owner[kept], left[kept], right[kept]
        share = 2 / (m + n)[owner] if len(owner) else np.zeros(0)
        p = np.asarray(score(left, right), dtype=np.float64) if len(owner) else np.zeros(0)
        return cls(known, settled, owner, left, right, share, p)

    def weights(self, of_answers: Floats) -> Floats:
        """Weight of each pair of texts in a weighted sum over pairs of answers, shape (E,)."""
        return np.asarray(of_answers[self.owner] * self.share)

    def part(self, kept: Ints) -> tuple[TextPairs, Ints]:
        """The pairs of texts of some pairs of answers, in their new order, and their places among the E."""
        place = np.full(len(self.known), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        texts = np.flatnonzero(place[self.owner] >= 0)
        of = (self.left[texts], self.right[texts], self.share[texts], self.p[texts])
        return TextPairs(self.known[kept], self.settled[kept], place[self.owner[texts]], *of), texts

    def equivalence(self, of_texts: Floats) -> Floats:
        """Equivalence of the pairs of answers, from the equivalence of the pairs of texts, shape (M,)."""
        return np.asarray(np.clip(self.known + sums(self.owner, self.share * of_texts, len(self.known)), 0, 1))
