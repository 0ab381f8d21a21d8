"""Argilla's records (versions 2 and 1): questions with several responses each.

Three forms are in use: ``records.to_list(flatten=True)`` and ``to_datasets()`` (``question.responses``,
``question.responses.users``, ``question.responses.status``), ``to_list()`` and ``to_json()`` (``responses`` by
question), and version 1's records (``responses`` by user).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from softirr.answers.answer import DRAFT, RawInput
from softirr.answers.registry import Format, Request, Ways, chosen_fields, tool_input, unread_fields
from softirr.answers.rows import Records, value_text
from softirr.answers.source import refused
from softirr.errors import InputError
from softirr.text import is_blank

DISCARDED = "discarded"
_USERS, _STATUS, _VALUES = ".responses.users", ".responses.status", ".responses"
_COUNT = ("submitted", None, "")
_UNSAID = (
    "This export of Argilla does not show which responses were submitted, so drafts and discarded ones count: export "
    "with flatten=True."
)


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
    values: dict[str, list[Any]] = {}
    for line, record in request.checked(records, lambda record: True, "a record of Argilla"):
        location = request.line(line)
        ids = (record.get(key) for key in ("id", "external_id", "_server_id"))
        item = next((id for id in ids if id not in (None, "")), None)
        with refused(f"{location}: the responses are not as Argilla writes them.", TypeError, AttributeError):
            responses = list(_responses(record, location))
        records_read.append((str(len(records_read) + 1 if item is None else item), line, responses))
        for name, _, value, _ in responses:
            values.setdefault(name, []).append(value)
    texts = [name for name, responses in values.items() if all(isinstance(value, str | None) for value in responses)]
    kinds = {name: kind for name, responses in values.items() if name not in texts and (kind := _kind(responses))}
    fields = chosen_fields(request, texts, kinds, "text question")
    unsaid = False
    for item, line, responses in records_read:
        for field in fields.values():
            field.add_item(item)
        for name, user, value, status in responses:
            if name in fields:
                unsaid |= status is None
                if not isinstance(user, str | int) or isinstance(user, bool) or not str(user).strip():
                    raise InputError(f"{request.line(line)}: a response names no user.")
                reason = "" if status in _COUNT else DRAFT if status in ("draft", "pending") else DISCARDED
                fields[name].add(item, str(user), _texts(value, kinds.get(name)), line, reason)
    unread = {name: len(responses) for name, responses in values.items() if name not in fields}
    notes = [*([_UNSAID] if unsaid else []), *unread_fields(unread, "questions", request)]
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


def _texts(value: Any, kind: str | None) -> tuple[str, ...] | None:
    """Return a response as the texts that its kind compares."""
    if not isinstance(value, list):
        text = value if isinstance(value, str) else value_text(value)
        return None if text is None or is_blank(text) else (text,)
    if kind != "ranking" or not value:
        return tuple(value) or None
    ranked = sorted(value, key=lambda entry: int(entry["rank"])) if _is_ranked(value[0]) else value
    return (" > ".join(entry["value"] if isinstance(entry, Mapping) else entry for entry in ranked),)


def _responses(record: Mapping[str, Any], location: str) -> Iterator[tuple[str, Any, Any, str | None]]:
    """Question, user, value and status of each response of a record."""
    nested = record.get("responses")
    if isinstance(nested, Mapping):
        for name, entries in nested.items():
            for entry in entries or []:
                if not isinstance(entry, Mapping) or "user_id" not in entry or "value" not in entry:
                    raise InputError(f"{location}: a response has no user_id or no value.")
                yield str(name), entry["user_id"], entry["value"], entry.get("status")
    elif _is_list_of_users(nested):
        for entry in nested:
            for name, value in (entry["values"] or {}).items():
                inner = value.get("value") if isinstance(value, Mapping) else value
                yield str(name), entry.get("user_id"), inner, entry.get("status")
    for key, value in record.items():
        if (name := str(key).removesuffix(_USERS)) != str(key):
            users, values = value or [], record.get(name + _VALUES) or []
            status = record.get(name + _STATUS) or [None] * len(users)
            if not all(isinstance(column, list) for column in (users, values, status)):
                raise TypeError
            if not len(users) == len(values) == len(status):
                raise InputError(f"{location}: the responses to {name} differ in number from their users.")
            yield from ((name, *column) for column in zip(users, values, status, strict=True))


def _is_list_of_users(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    return (
        isinstance(value, list)
        and value != []
        and all(isinstance(user, Mapping) and "values" in user for user in value)
    )


FORMATS = (
    Format(
        "argilla",
        records=Ways(_is_it, _read),
        table=Ways(
            lambda columns, first, request: bool(first) and not request.names_columns and _is_it(first[0]),
            lambda table, request: _read(table.records(), request),
        ),
    ),
)
