"""How many items, raters and judgments an interval of a wanted width needs: from a pilot, or from assumptions.

References
----------
Cochran, W. G. (1977). Sampling techniques, section 5.5 (allocation by cost).
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softirr.audit.workflow import apply, draw_sheet
from softirr.coefficients.estimate import Estimate
from softirr.coefficients.intervals import standard_error
from softirr.defaults import ANSWER_COST, ASSUMED_CHANCE, ASSUMED_VALUE, FEW_ITEMS, JUDGMENT_COST, JUDGMENTS, WIDTH
from softirr.errors import InputError
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures.automatic import CacheOption, ProgressOption
from softirr.planning.parts import Scoring, open_scoring
from softirr.planning.plan_result import RATERS, Choice, Plan, Z
from softirr.planning.variance_components import ALIKE, WRONG, Components, assumed, components
from softirr.policy.rules import Policy
from softirr.report.headline import HEADLINE
from softirr.report.options import AgreementOptions
from softirr.report.scoring import scored
from softirr.tables.sheets import Judgements, read_sheet
from softirr.tables.table import AnnotationTable
from softirr.tables.weights import refuse_weights

__all__ = ["SIMULATED_AUDITS", "plan", "simulated_sheet"]

SIMULATED_AUDITS = 3
"""Simulated audits that say what a judgment is worth before there are any."""
_SHARPER, _NEARLY = 3, 0.9
"""People are surer than scores, and texts of different items rarely mean the same."""


def plan(
    table: AnnotationTable | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    width: float = WIDTH,
    coefficient: str | None = None,
    sheets: Sequence[Any] = (),
    answer_cost: float = ANSWER_COST,
    judgement_cost: float = JUDGMENT_COST,
    value: float = ASSUMED_VALUE,
    chance: float = ASSUMED_CHANCE,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Plan:
    """How many items, raters and judgments a 95% interval of a wanted width needs.

    Parameters
    ----------
    table : AnnotationTable, optional
        A pilot. Without one, ``value`` and ``chance`` are assumed.
    measure, options, cache, progress
        As for :func:`softirr.agreement`.
    width : float
        From end to end: 0.1 is ±0.05.
    coefficient : str, optional
        By default the headline of the pilot.
    sheets : sequence
        Judged audit sheets of the pilot: they show how much a judgment reduces the variance. Without them audits are simulated in which people judge
        texts of one item at random, surer than the measure, and texts of different items as different.
    answer_cost, judgement_cost : float
        Of one answer and of one judgment, in any unit.
    value, chance : float
        Coefficient and agreement by chance that are assumed without a pilot.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If the pilot's coefficient is not defined, or a number is out of range.

    Examples
    --------
    >>> plan(value=0.6, chance=0.1, width=0.2).best.raters
    2
    """
    for name, number, low, high in (("width", width, 0, 2), ("value", value, -1, 1), ("chance", chance, -1e-9, 1)):
        if not low < number < high:
            raise InputError(f"The option {name} is {number:g}, but must be between {max(low, -1):g} and {high:g}.")
    if not (answer_cost > 0 and judgement_cost > 0):
        raise InputError("The cost of an answer and of a judgment must be above 0.")
    if table is None:
        per_item, worth = assumed(value, chance)
        notes: tuple[str, ...] = (
            f"Nothing is measured. The plan assumes agreement by chance of {chance:g}, a measure that is wrong on {WRONG:.0%} of the pairs, "
            f"and a correlation of {ALIKE:g} between pairs of one item. A pilot of 30 items predicts better.",
        )
        name, items, raters, now = coefficient or HEADLINE[0], 0, 0, None
        used, policy = None, Policy()
    else:
        refuse_weights(table, "A plan")
        with open_scoring(measure, options, cache, progress) as scoring:
            part = scored(table, scoring.measure, scoring.options, cache=scoring.cache, progress=scoring.progress)
            name = coefficient or next(
                (n for n in HEADLINE if part.summary.coefficients[n].value is not None), HEADLINE[0]
            )
            if name not in part.summary.coefficients:
                raise InputError(
                    f"The coefficient {name!r} is not known: there are {', '.join(part.summary.coefficients)}."
                )
            estimate = part.summary.coefficients[name]
            error = standard_error(estimate)
            if estimate.value is None or error is None or part.chance is None:
                raise InputError(
                    f"The coefficient of the pilot is not defined: {estimate.undefined or 'it has one item only'}."
                )
            value = estimate.value
            items, raters = (
                len(estimate.influence),
                int(np.median(part.ratings.per_item[part.ratings.comparable_items])),
            )
            per_item, now = components(part.ratings, part.scores, part.chance, estimate), 2 * Z * error
            worth = _worth(table, scoring, name, error, sheets)
            notes = _notes(items, per_item, bool(sheets), estimate)
            used, policy = scoring.measure.name, scoring.policy(table)
    draft = Plan(
        name,
        value,
        width,
        items,
        raters,
        now,
        None,
        (),
        per_item,
        worth,
        answer_cost,
        judgement_cost,
        notes,
        used,
        policy,
    )
    choices = tuple(_choice(draft, k) for k in RATERS)
    more = None if now is None else max(math.ceil(items * ((now / width) ** 2 - 1)), 0)
    return replace(draft, choices=choices, more_items=more)


def _choice(draft: Plan, raters: int) -> Choice:
    """The cheapest number of items and judgments that has the width, for so many raters of an item."""
    target = (draft.width / (2 * Z)) ** 2
    of_items, of_judgements = draft.per_item.variance(raters), draft.per_judgement
    item_cost = raters * draft.answer_cost
    both = math.sqrt(of_items * of_judgements)
    items = max(
        math.ceil((of_items + both * math.sqrt(draft.judgement_cost / item_cost)) / target - 1e-9), 2, draft.items
    )
    left = target - of_items / items
    judgements = math.ceil(of_judgements / left - 1e-9) if left > 0 else 0
    cost = items * item_cost + judgements * draft.judgement_cost
    return Choice(raters, items, judgements, items * raters, cost, draft.predicted_width(items, raters, judgements))


def _worth(table: AnnotationTable, scoring: Scoring, name: str, error: float, sheets: Sequence[Any]) -> float:
    """W: the variance that one judgment alone would leave."""
    measure, options, store = scoring.measure, scoring.options, scoring.cache
    errors = []
    if sheets:
        coefficient = apply(table, measure, sheets, options, reasons=False, cache=store, progress=None).coefficients[
            name
        ]
        errors.append((coefficient.standard_error, coefficient.judgments))
    else:
        for seed in range(SIMULATED_AUDITS):
            try:
                judged = simulated_sheet(table, scoring, JUDGMENTS, seed)
                coefficient = apply(
                    table, measure, [judged], options, reasons=False, cache=store, progress=None
                ).coefficients[name]
            except InputError:  # too few pairs differ
                continue
            errors.append((coefficient.standard_error, coefficient.judgments))
    known = [max(se**2 - error**2, 0.0) * n for se, n in errors if se is not None]
    floor = error**2  # a judgment never reduces more than a whole pilot
    return max(float(np.median(known)), floor) if known else floor


def simulated_sheet(table: AnnotationTable, scoring: Scoring, judgments: int, seed: int) -> Judgements:
    """A sheet of a pilot, judged as people may judge it.

    Parameters
    ----------
    table : AnnotationTable
    scoring : Scoring
    judgments : int
        Pairs to draw.
    seed : int

    Returns
    -------
    object
        As :func:`softirr.tables.sheets.read_sheet` returns it.

    Raises
    ------
    InputError
        If too few pairs of texts differ.
    """
    sheet = draw_sheet(
        table,
        scoring.measure,
        judgements=judgments,
        seed=seed,
        assignment=scoring.options.assignment,
        cache=scoring.cache,
        progress=None,
    )
    return read_sheet(io.StringIO(_judged_alike(sheet.to_csv(), sheet.units, table, scoring.measure, seed)))


def _judged_alike(csv: str, units: Sequence[Any], table: AnnotationTable, measure: Measure, seed: int) -> str:
    """The sheet as people may judge it: texts of one item at random by the measure, texts of different items the same only where they nearly are."""
    rng = np.random.default_rng(seed)
    p = measure.score([(unit.text_a, unit.text_b) for unit in units])
    number = {text: n for n, text in enumerate(table.texts)}
    of_text: dict[int, set[int]] = {}
    for item, answer in zip(table.item.tolist(), table.answer.tolist(), strict=True):
        for text in table.answers[answer]:
            of_text.setdefault(text, set()).add(item)
    together = np.array([bool(of_text[number[u.text_a]] & of_text[number[u.text_b]]) for u in units])
    sharp = p**_SHARPER / (p**_SHARPER + (1 - p) ** _SHARPER)
    marks = np.where(np.where(together, rng.random(len(units)) < sharp, p >= _NEARLY), "same", "different").tolist()
    head, *rows = csv.splitlines()
    if len(rows) != len(units):
        raise InputError("A text of the pilot has several lines.")
    return "\n".join([head, *(f"{row}{mark}" for row, mark in zip(rows, marks, strict=True))])


def _notes(items: int, per_item: Components, judged: bool, estimate: Estimate) -> tuple[str, ...]:
    notes = []
    if items < FEW_ITEMS:
        notes.append(f"A pilot of fewer than {FEW_ITEMS} items predicts roughly: plan again when there are more.")
    if per_item.known == 2:
        notes.append(
            f"The pilot has two raters of an item, so what a third one adds is assumed (pairs of one item correlate with {ALIKE:g})."
        )
    elif per_item.known == 3:
        notes.append(
            "The pilot has three raters of an item, so what a fourth one adds is assumed, on the careful side."
        )
    if not judged:
        notes.append("The value of a judgment comes from simulated audits; judged sheets (sheets) estimate it better.")
    if estimate.value is not None and estimate.value > 0.99:
        notes.append("Nearly all answers agree: the pilot says little about the width.")
    return tuple(notes)
