"""The groups of answers that a comparison compares, and the difference between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softirr.json_object import JsonObject
from softirr.statistics.coefficients.intervals import Coefficient

OTHERS = "others"
"""Label of the raters that a rater or model is compared with."""


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
