"""The result of a check of ``softirr-ls doctor``."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """The result of one check; `fix` is empty if nothing needs to be done."""

    ok: bool
    what: str
    fix: str = ""

    def __post_init__(self) -> None:
        if not (self.ok or self.fix):
            raise ValueError(f"A finding without the next step: {self.what}")

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"ok": self.ok, "what": self.what, "fix": self.fix}


def right(what: str) -> Finding:
    """The finding of a check that went well."""
    return Finding(True, what)


def wrong(what: str, fix: str) -> Finding:
    """The finding of a check that shows a problem."""
    return Finding(False, what, fix)
