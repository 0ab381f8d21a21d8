"""Raters by themselves: repeated items, drift over time, and groups of raters who agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softirr.answers.files import answer_table
from softirr.answers.ratings import sums
from softirr.answers.table import AnnotationTable, Answer
from softirr.answers.weights import refuse_weights
from softirr.defaults import FEW_ITEMS, SCHEMA_VERSION
from softirr.json_object import JsonObject
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.numbers import cell, in_terminal, interval
from softirr.planning.compare_time import moments_of, places_of
from softirr.planning.compared_parts import Scoring, at_holm_levels, open_scoring, table_values
from softirr.planning.comparison_groups import Difference
from softirr.planning.difference import trend
from softirr.planning.rater_groups import LEAST_SHARED, RaterGroups, rater_groups
from softirr.planning.runs import Runs, runs_of_models
from softirr.plural import plural
from softirr.report.agreement import agreement
from softirr.report.options import AgreementOptions
from softirr.report.scoring import Scored, scored
from softirr.report.terminal_report import measure_phrase, policy_lines, printable, table_lines
from softirr.statistics.coefficients.intervals import Coefficient

__all__ = ["Raters", "Repeats", "raters"]


@dataclass(frozen=True)
class Repeats(JsonObject):
    """How far a rater agrees with the rater's own earlier answer.

    Attributes
    ----------
    rater : str
        Empty for all raters together.
    n_items : int
        Items answered twice.
    agreement : Coefficient
        Mean equivalence of the first and the second answer.
    alpha : Coefficient
        The same beyond chance (Krippendorff's alpha).
    """

    rater: str
    n_items: int
    agreement: Coefficient
    alpha: Coefficient


@dataclass(frozen=True, repr=False)
class Raters(JsonObject):
    """Each rater alone: repeated items, drift, and groups.

    Attributes
    ----------
    measure : str
    repeats : tuple of Repeats
        All raters together first, then each with two repeated items or more.
    drift : tuple of Difference
        Change of each rater's agreement with the others from the first to the last item, adjusted for their number.
    groups : RaterGroups or None
    notes : tuple of str
    policy : Policy
        What counted as the same.
    runs : tuple of Runs
        Models that ran several times.
    """

    measure: str
    repeats: tuple[Repeats, ...] = ()
    drift: tuple[Difference, ...] = ()
    groups: RaterGroups | None = None
    notes: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    runs: tuple[Runs, ...] = ()

    def __repr__(self) -> str:
        return f"<Raters: {len(self.repeats)} with repeats, {len(self.drift)} with drift, measure {self.measure}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        drift = [{"rater": one.b, **one.to_dict()} for one in self.drift]
        return {"schema_version": SCHEMA_VERSION, **super().to_dict(), "drift": drift}

    def lines(self) -> list[str]:
        """As lines of text."""
        lines = [f"Raters, {measure_phrase(self.measure, self.policy)}, not audited", *policy_lines(self.policy)]
        repeats = [
            (printable(r.rater) or "all raters", f"{r.n_items:,}", *_cells(r.agreement), cell(r.alpha.value))
            for r in self.repeats
        ]
        drift = [
            (printable(d.b), f"{d.n_shared:,}", *_cells(d.difference), cell(d.p), cell(d.p_adjusted))
            for d in self.drift
        ]
        runs = [(printable(one.model), str(one.runs), *_cells(one.within), *_cells(one.between)) for one in self.runs]
        tables: tuple[tuple[tuple[str, ...], Sequence[tuple[str, ...]]], ...] = (
            (("repeated items", "items", "agreement with oneself", "95% interval", "alpha"), repeats),
            (("drift", "items", "change", "95% interval", "p", "p adjusted"), drift),
            (("several runs", "runs", "with each other", "95% interval", "with other raters", "95% interval"), runs),
        )
        for head, rows in tables:
            if rows:
                lines += ["", *table_lines(head, rows)]
        if self.groups is not None:
            lines += ["", *map(in_terminal, self.groups.sentences)]
        return [*lines, *(f"Note: {note}" for note in self.notes)]


def raters(
    table: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    same: str | None = None,
    earlier: AnnotationTable | None = None,
    over: str | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Raters:
    """Raters by themselves: repeated items, drift, and groups.

    Parameters
    ----------
    table : AnnotationTable or data frame
    measure, options, cache, progress
        As for :func:`softirr.agreement`.
    same : str, optional
        A field: items with the same value are the same thing, shown again. The answers to the first and the second item
        are compared.
    earlier : AnnotationTable, optional
        The same table with first answers where a rater answered an item twice: read with ``repeats="first"``.
    over : str, optional
        A field with dates or numbers, for drift.

    Returns
    -------
    Raters

    Raises
    ------
    InputError
        If the table was read without one of the fields.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"text {i % 3}") for i in range(12) for who in "abcd"]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> raters(table, "exact").groups.found
    False
    """
    table = answer_table(table, fields=(same, over))
    refuse_weights(table, "The report on raters")
    notes: list[str] = []
    with open_scoring(measure, options, cache, progress) as scoring:
        results = scored(table, scoring.measure, scoring.options, cache=scoring.cache, progress=scoring.progress)
        again: tuple[Repeats, ...] = ()
        if same is not None or earlier is not None:
            twice = _shown_again(table, same) if same is not None else _answered_again(table, earlier)
            again = _repeats(twice, scoring)
            if not again:
                notes.append("No rater answered the same item twice.")
            elif again[0].n_items < FEW_ITEMS:
                notes.append(f"Fewer than {FEW_ITEMS} repeated items: the intervals are approximate.")
        drift = () if over is None else _drift(table, over, results)
        groups = rater_groups(table, results)
    if len(results.ratings.comparable_items) < FEW_ITEMS:
        notes.append(f"Fewer than {FEW_ITEMS} items with two answers: intervals and groups are approximate.")
    if len(drift) > 1:
        notes.append(
            f"The intervals of drift are adjusted for {plural(len(drift), 'rater')}, as is the adjusted p (Holm)."
        )
    if groups is None:
        notes.append(f"Groups of raters need four raters or more who share {LEAST_SHARED} items with each other.")
    runs = runs_of_models(table, results)
    return Raters(scoring.measure.name, again, drift, groups, tuple(notes), scoring.policy(table), runs)


Twice = Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]
"""First and second answer by (item, rater)."""


def _shown_again(table: AnnotationTable, field: str) -> Twice:
    values = table_values(table, field)
    given: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        if values[item]:
            given.setdefault((values[item], table.raters[rater]), []).append(table.texts_of(answer))
    return {key: (texts[0], texts[1]) for key, texts in given.items() if len(texts) > 1}


def _answered_again(table: AnnotationTable, earlier: AnnotationTable | None) -> Twice:
    if earlier is None:
        return {}
    cells = []
    for one in (earlier, table):
        rows = zip(one.item.tolist(), one.rater.tolist(), one.answer.tolist(), strict=True)
        cells.append({(one.items[i], one.raters[r]): one.texts_of(a) for i, r, a in rows})
    repeated = {
        (entry.item, entry.rater) for entry in (*earlier.excluded, *table.excluded) if "same rater" in entry.reason
    }
    return {key: (cells[0][key], cells[1][key]) for key in cells[0] if key in repeated and key in cells[1]}


def _repeats(twice: Twice, scoring: Scoring) -> tuple[Repeats, ...]:
    if not twice:
        return ()
    table = AnnotationTable.from_answers(
        Answer(f"{rater}\n{item}", occasion, texts)
        for (item, rater), both in twice.items()
        for occasion, texts in zip(("first", "second"), both, strict=True)
    )
    repeats = []
    names = sorted({rater for _, rater in twice})
    for name in ("", *(names if len(names) > 1 else ())):
        part = table if not name else table.part(items=[item for item in table.items if item.split("\n")[0] == name])
        if name and len(part.items) < 2:
            continue
        report = agreement(part, scoring.measure, scoring.options, cache=scoring.cache, progress=scoring.progress)
        repeats.append(
            Repeats(
                name or (names[0] if len(names) == 1 else ""),
                len(part.items),
                report.coefficients["observed_agreement"],
                report.coefficients["krippendorff_alpha"],
            )
        )
    return tuple(repeats)


def _drift(table: AnnotationTable, field: str, results: Scored) -> tuple[Difference, ...]:
    """Trend of each rater's agreement with the others."""
    at = moments_of(field, table_values(table, field))
    comparisons = results.ratings.comparisons
    changes = []
    for number, rater in enumerate(table.raters):
        mine = comparisons.of_rater(number)
        item = comparisons.item[mine]
        n = np.bincount(item, minlength=len(table.items))
        used = [i for i in np.flatnonzero(n).tolist() if at[i] is not None]
        if len(used) < LEAST_SHARED:
            continue
        means = sums(item, results.scores[mine], len(table.items))[used] / n[used]
        slope, p = trend(means, places_of(np.array([at[i] for i in used], dtype=np.float64)))
        changes.append(Difference("first item", rater, slope, p, p, len(used)))
    return at_holm_levels(changes, [one.n_shared - 1 for one in changes])


def _cells(coefficient: Coefficient) -> tuple[str, str]:
    """Value and interval."""
    return cell(coefficient.value), interval(coefficient.ci95, 3, none="")
