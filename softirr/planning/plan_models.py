"""How many items and judgments it takes to find that a model is within the range of people, or equivalent to them.

The variance of a model's difference from the people has two parts, as in :mod:`softirr.planning.plan`: V / N from the
choice of N items, and W / J from J judgments. Both come from a pilot. The power of the one-sided tests follows from
noncentral t distributions (Phillips 1990).

References
----------
Phillips, K. F. (1990). Power of the two one-sided tests procedure in bioequivalence.
Cochran, W. G. (1977). Sampling techniques, section 5.5 (allocation by cost).
"""

from __future__ import annotations

import contextlib
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softirr.answers.sheets import Judgements, read_sheet
from softirr.answers.table import AnnotationTable
from softirr.defaults import ANSWER_COST, JUDGMENT_COST, JUDGMENTS, MARGIN, POWER, SCHEMA_VERSION
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.planning.compare_raters import compare_raters
from softirr.planning.compared_parts import Scoring, open_scoring
from softirr.planning.comparison import Comparison
from softirr.planning.runs import others_than
from softirr.planning.simulated_audits import SIMULATED_AUDITS, simulated_sheet
from softirr.planning.verdict import MOST_ITEMS, SIGNIFICANT
from softirr.plural import plural
from softirr.report.options import AgreementOptions
from softirr.report.terminal_report import measure_phrase, policy_lines, printable, table_lines
from softirr.statistics.coefficients.registry import coefficient_name

__all__ = ["ModelNeeds", "ModelPlan", "plan_models", "power_equivalent", "power_within"]


def power_within(below: float, error: float, n: int, margin: float, level: float = SIGNIFICANT / 2) -> float:
    """Probability that a model is found not to be worse than the margin.

    Parameters
    ----------
    below : float
        How far the model truly is below the others.
    error : float
        Standard error of the difference.
    n : int
        Items; the test has n - 1 degrees of freedom.
    margin : float
    level : float
        Of the one-sided test.

    Returns
    -------
    float

    Examples
    --------
    >>> round(power_within(0.0, 0.02, 200, 0.05), 2)
    0.7
    """
    from scipy.special import nctdtr, stdtrit

    return 1 - float(nctdtr(n - 1, (margin - below) / error, stdtrit(n - 1, 1 - level)))


def power_equivalent(below: float, error: float, n: int, margin: float, level: float = SIGNIFICANT) -> float:
    """Probability that two one-sided tests find a model equivalent to the others.

    Parameters
    ----------
    below, error, n, margin, level
        As for :func:`power_within`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(power_equivalent(0.0, 0.02, 200, 0.05), 2)
    0.6
    """
    lower = power_within(below, error, n, margin, level)
    return max(lower + power_within(-below, error, n, margin, level) - 1, 0.0)


_POWERS = {"within": (power_within, SIGNIFICANT / 2), "equivalent": (power_equivalent, SIGNIFICANT)}
"""Verdicts as ``compare --fail-unless`` names them, with their power and their level."""


@dataclass(frozen=True)
class ModelNeeds(JsonObject):
    """What one verdict on one model needs.

    Attributes
    ----------
    model : str
    verdict : {"within", "equivalent"}
    power_now : float
        Of the pilot, without judgments.
    items : int or None
        Items that reach the power without judgments; None if more than 100,000.
    audited_items, judgments : int or None
        Items and judgments that reach it together, at the lowest cost.
    """

    model: str
    verdict: str
    power_now: float
    items: int | None
    audited_items: int | None
    judgments: int | None


@dataclass(frozen=True, repr=False)
class ModelPlan:
    """What verdicts on models need, as text and as JSON.

    Attributes
    ----------
    coefficient : str
    measure : str
    items : int
        Of the pilot.
    margin, power, below : float
        Margin of the verdicts, wanted power, and how far the models are assumed to be below the others.
    models : tuple of ModelNeeds
    notes : tuple of str
    policy : Policy
    """

    coefficient: str
    measure: str
    items: int
    margin: float
    power: float
    below: float
    models: tuple[ModelNeeds, ...]
    notes: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        return f"<ModelPlan: margin {self.margin:g}, power {self.power:g}, {len(self.models)} verdicts>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The plan as lines of text."""
        head = ("model", "verdict", "power now", "items", "audited: items", "judgments")
        rows = [
            (
                printable(one.model),
                one.verdict,
                f"{one.power_now:.2f}",
                *("-" if n is None else f"{n:,}" for n in (one.items, one.audited_items, one.judgments)),
            )
            for one in self.models
        ]
        return [
            f"Pilot: {plural(self.items, 'item')}, {coefficient_name(self.coefficient)}, "
            f"{measure_phrase(self.measure, self.policy)}. "
            f"Margin {self.margin:g}, power {self.power:g}, if the model is {self.below:g} below the others.",
            *policy_lines(self.policy),
            "",
            *table_lines(head, rows),
            *(f"Note: {note}" for note in self.notes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "coefficient": self.coefficient,
            "measure": self.measure,
            "policy": self.policy.to_dict(),
            "n_items": self.items,
            "margin": self.margin,
            "power": self.power,
            "below": self.below,
            "models": [one.to_dict() for one in self.models],
            "notes": list(self.notes),
        }


def plan_models(
    table: AnnotationTable,
    raters: Sequence[str] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str = "cohen_kappa",
    margin: float = MARGIN,
    power: float = POWER,
    below: float = 0.0,
    sheets: Sequence[Any] = (),
    answer_cost: float = ANSWER_COST,
    judgment_cost: float = JUDGMENT_COST,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> ModelPlan:
    """How many items and judgments verdicts on models need.

    Parameters
    ----------
    table : AnnotationTable
        A pilot with the models and two people or more.
    raters, measure, options, coefficient, margin, cache, progress
        As for :func:`softirr.compare_raters`.
    power : float
        Wanted probability of the verdict.
    below : float
        How far the models are assumed to be below the others; less than the margin.
    sheets : sequence
        Judged audit sheets of the pilot. Without them, audits are simulated as in :func:`softirr.plan`.
    answer_cost, judgment_cost : float
        Of one answer of a person and of one judgment, in any unit.

    Returns
    -------
    ModelPlan

    Raises
    ------
    InputError
        If a number is out of range, or the pilot has no interval for any model.
    """
    for name, number, low, high in (("margin", margin, 0, 1), ("power", power, 0, 1), ("below", below, -1, margin)):
        if not low < number < high:
            raise InputError(f"The option {name} is {number:g}, but must be between {low:g} and {high:g}.")
    read = [sheet if isinstance(sheet, Judgements) else read_sheet(sheet) for sheet in sheets]
    with open_scoring(measure, options, cache, progress) as scoring:

        def compared(judged: Sequence[Judgements] = ()) -> Comparison:
            return compare_raters(
                table,
                raters,
                scoring.measure,
                scoring.options,
                coefficient=coefficient,
                margin=margin,
                adjust=False,
                sheets=judged,
                cache=scoring.cache,
                progress=None,
            )

        pilot = compared()
        judged = [(read, sum(map(bool, (value for sheet in read for value in sheet.values.values()))))]
        audits = [(compared(one), n) for one, n in (judged if read else _simulated(table, scoring))]
        policy = scoring.policy(table)
    others = others_than(table.raters, [one.b for one in pilot.differences])
    people = np.bincount(table.item[np.isin(table.rater, [table.raters.index(one) for one in others])])
    item_cost = answer_cost * float(np.median(people[people > 0]))
    needs: list[ModelNeeds] = []
    for one in pilot.differences:
        error, n = one.difference.standard_error, one.n_shared
        if not error or n < 2:
            continue
        per_item = n * error**2
        per_judgment = _worth(one.b, error, audits)
        ratio = math.sqrt(per_judgment * item_cost / (per_item * judgment_cost))
        for verdict, (power_of, level) in _POWERS.items():
            share = level / len(pilot.differences)

            def reached(variance: float, n: int, power_of: Any = power_of, share: float = share) -> bool:
                return bool(power_of(below, math.sqrt(variance / n), n, margin, share) >= power)

            audited = _fewest(lambda n, v=per_item + per_judgment / ratio: reached(v, n))
            needs.append(
                ModelNeeds(
                    one.b,
                    verdict,
                    power_of(below, error, n, margin, share),
                    _fewest(lambda n, v=per_item: reached(v, n)),
                    audited,
                    None if audited is None else math.ceil(ratio * audited),
                )
            )
    if not needs:
        raise InputError(
            "In this pilot the difference of every model is without spread, so it can't tell the number of items."
        )
    return ModelPlan(
        coefficient,
        pilot.measure,
        max(one.n_shared for one in pilot.differences),
        margin,
        power,
        below,
        tuple(needs),
        _notes(len(pilot.differences), bool(read)),
        policy,
    )


def _fewest(reached: Any) -> int | None:
    """The fewest items, from 5 on, by bisection."""
    if not reached(MOST_ITEMS):
        return None
    return 5 + bisect_left(range(5, MOST_ITEMS), True, key=reached)


def _simulated(table: AnnotationTable, scoring: Scoring) -> Iterator[tuple[list[Judgements], int]]:
    """Simulated sheets with twice the judgments of an audit, because both parts of a difference share them."""
    for seed in range(SIMULATED_AUDITS):
        with contextlib.suppress(InputError):  # too few pairs differ
            sheet = simulated_sheet(table, scoring, 2 * JUDGMENTS, seed)
            yield [sheet], sum(map(bool, sheet.values.values()))


def _worth(model: str, error: float, audits: Sequence[tuple[Comparison, int]]) -> float:
    """W: the variance that one judgment alone would leave in the difference."""
    errors = [(one.difference.standard_error, n) for audit, n in audits for one in audit.differences if one.b == model]
    known = [max(audited**2 - error**2, 0.0) * n for audited, n in errors if audited is not None]
    return max(float(np.median(known)) if known else 0.0, error**2)  # one judgment is never worth a whole pilot


def _notes(n_models: int, judged: bool) -> tuple[str, ...]:
    notes = ["“items” assumes that the error of the measure cancels; audited numbers do not."]
    if n_models > 1:
        notes.append(f"The tests are adjusted for {plural(n_models, 'model')}.")
    if not judged:
        notes.append("The value of a judgment comes from simulated audits; judged sheets (sheets) estimate it better.")
    return tuple(notes)
