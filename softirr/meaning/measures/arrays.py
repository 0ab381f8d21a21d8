"""Pairs of texts as arrays of numbers, and directions of entailment as arrays of shape (n, 2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.text import normalize

__all__ = ["Bools", "Floats", "Ints", "each_once", "mutual", "numbered_pairs", "stronger", "with_equivalence"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def numbered_pairs(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], Ints, Ints]:
    """Number the texts of pairs.

    Returns
    -------
    list of str
        The different texts, normalized and sorted.
    shape (n,), shape (n,)
        The numbers of the pairs' texts.

    Raises
    ------
    InputError
        If an entry is not a pair of two texts.
    """
    try:
        both = [(normalize(first), normalize(second)) for first, second in pairs]
    except (TypeError, ValueError, AttributeError):
        raise InputError(_not_a_pair(pairs)) from None
    texts = sorted({text for pair in both for text in pair})
    numbers = {text: number for number, text in enumerate(texts)}
    places = np.array([(numbers[first], numbers[second]) for first, second in both], dtype=np.int64)
    left, right = places.reshape(-1, 2).T
    return texts, left, right


def _not_a_pair(pairs: Any) -> str:
    bad = next((pair for pair in pairs if not _is_pair(pair)), pairs) if isinstance(pairs, Collection) else pairs
    return f"Pairs are of two texts each, but one is {bad!r:.60}."


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


def each_once(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """Pairs of different numbers, each once, in order.

    Returns
    -------
    shape (m,), shape (m,)
        The numbers of each different pair.
    shape (n,)
        The index of each pair among these; -1 for a number with itself.

    Examples
    --------
    >>> first, second, index = each_once(np.array([2, 1, 0, 2]), np.array([3, 1, 2, 3]))
    >>> first.tolist(), second.tolist(), index.tolist()
    ([0, 2], [2, 3], [1, -1, 0, 1])
    """
    size = max(int(first.max(initial=0)), int(second.max(initial=0))) + 1
    different = np.flatnonzero(first != second)
    keys, inverse = np.unique(first[different] * size + second[different], return_inverse=True)
    index = np.full(len(first), -1, dtype=np.int64)
    index[different] = inverse
    low, high = np.divmod(keys, size)
    return low, high, index


def mutual(directions: Floats) -> Floats:
    """Equivalence from both directions: sqrt(P(a ⇒ b) P(b ⇒ a)) (Wullschleger et al. 2026)."""
    return np.sqrt(directions[:, 0] * directions[:, 1])


def stronger(directions: Floats) -> Floats:
    """Equivalence if a text and a more general one mean the same: the larger of the two directions."""
    return np.asarray(directions.max(axis=1))


def with_equivalence(directions: Floats, equivalence: Floats) -> Floats:
    """Directions whose geometric mean is `equivalence`.

    The stronger direction stays, so that it still shows which text is more general, and the weaker one takes the
    change. Where the equivalence exceeds the stronger direction, both are set to it.

    Examples
    --------
    >>> with_equivalence(np.array([[0.9, 0.1]]), np.array([0.6])).round(2).tolist()
    [[0.9, 0.4]]
    """
    strong = np.maximum(directions.max(axis=1), equivalence)
    weak = np.divide(equivalence**2, strong, out=np.zeros_like(strong), where=strong > 0)
    is_first = directions[:, 0] >= directions[:, 1]
    return np.stack([np.where(is_first, strong, weak), np.where(is_first, weak, strong)], axis=1)
