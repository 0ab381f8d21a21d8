"""Columns of a wide table with several fields, such as ``severity_anna``: which field and which rater each is of."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from softirr.errors import InputError
from softirr.text import normalize

__all__ = ["paired_columns"]

_BETWEEN = r"[\s_.:/-]+"
_LEAST = 2
_ORDERS = {"FIELD_RATER": "{field}{between}(.+)", "RATER_FIELD": "(.+?){between}{field}"}
Paired = dict[str, dict[str, tuple[int, ...]]]


def paired_columns(
    columns: Sequence[str], fields: Sequence[str], raters: Sequence[str], name: str, left_out: Collection[int] = ()
) -> Paired | None:
    """The column of each field and rater, by the names of the columns: never by their order.

    Each column is named by its field and its rater, all in the same order, with an underscore, hyphen, period, colon,
    slash or space between them. Every field has a column for every rater.

    Parameters
    ----------
    columns : sequence of str
    fields : sequence of str
    raters : sequence of str
        Names of the raters; empty takes what the columns name beside a field.
    name : str
        Of the input, for messages.
    left_out : collection of int
        Columns that name the items.

    Returns
    -------
    dict of str to dict, or None
        None where the columns are not named like this.

    Raises
    ------
    InputError
        If a column can be read in two ways, or a field has no column for a rater.

    Examples
    --------
    >>> names = ["id", "severity_ben", "severity_anna", "finding_anna", "finding_ben"]
    >>> paired_columns(names, ["severity", "finding"], [], "wide.csv")["finding"]
    {'anna': (3,), 'ben': (4,)}
    """
    named = {order: _named(columns, fields, raters, pattern, left_out) for order, pattern in _ORDERS.items()}
    complete = [order for order, of in named.items() if all(len(own) >= _LEAST for own in of.values())]
    if not complete:
        if raters:
            wanted = f"{fields[0]}_{raters[0]} or {raters[0]}_{fields[0]}"
            raise InputError(f"{name} has no columns for each of the fields and raters, such as {wanted}.")
        return None
    if len(complete) > 1:
        orders = " and ".join(complete)
        raise InputError(f"{name} has columns of both {orders}: use a row for each answer.")
    pairs = named[complete[0]]
    _check(columns, pairs, {_plain(rater): rater for rater in raters}, name)
    return {field: {shown: (at[0],) for _, (shown, at) in sorted(own.items())} for field, own in pairs.items()}


def _named(
    columns: Sequence[str], fields: Sequence[str], raters: Sequence[str], pattern: str, left_out: Collection[int]
) -> dict[str, dict[str, tuple[str, list[int]]]]:
    """For each field the name of each rater and their columns, by the name in lower case."""
    known = {_plain(rater): rater for rater in raters}
    named: dict[str, dict[str, tuple[str, list[int]]]] = {}
    for field in fields:
        exact = re.compile(pattern.format(field=re.escape(_plain(field)), between=_BETWEEN))
        own = named.setdefault(field, {})
        for i, column in enumerate(columns):
            match = exact.fullmatch(_plain(column))
            if match is None or i in left_out or (known and match[1] not in known):
                continue
            written = normalize(column)
            shown = written[match.start(1) : match.end(1)] if len(written) == len(match[0]) else match[1]
            own.setdefault(match[1], (known.get(match[1], shown), []))[1].append(i)
    return named


def _check(
    columns: Sequence[str], named: dict[str, dict[str, tuple[str, list[int]]]], raters: Mapping[str, str], name: str
) -> None:
    """Refuse columns that leave a doubt, and raters without a column."""
    by_column: dict[int, str] = {}
    for field, own in named.items():
        for shown, at in own.values():
            if len(at) > 1:
                raise InputError(
                    f"{name} has several columns of {field} by {shown}: {columns[at[0]]}, {columns[at[1]]}."
                )
            if (other := by_column.setdefault(at[0], field)) != field:
                raise InputError(
                    f"{name} has a column {columns[at[0]]} of {other} or of {field}: name the raters with --raters."
                )
    for key, rater in raters.items():
        if without_it := [field for field, own in named.items() if key not in own]:
            raise InputError(f"{name} has no column of {without_it[0]} by {rater}.")
    first, *rest = named
    for field in rest:
        for with_it, without in ((first, field), (field, first)):
            if missing := [shown for key, (shown, _) in named[with_it].items() if key not in named[without]]:
                raise InputError(
                    f"{name} has a column of {with_it} by {missing[0]}, but none of {without}: name the raters with "
                    "--raters, or use a row for each answer."
                )


def _plain(name: str) -> str:
    return normalize(name, casefold=True)
