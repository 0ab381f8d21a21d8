"""Answers in the tasks of Label Studio: which annotations count, and the JSON export as a table."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from softirr.errors import InputError
from softirr.tables import export_check
from softirr.tables.fields import task_fields
from softirr.tables.period import Period
from softirr.tables.request import Request
from softirr.tables.table import (
    COPIED,
    COPIED_AND_EDITED,
    DRAFT,
    NEWER_DUPLICATE,
    NO_RATER,
    OLDER_DUPLICATE,
    SKIPPED,
    AnnotationTable,
    Answer,
    Excluded,
    Reading,
)

__all__ = [
    "AGREEMENT_VERSION",
    "CONSENSUS_VERSION",
    "control_texts",
    "copied",
    "export_tables",
    "label_studio_answers",
    "text_controls",
]

AGREEMENT_VERSION = "agreement"
"""``model_version`` of our own predictions: never a rater."""
CONSENSUS_VERSION = "consensus"
"""``model_version`` of predictions that hold the agreed answers of a project: never a rater either."""


def label_studio_answers(
    task: Mapping[str, Any], *, control: str | None, predictions_as_raters: bool = False, oldest: bool = False
) -> tuple[list[Answer], list[Excluded]]:
    """Answers in one task of a Label Studio JSON export or of its API, and those that don't count.

    Skipped annotations, drafts, answers copied from a prediction and older answers of one rater are excluded with the reason.

    Parameters
    ----------
    task : mapping
        With ``id``, ``annotations`` and, where present, ``drafts`` and ``predictions``.
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.
    predictions_as_raters : bool
        Count each model version's newest prediction as the answer of a rater ``model:VERSION``.
    oldest : bool
        Of several answers of one rater, take the oldest instead of the newest.

    Returns
    -------
    tuple of (list of Answer, list of Excluded)
    """
    item = _task_id(task)
    answers: dict[str, tuple[tuple[str, str, int], Answer]] = {}
    excluded: list[Excluded] = []

    def keep_newest(rater: str, source: Mapping[str, Any]) -> None:
        dated = _age(source), Answer(item, rater, control_texts(source, control))
        if rater in answers:
            excluded.append(Excluded(item, rater, NEWER_DUPLICATE if oldest else OLDER_DUPLICATE))
            dated = (min if oldest else max)(dated, answers[rater], key=lambda pair: pair[0])
        answers[rater] = dated

    for annotation in _mappings(task.get("annotations")):
        rater = _user(annotation.get("completed_by"))
        from_prediction = copied(annotation, control)
        if annotation.get("was_cancelled"):
            excluded.append(Excluded(item, rater or "", SKIPPED))
        elif rater is None:
            excluded.append(Excluded(item, "", NO_RATER))
        elif from_prediction:
            excluded.append(Excluded(item, rater, from_prediction))
        else:
            keep_newest(rater, annotation)
    for draft in _mappings(task.get("drafts")):
        excluded.append(Excluded(item, _user(draft.get("user")) or "", DRAFT))
    if predictions_as_raters:
        for prediction in _mappings(task.get("predictions")):
            version = prediction.get("model_version") or ""
            if version not in (AGREEMENT_VERSION, CONSENSUS_VERSION):
                keep_newest(f"model:{version}", prediction)
    return [answer for _, answer in answers.values()], excluded


def text_controls(tasks: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """``from_name`` of every TextArea that has a result in the tasks' annotations, in order of appearance.

    Parameters
    ----------
    tasks : iterable of mapping

    Returns
    -------
    tuple of str
    """
    names: dict[str, None] = {}
    for task in tasks:
        for annotation in _mappings(task.get("annotations")):
            for region in _mappings(annotation.get("result")):
                if region.get("type") == "textarea" and isinstance(region.get("from_name"), str):
                    names[region["from_name"]] = None
    return tuple(names)


def _task_id(task: Mapping[str, Any]) -> str:
    if not isinstance(task.get("id"), int | str):
        raise InputError("A task of the export has no id.")
    return str(task["id"])


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; exports hold bare ids where objects were not asked for."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))


def _user(value: Any) -> str | None:
    """Id of a user: Label Studio gives a number, an object or an email address."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("email"))
    return None if value is None or isinstance(value, bool) else str(value)


def _regions(source: Mapping[str, Any], control: str | None) -> Iterator[Mapping[str, Any]]:
    for region in _mappings(source.get("result")):
        if region.get("type") == "textarea" and control in (None, region.get("from_name")):
            yield region


def control_texts(source: Mapping[str, Any], control: str | None) -> tuple[str, ...]:
    """All strings of a control: one result with several strings and several results with one are the same answer.

    Parameters
    ----------
    source : mapping
        An annotation or a prediction.
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.

    Returns
    -------
    tuple of str
    """
    texts: list[str] = []
    for region in _regions(source, control):
        value = region.get("value")
        text = value.get("text") if isinstance(value, Mapping) else None
        texts.extend(part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str))
    return tuple(texts)


def copied(annotation: Mapping[str, Any], control: str | None) -> str | None:
    """Whether an annotation's answer was made from a prediction: ``COPIED``, ``COPIED_AND_EDITED``, or None where it was not.

    Parameters
    ----------
    annotation : mapping
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.

    Returns
    -------
    str or None
    """
    origins = {
        str(region.get("origin") or ("prediction" if annotation.get("parent_prediction") else "manual"))
        for region in _regions(annotation, control)
    }
    if "prediction" in origins:
        return COPIED
    return COPIED_AND_EDITED if "prediction-changed" in origins else None


def _age(source: Mapping[str, Any]) -> tuple[str, str, int]:
    """Sort key for "newest": ISO dates of one server sort as strings."""
    number = source.get("id")
    return (
        str(source.get("updated_at") or ""),
        str(source.get("created_at") or ""),
        number if isinstance(number, int) else 0,
    )


def export_tables(records: Iterable[tuple[int, Any]], request: Request) -> dict[str, AnnotationTable]:
    """The tables of a JSON export, one for each TextArea that is asked for, or of the only one.

    Parameters
    ----------
    records : iterable of (int, object)
        Line and content of each entry of the export's list.
    request : Request
        Unless it says otherwise, an annotation without text is an empty answer.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        If it is damaged or no export; the message says where.
    """
    name = request.name
    wanted = request.fields
    tasks, lines = _tasks(
        name, records, predictions=request.predictions_as_raters, fields=wanted.names, period=request.period
    )
    if not request.period.is_all and not text_controls(tasks):
        raise InputError(f"{name} has no answers that were last changed {request.period.told()}.")
    chosen = [_choose_control(name, tasks, control) for control in request.texts or (None,)]
    for control in chosen:
        for position, wrong in export_check.check_control(tasks, control):
            raise _damaged(name, lines[position], tasks[position], wrong)
    for task in tasks if wanted.names else ():
        wanted.add(name, _task_id(task), task["fields"])
    wanted.require(name, (key for task in tasks for key in task["keys"]))
    return {control: _from_label_studio(tasks, control, request) for control in chosen}


def _tasks(
    name: str, values: Iterable[tuple[int, Any]], *, predictions: bool, fields: Sequence[str], period: Period
) -> tuple[list[Mapping[str, Any]], list[int]]:
    """The tasks of an export and the line of each: what is no task ends the reading before the rest takes memory."""
    tasks: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for line, found in values:
        task = _checked_task(name, found, len(tasks) + 1)
        try:
            export_check.check_annotations(task)
            if predictions:
                export_check.check_predictions(task)
        except export_check.Damage as damage:
            raise _damaged(name, line, task, str(damage)) from None
        lines.append(line)
        tasks.append(_needed(task, predictions=predictions, fields=fields, period=period))
    if not tasks:
        raise InputError(f"{name} holds no tasks.")
    return tasks, lines


_OF_ANNOTATION = (
    *("id", "completed_by", "was_cancelled", "parent_prediction"),
    *("created_at", "updated_at", "model_version"),
)


def _needed(task: Mapping[str, Any], *, predictions: bool, fields: Sequence[str], period: Period) -> dict[str, Any]:
    """What of a checked task decides who answered what: the rest of an export takes several times its size in memory."""
    data = task.get("data")
    kept: dict[str, Any] = {"id": task["id"], "keys": (), "fields": {}}
    if fields:
        kept |= {"fields": task_fields(task, fields), "keys": tuple(data) if isinstance(data, Mapping) else ()}
    for name in ("annotations", "predictions") if predictions else ("annotations",):
        kept[name] = [
            {key: source[key] for key in _OF_ANNOTATION if key in source} | {"result": _needed_of(source["result"])}
            for source in task[name]
            if name == "predictions" or period.holds(source)
        ]
    kept["drafts"] = [{"user": draft.get("user")} for draft in _mappings(task.get("drafts"))]
    return kept


def _needed_of(result: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same of a result: texts, and the types and names of other regions."""
    return [
        {key: _interned(region[key]) for key in ("type", "from_name", "origin") if key in region}
        | ({"value": {"text": region["value"]["text"]}} if region["type"] == "textarea" else {})
        for region in result
    ]


def _interned(value: Any) -> Any:
    """The same object for the same name, which an export repeats in every result."""
    return sys.intern(value) if type(value) is str else value


def _damaged(name: str, line: int, task: Mapping[str, Any], wrong: str) -> InputError:
    return InputError(f"{name}, line {line}: task {_listed([str(task['id'])])[:40]}: {wrong}.")


def _checked_task(name: str, task: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(task, Mapping) or "annotations" not in task:
        raise InputError(f"{name} is no Label Studio JSON export: entry {number} is not a task with annotations.")
    identifier = task.get("id")
    if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
        raise InputError(f"{name}: task number {number} has no id.")
    return task


def _choose_control(name: str, tasks: list[Mapping[str, Any]], control: str | None) -> str:
    found = text_controls(tasks)
    if not found:
        raise InputError(f"{name} has no TextArea answers: no annotation holds a result of type textarea.")
    if control is None:
        if len(found) > 1:
            raise InputError(f"{name} has several TextArea controls ({_listed(found)}): choose one with --control.")
        return found[0]
    if control not in found:
        raise InputError(f"{name} has no TextArea named {control!r}; it has {_listed(found)}.")
    return control


def _listed(names: Iterable[str]) -> str:
    return ", ".join("".join(mark if mark.isprintable() else "?" for mark in name) for name in names)


def _from_label_studio(tasks: list[Mapping[str, Any]], control: str, request: Request) -> AnnotationTable:
    answers: list[Answer] = []
    excluded: list[Excluded] = []
    seen: set[str] = set()
    for task in tasks:
        identifier = _task_id(task)
        if identifier in seen:
            raise InputError(f"The export holds task {identifier} twice.")
        seen.add(identifier)
        given, left_out = label_studio_answers(
            task,
            control=control,
            predictions_as_raters=request.predictions_as_raters,
            oldest=request.layout.repeats == "first",
        )
        answers += given
        excluded += left_out
    n_blank = sum(not answer.texts for answer in answers)
    empty = request.layout.empty or "none"
    if empty == "missing":
        answers = [answer for answer in answers if answer.texts]
    return AnnotationTable.from_answers(
        answers,
        items=(str(task["id"]) for task in tasks),
        excluded=excluded,
        casefold=request.casefold,
        input_sha256=request.sha256(),
        warnings=_other_names(tasks, control),
        fields=request.fields.by_item(),
        reading=Reading("label-studio", (("text", control),), len(tasks), n_blank, empty=empty),
    )


def _other_names(tasks: Iterable[Mapping[str, Any]], control: str) -> tuple[str, ...]:
    """Warn of annotations that may stand under an earlier name of the control, as far as an export without label config shows it.

    They have texts under another TextArea only, and no annotation has texts under both.
    """
    alone, beside = Counter[str](), set[str]()
    for task in tasks:
        for annotation in _mappings(task.get("annotations")):
            names = {str(region.get("from_name")) for region in _regions(annotation, None)}
            if control in names:
                beside |= names
            elif not annotation.get("was_cancelled"):
                alone.update(names)
    return tuple(
        f"{n:,} annotations have texts under the TextArea {_listed([name])} and none under {_listed([control])}, and no annotation has "
        "both: they count as empty answers. If one of the two is the other one’s earlier name, they are missing: leave them out."
        for name, n in sorted(alone.items())
        if name not in beside
    )
