"""A table with its estimates, as a part of a comparison, and steps of all comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr.answers.missing import unchecked_in_words
from softirr.answers.table import AnnotationTable
from softirr.defaults import FEW_ITEMS
from softirr.errors import InputError, Note
from softirr.report.evidence import Estimated, estimated
from softirr.report.inputs import read_sheets
from softirr.report.key_figures import HEADLINE
from softirr.report.scoring import Scored, Scoring, scored
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Coefficient, Sample
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.comparisons.difference import at_levels, difference, holm, holm_levels, p_value
from softirr.statistics.comparisons.groups import Difference, Group

NOT_AUDITED = (
    "Not audited: the intervals contain the sampling of items but not the error of the measure, which cancels in a "
    "difference only as far as it is the same in both parts."
)


def reading_notes(tables: Mapping[str, AnnotationTable]) -> list[str]:
    """What to know about the answers of each table by its label, which is named unless all tables share it."""
    labels: dict[Note, list[str]] = {}
    for label, table in tables.items():
        for sentence in (*table.warnings, *unchecked_in_words(table)):
            labels.setdefault(Note(sentence), []).append(label)
    return [note if len(of) == len(tables) else note.of(", ".join(of)) for note, of in labels.items()]


@dataclass(frozen=True, eq=False)
class Part:
    """A table of a comparison with its estimates.

    Attributes
    ----------
    problem : str or None
        Why its judgments are not used.
    """

    label: str
    estimates: Estimated
    problem: str | None = None

    @property
    def table(self) -> AnnotationTable:
        """Its answers."""
        return self.scored.table

    @property
    def scored(self) -> Scored:
        """Its scores and estimates by the measure alone."""
        return self.estimates.scored

    def sample(self, name: str) -> Sample:
        """One of its coefficients, with the interval and the draws that a difference is computed with.

        The error of the measure is largely the same in both parts of a difference, so it is not included without
        judgments. With judgments the interval and the draws come from all evidence.
        """
        coefficient, estimate = self.estimates.coefficients[name], self.scored.summary.coefficients[name]
        posterior = self.estimates.posterior
        if coefficient.value is None:
            return Sample(coefficient, np.zeros(0), self._items(estimate))
        if coefficient.judgments and posterior is not None and name in posterior.draws:
            return Sample(coefficient, posterior.draws[name], self._items(estimate))
        return self._sample(estimate)

    def _items(self, estimate: Estimate) -> tuple[str, ...]:
        return tuple(self.table.items[i] for i in estimate.items.tolist())

    def _sample(self, estimate: Estimate) -> Sample:
        """An estimate by the measure alone with its interval, its draws and the ids of its items."""
        return Sample(estimate.coefficient, estimate.draws, self._items(estimate))

    def rater_sample(self, name: str, rater: str) -> Sample:
        """Agreement of one rater with the others, by the measure alone."""
        observed, kappa, _ = self.scored.summary.raters[self.table.raters.index(rater)]
        return self._sample(observed if name == "observed_agreement" else kappa)

    def group(self, sample: Sample, coefficient: Coefficient | None = None) -> Group:
        """A line of the comparison."""
        return Group(self.label, len(sample.items), len(self.table.raters), coefficient or sample.coefficient)


def estimated_part(scoring: Scoring, label: str, table: AnnotationTable, sheets: Sequence[Any] = ()) -> Part:
    """A table with its estimates; if no judgment is of its answers, without judgments and with the reason."""
    read = read_sheets(sheets)
    scored_table = scored(scoring.answers(table), scoring.options)
    try:
        return Part(label, estimated(scored_table, read))
    except InputError as error:
        if not read:
            raise
        return Part(label, estimated(scored_table), str(error))


def choose_coefficient(scored_parts: Sequence[Part], requested: str | None) -> str:
    """Key of the coefficient to compare: the first of ``HEADLINE`` that most parts have, unless one is requested."""
    if requested is not None:
        return definition(requested).key

    def defined(name: str) -> int:
        return sum(entry.scored.summary.coefficients[name].value is not None for entry in scored_parts)

    return max(HEADLINE, key=defined)  # the first of those that most parts have


def differences_of(
    groups: Sequence[Group], samples: Sequence[Sample], independent: bool, adjust: bool
) -> tuple[Difference, ...]:
    """Every two groups: the later one minus the earlier one.

    Parameters
    ----------
    samples : sequence of Sample
        Samples of the groups, in the same order.
    independent : bool
        Items of the same id are different items.
    adjust : bool
        Adjust p values and intervals for the number of differences: an interval excludes 0 if the adjusted p is
        below 0.05.
    """
    differences, sizes = [], []
    for i, j in itertools.combinations(range(len(groups)), 2):
        change = difference(samples[i], samples[j], independent=independent)
        shared = 0 if independent else len(set(samples[i].items) & set(samples[j].items))
        sizes.append(min(len(samples[i].items), len(samples[j].items)))
        p = p_value(change, sizes[-1])
        differences.append(Difference(groups[i].label, groups[j].label, change, p, p, shared))
    return at_holm_levels(differences, sizes) if adjust else tuple(differences)


def at_holm_levels(differences: Sequence[Difference], sizes: Sequence[int]) -> tuple[Difference, ...]:
    """Differences with p and interval adjusted for their number (Holm 1979).

    Parameters
    ----------
    sizes : sequence of int
        One more than the degrees of freedom of each.
    """
    if len(differences) < 2:
        return tuple(differences)
    p_values = [entry.p for entry in differences]
    return tuple(
        replace(entry, difference=at_levels(entry.difference, n, level, level), p_adjusted=value)
        for entry, n, level, value in zip(differences, sizes, holm_levels(p_values), holm(p_values), strict=True)
    )


def few_items(groups: Sequence[Group]) -> list[str]:
    """A sentence about groups with so few items that their intervals are approximate."""
    labels = [group.label for group in groups if group.coefficient.value is not None and group.n_items < FEW_ITEMS]
    return [f"Fewer than {FEW_ITEMS} items in {', '.join(labels)}: the intervals are approximate."] if labels else []
