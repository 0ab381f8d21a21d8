"""Agreed answers as predictions in Label Studio, under a model version of their own."""

from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import text_controls
from ml_backend.labelstudio.errors import LabelStudioError
from softirr.tables.labelstudio import CONSENSUS_VERSION

__all__ = ["predictions_of", "write_predictions"]


def predictions_of(label_config: str, agreed: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One prediction for each task with its agreed answers (as `ml_backend.review.consensus.entries` gives them).

    A TextArea for each region can't hold a text without its region, so it is left out.
    """
    controls = {control.name: control for control in text_controls(label_config) if not control.per_region}
    results: dict[int, list[dict[str, Any]]] = {}
    for row in agreed:
        control = controls.get(row["control"])
        if control is None:
            continue
        region = {
            "id": f"consensus-{control.name}",
            "from_name": control.name,
            "to_name": control.to_name,
            "type": "textarea",
            "value": {"text": list(row["texts"])},
            "meta": {"agreed_by": row["who"], "agreed_at": row["when"], "codes": row["codes"]},
        }
        results.setdefault(row["task"], []).append(region)
    return [
        {"task": task, "model_version": CONSENSUS_VERSION, "result": result} for task, result in sorted(results.items())
    ]


def write_predictions(
    client: Client, number: int, label_config: str, agreed: Iterable[Mapping[str, Any]], *, bulk_size: int
) -> dict[str, int]:
    """Replace the predictions of the version ``consensus`` by those of the agreed answers; returns how many were created and deleted.

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
            f"Label Studio stored {created} of {len(wanted)} predictions of project {number}: run this again after softirr-ls sync."
        )
    return {"created": created, "deleted": deleted}
