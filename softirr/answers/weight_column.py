"""Weights of items in a column of a table, a key of JSONL, or the data of Label Studio's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from softirr.answers.values import value_text
from softirr.errors import InputError

_LONGEST = 200


class WeightColumn:
    """The weight of each item, collected row by row.

    Parameters
    ----------
    name : str, optional
        Column, key or field that has the weights; None if items have none.

    Attributes
    ----------
    of_item : dict of str to str
        Weights as texts, by item.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.of_item: dict[str, str] = {}

    def add(self, location: str, item: str, values: Mapping[str, Any]) -> None:
        """Add the weight of an item, if items have weights; an empty value does not count.

        Raises
        ------
        InputError
            If an earlier row of the item has another weight.
        """
        if self.name is None:
            return
        weight = short_text(values.get(self.name))
        if weight and self.of_item.setdefault(item, weight) != weight:
            raise InputError(f"{location}: the item {item} has two values of {self.name}: each item needs one weight.")

    def require(self, name: str, names_in_input: Iterable[str]) -> None:
        """Refuse an input without the column.

        Parameters
        ----------
        name : str
            Name of the input, for the message.
        names_in_input : iterable of str
            Other columns that it has.

        Raises
        ------
        InputError
            If no item has a weight.
        """
        if self.name is not None and not self.of_item:
            sorted_names = sorted(set(names_in_input))
            has = f"it has {', '.join(sorted_names)}" if sorted_names else "it has none beside the answers"
            raise InputError(f"{name} has no field {self.name!r}; {has}.")


def short_text(value: Any) -> str:
    """Return a value as a text; empty unless it is a text, number, truth value or date.

    Examples
    --------
    >>> short_text(" Basel "), short_text(2021.0), short_text(True), short_text(["a"]), short_text(float("nan"))
    ('Basel', '2021', 'TRUE', '', '')
    """
    text = value if isinstance(value, str) else value_text(value)
    return " ".join((text or "").split())[:_LONGEST]
