"""Matrices of category numbers as users pass them: lists, arrays with or without a mask, and data frames."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Ratings
from softirr.answers.values import is_missing
from softirr.errors import InputError
from softirr.text import shortened

_EXACT_FLOAT = 2**53
"""Larger floats do not distinguish neighboring whole numbers."""
_SHAPE = "it must have one row per item and one column per rater"
_WAY_OUT = (
    "a category is a whole number from 0; None, NaN, masked and negative cells are missing. "
    "Texts belong in softirr.agreement or softirr.krippendorff_alpha"
)


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
    values, masked = _cells(matrix)
    if values.dtype.kind == "b" or not values.size:
        values = values.astype(np.int64)
    if values.dtype.kind == "O":
        numbers_of, missing = _objects(values, masked)
    elif values.dtype.kind == "f":
        missing = masked | np.isnan(values)
        numbers_of = _whole(np.where(missing, -1, values))
        missing |= numbers_of < 0
    elif values.dtype.kind in "iu":
        numbers_of, missing = values, masked | (values < 0)
    else:
        raise _not_a_category(0, 0, values[0, 0])
    item, rater = np.nonzero(~missing)
    category = numbers_of[item, rater]
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


def _cells(matrix: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The cells as a two-dimensional array, and which of them are masked."""
    array = _array(matrix)
    if array is None or array.ndim != 2:
        raise InputError(
            f"The matrix is of type {type(matrix).__name__} and does not have two dimensions, or has rows of different "
            f"lengths: {_SHAPE}."
        )
    return np.ma.getdata(array), np.ma.getmaskarray(array)


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


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:
    wrong = np.argwhere(~(np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) <= _EXACT_FLOAT)))
    if len(wrong):
        item, rater = wrong[0].tolist()
        raise _not_a_category(item, rater, values[item, rater])
    return values.astype(np.int64)


def _objects(values: NDArray[Any], masked: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Python integers of cells of any type, and which cells are missing."""
    categories = np.full(values.shape, -1, dtype=object)
    for (item, rater), value in np.ndenumerate(values):
        if not masked[item, rater] and not is_missing(value):
            categories[item, rater] = _category(value, item, rater)
    missing = np.asarray(categories < 0, dtype=bool)
    try:
        return categories.astype(np.int64), missing
    except OverflowError:
        return categories, missing


def _category(value: Any, item: int, rater: int) -> int:
    if isinstance(value, numbers.Integral | np.bool_):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if number.is_integer() and abs(number) <= _EXACT_FLOAT and value == number:
            return int(number)
    raise _not_a_category(item, rater, value)


def _not_a_category(item: Any, rater: Any, value: Any) -> InputError:
    shown_value = value.item() if isinstance(value, np.generic) else value
    short = shortened(repr(shown_value), 40)
    return InputError(f"Row {int(item) + 1}, column {int(rater) + 1} of the matrix is {short}: {_WAY_OUT}.")
