"""Comparing agreement: files, groups of items, teams of raters, one rater or model with the others, and over time."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from softirr.audit.audited import apply
from softirr.audit.between import AuditedPart, AuditedRaters
from softirr.coefficients import chance_corrected as co
from softirr.coefficients.estimate import Estimate, Undefined, undefined
from softirr.coefficients.intervals import FEW_ITEMS, Coefficient, of_mean
from softirr.coefficients.summary import COEFFICIENTS
from softirr.errors import InputError
from softirr.measures import DEFAULT_MEASURE, Measure, takes_model
from softirr.measures import measure as measure_by_name
from softirr.measures.automatic import CacheOption, ProgressOption, cache_and_progress
from softirr.measures.cache import MemoryCache, PairCache
from softirr.planning.comparison import Comparison, Difference, Group, verdict, with_adjusted_intervals
from softirr.planning.difference import Sample, difference, equality, holm, p_value, trend
from softirr.policy.measure import policy_of
from softirr.policy.rules import Policy
from softirr.provenance import Progress
from softirr.report.agreement import Scored, scored
from softirr.report.headline import HEADLINE
from softirr.report.options import AgreementOptions
from softirr.tables.ratings import Floats, Ints
from softirr.tables.table import AnnotationTable
from softirr.tables.weights import refuse_weights

__all__ = [
    "MARGIN",
    "MODEL",
    "OTHERS_ON_ITEMS_OF",
    "compare",
    "compare_groups",
    "compare_raters",
    "compare_time",
    "moments_of",
    "opened",
    "places_of",
    "table_values",
    "used_policy",
]

MOST_GROUPS = 20
"""Most values of a field that are compared: 190 differences."""
PERIODS = 4
MARGIN = 0.05
"""How much less than people among themselves a rater may agree with them and still be within their range."""
MODEL = "model:"
"""What the names of raters begin with that are versions of a model."""
OTHERS_ON_ITEMS_OF = "others, on items of "
"""What the label of the others begins with where several raters are compared with them."""
_FEW_SHARED = 10
_NOT_AUDITED = (
    "Not audited: the intervals hold the sampling of items, not the error of the measure, which cancels in a difference only as far as it is the same in "
    "both parts."
)
_OWN_CHANCE = "Each coefficient is corrected for the agreement by chance of its own part, so parts of other wording can differ in both."


def compare(
    tables: Mapping[str, AnnotationTable] | Sequence[AnnotationTable],
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str | None = None,
    items: str = "auto",
    adjust: bool = True,
    sheets: Mapping[str, Sequence[Any]] | None = None,
    audited: Mapping[str, Mapping[str, Coefficient]] | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare the agreement of two tables or more.

    Parameters
    ----------
    tables : dict of str to AnnotationTable, or sequence
        By label; a sequence is labeled A, B, and so on. Differences are later minus earlier.
    measure : str or Measure
        The same for all.
    options : AgreementOptions, optional
    coefficient : str, optional
        Such as ``cohen_kappa``; by default the first of ``HEADLINE`` that all tables have.
    items : {"auto", "same", "other"}
        Whether items of the same id are the same item. ``auto`` takes them for the same and uses all items; ``same`` keeps only items that every table
        has two answers to; ``other`` takes them for different ones.
    adjust : bool
        Adjust p values for the number of differences (Holm 1979).
    sheets : dict of str to sequence, optional
        Judged audit sheets by label: the coefficients of these tables are audited.
    audited : dict of str to dict of str to Coefficient, optional
        Audited coefficients by label and name, from audits of these tables that were evaluated before.
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
    >>> found = compare([table(["fever", "itch", "pain"]), table(["fever", "cough", "pain"])], "exact")
    >>> round(found.differences[0].difference.value, 2), found.paired
    (0.33, True)
    """
    if items not in ("auto", "same", "other"):
        raise InputError(f"The option items is {items!r}, but can be auto, same, other.")
    named = dict(tables) if isinstance(tables, Mapping) else {_letter(n): table for n, table in enumerate(tables)}
    if len(named) < 2:
        raise InputError("A comparison needs two tables or more.")
    for table in named.values():
        refuse_weights(table, "A comparison")
    if items == "same":
        named = _same_items(named)
    with opened(measure, options, cache, progress) as (made, chosen, store, told):
        parts = {
            label: _Part(label, table, scored(table, made, chosen, cache=store, progress=told))
            for label, table in named.items()
        }
        name = _choose(parts, coefficient)
        groups, samples = [], []
        for label, part in parts.items():
            right = (audited or {}).get(label, {}).get(name)
            if sheets and sheets.get(label):
                right = apply(
                    part.table, made, sheets[label], assignment=chosen.assignment, cache=store, progress=told
                ).coefficients[name]
            samples.append(part.sample(name, right))
            groups.append(part.group(samples[-1], right is not None))
    independent = items == "other"
    differences = _differences(groups, samples, independent, adjust)
    warnings = [_OWN_CHANCE, *_few(groups)]
    if not any(group.audited for group in groups):
        warnings.append(_NOT_AUDITED)
    elif not all(group.audited for group in groups):
        warnings.append(
            "Some coefficients are audited and others are not: the difference holds the error of the measure in those that are not."
        )
    return Comparison(
        name,
        tuple(groups),
        differences,
        measure=made.name,
        policy=used_policy(made, next(iter(named.values()))),
        paired=bool(differences) and all(one.n_shared > 1 for one in differences),
        adjusted="holm" if adjust and len(differences) > 1 else None,
        equality=equality(samples, independent=independent),
        warnings=tuple(warnings),
    )


def compare_groups(
    table: AnnotationTable,
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
    table : AnnotationTable
        Read with this field, see :func:`softirr.read`.
    field : str
    same : str, optional
        Another field: items with the same value of it are the same thing, shown once in each group, such as in each round. The comparison is paired, on the
        items that every group has.
    measure, options, coefficient, adjust, cache, progress
        As for :func:`compare`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the table has no such field, or the field has fewer than two values or more than 20, or several items of a group are the same.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(rows, fields={str(i): {"site": f"site {i % 2}"} for i in range(20)})
    >>> [(group.label, group.n_items) for group in compare_groups(table, "site", "exact").groups]
    [('site 0', 10), ('site 1', 10)]
    """
    values = table_values(table, field)
    groups: dict[str, list[str]] = {}
    for item, value in zip(table.items, values, strict=True):
        if value:
            groups.setdefault(value, []).append(item)
    if not 2 <= len(groups) <= MOST_GROUPS:
        raise InputError(
            f"The field {field} has {len(groups)} values, but groups can be compared for 2 to {MOST_GROUPS}. "
            "For numbers or dates, compare over the field instead."
        )
    parts = {value: table.part(items=groups[value]) for value in sorted(groups)}
    if same is not None:
        parts = {value: _named_by(part, same, f"{field} {value}") for value, part in parts.items()}
    found = compare(
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
    more = _without_value(without, field)
    return replace(found, by=field, warnings=(*found.warnings, *more))


def compare_raters(
    table: AnnotationTable,
    raters: Sequence[str] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str = "cohen_kappa",
    margin: float = MARGIN,
    adjust: bool = True,
    sheets: Sequence[Any] = (),
    labels: Mapping[str, str] | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare raters, or models, with the others: their agreement with the others against that of the others among themselves, on the same items.

    Items count that the rater and two others answered. The agreement of a rater with the others is the mean over the pairs of which the rater is one; that
    of the others is the mean over their own pairs.

    Parameters
    ----------
    table : AnnotationTable
    raters : sequence of str, optional
        Each is compared with all that are not named here; by default the models, whose names begin with ``model:``.
    measure, options, adjust, cache, progress
        As for :func:`compare`.
    coefficient : {"cohen_kappa", "observed_agreement"}
    margin : float
        How much less a rater may agree with the others and still be within their range.
    sheets : sequence, optional
        Judged audit sheets that were drawn from the whole table: both parts of each difference are audited.
    labels : dict of str to str, optional
        What the comparison calls raters.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a rater is not in the table, or fewer than two others are.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in ("ann", "bob", "model:one")]
    >>> table = softirr.AnnotationTable.from_answers(rows)
    >>> found = compare_raters(table, measure="exact")
    >>> found.differences[0].b, found.differences[0].difference.value
    ('model:one', 0.0)
    """
    if coefficient not in ("cohen_kappa", "observed_agreement"):
        raise InputError(f"Raters are compared by cohen_kappa or observed_agreement, not by {coefficient}.")
    if not 0 <= margin < 1:
        raise InputError(f"The margin is {margin}, but has to be from 0 to 1.")
    chosen = tuple(dict.fromkeys(raters if raters is not None else (r for r in table.raters if r.startswith(MODEL))))
    for name in chosen:
        if name not in table.raters:
            raise InputError(f"No rater is named {name!r}; there are {', '.join(table.raters[:20])}.")
    if not chosen:
        raise InputError("The table has no models: predictions of an export count as raters with --model-raters.")
    others = [rater for rater in table.raters if rater not in chosen]
    if len(others) < 2:
        raise InputError(
            "A rater is compared with the agreement of the others among themselves: that needs two others."
        )

    refuse_weights(table, "A comparison")

    def called(rater: str) -> str:
        return (labels or {}).get(rater, rater)

    groups: list[Group] = []
    differences: list[Difference] = []
    warnings: list[str] = []
    with opened(measure, options, cache, progress) as (made, how, store, told):
        judged = (
            AuditedRaters(table, made, sheets, assignment=how.assignment, cache=store, progress=told)
            if sheets
            else None
        )
        for rater in chosen:
            name = called(rater)
            kept = table.part(items=_answered_with_two(table, rater, others), raters=[*others, rater])
            if not len(kept.item):
                warnings.append(f"{name}: no item has an answer of this rater and of two others.")
                continue
            theirs = _Part(
                "others", people := kept.part(raters=others), scored(people, made, how, cache=store, progress=told)
            )
            whole = _Part(name, kept, scored(kept, made, how, cache=store, progress=told))
            among = theirs.sample(coefficient)
            own = whole.of(whole.rater_estimate(coefficient, kept.raters.index(rater)))
            if judged is not None:
                parts = judged.compared(rater, others, kept.items, coefficient)
                among, own = (Sample(part.coefficient, part.estimate, part.items) for part in parts)
                warnings += _few_judged(parts, name)
            audited = judged is not None
            groups += [
                replace(theirs.group(among, audited), label=OTHERS_ON_ITEMS_OF + name),
                whole.group(own, audited),
            ]
            differences += _differences(groups[-2:], [among, own], False, adjust=False)
            warnings += _sparse(whole.found, name)
        if not differences:
            raise InputError("No rater shares an item with two others, so there is nothing to compare.")
        if len(chosen) == 1:
            groups[0] = replace(groups[0], label="others")
            differences = [replace(differences[0], a="others")]
        people_groups = tuple(
            replace(group, label=called(group.label))
            for group in _each_of(table.part(raters=others), coefficient, made, how, store, told)
        )
    p = holm([one.p for one in differences]) if adjust else [one.p for one in differences]
    if adjust:
        differences = with_adjusted_intervals(differences, margin)
    told_of = tuple(
        replace(one, p_adjusted=value, verdict=verdict(one, margin, audited=bool(sheets)))
        for one, value in zip(differences, p, strict=True)
    )
    if not adjust and len(told_of) > 1:
        warnings.append(f"The verdicts are not adjusted for {len(told_of)} comparisons.")
    if not sheets:
        warnings.insert(0, _NOT_AUDITED)
    elif people_groups:
        warnings.append("Each of the others with the rest of them is by the measure alone.")
    return Comparison(
        coefficient,
        tuple(groups),
        told_of,
        measure=made.name,
        policy=used_policy(made, table),
        paired=True,
        adjusted="holm" if adjust and len(told_of) > 1 else None,
        others=people_groups,
        margin=margin,
        warnings=(*_few(groups), *warnings),
    )


def compare_time(
    table: AnnotationTable,
    field: str,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str | None = None,
    rater: str | None = None,
    periods: int = PERIODS,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Whether agreement changes over time: a coefficient for each period, and a test of the trend.

    Every period is corrected for the agreement by chance of the whole table. The trend is tested on the items in their order.

    Parameters
    ----------
    table : AnnotationTable
        Read with this field, see :func:`softirr.read`.
    field : str
        Dates or numbers, such as ``annotated_at``.
    measure, options, cache, progress
        As for :func:`compare`.
    coefficient : str, optional
        As for :func:`compare`.
    rater : str, optional
        Drift of this rater: the agreement with the others (Cohen's kappa or observed agreement).
    periods : int
        Highest number of periods, with about as many items each; items of one moment are in one period.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the field is not there, holds what is neither date nor number, or holds one date only.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(rows, fields={str(i): {"day": str(i)} for i in range(20)})
    >>> abs(round(compare_time(table, "day", "exact").trend.difference.value, 6))
    0.0
    """
    refuse_weights(table, "A comparison over time")
    at = dict(zip(table.items, moments_of(field, table_values(table, field)), strict=True))
    kept = table.part(items=[item for item, moment in at.items() if moment is not None])
    with opened(measure, options, cache, progress) as (made, how, store, told):
        part = _Part("all", kept, scored(kept, made, how, cache=store, progress=told))
        if rater is None:
            name = _choose({"all": part}, coefficient)
            sample = part.sample(name)
        else:
            if rater not in kept.raters:
                raise InputError(f"No rater is named {rater!r}; there are {', '.join(kept.raters[:20])}.")
            name = coefficient or "cohen_kappa"
            sample = part.of(part.rater_estimate(name, kept.raters.index(rater)))
    if sample.coefficient.value is None:
        raise InputError(f"The coefficient is not defined: {sample.coefficient.undefined}.")
    texts = dict(zip(table.items, table_values(table, field), strict=True))
    moments = np.array([at[item] for item in sample.items], dtype=np.float64)
    if moments.min() == moments.max():
        raise InputError(
            f"All items have the same {field}, {texts[sample.items[0]][:40]}: a comparison over time needs two."
        )
    cuts = _cuts(moments, min(periods, max(len(moments) // 2, 1)))
    values = sample.coefficient.value + sample.estimate.influence
    slope, p = trend(values, places_of(moments))
    ids = sample.items
    groups = tuple(
        Group(
            _span(texts[ids[cut[0]]], texts[ids[cut[-1]]]),
            len(cut),
            len(kept.raters),
            of_mean(values[cut], floor=sample.estimate.floor, expected=sample.estimate.expected),
        )
        for cut in cuts
    )
    without = len(table.items) - len(kept.items)
    more = _without_value(without, field)
    return Comparison(
        name,
        groups,
        (),
        measure=made.name,
        policy=used_policy(made, table),
        by=field,
        rater=rater,
        trend=Difference("first item", "last item", slope, p, p, len(values)),
        warnings=(*_few([part.group(sample)]), _NOT_AUDITED, *more),
    )


class _Part:
    """A table with its estimates."""

    def __init__(self, label: str, table: AnnotationTable, found: Scored) -> None:
        self.label, self.table, self.found = label, table, found

    def sample(self, name: str, audited: Coefficient | None = None) -> Sample:
        """One of its coefficients, or what an audit says of it."""
        return self.of(self.found.summary.coefficients[name], audited)

    def of(self, estimate: Estimate, audited: Coefficient | None = None) -> Sample:
        """An estimate with its interval and the ids of its items."""
        items = () if estimate.items is None else tuple(self.table.items[i] for i in estimate.items.tolist())
        return Sample(audited or self.found.with_interval(estimate), estimate, items)

    def rater_estimate(self, name: str, rater: int) -> Estimate:
        """Agreement of one rater with the others."""
        found = self.found
        if name == "observed_agreement":
            return co.rater_agreement(found.ratings, found.scores, rater)
        if found.chance is None:
            return undefined(Undefined.NO_OVERLAP)
        return co.mean_cohen(found.ratings, found.scores, found.chance, rater=rater)

    def group(self, sample: Sample, audited: bool = False) -> Group:
        """A line of the comparison."""
        return Group(self.label, len(sample.items), len(self.table.raters), sample.coefficient, audited)


@contextlib.contextmanager
def opened(
    measure: str | Measure, options: AgreementOptions | None, cache: CacheOption, progress: ProgressOption
) -> Iterator[tuple[Measure, AgreementOptions, PairCache | None, Progress | None]]:
    """Measure, options, cache and progress; pairs of a model that several parts share are scored once.

    Parameters
    ----------
    measure, options, cache, progress
        As for :func:`softirr.agreement`.

    Yields
    ------
    tuple of (Measure, AgreementOptions, PairCache or None, callable or None)
    """
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    with cache_and_progress(made, cache, progress) as (store, told):
        if store is None and takes_model(made.name):
            store = MemoryCache()
        yield made, options or AgreementOptions(), store, told


def used_policy(made: Measure, table: AnnotationTable) -> Policy:
    """What counted as the same.

    Parameters
    ----------
    made : Measure
    table : AnnotationTable

    Returns
    -------
    Policy
    """
    return policy_of(made).changed(split="none" if table.split is None else table.split.mode)


def _choose(parts: Mapping[str, _Part], wanted: str | None) -> str:
    """The coefficient to compare."""
    if wanted is not None:
        if wanted not in COEFFICIENTS:
            raise InputError(f"The coefficient {wanted!r} is not known: there are {', '.join(COEFFICIENTS)}.")
        return wanted
    found = [part.found.summary.coefficients for part in parts.values()]
    most = max(sum(one[name].value is not None for one in found) for name in HEADLINE)
    return next(name for name in HEADLINE if sum(one[name].value is not None for one in found) == most)


def _differences(
    groups: Sequence[Group], samples: Sequence[Sample], independent: bool, adjust: bool
) -> tuple[Difference, ...]:
    """Every two groups: the later one minus the earlier one."""
    found = []
    for i, j in itertools.combinations(range(len(groups)), 2):
        one = difference(samples[i], samples[j], independent=independent)
        shared = 0 if independent else len(set(samples[i].items) & set(samples[j].items))
        p = p_value(one, min(len(samples[i].items), len(samples[j].items)))
        found.append(Difference(groups[i].label, groups[j].label, one, p, p, shared))
    values = holm([one.p for one in found]) if adjust else [one.p for one in found]
    return tuple(replace(one, p_adjusted=value) for one, value in zip(found, values, strict=True))


def _same_items(tables: Mapping[str, AnnotationTable]) -> dict[str, AnnotationTable]:
    """The tables, with the items only that each of them has two answers to."""
    usable = [
        {item for item, n in zip(t.items, np.bincount(t.item, minlength=len(t.items)).tolist(), strict=True) if n > 1}
        for t in tables.values()
    ]
    common = set.intersection(*usable)
    if len(common) < 2:
        raise InputError(
            f"The tables have {len(common)} items in common with two answers in each: a paired comparison needs two."
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
            f"Several items of {where} have the {field} {twice[:40]!r}: it has to name one item of each group."
        )
    return replace(kept, items=names)


def _answered_with_two(table: AnnotationTable, rater: str, others: Sequence[str]) -> list[str]:
    """Items with an answer of the rater and of two others."""
    who = np.array([name in set(others) for name in table.raters])
    n = np.bincount(table.item, weights=who[table.rater], minlength=len(table.items))
    mine = set(table.item[table.rater == table.raters.index(rater)].tolist())
    return [item for i, item in enumerate(table.items) if i in mine and n[i] >= 2]


def _each_of(
    people: AnnotationTable,
    name: str,
    made: Measure,
    how: AgreementOptions,
    store: PairCache | None,
    told: Progress | None,
) -> tuple[Group, ...]:
    """Agreement of each of the others with the rest of them: the range that people have."""
    if len(people.raters) < 3:
        return ()
    part = _Part("", people, scored(people, made, how, cache=store, progress=told))
    samples = [part.of(part.rater_estimate(name, number)) for number in range(len(people.raters))]
    return tuple(
        replace(part.group(sample), label=rater)
        for rater, sample in zip(people.raters, samples, strict=True)
        if sample.coefficient.value is not None
    )


def _without_value(n: int, field: str) -> tuple[str, ...]:
    """A sentence about items that are left out."""
    if not n:
        return ()
    return (
        f"{n:,} {'item has' if n == 1 else 'items have'} no value of {field} and {'is' if n == 1 else 'are'} left out.",
    )


def _few(groups: Sequence[Group]) -> list[str]:
    few = [group.label for group in groups if group.coefficient.value is not None and group.n_items < FEW_ITEMS]
    return [f"Fewer than {FEW_ITEMS} items in {', '.join(few)}: the intervals are approximate."] if few else []


def _few_judged(parts: Sequence[AuditedPart], rater: str) -> list[str]:
    if all(part.coefficient.value is None or part.coefficient.ci95 is not None for part in parts):
        return []
    people, own = (part.judged for part in parts)
    return [
        f"{rater}: too few pairs are judged for an interval ({own} of {rater} with the others, {people} of the others among themselves): judge more of the sheet."
    ]


def _sparse(found: Scored, rater: str) -> list[str]:
    shared = found.ratings.comparisons.shared
    if len(shared) and np.median(shared) < _FEW_SHARED:
        return [
            f"{rater}: two raters share {np.median(shared):.0f} items at the median, too few for the kappa of a pair. "
            "Compare observed_agreement instead."
        ]
    return []


def table_values(table: AnnotationTable, field: str) -> tuple[str, ...]:
    """The value of a field for each item.

    Parameters
    ----------
    table : AnnotationTable
    field : str

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        If the table was read without the field.
    """
    if field not in table.fields:
        raise InputError(f"The table was read without the field {field!r}: name it in fields= of softirr.read.")
    return tuple(table.fields[field])


def moments_of(field: str, values: Sequence[str]) -> list[float | None]:
    """Dates or numbers as numbers; None where a value is missing.

    Parameters
    ----------
    field : str
        Name of the field, for the message.
    values : sequence of str

    Returns
    -------
    list of (float or None)

    Raises
    ------
    InputError
        If a value is neither a number nor a date.
    """
    for kind in (float, _timestamp):
        with contextlib.suppress(ValueError):
            return [kind(value) if value else None for value in values]
    wrong = next((value for value in values if value and not _is_date(value)), "")
    raise InputError(
        f"The field {field} holds {wrong[:40]!r}, which is neither a number nor a date such as 2026-01-31."
    )


def _timestamp(value: str) -> float:
    found = datetime.fromisoformat(value)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _is_date(value: str) -> bool:
    try:
        _timestamp(value)
    except ValueError:
        return False
    return True


def places_of(moments: Floats) -> Floats:
    """Where each item stands in the order, from 0 to 1; items of one moment share their place.

    Parameters
    ----------
    moments : shape (n,)

    Returns
    -------
    shape (n,)
    """
    from scipy.stats import rankdata

    return np.asarray((rankdata(moments) - 1) / max(len(moments) - 1, 1))


def _cuts(moments: Floats, periods: int) -> list[Ints]:
    """The places of the items of each period, in their order: about as many in each, and items of one moment in one."""
    order = np.argsort(moments, kind="stable")
    starts = np.flatnonzero(np.diff(moments[order])) + 1
    if not len(starts):
        return [order]
    wanted = np.arange(1, periods) * len(order) / periods
    nearest = {int(starts[np.abs(starts - one).argmin()]) for one in wanted}
    return np.split(order, sorted(nearest))


def _span(first: str, last: str) -> str:
    """A period by its first and last moment; times of day are left out where the days differ."""
    a, b = (value[:10] if len(value) > 10 and value[4:5] == "-" else value for value in (first, last))
    return a if a == b else f"{a} to {b}"


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
