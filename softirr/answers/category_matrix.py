"""Matrices of category numbers as users pass them: lists, arrays with or without a mask, and data frames."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Ratings
from softirr.answers.rows import is_missing
from softirr.errors import InputError
from softirr.text import shortened

_EXACT_FLOAT = 2**53
"""Larger floats do not distinguish neighboring whole numbers."""


def matrix_ratings(matrix: Any, *, renumber: bool = False) -> Ratings:
    """Return the ratings in a matrix.

    Parameters
    ----------
    matrix : array_like, shape (n_items, n_raters)
        Whole numbers from 0, also as floats or truth values. None, NaN, ``pandas.NA``, masked and negative cells are
        missing.
    renumber : bool
        Number the categories in use from 0: the numbers themselves are names only.

    Raises
    ------
    InputError
        If it has no two dimensions, or a cell has anything else; the message names the cell. Without `renumber`, also
        if a number does not fit a signed 64-bit integer.

    Examples
    --------
    >>> matrix_ratings([[0, 2.0], [None, 1]]).answer.tolist()
    [0, 2, 1]
    """
    array = _array(matrix)
    if array is None or array.ndim != 2:
        raise InputError(
            f"The matrix is of type {type(matrix).__name__} and does not have two dimensions, or has rows of different "
            "lengths: it must have one row per item and one column per rater."
        )
    values, is_present = np.ma.getdata(array), ~np.ma.getmaskarray(array)
    if values.dtype.kind == "f":
        is_present &= ~np.isnan(values)
    elif values.dtype.kind == "O":
        is_present &= ~np.frompyfunc(is_missing, 1, 1)(values).astype(bool)
    item, rater = np.nonzero(is_present)
    cells = values[is_present].tolist()
    categories = list(map(_category, cells))
    if None in categories:
        wrong = categories.index(None)
        value = cells[wrong].item() if isinstance(cells[wrong], np.generic) else cells[wrong]
        location = f"Row {item[wrong] + 1}, column {rater[wrong] + 1}"
        raise InputError(
            f"{location} of the matrix is {shortened(repr(value), 40)}: a category is a whole number from 0; None, "
            "NaN, masked and negative cells are missing. Texts belong in softirr.agreement or "
            "softirr.krippendorff_alpha."
        )
    category = np.array(categories, dtype=object)
    is_rated = category >= 0
    item, rater, category = item[is_rated], rater[is_rated], category[is_rated]
    if renumber:
        categories, category = np.unique(category, return_inverse=True)
        category, n_categories = category.reshape(-1), len(categories)
    else:
        n_categories = int(category.max()) + 1 if category.size else 0
        if n_categories - 1 > np.iinfo(np.int64).max:
            raise InputError(
                f"The matrix has the category {n_categories - 1}, which is too large: number the categories from 0."
            )
    sizes = len(values), values.shape[1], n_categories
    return Ratings(item.astype(np.int64), rater.astype(np.int64), category.astype(np.int64), *sizes)


def _array(matrix: Any) -> NDArray[Any] | None:
    """Return an array, None of rows of different lengths.

    Lists keep each cell as it is, because NumPy turns 1 next to "a" into a text.
    """
    try:
        if not isinstance(matrix, list | tuple):
            return matrix if isinstance(matrix, np.ma.MaskedArray) else np.asarray(matrix)
        if any(isinstance(row, np.ma.MaskedArray) for row in matrix):
            return np.asanyarray(np.ma.stack([np.ma.asarray(row) for row in matrix]))
        return np.array(matrix, dtype=object)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None


def _category(value: Any) -> int | None:
    """Return the number of a category, None if the value is not a whole number."""
    if isinstance(value, int | np.bool_ | numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if number.is_integer() and abs(number) <= _EXACT_FLOAT and value == number:
            return int(number)
    return None
