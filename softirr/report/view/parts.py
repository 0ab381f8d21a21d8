"""The parts of a view: frozen, and JSON by ``to_dict``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from softirr.json_object import JsonObject
from softirr.text import printable

__all__ = [
    "Cause",
    "CoefficientRow",
    "FieldRow",
    "ItemRow",
    "Links",
    "MeaningRow",
    "Names",
    "PairRow",
    "PersonRow",
    "Scale",
    "Step",
    "Verdict",
    "View",
]

Interval = tuple[float, float]


def _no_link(*_: Any) -> str | None:
    return None


@dataclass(frozen=True)
class Names:
    """The names that a surface uses.

    Attributes
    ----------
    raters : mapping of str to str
        Shown name by the id of a rater; others keep their id.
    items : mapping of str to str
        Shown name by the id of an item; others keep their id.
    item, rater : str
        The words for items and raters: ``task`` and ``annotator`` in Label Studio.
    """

    raters: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    item: str = "item"
    rater: str = "rater"

    def of_rater(self, rater: str) -> str:
        """The shown name of a rater."""
        return printable(self.raters.get(rater, rater))

    def of_item(self, item: str) -> str:
        """The shown name of an item."""
        return printable(self.items.get(item, item))


@dataclass(frozen=True)
class Links:
    """Addresses, each made by a function that may return None.

    Attributes
    ----------
    item : callable
        Of an item, by its id.
    items : callable
        Of a list of items, by their ids and a title.
    rater : callable
        Of the items of a rater, the lowest agreement first.
    field : callable
        Of the report of a field, by its name.
    judge, policy : str or None
        Of the audit page and of the page that changes the policy.
    """

    item: Callable[[str], str | None] = _no_link
    items: Callable[[list[str], str], str | None] = _no_link
    rater: Callable[[str], str | None] = _no_link
    field: Callable[[str], str | None] = _no_link
    judge: str | None = None
    policy: str | None = None


@dataclass(frozen=True)
class Verdict(JsonObject):
    """Whether the agreement reaches the target.

    Attributes
    ----------
    state : {"met", "missed", "undecided", "misfit", "undefined"}
        ``misfit`` if the measure does not fit the texts, ``undefined`` if no coefficient is defined.
    sentence, basis : str
        The verdict; coefficient, judgments, policy and numbers of items and raters.
    coefficient, title : str or None
        Key and title of the coefficient.
    value : float or None
    ci95 : (float, float) or None
    target : float
    target_source : str
    judgments : int
    """

    state: str
    sentence: str
    basis: str
    coefficient: str | None
    title: str | None
    value: float | None
    ci95: Interval | None
    target: float
    target_source: str
    judgments: int


@dataclass(frozen=True)
class Scale(JsonObject):
    """A value with its interval on the scale of the cause.

    Attributes
    ----------
    label : str
    value : float
    ci95 : (float, float) or None
    """

    label: str
    value: float
    ci95: Interval | None


@dataclass(frozen=True)
class Cause(JsonObject):
    """The largest cause of disagreement.

    Attributes
    ----------
    kind : {"person", "reason", "none"}
    sentence : str
    rater, reason : str or None
        The person or the reason.
    scale : tuple of Scale
        Agreement of the person with the others, and of the others with each other.
    link, link_text : str or None
    """

    kind: str
    sentence: str
    rater: str | None = None
    reason: str | None = None
    scale: tuple[Scale, ...] = ()
    link: str | None = None
    link_text: str | None = None


@dataclass(frozen=True)
class Step(JsonObject):
    """The next step.

    Attributes
    ----------
    kind : {"talk", "rule", "judge", "annotate", "read", "done"}
    sentence : str
    examples : tuple of str
        For a rule: pairs of texts, with what differs.
    link, link_text : str or None
    """

    kind: str
    sentence: str
    examples: tuple[str, ...] = ()
    link: str | None = None
    link_text: str | None = None


@dataclass(frozen=True)
class FieldRow(JsonObject):
    """A field.

    Attributes
    ----------
    name, kind : str
    coefficient, title : str or None
        Key and title of its coefficient.
    value : float or None
    ci95 : (float, float) or None
    n_items : int
    categories : tuple of str
        Of the confusion matrix; empty for fields without categories.
    confusion : tuple of tuple of int
        Pairs of answers by the two categories, symmetric.
    labels : dict of str to tuple of int
        Number of answers in each category, by the shown name of the rater.
    link : str or None
    """

    name: str
    kind: str
    coefficient: str | None
    title: str | None
    value: float | None
    ci95: Interval | None
    n_items: int
    categories: tuple[str, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()
    labels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    link: str | None = None


@dataclass(frozen=True)
class PersonRow(JsonObject):
    """A rater.

    Attributes
    ----------
    id, name : str
    is_model : bool
    agreement : float or None
        With the others.
    ci95 : (float, float) or None
    n_items, left_out : int
        Items answered, and answers left out.
    detail : str
        Whether the rater tends to more general or more specific texts; empty if unknown.
    seconds : float or None
        Median time per answer.
    stands_out : bool
        Whether the interval of the difference from the others shows lower agreement.
    model_verdict : str or None
        For a model: the verdict of the comparison with people.
    link : str or None
    """

    id: str
    name: str
    is_model: bool
    agreement: float | None
    ci95: Interval | None
    n_items: int
    left_out: int
    detail: str
    seconds: float | None
    stands_out: bool
    model_verdict: str | None
    link: str | None


@dataclass(frozen=True)
class PairRow(JsonObject):
    """Two raters who share items.

    Attributes
    ----------
    raters, names : (str, str)
    agreement : float
    ci95 : (float, float) or None
    n_items : int
    """

    raters: tuple[str, str]
    names: tuple[str, str]
    agreement: float
    ci95: Interval | None
    n_items: int


@dataclass(frozen=True)
class ItemRow(JsonObject):
    """An item.

    Attributes
    ----------
    id, name : str
    agreement : float
    sentence : str
        Who differs, and in what.
    is_done : bool
    link : str or None
    """

    id: str
    name: str
    agreement: float
    sentence: str
    is_done: bool
    link: str | None


@dataclass(frozen=True)
class MeaningRow(JsonObject):
    """A cluster of equivalent texts.

    Attributes
    ----------
    name : str
    texts : tuple of (str, int)
        Its texts with the number of answers, the most frequent first.
    raters : tuple of (str, int)
        Shown names of the raters who use it, with the number of answers.
    n_items : int
    link : str or None
    """

    name: str
    texts: tuple[tuple[str, int], ...]
    raters: tuple[tuple[str, int], ...]
    n_items: int
    link: str | None


@dataclass(frozen=True)
class CoefficientRow(JsonObject):
    """A coefficient.

    Attributes
    ----------
    key, title, meaning : str
    value : float or None
    ci95 : (float, float) or None
    expected : float or None
        The agreement by chance that it is corrected for.
    undefined : str or None
    """

    key: str
    title: str
    meaning: str
    value: float | None
    ci95: Interval | None
    expected: float | None
    undefined: str | None


@dataclass(frozen=True)
class View(JsonObject):
    """Everything that a surface shows of a report.

    Attributes
    ----------
    verdict : Verdict
    cause : Cause or None
        None if nothing can be compared.
    next_step : Step or None
    fields : tuple of FieldRow
    people : tuple of PersonRow
        Lowest agreement first, people before models.
    pairs : tuple of PairRow
        Lowest agreement first.
    items : tuple of ItemRow
        All items with two answers, in the order in which to read them.
    meanings : tuple of MeaningRow
    coefficients : tuple of CoefficientRow
    what_if : tuple of str
        Sentences about the coefficient without an attribute.
    reasons : tuple of (str, int)
        Reasons why texts do not match, with the number of items, the most frequent first.
    excluded : tuple of (str, int)
        Reasons why answers are left out, with the number of answers.
    facts : tuple of (str, str)
        How the numbers were computed: terms and values.
    warnings : tuple of str
    item_word, rater_word : str
    n_items, n_compared, n_raters : int
    """

    verdict: Verdict
    cause: Cause | None
    next_step: Step | None
    fields: tuple[FieldRow, ...]
    people: tuple[PersonRow, ...]
    pairs: tuple[PairRow, ...]
    items: tuple[ItemRow, ...]
    meanings: tuple[MeaningRow, ...]
    coefficients: tuple[CoefficientRow, ...]
    what_if: tuple[str, ...]
    reasons: tuple[tuple[str, int], ...]
    excluded: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    item_word: str
    rater_word: str
    n_items: int
    n_compared: int
    n_raters: int
