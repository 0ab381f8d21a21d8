"""Errors of the Label Studio client; no message contains a token or an annotation's text."""

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
