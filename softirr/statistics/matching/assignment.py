"""Matching two sets of texts: the optimal and the greedy assignment, one pair at a time and in batches.

Notation follows Wullschleger, Kreis, Walter, Foster and Pouly, "Consensus Measures for Unstructured Biomedical Text
Annotations" (2026): ``a`` and ``b`` are two answers of ``m`` and ``n`` texts, ``weights[i, j]`` is P(a_i ≡ b_j), an
assignment is an injection of the smaller set into the larger one, and the equivalence of the sets is the sum over the
assigned pairs times ``2 / (m + n)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.answers.ratings import Floats, Ints
from softirr.errors import InputError
from softirr.statistics.matching.grouping import by_label

METHODS: tuple[str, ...] = ("optimal", "greedy")

# Above this many additions per pair of sets, scipy's solver (one Python call per pair) is faster.
_LARGEST_TABLE = 4_000
# With this many texts in the smaller set there are more.
_MOST_ROWS = 12
# Numbers held at once by one step of the batched kernel: 2 to 8 MB, so that a step fits into the processor's cache.
_STEP = 1 << 19
# Pairs of sets in a step up to which one look-up of all texts is faster than one for each two positions.
_FEW_SETS = 32
_CERTAIN = 1e-9


def optimal(weights: ArrayLike) -> tuple[Ints, Ints]:
    """Assignment with the largest sum of weights (Wullschleger et al. 2026).

    Parameters
    ----------
    weights : array_like, shape (m, n)
        Equivalence of each text of the first set (rows) with each of the second (columns).

    Returns
    -------
    rows, cols : ndarray of int64, shape (min(m, n),)
        The assigned pairs, rows ascending.
    """
    w = _matrix(weights)
    if len(w) == 1 and np.isfinite(w).all():  # the largest weight, the first of equal ones, without loading the solver
        return greedy(w)
    from scipy.optimize import linear_sum_assignment

    rows, cols = linear_sum_assignment(w, maximize=True)
    return rows.astype(np.int64), cols.astype(np.int64)


def greedy(weights: ArrayLike) -> tuple[Ints, Ints]:
    """Greedy assignment (Wullschleger et al. 2026).

    Each text of the first set, in order, takes the best unassigned text. Unlike the optimal assignment, it depends on
    the order of the rows and of the two sets.

    Parameters
    ----------
    weights : array_like, shape (m, n)

    Returns
    -------
    rows, cols : ndarray of int64, shape (min(m, n),)
    """
    cols = _greedy_columns(_matrix(weights)[:, :, None])[:, 0]
    return np.arange(len(cols), dtype=np.int64), cols


def batched_set_equivalence(
    weights: ArrayLike, sizes: ArrayLike, *, method: str = "optimal", sets: str = "dice"
) -> Floats:
    """Set equivalence of many pairs of sets at once.

    All pairs of small sets with the same shape are solved in one pass of a dynamic program over the subsets of the
    larger set, so that 100,000 small pairs take a few dozen array operations. Each pair of large sets takes one call of
    scipy's solver.

    Parameters
    ----------
    weights : array_like, shape (sum(m * n),)
        The concatenated weight matrices of the pairs, each in row-major order.
    sizes : array_like of int, shape (k, 2)
        ``m`` and ``n`` of each pair.
    method : {"optimal", "greedy"}
    sets : {"dice", "jaccard", "masi"}
        How the sum over the assignment is scaled: by ``2 / (m + n)``, to its share of the union, or by MASI (Passonneau
        2006).

    Returns
    -------
    ndarray of float64, shape (k,)

    Raises
    ------
    InputError
        If the number of weights does not match the sizes.
    """
    check_method(method)
    flat = np.asarray(weights).ravel()
    shape = np.asarray(sizes, dtype=np.int64).reshape(-1, 2)
    area = shape[:, 0] * shape[:, 1]
    if int(area.sum()) != flat.size:
        raise InputError(f"The sizes of the sets ask for {int(area.sum())} weights, but {flat.size} were given.")
    start = np.cumsum(area) - area
    out = np.empty(len(shape))
    shapes, back = np.unique(shape, axis=0, return_inverse=True)
    for (m, n), which in zip(shapes.tolist(), by_label(np.arange(len(shape)), back), strict=False):
        if m == 0 or n == 0:
            out[which] = 1.0 if m == n else 0.0
            continue
        step = max(1, _STEP // max(m * n, _cost(m, n)))
        for lo in range(0, len(which), step):
            batch = which[lo : lo + step]
            w = flat[start[batch] + np.arange(m * n)[:, None]].reshape(m, n, len(batch))
            out[batch] = _combined(_sums(w, method), m, n, sets)
    return out


def grid_set_equivalence(grid: NDArray[Any], row_members: Ints, col_members: Ints, *, method: str, sets: str) -> Floats:
    """Equivalence of each of r sets of m texts with each of c sets of n texts.

    Parameters
    ----------
    grid : shape (R, C)
        Weights of the texts of the rows with the texts of the columns.
    row_members, col_members : shape (r, m) and (c, n)
        The texts of each set, as rows and as columns of the grid.
    method, sets
        As for :func:`batched_set_equivalence`.

    Returns
    -------
    ndarray of float64, shape (r, c)
    """
    (r, m), (c, n) = row_members.shape, col_members.shape
    if m == 0 or n == 0:
        return np.full((r, c), 1.0 if m == n else 0.0)
    out = np.empty((r, c))
    step = max(1, _STEP // (c * max(m * n, _cost(m, n))))
    for lo in range(0, r, step):
        members = row_members[lo : lo + step]
        # (m, n, rows of the slice, columns): entry of the grid for each pair of members
        if len(members) * c < _FEW_SETS:
            w = grid[members.T[:, None, :, None], col_members.T[None, :, None, :]]
        else:
            w = np.empty((m, n, len(members), c), dtype=grid.dtype)
            for i in range(m):
                text_rows = grid[members[:, i]]
                for j in range(n):
                    # no other mode writes into w at once
                    np.take(text_rows, col_members[:, j], axis=1, out=w[i, j], mode="clip")
        sums = _sums(w.reshape(m, n, -1), method).reshape(w.shape[2:])
        out[lo : lo + step] = _combined(sums, m, n, sets)
    return out


def check_method(method: str) -> None:
    """Refuse an unknown assignment method.

    Raises
    ------
    InputError
        If it is neither ``optimal`` nor ``greedy``.
    """
    if method not in METHODS:
        raise InputError(f"The assignment is one of {', '.join(METHODS)}, not {method!r}.")


def _matrix(weights: ArrayLike) -> Floats:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 2:
        raise InputError(f"The weights of two sets are a matrix, not an array of {w.ndim} dimensions.")
    return w


def _sums(w: NDArray[Any], method: str) -> Floats:
    """Sum over the assignment of each weight matrix ``w[:, :, i]``; shape (m, n, k) -> (k,)."""
    if method == "greedy":
        cols = _greedy_columns(w)
        return w[np.arange(len(cols))[:, None], cols, np.arange(w.shape[2])].sum(axis=0, dtype=np.float64)
    if w.shape[0] > w.shape[1]:
        w = w.swapaxes(0, 1)
    if _cost(*w.shape[:2]) <= _LARGEST_TABLE:
        return _table_sums(w)
    from scipy.optimize import linear_sum_assignment

    out = np.empty(w.shape[2])
    for i in range(w.shape[2]):
        matrix = w[:, :, i]
        out[i] = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    return out


def _combined(sums: Floats, m: int, n: int, sets: str) -> Floats:
    """The equivalence of sets of m and n texts from the sum over their assignment."""
    if sets == "dice":
        return np.asarray(2.0 / (m + n) * sums)
    jaccard = sums / (m + n - sums)
    if sets == "jaccard":
        return np.asarray(jaccard)
    is_complete = sums >= min(m, n) - _CERTAIN
    contained = 1.0 if m == n else 2 / 3
    return np.asarray(jaccard * np.where(is_complete, contained, np.where(sums > _CERTAIN, 1 / 3, 0.0)))


def _greedy_columns(w: NDArray[Any]) -> Ints:
    """Column of each row of the smaller side in each weight matrix ``w[:, :, i]``, shape (min(m, n), k)."""
    free = np.array(w, dtype=np.float64)
    cols = np.empty((min(w.shape[:2]), w.shape[2]), dtype=np.int64)
    for i, row in enumerate(cols):
        row[:] = np.argmax(free[i], axis=0)
        free[:, row, np.arange(w.shape[2])] = -np.inf
    return cols


def _table_sums(w: NDArray[Any]) -> Floats:
    """Best sums by a dynamic program over subsets (needs m <= n).

    After row ``i``, it has the best sum for each set of ``i + 1`` used columns.
    """
    m, n, _ = w.shape
    best = w[0]  # one column in use: its own weight
    for i, (previous, column) in enumerate(_steps(m, n), start=1):
        best_sums = best[previous[:, 0]]
        best_sums += w[i, column[:, 0]]
        for t in range(1, previous.shape[1]):
            candidate = best[previous[:, t]]
            candidate += w[i, column[:, t]]
            np.maximum(best_sums, candidate, out=best_sums)
        best = best_sums
    return best.max(axis=0).astype(np.float64)


@lru_cache(maxsize=256)
def _steps(m: int, n: int) -> Sequence[tuple[Ints, Ints]]:
    """Lookup tables of rows 1 to m - 1 of the dynamic program.

    For each set of used columns: the position of the previous set among the smaller sets, and the row's column.
    """
    steps = []
    position = {subset: i for i, subset in enumerate(combinations(range(n), 1))}
    for size in range(2, m + 1):
        subsets = list(combinations(range(n), size))
        previous = np.array([[position[s[:t] + s[t + 1 :]] for t in range(size)] for s in subsets])
        steps.append((previous, np.array(subsets)))
        position = {subset: i for i, subset in enumerate(subsets)}
    return steps


def _cost(m: int, n: int) -> int:
    """Additions that the dynamic program needs for a pair of sets, `_LARGEST_TABLE` + 1 at most."""
    additions = sum(i * math.comb(max(m, n), i) for i in range(1, min(m, n, _MOST_ROWS) + 1))
    return min(additions, _LARGEST_TABLE + 1)
