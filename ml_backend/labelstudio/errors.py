"""What can go wrong with the server, in words; no message ever holds a token or an annotation's text."""

from softirr.errors import SoftirrError


class LabelStudioError(SoftirrError):
    """Label Studio did not do what it was asked; `status` is the HTTP status, or None if there was no reply."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class Unreachable(LabelStudioError):
    """There was no usable reply after several tries: the server is down, too slow, or answers with errors."""


class WriteUnknown(Unreachable):
    """A write was sent and no reply came: it may have been carried out or not."""


class Unauthorized(LabelStudioError):
    """The token was refused."""


class NotFound(LabelStudioError):
    """There is no such project, task or prediction, or the token's user may not see it."""
