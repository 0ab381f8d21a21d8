"""Kinds of fields (text, choices, ratings, numbers, dates, paths, rankings), and the values that raters agree on.

Values of a kind are read in :mod:`softirr.answers.prepare`; the distances of two values are in
:mod:`softirr.meaning.measures.kinds`, and in docs/reference/fields.md in words.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from softirr.errors import InputError
from softirr.text import plain_number, shown

AUTO = "auto"
"""The kind that a Label Studio control has by its type."""
TEXT = "text"
NO_VALUE = "no value of the kind of this field"
"""Why an answer to a field is excluded."""
KindOption = str | Mapping[str, str] | None
"""A kind for every field, a kind for each field by its name, or None for texts only."""
_STEP = re.compile(r"\s*>\s*")
_ORDERED = ("ordinal", "interval", "linear")
"""Kinds with categories that an option can order."""


@dataclass(frozen=True)
class Kind:
    """A kind of field.

    Attributes
    ----------
    name : str
        As options name it.
    values : str
        What its values are, for messages and the documentation.
    controls : tuple of str
        Label Studio's control tags that have this kind.
    number : callable or None
        Gives the number of a value.
    sets : {"dice", "masi", "jaccard"}
        How two answers of several values are compared.
    is_list : bool
        Whether a cell of a table may list several values, joined by semicolons.
    confusions : bool
        Whether reports count the pairs of values that raters confuse.
    keeps_empty : bool
        Whether an answer without a value is an answer; otherwise it is missing.
    """

    name: str
    values: str
    controls: tuple[str, ...] = ()
    number: Callable[[str], float] | None = None
    sets: Literal["dice", "masi", "jaccard"] = "dice"
    is_list: bool = False
    confusions: bool = False
    keeps_empty: bool = False

    @property
    def is_text(self) -> bool:
        """Whether a measure compares the values."""
        return self.name == TEXT

    def is_value(self, text: str) -> bool:
        """Whether a text is a value of the kind."""
        try:
            return self.number is None or self.number(text) is not None
        except (ValueError, OverflowError):
            return False


def _number(text: str) -> float:
    value = plain_number(text)
    if value is None or not math.isfinite(value):
        raise ValueError(text)
    return value


def _ratio(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise ValueError(text)
    return value


def _days(text: str) -> float:
    """Days since the beginning of year 1, in UTC where there is an offset; a time without a date is a part of a day."""
    if re.fullmatch(r"\d{4}", text):
        text += "-01-01"
    elif re.fullmatch(r"\d{4}-\d\d", text):
        text += "-01"
    elif re.fullmatch(r"\d\d:\d\d(:\d\d)?", text):
        text = f"0001-01-01T{text}"
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - datetime.datetime(1, 1, 1)) / datetime.timedelta(days=1)


_CATEGORIES = "several categories, in tables joined by semicolons"
_KINDS = (
    Kind(TEXT, "free text", controls=("TextArea",), keeps_empty=True),
    Kind("nominal", "one of several categories", controls=("Choices", "Pairwise"), confusions=True),
    Kind("set", _CATEGORIES, sets="masi", is_list=True, confusions=True, keeps_empty=True),
    Kind("set:jaccard", "as `set`", sets="jaccard", is_list=True, confusions=True, keeps_empty=True),
    Kind(
        "ordinal",
        "numbers in an order, or the categories of `ordinal:low,medium,high`",
        controls=("Rating",),
        number=_number,
        confusions=True,
    ),
    Kind(
        "interval",
        "numbers, or the categories of `interval:low,medium,high` in equal steps",
        controls=("Number",),
        number=_number,
    ),
    Kind("linear", "numbers, or the categories of `linear:low,medium,high` in equal steps", number=_number),
    Kind("ratio", "numbers of 0 or more", number=_ratio),
    Kind("date", "dates such as 2026-03-01, with or without a time", controls=("DateTime",), number=_days),
    Kind(
        "path",
        "paths such as `Heart > Valve > Mitral`, several joined by semicolons",
        controls=("Taxonomy",),
        is_list=True,
        confusions=True,
    ),
    Kind("ranking", "rankings such as `b > a > c`, best first", controls=("Ranker",)),
)

CONTROL_KINDS: Mapping[str, str] = {
    tag.lower(): kind.name for kind in _KINDS for tag in kind.controls if not kind.is_text
}
"""Kind of the field of each type of result of Label Studio, besides text areas."""


def kind_names() -> tuple[str, ...]:
    """Names of the kinds."""
    return tuple(kind.name for kind in _KINDS)


def find_kind(spec: str) -> Kind:
    """The kind of a name; ``ordinal:low,medium,high`` names the order of the categories.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> find_kind("set").sets, find_kind("ordinal:low,high").number("high")
    ('masi', 1)
    """
    for kind in _KINDS:
        if kind.name == spec:
            return kind
    name, _, order = spec.partition(":")
    categories = [category.strip() for category in order.split(",") if category.strip()]
    if name in _ORDERED and len(categories) > 1 and len(set(categories)) == len(categories):
        return replace(find_kind(name), name=spec, number=categories.index)  # ValueError if it is none of them
    raise InputError(
        f"There is no kind of field {shown(spec)!r}: it can be {', '.join(kind_names())}, or ordinal:low,medium,high."
    )


def named_kinds(specs: Iterable[str]) -> dict[str, str]:
    """The kinds that options give to fields.

    Parameters
    ----------
    specs : iterable of str
        ``NAME=KIND``, or ``NAME`` for the kind that the field has by its control.

    Returns
    -------
    dict of str to str
        Kind by the field's name.

    Raises
    ------
    InputError
        If one is not of this form, is given twice or names no kind.

    Examples
    --------
    >>> named_kinds(["severity=ordinal:low,high", "side"])
    {'severity': 'ordinal:low,high', 'side': 'auto'}
    """
    kind_by_field: dict[str, str] = {}
    for spec in specs:
        name, equals, kind = spec.rpartition("=")
        name, kind = (name, kind) if equals else (spec, AUTO)
        if not name or not kind:
            raise InputError(f"--field names a column or control and its kind, as severity=ordinal, not {spec!r}.")
        if name in kind_by_field:
            raise InputError(f"--field names {name!r} twice.")
        if kind != AUTO:
            find_kind(kind)
        kind_by_field[name] = kind
    return kind_by_field


def steps(text: str) -> tuple[str, ...]:
    """The levels of a path, or the ranked things of a ranking.

    Examples
    --------
    >>> steps("Heart > Valve")
    ('Heart', 'Valve')
    """
    return tuple(level for level in _STEP.split(text.strip()) if level)


def agreed_values(kind: str, answers: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    """The agreed values of an item: the median of numbers and dates, else the values that most raters name.

    Parameters
    ----------
    answers : sequence of sequence of str
        The values of each rater.

    Returns
    -------
    tuple of str or None
        The values of the only rater; None without such a value.

    Examples
    --------
    >>> agreed_values("nominal", [["left"], ["left"], ["right"]]), agreed_values("ordinal", [["1"], ["5"], ["4"]])
    (('left',), ('4',))
    >>> agreed_values("nominal", [["left"], ["right"]]), agreed_values("ordinal", [["1"], ["5"]])
    (None, None)
    """
    if len(answers) < 2:
        return tuple(answers[0]) if answers else None
    if (number := find_kind(kind).number) is not None:
        if any(len(values) != 1 for values in answers):
            return None
        ordered = sorted((values[0] for values in answers), key=number)
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        return (low,) if number(low) == number(high) else None
    value_counts = Counter(value for values in answers for value in set(values))
    agreed = tuple(sorted(value for value, times in value_counts.items() if 2 * times > len(answers)))
    nothing = 2 * sum(not values for values in answers) > len(answers)
    return agreed if agreed or nothing else None
