"""Groups of answers that a comparison compares, the difference between two, and the verdict on a rater or model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from softirr.json_object import JsonObject
from softirr.numbers import plural
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.comparisons.difference import at_levels, doubled, holm_levels, one_sided

OTHERS = "others"
"""Label of the raters that a rater or model is compared with."""
SIGNIFICANT = 0.05
MOST_ITEMS = 100_000
"""More items than this are not advised."""


@dataclass(frozen=True)
class Group(JsonObject):
    """One coefficient of a comparison.

    Attributes
    ----------
    n_items : int
        Number of items that the coefficient is computed from.
    """

    label: str
    n_items: int
    n_raters: int
    coefficient: Coefficient

    @property
    def audited(self) -> bool:
        """Whether judgments correct the coefficient."""
        return self.coefficient.judgments > 0

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``groups``."""
        values = super().to_dict()
        coefficient = values.pop("coefficient")
        return {**values, "audited": self.audited, **coefficient}


@dataclass(frozen=True)
class Difference(JsonObject):
    """The difference of two groups: the second minus the first.

    Attributes
    ----------
    a, b : str
        Labels of the first and the second.
    difference : Coefficient
        With several differences, the interval is adjusted for their number unless the user turned that off.
    p, p_adjusted : float or None
        P value of no difference, unadjusted and adjusted for the number of differences.
    n_shared : int
        Number of items that both groups contain.
    verdict : str or None
        For a rater or model against the others: within their range, below it, or undecided.
    p_equivalent : float or None
        For a rater or model against the others: p of two one-sided tests with the margin, adjusted for the number of
        raters or models.
    """

    a: str
    b: str
    difference: Coefficient
    p: float | None
    p_adjusted: float | None
    n_shared: int
    verdict: str | None = None
    p_equivalent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``differences``."""
        values = super().to_dict()
        difference = values.pop("difference")
        return {**values, **difference}


def with_adjusted_intervals(differences: Sequence[Difference], margin: float) -> list[Difference]:
    """Give several raters or models the intervals that their verdicts follow from.

    For each of them, two hypotheses are tested: that it agrees as well as the others, and that it is below them by the
    margin or more. At most one of the two is true, so each family is tested at half of 5% (that is, by one limit of an
    interval), with the levels of Holm (1979).

    Parameters
    ----------
    differences : sequence of Difference
        Each of a rater and the others.

    Returns
    -------
    list of Difference
        The same intervals if fewer than two differences have one.
    """
    tested = [(comparison.difference, comparison.n_shared) for comparison in differences]
    below = [doubled(one_sided(change, n, 0.0, above=False)) for change, n in tested]
    within = [doubled(one_sided(change, n, -margin, above=True)) for change, n in tested]
    return [
        replace(comparison, difference=at_levels(comparison.difference, comparison.n_shared, lower, upper))
        for comparison, lower, upper in zip(differences, holm_levels(within), holm_levels(below), strict=True)
    ]


def verdict(comparison: Difference, margin: float, *, audited: bool = False) -> str | None:
    """Conclude from the interval of the difference from the others.

    *Equivalent* if two one-sided tests place the difference within plus or minus the margin, *within the range* if the
    lower limit is above minus the margin, *below* if the upper limit is below 0. Otherwise it is undecided, with the
    number of items that would decide if the difference stays the same.

    Parameters
    ----------
    comparison : Difference
        The rater's agreement with the others minus the agreement of the others with each other.
    audited : bool
        Whether the interval depends on judgments too, so that their number must grow with the number of items.

    Returns
    -------
    str or None
        None without an interval.

    Examples
    --------
    >>> from softirr.statistics.coefficients.intervals import Coefficient
    >>> def of(value, low, high):
    ...     return verdict(Difference("others", "m", Coefficient(value, 0.1, (low, high)), None, None, 100), 0.05)
    >>> of(0.02, -0.03, 0.07)
    'within the range of the others (not more than 0.05 below them)'
    >>> of(-0.2, -0.3, -0.1)
    'below the others'
    >>> of(0.0, -0.1, 0.1).partition(": ")[2]
    'about 300 more items'
    """
    difference = comparison.difference
    if difference.value is None or difference.ci95 is None:
        return None
    low, high = difference.ci95
    if comparison.p_equivalent is not None and comparison.p_equivalent < SIGNIFICANT:
        return f"equivalent to the others (the difference is within ±{margin:g})"
    if low >= -margin:
        return f"within the range of the others (not more than {margin:g} below them)"
    if high < 0:
        return "below the others"
    # the conclusion that needs fewer items, if the difference stays what it is
    sides = (difference.value - low, difference.value + margin), (high - difference.value, -difference.value)
    needed = [(reach / room) ** 2 for reach, room in sides if room > 0]
    more = comparison.n_shared * (min(needed, default=math.inf) - 1)
    if more > MOST_ITEMS:
        return "can't tell yet, and more items would hardly help"
    more_items = f"about {plural(_round(max(more, 1)), 'more item')}"
    return f"can't tell yet: {more_items}{', with judgments in proportion' if audited else ''}"


def _round(n: float) -> int:
    """A number of items with two digits that count, rounded up."""
    step = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return math.ceil(round(n / step, 6)) * step
