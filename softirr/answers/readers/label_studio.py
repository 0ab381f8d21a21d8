"""Label Studio's JSON exports: tasks with annotations, completions of old versions, and target storage.

Which annotations count is decided in :mod:`softirr.answers.labelstudio`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from softirr.answers import export_check
from softirr.answers.archives import Folder
from softirr.answers.item_fields import field_text, task_fields
from softirr.answers.kinds import TEXT
from softirr.answers.labelstudio import LABELS, Result, TaskAnswers, mappings, raw_answers, read_task, turn_names
from softirr.answers.layout import listed, shown
from softirr.answers.raw import RawField, RawInput
from softirr.answers.registry import Format, Ways
from softirr.answers.request import Records, Request
from softirr.answers.rows import Rows
from softirr.errors import InputError, option
from softirr.plural import plural

__all__ = ["FORMATS"]

_EXTRA = ("chatmessage", "reactcode", "")
"""Types of results that are fields only if they are named, or nothing else is there; with the types of labels."""
_MOST_KEYS = 30


@dataclass
class _Control:
    """What the results of a control have in common."""

    kind: str
    type: str
    n_results: int = 0
    n_prefilled: int = 0

    @property
    def is_extra(self) -> bool:
        return self.kind == LABELS or self.type in _EXTRA


@dataclass
class _Export:
    """The tasks of one or several exports."""

    request: Request
    tasks: dict[str, TaskAnswers] = field(default_factory=dict)
    controls: dict[str, _Control] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    no_mark: str = ""
    has_marks: bool = False
    n_tasks: int = 0
    n_twice: int = 0
    alone: Counter[str] = field(default_factory=Counter)
    beside: set[str] = field(default_factory=set)


def _is_export(record: Mapping[str, Any]) -> bool:
    return "annotations" in record or "completions" in record or _is_stored(record)


def _is_stored(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an annotation of target storage, with its task inside."""
    return "result" in record and isinstance(record.get("task"), Mapping)


def _read(records: Records, request: Request) -> RawInput:
    """Return the raw answers of an export: one field for each control that is chosen."""
    export = _Export(request)
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
    export = _Export(request)
    if _is_stored(folder.first_record(files[0])):
        for path in files:
            _add_tasks(export, str(path), _records(folder, path))
        return _input(export, [])
    if len(files) > 1 and not request.options.item:
        first = folder.first_record(files[0])
        raise InputError(
            f"{request.name} has {len(files)} exports, and ids of tasks differ between projects: name the field of "
            f"the tasks' data that identifies a task with {option('item')}. The data have {listed(list(first.get('data') or {}))}."
        )
    parts = {path.stem: _Export(request) for path in files}
    for path in files:
        _add_tasks(parts[path.stem], str(path), _records(folder, path))
    has_one_rater = len(parts) == len(files) and all(len(_raters(part)) < 2 for part in parts.values())
    for name, part in parts.items():
        _merge(export, part, name if has_one_rater and len(parts) > 1 else None)
    note = f"Each export has the answers of one rater: {listed(list(parts))}."
    return _input(export, [note] if has_one_rater and len(parts) > 1 else [])


def _raters(export: _Export) -> set[str | None]:
    return {source.rater for task in export.tasks.values() for source in task.sources if not source.is_prediction}


def _merge(export: _Export, part: _Export, rater: str | None) -> None:
    """Add the tasks of another export; with a rater, all of its annotations are theirs."""
    for item, task in part.tasks.items():
        sources = task.sources
        if rater is not None:
            sources = tuple(source if source.is_prediction else source._replace(rater=rater) for source in sources)
        earlier = export.tasks.get(item, TaskAnswers(item, ()))
        export.tasks[item] = TaskAnswers(item, earlier.sources + sources, earlier.drafts + task.drafts)
    for name, found_control in part.controls.items():
        control = export.controls.setdefault(name, replace(found_control, n_results=0, n_prefilled=0))
        control.n_results += found_control.n_results
        control.n_prefilled += found_control.n_prefilled
        control.kind = "set" if "set" in (control.kind, found_control.kind) else control.kind
    export.unread += part.unread
    export.names |= part.names if rater is None else {}
    export.keys |= part.keys
    export.n_tasks += part.n_tasks
    export.n_twice += part.n_twice
    export.alone += part.alone
    export.beside |= part.beside


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
    """Return a completion whose dates are texts: versions before 1.0 wrote seconds."""
    times = {
        key: f"1970-01-01 {value:020.6f}"
        for key in ("created_at", "updated_at")
        if isinstance(value := completion.get(key), int | float)
    }
    return {**completion, **times}


def _add_tasks(export: _Export, name: str, records: Records) -> None:
    """Read the tasks of a file."""
    request, number = export.request, 0
    for line, entry in records:
        number += 1
        task = _as_tasks(name, entry, number)
        identifier = task.get("id")
        if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
            raise InputError(f"{name}: task number {number} has no id.")
        try:
            export_check.check_annotations(task)
            if request.options.predictions_as_raters:
                export_check.check_predictions(task)
        except export_check.Damage as damage:
            raise InputError(f"{name}, line {line}: task {listed([str(identifier)])[:40]}: {damage}.") from None
        _add_task(export, f"{name}, line {line}", task)
    if not number:
        raise InputError(f"{name} has no tasks.")
    if export.has_marks and export.no_mark:  # an exporter that writes "was_cancelled" writes it for every annotation
        raise InputError(f"{export.no_mark}: was_cancelled is missing, which the other annotations have.")


def _add_task(export: _Export, place: str, task: Mapping[str, Any]) -> None:
    request = export.request
    data = task["data"] if isinstance(task.get("data"), Mapping) else {}
    export.n_tasks += 1
    export.keys |= dict.fromkeys(map(str, list(data)[:_MOST_KEYS]))
    item = _item_of(place, task, data, request.options.item)
    annotations = _new_annotations(export, item, task)
    read = read_task({**task, "annotations": annotations}, predictions=request.options.predictions_as_raters, item=item)
    for number, annotation in enumerate(annotations, start=1):
        _note_name(export, annotation.get("completed_by"))
        export.has_marks |= annotation.get("was_cancelled") is False
        if annotation.get("was_cancelled") is None and not export.no_mark:
            name = annotation.get("id", f"number {number}")
            export.no_mark = f"{place}: task {listed([str(task['id'])])[:40]}: annotation {name}"
    _note_results(export, place, read, data)
    earlier = export.tasks.get(item)
    if earlier is not None:
        read = TaskAnswers(item, earlier.sources + read.sources, earlier.drafts + read.drafts)
    export.tasks[item] = read
    if request.fields.names:
        request.fields.add(place, item, task_fields(task, request.fields.names))


def _item_of(place: str, task: Mapping[str, Any], data: Mapping[str, Any], key: str | None) -> str:
    if key is None:
        return str(task["id"])
    value = field_text(data.get(key, task.get(key) if key in ("id", "inner_id") else None))
    if not value:
        raise InputError(f"{place}: the data have no {key!r}; they have {listed(list(map(str, data)))}.")
    return value


def _new_annotations(export: _Export, item: str, task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a task that no earlier entry of the export has."""
    seen_before = export.seen.get(item)
    entries = list(mappings(task["annotations"]))
    if seen_before is not None:
        fresh = [annotation for annotation in entries if _identity(annotation) not in seen_before]
        export.n_twice += len(fresh) < len(entries) or not entries
        entries = fresh
    export.seen.setdefault(item, set()).update(map(_identity, entries))
    return entries


def _identity(annotation: Mapping[str, Any]) -> str:
    unique = annotation.get("unique_id") or annotation.get("id") or repr(annotation)
    user = annotation.get("completed_by")
    return f"{unique} {user.get('id') if isinstance(user, Mapping) else user} {annotation.get('updated_at')}"


def _note_name(export: _Export, user: Any) -> None:
    """Remember the email address of a user, which names the rater."""
    if isinstance(user, Mapping) and user.get("id") is not None and isinstance(user.get("email"), str):
        export.names[str(user["id"])] = user["email"]


def _note_results(export: _Export, place: str, task: TaskAnswers, data: Mapping[str, Any]) -> None:
    """Count the results of each control, and those that are not read."""
    for source in task.sources:
        n_values = Counter[str]()
        texts = {result.field for result in source.results if result.type == "textarea"}
        for result in source.results:
            if not result.kind:
                export.unread[result.type] += 1
                continue
            control = export.controls.setdefault(result.field, _Control(result.kind, result.type))
            if control.type != result.type and "textarea" in (control.type, result.type):
                raise InputError(
                    f"{place}: results of {result.field} have the types {control.type} and {shown(result.type)}."
                )
            control.n_results += 1
            n_values[result.field] += len(result.texts)
            prefill = data.get(result.field)
            control.n_prefilled += isinstance(prefill, str) and result.texts == (prefill,)
            if (control.kind == "nominal" and n_values[result.field] > 1) or (
                control.kind == "ranking" and result.is_set
            ):
                control.kind = "set"
        if texts and not source.reason and not source.is_prediction:
            export.alone.update(texts if len(texts) == 1 else ())
            export.beside |= texts if len(texts) > 1 else set()


def _input(export: _Export, notes: list[str]) -> RawInput:
    request = export.request
    _pool_turns(export)
    chosen = _chosen(export)
    request.fields.require(request.name, export.keys)
    if export.n_twice:
        notes.append(
            f"{plural(export.n_twice, 'task is', 'tasks are')} in the input more than once: each annotation counts once."
        )
    notes += _unread_note(export, chosen)
    oldest = request.options.repeats == "first"
    fields = {}
    for name in chosen:
        control = export.controls[name]
        raw_field = RawField(
            name, control.kind, is_separate=True, repeats="set", is_merged=True, columns=(("text", name),)
        )
        raw_field.items = dict.fromkeys(export.tasks)
        for task in export.tasks.values():
            raw_field.answers += raw_answers(task, name, oldest=oldest)
        _use_turns(raw_field)
        raw_field.notes = [*notes, *_control_notes(export, name, control)]
        fields[name] = raw_field
    return RawInput(
        request.name, "label-studio", fields, export.n_tasks, request.line, request.fields.by_item(), export.names
    )


def _use_turns(raw_field: RawField) -> None:
    """Drop tasks from the items whose turns are the items."""
    turns = {row.item for row in raw_field.answers if not row.reason} - raw_field.items.keys()
    if turns:
        with_turns = {item.rpartition("/")[0] for item in turns}
        order = {item: number for number, item in enumerate(raw_field.items)}
        raw_field.items = {item: None for item in raw_field.items if item not in with_turns}
        raw_field.items |= dict.fromkeys(sorted(turns, key=lambda item: _turn_order(order, item)))


def _turn_order(order: Mapping[str, int], item: str) -> tuple[int, int]:
    task, _, turn = item.rpartition("/")
    return order[task], int(turn)


def _pool_turns(export: _Export) -> None:
    """Make one field of the numbered controls of a Repeater."""
    results = {
        result.field: result for task in export.tasks.values() for source in task.sources for result in source.results
    }
    names = turn_names(results.values())
    if not names:
        return

    def renamed(result: Result) -> Result:
        base, turn = names.get(result.field, (result.field, result.turn))
        return result._replace(field=base, turn=turn)

    for item, task in export.tasks.items():
        sources = (result._replace(results=tuple(map(renamed, result.results))) for result in task.sources)
        export.tasks[item] = task._replace(sources=tuple(sources))
    for name, (base, _) in names.items():
        control = export.controls.pop(name, None)
        if control is not None:
            pooled = export.controls.setdefault(base, replace(control, n_results=0))
            pooled.n_results += control.n_results
            pooled.kind = "set" if "set" in (pooled.kind, control.kind) else pooled.kind
    export.alone.clear()


def _chosen(export: _Export) -> list[str]:
    """Return the named controls; by default the only TextArea and, if kinds are read, all other controls."""
    request, controls, name = export.request, export.controls, export.request.name
    main = [key for key, control in controls.items() if not control.is_extra]
    is_text = request.options.kind is None
    readable = [key for key, control in controls.items() if control.kind == TEXT or not is_text]
    for wanted_name in request.texts:
        if wanted_name not in readable:
            what = f"TextArea named {wanted_name!r}" if is_text else f"control named {wanted_name!r} with answers"
            raise InputError(f"{name} has no {what}; it has {listed(readable) or 'none'}.")
    if request.texts:
        chosen = list(request.texts)
    else:
        usable = main or list(controls)
        texts = [key for key in usable if controls[key].kind == TEXT]
        other_fields = [key for key in usable if controls[key].kind != TEXT]
        if len(texts) > 1:
            raise InputError(
                f"{name} has several TextArea controls ({listed(texts)}): choose one with {option('control')}."
            )
        if request.options.kind is None and not texts:
            raise _no_texts(export, other_fields)
        chosen = [*texts, *(other_fields if request.options.kind is not None else ())]
    if not chosen:
        raise _no_texts(export, [])
    return chosen


def _no_texts(export: _Export, others: Sequence[str]) -> InputError:
    name = export.request.name
    if others:
        return InputError(
            f"{name} has no TextArea answers. softirr score compares its other controls: {listed(others)}."
        )
    types = ", ".join(f"{n:,} of type {shown(type_)}" for type_, n in export.unread.most_common())
    read = f": its results are {types}, which softirr does not compare" if types else ""
    return InputError(f"{name} has no TextArea answers: no annotation has a result of type textarea{read}.")


def _unread_note(export: _Export, chosen: Iterable[str]) -> Iterator[str]:
    """Yield a sentence that names and counts the results that are not compared."""
    counts = Counter(export.unread)
    extra = {name: control for name, control in export.controls.items() if control.is_extra and name not in chosen}
    for control in extra.values():
        counts[control.type] += control.n_results
    if not counts:
        return
    types = ", ".join(f"{n:,} of type {shown(type_)}" for type_, n in counts.most_common())
    advice = (
        f" --control {next(iter(extra))} compares {'them' if len(counts) == 1 else 'those of this control'}."
        if extra
        else ""
    )
    yield f"Results that are not compared: {types}.{advice}"


def _control_notes(export: _Export, name: str, control: _Control) -> Iterator[str]:
    if control.n_prefilled and control.type == "textarea":
        n = control.n_prefilled
        yield (
            f"{plural(n, 'answer is', 'answers are')} the text of {listed([name])} in the data of the task, which may "
            "have filled the TextArea."
        )
    if control.kind != TEXT or name not in export.alone:
        return
    for other, n in sorted(export.alone.items()):
        if other != name and other not in export.beside and name not in export.beside:
            yield (
                f"{plural(n, 'annotation has', 'annotations have')} texts under the TextArea {listed([other])} and none "
                f"under {listed([name])}, and no annotation has both: "
                f"{'it counts as an empty answer' if n == 1 else 'they count as empty answers'}. If one of the two is "
                f"the other one’s earlier name, {'it is' if n == 1 else 'they are'} missing: leave "
                f"{'it' if n == 1 else 'them'} out."
            )


FORMATS = (
    Format(
        "label-studio",
        records=Ways(_is_export, _read, takes_item=True),
        folder=Ways(_is_folder, _read_folder),
        is_general=True,
    ),
)
