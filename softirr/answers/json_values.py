"""Values of JSON lists and JSON lines, read one after the other.

A large file takes no more memory than its largest value.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from softirr.answers.rows import Rows
from softirr.answers.source import Source
from softirr.errors import InputError
from softirr.text import shown

_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR = 16
_IN_MEMORY = 4 << 20
"""Rows of a table of JSON objects take up to 4 MiB of memory.

More are kept in a temporary file until all keys are known.
"""


class RepeatedKey(ValueError):
    """An object of a JSON text has the same key twice, so that one of the two values would be lost."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, for ``object_pairs_hook`` of the json module."""
    value = dict(pairs)
    if len(value) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKey(shown(next(key for key, n in counts.items() if n > 1)))
    return value


def list_values(source: Source, what: str = "entry") -> Iterator[tuple[int, Any]]:
    """Line and value of each entry of a JSON list.

    Parameters
    ----------
    source : Source
        Its text begins with an opening bracket.
    what : str
        Name of an entry, for messages.

    Raises
    ------
    InputError
        If it is not valid JSON, or an object has a key twice; the message names the line.
    """
    return _List(source, what).values()


class _List:
    """A window on the text that moves on with each value."""

    def __init__(self, source: Source, what: str) -> None:
        self._name, self._what = source.name, what
        self._pieces = source.text()
        self._text = ""
        self._place = 0
        self._line, self._counted = 1, 0
        self._whole = False

    def values(self) -> Iterator[tuple[int, Any]]:
        decoder = json.JSONDecoder(object_pairs_hook=_unique_keys)
        number = 0
        try:
            self._next()
            self._place += 1  # behind the opening bracket
            mark = "]" if self._next() == "]" else ","
            self._place += mark == "]"
            while mark == ",":
                self._next()
                number += 1
                line = self._line_at(self._place)
                yield line, self._value(decoder)
                mark = self._next()
                if mark not in ("]", ","):
                    entry = f"an {self._what}" if self._what[0] in "aeiou" else f"a {self._what}"
                    raise json.JSONDecodeError(f"Expecting ',' or ']' after {entry}", self._text, self._place)
                self._place += 1
            if self._next():
                raise json.JSONDecodeError("Extra data", self._text, self._place)
        except json.JSONDecodeError as error:
            line = self._line_at(error.pos)
            raise InputError(f"{self._name} is not valid JSON: {error.msg} on line {line}.") from None
        except RecursionError:
            raise InputError(f"{self._name} is not valid JSON: it is nested too deeply.") from None
        except InputError:
            raise
        except RepeatedKey as error:
            raise InputError(
                f"{self._name}, line {self._line_at(self._place)}: {self._what} number {number} has the key {error} "
                "twice."
            ) from None
        except ValueError:
            raise InputError(f"{self._name} is not valid JSON: it has an impossible number.") from None

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _next(self) -> str:
        """Return the next character except white space; empty at the end."""
        while True:
            if space := _SPACE.match(self._text, self._place):
                self._place = space.end()
            if self._place < len(self._text) or not self._read():
                return self._text[self._place : self._place + 1]

    def _read(self, min_length: int = 0) -> bool:
        """Drop what is done and read on, by `min_length` characters at least; whether anything came."""
        self._line_at(self._place)
        pieces, n = [self._text[self._place :]], 0
        self._place = self._counted = 0
        while n <= min_length and not self._whole:
            pieces.append(next(self._pieces, ""))
            n += len(pieces[-1])
            self._whole = not pieces[-1]
        self._text = "".join(pieces)
        return n > 0

    def _value(self, decoder: json.JSONDecoder) -> Any:
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - _NEAR or error.msg.startswith("Unterminated string")
                if self._whole or not cut:
                    raise
            else:
                if end < len(self._text) or self._whole:  # a number may go on in the next piece
                    self._place = end
                    return value
            # twice as much each time: a value of many pieces is not read over and over again
            self._read(len(self._text) - self._place)


def line_values(source: Source) -> Iterator[tuple[int, Any]]:
    """Line and value of each line of JSONL that is not blank.

    Raises
    ------
    InputError
        If a line is not valid JSON, or an object has a key twice.
    """
    for number, line in enumerate(source.lines(), start=1):
        if not line.strip():
            continue
        position = f"{source.name}, line {number}"
        try:
            yield number, json.loads(line, object_pairs_hook=_unique_keys)
        except RepeatedKey as error:
            raise InputError(f"{position}: the key {error} is repeated.") from None
        except (ValueError, RecursionError):
            raise InputError(f"{position}: not valid JSON.") from None


def flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object without objects in it: inner keys follow a dot, and places in a list of objects count from 0.

    Examples
    --------
    >>> flat({"id": 1, "response": {"model": "m", "choices": [{"text": "fever"}]}})
    {'id': 1, 'response.model': 'm', 'response.choices.0.text': 'fever'}
    """
    keys: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, list) and inner and all(isinstance(entry, Mapping) for entry in inner):
            inner = {str(number): entry for number, entry in enumerate(inner)}
        if isinstance(inner, Mapping):
            keys |= {f"{key}.{below}": entry for below, entry in flat(inner).items()}
        else:
            keys[str(key)] = inner
    return keys


def json_rows(name: str, values: Iterator[tuple[int, Any]], format: str) -> Rows:
    """Objects as the rows of a table; its columns are the keys of all of them.

    Parameters
    ----------
    name : str
        Name of the input, for messages.
    values : iterable of (int, object)
        Line and content of each entry.
    format : str
        Such as ``jsonl``.

    Raises
    ------
    InputError
        If an entry is not an object, or a large input does not fit the folder of temporary files.
    """
    columns: dict[str, None] = {}
    try:
        rows = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed when it is read
            max_size=_IN_MEMORY, mode="w+", encoding="utf-8"
        )
        for number, (line, value) in enumerate(values, start=1):
            if not isinstance(value, Mapping) or not value:
                raise InputError(f"{name}, line {line}: entry {number} is no object with the names of columns.")
            cells = flat(value)
            columns |= dict.fromkeys(cells)
            rows.write(json.dumps([line, cells]) + "\n")
        rows.seek(0)
    except OSError as error:
        raise InputError(
            f"{name} can't be read: the folder of temporary files ({tempfile.gettempdir()}) is full or not writable "
            f"({error.strerror})."
        ) from None
    return Rows(name, format, tuple(columns), _kept_rows(rows, columns), unit="line", blank="null missing")


def _kept_rows(rows: IO[str], columns: Iterable[str]) -> Iterator[tuple[int, list[Any]]]:
    """Line and cells of each row, and None for the keys that it does not have."""
    with rows:
        for row in rows:
            line, cells = json.loads(row)
            yield line, [cells.get(column) for column in columns]
