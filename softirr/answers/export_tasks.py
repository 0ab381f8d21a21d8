"""The tasks of Label Studio's exports: checks of their form, and their controls, which are read or not compared.

A damaged export is refused instead of being read as empty answers. Only what decides who answered what is checked: keys
that are new in another version of Label Studio pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from softirr.answers.answer import AGREED
from softirr.answers.kinds import TEXT
from softirr.answers.labelstudio import TaskAnswers
from softirr.answers.labelstudio_results import LABELS, Result, field_kinds, turn_names
from softirr.answers.registry import Request
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import listed, shown

_ORIGINS = (None, "", "manual", "prediction", "prediction-changed")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EXTRA = ("chatmessage", "reactcode", "")
"""Types of results that are fields only if they are named, or nothing else is there; with the types of labels."""


def _entries(task: Mapping[str, Any], what: str, location: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the annotations or predictions of a task with checked results, each with its location."""
    entries = task.get(f"{what}s")
    if not isinstance(entries, list):
        raise InputError(f"{location}: its {what}s are not a list.")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping):
            raise InputError(
                f"{location}: {what} number {number} is not an object (export the {what}s with their results)."
            )
        id = entry.get("id")
        is_named = isinstance(id, int | str) and not isinstance(id, bool)
        entry_location = f"{location}: {what} {shown(str(id)) if is_named else f'number {number}'}"
        if "result" not in entry:
            raise InputError(f"{entry_location}: result is missing.")
        if not isinstance(entry["result"], list):
            raise InputError(f"{entry_location}: its result is not a list.")
        for region in entry["result"]:
            _check_region(region, entry_location)
        yield entry, entry_location


def _checked_user(annotation: Mapping[str, Any], location: str) -> str:
    """Return who annotated."""
    if not isinstance(annotation.get("was_cancelled"), bool | None):
        raise InputError(f"{location}: was_cancelled is neither true nor false.")
    if "completed_by" not in annotation:
        raise InputError(f"{location}: completed_by is missing.")
    user = annotation["completed_by"]
    if isinstance(user, Mapping):
        user = user.get("id", user.get("email", {}))
    if isinstance(user, bool) or not isinstance(user, int | str | None) or user == "":
        raise InputError(f"{location}: completed_by names no user.")
    return str(user)


def _check_region(region: Any, location: str) -> None:
    if not isinstance(region, Mapping) or not isinstance(region.get("type"), str):
        raise InputError(f"{location}: an entry of its result has no type.")
    if region["type"] != "textarea":
        return
    if not isinstance(region.get("from_name"), str):
        raise InputError(f"{location}: a textarea result does not name its TextArea (from_name).")
    if region.get("origin") not in _ORIGINS:
        raise InputError(f"{location}: a textarea result has an unknown origin.")
    value = region.get("value")
    if not isinstance(value, Mapping) or "text" not in value:
        raise InputError(f"{location}: a textarea result has no value with a text.")
    texts = value["text"] if isinstance(value["text"], list) else [value["text"]]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"{location}: the text of a textarea result is neither a text nor a list of texts.")


def _types(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} of type {shown(type_)}" for type_, n in counts.most_common())


@dataclass
class Control:
    """Kind, type and number of the results of a control."""

    kind: str
    type: str
    n_results: int = 0

    @property
    def is_extra(self) -> bool:
        """Whether the control is a field only if it is named, or if it is the only one."""
        return self.kind == LABELS or self.type in _EXTRA


@dataclass
class Export:
    """The tasks of one or several exports, and counts of their results.

    Attributes
    ----------
    entries : list of (str, TaskAnswers)
        File, if files may be raters, and annotations of each entry.
    tasks : dict of str to TaskAnswers
        Annotations of each item.
    was_cancelled : dict
        Location of the first annotation with each value of ``was_cancelled``.
    """

    request: Request
    entries: list[tuple[str, TaskAnswers]] = field(default_factory=list)
    tasks: dict[str, TaskAnswers] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    annotation_ids: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    was_cancelled: dict[bool | None, str] = field(default_factory=dict)
    n_twice: int = 0
    n_prefilled: Counter[str] = field(default_factory=Counter)
    controls: dict[str, Control] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    n_only_textarea: Counter[str] = field(default_factory=Counter)
    joint_textareas: set[str] = field(default_factory=set)

    def check_task(self, task: Mapping[str, Any], location: str) -> None:
        """Refuse a task that can't be read as it was exported.

        Parameters
        ----------
        task : mapping
            An entry of the export, with the key ``annotations``.
        location : str
            Its file, line and id, for messages.

        Raises
        ------
        InputError
            Names the annotation or prediction and its damage.
        """
        dated: dict[tuple[str, str], bool] = {}
        for annotation, entry_location in _entries(task, "annotation", location):
            user = _checked_user(annotation, entry_location)
            self.was_cancelled.setdefault(annotation.get("was_cancelled"), entry_location)
            for key in ("updated_at", "created_at"):
                date = annotation.get(key)
                if date is not None and not (isinstance(date, str) and _DATE.match(date)):
                    raise InputError(f"{entry_location}: {key} is not a date.")
                if dated.setdefault((key, user), date is not None) != (date is not None):
                    raise InputError(
                        f"{entry_location}: {key} is missing, so that the newer of two answers by one user is not "
                        "known."
                    )
        if not self.request.options.predictions_as_raters:
            return
        for prediction, entry_location in _entries(task, "prediction", location):
            if not isinstance(prediction.get("model_version"), str | None):
                raise InputError(f"{entry_location}: its model_version is not a text.")

    def check_results(self, location: str, task: TaskAnswers, data: Mapping[str, Any]) -> None:
        """Refuse results of a control with different types, and count those that are the text in the task's data."""
        for result in (result for source in task.sources for result in source.results):
            known_type = self.types.setdefault(result.field, result.type)
            if known_type != result.type and "textarea" in (known_type, result.type):
                types = f"{shown(known_type) or '(none)'} and {shown(result.type) or '(none)'}"
                raise InputError(f"{location}: results of {shown(result.field)} have the types {types}.")
            prefill = data.get(result.field)
            self.n_prefilled[result.field] += isinstance(prefill, str) and result.texts == (prefill,)

    def count_results(self) -> None:
        """Count the results of each control, and of unread types; agreed answers are left out."""
        names = self._pool_turns()
        sources = [source for task in self.tasks.values() for source in task.sources if source.reason != AGREED]
        kinds = field_kinds(source.results for source in sources)
        for source in sources:
            texts = {result.field for result in source.results if result.type == "textarea"}
            for result in source.results:
                if result.kind:
                    name = result.field
                    self.controls.setdefault(name, Control(kinds[name], result.type)).n_results += 1
                else:
                    self.unread[result.type] += 1
            if texts and not source.reason and not source.is_prediction and not names:
                self.n_only_textarea.update(texts if len(texts) == 1 else ())
                self.joint_textareas |= texts if len(texts) > 1 else set()

    def _pool_turns(self) -> Mapping[str, tuple[str, int]]:
        """Make one field of the numbered controls of a Repeater; return the field and the turn of each."""
        results = {
            result.field: result for task in self.tasks.values() for source in task.sources for result in source.results
        }
        names = turn_names(results.values())

        def renamed(result: Result) -> Result:
            base, turn = names.get(result.field, (result.field, result.turn))
            return result._replace(field=base, turn=turn)

        for item, task in self.tasks.items() if names else ():
            sources = (result._replace(results=tuple(map(renamed, result.results))) for result in task.sources)
            self.tasks[item] = task._replace(sources=tuple(sources))
        for name, (base, _) in names.items():
            self.n_prefilled[base] += self.n_prefilled.pop(name, 0)
        return names

    def chosen_controls(self) -> list[str]:
        """Return the named controls; by default the only TextArea and, if kinds are read, all other controls."""
        request, controls, name = self.request, self.controls, self.request.name
        main = [key for key, control in controls.items() if not control.is_extra]
        is_text = request.options.kind is None
        readable = [key for key, control in controls.items() if control.kind == TEXT or not is_text]
        for wanted_name in request.texts:
            if wanted_name not in readable:
                what = f"TextArea named {wanted_name!r}" if is_text else f"control named {wanted_name!r} with answers"
                raise InputError(f"{name} has no {what}; it has {listed(readable) or 'none'}.")
        if request.texts:
            return list(request.texts)
        usable = main or list(controls)
        texts = [key for key in usable if controls[key].kind == TEXT]
        other_fields = [key for key in usable if controls[key].kind != TEXT]
        if len(texts) > 1:
            raise InputError(
                f"{name} has several TextArea controls ({listed(texts)}): choose one with {option('control')}."
            )
        if is_text and other_fields and not texts:
            raise InputError(
                f"{name} has no TextArea answers. softirr score compares its other controls: {listed(other_fields)}."
            )
        if not usable:
            types = _types(self.unread)
            read = f": its results are {types}, which softirr does not compare" if types else ""
            raise InputError(f"{name} has no TextArea answers: no annotation has a result of type textarea{read}.")
        return texts if is_text else texts + other_fields

    def unread_note(self, control_names: Iterable[str]) -> Iterator[str]:
        """Yield a sentence that names and counts the results that are not compared."""
        counts = Counter(self.unread)
        is_named = bool(self.request.texts)
        not_chosen = {
            name: control
            for name, control in self.controls.items()
            if name not in control_names and (control.is_extra or not is_named)
        }
        for control in not_chosen.values():
            counts[control.type] += control.n_results
        if not counts:
            return
        advice = ""
        if not_chosen:
            name, control = next(iter(not_chosen.items()))
            choice = option("control" if control.is_extra else "field", name)
            advice = f" {choice} compares {'them' if len(counts) == 1 else 'the results of this control'}."
        yield f"Results that are not compared: {_types(counts)}.{advice}"

    def control_notes(self, name: str, control: Control) -> Iterator[str]:
        """Yield what to know about the answers to a control: a prefilled TextArea, or another name of it."""
        if (n := self.n_prefilled[name]) and control.type == "textarea":
            yield (
                f"{plural(n, 'answer is', 'answers are')} the text of {listed([name])} in the data of the task, which "
                "may have filled the TextArea."
            )
        if control.kind != TEXT or name not in self.n_only_textarea:
            return
        for other_name, n in sorted(self.n_only_textarea.items()):
            if other_name != name and other_name not in self.joint_textareas and name not in self.joint_textareas:
                yield (
                    f"{plural(n, 'annotation has', 'annotations have')} texts under the TextArea "
                    f"{listed([other_name])} and none under {listed([name])}, and no annotation has both: "
                    f"{'it counts as an empty answer' if n == 1 else 'they count as empty answers'}. If one of the two "
                    f"is the other one’s earlier name, {'it is' if n == 1 else 'they are'} missing: leave "
                    f"{'it' if n == 1 else 'them'} out."
                )
