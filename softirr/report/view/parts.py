"""The parts of a view: frozen, and JSON by ``to_dict``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from softirr.json_object import JsonObject
from softirr.report.view.advice import Cause, Step
from softirr.report.view.verdict import Interval, Verdict


@dataclass(frozen=True, kw_only=True)
class Row(JsonObject):
    """A row of a table of the view, or the view."""

    @classmethod
    def of(cls, entry: Mapping[str, Any], **values: Any) -> Self:
        """A row with the values that a report or its entry has under the same names, and with other values.

        Where the entry has a coefficient, the row has its value.
        """
        shared = {attribute.name: entry[attribute.name] for attribute in fields(cls) if attribute.name in entry}
        for name in shared.keys() & {"cohen_kappa", "sigma"}:
            shared[name] = shared[name]["value"] if isinstance(shared[name], Mapping) else shared[name]
        return cls(**shared | values)


@dataclass(frozen=True, kw_only=True)
class CoefficientRow(Row):
    """A coefficient.

    Attributes
    ----------
    name, title : str
        Its name in tables of a terminal, and on pages.
    expected : float or None
        The agreement by chance that it is corrected for.
    by_measure : float or None
        With judgments: the value by the measure alone.
    undefined : str or None
        Why it has no value.
    """

    key: str
    name: str
    title: str
    meaning: str
    value: float | None
    standard_error: float | None = None
    ci95: Interval | None
    expected: float | None
    by_measure: float | None
    undefined: str | None


@dataclass(frozen=True, kw_only=True)
class ConfusedRow(Row):
    """Two different values that raters gave to the same items.

    Attributes
    ----------
    n_pairs, n_items : int
        Pairs of answers with the two values, and items that have such a pair.
    example : str
        Shown name of one of these items.
    """

    values: tuple[str, str]
    n_pairs: int
    n_items: int
    example: str


@dataclass(frozen=True, kw_only=True)
class FieldRow(Row):
    """A field.

    Attributes
    ----------
    item_word : str
        The word for what `n_items` counts.
    n_left_out : int
        Answers that are not values of its kind.
    below : str
        Shown name of the rater with lower agreement than the others, if the interval supports it.
    confused : tuple of ConfusedRow
        The most frequent first.
    categories : sequence of str
        Categories of the confusion matrix; empty for fields without categories.
    confusion : sequence of sequence of int
        Pairs of answers by the two categories, symmetric.
    labels : dict of str to sequence of int
        Number of answers in each category, by the shown name of the rater.
    """

    name: str
    kind: str
    coefficient: str | None
    title: str | None
    value: float | None
    ci95: Interval | None
    expected: float | None
    n_items: int
    item_word: str
    n_left_out: int = 0
    below: str = ""
    confused: tuple[ConfusedRow, ...] = ()
    categories: Sequence[str] = ()
    confusion: Sequence[Sequence[int]] = ()
    labels: dict[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PersonRow(Row):
    """A rater; `agreement` is the agreement with the other raters.

    Attributes
    ----------
    left_out : int
        Number of answers that are left out.
    detail : str
        Whether the rater tends to more general or more specific texts; empty if unknown.
    seconds : float or None
        Median time per answer.
    stands_out : bool
        Whether the interval of the difference from the others shows lower agreement.
    model_verdict : str or None
        For a model: the verdict of the comparison with people.
    """

    id: str
    name: str
    is_model: bool
    agreement: float | None
    ci95: Interval | None
    cohen_kappa: float | None
    sigma: float | None
    n_items: int
    left_out: int
    detail: str
    seconds: float | None
    stands_out: bool
    model_verdict: str | None
    link: str | None


@dataclass(frozen=True, kw_only=True)
class PairRow(Row):
    """Two raters who share items."""

    raters: tuple[str, str]
    names: tuple[str, str]
    agreement: float
    ci95: Interval | None
    expected: float | None
    cohen_kappa: float | None
    sigma: float | None
    n_items: int


@dataclass(frozen=True, kw_only=True)
class ItemRow(Row):
    """An item.

    Attributes
    ----------
    agreement : float or None
        None with fewer than two answers.
    sentence : str
        Who differs, and in what.
    reasons : sequence of str
        Kinds of reasons why texts do not match.
    note : str
        A sentence about its answers that a reader has to know; empty if there is none.
    priority : float or None
        How much a review helps.
    """

    id: str
    name: str
    agreement: float | None
    kappa: float | None = None
    sigma: float | None = None
    n_raters: int
    suggestion: Sequence[str] = ()
    reasons: Sequence[str]
    sentence: str
    note: str = ""
    priority: float | None
    is_done: bool = False
    link: str | None


@dataclass(frozen=True, kw_only=True)
class MeaningRow(Row):
    """A cluster of equivalent texts.

    Attributes
    ----------
    texts, raters : tuple of (str, int)
        Its texts and the shown names of the raters who use it, with the number of answers, the most frequent first.
    """

    name: str
    texts: tuple[tuple[str, int], ...]
    raters: tuple[tuple[str, int], ...]
    n_items: int
    link: str | None


@dataclass(frozen=True, kw_only=True)
class View(Row):
    """Everything that a surface shows of a report.

    Attributes
    ----------
    cause, next_step : Cause or None, Step or None
        None if nothing can be compared.
    people : tuple of PersonRow
        Lowest agreement first, people before models.
    pairs : tuple of PairRow
        Lowest agreement first.
    items, uncompared : tuple of ItemRow
        All items with two answers, in the order in which to read them, and the other items.
    order : str
        Which items come first, and why.
    audit : tuple of str
        Sentences about the judgments.
    what_if : tuple of str
        Sentences about the coefficient without an attribute.
    reasons : tuple of (str, int)
        Reasons why texts do not match, with the number of items, the most frequent first.
    excluded : tuple of (str, int)
        Reasons why answers are left out, with the number of answers.
    facts : tuple of (str, str)
        How the numbers were computed: terms and values.
    misfits : tuple of str
        Why the measure does not fit the texts; also in `warnings`.
    item_word, rater_word, part_word : str
        The words for items, for raters, and for what coefficients count.
    n_parts : int or None
        Number of the latter that are compared, if items consist of several.
    """

    verdict: Verdict
    cause: Cause | None
    next_step: Step | None
    fields: tuple[FieldRow, ...]
    people: tuple[PersonRow, ...]
    pairs: tuple[PairRow, ...]
    items: tuple[ItemRow, ...]
    uncompared: tuple[ItemRow, ...]
    order: str
    meanings: tuple[MeaningRow, ...]
    coefficients: tuple[CoefficientRow, ...]
    audit: tuple[str, ...]
    what_if: tuple[str, ...]
    reasons: tuple[tuple[str, int], ...]
    excluded: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, str], ...]
    misfits: tuple[str, ...]
    warnings: tuple[str, ...]
    item_word: str
    rater_word: str
    part_word: str
    n_items: int
    n_parts: int | None = None
    n_compared: int
    n_raters: int
