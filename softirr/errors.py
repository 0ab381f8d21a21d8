"""What can go wrong, in words that a person reads."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator

__all__ = ["InputError", "MissingFileError", "SoftirrError", "with_parameters", "writing"]

_NAMES = {"model-raters": "predictions_as_raters", "rater-column": "rater"} | {
    name: name
    for name in (
        *("control", "empty", "encoding", "fields", "format", "item", "items", "missing", "policy", "rater", "raters"),
        *("repeats", "sheet", "split", "terminology", "text", "weight"),
    )
}
_VALUES = {
    "empty": "none|missing",
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

    Parameters
    ----------
    message : str

    Returns
    -------
    str

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


class SoftirrError(Exception):
    """Base of every error that softirr raises on purpose; its message is one plain sentence."""

    @property
    def on_command_line(self) -> str:
        """The message with the options of the command line."""
        return super().__str__()


class InputError(SoftirrError, ValueError):
    """The input can't be used; the message says what is wrong and where (the command line ends with status 2).

    Examples
    --------
    >>> error = InputError("choose one with --control")
    >>> str(error), error.on_command_line
    ('choose one with control=', 'choose one with --control')
    """

    def __str__(self) -> str:
        return with_parameters(self.on_command_line)


class MissingFileError(InputError, FileNotFoundError):
    """A file that does not exist; also a ``FileNotFoundError``."""
