"""What a comparison found: groups, differences and verdicts, as JSON, text and a forest plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from softirr.coefficients.intervals import Coefficient
from softirr.planning.difference import Equality, holm_levels, limit, two_sided
from softirr.policy.rules import Policy
from softirr.report.forest import Row, forest_svg, forest_text
from softirr.report.headline import COEFFICIENT_NAMES
from softirr.report.text import printable, table_lines

__all__ = ["Comparison", "Difference", "Group", "measure_told", "policy_told", "verdict", "with_adjusted_intervals"]

_SURE = 0.05
MOST_ITEMS = 100_000
"""More items than that are not advised."""


@dataclass(frozen=True)
class Group:
    """One coefficient of a comparison.

    Attributes
    ----------
    label : str
    n_items : int
        Items that the coefficient rests on.
    n_raters : int
    coefficient : Coefficient
    audited : bool
    """

    label: str
    n_items: int
    n_raters: int
    coefficient: Coefficient
    audited: bool = False

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``groups``."""
        return {
            "label": self.label,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "audited": self.audited,
            **self.coefficient.to_dict(),
        }


@dataclass(frozen=True)
class Difference:
    """The difference of two groups: the second minus the first.

    Attributes
    ----------
    a, b : str
        Labels of the first and the second.
    difference : Coefficient
    p, p_adjusted : float or None
        Of no difference, alone and adjusted for the number of differences.
    n_shared : int
        Items that both rest on.
    verdict : str or None
        For a rater or model against the others: within their range, below, or can't tell yet.
    ci95_adjusted : (float, float) or None
        The interval that the verdict follows from, where there are several raters or models: adjusted for their number.
    """

    a: str
    b: str
    difference: Coefficient
    p: float | None
    p_adjusted: float | None
    n_shared: int
    verdict: str | None = None
    ci95_adjusted: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``differences``."""
        return {
            "a": self.a,
            "b": self.b,
            **self.difference.to_dict(),
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "n_shared": self.n_shared,
            "verdict": self.verdict,
            "ci95_adjusted": None if self.ci95_adjusted is None else list(self.ci95_adjusted),
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """Groups that were compared, and their differences.

    ``print(comparison)`` shows it, :meth:`to_dict` gives it as JSON, :meth:`to_svg` as a forest plot.

    Attributes
    ----------
    coefficient : str
        The coefficient that was compared.
    groups : tuple of Group
    differences : tuple of Difference
        Every two groups.
    measure : str
    paired : bool
        Whether every two groups share items.
    adjusted : str or None
        How p values are adjusted: ``holm``, or None.
    equality : Equality or None
        Test that three or more groups are the same.
    trend : Difference or None
        Change from the first to the last item.
    by : str or None
        The field that the items were grouped by.
    rater : str or None
        The rater whose drift it is.
    others : tuple of Group
        Where a rater or model is compared with the others: each of them with the rest of them.
    margin : float or None
        Of the verdicts.
    warnings : tuple of str
    policy : Policy
        What counted as the same.
    """

    coefficient: str
    groups: tuple[Group, ...]
    differences: tuple[Difference, ...]
    measure: str
    paired: bool = False
    adjusted: str | None = None
    equality: Equality | None = None
    trend: Difference | None = None
    by: str | None = None
    rater: str | None = None
    others: tuple[Group, ...] = ()
    margin: float | None = None
    warnings: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.groups)} groups, {self.coefficient}, measure {self.measure}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        two = len(self.differences) == 1
        return {
            "schema_version": 1,
            "coefficient": self.coefficient,
            "measure": self.measure,
            "policy": self.policy.to_dict(),
            "by": self.by,
            "rater": self.rater,
            "paired": self.paired,
            "difference": self.differences[0].difference.to_dict() if two else None,
            "a": self.groups[0].coefficient.to_dict() if two else None,
            "b": self.groups[1].coefficient.to_dict() if two else None,
            "groups": [group.to_dict() for group in self.groups],
            "differences": [one.to_dict() for one in self.differences],
            "adjusted": self.adjusted,
            "equality": None
            if self.equality is None
            else {"statistic": self.equality.statistic, "df": self.equality.df, "p": self.equality.p},
            "trend": None if self.trend is None else self.trend.to_dict(),
            "others": [group.to_dict() for group in self.others],
            "margin": self.margin,
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[Row]:
        """The lines of the forest plot."""
        rows = [_row(group) for group in (*self.groups, *self.others)]
        shown = self.differences if self.trend is None else (self.trend,)
        return rows + [Row(f"{one.b} − {one.a}", one.difference.value, one.difference.ci95, True) for one in shown]

    def to_svg(self) -> str:
        """The forest plot as SVG."""
        return forest_svg(self.rows(), COEFFICIENT_NAMES[self.coefficient])

    def lines(self) -> Iterable[str]:
        """The comparison as text."""
        what = COEFFICIENT_NAMES[self.coefficient]
        of = f" of {printable(self.rater)} with the others" if self.rater else ""
        by = f" by {printable(self.by)}" if self.by else ""
        yield f"{what}{of}{by}, {measure_told(self.measure, self.policy)}, {self._audited()}"
        yield from policy_told(self.policy)
        yield ""
        yield from forest_text([_row(group) for group in self.groups])
        if self.others:
            yield ""
            yield "Each of the others with the rest of them:"
            yield from forest_text([_row(group) for group in self.others])
        yield ""
        if self.trend is None and len(self.differences) > 1:
            yield from self._table()
        yield from self.sentences()
        for warning in self.warnings:
            yield f"Note: {warning}"

    def sentences(self) -> list[str]:
        """What the comparison says: the only difference or the trend, the test of several groups, and the verdicts.

        Returns
        -------
        list of str
        """
        found: list[str] = []
        if self.trend is not None:
            found += self._trend(self.trend)
        elif len(self.differences) == 1:
            found.append(self._sentence(self.differences[0]))
        if self.equality is not None:
            found.append(
                f"Test that all are the same: chi-square {self.equality.statistic:.2f}, {self.equality.df} degrees of freedom, p {_p_is(self.equality.p)}."
            )
        return found + [f"{printable(one.b)}: {one.verdict}." for one in self.differences if one.verdict]

    def _audited(self) -> str:
        n = sum(group.audited for group in self.groups)
        return "audited" if n == len(self.groups) else "audited in part" if n else "not audited"

    def _sentence(self, one: Difference) -> str:
        found = one.difference
        a, b = printable(one.a), printable(one.b)
        if found.value is None:
            return f"The difference is not defined: {found.undefined}."
        if found.ci95 is None:
            return f"{b} minus {a}: {found.value:+.3f}, without an interval."
        how = f"on {one.n_shared:,} shared items" if one.n_shared > 1 else "on different items"
        low, high = found.ci95
        told = (
            "The difference is larger than the choice of items explains."
            if one.p is not None and one.p < _SURE
            else "The items do not show a difference."
        )
        return f"{b} minus {a}: {found.value:+.3f}, 95% interval {low:+.3f} to {high:+.3f}, p {_p_is(one.p)}, {how}. {told}"

    def _trend(self, one: Difference) -> Iterable[str]:
        found = one.difference
        if found.value is None or found.ci95 is None:
            yield f"The trend is not defined: {found.undefined}."
            return
        sure = (
            "Agreement changes over time." if one.p is not None and one.p < _SURE else "The items do not show a change."
        )
        yield (
            f"From the first to the last of {one.n_shared:,} items: {found.value:+.3f}, 95% interval {found.ci95[0]:+.3f} to "
            f"{found.ci95[1]:+.3f}, p {_p_is(one.p)}. {sure}"
        )

    def _table(self) -> Iterable[str]:
        simultaneous = any(one.ci95_adjusted for one in self.differences)
        rows = [
            (
                f"{printable(one.b)} − {printable(one.a)}",
                "undefined" if one.difference.value is None else f"{one.difference.value:+.3f}",
                _interval(one.difference.ci95),
                *([_interval(one.ci95_adjusted)] if simultaneous else []),
                _p(one.p),
                _p(one.p_adjusted),
            )
            for one in self.differences
        ]
        more = ("adjusted interval",) if simultaneous else ()
        yield from table_lines(("difference", "value", "95% interval", *more, "p", "p adjusted"), rows)
        if self.adjustment is not None:
            yield self.adjustment

    @property
    def adjustment(self) -> str | None:
        """What is adjusted for the number of differences, as a sentence; None where nothing is."""
        if self.adjusted is None:
            return None
        n = len(self.differences)
        if any(one.ci95_adjusted for one in self.differences):
            return (
                f"p and the adjusted intervals are adjusted for {n} comparisons (Holm 1979). The verdicts follow from the adjusted intervals: with a "
                "probability of 95% none of them is wrong."
            )
        return f"p is adjusted for {n} differences (Holm 1979); each interval stands for itself."


def measure_told(measure: str, policy: Policy) -> str:
    """The measure, and that texts are compared as written where they are.

    Parameters
    ----------
    measure : str
    policy : Policy

    Returns
    -------
    str

    Examples
    --------
    >>> measure_told("indel", Policy())
    'measure indel, texts as written'
    """
    return f"measure {measure}{', texts as written' if policy.is_default else ''}"


def policy_told(policy: Policy) -> Iterable[str]:
    """What counts as the same, where that is more than the texts as written.

    Parameters
    ----------
    policy : Policy

    Yields
    ------
    str
    """
    if not policy.is_default:
        yield f"What counts as the same: {printable(policy.told())}"


def _row(group: Group) -> Row:
    found = group.coefficient
    n = f"{group.n_items:,} items"
    return Row(group.label, found.value, found.ci95, False, n if found.value is not None else found.undefined or "")


def _interval(limits: tuple[float, float] | None) -> str:
    return "" if limits is None else "{:+.3f} to {:+.3f}".format(*limits)


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _p_is(value: float | None) -> str:
    """For a sentence: ``= 0.012`` or ``< 0.001``."""
    told = _p(value)
    return told if told.startswith("<") else f"= {told}"


def with_adjusted_intervals(differences: Sequence[Difference], margin: float) -> list[Difference]:
    """Give several raters or models the intervals that their verdicts follow from.

    Two hypotheses are tested of each: that it agrees as well as the others, and that it is the margin or more below them. At most one of the two is
    true, so each family is tested at half of 5% (that is, by one limit of an interval), with the levels of Holm (1979).

    Parameters
    ----------
    differences : sequence of Difference
        Each of a rater and the others.
    margin : float

    Returns
    -------
    list of Difference
        As given where there are fewer than two with an interval.
    """
    known = [one for one in differences if one.difference.ci95 is not None and one.n_shared > 1]
    if len(known) < 2:
        return list(differences)
    below: list[float | None] = []
    within: list[float | None] = []
    for one in differences:
        found = one.difference
        if found.value is None or found.ci95 is None or one.n_shared < 2:
            below.append(None)
            within.append(None)
            continue
        below.append(two_sided(-found.value, found.ci95[1] - found.value, one.n_shared))
        within.append(two_sided(found.value + margin, found.value - found.ci95[0], one.n_shared))
    result = []
    for one, lower, upper in zip(differences, holm_levels(within), holm_levels(below), strict=True):
        limits = (
            limit(one.difference, one.n_shared, lower, upper=False),
            limit(one.difference, one.n_shared, upper, upper=True),
        )
        result.append(replace(one, ci95_adjusted=None if None in limits else limits))  # type: ignore[arg-type]
    return result


def verdict(one: Difference, margin: float, *, audited: bool = False) -> str | None:
    """What the interval of the difference from the others says of a rater or a model.

    *Within the range* where the interval ends above minus the margin, *below* where it lies below 0, else *can't tell yet*, with the number of items
    that would tell if the difference stays what it is.

    Parameters
    ----------
    one : Difference
        The rater's agreement with the others minus that of the others among themselves.
    margin : float
    audited : bool
        The interval rests on judgements too, which have to grow with the items.

    Returns
    -------
    str or None
        None where there is no interval.

    Examples
    --------
    >>> def of(value, low, high):
    ...     return verdict(Difference("others", "m", Coefficient(value, 0.1, (low, high)), None, None, 100), 0.05)
    >>> of(0.02, -0.03, 0.07)
    'within the range of the others (not more than 0.05 below them)'
    >>> of(-0.2, -0.3, -0.1)
    'below the others'
    >>> of(0.0, -0.1, 0.1)
    "can't tell yet: about 300 more items"
    """
    found = one.difference
    if found.value is None or found.ci95 is None:
        return None
    low, high = one.ci95_adjusted or found.ci95
    if low >= -margin:
        return f"within the range of the others (not more than {margin:g} below them)"
    if high < 0:
        return "below the others"
    # the conclusion that needs fewer items, if the difference stays what it is
    needed = [
        (reach / room) ** 2
        for reach, room in ((found.value - low, found.value + margin), (high - found.value, -found.value))
        if room > 0
    ]
    more = one.n_shared * (min(needed, default=math.inf) - 1)
    if more > MOST_ITEMS:
        return "can't tell yet, and more items would hardly help"
    found_more = f"about {_round(max(more, 1)):,} more items"
    return f"can't tell yet: {found_more}{', with judgements in proportion' if audited else ''}"


def _round(n: float) -> int:
    """A number of items with two digits that count, rounded up."""
    step = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return math.ceil(round(n / step, 6)) * step
