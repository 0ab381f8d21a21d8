"""Agreement of two tables or more: files, groups of items, teams of raters, rounds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softirr.answers.files import answer_table
from softirr.answers.frames import is_frame
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.planning.compared_parts import (
    NOT_AUDITED,
    choose_coefficient,
    differences_of,
    few_items,
    open_scoring,
    table_values,
    without_value,
)
from softirr.planning.comparison import Comparison
from softirr.planning.difference import equality
from softirr.plural import plural
from softirr.report.options import AgreementOptions

__all__ = ["MOST_GROUPS", "compare", "compare_groups", "label_of"]

MOST_GROUPS = 20
"""Most values of a field that are compared: 190 differences."""
_OWN_CHANCE = (
    "Each coefficient is corrected for the agreement by chance of its own part, so parts with different wording can "
    "differ in both."
)


def compare(
    tables: Mapping[str, AnnotationTable | Any] | Sequence[AnnotationTable | Any],
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str | None = None,
    items: str = "auto",
    adjust: bool = True,
    sheets: Mapping[str, Sequence[Any]] | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare the agreement of two tables or more.

    Parameters
    ----------
    tables : dict of str to AnnotationTable or data frame, or sequence
        By label; a sequence is labeled A, B, and so on. Differences are later minus earlier.
    measure : str or Measure
        The same for all.
    options : AgreementOptions, optional
    coefficient : str, optional
        Such as ``cohen_kappa``; by default the first of ``HEADLINE`` that all tables have.
    items : {"auto", "same", "other"}
        Whether items of the same id are the same item. ``auto`` takes them for the same and uses all items; ``same``
        keeps only items that every table has two answers to; ``other`` takes them for different ones.
    adjust : bool
        Adjust p values for the number of differences (Holm 1979).
    sheets : dict of str to sequence, optional
        Judged audit sheets by label: the coefficients of these tables are audited.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If there are fewer than two tables, no common items where they are needed, or an option is not known.

    Examples
    --------
    >>> import softirr
    >>> def table(second):
    ...     rows = [(str(i), who, text) for i, text in enumerate(["fever", "cough", "rash"]) for who in ("ann",)]
    ...     rows += [(str(i), "bob", text) for i, text in enumerate(second)]
    ...     return softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> comparison = compare([table(["fever", "itch", "pain"]), table(["fever", "cough", "pain"])], "exact")
    >>> round(comparison.differences[0].difference.value, 2), comparison.paired
    (0.33, True)
    """
    if items not in ("auto", "same", "other"):
        raise InputError(f"The option items is {items!r}, but must be auto, same or other.")
    if is_frame(tables) or not isinstance(tables, Iterable):
        raise InputError("A comparison needs at least two tables.")
    given_tables = tables if isinstance(tables, Mapping) else {_letter(n): table for n, table in enumerate(tables)}
    named = {label: answer_table(table) for label, table in given_tables.items()}
    if len(named) < 2:
        raise InputError("A comparison needs at least two tables.")
    for table in named.values():
        refuse_weights(table, "A comparison")
    if items == "same":
        named = _same_items(named)
    with open_scoring(measure, options, cache, progress) as scoring:
        parts = {label: scoring.part(label, table, (sheets or {}).get(label, ())) for label, table in named.items()}
        name = choose_coefficient(parts, coefficient)
        groups, samples = [], []
        for part in parts.values():
            samples.append(part.sample(name))
            groups.append(part.group(samples[-1], part.whole.coefficients[name]))
    independent = items == "other"
    differences = differences_of(groups, samples, independent, adjust)
    warnings = [_OWN_CHANCE, *few_items(groups)]
    warnings += [f"{part.label}: the judgments are not used. {part.problem}" for part in parts.values() if part.problem]
    judged = [group.coefficient.judgments > 0 for group in groups]
    if not any(judged):
        warnings.append(NOT_AUDITED)
    elif not all(judged):
        warnings.append(
            "Some coefficients are audited and others are not: the difference contains the error of the measure in "
            "those that are not."
        )
    return Comparison(
        name,
        tuple(groups),
        differences,
        measure=scoring.measure.name,
        policy=scoring.policy(next(iter(named.values()))),
        paired=bool(differences) and all(one.n_shared > 1 for one in differences),
        adjusted="holm" if adjust and len(differences) > 1 else None,
        equality=equality(samples, independent=independent),
        warnings=tuple(warnings),
        misfits=tuple(dict.fromkeys(misfit for part in parts.values() for misfit in part.whole.misfits)),
    )


def compare_groups(
    table: AnnotationTable | Any,
    field: str,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    same: str | None = None,
    coefficient: str | None = None,
    adjust: bool = True,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare the items by a field, such as their site: a coefficient for each of its values.

    Parameters
    ----------
    table : AnnotationTable or data frame
        A table is read with this field, see :func:`softirr.read`.
    field : str
    same : str, optional
        Another field: items with the same value of it are the same thing, shown once in each group, such as in each
        round. The comparison is paired, on the items that every group has.
    measure, options, coefficient, adjust, cache, progress
        As for :func:`compare`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the table has no such field, or the field has fewer than two values or more than 20, or several items of a
        group are the same.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in ("ann", "bob")]
    >>> sites = {str(i): {"site": f"site {i % 2}"} for i in range(20)}
    >>> table = softirr.AnnotationTable.from_answers(rows, fields=sites)
    >>> [(group.label, group.n_items) for group in compare_groups(table, "site", "exact").groups]
    [('site 0', 10), ('site 1', 10)]
    """
    table = answer_table(table, fields=(field, same))
    values = table_values(table, field)
    groups: dict[str, list[str]] = {}
    for item, value in zip(table.items, values, strict=True):
        if value:
            groups.setdefault(value, []).append(item)
    if not 2 <= len(groups) <= MOST_GROUPS:
        raise InputError(
            f"The field {field} has {plural(len(groups), 'value')}, but groups can be compared for 2 to {MOST_GROUPS}. "
            "For numbers or dates, compare over the field instead."
        )
    parts = {value: table.part(items=groups[value]) for value in sorted(groups)}
    if same is not None:
        parts = {value: _named_by(part, same, f"{field} {value}") for value, part in parts.items()}
    comparison = compare(
        parts,
        measure,
        options,
        items="auto" if same is None else "same",
        coefficient=coefficient,
        adjust=adjust,
        cache=cache,
        progress=progress,
    )
    without = sum(not value for value in values)
    warnings = (*comparison.warnings, *without_value(without, field))
    return replace(comparison, by=field, warnings=warnings)


def _same_items(tables: Mapping[str, AnnotationTable]) -> dict[str, AnnotationTable]:
    """The tables, with the items only that each of them has two answers to."""
    usable = [
        {item for item, n in zip(t.items, np.bincount(t.item, minlength=len(t.items)).tolist(), strict=True) if n > 1}
        for t in tables.values()
    ]
    common = set.intersection(*usable)
    if len(common) < 2:
        raise InputError(
            f"The tables have {plural(len(common), 'item')} in common with two answers in each: a paired "
            "comparison needs two."
        )
    return {label: table.part(items=common) for label, table in tables.items()}


def _named_by(table: AnnotationTable, field: str, where: str) -> AnnotationTable:
    """The items with a value of a field, which names them."""
    value = dict(zip(table.items, table_values(table, field), strict=True))
    kept = table.part(items=[item for item, name in value.items() if name])
    names = tuple(value[item] for item in kept.items)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"Several items of {where} have the {field} {twice[:40]!r}: it must name one item of each group."
        )
    return replace(kept, items=names)


def _letter(n: int) -> str:
    return chr(ord("A") + n) if n < 26 else str(n + 1)


def label_of(path: str, taken: Sequence[str]) -> str:
    """Label of a file: its name, or its path where another file has that name.

    Parameters
    ----------
    path : str
    taken : sequence of str
        Labels of other files.

    Returns
    -------
    str
    """
    name = os.path.basename(path) or path
    return path if name in taken else name
