"""Pairs of texts as arrays of numbers, and directions of entailment as arrays of shape (n, 2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.text import normalize

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def numbered_texts(texts: Iterable[str]) -> tuple[list[str], Ints]:
    """The different texts, normalized and sorted, and the number of each text among them, shape (n,)."""
    normalized = [normalize(text) for text in texts]
    different = sorted(set(normalized))
    numbers = {text: number for number, text in enumerate(different)}
    return different, np.array([numbers[text] for text in normalized], dtype=np.int64)


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
        texts, numbers = numbered_texts(text for first, second in pairs for text in (first, second))
    except (TypeError, ValueError, AttributeError):
        bad = next((pair for pair in pairs if not _is_pair(pair)), pairs) if isinstance(pairs, Collection) else pairs
        raise InputError(f"Pairs are of two texts each, but one is {bad!r:.60}.") from None
    return texts, numbers[::2], numbers[1::2]


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


def pair_keys(a: Ints, b: Ints, size: int) -> Ints:
    """A number for each unordered pair of numbers below `size`: ``divmod(key, size)`` is the pair, the lower first."""
    return np.asarray(np.minimum(a, b) * np.int64(size) + np.maximum(a, b))


def unique_pairs(left_texts: Ints, right_texts: Ints) -> tuple[Ints, Ints, Callable[[Floats], Floats]]:
    """Each unordered pair of different numbers once, and a function that gives the directions of all pairs.

    Parameters
    ----------
    left_texts, right_texts : shape (n,)
        Numbers of texts.

    Returns
    -------
    tuple of (shape (m,), shape (m,), callable)
        The smaller and the larger number of each pair, and a function that takes their directions, shape (m, 2), and
        returns the directions of all n pairs: 1 for a number with itself.

    Examples
    --------
    >>> low, high, restored = unique_pairs(np.array([1, 3, 3]), np.array([3, 1, 3]))
    >>> low.tolist(), high.tolist(), restored(np.array([[0.2, 0.8]])).tolist()
    ([1], [3], [[0.2, 0.8], [0.8, 0.2], [1.0, 1.0]])
    """
    different = np.flatnonzero(left_texts != right_texts)
    a, b = left_texts[different], right_texts[different]
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    keys, index = np.unique(pair_keys(a, b, size), return_inverse=True)

    def restored(directions: Floats) -> Floats:
        result = np.ones((len(left_texts), 2), dtype=np.float64)
        values = directions[index]
        result[different] = np.where((a > b)[:, None], values[:, ::-1], values)
        return result

    return *np.divmod(keys, size), restored


def crossed(m: Ints, n: Ints) -> tuple[Ints, Ints, Ints]:
    """Every member of a left set with every member of the right set, for many pairs of sets.

    Parameters
    ----------
    m, n : shape (k,)
        Sizes of the left and of the right sets.

    Returns
    -------
    three arrays of shape (sum(m * n),)
        The pair of sets, the member of the left set and the member of the right set; row by row for each pair of sets.
    """
    area = m * n
    owner = np.repeat(np.arange(len(m)), area)
    within = np.arange(int(area.sum())) - np.repeat(np.cumsum(area) - area, area)
    members = np.divmod(within, np.maximum(n, 1)[owner])
    return owner, *members


def find_keys(known_keys: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Index of each key among the known ones, which are sorted, and whether it is one of them.

    Examples
    --------
    >>> [found.tolist() for found in find_keys(np.array([2, 5]), np.array([5, 3]))]
    [[1, 1], [True, False]]
    """
    if not len(known_keys):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    index = np.minimum(np.searchsorted(known_keys, keys), len(known_keys) - 1)
    return index, known_keys[index] == keys


def mutual(directions: Floats) -> Floats:
    """Equivalence from both directions: sqrt(P(a ⇒ b) P(b ⇒ a)) (Wullschleger et al. 2026)."""
    return np.sqrt(directions[:, 0] * directions[:, 1])


def with_equivalence(directions: Floats, equivalence: Floats) -> Floats:
    """Directions with the geometric mean `equivalence`.

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
