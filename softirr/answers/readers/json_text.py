"""JSON: a list of objects, one object, or JSON lines.

Values are read one after the other: a large file takes no more memory than its largest value. The first object decides
which tool wrote it; else objects are rows of a table. JSON lines of softirr
(``{"item": ..., "rater": ..., "texts": [...]}``) distinguish missing from empty answers.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from softirr.answers.answer import TAKEN_BACK, RawField, RawInput
from softirr.answers.registry import Format, Request, Ways, tool_input
from softirr.answers.rows import Records, Rows, identifier
from softirr.answers.source import Source, first_line
from softirr.errors import InputError
from softirr.text import shown

_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR = 16
_IN_MEMORY = 4 << 20
"""Rows of a table of JSON objects take up to 4 MiB of memory.

More are kept in a temporary file until all keys are known.
"""
_KEYS = {"item", "rater", "texts"}


class RepeatedKey(ValueError):
    """An object of a JSON text has the same key twice, so that one of the two values would be lost."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, for ``object_pairs_hook`` of the json module."""
    value = dict(pairs)
    if len(value) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKey(shown(next(key for key, n in counts.items() if n > 1)))
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _is_json(source: Source) -> bool:
    return source.check_text().lstrip().startswith(("[", "{"))


def _read(source: Source, request: Request) -> Records:
    """Records of a list or of lines, or one object over several lines."""
    start = source.check_text().lstrip()
    if start.startswith("["):
        return _List(source, "a task" if '"annotations"' in start else "an entry").values()
    if not start.startswith("{"):
        raise InputError(f"{source.name} is no JSON, so it can't be read as {request.options.format}.")
    line = first_line(start)
    if line.strip() != "{" and (_parsed(line) is not None or not source.is_short or _parsed(start) is None):
        return _line_values(source)
    value = _parsed("".join(source.text()))
    if value is None:
        raise InputError(f"{source.name} is not valid JSON.")
    return iter([(1, value)])


def _parsed(text: str) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


class _List:
    """A window on the text of a JSON list that moves on with each value.

    Parameters
    ----------
    entry : str
        Name of an entry, for messages.
    """

    def __init__(self, source: Source, entry: str) -> None:
        self._name, self._entry = source.name, entry
        self._pieces = source.text()
        self._text = ""
        self._place = 0
        self._line, self._counted = 1, 0
        self._whole = False

    def values(self) -> Records:
        """Yield line and value of each entry.

        Raises
        ------
        InputError
            If it is not valid JSON, or an object has a key twice; the message names the line.
        """
        number = 0
        try:
            mark = self._next()  # the opening bracket
            while mark in ("[", ","):
                self._place += 1
                if self._next() == "]" and mark == "[":
                    break
                number += 1
                line = self._line_at(self._place)
                yield line, self._value()
                mark = self._next()
                if mark not in ("]", ","):
                    raise json.JSONDecodeError(f"Expecting ',' or ']' after {self._entry}", self._text, self._place)
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
            location = f"{self._name}, line {self._line_at(self._place)}"
            entry = self._entry.partition(" ")[2]
            raise InputError(f"{location}: {entry} number {number} has the key {error} twice.") from None
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

    def _value(self) -> Any:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
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


def _line_values(source: Source) -> Records:
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
            yield number, _DECODER.decode(line)
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
    return Rows(
        name,
        format,
        tuple(columns),
        _kept_rows(rows, columns),
        "line",
        blank="null missing",
        reader_options=("encoding",),
    )


def _kept_rows(rows: IO[str], columns: Iterable[str]) -> Iterator[tuple[int, list[Any]]]:
    """Line and cells of each row, and None for the keys that it does not have."""
    with rows:
        for row in rows:
            line, cells = json.loads(row)
            yield line, [cells.get(column) for column in columns]


def _read_answers(records: Records, request: Request) -> RawInput:
    """The answers of the lines; a later line replaces an earlier one, and texts that are null are a missing answer."""
    texts_field = RawField("texts")
    n = 0
    extra_keys: set[str] = set()
    for line, row in request.checked(
        records, lambda record: record.keys() >= _KEYS, '{"item": ..., "rater": ..., "texts": [...]}'
    ):
        n += 1
        location = request.line(line)
        names = []
        for key in ("item", "rater"):
            name = row[key]
            if isinstance(name, bool) or not isinstance(name, int | str) or not str(name).strip():
                raise InputError(f"{location}: {key} is neither a name nor a number.")
            names.append(identifier(location, key, str(name)))
        extra_keys |= row.keys() - _KEYS
        request.add_weight(location, names[0], row)
        texts = row["texts"]
        if texts is None:  # asked, but no answer: the item exists, the answer is missing
            texts_field.add(names[0], names[1], None, line, TAKEN_BACK)
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{location}: texts is not a list of strings.")
        else:
            texts_field.add(names[0], names[1], tuple(texts) or None, line)
    request.require_weights(request.name, extra_keys)
    return tool_input(request, "jsonl", {"texts": texts_field}, n)


FORMATS = (
    Format("json", file=Ways(_is_json, _read), is_general=True),
    Format("jsonl", file=Ways(_is_json, _read), is_general=True),
    Format("answers", records=Ways(lambda record: "texts" in record, _read_answers)),
)
