"""Pairs of texts of different items that clustering compares: texts spelled alike, and texts that others link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from softirr.defaults import THRESHOLD
from softirr.meaning.policy.attributes import LONGEST
from softirr.statistics.matching.grouping import linked_groups

Pairs = NDArray[np.int64]

NEIGHBORS = 10
"""Texts that each text is compared with because they are spelled alike."""

ALIKE = 55.0
"""Lowest similarity of spelling, of 100, at which texts are compared."""

MOST_ALIKE = 20_000
"""Distinct texts, the most frequent ones, among which those spelled alike are looked for."""

MOST_BETWEEN = 20_000
"""Further pairs, between texts that other pairs link already."""

_COMPLETED = 60
"""Groups of linked texts with all of their pairs compared."""

_CUTS = (THRESHOLD, 0.6, 0.7, 0.8, 0.9, 0.95)

_BLOCK = 256


def pairs_spelled_alike(texts: Sequence[str], counts: Sequence[int]) -> Pairs:
    """Pairs of each text with those spelled most alike, among the most frequent texts.

    Parameters
    ----------
    counts : sequence of int
        How often each text occurs.

    Returns
    -------
    ndarray of int, shape (n, 2)
        Numbers of the texts, the smaller one first.
    """
    order = sorted(range(len(texts)), key=lambda text: (-counts[text], texts[text]))
    frequent = np.array(sorted(order[:MOST_ALIKE]), dtype=np.int64)
    if len(frequent) < 2:
        return np.zeros((0, 2), dtype=np.int64)
    blocks = list(_blocks([texts[text][:LONGEST].casefold() for text in frequent.tolist()]))
    pairs = frequent[np.concatenate(blocks)] if blocks else np.zeros((0, 2), dtype=np.int64)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _blocks(texts: Sequence[str]) -> Iterator[Pairs]:
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import cdist

    for start in range(0, len(texts), _BLOCK):
        rows = texts[start : start + _BLOCK]
        scores = cdist(rows, texts, scorer=token_sort_ratio, score_cutoff=ALIKE, dtype=np.float32)
        scores[np.arange(len(rows)), start + np.arange(len(rows))] = 0.0
        n_nearest = min(NEIGHBORS, len(texts) - 1)
        nearest = np.argpartition(-scores, n_nearest, axis=1)[:, :n_nearest]
        row, rank = np.nonzero(np.take_along_axis(scores, nearest, axis=1) > 0)
        yield np.stack([start + row, nearest[row, rank]], axis=1)


def pairs_between(n: int, pairs: Pairs, p: NDArray[np.float64]) -> Pairs:
    """Pairs that were not compared between texts that equivalent pairs link, up to ``MOST_BETWEEN``.

    Where very many texts are linked, those that only higher equivalences link are completed.

    Parameters
    ----------
    n : int
        Number of texts.
    pairs : ndarray of int, shape (k, 2)
        Pairs that were compared.
    p : ndarray, shape (k,)
        Equivalence of each.

    Returns
    -------
    ndarray of int, shape (m, 2)
        Numbers of the texts, the smaller one first.
    """
    new_pairs: list[Pairs] = []
    for group in linked_groups(n, pairs, p, cuts=_CUTS, largest=_COMPLETED):
        if 2 <= len(group) <= _COMPLETED:
            later, earlier = np.tril_indices(len(group), -1)
            texts = np.sort(group)
            new_pairs.append(np.stack([texts[earlier], texts[later]], axis=1))
    if not new_pairs:
        return np.zeros((0, 2), dtype=np.int64)
    between = np.concatenate(new_pairs)
    is_known = np.isin(between @ [n, 1], pairs @ [n, 1])
    return between[~is_known][:MOST_BETWEEN]
