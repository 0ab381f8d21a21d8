"""Errors of the Label Studio client, and the checks of replies that raise them.

No message contains a token or an annotation's text.
"""

from typing import Any
from urllib.parse import urlsplit

import httpx

from softirr.errors import SoftirrError


class LabelStudioError(SoftirrError):
    """A request to Label Studio failed; `status` is the HTTP status, or None without a reply."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class Unreachable(LabelStudioError):
    """All tries failed to get a usable reply: the server is down, too slow, or answers with errors."""


class WriteUnknown(Unreachable):
    """A write was sent without a reply, so its outcome is unknown."""


class Unauthorized(LabelStudioError):
    """The token was refused."""


class NotFound(LabelStudioError):
    """The project, task or prediction does not exist, or the token's user may not see it."""


def json_object(reply: Any, what: str) -> dict[str, Any]:
    """The reply, which has to be a JSON object."""
    if not isinstance(reply, dict):
        raise unexpected_reply(what, "it is not an object")
    return reply


def json_objects(reply: Any, what: str) -> list[dict[str, Any]]:
    """The reply, which has to be a list of JSON objects with an id."""
    if not isinstance(reply, list):
        raise unexpected_reply(what, "it is not a list")
    if not all(isinstance(entry, dict) and isinstance(entry.get("id"), int) for entry in reply):
        raise unexpected_reply(what, "an entry has no id")
    return reply


def unexpected_reply(what: str, why: str) -> LabelStudioError:
    """The error for a reply that Label Studio does not give."""
    return LabelStudioError(
        f"The reply about {what} is not what Label Studio answers ({why}): is LABEL_STUDIO_URL a Label Studio of "
        "release 1.20 or later?"
    )


def reply_json(response: httpx.Response, what: str) -> Any:
    """The reply's JSON; None if it is empty."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        host = urlsplit(str(response.url)).netloc
        raise LabelStudioError(f"{what}: {host} answered, but not as Label Studio does (no JSON).") from None


def refusal(status: int, method: str, path: str, response: httpx.Response) -> LabelStudioError:
    """The error for a reply with a status of 400 to 499."""
    detail = _detail(response)
    if status == 401:
        if "legacy token" in detail.lower():
            return Unauthorized(
                "Legacy tokens are disabled for this Label Studio organization: use a personal access token, or enable "
                "legacy tokens under Organization > Access token settings.",
                401,
            )
        return Unauthorized(
            "Label Studio refused the token: it is wrong, was revoked, or belongs to another server.", 401
        )
    if status == 404:
        return NotFound(f"Label Studio has nothing at {path}.", 404)
    return LabelStudioError(
        f"Label Studio refused {method} {path} with status {status}: {detail or 'no reason given'}", status
    )


def _detail(response: httpx.Response) -> str:
    """The server's reason for an error.

    Replies to rejected predictions quote their texts, so only short, known fields are used.
    """
    try:
        body = response.json()
    except ValueError:
        return ""
    detail = body.get("detail") if isinstance(body, dict) else None
    return detail[:200] if isinstance(detail, str) else ""
