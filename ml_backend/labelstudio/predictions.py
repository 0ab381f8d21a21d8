"""The prediction of a task."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import CodedControl, Control
from ml_backend.settings import MODEL_VERSION

SHOWN_MATCHES = 50  # in a region's meta; the panel shows all
SHOWN_TEXT = 500
SHOWN_CODES = 5
SURE = 0.5
"""Score from which on the concept of a suggested text is a suggested choice.

At least half of the match's texts are known as it.
"""


def build(
    details: Mapping[str, Any],
    controls: Sequence[Control],
    *,
    suggestions: bool,
    coded: Sequence[CodedControl] = (),
) -> dict[str, Any]:
    """Score and result of the prediction for a task with these details (as `scoring.task_details` makes them).

    Parameters
    ----------
    coded : sequence of CodedControl
        Choices and Taxonomies, for the concepts of the suggested texts.
    """
    result: list[dict[str, Any]] = []
    if suggestions:
        for control in controls:
            field = details["controls"].get(control.name)
            # A per-region TextArea cannot hold a text without its region.
            if field is not None and field["agreement"] is not None and not control.per_region:
                result.append(_region(control, field))
        for own in coded:
            if chosen := _choices(own, details):
                result.append({"id": f"softirr-{own.name}", **chosen, "meta": {}})
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
            {"raters": one["raters"], "kind": one["kind"], "words": _short(one["words"])}
            for one in reasons[:SHOWN_MATCHES]
        ]
    if field.get("suggestion_codes"):
        meta["suggestion_codes"] = {
            _short(text): codes[:SHOWN_CODES] for text, codes in field["suggestion_codes"].items()
        }
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


def _choices(control: CodedControl, details: Mapping[str, Any]) -> dict[str, Any] | None:
    """The choices of a control with the codes of the suggested texts.

    The best of each text, one where one may be chosen.
    """
    best: dict[str, float] = {}
    for field in details["controls"].values():
        for codes in (field.get("suggestion_codes") or {}).values():
            known = next((code for code in codes if code["id"] in control.values), None)
            if known is not None and known["score"] >= SURE:
                best[known["id"]] = max(best.get(known["id"], 0.0), known["score"])
    if not best:
        return None
    ids = sorted(best, key=lambda id: (-best[id], id))
    ids = ids[:1] if control.single else ids
    values = [control.values[id] for id in ids]
    return {
        "from_name": control.name,
        "to_name": control.to_name,
        "type": control.kind,
        "value": {
            control.kind: [list(one) for one in values] if control.kind == "taxonomy" else [one[-1] for one in values]
        },
        "score": min(best[id] for id in ids),
    }


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"


def with_task(prediction: Mapping[str, Any], task: int) -> dict[str, Any]:
    """The prediction as the API takes it."""
    return {"task": task, "model_version": MODEL_VERSION, **prediction}


def prediction_hash(prediction: Mapping[str, Any]) -> str:
    """Return the hash of this score and result, the same for what Label Studio returns."""
    content = {"score": prediction.get("score"), "result": prediction.get("result") or []}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
