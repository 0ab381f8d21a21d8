"""What a person does in Label Studio through this backend, with their own session, so that it is theirs."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.errors import LabelStudioError, Unauthorized, Unreachable

if TYPE_CHECKING:
    import httpx

__all__ = ["OwnSession", "region_results", "results_of"]

SECONDS = 20.0
OURS = "softirr-"
"""Start of the ids of the results in a draft that this backend made."""


def results_of(controls: Sequence[Control], texts: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The results of an annotation with suggested texts; by their origin it is no independent answer.

    Parameters
    ----------
    controls : sequence of Control
    texts : mapping
        Name of a TextArea -> its texts. A per-region TextArea needs `region_results`.
    """
    return [
        {
            "id": f"{OURS}{control.name}",
            "from_name": control.name,
            "to_name": control.to_name,
            "type": "textarea",
            "origin": "prediction",
            "value": {"text": list(texts[control.name])},
        }
        for control in controls
        if not control.per_region and control.name in texts
    ]


def region_results(
    control: str, wanted: Sequence[tuple[Mapping[str, Any], Sequence[str]]], annotations: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Copies of annotators' regions with the suggested texts.

    Parameters
    ----------
    control : str
        A per-region TextArea.
    wanted : sequence of (mapping, sequence of str)
        Rows of `regions.region_rows`, and the texts that the region is to have.
    annotations : sequence of mapping
        The task's annotations as Label Studio has them now.

    Raises
    ------
    LabelStudioError
        If a region is gone.
    """
    by_id = {one.get("id"): one.get("result") or [] for one in annotations}
    results = []
    for number, (row, texts) in enumerate(wanted, start=1):
        parts = [one for one in by_id.get(row["annotation"], ()) if one.get("id") == row["region"]]
        own = [one for one in parts if one.get("type") != "textarea" or one.get("from_name") == control]
        if not any(one.get("from_name") == control for one in own):
            raise LabelStudioError("A region of the suggestion has changed in Label Studio: look at the task again.")
        for one in own:
            value = {**one["value"], "text": list(texts)} if one.get("from_name") == control else one["value"]
            results.append({**one, "id": f"{OURS}{control}-{number}", "origin": "prediction", "value": value})
    return results


class OwnSession:
    """Label Studio as the person whose session this is.

    Parameters
    ----------
    base : str
        Address of Label Studio.
    session : str
        Value of the person's session cookie.
    csrf : str, optional
        Value of their CSRF cookie; Label Studio only asks that cookie and header agree.
    """

    def __init__(self, base: str, *, session: str, csrf: str | None):
        token = csrf or secrets.token_hex(16)
        self._options: dict[str, Any] = {
            "base_url": base,
            "cookies": {"sessionid": session, "csrftoken": token},
            "headers": {"X-CSRFToken": token, "Referer": f"{base.rstrip('/')}/"},
            "timeout": SECONDS,
        }

    def annotations(self, task: int) -> list[dict[str, Any]]:
        """The annotations of a task.

        Raises
        ------
        LabelStudioError
        """
        with self._asking() as http:
            return list(_body(http.get(f"/api/tasks/{task}/annotations/")))

    def taken_draft(self, task: int) -> int | None:
        """Id of the person's draft on a task that was made from the suggestion and is not submitted; None without one.

        Raises
        ------
        LabelStudioError
        """
        with self._asking() as http:
            for one in _body(http.get(f"/api/tasks/{task}/drafts")):
                results = one.get("result") or []
                if not one.get("annotation") and any(str(part.get("id")).startswith(OURS) for part in results):
                    return int(one["id"])
        return None

    def save_draft(self, project: int, task: int, result: Sequence[Mapping[str, Any]]) -> int:
        """Save a draft of an annotation; returns its id.

        Raises
        ------
        LabelStudioError
        """
        sent = {"result": list(result), "lead_time": 0}
        with self._asking() as http:
            reply = http.post(f"/api/tasks/{task}/drafts", params={"project": project}, json=sent)
            return int(_body(reply)["id"])

    @contextlib.contextmanager
    def _asking(self) -> Iterator[httpx.Client]:
        import httpx

        try:
            with httpx.Client(**self._options) as http:
                yield http
        except httpx.HTTPError:
            raise Unreachable("Label Studio can’t be reached.") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise LabelStudioError("Label Studio’s answer could not be read.") from None


def _body(reply: httpx.Response) -> Any:
    if reply.status_code in (401, 403):
        raise Unauthorized("Label Studio does not let you annotate this task.", reply.status_code)
    if reply.status_code >= 300:
        raise LabelStudioError(f"Label Studio answered {reply.status_code}.", reply.status_code)
    return reply.json()
