"""What a comparison compares: groups of answers, and the difference between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softirr.json_object import JsonObject
from softirr.statistics.coefficients.intervals import Coefficient

__all__ = ["OTHERS", "Difference", "Group"]


OTHERS = "others"
"""Label of the raters that a rater or model is compared with."""


@dataclass(frozen=True)
class Group(JsonObject):
    """One coefficient of a comparison.

    Attributes
    ----------
    n_items : int
        Items that the coefficient rests on.
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
        Its interval is adjusted for the number of differences, where there are several, unless that was not wanted.
    p, p_adjusted : float or None
        Of no difference, alone and adjusted for the number of differences.
    n_shared : int
        Items that both rest on.
    verdict : str or None
        For a rater or model against the others: within their range, below, or can't tell yet.
    p_equivalent : float or None
        For a rater or model against the others: of two one-sided tests with the margin, adjusted for the number of
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
