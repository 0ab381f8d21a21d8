"""Compare the agreement of several tables, or of one table under several measures or policies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, count
from typing import Any

import numpy as np

from softirr.answers.prepare import split_table
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.numbers import plural
from softirr.report.compared_parts import (
    NOT_AUDITED,
    Part,
    choose_coefficient,
    differences_of,
    few_items,
    open_scoring,
    reading_notes,
)
from softirr.report.comparison import Comparison
from softirr.report.inputs import AgreementOptions, is_table, table_from
from softirr.report.scoring import policy_used
from softirr.statistics.comparisons.groups import Group

_SEPARATE_CHANCE = (
    "Each coefficient is corrected for the agreement by chance of its own part, so parts with different wording can "
    "differ in both."
)


def compare(
    tables: Mapping[str, AnnotationTable | Any] | Sequence[AnnotationTable | Any] | AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    measures: Sequence[str | Measure] = (),
    policies: Sequence[str | Policy] = (),
    coefficient: str | None = None,
    items: str = "auto",
    adjust: bool = True,
    judgments: Sequence[Any] = (),
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare the agreement of two tables or more, or of one table under several measures or policies.

    Parameters
    ----------
    tables : dict of str to tables, sequence of tables, or one table
        Tables in any form that :func:`softirr.agreement` takes, by label; a sequence is labeled A, B, and so on.
        Differences are later minus earlier. One table needs `measures` or `policies`.
    measure : str or Measure
        The same for all tables and policies.
    options : AgreementOptions, optional
        How chance and intervals are computed.
    measures : sequence of str or Measure
        Measures under which one table is compared.
    policies : sequence of str or Policy
        Policies under which one table is compared: presets, files or :class:`softirr.Policy`.
    coefficient : str, optional
        Such as ``cohen_kappa``; by default the first of ``HEADLINE`` that most tables have.
    items : {"auto", "same", "other"}
        Whether items of the same id are the same item. ``auto`` takes them for the same and uses all items; ``same``
        keeps only items that every table has two answers to; ``other`` takes them for different ones.
    adjust : bool
        Adjust p values and intervals for the number of differences (Holm 1979).
    judgments : sequence
        Judged audit sheets. Each corrects the coefficients of the tables that its pairs belong to.
    cache, progress
        As for :func:`softirr.agreement`.

    Raises
    ------
    InputError
        If there is only one part to compare, no common items if they are needed, or an option is unknown.

    Examples
    --------
    >>> import softirr
    >>> def table(second):
    ...     rows = [(str(i), who, text) for i, text in enumerate(["fever", "cough", "rash"]) for who in ("ann",)]
    ...     rows += [(str(i), "bob", text) for i, text in enumerate(second)]
    ...     return softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> first, second = table(["fever", "itch", "pain"]), table(["fever", "cough", "pain"])
    >>> comparison = compare([first, second], "exact")
    >>> round(comparison.differences[0].difference.value, 2), comparison.paired
    (0.33, True)
    >>> [(group.label, round(group.coefficient.value, 2)) for group in compare(first, measures=["exact", "lcs"]).groups]
    [('exact', 0.29), ('lcs', 0.45)]
    """
    if items not in ("auto", "same", "other"):
        raise InputError(f"The option items is {items!r}, but must be auto, same or other.")
    parts_to_score = _parts(tables, measure, measures, policies, items == "same")
    with ExitStack() as stack:
        scored_parts = []
        for label, (table, scorer) in parts_to_score.items():
            scoring = stack.enter_context(open_scoring(scorer, options, cache, progress))
            scored_parts.append(scoring.part(label, table, judgments))
    return _comparison(
        scored_parts, coefficient, "measures" if measures else "policies" if policies else "tables", items, adjust
    )


def _parts(
    tables: Any,
    measure: str | Measure,
    measures: Sequence[str | Measure],
    policies: Sequence[str | Policy],
    common_items: bool,
) -> dict[str, tuple[AnnotationTable, str | Measure]]:
    """Each part of the comparison by its label: a table, and the measure that scores it."""
    if measures or policies:
        if not is_table(tables):
            raise InputError("Measures and policies are compared on one table, not on several.")
        table = table_from(tables)
        refuse_weights(table, "A comparison")
        by_name = {scorer if isinstance(scorer, str) else scorer.name: (table, scorer) for scorer in measures}
        scored_by_label = by_name or _under_policies(table, measure, policies)
        if len(scored_by_label) < 2:
            raise InputError(f"A comparison needs at least two different {'measures' if measures else 'policies'}.")
        return scored_by_label
    if is_table(tables) or not isinstance(tables, Iterable):
        raise InputError("A comparison needs at least two tables.")
    letters = (chr(ord("A") + n) if n < 26 else str(n + 1) for n in count())
    by_label = tables if isinstance(tables, Mapping) else dict(zip(letters, tables, strict=False))
    table_by_label = {label: table_from(table) for label, table in by_label.items()}
    if len(table_by_label) < 2:
        raise InputError("A comparison needs at least two tables.")
    for table in table_by_label.values():
        refuse_weights(table, "A comparison")
    compared = _same_items(table_by_label) if common_items else table_by_label
    return {label: (table, measure) for label, table in compared.items()}


def _under_policies(
    table: AnnotationTable, measure: str | Measure, policies: Sequence[str | Policy]
) -> dict[str, tuple[AnnotationTable, str | Measure]]:
    scorer = measure_by_name(measure) if isinstance(measure, str) else measure
    by_label: dict[str, tuple[AnnotationTable, str | Measure]] = {}
    for policy in policies:
        rules = find_policy(policy) if isinstance(policy, str) else policy
        label = policy if isinstance(policy, str) else policy.describe()
        by_label[label] = split_table(table, rules.split), under_policy(scorer, rules)
    return by_label


def _comparison(
    scored_parts: Sequence[Part], requested: str | None, compared: str, items: str, adjust: bool
) -> Comparison:
    name = choose_coefficient(scored_parts, requested)
    samples = [scored_part.sample(name) for scored_part in scored_parts]
    groups = [
        scored_part.group(sample, scored_part.estimates.coefficients[name])
        for scored_part, sample in zip(scored_parts, samples, strict=True)
    ]
    differences = differences_of(groups, samples, items == "other", adjust)
    notes = reading_notes({scored_part.label: scored_part.table for scored_part in scored_parts})
    warnings = [*notes, _SEPARATE_CHANCE, *few_items(groups)]
    warnings += [
        f"{scored_part.label}: the judgments are not used. {scored_part.problem}"
        for scored_part in scored_parts
        if scored_part.problem
    ]
    warnings += _audit_notes(groups)
    warnings += dict.fromkeys(chain.from_iterable(scored_part.estimates.warnings for scored_part in scored_parts))
    misfits = chain.from_iterable(scored_part.estimates.misfits for scored_part in scored_parts)
    return Comparison(
        name,
        tuple(groups),
        differences,
        measure=", ".join(dict.fromkeys(scored_part.scored.measure.name for scored_part in scored_parts)),
        policy=policy_used(scored_parts[0].table, scored_parts[0].scored.measure)
        if compared != "policies"
        else Policy(),
        compared=compared,
        paired=bool(differences) and all(change.n_shared > 1 for change in differences),
        adjusted="holm" if adjust and len(differences) > 1 else None,
        warnings=tuple(warnings),
        misfits=tuple(dict.fromkeys(misfits)),
    )


def _audit_notes(groups: Sequence[Group]) -> list[str]:
    n_judged = sum(group.audited for group in groups)
    if n_judged == 0:
        return [NOT_AUDITED]
    if n_judged == len(groups):
        return []
    return [
        "Some coefficients are audited and others are not: the difference contains the error of the measure in those "
        "that are not."
    ]


def _same_items(tables: Mapping[str, AnnotationTable]) -> dict[str, AnnotationTable]:
    """The tables, with only the items that each of them has two answers to."""
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


def labels_of(paths: Sequence[str]) -> list[str]:
    """Return a different label for each file: its name, its path if names repeat, and a number if paths repeat.

    Examples
    --------
    >>> labels_of(["round1/answers.csv", "answers.csv", "old.csv", "old.csv"])
    ['round1/answers.csv', 'answers.csv', 'old.csv', 'old.csv (2)']
    """
    names = {path: os.path.basename(path) or path for path in paths}
    n_paths, n_before, labels = Counter(names.values()), Counter[str](), []
    for path in paths:
        label = names[path] if n_paths[names[path]] == 1 else path
        n_before[path] += 1
        labels.append(label if n_before[path] == 1 else f"{label} ({n_before[path]})")
    return labels
