"""What requests name: fields, numbers, and the person who acts."""

from collections.abc import Mapping
from typing import Any

from ml_backend.auth.requests import LARGEST_NUMBER, Refused
from ml_backend.auth.routes import current_person
from ml_backend.review.headline import text_fields
from ml_backend.store.store import Row
from ml_backend.web.running import services

LONGEST_NOTE = 2000
NO_SUCH_FIELD = "This project has no such field."
NO_TEXT = "This page is about free texts, and this project has none: its fields are compared exactly."


def acting_name(body: Mapping[str, Any]) -> str:
    """Name of the person, by Label Studio's session or a personal link.

    A lead with the report's address types a name.
    """
    person = current_person()
    person_name = person.name if person is not None else ""
    typed = body.get("who")
    return person_name or (" ".join(typed.split())[:80] if isinstance(typed, str) else "")


def whole_number(value: Any, name: str) -> int:
    """`value` as a positive whole number.

    Raises
    ------
    Refused
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST_NUMBER:
        raise Refused(400, f"{name} is not a positive whole number.")
    return value


def task(project: Row, body: Mapping[str, Any]) -> Row:
    """The task that a request names.

    Raises
    ------
    Refused
        If it names none, or the project has no such task.
    """
    number = whole_number(body.get("task"), "task")
    row = services().store.get_tasks(project["id"], [number]).get(number)
    if row is None:
        raise Refused(404, f"Task {number} is not in this project.")
    return row


def note(body: Mapping[str, Any]) -> str:
    """The note with which a task goes back to its annotators.

    Raises
    ------
    Refused
        If there is none, or it is too long.
    """
    note_text = body.get("note", "")
    if not isinstance(note_text, str) or not note_text.strip() or len(note_text) > LONGEST_NOTE:
        raise Refused(400, f"note is not a text of up to {LONGEST_NOTE} characters: say what the annotators are to do.")
    return note_text.strip()


def fields(project: Row) -> list[str]:
    """The scored fields of a project that are texts.

    Raises
    ------
    Refused
        If it has other fields only, which no measure compares.
    """
    names = text_fields(project)
    if not names and (project["summary"] or {}).get("controls"):
        raise Refused(409, NO_TEXT)
    return names


def field(project: Row, name: Any) -> str | None:
    """The field that a request names; without a name the project's first, or None while nothing is scored.

    Raises
    ------
    Refused
        If the field does not exist.
    """
    names = fields(project)
    return next(iter(names), None) if name is None or not names else known_field(project, name)


def known_field(project: Row, name: Any) -> str:
    """The field that a request has to name.

    Raises
    ------
    Refused
        If the project has no such field: another one's numbers under its name would mislead.
    """
    if not isinstance(name, str) or name not in fields(project):
        raise Refused(404, NO_SUCH_FIELD)
    return name
