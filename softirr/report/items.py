"""Agreement, matches and reasons of each item of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, item_means
from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.meaning.measures.pairs import PairScorer
from softirr.report.reasons import Explain, explain_items, open_pairs
from softirr.report.result_parts import ItemAgreement
from softirr.statistics.matching.consensus import MANY, Consensus, consensus

__all__ = ["item_agreements"]

_AT_ONCE = 1 << 20
_CERTAIN = 1e-12
_NOT_MATCHED = Consensus((), {}, ())


def item_agreements(
    table: AnnotationTable,
    scorer: PairScorer,
    ratings: Ratings,
    scores: Floats,
    assignment: str,
    *,
    expected: float | None = None,
    beyond: Floats | None = None,
    most_pairs: int | None = None,
    explain: Explain | None = None,
    matches: bool = True,
) -> tuple[ItemAgreement, ...]:
    """One entry per item of the table, answered or not.

    Parameters
    ----------
    scorer : PairScorer
        Scorer of the table's texts.
    ratings : Ratings
        Ratings of the table.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    assignment : {"optimal", "greedy"}
    expected : float, optional
        Expected agreement of Fleiss, for the kappa of each item.
    beyond : shape (P,), optional
        :func:`softirr.statistics.coefficients.distributions.beyond_chance` of each comparison, for the sigma of each item.
    most_pairs : int, optional
        Items with more pairs of raters list none of them, and no reasons.
    explain : callable, optional
        Gives the reasons of pairs that do not match; None finds none. Items of very many texts (``MANY``) get none.
    matches : bool
        Find matches and suggestions.
    """
    comparisons = ratings.comparisons
    rows = _bounds(ratings.item, len(table.items))
    pairs = _bounds(comparisons.item, len(table.items))
    rater = ratings.rater.tolist()
    answer = ratings.answer.tolist()
    means, sigmas = np.full(len(table.items), -1.0), np.full(len(table.items), -1.0)
    means[ratings.comparable_items] = item_means(ratings, scores)
    if beyond is not None:
        sigmas[ratings.comparable_items] = item_means(ratings, beyond)
    left_row, right_row, values = comparisons.left.tolist(), comparisons.right.tolist(), scores.tolist()
    compared = _TextScores(table, scorer, ratings) if matches or explain is not None else None
    result = []
    explained: list[dict[str, tuple[str, ...]]] = []
    for number, id in enumerate(table.items):
        texts_by_rater = {table.raters[rater[i]]: table.texts_of(answer[i]) for i in range(*rows[number])}
        matched = compared.consensus(texts_by_rater, assignment) if compared is not None and matches else _NOT_MATCHED
        first, last = pairs[number]
        listed = range(first, last if most_pairs is None or last - first <= most_pairs else first)
        item_pairs = tuple(
            (table.raters[rater[left_row[i]]], table.raters[rater[right_row[i]]], values[i]) for i in listed
        )
        mean = float(means[number]) if last > first else None
        kappa = None
        if mean is not None and expected is not None and expected < 1 - _CERTAIN:
            kappa = (mean - expected) / (1 - expected)
        sigma = float(sigmas[number]) if last > first and beyond is not None else None
        is_small = len(listed) == last - first and sum(map(len, texts_by_rater.values())) <= MANY
        explained.append(texts_by_rater if is_small else {})
        original_texts = {table.raters[rater[i]]: table.written[i] for i in range(*rows[number]) if table.was_split(i)}
        suggestion: tuple[str, ...] = matched.suggestion
        suggestion_parts: tuple[str, ...] = ()
        if table.split is not None and len(suggestion) > 1 and 2 * len(original_texts) >= len(texts_by_rater):
            suggestion, suggestion_parts = (table.split.join(suggestion),), suggestion
        result.append(
            ItemAgreement(
                id,
                mean,
                len(texts_by_rater),
                item_pairs,
                matched.matches,
                matched.unmatched,
                suggestion,
                kappa=kappa,
                sigma=sigma,
                written=original_texts,
                suggestion_parts=suggestion_parts,
            )
        )
    if explain is None or compared is None:
        return tuple(result)
    directions = compared.directions if scorer.directional else None
    unmatched = open_pairs(explained, compared.equal, THRESHOLD)
    reasons = explain_items(unmatched, compared.equal, directions, explain)
    return tuple(
        replace(item, reasons=item_reasons) if item_reasons else item
        for item, item_reasons in zip(result, reasons, strict=True)
    )


class _TextScores:
    """Equivalences, and directions if the measure has them, of the texts that different raters gave to one item."""

    def __init__(self, table: AnnotationTable, scorer: PairScorer, ratings: Ratings) -> None:
        self._number = {text: i for i, text in enumerate(table.texts)}
        self._size = max(len(table.texts), 1)
        self._keys = _met(table, ratings)
        low, high = np.divmod(self._keys, self._size)
        self._equivalence = scorer.score(low, high)
        self._entail = scorer.entail(low, high)

    def consensus(self, texts_by_rater: dict[str, tuple[str, ...]], assignment: str) -> Consensus:
        directions = self.directions if self._entail is not None else None
        return consensus(texts_by_rater, self.equal, directions, method=assignment)

    def _place(self, pairs: Sequence[tuple[str, str]]) -> tuple[Ints, Ints, Ints]:
        """Numbers of the first and the second texts, and where their pairs stand.

        -1 for two texts of one rater, which were not scored.
        """
        number = self._number
        flat = np.fromiter((number[text] for pair in pairs for text in pair), dtype=np.int64, count=2 * len(pairs))
        a, b = flat[::2], flat[1::2]
        key = np.minimum(a, b) * self._size + np.maximum(a, b)
        position = np.minimum(np.searchsorted(self._keys, key), max(len(self._keys) - 1, 0))
        is_known = self._keys[position] == key if len(self._keys) else np.zeros(len(key), dtype=bool)
        return a, b, np.where(is_known, position, -1)

    def equal(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """P(a ≡ b) of texts of different raters."""
        _, _, position = self._place(pairs)
        return np.where(position >= 0, self._equivalence[position], 0.0) if len(self._keys) else np.zeros(len(pairs))

    def directions(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """P(a ⇒ b) of texts of different raters."""
        assert self._entail is not None
        a, b, position = self._place(pairs)
        if not len(self._keys):
            return np.zeros(len(pairs))
        return np.where(position >= 0, self._entail[position, (a > b).astype(np.int64)], 0.0)


def _met(table: AnnotationTable, ratings: Ratings) -> Ints:
    """Every pair of texts that two raters gave to one item, once.

    Lower number times the number of texts, plus the higher; ascending.
    """
    comparisons, size = ratings.comparisons, np.int64(max(len(table.texts), 1))
    lengths = np.array([len(answer) for answer in table.answers], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    flat = np.fromiter(chain.from_iterable(table.answers), dtype=np.int64, count=int(lengths.sum()))
    k, l = ratings.answer[comparisons.left], ratings.answer[comparisons.right]  # noqa: E741
    area = lengths[k] * lengths[l]
    ends = np.cumsum(area)
    keys = [np.zeros(0, dtype=np.int64)]
    lo = 0
    while lo < len(area):
        done = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        chunk = slice(lo, hi)
        within = np.arange(int(area[chunk].sum())) - np.repeat(np.cumsum(area[chunk]) - area[chunk], area[chunk])
        per = np.repeat(np.maximum(lengths[l[chunk]], 1), area[chunk])
        a = flat[np.repeat(starts[k[chunk]], area[chunk]) + within // per]
        b = flat[np.repeat(starts[l[chunk]], area[chunk]) + within % per]
        keys.append(np.unique(np.minimum(a, b) * size + np.maximum(a, b)))
        lo = hi
    return np.unique(np.concatenate(keys))


def _bounds(sorted_codes: Ints, size: int) -> list[tuple[int, int]]:
    """Start and stop of each code's entries."""
    return list(pairwise(np.searchsorted(sorted_codes, np.arange(size + 1)).tolist()))
