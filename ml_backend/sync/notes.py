"""What people have to know about the result of a run."""

from dataclasses import dataclass

__all__ = ["Note"]


@dataclass(frozen=True)
class Note:
    """A sentence that says what is the case, and one that says what to do."""

    what: str
    fix: str
