"""How many items, raters and judgments an interval of a wanted width needs: from a pilot, or from assumptions.

References
----------
Cochran, W. G. (1977). Sampling techniques, section 5.5 (allocation by cost).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softirr.answers.files import answer_table
from softirr.answers.sheets import Judgements, read_sheet
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.defaults import ANSWER_COST, ASSUMED_CHANCE, ASSUMED_VALUE, FEW_ITEMS, JUDGMENT_COST, WIDTH
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.planning.compared_parts import open_scoring
from softirr.planning.plan_result import RATERS, Choice, Plan, Z
from softirr.planning.variance_components import ALIKE, Components, assumed, components
from softirr.report.headline import HEADLINE, expected_agreement
from softirr.report.next_step import Variance, next_step, pairs_to_judge, per_judgment, variance_of
from softirr.report.options import AgreementOptions
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.intervals import standard_error

__all__ = ["plan"]


def plan(
    table: AnnotationTable | Any | None = None,
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
    table : AnnotationTable or data frame, optional
        A pilot. Without one, ``value`` and ``chance`` are assumed.
    measure, options, cache, progress
        As for :func:`softirr.agreement`.
    width : float
        From end to end: 0.1 is ±0.05.
    coefficient : str, optional
        By default the headline of the pilot.
    sheets : sequence
        Judged audit sheets of the pilot.
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
        per_item = assumed(value, chance)
        notes: tuple[str, ...] = (
            f"Nothing is measured. The plan assumes agreement by chance of {chance:g} and a correlation of {ALIKE:g} "
            "between pairs of one item. A pilot of 30 items predicts better.",
        )
        name, items, raters, now = coefficient or HEADLINE[0], 0, 0, None
        variance = Variance(per_item.variance(2), math.inf, per_judgment(chance))
        pilot, step, used, policy, pairs = None, None, None, Policy(), None
    else:
        table = answer_table(table)
        refuse_weights(table, "A plan")
        with open_scoring(measure, options, cache, progress) as scoring:
            whole = scoring.estimated(table, [s if isinstance(s, Judgements) else read_sheet(s) for s in sheets])
            part = whole.scored
            name = coefficient or next((n for n in HEADLINE if whole.coefficients[n].value is not None), HEADLINE[0])
            if name not in whole.coefficients:
                raise InputError(f"The coefficient {name!r} is not known: there are {', '.join(whole.coefficients)}.")
            used, policy = scoring.measure.name, scoring.policy(table)
        estimate, pilot = part.summary.coefficients[name], whole.coefficients[name]
        shown = pilot.to_dict()
        error, items = standard_error(estimate), len(estimate.influence)
        expected = expected_agreement({"expected_agreement": whole.expected}, name)
        exact, pairs = whole.evidence is None, pairs_to_judge(_answers(table))
        settled = exact or (pairs is not None and pilot.judgments >= pairs)
        pilot_variance = variance_of(shown, items, expected, settled=settled)
        if pilot.value is None or error is None or part.chance is None or pilot_variance is None:
            raise InputError(
                f"The coefficient of the pilot is not defined: {pilot.undefined or 'it has one item only'}."
            )
        value, now, variance = pilot.value, 2 * Z * error, pilot_variance
        answers = float(np.median(part.ratings.per_item[part.ratings.comparable_items]))
        step = next_step(
            shown,
            items,
            width=width,
            expected=expected,
            raters=answers,
            pairs=pairs,
            answer_cost=answer_cost,
            judgment_cost=judgement_cost,
            exact=exact,
        )
        raters = int(answers)
        per_item = components(part.ratings, part.scores, part.chance, estimate)
        if (own := per_item.variance(raters)) > 0:
            per_item = per_item.scaled(variance.per_item / own)
        notes = _notes(items, per_item, bool(sheets), estimate)
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
        variance,
        answer_cost,
        judgement_cost,
        notes,
        used,
        policy,
        pilot,
        step,
    )
    choices = tuple(_choice(draft, k, pairs) for k in RATERS)
    more = None if now is None else max(math.ceil(items * ((now / width) ** 2 - 1)), 0)
    return replace(draft, choices=choices, more_items=more)


def _answers(table: AnnotationTable) -> list[list[tuple[str, ...]]]:
    """The texts of each answer to each item."""
    texts: list[list[tuple[str, ...]]] = [[] for _ in table.items]
    for item, answer in zip(table.item.tolist(), table.answer.tolist(), strict=True):
        texts[item].append(table.texts_of(answer))
    return texts


def _choice(draft: Plan, raters: int, pairs: int | None) -> Choice:
    """The cheapest number of items and judgments that has the width, for so many raters of an item.

    The items have enough pairs of texts to judge, if they have as many for two answers as the pilot.
    """
    cost, variance = raters * draft.answer_cost, draft.variance(raters)
    items, more = variance.cheapest(draft.width, max(draft.items, 2), cost, draft.judgement_cost)
    if more and pairs is not None:
        per_item = pairs / draft.items * raters * (raters - 1) / (draft.raters * (draft.raters - 1))
        items, more = variance.with_pairs(draft.width, items, more, per_item, draft.judged)
    judgements = draft.judged + more
    whole = items * cost + judgements * draft.judgement_cost
    return Choice(raters, items, judgements, items * raters, whole, draft.predicted_width(items, raters, judgements))


def _notes(items: int, per_item: Components, judged: bool, estimate: Estimate) -> tuple[str, ...]:
    notes = []
    if items < FEW_ITEMS:
        notes.append(f"A pilot of fewer than {FEW_ITEMS} items predicts roughly: plan again when there are more.")
    if per_item.known == 2:
        notes.append(
            "The pilot has two raters of an item, so what a third one adds is assumed (pairs of one item correlate "
            f"with {ALIKE:g})."
        )
    elif per_item.known == 3:
        notes.append(
            "The pilot has three raters of an item, so what a fourth one adds is assumed, on the careful side."
        )
    if not judged:
        notes.append("What a judgment is worth is assumed; judged sheets of the pilot (sheets) estimate it better.")
    if estimate.value is not None and estimate.value > 0.99:
        notes.append("Nearly all answers agree: the pilot says little about the width.")
    return tuple(notes)
