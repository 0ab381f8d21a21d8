"""What can go wrong, in words that a person reads."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["InputError", "MissingFileError", "SoftirrError", "option", "with_parameters", "writing"]

_NAMES = {"model-raters": "predictions_as_raters", "rater-column": "rater"} | {
    name: name
    for name in (
        *(
            "control",
            "empty",
            "encoding",
            "fields",
            "format",
            "header",
            "item",
            "items",
            "missing",
            "policy",
            "rater",
            "raters",
        ),
        *("repeats", "sheet", "split", "terminology", "text", "weight"),
    )
}
_VALUES = {
    "empty": "none|missing",
    "header": "none",
    "missing": r"\S*[^\s.,]",
    "repeats": "set|first|last|refuse",
    "sheet": "'[^']*'",
}
_WORD = r"(?:'[^']*'|(?!and\b|or\b)[^\s,('-][^\s,(']*(?:,[^\s,(']+)*)"
_CALL = re.compile(rf"--[a-z-]+ {_WORD}(?: --[a-z-]+ {_WORD})+")
"""Several options with their values, as in a suggestion."""
_VALUE = re.compile("|".join(f"--({name}) ({value})(?![\\w-])" for name, value in _VALUES.items()))
_OPTION = re.compile(rf"--({'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![\w-])")


def with_parameters(message: str) -> str:
    """A message of the command line for those who call Python: options become parameters.

    Shown commands stay as they are.

    Examples
    --------
    >>> with_parameters("Name the columns with --item and --rater, or say --empty none.")
    'Name the columns with item= and rater=, or say empty="none".'
    >>> with_parameters("Use --item id --raters 'nurse 1,nurse_2'.")
    'Use item="id", raters=["nurse 1", "nurse_2"].'
    >>> with_parameters("Use --item id --raters ann,ben.")
    'Use item="id", raters=["ann", "ben"].'
    """
    if "softirr " in message:
        return message
    if message.endswith("."):  # the end of the sentence is no part of a value
        return f"{with_parameters(message[:-1])}."
    message = _CALL.sub(lambda call: ", ".join(_arguments(call[0])), message)
    message = _VALUE.sub(lambda option: ", ".join(_arguments(option[0])), message)
    return _OPTION.sub(lambda option: f"{_NAMES[option[1]]}=", message)


def _arguments(options: str) -> Iterator[str]:
    for name, value in re.findall(r"--([a-z-]+) ('[^']*'|\S+)", options):
        plain = value[1:-1] if value[0] == value[-1] == "'" != value else value
        several = plain.split(",") if name in ("raters", "items") else plain
        yield f"{_NAMES.get(name, name)}={json.dumps(several, ensure_ascii=False)}"


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a failure to write a file or folder into one sentence.

    Parameters
    ----------
    path : str or path
        What is written.

    Raises
    ------
    InputError
        If it can't be written.

    Examples
    --------
    >>> with writing("no/such/folder/report.json"), open("no/such/folder/report.json", "w") as file:
    ...     pass
    Traceback (most recent call last):
    softirr.errors.InputError: no/such/folder/report.json can't be written: No such file or directory.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"{os.fspath(path)} can't be written: {error.strerror or error}.") from None


_OPEN, _CLOSE = "\ue000", "\ue001"
"""Characters for private use, which no message contains, around an option within a message."""


def option(name: str, *values: str) -> str:
    """An option within a message, which each interface words in its own way: ``--item`` or ``item=``.

    Parameters
    ----------
    name : str
        As on the command line, without hyphens in front.
    *values : str
        Values of the option.

    Examples
    --------
    >>> error = InputError(f"Say {option('empty', 'none')}, or name {option('item')}.")
    >>> error.on_command_line, str(error)
    ('Say --empty none, or name --item.', 'Say empty="none", or name item=.')
    """
    return f"{_OPEN}{_CLOSE.join((name, *values))}{_OPEN}"


def _worded(message: str, word: Callable[[str, Sequence[str]], str], separator: str) -> str:
    parts = message.split(_OPEN)
    texts = (separator if part == " " and 0 < n < len(parts) - 1 else part for n, part in enumerate(parts))
    return "".join(word(*_name_and_values(text)) if n % 2 else text for n, text in enumerate(texts))


def _name_and_values(marked: str) -> tuple[str, list[str]]:
    name, *values = marked.split(_CLOSE)
    return name, values


def _as_option(name: str, values: Sequence[str]) -> str:
    return " ".join((f"--{name}", *([shlex.quote(",".join(values))] if values else [])))


def _as_parameter(name: str, values: Sequence[str]) -> str:
    parameter = name.replace("-", "_")
    if not values:
        return f"{parameter}="
    value: Any = list(values) if len(values) > 1 else values[0]
    return f"{parameter}={json.dumps(value, ensure_ascii=False)}"


class SoftirrError(Exception):
    """Base of every error that softirr raises on purpose; its message is one plain sentence."""

    @property
    def on_command_line(self) -> str:
        """The message with the options of the command line."""
        return _worded(super().__str__(), _as_option, " ")

    def __str__(self) -> str:
        return _worded(super().__str__(), _as_parameter, ", ")


class InputError(SoftirrError, ValueError):
    """The input can't be used; the message says what is wrong and where (the command line ends with status 2).

    Options within the message are made by :func:`option`, so that Python users read the names of parameters.
    """


class MissingFileError(InputError, FileNotFoundError):
    """A file that does not exist; also a ``FileNotFoundError``."""
