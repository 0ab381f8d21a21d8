"""Agreed answers in Label Studio: as predictions under a model version of their own, or as ground-truth annotations."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import text_controls
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.tasks import pages
from ml_backend.store.agreed import GROUND_TRUTH
from softirr.answers.labelstudio import CONSENSUS_VERSION
from softirr.plural import plural

__all__ = ["is_written", "predictions_of", "write_ground_truth", "write_predictions"]

_ID = f"{CONSENSUS_VERSION}-"
_AS_MADE = "prediction"
"""The origin of a text that came from a prediction.

Such an annotation is no annotator's answer, here and in `softirr score`.
"""
_ONE_BY_ONE = 100
"""Tasks up to which each is read by itself; more are found by reading the project in pages."""


def predictions_of(label_config: str, agreed: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One prediction for each task with its agreed answers (as `ml_backend.review.consensus.entries` gives them).

    A TextArea for each region can't hold a text without its region, so it is left out.
    """
    return [
        {"task": task, "model_version": CONSENSUS_VERSION, "result": result}
        for task, result in sorted(_results(label_config, agreed).items())
    ]


def write_predictions(
    client: Client, number: int, label_config: str, agreed: Iterable[Mapping[str, Any]], *, bulk_size: int
) -> dict[str, int]:
    """Replace the predictions of the version ``consensus`` by the agreed answers.

    Returns how many were created and deleted.

    Raises
    ------
    LabelStudioError
        If Label Studio did not store all of them.
    """
    wanted = predictions_of(label_config, agreed)
    deleted = (
        client.delete_version(number, CONSENSUS_VERSION) if client.model_versions(number).get(CONSENSUS_VERSION) else 0
    )
    created = 0
    for start in range(0, len(wanted), bulk_size):
        created += client.create_predictions(number, wanted[start : start + bulk_size])
    if created < len(wanted):
        raise LabelStudioError(
            f"Label Studio stored {created} of {plural(len(wanted), 'prediction')} of project {number}: run this "
            "again after softirr-ls sync."
        )
    return {"created": created, "deleted": deleted}


def write_ground_truth(
    client: Client,
    number: int,
    label_config: str,
    agreed: Iterable[Mapping[str, Any]],
    *,
    once: Collection[int] = (),
    page_size: int,
) -> dict[str, int]:
    """Hold each task's agreed answers in one annotation of the token's user, marked as ground truth.

    Returns what was created, updated, deleted and kept.

    Label Studio has one ground truth for each task and takes the mark from the others. Where a person set it, that
    annotation is the agreed answer, and the task is left as it is ("kept"). Running it again changes nothing.

    Parameters
    ----------
    agreed : iterable of mapping
        As `ml_backend.review.consensus.entries` gives them, of every field.
    once : collection of int
        Tasks that ever had an agreed answer: an annotation written for such a task is removed.
    page_size : int
        Tasks of one page where many are read.
    """
    rows = list(agreed)
    kept = {row["task"] for row in rows if row["source"] == GROUND_TRUTH}
    results = _results(label_config, (row for row in rows if row["task"] not in kept))
    wanted = {task: [{**region, "origin": _AS_MADE} for region in result] for task, result in results.items()}
    done = {"created": 0, "updated": 0, "deleted": 0, "kept": len(kept)}
    for task in _read(client, number, {*wanted, *once} - kept, page_size):
        result = wanted.get(task["id"])
        ours = sorted(filter(is_written, task["annotations"]), key=lambda one: (not one.get("ground_truth"), one["id"]))
        if result is None:
            for one in ours:
                if one.get("ground_truth"):
                    client.delete_annotation(one["id"])
                    done["deleted"] += 1
        elif not ours:
            client.create_annotation(task["id"], result=result, ground_truth=True)
            done["created"] += 1
        elif not ours[0].get("ground_truth") or ours[0]["result"] != result:
            client.update_annotation(ours[0]["id"], result=result, ground_truth=True)
            done["updated"] += 1
    return done


def is_written(annotation: Mapping[str, Any]) -> bool:
    """Whether `write_ground_truth` made the annotation and nobody edited it since."""
    result = annotation.get("result")
    return bool(result) and all(
        isinstance(region, Mapping) and str(region.get("id", "")).startswith(_ID) and region.get("origin") == _AS_MADE
        for region in result or ()
    )


def _results(label_config: str, agreed: Iterable[Mapping[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    """Task -> the result with its agreed answers."""
    controls = {control.name: control for control in text_controls(label_config) if not control.per_region}
    results: dict[int, list[dict[str, Any]]] = {}
    for row in agreed:
        control = controls.get(row["control"])
        if control is None:
            continue
        region = {
            "id": f"{_ID}{control.name}",
            "from_name": control.name,
            "to_name": control.to_name,
            "type": "textarea",
            "value": {"text": list(row["texts"])},
            "meta": {"agreed_by": row["who"], "agreed_at": row["when"], "codes": row["codes"]},
        }
        results.setdefault(row["task"], []).append(region)
    return results


def _read(client: Client, number: int, wanted: Collection[int], page_size: int) -> Iterator[Mapping[str, Any]]:
    """The tasks that can be read, as they are in Label Studio now."""
    only = wanted if len(wanted) <= _ONE_BY_ONE else None
    for page in pages(client, number, page_size=page_size, only=only):
        yield from (task for task in page if task["id"] in wanted and not task.get("unreadable"))
