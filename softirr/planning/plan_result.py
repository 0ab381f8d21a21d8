"""The result of a plan: choices of items, raters and judgments, as text, JSON and curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from softirr.defaults import SCHEMA_VERSION
from softirr.json_object import JsonObject
from softirr.meaning.policy.rules import Policy
from softirr.numbers import in_terminal, number
from softirr.planning.variance_components import Components
from softirr.plural import plural
from softirr.report.charts import Line, Point, line_chart
from softirr.report.next_step import Variance
from softirr.report.terminal_report import measure_phrase, policy_lines, table_lines
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.registry import coefficient_name

__all__ = ["RATERS", "Choice", "Plan", "Z"]

RATERS = (2, 3, 4, 5)
Z = 1.959964
_CURVE = 60


@dataclass(frozen=True)
class Choice(JsonObject):
    """A number of items, raters and judgments.

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
    of_pilot : Variance
        Of the pilot, or as assumed.
    answer_cost, judgement_cost : float
    notes : tuple of str
        What is assumed.
    measure : str or None
        Of the pilot.
    policy : Policy
        What counted as the same.
    pilot : Coefficient or None
        The coefficient of the pilot.
    step : str or None
        What to do next with the pilot, as in its report (:func:`softirr.report.next_step.next_step`).

    Examples
    --------
    >>> import softirr
    >>> plan = softirr.plan(value=0.6, chance=0.1, width=0.2)
    >>> plan.best.raters, plan.best.items, plan.best.judgements
    (2, 139, 355)
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
    of_pilot: Variance
    answer_cost: float
    judgement_cost: float
    notes: tuple[str, ...] = ()
    measure: str | None = None
    policy: Policy = field(default_factory=Policy)
    pilot: Coefficient | None = None
    step: str | None = None

    @property
    def judged(self) -> int:
        """Judgments of the pilot."""
        return 0 if self.pilot is None else self.pilot.judgments

    @property
    def best(self) -> Choice:
        """The cheapest choice."""
        return min(self.choices, key=lambda choice: choice.cost)

    def predicted_width(self, items: int, raters: int, judgements: int | None = None) -> float:
        """Width of the 95% interval of so many items, raters and judgments.

        Parameters
        ----------
        items, raters : int
        judgements : int, optional
            None leaves the error of the measure out: the interval of the choice of items alone.
        """
        if judgements is None:
            return 2 * Z * math.sqrt(self.per_item.variance(raters) / items)
        return 2 * Z * math.sqrt(self.variance(raters).total(items, max(judgements - self.judged, 0)))

    def variance(self, raters: int) -> Variance:
        """The variance by source, with this many raters of an item.

        Parameters
        ----------
        raters : int
        """
        return replace(self.of_pilot, per_item=self.per_item.variance(raters))

    def __repr__(self) -> str:
        return (
            f"<Plan: width {self.width:g}, {plural(self.best.items, 'item')}, {self.best.raters} raters, "
            f"{plural(self.best.judgements, 'judgment')}>"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def sentence(self) -> str:
        """The plan in one sentence."""
        if self.step is not None:
            return self.step
        best = self.best
        return (
            f"An interval of ±{self.width / 2:g} needs about {plural(best.items, 'item')}, {best.raters} raters and "
            f"{plural(best.judgements, 'judgment')}."
        )

    def lines(self) -> list[str]:
        """The plan as lines of text."""
        name = coefficient_name(self.coefficient)
        start = "Assumed"
        if self.measure is not None:
            start = (
                f"Pilot: {plural(self.items, 'item')}, {plural(self.raters, 'rater')} of an item, "
                f"{measure_phrase(self.measure, self.policy)}"
            )
        lines = [
            f"{start}, {name} {in_terminal(number(self.value))}. Wanted: a 95% interval of width {self.width:g} "
            f"(±{self.width / 2:g}).",
            "",
            self.sentence(),
            *policy_lines(self.policy),
        ]
        if self.pilot_width is not None and self.more_items is not None:
            lines.append(
                "If the measure made no error, the pilot's interval would be "
                f"±{self.pilot_width / 2:.3f}"
                + (
                    f", and {plural(self.more_items, 'more item')} would reach ±{self.width / 2:g}."
                    if self.more_items
                    else "."
                )
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
        lines += ["", f"Cheapest for ±{self.width / 2:g}, in all:"]
        lines += table_lines(("raters", "items", "answers", "judgments", "cost", ""), rows)
        lines.append(f"Cost: {self.answer_cost:g} an answer, {self.judgement_cost:g} a judgment.")
        return lines + [f"Note: {note}" for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        assumed = Coefficient(self.value).to_dict() | {"details": None}
        return {
            "schema_version": SCHEMA_VERSION,
            "coefficient": self.coefficient,
            **(assumed if self.pilot is None else self.pilot.to_dict()),
            "width": self.width,
            "measure": self.measure,
            "policy": self.policy.to_dict(),
            "n_items": self.items,
            "n_raters": self.raters,
            "more_items": self.more_items,
            "best": self.best.to_dict(),
            "choices": [choice.to_dict() for choice in self.choices],
            "curve": [{"items": n, **self._widths(n)} for n in self._items()],
            "per_item": {str(k): self.per_item.variance(k) for k in RATERS},
            "per_judgement": self.of_pilot.per_judgment,
            "answer_cost": self.answer_cost,
            "judgement_cost": self.judgement_cost,
            "sentence": self.sentence(),
            "notes": list(self.notes),
        }

    def to_svg(self) -> str:
        """Predicted width by items, a curve for each number of raters, with the best number of judgments."""
        items, judged = self._items(), self.best.judgements
        curves = {k: [Point(n, self.predicted_width(n, k, judged)) for n in items] for k in RATERS}
        highest = max(points[0].y for points in curves.values())
        top = math.ceil(25 * min(max(highest, self.width * 1.2), self.width * 5)) / 25  # four steps of whole hundredths
        chart = line_chart(
            [Line(f"{k} raters", points) for k, points in curves.items()],
            f"Width of the 95% interval by items, with {plural(judged, 'judgment')}",
            x_name="items",
            y_name=f"width of the 95% interval, {plural(judged, 'judgment')}",
            x_range=(0.0, float(items[-1])),
            y_range=(0.0, top),
            x_format="{:,.0f}",
            marks=[(self.width, f"goal {self.width:g}")],
        )
        return chart.svg()

    def _items(self) -> list[int]:
        most = max(2 * self.best.items, 2 * self.items, 20)
        return sorted({max(5, round(most * step / _CURVE)) for step in range(1, _CURVE + 1)})

    def _widths(self, items: int) -> dict[str, float]:
        raters = self.best.raters
        return {
            "width": self.predicted_width(items, raters, self.best.judgements),
            "width_of_items": self.predicted_width(items, raters),
        }
