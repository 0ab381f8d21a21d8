"""Fields of items: properties of an item in a table, such as its site, language or year."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.answers.values import value_text
from softirr.errors import InputError

__all__ = ["ANNOTATED_AT", "ItemFields", "field_text", "task_fields"]

ANNOTATED_AT = "annotated_at"
"""Field of a Label Studio task with the date of its newest annotation, unless its data have this field."""
_LONGEST = 200


class ItemFields:
    """Values of the chosen fields, collected item by item.

    Parameters
    ----------
    names : iterable of str
        The fields.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._of: dict[str, dict[str, str]] = {}

    def add(self, location: str, item: str, values: Mapping[str, Any]) -> None:
        """Add an item's values; empty values do not count.

        Raises
        ------
        InputError
            If an earlier row of the item has another value.
        """
        item_values = self._of.setdefault(item, {})
        for name in self.names:
            value = field_text(values.get(name))
            if value and item_values.setdefault(name, value) != value:
                raise InputError(
                    f"{location}: the item {item} has two values of {name}: a field needs one value for each item."
                )

    def require(self, name: str, names_in_input: Iterable[str]) -> None:
        """Refuse a field that no item has.

        Parameters
        ----------
        name : str
            Name of the file, for the message.
        names_in_input : iterable of str
            The fields that it has.

        Raises
        ------
        InputError
        """
        sorted_names = sorted(set(names_in_input))
        for field in self.names:
            if not any(field in values for values in self._of.values()):
                has = f"it has {', '.join(sorted_names)}" if sorted_names else "it has none beside the answers"
                raise InputError(f"{name} has no field {field!r}; {has}.")

    def by_item(self) -> dict[str, dict[str, str]]:
        """Item -> field -> value."""
        return self._of


def field_text(value: Any) -> str:
    """Return the value of a field as a text; empty unless it is a text, number, truth value or date.

    Examples
    --------
    >>> field_text(" Basel "), field_text(2021.0), field_text(True), field_text(["a"]), field_text(float("nan"))
    ('Basel', '2021', 'TRUE', '', '')
    """
    text = value if isinstance(value, str) else value_text(value)
    return " ".join((text or "").split())[:_LONGEST]


def task_fields(task: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Fields of a Label Studio task: of its data, else of the task itself, or :data:`ANNOTATED_AT`.

    Parameters
    ----------
    task : mapping
        A task of an export.

    Returns
    -------
    dict of str to object
        By name; None if the task does not have the field.

    Examples
    --------
    >>> task = {"id": 7, "data": {"site": "Basel"}, "annotations": [{"created_at": "2026-02-01"}, {"created_at": "2026-03-01"}]}
    >>> task_fields(task, ["site", "annotated_at"])
    {'site': 'Basel', 'annotated_at': '2026-03-01'}
    """
    data = task.get("data")
    data = data if isinstance(data, Mapping) else {}
    values: dict[str, Any] = {}
    for name in names:
        if name in data:
            values[name] = data[name]
        elif name == ANNOTATED_AT:
            dates = [
                annotation.get("created_at")
                for annotation in task.get("annotations") or ()
                if isinstance(annotation, Mapping)
            ]
            values[name] = max((date for date in dates if isinstance(date, str)), default=None)
        else:
            values[name] = task.get(name)
    return values
