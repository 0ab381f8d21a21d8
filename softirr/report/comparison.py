"""The result of a comparison: groups, differences and verdicts, as JSON, text and a forest plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from softirr.answers.missing import unchecked_in_words
from softirr.answers.ratings import Ratings
from softirr.answers.table import AnnotationTable
from softirr.defaults import FEW_ITEMS, SCHEMA_VERSION
from softirr.errors import Note
from softirr.json_object import JsonObject
from softirr.meaning.policy.rules import Policy
from softirr.numbers import in_terminal, interval, number, plural
from softirr.report.alternative_annotator import AlternativeAnnotator
from softirr.report.charts import Row, forest_chart, forest_text
from softirr.report.terminal_report import table_lines
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.coefficients.registry import coefficient_name, definition
from softirr.statistics.comparisons.difference import difference, p_value, within_range
from softirr.statistics.comparisons.groups import OTHERS, Difference, Group
from softirr.text import printable

NOT_AUDITED = (
    "Not audited: the intervals contain the sampling of items but not the error of the measure, which cancels in a "
    "difference only as far as it is the same in both parts."
)
_SURE = 0.05


def reading_notes(tables: Mapping[str, AnnotationTable]) -> list[str]:
    """What to know about the answers of each table by its label, which is named unless all tables share it."""
    labels: dict[Note, list[str]] = {}
    for label, table in tables.items():
        for sentence in (*table.warnings, *unchecked_in_words(table)):
            labels.setdefault(Note(sentence), []).append(label)
    return [note if len(of) == len(tables) else note.of(", ".join(of)) for note, of in labels.items()]


def comparable_items(table: AnnotationTable) -> set[str]:
    """Ids of the items with answers of two raters."""
    return {table.items[number] for number in Ratings.of(table).comparable_items.tolist()}


def difference_of(
    groups: tuple[Group, Group], samples: tuple[Sample, Sample], *, independent: bool = False
) -> Difference:
    """The second group minus the first one, by the samples of both; its p is not adjusted.

    Parameters
    ----------
    independent : bool
        Items of the same id are different items.
    """
    change = difference(*samples, independent=independent)
    n_shared = 0 if independent else len(set(samples[0].items) & set(samples[1].items))
    p = p_value(change, min(group.n_items for group in groups))
    return Difference(groups[0].label, groups[1].label, change, p, p, n_shared)


def few_items(groups: Sequence[Group]) -> list[str]:
    """A sentence about groups with so few items that their intervals are approximate."""
    labels = [group.label for group in groups if group.coefficient.value is not None and group.n_items < FEW_ITEMS]
    return [f"Fewer than {FEW_ITEMS} items in {', '.join(labels)}: the intervals are approximate."] if labels else []


@dataclass(frozen=True, repr=False)
class Comparison(JsonObject):
    """Groups that were compared, and their differences.

    ``print(comparison)`` shows it, :meth:`to_dict` gives it as JSON, :meth:`to_svg` as a forest plot.

    Attributes
    ----------
    coefficient : str
        The coefficient that was compared.
    differences : tuple of Difference
        Every two groups.
    measure : str
        Several, separated by commas, if measures are compared.
    compared : {"tables", "measures", "policies", "models"}
        Kind of the groups.
    paired : bool
        Whether every two groups share items.
    adjusted : str or None
        How p values are adjusted: ``holm``, or None.
    others : tuple of Group
        Where a rater or model is compared with the others: each of them with the rest of them.
    margin : float or None
        Margin of the verdicts.
    alternative : tuple of AlternativeAnnotator
        Where models are compared with people: the alternative annotator test of each.
    misfits : tuple of str
        Why the measure does not fit the texts.
    warnings : tuple of str
        Sentences for readers of the numbers.
    policy : Policy
        What counted as the same.

    Examples
    --------
    >>> import pandas, softirr
    >>> first = pandas.DataFrame({"ann": ["fever", "rash", "pain"], "bob": ["fevers", "rash", "pain"]})
    >>> second = pandas.DataFrame({"ann": ["fever", "rash", "pain"], "bob": ["cough", "rash", "itch"]}, index=[3, 4, 5])
    >>> frames = {"first": first, "second": second}
    >>> tables = {name: softirr.read(frame, raters=["ann", "bob"]) for name, frame in frames.items()}
    >>> comparison = softirr.compare(tables, "indel", coefficient="krippendorff_alpha")
    >>> [(group.label, round(group.coefficient.value, 2)) for group in comparison.groups]
    [('first', 0.95), ('second', 0.23)]
    >>> round(comparison.differences[0].difference.value, 2)
    -0.72
    """

    coefficient: str
    groups: tuple[Group, ...]
    differences: tuple[Difference, ...]
    measure: str
    compared: str = "tables"
    paired: bool = False
    adjusted: str | None = None
    others: tuple[Group, ...] = ()
    margin: float | None = None
    alternative: tuple[AlternativeAnnotator, ...] = ()
    warnings: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        floor = definition(self.coefficient).floor
        differences = (replace(row, difference=within_range(row.difference, floor)) for row in self.differences)
        object.__setattr__(self, "differences", tuple(differences))

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.groups)} groups, {self.coefficient}, measure {self.measure}>"

    def __str__(self) -> str:
        return "\n".join(map(in_terminal, self._lines()))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        two, values = len(self.differences) == 1, super().to_dict()
        tests = values.pop("alternative")
        return {
            "schema_version": SCHEMA_VERSION,
            **values,
            "difference": self.differences[0].difference.to_dict() if two else None,
            "a": self.groups[0].coefficient.to_dict() if two else None,
            "b": self.groups[1].coefficient.to_dict() if two else None,
            "alternative_annotator": tests,
            "warnings": [*self.misfits, *self.warnings],
        }

    def satisfies(self, requirement: str) -> bool:
        """Whether every rater or model that is compared with the others has a verdict.

        Parameters
        ----------
        requirement : {"within", "equivalent", "passed"}
            Within the range of the others (or equivalent to them), equivalent to them, or passed the alternative
            annotator test.
        """
        if requirement == "passed":
            return bool(self.alternative) and all(entry.passed for entry in self.alternative)
        accepted = ("equivalent",) if requirement == "equivalent" else ("equivalent", "within")
        verdicts = [entry.verdict or "" for entry in self.differences]
        return bool(verdicts) and all(verdict.startswith(accepted) for verdict in verdicts)

    def rows(self) -> list[Row]:
        """The lines of the forest plot."""
        rows = [_row(group) for group in (*self.groups, *self.others)]
        for entry in self.differences:
            first = OTHERS if entry.a.startswith(f"{OTHERS},") else entry.a  # its items are those of the rater
            rows.append(Row(f"{entry.b} − {first}", entry.difference.value, entry.difference.ci95, True))
        return rows

    @property
    def others_range(self) -> tuple[float, float] | None:
        """The lowest and the highest agreement of one of the others with the rest of them; None without two of them."""
        values = [group.coefficient.value for group in self.others if group.coefficient.value is not None]
        return (min(values), max(values)) if len(values) > 1 else None

    def to_svg(self) -> str:
        """The forest plot as SVG."""
        return forest_chart(self.rows(), coefficient_name(self.coefficient), band=self.others_range).svg()

    def _lines(self) -> Iterable[str]:
        n = sum(group.audited for group in self.groups)
        audited = "audited" if n == len(self.groups) else "audited in part" if n else "not audited"
        policy = ", texts as written" if self.policy.is_default and self.compared != "policies" else ""
        yield f"{coefficient_name(self.coefficient)}, measure {self.measure}{policy}, {audited}"
        if not self.policy.is_default:
            yield f"What counts as the same: {printable(self.policy.describe())}"
        for misfit in self.misfits:
            yield f"Warning: {misfit}"
        yield ""
        yield from forest_text([_row(group) for group in self.groups])
        if self.others:
            yield ""
            yield "Each of the others with the rest of them:"
            yield from forest_text([_row(group) for group in self.others])
        yield ""
        if len(self.differences) > 1:
            rows = [
                (
                    f"{printable(entry.b)} − {printable(entry.a)}",
                    number(entry.difference.value, sign=True, none="undefined"),
                    interval(entry.difference.ci95, sign=True, none=""),
                    _p(entry.p),
                    _p(entry.p_adjusted),
                )
                for entry in self.differences
            ]
            yield from table_lines(("difference", "value", "95% interval", "p", "p adjusted"), rows)
            n = len(rows)
            if self.adjusted and any(entry.verdict for entry in self.differences):
                yield (
                    f"The intervals and p are adjusted for {n} comparisons (Holm 1979). The verdicts follow from the "
                    "intervals: with a probability of 95% none of them is wrong."
                )
            elif self.adjusted:
                yield f"The intervals and p are adjusted for {n} differences (Holm 1979)."
        yield from self.sentences()
        for warning in self.warnings:
            yield f"Note: {warning}"

    def sentences(self) -> list[str]:
        """The result in sentences: the only difference, and the verdicts."""
        sentences = [self._sentence(entry) for entry in self.differences if len(self.differences) == 1]
        sentences += [f"{printable(entry.b)}: {entry.verdict}." for entry in self.differences if entry.verdict]
        return sentences + [entry.sentence for entry in self.alternative]

    def _sentence(self, entry: Difference) -> str:
        difference = entry.difference
        a, b = printable(entry.a), printable(entry.b)
        if difference.value is None:
            return f"The difference is not defined: {difference.undefined}."
        if difference.ci95 is None:
            return f"{b} minus {a}: {number(difference.value, sign=True)}, without an interval."
        p = _p(entry.p) if entry.p is not None and entry.p < 0.001 else f"= {_p(entry.p)}"
        items = f"on {entry.n_shared:,} shared items" if entry.n_shared > 1 else "on different items"
        conclusion = (
            "The difference is larger than the choice of items explains."
            if entry.p is not None and entry.p < _SURE
            else "The items do not show a difference."
        )
        return (
            f"{b} minus {a}: {number(difference.value, sign=True)}, 95% interval "
            f"{interval(difference.ci95, sign=True)}, p {p}, {items}. {conclusion}"
        )


def _row(group: Group) -> Row:
    coefficient = group.coefficient
    note = coefficient.undefined or "" if coefficient.value is None else plural(group.n_items, "item")
    return Row(group.label, coefficient.value, coefficient.ci95, False, note)


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
