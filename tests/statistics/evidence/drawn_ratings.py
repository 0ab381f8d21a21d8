"""Ratings with known concepts."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from softirr.answers.ratings import Ratings
from softirr.statistics.evidence.text_pairs import TextPairs

CONCEPTS = 7


def ratings_of(n_items, raters=3, *, seed=0, weights=False):
    """Ratings of single texts, some missing; text k names concept k % 7."""
    rng = np.random.default_rng(seed)
    cells = [(i, r) for i in range(n_items) for r in range(raters) if raters == 2 or rng.random() < 0.8]
    item, rater = np.array(cells).T
    answer = rng.integers(0, 5 * CONCEPTS, len(cells))
    item_weights = rng.choice([1.0, 2.0, 4.0], n_items) if weights else None
    return Ratings(item, rater, answer, n_items, raters, 5 * CONCEPTS, weights=item_weights)


def equal(left_texts, right_texts):
    return (left_texts % CONCEPTS == right_texts % CONCEPTS).astype(float)


def text_pairs(score=equal):
    n = 5 * CONCEPTS
    return lambda k, j: TextPairs.of(k, j, np.ones(n, dtype=np.int64), np.arange(n), score)


def cells_of(ratings):
    """Rows of the items that each pair of raters shares, by item."""
    row = {(i, r): k for k, (i, r) in enumerate(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True))}
    result = {}
    for r, s in combinations(range(ratings.n_raters), 2):
        items = [i for i in range(ratings.n_items) if (i, r) in row and (i, s) in row]
        if len(items) > 1:
            result[r, s] = {i: (row[i, r], row[i, s]) for i in items}
    return result
