"""Label Studio's JSON exports: tasks with annotations, completions of old versions, and target storage.

Which annotations count is decided in :mod:`softirr.answers.labelstudio`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softirr.answers.answer import RawField, RawInput
from softirr.answers.export_tasks import (
    Export,
    check_results,
    check_task,
    chosen_controls,
    control_notes,
    count_results,
    unread_note,
    use_turns,
)
from softirr.answers.labelstudio import TaskAnswers, raw_answers, read_task
from softirr.answers.labelstudio_results import mappings
from softirr.answers.readers.table_folders import Folder
from softirr.answers.registry import Format, Records, Request, Ways
from softirr.answers.rows import Rows
from softirr.answers.weights import short_text
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import listed

_MOST_KEYS = 30


def _is_export(record: Mapping[str, Any]) -> bool:
    return "annotations" in record or "completions" in record or _is_stored(record)


def _is_stored(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an annotation of target storage, with its task inside."""
    return "result" in record and isinstance(record.get("task"), Mapping)


def _read(records: Records, request: Request) -> RawInput:
    """Return the raw answers of an export: one field for each control that is chosen."""
    export = Export(request)
    _add_tasks(export, request.name, records)
    return _input(export, [])


def _is_folder(folder: Folder) -> bool:
    files = _json_files(folder)
    return bool(files) and _is_export(folder.first_record(files[0]))


def _json_files(folder: Folder) -> list[Path]:
    """Files of exports, and files without a suffix as target storage writes them."""
    return [path for path in folder.files if path.suffix.casefold() in (".json", ".jsonl", "")]


def _read_folder(folder: Folder, request: Request) -> RawInput:
    """Return the raw answers of several exports, or of the annotations of target storage."""
    files = _json_files(folder)
    export = Export(request)
    if _is_stored(folder.first_record(files[0])):
        for path in files:
            _add_tasks(export, str(path), _records(folder, path))
        return _input(export, [])
    if len(files) > 1 and not request.options.item:
        first = folder.first_record(files[0])
        raise InputError(
            f"{request.name} has {len(files)} exports, and ids of tasks differ between projects: name the field of "
            f"the tasks' data that identifies a task with {option('item')}. The data have "
            f"{listed(list(first.get('data') or {}))}."
        )
    exports = {path.stem: Export(request) for path in files}
    for path in files:
        _add_tasks(exports[path.stem], str(path), _records(folder, path))
    has_one_rater = len(exports) == len(files) and all(
        len(_raters(export_of_file)) < 2 for export_of_file in exports.values()
    )
    for name, export_of_file in exports.items():
        _merge(export, export_of_file, name if has_one_rater and len(exports) > 1 else None)
    note = f"Each export has the answers of one rater: {listed(list(exports))}."
    return _input(export, [note] if has_one_rater and len(exports) > 1 else [])


def _raters(export: Export) -> set[str | None]:
    return {source.rater for task in export.tasks.values() for source in task.sources if not source.is_prediction}


def _merge(export: Export, export_of_file: Export, rater: str | None) -> None:
    """Add the tasks of another export; with a rater, all of its annotations are theirs."""
    for item, task in export_of_file.tasks.items():
        sources = task.sources
        if rater is not None:
            sources = tuple(source if source.is_prediction else source._replace(rater=rater) for source in sources)
        earlier = export.tasks.get(item, TaskAnswers(item, ()))
        export.tasks[item] = TaskAnswers(item, earlier.sources + sources, earlier.drafts + task.drafts)
    export.names |= export_of_file.names if rater is None else {}
    export.keys |= export_of_file.keys
    export.n_tasks += export_of_file.n_tasks
    export.n_twice += export_of_file.n_twice
    export.n_prefilled += export_of_file.n_prefilled


def _records(folder: Folder, path: Path) -> Records:
    content = folder.open(path)
    if isinstance(content, Rows):
        raise InputError(f"{path} is not a Label Studio export.")
    return content


def _as_tasks(name: str, entry: Any, number: int) -> Mapping[str, Any]:
    """Return an entry of a file as a task with annotations."""
    if isinstance(entry, Mapping) and _is_stored(entry):
        task = dict(entry["task"])
        return {**task, "annotations": [{key: value for key, value in entry.items() if key != "task"}]}
    if isinstance(entry, Mapping) and "annotations" not in entry and "completions" in entry:
        completions = [{"completed_by": None, **completion} for completion in mappings(entry["completions"])]
        entry = {**entry, "annotations": [_without_epochs(completion) for completion in completions]}
    if not isinstance(entry, Mapping) or "annotations" not in entry:
        raise InputError(f"{name} is not a Label Studio JSON export: entry {number} is not a task with annotations.")
    return entry


def _without_epochs(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a completion with dates as texts: versions before 1.0 wrote seconds."""
    times = {
        key: f"1970-01-01 {value:020.6f}"
        for key in ("created_at", "updated_at")
        if isinstance(value := completion.get(key), int | float)
    }
    return {**completion, **times}


def _add_tasks(export: Export, name: str, records: Records) -> None:
    """Read the tasks of a file."""
    request, number = export.request, 0
    for line, entry in records:
        number += 1
        task = _as_tasks(name, entry, number)
        identifier = task.get("id")
        if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
            raise InputError(f"{name}: task number {number} has no id.")
        task_location = f"{name}, line {line}: task {listed([str(identifier)])[:40]}"
        check_task(task, task_location, has_predictions=request.options.predictions_as_raters)
        _add_task(export, f"{name}, line {line}", task)
    if not number:
        raise InputError(f"{name} has no tasks.")
    if export.has_marks and export.no_mark:  # an exporter that writes "was_cancelled" writes it for every annotation
        raise InputError(f"{export.no_mark}: was_cancelled is missing, which the other annotations have.")


def _add_task(export: Export, location: str, task: Mapping[str, Any]) -> None:
    request = export.request
    data = task["data"] if isinstance(task.get("data"), Mapping) else {}
    export.n_tasks += 1
    export.keys |= dict.fromkeys(map(str, list(data)[:_MOST_KEYS]))
    item = _item_of(location, task, data, request.options.item)
    annotations = _new_annotations(export, item, task)
    read = read_task({**task, "annotations": annotations}, predictions=request.options.predictions_as_raters, item=item)
    for number, annotation in enumerate(annotations, start=1):
        _note_name(export, annotation.get("completed_by"))
        export.has_marks |= annotation.get("was_cancelled") is False
        if annotation.get("was_cancelled") is None and not export.no_mark:
            name = annotation.get("id", f"number {number}")
            export.no_mark = f"{location}: task {listed([str(task['id'])])[:40]}: annotation {name}"
    check_results(export, location, read, data)
    earlier = export.tasks.get(item)
    if earlier is not None:
        read = TaskAnswers(item, earlier.sources + read.sources, earlier.drafts + read.drafts)
    export.tasks[item] = read
    request.add_weight(location, item, data)


def _item_of(location: str, task: Mapping[str, Any], data: Mapping[str, Any], key: str | None) -> str:
    if key is None:
        return str(task["id"])
    value = short_text(data.get(key, task.get(key) if key in ("id", "inner_id") else None))
    if not value:
        raise InputError(f"{location}: the data have no {key!r}; they have {listed(list(map(str, data)))}.")
    return value


def _new_annotations(export: Export, item: str, task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a task that no earlier entry of the export has."""
    earlier_ids = export.annotation_ids.get(item)
    entries = list(mappings(task["annotations"]))
    if earlier_ids is not None:
        fresh = [annotation for annotation in entries if _identity(annotation) not in earlier_ids]
        export.n_twice += len(fresh) < len(entries) or not entries
        entries = fresh
    export.annotation_ids.setdefault(item, set()).update(map(_identity, entries))
    return entries


def _identity(annotation: Mapping[str, Any]) -> str:
    unique = annotation.get("unique_id") or annotation.get("id") or repr(annotation)
    user = annotation.get("completed_by")
    return f"{unique} {user.get('id') if isinstance(user, Mapping) else user} {annotation.get('updated_at')}"


def _note_name(export: Export, user: Any) -> None:
    """Remember the email address of a user, which names the rater."""
    if isinstance(user, Mapping) and user.get("id") is not None and isinstance(user.get("email"), str):
        export.names[str(user["id"])] = user["email"]


def _input(export: Export, notes: list[str]) -> RawInput:
    request = export.request
    count_results(export)
    control_names = chosen_controls(export)
    request.require_weights(request.name, export.keys)
    if export.n_twice:
        notes.append(
            f"{plural(export.n_twice, 'task is', 'tasks are')} in the input more than once: each annotation counts "
            "once."
        )
    notes += unread_note(export, control_names)
    oldest = request.options.repeats == "first"
    fields = {}
    for name in control_names:
        control = export.controls[name]
        raw_field = RawField(
            name, control.kind, is_separate=True, repeats="set", is_merged=True, columns=(("text", name),)
        )
        raw_field.items = dict.fromkeys(export.tasks)
        for task in export.tasks.values():
            raw_field.answers += raw_answers(task, name, oldest=oldest)
        use_turns(raw_field)
        raw_field.notes = [*notes, *control_notes(export, name, control)]
        fields[name] = raw_field
    return RawInput("label-studio", fields, export.n_tasks, request.line, export.names)


FORMATS = (
    Format(
        "label-studio",
        records=Ways(_is_export, _read, takes_item=True),
        folder=Ways(_is_folder, _read_folder),
        is_general=True,
    ),
)
