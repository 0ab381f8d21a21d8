"""Notes for people about the result of a run."""

from dataclasses import dataclass

__all__ = ["Note"]


@dataclass(frozen=True)
class Note:
    """A sentence about a problem, and one that says what to do."""

    what: str
    fix: str
