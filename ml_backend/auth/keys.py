"""Unguessable keys per project, and personal links.

Each project's connection in Label Studio carries its own secret, which gives access to the ML backend protocol for that
project and nothing else. A key is an HMAC over the project, the scope of the key and the project's generation; raising
the generation invalidates every earlier key. Every annotator can read the panel's key in the label config, so it gives
access to the panel only; the report's key gives access to the panel and the report.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal

from itsdangerous import BadData, URLSafeSerializer

Scope = Literal["panel", "report", "connection"]
_ACCEPTED_SCOPES: dict[Scope, tuple[Scope, ...]] = {
    "panel": ("panel", "report"),
    "report": ("report",),
    "connection": ("connection",),
}
CONNECTION_USER = "softirr"  # user of the basic auth with which Label Studio calls us
_CONTEXT = b"softirr access key 1"
Role = Literal["annotator", "reviewer", "lead", "operator"]
ROLES: tuple[Role, ...] = ("annotator", "reviewer", "lead", "operator")  # each may do what those before it may


@dataclass(frozen=True)
class Person:
    """A person who uses the panel or the report in a browser.

    Attributes
    ----------
    user : str
        Id in Label Studio; empty for a person who came with the report's key.
    known_by : str
        ``session`` (Label Studio's login), ``link`` (a personal link), or empty if the person is not identified.
    """

    user: str
    name: str
    role: Role
    known_by: str

    @property
    def signature(self) -> dict[str, str]:
        """How the store notes who decided, agreed or proposed something."""
        return {"reviewer": self.name, "reviewer_id": self.user, "known_by": self.known_by}

    def at_least(self, role: Role) -> bool:
        """Whether the person has this role or one above it."""
        return ROLES.index(self.role) >= ROLES.index(role)


class PersonalLinks:
    """Signs and reads personal links, which identify a person where Label Studio's login does not reach this backend.

    Parameters
    ----------
    secret : bytes
        As for `Keys`.
    purpose : str
        A token that was made for another purpose is not accepted.
    """

    def __init__(self, secret: bytes, purpose: str = "personal link"):
        signer = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeSerializer(secret, salt=f"softirr {purpose} 1", signer_kwargs=signer)

    def make(self, person: Person, project: int, *, generation: int, until: float) -> str:
        """The link's token; it expires at `until` (Unix time), or when the project's keys are replaced."""
        who = {"user": person.user, "name": person.name, "role": person.role}
        return str(self._serializer.dumps({**who, "project": project, "generation": generation, "until": int(until)}))

    def seconds_left(self, token: str, now: float) -> float:
        """Seconds until a token accepted by `read` expires."""
        return float(self._serializer.loads(token)["until"]) - now

    def read(self, token: str | None, project: int, *, generation: int, now: float) -> Person | None:
        """The person a token identifies, or None if it is forged, expired or made for another project."""
        try:
            claims = self._serializer.loads(token or "")
            is_valid = (claims["project"], claims["generation"]) == (project, generation) and now < claims["until"]
            return Person(claims["user"], claims["name"], claims["role"], "link") if is_valid else None
        except (BadData, KeyError, TypeError):
            return None


@dataclass(frozen=True)
class Keys:
    """Makes and checks access keys.

    Attributes
    ----------
    secret : bytes
        At least 16 random bytes; they suffice to make every key.
    """

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) < 16:
            raise ValueError("The secret for access keys is too short.")

    def __repr__(self) -> str:
        return "Keys(secret=...)"

    def key(self, project: int, scope: Scope, *, generation: int = 0) -> str:
        """Key of a project, limited to one scope: 32 characters that are safe in a URL."""
        message = b"\x00".join([_CONTEXT, scope.encode(), str(int(project)).encode(), str(int(generation)).encode()])
        return urlsafe_b64encode(hmac.digest(self.secret, message, hashlib.sha256)[:24]).decode()

    def marks(self, label_studio: str) -> dict[str, str]:
        """Identifiers of the store and of its Label Studio that distinguish two backends and disclose nothing else."""

        def mark(what: str) -> str:
            return hmac.digest(self.secret, b"softirr mark 1\x00" + what.encode(), hashlib.sha256)[:8].hex()

        return {"store": mark("store"), "label_studio": mark(f"label studio {label_studio}")}

    def opens(self, key: str | None, project: int, scope: Scope, *, generation: int = 0) -> bool:
        """Whether a key is valid for a scope of a project; the report's key is valid for the panel too.

        Takes the same time for every wrong key.
        """
        candidate = (key or "").encode("utf-8", "replace")
        matches = [
            hmac.compare_digest(candidate, self.key(project, d, generation=generation).encode())
            for d in _ACCEPTED_SCOPES[scope]
        ]
        return any(matches)

    def password(self, project: int, *, generation: int = 0) -> str:
        """Password that Label Studio's connection of the project sends.

        It names the project and gives access to that project only.
        """
        return f"{project}.{self.key(project, 'connection', generation=generation)}"

    def is_password(self, password: str, project: int, *, generation: int = 0) -> bool:
        """Whether this is the password of the project's connection; takes the same time for every wrong one."""
        expected = self.password(project, generation=generation)
        return hmac.compare_digest(password.encode("utf-8", "replace"), expected.encode())

    @staticmethod
    def project_of_password(password: str) -> int | None:
        """The project that a password is meant for."""
        number = password.partition(".")[0]
        return int(number) if number.isascii() and number.isdigit() and len(number) <= 10 else None
