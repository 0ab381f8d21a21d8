"""Argilla's records (versions 2 and 1): questions with several responses each.

Three forms are in use: ``records.to_list(flatten=True)`` and ``to_datasets()`` (``question.responses``,
``question.responses.users``, ``question.responses.status``), ``to_list()`` and ``to_json()`` (``responses`` by
question), and version 1's records (``responses`` by user).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from softirr.answers.answer import DRAFT, RawField, RawInput
from softirr.answers.registry import Format, Records, Request, Ways, chosen_fields, tool_input, unread_fields
from softirr.answers.rows import Rows
from softirr.answers.source import refused
from softirr.answers.values import value_text
from softirr.errors import InputError
from softirr.text import is_blank

DISCARDED = "discarded"
_USERS, _STATUS, _VALUES = ".responses.users", ".responses.status", ".responses"
_COUNT = ("submitted", None, "")


def _is_it(record: Mapping[str, Any]) -> bool:
    """Whether a record has responses as Argilla writes them."""
    return (
        any(str(key).endswith(_USERS) for key in record)
        or ("fields" in record and "responses" in record)
        or _is_list_of_users(record.get("responses"))
    )


def _read(records: Records, request: Request) -> RawInput:
    """Return the answers to the chosen questions, or to the only text question and to ratings, labels and rankings.

    Drafts and discarded responses are left out with that reason.
    """
    records_read: list[tuple[str, int, list[tuple[str, Any, Any, str | None]]]] = []
    for line, record in request.checked(records, lambda record: True, "a record of Argilla"):
        location = request.line(line)
        item = next(
            (record[key] for key in ("id", "external_id", "_server_id") if record.get(key) not in (None, "")), None
        )
        with refused(f"{location}: the responses are not as Argilla writes them.", TypeError, AttributeError):
            responses = list(_responses(record, location))
        records_read.append((str(len(records_read) + 1 if item is None else item), line, responses))
    values: dict[str, list[Any]] = {}
    for _, _, responses in records_read:
        for name, _, value, _ in responses:
            values.setdefault(name, []).append(value)
    texts = [
        name for name, values_given in values.items() if all(isinstance(value, str | None) for value in values_given)
    ]
    kinds = {name: kind for name, values_given in values.items() if name not in texts and (kind := _kind(values_given))}
    fields = chosen_fields(request, texts, kinds, "text question")
    unsaid = False
    for item, line, responses in records_read:
        for field in fields.values():
            field.add_item(item)
        for name, user, value, status in responses:
            if name in fields:
                unsaid |= status is None
                answer = _values(value, kinds[name]) if name in kinds else value
                _keep(fields[name], item, user, answer, status, (line, request.line(line)))
    notes = []
    if unsaid:
        notes.append(
            "This export of Argilla does not show which responses were submitted, so drafts and discarded ones count: "
            "export with flatten=True."
        )
    notes += unread_fields(
        {name: len(responses) for name, responses in values.items() if name not in fields}, "questions", request
    )
    return tool_input(request, "argilla", fields, len(records_read), notes)


def _kind(values: Sequence[Any]) -> str | None:
    """The kind of a question by its values, which are not all texts; None for spans and the like."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return "ordinal"
    if not all(isinstance(value, list) for value in present):
        return None
    if any(_is_ranked(entry) for value in present for entry in value):
        return "ranking" if all(_is_ranked(entry) for value in present for entry in value) else None
    if not all(isinstance(entry, str) for value in present for entry in value):
        return None
    orders = {tuple(value) for value in present}
    # the same labels in several orders are a ranking
    return "ranking" if len(orders) > 1 and len({tuple(sorted(order)) for order in orders}) == 1 else "set"


def _is_ranked(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("value"), str) and isinstance(entry.get("rank"), int)


def _values(value: Any, kind: str) -> tuple[str, ...] | None:
    """Return a response that is not a text as the texts that its kind compares."""
    if not isinstance(value, list):
        text = value_text(value)
        return None if text is None else (text,)
    if kind != "ranking":
        return tuple(value) or None
    ranked = sorted(value, key=lambda entry: int(entry["rank"])) if value and _is_ranked(value[0]) else value
    return (
        (" > ".join(entry["value"] if isinstance(entry, Mapping) else entry for entry in ranked),) if ranked else None
    )


def _keep(field: RawField, item: str, user: Any, value: Any, status: str | None, location: tuple[int, str]) -> None:
    if not isinstance(user, str | int) or isinstance(user, bool) or not str(user).strip():
        raise InputError(f"{location[1]}: a response names no user.")
    reason = "" if status in _COUNT else DRAFT if status in ("draft", "pending") else DISCARDED
    blank = value is None or (isinstance(value, str) and is_blank(value))
    texts = (value,) if isinstance(value, str) else value
    field.add(item, str(user), None if blank else texts, location[0], reason)


def _responses(record: Mapping[str, Any], location: str) -> Iterator[tuple[str, Any, Any, str | None]]:
    """Question, user, value and status of each response of a record."""
    nested = record.get("responses")
    if isinstance(nested, Mapping):
        for name, entries in nested.items():
            yield from ((str(name), *_entry(entry, location)) for entry in entries or [])
    elif _is_list_of_users(nested):
        for entry in nested:
            for name, value in (entry["values"] or {}).items():
                inner = value.get("value") if isinstance(value, Mapping) else value
                yield str(name), entry.get("user_id"), inner, entry.get("status")
    for key, value in record.items():
        if (name := str(key).removesuffix(_USERS)) != str(key):
            yield from _in_columns(name, value, record.get(name + _VALUES), record.get(name + _STATUS), location)


def _in_columns(
    name: str, users: Any, values: Any, status: Any, location: str
) -> Iterator[tuple[str, Any, Any, str | None]]:
    users, values = users or [], values or []
    status = status or [None] * len(users)
    if not all(isinstance(column, list) for column in (users, values, status)):
        raise TypeError
    if not len(users) == len(values) == len(status):
        raise InputError(f"{location}: the responses to {name} differ in number from their users.")
    yield from ((name, *column) for column in zip(users, values, status, strict=True))


def _is_list_of_users(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, Mapping) and "values" in entry for entry in value)
    )


def _entry(response: Any, location: str) -> tuple[Any, Any, str | None]:
    if not isinstance(response, Mapping) or "user_id" not in response or "value" not in response:
        raise InputError(f"{location}: a response has no user_id or no value.")
    return response["user_id"], response["value"], response.get("status")


def _is_table(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return bool(first) and not request.names_columns and _is_it(first[0])


def _read_table(table: Rows, request: Request) -> RawInput:
    return _read(table.records(), request)


FORMATS = (Format("argilla", records=Ways(_is_it, _read), table=Ways(_is_table, _read_table)),)
