"""Answers of several raters as lists of equal length, one answer for each item."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from typing import Any

from softirr.answers.frames import is_frame
from softirr.answers.missing import MissingMarks
from softirr.answers.prepare import Preparation, prepare
from softirr.answers.raw import RawField
from softirr.answers.table import AnnotationTable
from softirr.answers.values import texts_of_cell
from softirr.errors import InputError
from softirr.plural import plural


def answer_list(name: str, values: Any) -> list[tuple[str, ...] | None]:
    """Return a rater's answers, item by item; None if an answer is missing.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : list, tuple, array, column of a data frame, or other iterable with an order
        Each entry is a text, or a list, tuple or set of texts. None, NaN, ``pandas.NA`` and masked entries are missing.

    Raises
    ------
    InputError
        If it is not such a list, or an entry is not a text.
    """
    wrong = None
    if isinstance(values, str | bytes | bytearray):
        wrong = "it must be a list with one answer per item"
    elif isinstance(values, Mapping):
        wrong = "give its values as a list, in the order of the items"
    elif isinstance(values, Set) and not isinstance(values, KeysView):
        wrong = "a set has no order, so give a list with one answer per item"
    elif is_frame(values):
        wrong = "give one of its columns, or the whole table to softirr.agreement"
    elif not isinstance(values, Iterable):
        wrong = "it must be a list with one answer per item"
    if wrong:
        raise InputError(f"{name} is of type {type(values).__name__}: {wrong}.")
    convert = getattr(values, "to_pylist", None) or getattr(values, "to_list", None)  # pyarrow, pandas and polars
    try:
        entries = list(convert() if convert is not None else values)
    except TypeError:  # an array without dimensions
        raise InputError(f"{name} is a single value: it must be a list with one answer per item.") from None
    return [texts_of_cell(value, f"{name}[{i}]") for i, value in enumerate(entries)]


def lists_table(
    lists: Mapping[str, Any], *, casefold: bool = False, missing: str | Sequence[str] | None = None
) -> AnnotationTable:
    """The table of several raters' answers to the same items; its items are numbered from 0.

    Parameters
    ----------
    lists : mapping of str to list
        Answers by rater, as for :func:`answer_list`.
    casefold : bool
        Texts that differ only in case are one text.
    missing : str or sequence of str, optional
        Texts that mean that an answer is missing, as for :class:`softirr.ReadOptions`.

    Returns
    -------
    AnnotationTable
        Its warnings count the texts that mean, or may mean, that an answer is missing.

    Raises
    ------
    InputError
        If the lists have different lengths, or are columns of data frames with different row labels.

    Examples
    --------
    >>> lists_table({"a": ["fever", None], "b": ["cough", "rash"]}).texts
    ('cough', 'fever', 'rash')
    >>> lists_table({"a": ["fever", "N/A"], "b": ["cough", "rash"]}).texts
    ('cough', 'fever', 'rash')
    """
    marks = MissingMarks.of(missing)
    answers = {name: answer_list(name, values) for name, values in lists.items()}
    (first, *later_raters) = lists
    for rater in later_raters:
        if len(answers[rater]) != len(answers[first]):
            raise InputError(
                f"{first} has {plural(len(answers[first]), 'answer')} and {rater} has {len(answers[rater])}: each item "
                "needs one of each, None where it is missing."
            )
        if not _same_labels(lists[first], lists[rater]):
            raise InputError(
                f"{first} and {rater} are columns whose rows have different labels: take both from one data frame, "
                f"or give {first}.to_list() and {rater}.to_list() to compare them row by row."
            )
    raw = RawField(items=dict.fromkeys(map(str, range(len(answers[first])))))
    for name, texts_of_rater in answers.items():
        for number, texts in enumerate(texts_of_rater):
            if texts is not None:
                raw.add(str(number), name, texts)
    return prepare(raw, Preparation(marks, casefold))


def _same_labels(first_column: Any, second_column: Any) -> bool:
    """Whether two columns of pandas have the same index; lists have none."""
    first_index: Any = getattr(first_column, "index", None)
    second_index: Any = getattr(second_column, "index", None)
    return (
        bool(first_index.equals(second_index))
        if hasattr(first_index, "equals") and hasattr(second_index, "equals")
        else True
    )
