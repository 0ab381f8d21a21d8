"""The prediction of a task."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.settings import MODEL_VERSION

SHOWN_MATCHES = 50  # in a region's meta; the panel shows all
SHOWN_TEXT = 500


def build(details: Mapping[str, Any], controls: Sequence[Control], *, suggestions: bool) -> dict[str, Any]:
    """Score and result of the prediction for a task with these details (as `scoring.task_details` makes them)."""
    result: list[dict[str, Any]] = []
    if suggestions:
        for control in controls:
            field = details["controls"].get(control.name)
            # A per-region TextArea cannot hold a text without its region.
            if field is not None and field["agreement"] is not None and not control.per_region:
                result.append(_region(control, field))
    return {"score": details["agreement"], "result": result}


def _region(control: Control, field: Mapping[str, Any]) -> dict[str, Any]:
    matches = field["matches"][:SHOWN_MATCHES]
    meta: dict[str, Any] = {
        "agreement": field["agreement"],
        "raters": field["n_raters"],
        "matches": [
            {**match, "texts": {rater: _short(text) for rater, text in match["texts"].items()}} for match in matches
        ],
        "unmatched": {
            rater: [_short(text) for text in texts[:SHOWN_MATCHES]] for rater, texts in field["unmatched"].items()
        },
    }
    if reasons := field.get("reasons"):
        meta["reasons"] = [
            {"raters": reason["raters"], "kind": reason["kind"], "words": _short(reason["words"])}
            for reason in reasons[:SHOWN_MATCHES]
        ]
    if len(field["matches"]) > len(matches):
        meta["matches_left_out"] = len(field["matches"]) - len(matches)
    return {
        "id": f"softirr-{control.name}",
        "from_name": control.name,
        "to_name": control.to_name,
        "type": "textarea",
        "value": {"text": list(field["suggestion"])},
        "score": field["agreement"],
        "meta": meta,
    }


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"


def with_task(prediction: Mapping[str, Any], task: int) -> dict[str, Any]:
    """The prediction as the API takes it."""
    return {"task": task, "model_version": MODEL_VERSION, **prediction}


def encoded(prediction: Mapping[str, Any], task: int) -> bytes:
    """The prediction as the API takes it, as JSON: thousands of them need a tenth of the memory of dictionaries."""
    return json.dumps(with_task(prediction, task), ensure_ascii=False, separators=(",", ":")).encode()


def prediction_hash(prediction: Mapping[str, Any]) -> str:
    """Return the hash of this score and result, the same for what Label Studio returns."""
    content = {"score": prediction.get("score"), "result": prediction.get("result") or []}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
