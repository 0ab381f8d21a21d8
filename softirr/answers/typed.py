"""Tables whose answers are values of a kind of field."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain

from softirr.answers.kinds import NO_VALUE, TEXT, Kind, find_kind
from softirr.answers.layout import shown
from softirr.answers.table import AnnotationTable, Excluded
from softirr.errors import InputError

__all__ = ["of_kind"]

_LIST = re.compile(r"[;\n]")


def of_kind(table: AnnotationTable, spec: str, *, keep_empty: bool = False) -> AnnotationTable:
    """The table as a field of a kind, without the answers that have something else than a value of the kind.

    Answers that are left out are listed in ``excluded``, and a warning counts them.

    Parameters
    ----------
    table : AnnotationTable
    spec : str
        As for :func:`find_kind`.
    keep_empty : bool
        Answers without a value count, in kinds in which they are missing by default, too.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        If no answer has a value of the kind.

    Examples
    --------
    >>> from softirr.answers.table import AnnotationTable, Answer
    >>> rows = [("1", "ann", "a; b"), ("1", "bob", "a")]
    >>> of_kind(AnnotationTable.from_answers(Answer(*row) for row in rows), "set").texts
    ('a', 'b')
    """
    kind = find_kind(spec)
    if kind.is_text:
        return table
    # values of a reader that knows the kind are separate already
    read = table.kind != TEXT or (table.reading is not None and table.reading.format == "label-studio")
    written: list[tuple[str, ...] | None] = list(table.written)
    if kind.is_list and not read:
        written = [tuple(chain.from_iterable(map(_LIST.split, texts or ()))) for texts in written]
        written = [tuple(text.strip() for text in texts or () if text.strip()) for texts in written]
    n_empty = 0
    if not (kind.keeps_empty or keep_empty):
        n_empty = sum(not texts for texts in written)
        written = [texts or None for texts in written]
    if written != list(table.written):
        table = table.rewritten(written)
    notes = table.warnings
    if n_empty:
        notes += (
            f"Answers without a value: {n_empty:,}. They count as missing; --empty none counts them as answers "
            "that differ from every value.",
        )
    return _only_values(replace(table, kind=spec, warnings=notes), kind)


def _only_values(table: AnnotationTable, kind: Kind) -> AnnotationTable:
    """The table without answers that have a text that is no value of the kind."""
    wrong = {number for number, text in enumerate(table.texts) if not kind.is_value(text)}
    if not wrong:
        return table
    bad = [not wrong.isdisjoint(own) for own in table.answers]
    rows = [row for row, answer in enumerate(table.answer.tolist()) if bad[answer]]
    left_out = [Excluded(table.items[table.item[row]], table.raters[table.rater[row]], NO_VALUE) for row in rows]
    first = next(table.texts[text] for text in table.answers[table.answer[rows[0]]] if text in wrong)
    example = f"item {shown(left_out[0].item)}, rater {shown(left_out[0].rater)}: {shown(first)!r}"
    if len(rows) == sum(bool(table.answers[answer]) for answer in table.answer.tolist()):
        raise InputError(f"No answer has a value of the kind {shown(kind.name)} ({kind.values}), as {example}.")
    dropped = set(rows)
    kept = [None if row in dropped else texts for row, texts in enumerate(table.written)]
    note = (
        f"Answers that are no value of the kind {shown(kind.name)} ({kind.values}): {len(rows):,}. They are left out, "
        f"as {example}."
    )
    excluded = (*table.excluded, *left_out)
    return replace(table.rewritten(kept), excluded=excluded, warnings=(*table.warnings, note))
