"""What a person does in Label Studio through this backend: with their own session, so that Label Studio itself says who did it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.errors import LabelStudioError, Unauthorized, Unreachable

__all__ = ["results_of", "save_draft"]

SECONDS = 20.0


def results_of(controls: Sequence[Control], texts: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The results of an annotation with these suggested texts; their origin keeps it from counting as an independent answer.

    Parameters
    ----------
    controls : sequence of Control
    texts : mapping
        Name of a TextArea -> its texts. A per-region TextArea can't hold a text without its region and is left out.
    """
    return [
        {
            "id": f"softirr-{control.name}",
            "from_name": control.name,
            "to_name": control.to_name,
            "type": "textarea",
            "origin": "prediction",
            "value": {"text": list(texts[control.name])},
        }
        for control in controls
        if not control.per_region and control.name in texts
    ]


def save_draft(
    base: str, *, session: str, csrf: str | None, project: int, task: int, result: Sequence[Mapping[str, Any]]
) -> int:
    """Save a draft of an annotation as the person whose session this is; returns its id.

    Parameters
    ----------
    base : str
        Address of Label Studio.
    session : str
        Value of the person's session cookie.
    csrf : str, optional
        Value of their CSRF cookie; Label Studio only asks that cookie and header agree.

    Raises
    ------
    LabelStudioError
    """
    import httpx

    token = csrf or secrets.token_hex(16)
    headers = {"X-CSRFToken": token, "Referer": f"{base.rstrip('/')}/"}
    cookies = {"sessionid": session, "csrftoken": token}
    try:
        with httpx.Client(base_url=base, cookies=cookies, headers=headers, timeout=SECONDS) as http:
            reply = http.post(
                f"/api/tasks/{task}/drafts", params={"project": project}, json={"result": list(result), "lead_time": 0}
            )
        if reply.status_code in (401, 403):
            raise Unauthorized("Label Studio does not let you annotate this task.", reply.status_code)
        if reply.status_code >= 300:
            raise LabelStudioError(f"Label Studio answered {reply.status_code}.", reply.status_code)
        return int(reply.json()["id"])
    except httpx.HTTPError:
        raise Unreachable("Label Studio can’t be reached.") from None
    except (ValueError, KeyError, TypeError):
        raise LabelStudioError("Label Studio’s answer could not be read.") from None
