"""Item weights: how much each item counts, such as a survey's case weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from softirr.answers.rows import value_text
from softirr.answers.table import AnnotationTable, Excluded
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.text import plain_number

_LONGEST = 200
WEIGHT_0 = "weight 0"


def short_text(value: Any) -> str:
    """Return a value as a text; empty unless it is a text, number, truth value or date.

    Examples
    --------
    >>> short_text(" Basel "), short_text(2021.0), short_text(True), short_text(["a"]), short_text(float("nan"))
    ('Basel', '2021', 'TRUE', '', '')
    """
    text = value if isinstance(value, str) else value_text(value)
    return " ".join((text or "").split())[:_LONGEST]


def weighted(
    table: AnnotationTable, weights: Mapping[str, float | str] | Sequence[float], name: str = ""
) -> AnnotationTable:
    """The table with items that count as much as their weights: an item of weight 2 counts as two such items.

    Every mean over items, and every distribution of answers that chance is made of, is weighted (case weights, as in
    Kish, Survey Sampling, 1965). Intervals still take the items as drawn one by one: a weight adds no information.

    Parameters
    ----------
    weights : mapping of items to numbers, or sequence of numbers
        The weight of each of ``table.items``. The answers of an item of weight 0 are left out.
    name : str
        End of messages, such as " in share".

    Raises
    ------
    InputError
        If a weight is missing, negative or no finite number, or no weight is above 0.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> report = softirr.agreement(weighted(table, {"1": 3, "2": 1}), "exact")
    >>> report.coefficients["observed_agreement"].value
    0.75
    """
    item_weights = [weights.get(item) for item in table.items] if isinstance(weights, Mapping) else weights
    if len(item_weights) != len(table.items):
        raise InputError(
            f"{plural(len(item_weights), 'weight')} for {plural(len(table.items), 'item')}: each item needs one."
        )
    numbers = np.array([_number(value, item, name) for item, value in zip(table.items, item_weights, strict=True)])
    if not (numbers > 0).any():
        raise InputError(f"No item has a weight above 0{name}.")
    with np.errstate(over="ignore", under="ignore"):
        squares = np.square(numbers[numbers > 0])
        total = float(squares.sum())
    if not math.isfinite(total) or not float(squares.min()):
        raise InputError(f"The weights{name} are too large or too small to compute with.")
    is_counted = numbers[table.item] > 0
    gone = np.flatnonzero(~is_counted).tolist()
    left_out = tuple(Excluded(table.items[table.item[i]], table.raters[table.rater[i]], WEIGHT_0) for i in gone)
    return replace(
        table,
        item=table.item[is_counted],
        rater=table.rater[is_counted],
        answer=table.answer[is_counted],
        written=tuple(compress(table.written, is_counted.tolist())),
        excluded=(*table.excluded, *left_out),
        weights=numbers,
    )


def _number(value: object, item: str, name: str) -> float:
    if value is None or value == "":
        raise InputError(f"The item {item} has no weight{name}: give every item one, 0 for items that do not count.")
    try:
        number = plain_number(value) if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None or not math.isfinite(number) or number < 0:
        raise InputError(f"The weight of the item {item}{name} is {value!r}: a weight is a number of 0 or more.")
    return number


def effective_items(weights: Sequence[float]) -> float:
    """Return the effective number of items: ``(Σ w)² / Σ w²`` (Kish 1965).

    Parameters
    ----------
    weights : shape (N,)
        Above 0.

    Examples
    --------
    >>> effective_items([1, 1, 2])
    2.6666666666666665
    """
    weights_array = np.asarray(weights, dtype=np.float64)
    return float(weights_array.sum() ** 2 / np.square(weights_array).sum())


def refuse_weights(table: AnnotationTable, what: str) -> None:
    """Refuse a weighted table where weights are not understood.

    Parameters
    ----------
    what : str
        What does not take weights.

    Raises
    ------
    InputError
    """
    if table.weights is not None:
        raise InputError(f"{what} takes no item weights: read the table without them.")
