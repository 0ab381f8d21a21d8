"""Who may see what: unguessable keys per project, and which pages may ask for our data.

A key is an HMAC over the project, the door it opens and the project's generation; raising the generation makes every key given out
before worthless. The panel's key stands in the label config, which every annotator of the project can read, so it opens the panel only;
the report's key opens everything.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from ml_backend.settings import origin

Door = Literal["panel", "report"]
DOORS: tuple[Door, ...] = ("panel", "report")
_CONTEXT = b"softirr access key 1"
KEY_LENGTH = 32


@dataclass(frozen=True)
class Keys:
    """Makes and checks access keys.

    Attributes
    ----------
    secret : bytes
        At least 16 random bytes; whoever knows them can make every key.
    """

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) < 16:
            raise ValueError("The secret for access keys is too short.")

    def __repr__(self) -> str:
        return "Keys(secret=...)"

    def key(self, project: int, door: Door, *, generation: int = 0) -> str:
        """Key of one door of a project: 32 characters that are safe in an address."""
        message = b"\x00".join([_CONTEXT, door.encode(), str(int(project)).encode(), str(int(generation)).encode()])
        return urlsafe_b64encode(hmac.digest(self.secret, message, hashlib.sha256)[:24]).decode()

    def marks(self, label_studio: str) -> dict[str, str]:
        """What tells two backends apart without telling anything else: marks of the store, and of the Label Studio it is about."""

        def mark(what: str) -> str:
            return hmac.digest(self.secret, b"softirr mark 1\x00" + what.encode(), hashlib.sha256)[:8].hex()

        return {"store": mark("store"), "label_studio": mark(f"label studio {label_studio}")}

    def opens(self, given: str | None, project: int, door: Door, *, generation: int = 0) -> bool:
        """Whether a key opens a door of a project; the report's key opens the panel too. Takes the same time for every wrong key."""
        doors = DOORS if door == "panel" else ("report",)
        candidate = (given or "").encode("utf-8", "replace")
        matches = [hmac.compare_digest(candidate, self.key(project, d, generation=generation).encode()) for d in doors]
        return any(matches)


def embedding_allowed(referer: str | None, *, own: str, label_studio: Collection[str]) -> bool:
    """Whether a page at `referer` may embed the panel or ask for data.

    An absent referer (a direct visit, a command line, a browser that sends none) is no proof of anything, so the key alone decides;
    a referer of a foreign site is refused even with the right key.
    """
    if not referer:
        return True
    source = origin(referer)
    return bool(source) and (source == origin(own) or source in {origin(place) for place in label_studio})


def panel_policy(label_studio: Collection[str]) -> str:
    """Content-Security-Policy of the panel: our own files only, in frames of Label Studio only."""
    return _policy("'self' " + " ".join(sorted(filter(None, (origin(place) for place in label_studio)))))


def page_policy() -> str:
    """Content-Security-Policy of the report and audit pages: our own files only, in no frame."""
    return _policy("'none'")


def _policy(ancestors: str) -> str:
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
        f"form-action 'self'; base-uri 'none'; frame-ancestors {ancestors.strip()}"
    )
