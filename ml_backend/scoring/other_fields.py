"""Agreement on the controls of a project without texts: choices, ratings, numbers, dates, paths and rankings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ml_backend.labelstudio.answers import rater_order
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.details import agreement_of, by_task, without_items
from ml_backend.scoring.preparation import RawAnswers, SharedTexts, add_entry, raw_field
from softirr.answers.answer import RawField
from softirr.answers.kinds import agreed_values
from softirr.answers.missing import MissingMarks
from softirr.answers.prepare import prepare
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError

if TYPE_CHECKING:
    from softirr.meaning.measures.kinds import Scale

SET = "set"


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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The fit that `dataclasses.asdict` gave."""
        scale = values["scale"]
        return cls(values["kind"], None if scale is None else (scale[0], scale[1]), tuple(values["opposites"]))

    def is_near(self, other_fit: FieldFit, within: float) -> bool:
        """Whether no agreement by `other_fit` differs by `within` or more."""
        if self.scale is None or other_fit.scale is None:
            return self == other_fit
        if (self.kind, self.opposites) != (other_fit.kind, other_fit.opposites):
            return False
        numbers = sorted({*self.scale[0], *other_fit.scale[0]})
        moved = np.interp(numbers, *self.scale) - np.interp(numbers, *other_fit.scale)
        # both numbers of a pair can move by this much, and the derivative of a squared difference is 2 at most
        return 4 * float(np.abs(moved).max(initial=0.0)) < within


def raw_fields(stored: RawAnswers) -> dict[str, RawField]:
    """Return the raw answers to all controls of other kinds by name, read once for all of them.

    A field is a set if anybody chose several values, or sorted them into buckets.
    """
    fields, shared_texts = dict[str, RawField](), SharedTexts()
    for number, entries in stored:
        task = str(number)
        for name, entry in entries.items():
            raw = fields.setdefault(name, RawField(name, is_separate=True, is_merged=True))
            if entry["kind"] == SET:
                raw.kind = SET
            add_entry(raw, task, entry, shared_texts)
    return fields


def other_field(
    raw: RawField, kind: str, settings: ProjectSettings
) -> tuple[dict[str, Any], FieldFit | None, dict[str, Any]]:
    """Return the report on one control of another kind, computed as ``softirr score`` computes it from an export.

    Parameters
    ----------
    raw : RawField
        Its answers (`raw_fields`).
    kind : str
        Kind of the control (`config.other_controls`), unless the answers are sets. A kind of the settings replaces it.

    Returns
    -------
    dict, FieldFit or None, dict
        Row of the table of fields (`softirr.report.fields.field_row`), or with a ``problem`` instead of values; the fit
        of the field, None with a problem; and the report as `Scorer.summary` returns it for a text.
    """
    from softirr import AgreementOptions, agreement
    from softirr.meaning.measures.kinds import KindMeasure
    from softirr.report.fields import field_row

    kind = settings.kinds.get(raw.name) or (SET if raw.kind == SET else kind)
    texts = (text for answer in raw.answers for text in answer.texts or ())
    opposites = tuple(sorted(MissingMarks.of(settings.missing).opposites_in(texts)))
    try:
        table = _table(raw, FieldFit(kind, None, opposites), settings)
        measure = KindMeasure(table)
        report = agreement(
            table, measure, chance=settings.chance, cache=None, progress=None, options=AgreementOptions(matches=False)
        )
    except InputError as error:
        return {"name": raw.name, "kind": kind, "problem": str(error)}, None, {}
    n_compared = sum(item.agreement is not None for item in report.items)
    values = replace(report, items=()).to_dict()
    row = field_row(raw.name, values) | {"n_items": n_compared}
    return row, FieldFit(kind, measure.scale, opposites), without_items(values, n_compared)


def field_of_task(
    number: int, fields: Mapping[str, Any], name: str, fit: FieldFit, settings: ProjectSettings
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...] | None]:
    """Return the values of one control in one task by rater, and those that they agree on, if the task has no turns.

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
    try:
        table = _table(raw_field([(number, fields)], name), fit, settings)
    except InputError:  # no answer has a value of the kind
        return {}, None
    answers: dict[str, tuple[str, ...]] = {}
    for rater, answer in sorted(zip(table.rater.tolist(), table.answer.tolist(), strict=True)):
        answers[table.raters[rater]] = answers.get(table.raters[rater], ()) + table.texts_of(answer)
    agreed = agreed_values(fit.kind, list(answers.values())) if len(table.items) == 1 else None
    return {rater: answers[rater] for rater in sorted(answers, key=rater_order)}, agreed


def agreements_of_tasks(
    stored: RawAnswers, name: str, fit: FieldFit, settings: ProjectSettings
) -> dict[int, dict[str, Any]]:
    """Return how annotators' answers to one control agree, by task, compared as in the whole project (`agreement_of`).

    Tasks with fewer than two values are left out.
    """
    from softirr.meaning.measures.kinds import KindMeasure
    from softirr.report.fields import compared_items

    try:
        table = _table(raw_field(stored, name), fit, settings)
    except InputError:  # no answer has a value of the kind
        return {}
    items = compared_items(table, KindMeasure(table, fit.scale))
    return {task: agreement_of(of_task) for task, of_task in by_task(items).items()}


def fits_of(summary: Mapping[str, Any] | None) -> dict[str, FieldFit]:
    """The fits in a project's summary, by control."""
    return {name: FieldFit.from_dict(values) for name, values in ((summary or {}).get("fits") or {}).items()}


def _table(raw: RawField, fit: FieldFit, settings: ProjectSettings) -> AnnotationTable:
    """Return the answers as a field of a kind, without marks for missing answers."""
    marks = MissingMarks.of(settings.missing).beside(fit.opposites)
    return prepare(raw, ReadOptions(casefold=settings.casefold, kind=fit.kind), marks=marks)
