"""The pairs of texts that could match in pairs of answers, and those with a truth known without a judgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums
from softirr.meaning.measures.arrays import crossed


def count_once(owner: Ints, left_texts: Ints, right_texts: Ints, same: Floats) -> Floats:
    """T of pairs of texts; 0 if one of the two texts is already in a pair of the same two answers that counts.

    Parameters
    ----------
    owner : shape (E,)
        Pair of answers that each pair of texts belongs to.
    left_texts, right_texts : shape (E,)
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
    same_pairs = np.flatnonzero(same > 0)
    if not len(same_pairs):
        return same
    rows, cols = (
        owner[same_pairs] * (texts.max() + 1) + texts for texts in (left_texts[same_pairs], right_texts[same_pairs])
    )
    twice = np.zeros(len(same_pairs), dtype=bool)
    for texts in (rows, cols):
        _, text_index, times = np.unique(texts, return_inverse=True, return_counts=True)
        twice |= times[text_index] > 1
    result = same.copy()
    row_used: set[int] = set()
    col_used: set[int] = set()
    repeated = np.flatnonzero(twice)
    for index in repeated[np.argsort(-same[same_pairs[repeated]], kind="stable")].tolist():
        if int(rows[index]) in row_used or int(cols[index]) in col_used:
            result[same_pairs[index]] = 0.0
        else:
            row_used.add(int(rows[index]))
            col_used.add(int(cols[index]))
    return result


@dataclass(frozen=True, eq=False)
class TextPairs:
    """The E pairs of texts that could match in M pairs of answers.

    The true equivalence of pair i of answers is ``known_equivalence[i]`` plus the sum of ``share`` over its pairs of
    equivalent texts.

    Attributes
    ----------
    known_equivalence : shape (M,)
        Equivalence that needs no judgment: from texts that occur in both answers or are known to mean the same, and of
        two empty answers.
    owner : shape (E,)
        Pair of answers that each pair of texts belongs to.
    left_texts, right_texts : shape (E,)
        The texts as numbers; equal numbers mean equal texts.
    share : shape (E,)
        2 / (m + n) for answers of m and n texts.
    p : shape (E,)
        The measure's P.
    """

    known_equivalence: Floats
    owner: Ints
    left_texts: Ints
    right_texts: Ints
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
        """Make all pairs of texts with an unknown truth, for some pairs of answers.

        Texts that occur in both answers match each other, and so do texts that are known to mean the same. Pairs with
        one of them are excluded.

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
            For texts left[i] and right[i]: 1 or 0 if they are known to mean the same or not, nan if unknown.
        """
        start = np.cumsum(sizes) - sizes
        m, n = sizes[first], sizes[second]
        owner, row, col = crossed(m, n)
        left_texts, right_texts = texts[start[first[owner]] + row], texts[start[second[owner]] + col]
        known_value = np.full(len(owner), np.nan) if truth is None else truth(left_texts, right_texts)
        identical = (left_texts == right_texts) | (known_value == 1)
        row_at, col_at = (np.cumsum(m) - m)[owner] + row, (np.cumsum(n) - n)[owner] + col
        row_taken, col_taken = np.zeros(int(m.sum()), dtype=bool), np.zeros(int(n.sum()), dtype=bool)
        row_taken[row_at[identical]] = True
        col_taken[col_at[identical]] = True
        matched = identical.astype(np.float64)
        if truth is not None:  # a terminology may know two texts of one answer as the same
            matched = count_once(owner, row_at, col_at, matched)
        n_matched = sums(owner, matched, len(first))
        known_equivalence = np.where(m + n > 0, 2 * n_matched / np.maximum(m + n, 1), 1.0)
        is_open = ~row_taken[row_at] & ~col_taken[col_at] & (known_value != 0)
        owner, left_texts, right_texts = owner[is_open], left_texts[is_open], right_texts[is_open]
        share = 2 / (m + n)[owner] if len(owner) else np.zeros(0)
        p = np.asarray(score(left_texts, right_texts), dtype=np.float64) if len(owner) else np.zeros(0)
        return cls(known_equivalence, owner, left_texts, right_texts, share, p)

    def weights(self, of_answers: Floats) -> Floats:
        """Weight of each pair of texts in a weighted sum over pairs of answers, shape (E,)."""
        return np.asarray(of_answers[self.owner] * self.share)

    def part(self, members: Ints) -> tuple[TextPairs, Ints]:
        """The pairs of texts of some pairs of answers, in their new order, and their indices among the E."""
        new_index = np.full(len(self.known_equivalence), -1, dtype=np.int64)
        new_index[members] = np.arange(len(members))
        texts = np.flatnonzero(new_index[self.owner] >= 0)
        columns = (self.left_texts[texts], self.right_texts[texts], self.share[texts], self.p[texts])
        owner = new_index[self.owner[texts]]
        return TextPairs(self.known_equivalence[members], owner, *columns), texts

    def equivalence(self, of_texts: Floats) -> Floats:
        """Equivalence of the pairs of answers, from the equivalence of the pairs of texts, shape (M,)."""
        of_open = sums(self.owner, self.share * of_texts, len(self.known_equivalence))
        return np.asarray(np.clip(self.known_equivalence + of_open, 0, 1))
