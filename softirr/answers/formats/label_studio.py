"""Label Studio's JSON export as a table; which annotations count is in :mod:`softirr.answers.labelstudio`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from softirr.answers import export_check
from softirr.answers.gathered import Records, Request, Tables
from softirr.answers.item_fields import task_fields
from softirr.answers.kinds import TEXT
from softirr.answers.labelstudio import (
    annotations_of,
    control_kind,
    field_controls,
    label_studio_answers,
    mappings,
    task_id,
    text_controls,
    textareas,
)
from softirr.answers.layout import listed
from softirr.answers.registry import Format, Ways
from softirr.answers.table import AnnotationTable, Answer, Excluded, Reading
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["FORMATS"]

_ONE_VALUE = ("ordinal", "interval", "date", "ranking")
"""Kinds of controls that an annotation has one value of, unless it is of a region."""


def _read(records: Records, request: Request) -> Tables:
    """A table for each TextArea that is asked for, or for the only one.

    An annotation without text is an empty answer by default.
    """
    name, wanted, period = request.name, request.fields, request.options.period
    tasks, lines = _tasks(records, request)
    kinds = {} if request.options.kind is None else field_controls(tasks)
    if not period.is_all and not (kinds or text_controls(tasks)):
        raise InputError(f"{name} has no answers last changed {period.in_words()}.")
    chosen = _chosen(name, tasks, request, kinds)
    for control in chosen:
        for position, wrong in () if control in kinds else export_check.check_control(tasks, control):
            raise _damaged(name, lines[position], tasks[position], wrong)
    for task in tasks if wanted.names else ():
        wanted.add(name, task_id(task), task["fields"])
    wanted.require(name, (key for task in tasks for key in task["keys"]))
    tables = {control: _from_label_studio(tasks, control, request) for control in chosen}
    return {control: _of_kind(table, control, kinds.get(control, TEXT)) for control, table in tables.items()}


def _of_kind(table: AnnotationTable, control: str, kind: str) -> AnnotationTable:
    """The table of a control of a kind; where a kind has one value, answers with several are named."""
    n = sum(len(table.answers[answer]) > 1 for answer in table.answer.tolist()) if kind in _ONE_VALUE else 0
    note = (
        f"{plural(n, 'annotation has', 'annotations have')} several values of {listed([control])}, as of several "
        "regions: they count as a set."
    )
    return replace(table, kind=kind, warnings=(*table.warnings, note) if n else table.warnings)


def _chosen(name: str, tasks: list[Mapping[str, Any]], request: Request, kinds: Mapping[str, str]) -> list[str]:
    """The controls that are named; by default the only TextArea, and where kinds are read all other controls."""
    if request.texts:
        names = (*text_controls(tasks), *kinds)
        for control in request.texts if kinds else ():
            if control not in names:
                raise InputError(f"{name} has no control named {control!r} with answers; it has {listed(names)}.")
        return [control if control in kinds else _choose_control(name, tasks, control) for control in request.texts]
    texts = [_choose_control(name, tasks, None)] if text_controls(tasks) or not kinds else []
    return [*texts, *kinds]


def _tasks(records: Records, request: Request) -> tuple[list[Mapping[str, Any]], list[int]]:
    """The tasks of an export and the line of each: what is no task ends the reading before the rest takes memory."""
    name, predictions = request.name, request.options.predictions_as_raters
    tasks: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for line, entry in records:
        task = _checked_task(name, entry, len(tasks) + 1)
        try:
            export_check.check_annotations(task)
            if predictions:
                export_check.check_predictions(task)
        except export_check.Damage as damage:
            raise _damaged(name, line, task, str(damage)) from None
        lines.append(line)
        tasks.append(_needed(task, predictions=predictions, request=request))
    if not tasks:
        raise InputError(f"{name} has no tasks.")
    return tasks, lines


_OF_ANNOTATION = (
    *("id", "completed_by", "was_cancelled", "parent_prediction"),
    *("created_at", "updated_at", "model_version"),
)


def _needed(task: Mapping[str, Any], *, predictions: bool, request: Request) -> dict[str, Any]:
    """What of a checked task decides who answered what.

    The rest of an export takes several times its size in memory.
    """
    fields, period, kinds = request.fields.names, request.options.period, request.options.kind is not None
    data = task.get("data")
    kept: dict[str, Any] = {"id": task["id"], "keys": (), "fields": {}}
    if fields:
        kept |= {"fields": task_fields(task, fields), "keys": tuple(data) if isinstance(data, Mapping) else ()}
    for name in ("annotations", "predictions") if predictions else ("annotations",):
        kept[name] = [
            {key: source[key] for key in _OF_ANNOTATION if key in source}
            | {"result": _needed_of(source["result"], kinds=kinds)}
            for source in task[name]
            if name == "predictions" or period.holds(source)
        ]
    kept["drafts"] = [{"user": draft.get("user")} for draft in mappings(task.get("drafts"))]
    return kept


def _needed_of(result: list[Mapping[str, Any]], *, kinds: bool) -> list[dict[str, Any]]:
    """The same of a result: texts, values where they are read, and the types and names of other regions."""
    return [
        {key: _interned(region[key]) for key in ("type", "from_name", "origin") if key in region}
        | (
            {"value": {"text": region["value"]["text"]}, "of_region": len(region["value"]) > 1}
            if region["type"] == "textarea"
            else {}
        )
        | ({"value": region.get("value")} if kinds and control_kind(region) else {})
        for region in result
    ]


def _interned(value: Any) -> Any:
    """The same object for the same name, which an export repeats in every result."""
    return sys.intern(value) if type(value) is str else value


def _damaged(name: str, line: int, task: Mapping[str, Any], wrong: str) -> InputError:
    return InputError(f"{name}, line {line}: task {listed([str(task['id'])])[:40]}: {wrong}.")


def _checked_task(name: str, task: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(task, Mapping) or "annotations" not in task:
        raise InputError(f"{name} is not a Label Studio JSON export: entry {number} is not a task with annotations.")
    identifier = task.get("id")
    if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
        raise InputError(f"{name}: task number {number} has no id.")
    return task


def _choose_control(name: str, tasks: list[Mapping[str, Any]], control: str | None) -> str:
    names = text_controls(tasks)
    if not names:
        if others := list(field_controls(tasks)):
            raise InputError(
                f"{name} has no TextArea answers. softirr score compares its other controls: {listed(others)}."
            )
        raise InputError(f"{name} has no TextArea answers: no annotation has a result of type textarea.")
    if control is None:
        if len(names) > 1:
            raise InputError(f"{name} has several TextArea controls ({listed(names)}): choose one with --control.")
        return names[0]
    if control not in names:
        raise InputError(f"{name} has no TextArea named {control!r}; it has {listed(names)}.")
    return control


def _from_label_studio(tasks: list[Mapping[str, Any]], control: str, request: Request) -> AnnotationTable:
    answers: list[Answer] = []
    excluded: list[Excluded] = []
    seen: set[str] = set()
    for task in tasks:
        identifier = task_id(task)
        if identifier in seen:
            raise InputError(f"The export has task {identifier} twice.")
        seen.add(identifier)
        given, left_out = label_studio_answers(
            task,
            control=control,
            predictions_as_raters=request.options.predictions_as_raters,
            oldest=request.options.repeats == "first",
        )
        answers += given
        excluded += left_out
    n_blank = sum(not answer.texts for answer in answers)
    empty = request.options.empty or "none"
    if empty == "missing":
        answers = [answer for answer in answers if answer.texts]
    return AnnotationTable.from_answers(
        answers,
        items=map(task_id, tasks),
        excluded=excluded,
        casefold=request.options.casefold,
        input_sha256=request.sha256(),
        warnings=(*_other_names(tasks, control), *_of_regions(tasks, control))
        if control in text_controls(tasks)
        else (),
        fields=request.fields.by_item(),
        reading=Reading("label-studio", (("text", control),), len(tasks), n_blank, empty=empty),
    )


def _of_regions(tasks: Iterable[Mapping[str, Any]], control: str) -> tuple[str, ...]:
    """Say that texts of regions are one answer: an export does not say which regions of two annotators are the same."""
    n = sum(bool(region.get("of_region")) for one in annotations_of(tasks) for region in textareas(one, control))
    if not n:
        return ()
    return (
        f"{plural(n, 'result')} of {listed([control])} {'has' if n == 1 else 'have'} the texts of regions: all "
        "texts of an annotation are one answer, "
        "wherever its regions are. softirr-ls compares overlapping regions (--regions overlap).",
    )


def _other_names(tasks: Iterable[Mapping[str, Any]], control: str) -> tuple[str, ...]:
    """Warn of annotations that may stand under an earlier name of the control, as far as an export without label config shows it.

    They have texts under another TextArea only, and no annotation has texts under both.
    """
    alone, beside = Counter[str](), set[str]()
    for annotation in annotations_of(tasks):
        names = {str(region.get("from_name")) for region in textareas(annotation, None)}
        if control in names:
            beside |= names
        elif not annotation.get("was_cancelled"):
            alone.update(names)
    return tuple(
        f"{plural(n, 'annotation has', 'annotations have')} texts under the TextArea {listed([name])} and none under "
        f"{listed([control])}, and no annotation has both: "
        f"{'it counts as an empty answer' if n == 1 else 'they count as empty answers'}. If one of the two is the "
        "other one’s "
        f"earlier name, {'it is' if n == 1 else 'they are'} missing: leave {'it' if n == 1 else 'them'} out."
        for name, n in sorted(alone.items())
        if name not in beside
    )


FORMATS = (Format("label-studio", records=Ways(lambda record: "annotations" in record, _read), is_general=True),)
