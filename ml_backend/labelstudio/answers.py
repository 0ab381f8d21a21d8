"""Conversion of Label Studio's tasks to the store's rows: answers per control, by the same rules as ``softirr score``."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.facts import facts_of
from ml_backend.labelstudio.history import History, Times, was_there
from ml_backend.labelstudio.predictions import prediction_hash
from ml_backend.labelstudio.regions import overlapping
from ml_backend.settings import MODEL_VERSION, ProjectSettings
from ml_backend.store.splittings import Decision
from softirr.tables.labelstudio import label_studio_answers
from softirr.text import normalize, normalize_lines

UNREADABLE = "Label Studio can't deliver this task (as a rule, one of its texts is no valid Unicode)"
MOST_COMPARISONS = 500_000  # of texts in one task: some 5 s and 300 MB with a lexical measure
MOST_CHARACTERS = 400_000  # of two raters in one task: their edit distance takes some 3 s
REVIEWER = "a reviewer’s own answer, which does not count as an annotator’s"
OTHER_CONFIG = "answered under another label config, to a TextArea that it no longer has"
NO_SUCH_CONTROL = "answered while the label config did not have this TextArea"
MODEL_RATER = "model:"  # what `label_studio_answers` calls predictions that count as a rater


def pulled_row(
    task: Mapping[str, Any],
    controls: Sequence[Control],
    settings: ProjectSettings,
    *,
    generation: int,
    names: frozenset[str] | None = None,
    history: History | None = None,
    splittings: Mapping[str, Decision] | None = None,
) -> dict[str, Any]:
    """The task's row for `Store.put_pulled`; `names`, `history` and `splittings` as for `task_answers`."""
    if task.get("unreadable"):
        answers = {control.name: {"answers": {}, "excluded": [["", UNREADABLE]]} for control in controls}
    else:
        answers = task_answers(task, controls, settings, names=names, history=history, splittings=splittings)
    return {
        "number": int(task["id"]),
        "updated_at": task.get("updated_at"),
        "generation": generation,
        "n_annotations": _count_annotations(task),
        "n_answers": count_answers(answers),
        "answers": answers,
        "answers_hash": answers_hash(answers),
        "facts": facts_of(task, controls, answers),
        "actual": [
            [prediction["id"], prediction_hash(prediction)]
            for prediction in sorted(
                (p for p in task.get("predictions") or [] if isinstance(p, Mapping)), key=lambda p: p["id"]
            )
            if prediction.get("model_version") == MODEL_VERSION
        ],
    }


def _count_annotations(task: Mapping[str, Any]) -> int:
    """Number of annotations without skipped ones, as Label Studio counts them."""
    if task.get("unreadable"):
        return int(task.get("total_annotations") or 0)
    return sum(not a.get("was_cancelled") for a in task.get("annotations") or [] if isinstance(a, Mapping))


def task_answers(
    task: Mapping[str, Any],
    controls: Sequence[Control],
    settings: ProjectSettings,
    *,
    names: frozenset[str] | None = None,
    history: History | None = None,
    splittings: Mapping[str, Decision] | None = None,
) -> dict[str, Any]:
    """Control -> ``{"answers": {rater: [texts]}, "excluded": [[rater, reason]]}``; texts normalized, raters in a fixed order.

    Answers of the project's reviewers are excluded unless the project counts them. Where regions are compared by overlap, ``"groups"`` holds
    the answers again, one mapping for each place. A task with so many texts that it would delay the whole project is excluded with the
    reason.

    An annotation with texts for a TextArea that the label config no longer has, and without texts for the control, was made before the
    TextArea was renamed or added. It cannot contain the control, so its answer is missing, not empty. The same holds
    for an annotation without a result of the control that was last changed while the label config did not have the control.

    Where the project's policy splits answers, ``"written"`` holds them as they were written, with line breaks, ``"written_groups"`` those of
    ``"groups"``, and ``"split"`` how they were split.

    Parameters
    ----------
    names : frozenset of str, optional
        All controls of the label config (`config.control_names`); without them every annotation counts as made under this config.
    history : mapping, optional
        When the label config had each TextArea (`history.with_controls`); one that it does not name was there all the time.
    splittings : mapping, optional
        How the answers of each control are split; those of controls that it does not name stay whole.
    """
    found: dict[str, Any] = {}
    for control in controls:
        kept, left_out = of_this_config(task, control.name, names, (history or {}).get(control.name))
        answers, excluded = label_studio_answers(
            kept, control=control.name, predictions_as_raters=settings.predictions_as_raters
        )
        by_rater = {answer.rater: answer.texts for answer in answers}
        listed = [[entry.rater, entry.reason] for entry in excluded] + left_out
        if not settings.count_reviewers:
            listed += [[rater, REVIEWER] for rater in by_rater if rater in settings.reviewers]
            by_rater = {rater: texts for rater, texts in by_rater.items() if rater not in settings.reviewers}
        if reason := _too_much(list(by_rater.values())):
            listed += [[rater, reason] for rater in by_rater]
            by_rater = {}
        found[control.name] = {"answers": _clean(by_rater), "excluded": listed}
        if control.per_region and settings.regions == "overlap" and by_rater:
            people = [rater for rater in by_rater if not rater.startswith(MODEL_RATER)]
            groups = overlapping(kept, control.name, people)
            found[control.name]["groups"] = [_clean(group) for group in groups]
            if settings.policy.split != "none":
                found[control.name]["written_groups"] = [_as_written(group) for group in groups]
        if settings.policy.split != "none":
            found[control.name]["written"] = _as_written(by_rater)
            found[control.name] = split_again(found[control.name], (splittings or {}).get(control.name))
    return found


def split_again(entry: Mapping[str, Any], decision: Decision | None) -> dict[str, Any]:
    """The answers to a control, split as decided from what was written; whole without a decision.

    Answers that would hold too many texts to compare stay whole.
    """
    if "written" not in entry:
        return dict(entry)

    def split(by_rater: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        whole = {rater: list(map(normalize, texts)) for rater, texts in by_rater.items()}
        if decision is None:
            return whole
        parts = decision.splitting.parts
        found = {
            rater: list(dict.fromkeys(part for text in texts for part in parts(text)))
            for rater, texts in by_rater.items()
        }
        return whole if _too_much(list(found.values())) else found

    again = {**entry, "answers": split(entry["written"]), "split": None if decision is None else decision.told()}
    if "written_groups" in entry:
        again["groups"] = [split(group) for group in entry["written_groups"]]
    return again


def of_this_config(
    task: Mapping[str, Any], control: str, names: frozenset[str] | None, there: Times | None
) -> tuple[Mapping[str, Any], list[list[str]]]:
    """The task with the annotations that can contain the control, and the raters of the other annotations with the reason."""
    annotations = task.get("annotations")
    if names is None or not isinstance(annotations, list):
        return task, []
    kept, left_out = [], []
    for annotation in annotations:
        why = _could_not_hold(annotation, control, names, there) if isinstance(annotation, Mapping) else ""
        if why and not annotation.get("was_cancelled"):
            user = annotation.get("completed_by")
            rater = user.get("id", user.get("email")) if isinstance(user, Mapping) else user
            left_out.append(["" if rater is None else str(rater), why])
        else:
            kept.append(annotation)
    return {**task, "annotations": kept}, left_out


def _could_not_hold(
    annotation: Mapping[str, Any],
    control: str,
    names: frozenset[str],
    there: Times | None,
) -> str:
    """Why an annotation without a result of the control could not have held one; empty if it could, or has one."""
    result = annotation.get("result")
    found = [entry for entry in result if isinstance(entry, Mapping)] if isinstance(result, list) else []
    if any(entry.get("from_name") == control for entry in found):
        return ""
    texts = {
        entry["from_name"]
        for entry in found
        if entry.get("type") == "textarea" and isinstance(entry.get("from_name"), str)
    }
    if old := texts - names:
        return f"{OTHER_CONFIG} ({', '.join(sorted(old))})"
    changed = annotation.get("updated_at") or annotation.get("created_at")
    if there is not None and isinstance(changed, str) and not was_there(there, changed):
        return NO_SUCH_CONTROL
    return ""


def answered(answers: Mapping[str, Any]) -> set[str]:
    """The controls that hold at least one text."""
    return {name for name, entry in answers.items() if any(entry["answers"].values())}


def unanswered_of(project: Mapping[str, Any]) -> set[str]:
    """Controls of a project without any answer."""
    return {control["name"] for control in project["controls"] if control.get("unanswered")}


def without(answers: Mapping[str, Any], unanswered: Collection[str]) -> dict[str, Any]:
    """The answers, with those to controls that nobody answers in the whole project as missing rather than empty."""
    return {
        name: {"answers": {}, "excluded": entry["excluded"]} if name in unanswered else entry
        for name, entry in answers.items()
    }


def _too_much(answers: Sequence[Sequence[str]]) -> str:
    """Reason why the task would delay its project too long; empty if it would not."""
    if (n := comparisons(answers)) > MOST_COMPARISONS:
        return f"too many texts in one task ({n} comparisons; at most {MOST_COMPARISONS})"
    if _across(sum(map(len, texts)) for texts in answers) > MOST_CHARACTERS**2:
        return f"texts too long to compare in one task (more than {MOST_CHARACTERS} characters against as many)"
    return ""


def comparisons(answers: Iterable[Sequence[str]]) -> int:
    """Number of pairs of texts of different raters."""
    return _across(map(len, answers))


def _across(sizes: Iterable[int]) -> int:
    """Sum of the products of all pairs of values."""
    listed = list(sizes)
    return (sum(listed) ** 2 - sum(size * size for size in listed)) // 2


def _clean(by_rater: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        normalize(rater): [text for text in map(normalize, by_rater[rater]) if text]
        for rater in sorted(by_rater, key=rater_order)
    }


def _as_written(by_rater: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        normalize(rater): [text for text in map(normalize_lines, by_rater[rater]) if text]
        for rater in sorted(by_rater, key=rater_order)
    }


def rater_order(rater: str) -> tuple[int, int, str]:
    """Sort key: user ids by number, then everything else (models) by name."""
    return (0, int(rater), "") if rater.isdigit() else (1, 0, rater)


def count_answers(answers: Mapping[str, Any]) -> int:
    """Largest number of answers of any control."""
    return max((len(entry["answers"]) for entry in answers.values()), default=0)


def answers_hash(answers: Mapping[str, Any]) -> str:
    """Hash of these answers and exclusions."""
    return hashlib.sha256(json.dumps(answers, sort_keys=True).encode()).hexdigest()[:32]
