"""Conversion of Label Studio's tasks to the store's rows.

Answers per control, by the same rules as ``softirr score``.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.history import History, Times, could_not_hold
from ml_backend.labelstudio.regions import region_rows
from ml_backend.labelstudio.task_facts import task_facts
from ml_backend.project_settings import ProjectSettings
from softirr.answers.answer import RawAnswer
from softirr.answers.labelstudio import TaskAnswers, is_agreed_answer, raw_answers
from softirr.answers.labelstudio import read_task as read_annotations
from softirr.answers.labelstudio_results import control_kind, field_kinds, mappings, with_turns
from softirr.answers.preparation import beyond_limits
from softirr.answers.region_overlap import TOO_MANY_REGIONS, TooManyRegions, matched_answers
from softirr.answers.regions import region_of
from softirr.text import normalize, normalize_lines

UNREADABLE = "Label Studio can't deliver this task (as a rule, one of its texts is no valid Unicode)"
NOT_READ = "set aside: softirr could not read the texts of this task ({}); report this as an error of softirr"
OF_FIELDS = "-"
"""Separates the hash of a task's texts and the hash of its other fields."""
REVIEWER = "a reviewer’s own answer, which does not count as an annotator’s"


@dataclass(frozen=True)
class Reading:
    """What decides how the answers of a project's tasks are read.

    Attributes
    ----------
    controls : sequence of Control
        The controls that count.
    names : frozenset of str, optional
        All controls of the label config (`config.control_names`); without them every annotation counts as made under
        this config.
    history : mapping
        When the label config had each TextArea (`history.with_controls`); one that it does not name was there all the
        time.
    other_names : sequence of str
        Controls of other kinds that are read, too (`config.other_controls`).
    """

    controls: Sequence[Control]
    settings: ProjectSettings
    names: frozenset[str] | None = None
    history: History = field(default_factory=dict)
    other_names: Sequence[str] = ()


def pulled_row(task: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """Return the task's row in the store, without its prediction."""
    answers, beside = read_task(task, reading)
    return {
        "number": int(task["id"]),
        "updated_at": task.get("updated_at"),
        "n_listed": count_annotations(task, with_agreed=True),
        "n_annotations": count_annotations(task),
        "answers": answers,
        "answers_hash": answers_hash(answers, beside.get("fields")),
        "facts": task_facts(task) | beside,
    }


def _region_fields(
    task: Mapping[str, Any], controls: Sequence[Control], answers: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """For each TextArea of regions the object that it is about, and the regions (`regions.region_rows`)."""
    regions: dict[str, Any] = {}
    for control in controls:
        if control.per_region and (raters := list(answers[control.name]["answers"])):
            address = (task.get("data") or {}).get(control.source) if control.source else None
            shows = {"kind": control.shows, "address": address if isinstance(address, str) else None}
            if control.shows != "image":
                shows["address"] = None  # the text itself is Label Studio's
            regions[control.name] = shows | {"rows": region_rows(task, control.name, raters)}
    return {"regions": regions} if regions else {}


def _other_fields(task: Mapping[str, Any], annotations: TaskAnswers, reading: Reading) -> dict[str, dict[str, Any]]:
    """Return the answers to controls of other kinds as `read_task` does, with ``"kind"``.

    Fields that nobody answered in the task are included: they list who skipped it, and an empty set of choices is an
    answer. The turns of a dialogue are groups.
    """
    fields: dict[str, Any] = {}
    kinds = field_kinds(source.results for source in annotations.sources)
    for name in reading.other_names:
        answers, by_rater, listed = _given(task, annotations, name, reading, None)
        too_long = beyond_limits(by_rater)
        by_rater = {rater: texts for rater, texts in by_rater.items() if rater not in too_long}
        excluded = [*listed, *map(list, too_long.items())]
        entry = _entry(answers, by_rater, excluded, reading.settings.regions)
        fields[name] = {**entry, "kind": kinds.get(name, "")}
    return fields


def _entry(
    answers: Sequence[RawAnswer],
    by_rater: Mapping[str, Sequence[str]],
    excluded: list[list[str]],
    regions: str,
    form_of: Callable[[str], str] = normalize,
) -> dict[str, Any]:
    """Return the answers to a field as `read_task` does.

    If parts of the task are items, ``"groups"`` contains the answers again, one mapping for each part: groups of
    matched regions, or the turns of a dialogue, with their numbers as ``"turns"``. A rater who did not answer a turn
    has no answer to it.
    """
    counting = [answer for answer in answers if answer.rater in by_rater and not answer.reason]
    turns: dict[int, dict[str, Sequence[str]]] = {}
    for answer in counting:
        if answer.turn is not None:
            turns.setdefault(answer.turn, {})[answer.rater] = answer.texts or ()
    of_raters = {answer.rater: answer.regions for answer in counting} if regions == "matched" else {}
    try:
        groups = [turns[number] for number in sorted(turns)] or matched_answers(of_raters)
    except TooManyRegions:
        return {"answers": {}, "excluded": excluded + [[rater, TOO_MANY_REGIONS] for rater in by_rater]}
    return {
        "answers": _clean(by_rater, form_of),
        "excluded": excluded,
        **({"groups": [_clean(group, form_of) for group in groups]} if groups else {}),
        **({"turns": sorted(turns)} if turns else {}),
    }


def _controls_of_regions(task: Mapping[str, Any]) -> list[str]:
    """Return the controls of other kinds that annotators answered for a region, not for the whole task."""
    results = [
        result for annotation in mappings(task.get("annotations")) for result in mappings(annotation.get("result"))
    ]
    names = {
        str(result.get("from_name"))
        for result in results
        if control_kind(result) and "turn" not in result and region_of(result) is not None
    }
    return sorted(names)


def _given(
    task: Mapping[str, Any], annotations: TaskAnswers, name: str, reading: Reading, times: Times | None
) -> tuple[list[RawAnswer], dict[str, Sequence[str]], list[list[str]]]:
    """Return the answers under the present label config, also by rater, and who is left out, with the reason.

    Reviewers' own answers are left out unless they count.
    """
    settings = reading.settings
    older = [could_not_hold(entry, name, reading.names, times) for entry in mappings(task.get("annotations"))]
    answers = raw_answers(annotations, name, older=older)
    by_rater: dict[str, Sequence[str]] = {}
    for answer in answers:  # several of a rater are those to the turns of a dialogue
        if not answer.reason:
            by_rater[answer.rater] = (*by_rater.get(answer.rater, ()), *(answer.texts or ()))
    reviewers = [] if settings.count_reviewers else [rater for rater in by_rater if rater in settings.reviewers]
    listed = [[answer.rater, answer.reason] for answer in answers if answer.reason]
    listed += [[reviewer, REVIEWER] for reviewer in reviewers]
    return answers, {rater: texts for rater, texts in by_rater.items() if rater not in reviewers}, listed


def count_annotations(task: Mapping[str, Any], *, with_agreed: bool = False) -> int:
    """Return the number of annotations that are not skipped; Label Studio's list of tasks counts agreed answers too."""
    if task.get("unreadable"):
        return int(task.get("total_annotations") or 0)
    submitted = (entry for entry in mappings(task.get("annotations")) if not entry.get("was_cancelled"))
    return sum(with_agreed or not is_agreed_answer(annotation) for annotation in submitted)


def read_task(task: Mapping[str, Any], reading: Reading) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the raw answers of a task, and the regions and other fields stored with them.

    The answers are control -> ``{"answers": {rater: [texts]}, "excluded": [[rater, reason]]}``; a project without texts
    has the answers to its other controls here. Texts are as they were written, raters in a fixed order. Marks
    for missing answers, splitting and limits are applied when the answers are used (`ml_backend.scoring.preparation`).

    Answers of the project's reviewers are excluded unless the project counts them. If turns of a dialogue or matched
    regions are compared, the answers are also there by turn or region (`_entry`).

    An annotation with texts for a TextArea that the label config no longer has, and without texts for the control, was
    made before the TextArea was renamed or added. It cannot contain the control, so its answer is missing, not empty.
    The same is true for an annotation without a result of the control that was last changed while the label config did
    not have the control.

    A task that cannot be read has no answers: it is listed with the reason, because one annotator's text must not stop
    the project.
    """
    annotations = [annotation for annotation in mappings(task.get("annotations")) if not is_agreed_answer(annotation)]
    task = {**task, "annotations": annotations}  # an agreed answer changes nothing about the annotators' answers
    try:
        if task.get("unreadable"):
            return _nothing_read(reading, UNREADABLE), {}
        task = with_turns(
            task, [*(reading.names or ()), *(control.name for control in reading.controls), *reading.other_names]
        )
        read = read_annotations(task, predictions=reading.settings.predictions_as_raters)
        answers = {control.name: _control_answers(task, read, control, reading) for control in reading.controls}
        regions = _region_fields(task, reading.controls, answers)
    except Exception as error:  # noqa: BLE001 - whatever a text does to the code that reads it
        return _nothing_read(reading, NOT_READ.format(type(error).__name__)), {}
    try:
        fields = _other_fields(task, read, reading)
    except Exception as error:  # noqa: BLE001 - the same, and the texts are read
        nothing = {"answers": {}, "excluded": [["", NOT_READ.format(type(error).__name__)]]}
        fields = {name: {**nothing, "kind": ""} for name in reading.other_names}
    of_regions = _controls_of_regions(task) if regions else []
    beside: dict[str, Any] = {
        **regions,
        **({"fields": fields} if fields else {}),
        **({"of_regions": of_regions} if of_regions else {}),
    }
    return answers if reading.controls else fields, beside


def _nothing_read(reading: Reading, reason: str) -> dict[str, Any]:
    names = [control.name for control in reading.controls] or reading.other_names
    return {name: {"answers": {}, "excluded": [["", reason]]} for name in names}


def _control_answers(
    task: Mapping[str, Any], annotations: TaskAnswers, control: Control, reading: Reading
) -> dict[str, Any]:
    """Return the raw answers to one TextArea."""
    raw, by_rater, listed = _given(task, annotations, control.name, reading, reading.history.get(control.name))
    return _entry(raw, by_rater, listed, reading.settings.regions, normalize_lines)


def texts_of(answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to text controls only."""
    return {name: entry for name, entry in answers.items() if "kind" not in entry}


def _clean(by_rater: Mapping[str, Sequence[str]], form_of: Callable[[str], str] = normalize) -> dict[str, list[str]]:
    """The texts of each rater in their form, without empty ones."""
    return {
        normalize(rater): [text for text in map(form_of, by_rater[rater]) if text]
        for rater in sorted(by_rater, key=rater_order)
    }


def rater_order(rater: str) -> tuple[int, int, str]:
    """Sort key: user ids by number, then everything else (models) by name."""
    return (0, int(rater), "") if rater.isdigit() else (1, 0, rater)


def answers_hash(answers: Mapping[str, Any], fields: Mapping[str, Any] | None = None) -> str:
    """Return the hash of answers with their exclusions, followed by a hash of the answers to other fields.

    The numbers of turns do not count: marks on tasks that an earlier version read stay.
    """
    other_fields = {name: entry for name, entry in (fields or {}).items() if name not in answers}
    answered = {
        name: [entry["answers"], entry.get("groups")]
        for name, entry in other_fields.items()
        if any(entry["answers"].values())
    }
    texts = {name: {key: entry[key] for key in entry if key != "turns"} for name, entry in answers.items()}
    return _hash(texts) + (f"{OF_FIELDS}{_hash(answered)[:16] if answered else ''}" if other_fields else "")


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
