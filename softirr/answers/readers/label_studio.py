"""Label Studio's JSON exports: tasks with annotations, completions of old versions, and target storage.

Which annotations count is decided in :mod:`softirr.answers.labelstudio`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from softirr.answers.answer import RawField, RawInput
from softirr.answers.export_tasks import Export
from softirr.answers.labelstudio import TaskAnswers, raw_answers, read_task
from softirr.answers.labelstudio_results import mappings
from softirr.answers.readers.table_folders import Folder
from softirr.answers.registry import Format, Request, Ways
from softirr.answers.rows import Records, Rows
from softirr.answers.weights import short_text
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import listed, normalize, shown

_MOST_KEYS = 30


def _is_export(record: Mapping[str, Any]) -> bool:
    return "annotations" in record or "completions" in record or _is_stored(record)


def _is_stored(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an annotation of target storage, with its task inside."""
    return "result" in record and isinstance(record.get("task"), Mapping)


def _read(records: Records, request: Request) -> RawInput:
    """Return the raw answers of an export: one field for each control that is chosen."""
    export = Export(request)
    _add_tasks(export, request.name, records, "")
    return _input(export)


def _is_folder(folder: Folder) -> bool:
    files = _json_files(folder)
    return bool(files) and _is_export(folder.first_record(files[0]))


def _json_files(folder: Folder) -> list[Path]:
    """Files of exports, and files without a suffix as target storage writes them."""
    return [path for path in folder.files if path.suffix.casefold() in (".json", ".jsonl", "")]


def _read_folder(folder: Folder, request: Request) -> RawInput:
    """Return the raw answers of several exports, or of the annotations of target storage."""
    files = _json_files(folder)
    first = folder.first_record(files[0])
    are_exports = len(files) > 1 and not _is_stored(first)
    if are_exports and not request.options.item:
        raise InputError(
            f"{request.name} has {len(files)} exports, and ids of tasks differ between projects: name the field of "
            f"the tasks' data that identifies a task with {option('item')}. The data have "
            f"{listed(list(first.get('data') or {}))}."
        )
    export = Export(request)
    has_names = len({path.stem for path in files}) == len(files)
    for path in files:
        content = folder.open(path)
        if isinstance(content, Rows):
            raise InputError(f"{path} is not a Label Studio export.")
        if are_exports:
            export.was_cancelled.clear()
        _add_tasks(export, str(path), content, path.stem if are_exports and has_names else "")
    return _input(export)


def _join_entries(export: Export) -> Iterator[str]:
    """Join the entries of an item; files that have one rater each name their rater, which is noted."""
    raters: dict[str, set[str | None]] = {}
    for file, task in export.entries:
        raters.setdefault(file, set()).update(source.rater for source in task.sources if not source.is_prediction)
    are_raters = len(raters) > 1 and all(len(names) < 2 for names in raters.values())
    for file, (item, sources, drafts) in export.entries:
        if are_raters:
            sources = tuple(source if source.is_prediction else source._replace(rater=file) for source in sources)
        earlier = export.tasks.get(item, TaskAnswers(item, ()))
        export.tasks[item] = TaskAnswers(item, earlier.sources + sources, earlier.drafts + drafts)
    if are_raters:
        export.names.clear()
        yield f"Each export has the answers of one rater: {listed(list(raters))}."


def _as_tasks(name: str, entry: Any, number: int) -> Mapping[str, Any]:
    """Return an entry of a file as a task with annotations."""
    if isinstance(entry, Mapping) and _is_stored(entry):
        return {**entry["task"], "annotations": [{key: value for key, value in entry.items() if key != "task"}]}
    if isinstance(entry, Mapping) and "annotations" not in entry and "completions" in entry:
        entry = {**entry, "annotations": [_as_annotation(completion) for completion in mappings(entry["completions"])]}
    if not isinstance(entry, Mapping) or "annotations" not in entry:
        raise InputError(f"{name} is not a Label Studio JSON export: entry {number} is not a task with annotations.")
    return entry


def _as_annotation(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a completion with a user, and with dates as texts: versions before 1.0 wrote seconds."""
    annotation = {"completed_by": None, **completion}
    for key in ("created_at", "updated_at"):
        if isinstance(annotation.get(key), int | float):
            annotation[key] = f"1970-01-01 {annotation[key]:020.6f}"
    return annotation


def _add_tasks(export: Export, name: str, records: Records, file: str) -> None:
    """Read the tasks of a file, which may be the name of a rater."""
    number = 0
    for line, entry in records:
        number += 1
        task = _as_tasks(name, entry, number)
        identifier = task.get("id")
        if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
            raise InputError(f"{name}: task number {number} has no id.")
        export.check_task(task, f"{name}, line {line}: task {shown(str(identifier))}")
        export.entries.append((file, _task_answers(export, f"{name}, line {line}", task, file)))
    if not number:
        raise InputError(f"{name} has no tasks.")
    if {False, None} <= export.was_cancelled.keys():  # an exporter that writes it writes it for every annotation
        raise InputError(f"{export.was_cancelled[None]}: was_cancelled is missing, which the other annotations have.")


def _task_answers(export: Export, location: str, task: Mapping[str, Any], file: str) -> TaskAnswers:
    request = export.request
    data = task["data"] if isinstance(task.get("data"), Mapping) else {}
    export.keys |= dict.fromkeys(map(str, list(data)[:_MOST_KEYS]))
    key, item = request.options.item, normalize(str(task["id"]))
    if key is not None:
        item = normalize(short_text(data.get(key, task.get(key) if key in ("id", "inner_id") else None)))
        if not item:
            raise InputError(f"{location}: the data have no {key!r}; they have {listed(list(map(str, data)))}.")
    annotations = _new_annotations(export, (file, item), task)
    read = read_task({**task, "annotations": annotations}, predictions=request.options.predictions_as_raters, item=item)
    for user in (annotation.get("completed_by") for annotation in annotations):
        if isinstance(user, Mapping) and user.get("id") is not None and isinstance(user.get("email"), str):
            export.names[str(user["id"])] = user["email"]  # which names the rater
    export.check_results(location, read, data)
    request.add_weight(location, item, data)
    return read


def _new_annotations(export: Export, key: tuple[str, str], task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a task that no earlier entry of the export, of the same file and item, has."""
    earlier_ids = export.annotation_ids.get(key, set())
    entries = list(mappings(task["annotations"]))
    fresh = [annotation for annotation in entries if _identity(annotation) not in earlier_ids]
    export.n_twice += key in export.annotation_ids and (len(fresh) < len(entries) or not entries)
    export.annotation_ids.setdefault(key, earlier_ids).update(map(_identity, fresh))
    return fresh


def _identity(annotation: Mapping[str, Any]) -> str:
    unique = annotation.get("unique_id") or annotation.get("id") or repr(annotation)
    user = annotation.get("completed_by")
    return f"{unique} {user.get('id') if isinstance(user, Mapping) else user} {annotation.get('updated_at')}"


def _input(export: Export) -> RawInput:
    request, notes = export.request, [*_join_entries(export)]
    export.count_results()
    control_names = export.chosen_controls()
    request.require_weights(request.name, export.keys)
    if export.n_twice:
        notes.append(
            f"{plural(export.n_twice, 'task is', 'tasks are')} in the input more than once: each annotation counts "
            "once."
        )
    notes += export.unread_note(control_names)
    oldest = request.options.repeats == "first"
    fields = {}
    for name in control_names:
        control = export.controls[name]
        raw_field = RawField(name, control.kind, repeats="set", is_separate=True, is_merged=True)
        for item, task in export.tasks.items():
            raw_field.items[item] = None
            raw_field.answers += raw_answers(task, name, oldest=oldest)
        raw_field.notes += export.control_notes(name, control)
        fields[name] = raw_field
    return RawInput("label-studio", fields, len(export.entries), request.line, export.names, notes)


FORMATS = (
    Format(
        "label-studio",
        records=Ways(_is_export, _read, takes_item=True),
        folder=Ways(_is_folder, _read_folder),
        is_general=True,
    ),
)
