"""Names of items and raters, values and texts that are probably a mistake: one name in two forms, or a damaged one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from softirr.answers.missing import AUTO, MissingMarks
from softirr.answers.table import AnnotationTable
from softirr.plural import plural
from softirr.text import normalize

_MOST = 5
_LONGEST = 40
_NUMBER = re.compile(r"[+]?(\d{1,3}(?:[,'’ ]\d{3})+|\d+)(?:\.0*)?")
_SHORTENED = re.compile(r"\d(?:[.,]\d+)?E\+\d+")
"""A long number as a spreadsheet shows it."""
_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[+=<>]|(?<!\w)-(?=\d)|-$")


def name_form(name: str) -> tuple[str, ...]:
    """Return a name without its form: case, leading zeros, separators and meaningless decimals.

    Examples
    --------
    >>> name_form("Ann") == name_form("ann"), name_form("01") == name_form("1.0"), name_form("1,000") == name_form("1000")
    (True, True, True)
    >>> name_form("Case 01") == name_form("case_1"), name_form("1-1") == name_form("11"), name_form("CD4+") == name_form("CD4-")
    (True, False, False)
    """
    folded = normalize(unicodedata.normalize("NFKC", name), casefold=True)
    if number := _NUMBER.fullmatch(folded):
        return (re.sub(r"\D", "", number[1]).lstrip("0") or "0",)
    tokens = tuple(token.lstrip("0") or "0" if token.isdigit() else token for token in _TOKEN.findall(folded))
    return tokens or (folded,)


def name_warnings(table: AnnotationTable) -> tuple[str, ...]:
    """Warnings of names in two forms, and of those that are a mark or a shortened number, each with what to do.

    Two items of one form count as a mistake only if no rater has answered both.

    Examples
    --------
    >>> from softirr.answers.table import Answer
    >>> rows = [("1", "Ann", "fever"), ("01", "bob", "fever"), ("2", "ann", "rash")]
    >>> for warning in name_warnings(AnnotationTable.from_answers(Answer(*row) for row in rows)):
    ...     print(warning.split(":")[0])
    Raters may be counted twice, because their names differ in form only
    Items may be counted twice, because their ids differ in form only
    """
    return (*_raters(table), *_items(table), *_no_names("rater", table.raters), *_no_names("item", table.items))


def value_warnings(texts: Sequence[str]) -> Iterator[str]:
    """A warning of categories in two forms.

    Examples
    --------
    >>> list(value_warnings(["Yes", "no", "yes"]))
    ["Values that differ in form only count as different: 'Yes' and 'yes'. Write each value one way."]
    """
    if groups := _alike(texts):
        yield (
            f"Values that differ in form only count as different: {_listed(groups, texts)}. Write each value one way."
        )


def damaged_texts(texts: Sequence[str]) -> Iterator[str]:
    """A warning of texts that lost characters when they were saved in an encoding without them.

    Examples
    --------
    >>> [warning.split(",")[0] for warning in damaged_texts(["????", "38.5 ???", "really???", "fever"])]
    ['2 different texts seem to have lost characters']
    """
    damaged = [text for text in texts if "\ufffd" in text or (text.count("?") > 2 and not _LETTER.search(text))]
    if damaged:
        count = plural(len(damaged), "text seems", "different texts seem")
        yield (
            f"{count} to have lost characters, as {_short(damaged[0])}, so that different answers may count as the "
            "same. Save the original table as UTF-8."
        )


def _no_names(role: str, names: Sequence[str]) -> Iterator[str]:
    marks = MissingMarks.of(AUTO)
    groups = [[index] for index, name in enumerate(names) if marks.has(name) or _SHORTENED.fullmatch(name)]
    if groups:
        yield (
            f"{plural(len(groups), role)} written like a missing value or like a number that a spreadsheet has "
            f"shortened: {_listed(groups, names)}. If several {role}s became one, write their own names."
        )


def _raters(table: AnnotationTable) -> Iterator[str]:
    if groups := _alike(table.raters):
        yield (
            f"Raters may be counted twice, because their names differ in form only: {_listed(groups, table.raters)}. "
            "Write each name one way in the file."
        )


def _items(table: AnnotationTable) -> Iterator[str]:
    groups = _alike(table.items)
    if not groups:
        return
    inside = {index for group in groups for index in group}
    raters: dict[int, set[int]] = {index: set() for index in inside}
    rows = np.isin(table.item, list(inside))
    for item, rater in zip(table.item[rows].tolist(), table.rater[rows].tolist(), strict=True):
        raters[item].add(rater)
    apart = [
        group
        for group in groups
        if sum(map(len, (raters[i] for i in group))) == len(set().union(*(raters[i] for i in group)))
    ]
    if apart:
        yield (
            f"Items may be counted twice, because their ids differ in form only: {_listed(apart, table.items)}. Their "
            "answers are not compared: write each id one way in the file."
        )


def _alike(names: Sequence[str]) -> list[list[int]]:
    """Places of the names of one form, for each form that several have."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, name in enumerate(names):
        groups.setdefault(name_form(name), []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def _listed(groups: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    examples = [" and ".join(_short(names[index]) for index in group[:_MOST]) for group in groups[:_MOST]]
    return "; ".join(examples) + (f"; and {len(groups) - _MOST:,} more" if len(groups) > _MOST else "")


def _short(name: str) -> str:
    return repr(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")
