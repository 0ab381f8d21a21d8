"""Addresses of this backend: which ones Label Studio accepts, and which backend answers at one.

Links do not work if the backend there has another store or Label Studio than this command.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Literal
from urllib.parse import urlsplit

import httpx

from ml_backend.auth.keys import Keys
from ml_backend.settings import Settings, clean_url
from softirr.errors import InputError

RESERVED = (
    "Label Studio refuses the address {url} because it is private or local: start Label Studio with "
    "ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false, or connect with --pull-only."
)
# What Label Studio's check of webhooks (Django's URLValidator) takes: letters, digits and hyphens between dots, no
# digits after the last.
_HOST = re.compile(r"((?!-)([^\W_]|-)+(?<!-)\.)+(xn--[a-z0-9-]+|(?!-)([^\W\d_]|-){2,}(?<!-))\.?")


def callable_url(url: str) -> str:
    """The address of the backend in a form that Label Studio accepts for a connection and its webhook.

    Raises
    ------
    InputError
        If Label Studio refuses the host name for webhooks. It reports this only after it has registered the connection.
    """
    url = clean_url(url, "--url")
    host = urlsplit(url).hostname or ""
    if host == "localhost" or _is_address(host) or _HOST.fullmatch(host):
        return url
    if "." not in host.rstrip("."):
        raise InputError(
            f"Label Studio takes no webhook for a host name without a dot, so it can't call this backend at {url}. "
            f"Give the host a name with a dot: in Docker Compose a network alias such as {host}.internal, and connect "
            f"with --url {url.replace(host, f'{host}.internal', 1)}."
        )
    raise InputError(
        f"Label Studio takes no webhook for the host name {host}, so it can't call this backend there: a host name may "
        "have letters, digits, hyphens and dots, and no digits after the last dot."
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


Answer = Literal["ours", "other state", "other label studio", "away"]


def look(url: str, settings: Settings, secret: bytes) -> Answer:
    """Identify the backend at `url`. A backend older than this check counts as this one.

    Parameters
    ----------
    url : str
        Address of a backend.
    secret : bytes
        The store's (`Store.secret`).
    """
    auth = (settings.basic_auth_user, settings.basic_auth_pass) if settings.basic_auth_user else None
    try:
        reply = httpx.get(f"{url.rstrip('/')}/health", auth=auth, timeout=5.0)
        health = reply.json()
        if reply.status_code != 200 or health.get("status") != "UP":
            return "away"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return "away"
    marks = Keys(secret).marks(settings.label_studio_url)
    if health.get("store", marks["store"]) != marks["store"]:
        return "other state"
    if health.get("label_studio", marks["label_studio"]) != marks["label_studio"]:
        return "other label studio"
    return "ours"


def problem(answer: Answer, url: str, settings: Settings) -> tuple[str, str] | None:
    """(problem, fix) where another backend answers."""
    if answer == "other state":
        # without user and password of the database's address
        location = str(settings.data) if settings.database_url.startswith("sqlite") else "a database"
        return (
            f"The backend at {url} keeps its state in another place than this command, so it does not know this "
            "project, and links made here do not open there.",
            "Run this command with the same SOFTIRR_DATA (or SOFTIRR_DATABASE_URL) as softirr-ls serve; here it is "
            f"{location}.",
        )
    if answer == "other label studio":
        return (
            f"The backend at {url} was started with another LABEL_STUDIO_URL than {settings.label_studio_url}, so it "
            "does not know this project, and links made here do not open there.",
            "Use one LABEL_STUDIO_URL for softirr-ls serve and for this command, letter by letter (localhost is not "
            "127.0.0.1).",
        )
    return None


def check_own_backend(url: str | None, settings: Settings, secret: bytes) -> None:
    """Raise an InputError for a backend that would not know the project.

    One that can't be reached from here is accepted.

    Raises
    ------
    InputError
        With what to do.
    """
    if url is None:
        return
    fault = problem(look(url, settings, secret), url, settings)
    if fault is not None:
        raise InputError(" ".join(fault))
