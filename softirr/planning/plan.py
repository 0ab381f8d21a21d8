"""How many items, raters and judgements an interval of a wanted width needs: from a pilot, or from assumptions.

The variance of a coefficient has two parts: V / N from the choice of N items, and W / J from an audit of J judgements. V depends on the number of raters: a
coefficient is a mean over pairs of raters, and the pairs of an item are alike in three degrees (the same pair, one rater in common, none; Hoeffding 1948).
A pilot with three raters or more estimates them; with two raters they are assumed.

References
----------
Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution.
Cochran, W. G. (1977). Sampling techniques, section 5.5 (allocation by cost).
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softirr.audit.audited import apply, sample
from softirr.chance.expected import Chance
from softirr.coefficients.estimate import Estimate
from softirr.coefficients.intervals import FEW_ITEMS, standard_error
from softirr.errors import InputError
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures.automatic import CacheOption, ProgressOption
from softirr.planning.compare import opened, used_policy
from softirr.planning.comparison import measure_told, policy_told
from softirr.policy.rules import Policy
from softirr.report.agreement import scored
from softirr.report.forest import curve_svg
from softirr.report.headline import COEFFICIENT_NAMES, HEADLINE
from softirr.report.options import AgreementOptions
from softirr.report.text import table_lines
from softirr.tables.ratings import Floats, Ratings, sums
from softirr.tables.sheets import read_sheet
from softirr.tables.table import AnnotationTable
from softirr.tables.weights import refuse_weights

__all__ = ["Choice", "Components", "Plan", "assumed", "components", "plan"]

RATERS = (2, 3, 4, 5)
_Z = 1.959964
_ALIKE = 0.5
"""Correlation of two pairs of raters of one item where a pilot has two raters only: a guess on the careful side."""
_WRONG = 0.15
"""Share of pairs that a measure gets wrong, where nothing is known about it."""
_SAMPLED = 3
"""Simulated audits that say what a judgement is worth before there are any."""
_JUDGED = 60
_SHARPER, _NEARLY = 3, 0.9
"""People are surer than scores, and texts of different items rarely mean the same."""
_CURVE = 60


@dataclass(frozen=True)
class Components:
    """Variance of one item, by what two pairs of its raters have in common.

    Attributes
    ----------
    same, one, none : float
        Mean product of the influences of a pair with itself, with a pair that has one rater in common, and with one that has none.
    known : int
        Raters of an item that the pilot had at most: 2, 3, or 4 for four and more. What needs more raters is assumed.
    """

    same: float
    one: float
    none: float
    known: int

    def variance(self, raters: int) -> float:
        """V: variance of the influence of an item with this many raters.

        Examples
        --------
        >>> Components(1.0, 0.5, 0.5, 4).variance(2), round(Components(1.0, 0.5, 0.5, 4).variance(3), 3)
        (1.0, 0.667)
        """
        pairs = math.comb(raters, 2)
        sharing = raters * (raters - 1) * (raters - 2)
        apart = pairs * math.comb(raters - 2, 2)
        return (pairs * self.same + sharing * self.one + apart * self.none) / pairs**2


@dataclass(frozen=True)
class Choice:
    """A number of items, raters and judgements.

    Attributes
    ----------
    raters : int
        Raters of each item.
    items, judgements : int
    answers : int
        Items times raters.
    cost : float
    width : float
        Predicted width of the 95% interval.
    """

    raters: int
    items: int
    judgements: int
    answers: int
    cost: float
    width: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "raters": self.raters,
            "items": self.items,
            "judgements": self.judgements,
            "answers": self.answers,
            "cost": self.cost,
            "width": self.width,
        }


@dataclass(frozen=True, repr=False)
class Plan:
    """What an interval of a wanted width needs.

    ``print(plan)`` shows it as a table, :meth:`to_dict` gives it as JSON, :meth:`to_svg` as curves.

    Attributes
    ----------
    coefficient : str
    value : float
        Of the pilot, or assumed.
    width : float
        The wanted width of the 95% interval, from end to end.
    items, raters : int
        Of the pilot: items with two answers or more, and answers of an item at the median. 0 items without a pilot.
    pilot_width : float or None
        Width that the pilot has by the choice of its items alone.
    more_items : int or None
        Items beyond the pilot that the choice of items alone needs, with as many raters as the pilot.
    choices : tuple of Choice
        For each number of raters, the cheapest that has the width.
    per_item : Components
    per_judgement : float
        W.
    answer_cost, judgement_cost : float
    notes : tuple of str
        What is assumed.
    measure : str or None
        Of the pilot.
    policy : Policy
        What counted as the same.
    """

    coefficient: str
    value: float
    width: float
    items: int
    raters: int
    pilot_width: float | None
    more_items: int | None
    choices: tuple[Choice, ...]
    per_item: Components
    per_judgement: float
    answer_cost: float
    judgement_cost: float
    notes: tuple[str, ...] = ()
    measure: str | None = None
    policy: Policy = field(default_factory=Policy)

    @property
    def best(self) -> Choice:
        """The cheapest choice."""
        return min(self.choices, key=lambda choice: choice.cost)

    def predicted_width(self, items: int, raters: int, judgements: int | None = None) -> float:
        """Width of the 95% interval of so many items, raters and judgements.

        Parameters
        ----------
        items, raters : int
        judgements : int, optional
            None leaves the error of the measure out: the interval of the choice of items alone.
        """
        variance = self.per_item.variance(raters) / items
        if judgements is not None:
            variance += self.per_judgement / max(judgements, 1)
        return 2 * _Z * math.sqrt(variance)

    def __repr__(self) -> str:
        return f"<Plan: width {self.width:g}, {self.best.items:,} items, {self.best.raters} raters, {self.best.judgements:,} judgements>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def sentence(self) -> str:
        """The plan in one sentence."""
        half = self.width / 2
        best = self.best
        if not self.items:
            return (
                f"±{half:g} takes about {best.items:,} items, {best.raters} raters and {best.judgements:,} judgements."
            )
        more = max(best.items - self.items, 0)
        items = f"{more:,} more items" if more else "no more items"
        who = "" if best.raters == self.raters else f" with {best.raters} raters each"
        return f"These {self.items:,} items suggest: {items}{who} and {best.judgements:,} judgements bring ±{half:g}."

    def lines(self) -> list[str]:
        """The plan as lines of text."""
        name = COEFFICIENT_NAMES[self.coefficient]
        start = "Assumed"
        if self.measure is not None:
            start = f"Pilot: {self.items:,} items, {self.raters} raters of an item, {measure_told(self.measure, self.policy)}"
        said = [
            f"{start}, {name} {self.value:.2f}. Wanted: a 95% interval of width {self.width:g} (±{self.width / 2:g}).",
            "",
            self.sentence(),
            *policy_told(self.policy),
        ]
        if self.pilot_width is not None and self.more_items is not None:
            said.append(
                f"By the choice of items alone, without the error of the measure, the pilot has ±{self.pilot_width / 2:.3f}"
                + (f"; {self.more_items:,} more items bring ±{self.width / 2:g}." if self.more_items else ".")
            )
        rows = [
            (
                str(choice.raters),
                f"{choice.items:,}",
                f"{choice.answers:,}",
                f"{choice.judgements:,}",
                f"{choice.cost:,.0f}",
                "cheapest" if choice == self.best else "",
            )
            for choice in self.choices
        ]
        said += ["", *table_lines(("raters", "items", "answers", "judgements", "cost", ""), rows)]
        said.append(f"Cost: {self.answer_cost:g} an answer, {self.judgement_cost:g} a judgement.")
        return said + [f"Note: {note}" for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        return {
            "schema_version": 1,
            "coefficient": self.coefficient,
            "value": self.value,
            "width": self.width,
            "measure": self.measure,
            "policy": self.policy.to_dict(),
            "items": self.items,
            "raters": self.raters,
            "pilot_width": self.pilot_width,
            "more_items": self.more_items,
            "best": self.best.to_dict(),
            "choices": [choice.to_dict() for choice in self.choices],
            "curve": [{"items": n, **self._widths(n)} for n in self._items()],
            "per_item": {str(k): self.per_item.variance(k) for k in RATERS},
            "per_judgement": self.per_judgement,
            "answer_cost": self.answer_cost,
            "judgement_cost": self.judgement_cost,
            "sentence": self.sentence(),
            "notes": list(self.notes),
        }

    def to_svg(self) -> str:
        """Predicted width by items, a curve for each number of raters, with the best number of judgements."""
        items = self._items()
        lines = [
            (f"{k} raters", [(n, self.predicted_width(n, k, self.best.judgements)) for n in items]) for k in RATERS
        ]
        return curve_svg(lines, self.width, f"Width of the 95% interval, {self.best.judgements:,} judgements", "items")

    def _items(self) -> list[int]:
        most = max(2 * self.best.items, 2 * self.items, 20)
        return sorted({max(5, round(most * step / _CURVE)) for step in range(1, _CURVE + 1)})

    def _widths(self, items: int) -> dict[str, float]:
        raters = self.best.raters
        return {
            "width": self.predicted_width(items, raters, self.best.judgements),
            "width_of_items": self.predicted_width(items, raters),
        }


def plan(
    table: AnnotationTable | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    width: float = 0.1,
    coefficient: str | None = None,
    sheets: Sequence[Any] = (),
    answer_cost: float = 1.0,
    judgement_cost: float = 0.2,
    value: float = 0.6,
    chance: float = 0.1,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Plan:
    """How many items, raters and judgements a 95% interval of a wanted width needs.

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
        Judged audit sheets of the pilot: they tell what a judgement is worth. Without them audits are simulated in which people judge
        texts of one item at random, surer than the measure, and texts of different items as different.
    answer_cost, judgement_cost : float
        Of one answer and of one judgement, in any unit.
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
            raise InputError(f"The option {name} is {number:g}, but has to be between {max(low, -1):g} and {high:g}.")
    if not (answer_cost > 0 and judgement_cost > 0):
        raise InputError("The cost of an answer and of a judgement has to be above 0.")
    if table is None:
        found, worth = assumed(value, chance)
        notes: tuple[str, ...] = (
            f"Nothing is measured: assumed are agreement by chance of {chance:g}, a measure that errs on {_WRONG:.0%} of the pairs, and pairs of one item "
            f"that correlate with {_ALIKE:g}. A pilot of 30 items tells more.",
        )
        name, items, raters, now = coefficient or HEADLINE[0], 0, 0, None
        used, policy = None, Policy()
    else:
        refuse_weights(table, "A plan")
        with opened(measure, options, cache, progress) as (made, how, store, told):
            part = scored(table, made, how, cache=store, progress=told)
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
            found, now = components(part.ratings, part.scores, part.chance, estimate), 2 * _Z * error
            worth = _worth(table, made, name, error, sheets, how, store)
            notes = _notes(items, found, bool(sheets), estimate)
            used, policy = made.name, used_policy(made, table)
    made_plan = Plan(
        name, value, width, items, raters, now, None, (), found, worth, answer_cost, judgement_cost, notes, used, policy
    )
    choices = tuple(_choice(made_plan, k) for k in RATERS)
    more = None if now is None else max(math.ceil(items * ((now / width) ** 2 - 1)), 0)
    return replace(made_plan, choices=choices, more_items=more)


def components(ratings: Ratings, scores: Floats, chance: Chance, estimate: Estimate) -> Components:
    """Variance components of an item, from the pairs of a pilot.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
    estimate : Estimate
        Of the coefficient; the components are scaled to its variance.

    Returns
    -------
    Components
    """
    comparisons, n = ratings.comparisons, ratings.n_items
    at = np.full(len(ratings.item), chance.pooled)
    at[chance.pooling.rows] = chance.pooled_at
    value = float(estimate.value or 0.0)
    z = scores - scores.mean()
    if estimate.expected is not None:
        by_chance = at[comparisons.left] + at[comparisons.right]
        z = z - (1 - value) * (by_chance - by_chance.mean())
    square = sums(comparisons.item, z**2, n)
    total = sums(comparisons.item, z, n) ** 2
    of_row = sums(comparisons.left, z, len(ratings.item)) + sums(comparisons.right, z, len(ratings.item))
    by_rater = sums(ratings.item, of_row**2, n)
    k = ratings.per_item.astype(np.float64)
    k = np.where(k >= 2, k, 0)
    pairs, sharing, apart = k * (k - 1) / 2, k * (k - 1) * (k - 2), k * (k - 1) * (k - 2) * (k - 3) / 4
    same = float(square.sum() / max(pairs.sum(), 1))
    known = int(min(k.max(initial=2), 4))
    one = float((by_rater - 2 * square).sum() / sharing.sum()) if sharing.sum() > 0 else _ALIKE * same
    one = float(np.clip(one, 0, same))
    none = float((total - by_rater + square).sum() / apart.sum()) if apart.sum() > 0 else one
    raw = Components(same, one, float(np.clip(none, 0, one)), known)
    used = k[k >= 2].astype(int)
    predicted = float(np.mean([raw.variance(int(size)) for size in used])) if len(used) else 0.0
    error = standard_error(estimate) or 0.0
    scale = error**2 * len(estimate.influence) / predicted if predicted > 0 else 0.0
    return Components(raw.same * scale, raw.one * scale, raw.none * scale, known)


def assumed(value: float, chance: float) -> tuple[Components, float]:
    """Components of an item and the worth of a judgement, where answers are the same or not and nothing is measured.

    Parameters
    ----------
    value, chance : float
        The coefficient and the agreement by chance.

    Returns
    -------
    tuple of (Components, float)
    """
    observed = value + (1 - value) * chance
    same = observed * (1 - observed) / (1 - chance) ** 2
    return Components(same, _ALIKE * same, _ALIKE * same, 0), 1.25 * _WRONG * (1 - _WRONG) / (1 - chance) ** 2


def _choice(made: Plan, raters: int) -> Choice:
    """The cheapest number of items and judgements that has the width, for so many raters of an item."""
    target = (made.width / (2 * _Z)) ** 2
    of_items, of_judgements = made.per_item.variance(raters), made.per_judgement
    item_cost = raters * made.answer_cost
    both = math.sqrt(of_items * of_judgements)
    items = max(
        math.ceil((of_items + both * math.sqrt(made.judgement_cost / item_cost)) / target - 1e-9), 2, made.items
    )
    left = target - of_items / items
    judgements = math.ceil(of_judgements / left - 1e-9) if left > 0 else 0
    cost = items * item_cost + judgements * made.judgement_cost
    return Choice(raters, items, judgements, items * raters, cost, made.predicted_width(items, raters, judgements))


def _worth(
    table: AnnotationTable,
    made: Measure,
    name: str,
    error: float,
    sheets: Sequence[Any],
    how: AgreementOptions,
    store: Any,
) -> float:
    """W: variance that one judgement alone would leave."""
    found = []
    if sheets:
        report = apply(table, made, sheets, assignment=how.assignment, cache=store, progress=None)
        found.append((report.coefficients[name].standard_error, report.audit.judgements))
    else:
        for seed in range(_SAMPLED):
            try:
                sheet = sample(
                    table, made, judgements=_JUDGED, seed=seed, assignment=how.assignment, cache=store, progress=None
                )
                judged = read_sheet(io.StringIO(_judged_alike(sheet.to_csv(), sheet.units, table, made, seed)))
                report = apply(table, made, [judged], assignment=how.assignment, cache=store, progress=None)
            except InputError:  # too few pairs differ
                continue
            found.append((report.coefficients[name].standard_error, report.audit.judgements))
    known = [max(se**2 - error**2, 0.0) * n for se, n in found if se is not None]
    floor = error**2  # a judgement is never worth more than a whole pilot
    return max(float(np.median(known)), floor) if known else floor


def _judged_alike(csv: str, units: Sequence[Any], table: AnnotationTable, made: Measure, seed: int) -> str:
    """The sheet as people may judge it: texts of one item at random by the measure, texts of different items the same only where they nearly are."""
    rng = np.random.default_rng(seed)
    p = made.score([(unit.text_a, unit.text_b) for unit in units])
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


def _notes(items: int, found: Components, judged: bool, estimate: Estimate) -> tuple[str, ...]:
    notes = []
    if items < FEW_ITEMS:
        notes.append(f"A pilot of fewer than {FEW_ITEMS} items predicts roughly: plan again when there are more.")
    if found.known == 2:
        notes.append(
            f"The pilot has two raters of an item, so what a third one adds is assumed (pairs of one item correlate with {_ALIKE:g})."
        )
    elif found.known == 3:
        notes.append(
            "The pilot has three raters of an item, so what a fourth one adds is assumed, on the careful side."
        )
    if not judged:
        notes.append("What a judgement is worth comes from simulated audits; judged sheets (--sheets) tell it better.")
    if estimate.value is not None and estimate.value > 0.99:
        notes.append("Nearly all answers agree: the pilot says little about the width.")
    return tuple(notes)
