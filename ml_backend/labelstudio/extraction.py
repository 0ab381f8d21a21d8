"""From tasks as Label Studio gives them to what the store keeps: answers per control, by the same rules as ``softirr score``."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.predictions import prediction_hash
from ml_backend.labelstudio.regions import overlapping
from ml_backend.settings import MODEL_VERSION, ProjectSettings
from softirr.annotations import label_studio_answers
from softirr.text import normalise

MOST_COMPARISONS = 500_000  # of texts in one task: some 5 s and 300 MB with a lexical measure
MODEL_RATER = "model:"  # what `label_studio_answers` calls predictions that count as a rater


def pulled_row(
    task: Mapping[str, Any], controls: Sequence[Control], settings: ProjectSettings, *, generation: int
) -> dict[str, Any]:
    """The task's row for `Store.put_pulled`."""
    answers = task_answers(task, controls, settings)
    return {
        "number": int(task["id"]),
        "updated_at": task.get("updated_at"),
        "generation": generation,
        "n_annotations": sum(
            not a.get("was_cancelled") for a in task.get("annotations") or [] if isinstance(a, Mapping)
        ),
        "n_answers": count_answers(answers),
        "answers": answers,
        "answers_hash": answers_hash(answers),
        "actual": [
            [prediction["id"], prediction_hash(prediction)]
            for prediction in sorted(
                (p for p in task.get("predictions") or [] if isinstance(p, Mapping)), key=lambda p: p["id"]
            )
            if prediction.get("model_version") == MODEL_VERSION
        ],
    }


def task_answers(task: Mapping[str, Any], controls: Sequence[Control], settings: ProjectSettings) -> dict[str, Any]:
    """Control -> ``{"answers": {rater: [texts]}, "excluded": [[rater, reason]]}``; texts normalised, raters in a fixed order.

    Where regions are compared by overlap, ``"groups"`` holds the answers once more, one mapping for each place. A task with so
    many texts that it would hold up the whole project is left out and listed with the reason.
    """
    found: dict[str, Any] = {}
    for control in controls:
        answers, excluded = label_studio_answers(
            task, control=control.name, predictions_as_raters=settings.predictions_as_raters
        )
        by_rater = {answer.rater: answer.texts for answer in answers}
        listed = [[entry.rater, entry.reason] for entry in excluded]
        if (n := comparisons(by_rater.values())) > MOST_COMPARISONS:
            reason = f"too many texts in one task ({n} comparisons; at most {MOST_COMPARISONS})"
            listed += [[rater, reason] for rater in by_rater]
            by_rater = {}
        found[control.name] = {"answers": _clean(by_rater), "excluded": listed}
        if control.per_region and settings.regions == "overlap" and by_rater:
            people = [rater for rater in by_rater if not rater.startswith(MODEL_RATER)]
            found[control.name]["groups"] = [_clean(group) for group in overlapping(task, control.name, people)]
    return found


def comparisons(answers: Iterable[Sequence[str]]) -> int:
    """How many pairs of texts of different raters there are."""
    sizes = [len(texts) for texts in answers]
    return (sum(sizes) ** 2 - sum(size * size for size in sizes)) // 2


def _clean(by_rater: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        normalise(rater): [text for text in map(normalise, by_rater[rater]) if text]
        for rater in sorted(by_rater, key=rater_order)
    }


def rater_order(rater: str) -> tuple[int, int, str]:
    """Sort key: user ids by number, then everything else (models) by name."""
    return (0, int(rater), "") if rater.isdigit() else (1, 0, rater)


def count_answers(answers: Mapping[str, Any]) -> int:
    """The most answers that any control has."""
    return max((len(entry["answers"]) for entry in answers.values()), default=0)


def answers_hash(answers: Mapping[str, Any]) -> str:
    """Name of exactly these answers and exclusions."""
    return hashlib.sha256(json.dumps(answers, sort_keys=True).encode()).hexdigest()[:32]
