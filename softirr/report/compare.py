"""Compare the agreement of several tables, or of one table under several measures or policies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, count
from typing import Any

from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.numbers import plural
from softirr.report.comparison import NOT_AUDITED, Comparison, comparable_items, difference_of, few_items, reading_notes
from softirr.report.evidence import Estimated, estimated
from softirr.report.inputs import AgreementOptions, is_table, read_sheets, table_from
from softirr.report.items import text_under_measure
from softirr.report.key_figures import HEADLINE
from softirr.report.scoring import open_scoring, policy_used, scored
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.comparisons.difference import at_levels, holm, holm_levels
from softirr.statistics.comparisons.groups import Difference, Group

_SEPARATE_CHANCE = (
    "Each coefficient is corrected for the agreement by chance of its own part, so parts with different wording can "
    "differ in both."
)
_AUDITED_IN_PART = (
    "Some coefficients are audited and others are not: the difference contains the error of the measure in those that "
    "are not."
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
    compared = "measures" if measures else "policies" if policies else "tables"
    if compared == "tables":
        parts_to_score = {label: (table, measure) for label, table in _several(tables, items == "same").items()}
    elif not is_table(tables):
        raise InputError("Measures and policies are compared on one table, not on several.")
    else:
        parts_to_score = _on_one_table(table_from(tables), measure, measures, policies)
        if len(parts_to_score) < 2:
            raise InputError(f"A comparison needs at least two different {compared}.")
    sheets, unused_sheets, entries = read_sheets(judgments), [], dict[str, Estimated]()
    for label, (table, scorer) in parts_to_score.items():
        with open_scoring(scorer, options, cache, progress) as scoring:
            scored_table = scored(scoring.answers(table), scoring.options)
            try:
                entries[label] = estimated(scored_table, sheets)
            except InputError as error:
                if not sheets:
                    raise
                entries[label] = estimated(scored_table)
                unused_sheets.append(f"{label}: the judgments are not used. {error}")
    return _comparison(entries, unused_sheets, coefficient, compared, items == "other", adjust)


def _several(tables: Any, common_items: bool) -> dict[str, AnnotationTable]:
    """Several tables by their labels, with all of their items or with those that they have in common."""
    if is_table(tables) or not isinstance(tables, Iterable):
        raise InputError("A comparison needs at least two tables.")
    letters = (chr(ord("A") + n) if n < 26 else str(n + 1) for n in count())
    by_label = tables if isinstance(tables, Mapping) else dict(zip(letters, tables, strict=False))
    table_by_label = {label: table_from(table) for label, table in by_label.items()}
    if len(table_by_label) < 2:
        raise InputError("A comparison needs at least two tables.")
    for table in table_by_label.values():
        refuse_weights(table, "A comparison")
    return _same_items(table_by_label) if common_items else table_by_label


def _on_one_table(
    table: AnnotationTable, measure: str | Measure, measures: Sequence[str | Measure], policies: Sequence[str | Policy]
) -> dict[str, tuple[AnnotationTable, str | Measure]]:
    """A table with each measure, or the measure under each policy, by the name of the measure or policy."""
    refuse_weights(table, "A comparison")
    if measures:
        return {scorer if isinstance(scorer, str) else scorer.name: (table, scorer) for scorer in measures}
    labels = [policy if isinstance(policy, str) else policy.describe() for policy in policies]
    return {label: text_under_measure(table, measure, policy) for label, policy in zip(labels, policies, strict=True)}


def _comparison(
    entries: Mapping[str, Estimated],
    unused_sheets: Sequence[str],
    requested: str | None,
    compared: str,
    are_other_items: bool,
    adjust: bool,
) -> Comparison:
    estimates = list(entries.values())
    name = _chosen_coefficient(estimates) if requested is None else definition(requested).key
    samples = [entry.sample_of(name) for entry in estimates]
    groups = [
        Group(label, len(sample.items), len(entry.table.raters), entry.coefficients[name])
        for (label, entry), sample in zip(entries.items(), samples, strict=True)
    ]
    differences = _differences(groups, samples, are_other_items, adjust)
    n_judged = sum(group.audited for group in groups)
    warnings = [
        *reading_notes({label: entry.table for label, entry in entries.items()}),
        _SEPARATE_CHANCE,
        *few_items(groups),
        *unused_sheets,
        *([NOT_AUDITED] if n_judged == 0 else [_AUDITED_IN_PART] if n_judged < len(groups) else []),
        *dict.fromkeys(chain.from_iterable(entry.warnings for entry in estimates)),
    ]
    return Comparison(
        name,
        tuple(groups),
        tuple(differences),
        measure=", ".join(dict.fromkeys(entry.measure.name for entry in estimates)),
        policy=Policy() if compared == "policies" else policy_used(estimates[0].table, estimates[0].measure),
        compared=compared,
        paired=bool(differences) and all(change.n_shared > 1 for change in differences),
        adjusted="holm" if adjust and len(differences) > 1 else None,
        warnings=tuple(warnings),
        misfits=tuple(dict.fromkeys(chain.from_iterable(entry.misfits for entry in estimates))),
    )


def _chosen_coefficient(estimates: Sequence[Estimated]) -> str:
    """The first coefficient of ``HEADLINE`` that most tables have."""

    def n_defined(name: str) -> int:
        return sum(entry.by_measure.estimates[name].value is not None for entry in estimates)

    return max(HEADLINE, key=n_defined)


def _differences(
    groups: Sequence[Group], samples: Sequence[Sample], independent: bool, adjust: bool
) -> list[Difference]:
    """Every two groups: the later one minus the earlier one.

    Adjusted intervals exclude 0 if the adjusted p is below 0.05.
    """
    pairs = list(combinations(groups, 2))
    differences = [
        difference_of(pair, of_pair, independent=independent)
        for pair, of_pair in zip(pairs, combinations(samples, 2), strict=True)
    ]
    if not adjust or len(differences) < 2:
        return differences
    p_values = [entry.p for entry in differences]
    levels, adjusted = holm_levels(p_values), holm(p_values)
    return [
        replace(entry, difference=at_levels(entry.difference, min(a.n_items, b.n_items), level, level), p_adjusted=p)
        for entry, (a, b), level, p in zip(differences, pairs, levels, adjusted, strict=True)
    ]


def _same_items(tables: Mapping[str, AnnotationTable]) -> dict[str, AnnotationTable]:
    """The tables, with only the items that each of them has two answers to."""
    common = set.intersection(*map(comparable_items, tables.values()))
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
