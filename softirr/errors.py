"""Errors and notes, worded for the command line and for Python."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Characters for private use, which no message contains, around an option within a message."""


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a failure to write a file or folder into one sentence.

    Parameters
    ----------
    path : str or path
        File or folder.

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
    pieces = message.split(_OPEN)  # texts, with an option between two of them
    for n, piece in enumerate(pieces):
        if n % 2:
            name, *values = piece.split(_CLOSE)
            pieces[n] = word(name, values)
        elif piece == " " and 0 < n < len(pieces) - 1:
            pieces[n] = separator
    return "".join(pieces)


def _as_option(name: str, values: Sequence[str]) -> str:
    return " ".join((f"--{name}", *([shlex.quote(",".join(values))] if values else [])))


def _as_parameter(name: str, values: Sequence[str]) -> str:
    parameter = name.replace("-", "_")
    if not values:
        return f"{parameter}="
    if parameter == "field":  # NAME=KIND or NAME
        _, equals, kind = values[0].rpartition("=")
        return f"kind={json.dumps(kind)}" if equals else f'control={json.dumps(kind, ensure_ascii=False)}, kind="auto"'
    value: Any = list(values) if len(values) > 1 else values[0]
    return f"{parameter}={json.dumps(value, ensure_ascii=False)}"


class Note(str):
    """A sentence with the parameters of Python; `on_command_line` has the options of the command line.

    Examples
    --------
    >>> note = Note(f"{option('sheet', 'May')} chooses another sheet.")
    >>> str(note), note.on_command_line
    ('sheet="May" chooses another sheet.', '--sheet May chooses another sheet.')
    """

    on_command_line: str

    def __new__(cls, sentence: str) -> Note:
        """Word a sentence that may contain options made by :func:`option`; a note stays as it is."""
        if isinstance(sentence, Note):
            return sentence
        note = super().__new__(cls, _worded(sentence, _as_parameter, ", "))
        note.on_command_line = _worded(sentence, _as_option, " ")
        return note

    def of(self, label: str) -> Note:
        """The note about one of several inputs."""
        note = super().__new__(type(self), f"{label}: {self}")
        note.on_command_line = f"{label}: {self.on_command_line}"
        return note


def on_command_line(sentence: str) -> str:
    """A note or any other sentence with the options of the command line."""
    return sentence.on_command_line if isinstance(sentence, Note) else sentence


class SoftirrError(Exception):
    """Base of every error that softirr raises on purpose; its message is one plain sentence."""

    @property
    def on_command_line(self) -> str:
        """The message with the options of the command line."""
        return _worded(super().__str__(), _as_option, " ")

    def __str__(self) -> str:
        return _worded(super().__str__(), _as_parameter, ", ")


class InputError(SoftirrError, ValueError):
    """The input can't be used; the message names the problem and its location (the command line ends with status 2).

    Options within the message are made by :func:`option`, so that Python users read the names of parameters.
    """


class MissingFileError(InputError, FileNotFoundError):
    """A file that does not exist; also a ``FileNotFoundError``."""
