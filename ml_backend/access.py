"""Who may see what: unguessable keys per project, and which pages may ask for our data.

Label Studio's connection carries a secret of its own for each project, which opens the ML backend protocol for that project and nothing
else. A key is an HMAC over the project, the door it opens and the project's generation; raising the generation makes every key given out
before worthless. The panel's key stands in the label config, which every annotator of the project can read, so it opens the panel only;
the report's key opens everything.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from itsdangerous import BadData, URLSafeSerializer

from ml_backend.settings import origin

Door = Literal["panel", "report", "connection"]
_OPENS: dict[Door, tuple[Door, ...]] = {
    "panel": ("panel", "report"),
    "report": ("report",),
    "connection": ("connection",),
}
CONNECTION_USER = "softirr"  # user of the basic auth with which Label Studio calls us
_CONTEXT = b"softirr access key 1"
KEY_LENGTH = 32
Role = Literal["annotator", "reviewer", "lead", "operator"]
ROLES: tuple[Role, ...] = ("annotator", "reviewer", "lead", "operator")  # each may do what those before it may


@dataclass(frozen=True)
class Person:
    """Somebody at a browser.

    Attributes
    ----------
    user : str
        Their id in Label Studio; empty for whoever holds the report's address.
    name : str
    role : str
    known_by : str
        ``session`` (Label Studio's login), ``link`` (a personal link), or empty: then nothing shows who it is.
    """

    user: str
    name: str
    role: Role
    known_by: str

    def at_least(self, role: Role) -> bool:
        """Whether the person has this role or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


class PersonalLinks:
    """Signs links that say who somebody is: for where Label Studio's login does not reach this backend.

    Parameters
    ----------
    secret : bytes
        As for `Keys`.
    """

    def __init__(self, secret: bytes):
        signer = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeSerializer(secret, salt="softirr personal link 1", signer_kwargs=signer)

    def make(self, person: Person, project: int, *, generation: int, until: float) -> str:
        """The link's token; it ends at `until`, or with the project's generation of keys."""
        who = {"user": person.user, "name": person.name, "role": person.role}
        return str(self._serializer.dumps({**who, "project": project, "generation": generation, "until": int(until)}))

    def seconds_left(self, token: str, now: float) -> float:
        """For how long a token that `read` took goes on."""
        return float(self._serializer.loads(token)["until"]) - now

    def read(self, token: str | None, project: int, *, generation: int, now: float) -> Person | None:
        """Who a token names, if it is ours, for this project, and not over."""
        try:
            given = self._serializer.loads(token or "")
            good = (given["project"], given["generation"]) == (project, generation) and now < given["until"]
            return Person(given["user"], given["name"], given["role"], "link") if good else None
        except (BadData, KeyError, TypeError):
            return None


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
        candidate = (given or "").encode("utf-8", "replace")
        matches = [
            hmac.compare_digest(candidate, self.key(project, d, generation=generation).encode()) for d in _OPENS[door]
        ]
        return any(matches)

    def password(self, project: int, *, generation: int = 0) -> str:
        """With which Label Studio's connection of the project calls us; it names the project, and opens that one only."""
        return f"{project}.{self.key(project, 'connection', generation=generation)}"

    def is_password(self, given: str, project: int, *, generation: int = 0) -> bool:
        """Whether this is the password of the project's connection; takes the same time for every wrong one."""
        right = self.password(project, generation=generation)
        return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())

    @staticmethod
    def project_of_password(given: str) -> int | None:
        """The project that a password is meant for."""
        number = given.partition(".")[0]
        return int(number) if number.isascii() and number.isdigit() and len(number) <= 10 else None


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
