"""Controls of a Label Studio export: which have answers, which are read, and which are not compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from softirr.answers.answer import RawField
from softirr.answers.kinds import TEXT
from softirr.answers.labelstudio import (
    TaskAnswers,
)
from softirr.answers.labelstudio_results import (
    LABELS,
    Result,
    turn_names,
)
from softirr.answers.registry import Request
from softirr.errors import InputError, option
from softirr.plural import plural
from softirr.text import listed, shown

_EXTRA = ("chatmessage", "reactcode", "")
"""Types of results that are fields only if they are named, or nothing else is there; with the types of labels."""


@dataclass
class Control:
    """Kind, type and number of the results of a control."""

    kind: str
    type: str
    n_results: int = 0
    n_prefilled: int = 0

    @property
    def is_extra(self) -> bool:
        """Whether the control is a field only if it is named, or if it is the only one."""
        return self.kind == LABELS or self.type in _EXTRA


@dataclass
class Export:
    """The tasks of one or several exports."""

    request: Request
    tasks: dict[str, TaskAnswers] = field(default_factory=dict)
    controls: dict[str, Control] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    annotation_ids: dict[str, set[str]] = field(default_factory=dict)
    no_mark: str = ""
    has_marks: bool = False
    n_tasks: int = 0
    n_twice: int = 0
    n_only_textarea: Counter[str] = field(default_factory=Counter)
    joint_textareas: set[str] = field(default_factory=set)


def note_results(export: Export, location: str, task: TaskAnswers, data: Mapping[str, Any]) -> None:
    """Count the results of each control, and those that are not read."""
    for source in task.sources:
        n_values = Counter[tuple[str, int | None]]()
        texts = {result.field for result in source.results if result.type == "textarea"}
        for result in source.results:
            known_type = export.types.setdefault(result.field, result.type)
            if known_type != result.type and "textarea" in (known_type, result.type):
                types = f"{shown(known_type) or '(none)'} and {shown(result.type) or '(none)'}"
                raise InputError(f"{location}: results of {shown(result.field)} have the types {types}.")
            if not result.kind:
                export.unread[result.type] += 1
                continue
            control = export.controls.setdefault(result.field, Control(result.kind, result.type))
            control.n_results += 1
            n_values[result.field, result.turn] += len(result.texts)
            prefill = data.get(result.field)
            control.n_prefilled += isinstance(prefill, str) and result.texts == (prefill,)
            if (control.kind == "nominal" and n_values[result.field, result.turn] > 1) or (
                control.kind == "ranking" and result.is_set
            ):
                control.kind = "set"
        if texts and not source.reason and not source.is_prediction:
            export.n_only_textarea.update(texts if len(texts) == 1 else ())
            export.joint_textareas |= texts if len(texts) > 1 else set()


def use_turns(raw_field: RawField) -> None:
    """Replace tasks by their turns if the turns are the items."""
    turns = {row.item for row in raw_field.answers if not row.reason} - raw_field.items.keys()
    if turns:
        with_turns = {item.rpartition("/")[0] for item in turns}
        order = {item: number for number, item in enumerate(raw_field.items)}
        raw_field.items = {item: None for item in raw_field.items if item not in with_turns}
        raw_field.items |= dict.fromkeys(sorted(turns, key=lambda item: _turn_order(order, item)))


def _turn_order(order: Mapping[str, int], item: str) -> tuple[int, int]:
    task, _, turn = item.rpartition("/")
    return order[task], int(turn)


def pool_turns(export: Export) -> None:
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
    export.n_only_textarea.clear()


def chosen_controls(export: Export) -> list[str]:
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
        control_names = list(request.texts)
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
        control_names = [*texts, *(other_fields if request.options.kind is not None else ())]
    if not control_names:
        raise _no_texts(export, [])
    return control_names


def _no_texts(export: Export, not_chosen: Sequence[str]) -> InputError:
    name = export.request.name
    if not_chosen:
        return InputError(
            f"{name} has no TextArea answers. softirr score compares its other controls: {listed(not_chosen)}."
        )
    types = ", ".join(f"{n:,} of type {shown(type_)}" for type_, n in export.unread.most_common())
    read = f": its results are {types}, which softirr does not compare" if types else ""
    return InputError(f"{name} has no TextArea answers: no annotation has a result of type textarea{read}.")


def unread_note(export: Export, control_names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence that names and counts the results that are not compared."""
    counts = Counter(export.unread)
    is_named = bool(export.request.texts)
    not_chosen = {
        name: control
        for name, control in export.controls.items()
        if name not in control_names and (control.is_extra or not is_named)
    }
    for control in not_chosen.values():
        counts[control.type] += control.n_results
    if not counts:
        return
    types = ", ".join(f"{n:,} of type {shown(type_)}" for type_, n in counts.most_common())
    advice = ""
    if not_chosen:
        name, control = next(iter(not_chosen.items()))
        choice = option("control" if control.is_extra else "field", name)
        advice = f" {choice} compares {'them' if len(counts) == 1 else 'the results of this control'}."
    yield f"Results that are not compared: {types}.{advice}"


def control_notes(export: Export, name: str, control: Control) -> Iterator[str]:
    """Yield what to know about the answers to a control: a prefilled TextArea, or another name of it."""
    if control.n_prefilled and control.type == "textarea":
        n = control.n_prefilled
        yield (
            f"{plural(n, 'answer is', 'answers are')} the text of {listed([name])} in the data of the task, which may "
            "have filled the TextArea."
        )
    if control.kind != TEXT or name not in export.n_only_textarea:
        return
    for other_name, n in sorted(export.n_only_textarea.items()):
        if other_name != name and other_name not in export.joint_textareas and name not in export.joint_textareas:
            yield (
                f"{plural(n, 'annotation has', 'annotations have')} texts under the TextArea {listed([other_name])} "
                f"and none under {listed([name])}, and no annotation has both: "
                f"{'it counts as an empty answer' if n == 1 else 'they count as empty answers'}. If one of the two is "
                f"the other one’s earlier name, {'it is' if n == 1 else 'they are'} missing: leave "
                f"{'it' if n == 1 else 'them'} out."
            )
