"""Agreement on the controls of a project without texts: choices, ratings, numbers, dates, paths and rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from sys import intern
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ml_backend.labelstudio.answers import rater_order
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.details import without_items
from ml_backend.scoring.preparation import RawAnswers, raw_field, task_of
from softirr.answers.answer import RawField
from softirr.answers.missing import MissingMarks
from softirr.answers.prepare import prepare
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError

if TYPE_CHECKING:
    from softirr.meaning.measures.kinds import Scale

SET = "set"
Pair = tuple[str, str, float]


@dataclass(frozen=True)
class FieldFit:
    """Properties of one control's answers over the project, so that a task is compared as in the project.

    Attributes
    ----------
    kind
        Kind of the field (`softirr.answers.kinds`).
    scale : tuple of (list of float, list of float) or None
        Scale of the numbers (`softirr.meaning.measures.kinds.KindMeasure.scale`).
    opposites : tuple of str
        Answers with opposites that are answers too, rather than marks for a missing answer.
    """

    kind: str
    scale: Scale | None = None
    opposites: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The fit that `to_dict` gave."""
        scale = values["scale"]
        return cls(values["kind"], None if scale is None else (scale[0], scale[1]), tuple(values["opposites"]))

    def is_near(self, other_fit: FieldFit, within: float) -> bool:
        """Whether no agreement by `other_fit` differs by `within` or more."""
        if (self.kind, self.opposites) != (other_fit.kind, other_fit.opposites):
            return False
        if (self.scale is None) != (other_fit.scale is None):
            return False
        if self.scale is None or other_fit.scale is None:
            return True
        numbers = sorted({*self.scale[0], *other_fit.scale[0]})
        moved = np.interp(numbers, *self.scale) - np.interp(numbers, *other_fit.scale)
        # both numbers of a pair can move by this much, and the derivative of a squared difference is 2 at most
        return 4 * float(np.abs(moved).max(initial=0.0)) < within


@dataclass(frozen=True)
class FieldOfTask:
    """One control in one task.

    Attributes
    ----------
    agreement : float or None
        None if fewer than two annotators gave a value.
    answers : dict of str to tuple of str
        Values by rater.
    agreed : tuple of str or None
        Values that they agree on (`softirr.report.fields.agreed_values`).
    """

    agreement: float | None
    answers: dict[str, tuple[str, ...]]
    agreed: tuple[str, ...] | None


@dataclass(frozen=True)
class FieldReport:
    """One control of another kind over the whole project.

    Attributes
    ----------
    row : dict
        Row of the table of fields (`softirr.report.fields.field_row`), or with a ``problem`` instead of values.
    fit : FieldFit, optional
        Needed to compare a task as in the project; None with a ``problem``.
    report : dict or None
        As `Scorer.summary` returns it for a text.
    """

    row: dict[str, Any]
    fit: FieldFit | None = None
    report: dict[str, Any] | None = None


class FieldAnswers:
    """The answers to controls of other kinds, read from the store once for all of them."""

    def __init__(self, stored: RawAnswers) -> None:
        self._fields: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        interned: dict[tuple[str, ...], tuple[str, ...]] = {}  # most values occur often
        for number, fields in stored:
            for name, entry in fields.items():
                answers = {
                    intern(rater): interned.setdefault(texts := tuple(values), texts)
                    for rater, values in entry["answers"].items()
                }
                field: dict[str, Any] = {
                    "answers": answers,
                    "excluded": entry["excluded"] or (),
                    "kind": intern(entry["kind"]),
                }
                if entry.get("groups"):
                    field["groups"] = entry["groups"]
                self._fields.setdefault(name, []).append((number, field))

    def take(self, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Return the answers to a control, and forget them."""
        return ((number, {name: field}) for number, field in self._fields.pop(name, ()))


def other_field(stored: RawAnswers, name: str, kind: str, settings: ProjectSettings) -> FieldReport | None:
    """Return the report on one control of another kind, computed as ``softirr score`` computes it from an export.

    Parameters
    ----------
    stored : iterable of (int, mapping)
        Number and raw answers of every task.
    name, kind : str
        Name and kind of the control (`config.other_controls`); it is a set if anybody chose several values, or sorted
        them into buckets. A kind of the settings replaces it.

    Returns
    -------
    FieldReport or None
        None if nobody answered it.
    """
    from softirr import AgreementOptions, agreement
    from softirr.meaning.measures.kinds import KindMeasure
    from softirr.report.fields import field_row

    kinds: set[str] = set()

    def noted() -> RawAnswers:
        for number, fields in stored:
            if name in fields:
                kinds.add(fields[name]["kind"])
                yield number, fields

    raw = raw_field(noted(), name)
    texts = [text for answer in raw.answers for text in answer.texts or ()]
    if not texts:
        return None
    kind = settings.kinds.get(name) or (SET if SET in kinds else kind)
    opposites = tuple(sorted(MissingMarks.of(settings.missing).opposites_in(texts)))
    try:
        table = _table(raw, FieldFit(kind, None, opposites), settings)
        measure = KindMeasure(table)
        report = agreement(
            table, measure, chance=settings.chance, cache=None, progress=None, options=AgreementOptions(matches=False)
        )
    except InputError as error:
        return FieldReport({"name": name, "kind": kind, "problem": str(error)})
    n_compared = sum(item.agreement is not None for item in report.items)
    values = replace(report, items=()).to_dict()
    row = field_row(name, values) | {"n_items": n_compared}
    return FieldReport(row, FieldFit(kind, measure.scale, opposites), without_items(values, n_compared))


def field_of_task(
    number: int, fields: Mapping[str, Any], name: str, fit: FieldFit, settings: ProjectSettings
) -> FieldOfTask:
    """One control in one task, compared as in the whole project.

    Parameters
    ----------
    number : int
        Number of the task.
    fields : mapping
        Its answers by control (`Store.fields`).
    name : str
        Name of the control.
    fit, settings
        Properties of the field over the project, and the project's settings.
    """
    from softirr.meaning.measures.kinds import KindMeasure
    from softirr.report.fields import agreed_values, compared_pairs

    try:
        table = _table(raw_field([(number, fields)], name), fit, settings)
    except InputError:  # no answer has a value of the kind
        return FieldOfTask(None, {}, None)
    answers: dict[str, tuple[str, ...]] = {}
    for rater, answer in sorted(zip(table.rater.tolist(), table.answer.tolist(), strict=True)):
        answers[table.raters[rater]] = answers.get(table.raters[rater], ()) + table.texts_of(answer)
    pairs = _pairs_by_task(compared_pairs(table, KindMeasure(table, fit.scale))).get(number, [])
    agreed = agreed_values(fit.kind, list(answers.values())) if len(table.items) == 1 else None
    return FieldOfTask(mean_of(pairs), {rater: answers[rater] for rater in sorted(answers, key=rater_order)}, agreed)


def pairs_of_tasks(stored: RawAnswers, name: str, fit: FieldFit, settings: ProjectSettings) -> dict[int, list[Pair]]:
    """Return how each two annotators' answers to one control agree, by task, compared as in the whole project.

    Tasks with fewer than two values are left out.
    """
    from softirr.meaning.measures.kinds import KindMeasure
    from softirr.report.fields import compared_pairs

    try:
        table = _table(raw_field(stored, name), fit, settings)
    except InputError:  # no answer has a value of the kind
        return {}
    return _pairs_by_task(compared_pairs(table, KindMeasure(table, fit.scale)))


def _pairs_by_task(compared: Mapping[str, Sequence[Pair]]) -> dict[int, list[Pair]]:
    """Return the agreement of each two annotators by task: the mean over the turns of a dialogue."""
    values: dict[int, dict[tuple[str, str], list[float]]] = {}
    for item, pairs in compared.items():
        for a, b, value in pairs:
            values.setdefault(task_of(item), {}).setdefault((a, b), []).append(value)
    return {
        task: [(*pair, sum(of_pair) / len(of_pair)) for pair, of_pair in pairs.items()]
        for task, pairs in values.items()
    }


def mean_of(pairs: Sequence[Pair]) -> float | None:
    """The agreement of a task with these pairs of annotators."""
    return sum(value for *_, value in pairs) / len(pairs) if pairs else None


def fits_of(summary: Mapping[str, Any] | None) -> dict[str, FieldFit]:
    """The fits in a project's summary, by control."""
    return {name: FieldFit.from_dict(values) for name, values in ((summary or {}).get("fits") or {}).items()}


def _table(raw: RawField, fit: FieldFit, settings: ProjectSettings) -> AnnotationTable:
    """Return the answers as a field of a kind, without marks for missing answers."""
    marks = MissingMarks.of(settings.missing).beside(fit.opposites)
    return prepare(raw, ReadOptions(casefold=settings.casefold, kind=fit.kind), marks=marks)
