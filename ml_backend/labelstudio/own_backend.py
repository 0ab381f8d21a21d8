"""Check that the backend at an address has the same store and Label Studio as this command.

Otherwise printed links do not work there.
"""

from __future__ import annotations

from typing import Literal

import httpx

from ml_backend.auth.keys import Keys
from ml_backend.settings import Settings
from softirr.errors import InputError

Answer = Literal["ours", "other state", "other label studio", "away"]

OTHER_STATE = (
    "The backend at {url} keeps its state in another place than this command, so it does not know this project, and "
    "links made here do not open there."
)
OTHER_STATE_FIX = (
    "Run this command with the same SOFTIRR_DATA (or SOFTIRR_DATABASE_URL) as softirr-ls serve; here it is {place}."
)
OTHER_LABEL_STUDIO = (
    "The backend at {url} was started with another LABEL_STUDIO_URL than {here}, so it does not know this project, and "
    "links made here do not open there."
)
OTHER_LABEL_STUDIO_FIX = (
    "Use one LABEL_STUDIO_URL for softirr-ls serve and for this command, letter by letter (localhost is not 127.0.0.1)."
)


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
        return OTHER_STATE.format(url=url), OTHER_STATE_FIX.format(place=location)
    if answer == "other label studio":
        return OTHER_LABEL_STUDIO.format(url=url, here=settings.label_studio_url), OTHER_LABEL_STUDIO_FIX
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
