"""The formats that are read, and the request that a reader of a format gets.

A format is one module of :mod:`softirr.answers.readers` that lists itself in ``FORMATS``. A module recognizes its
format by the content and reads it. Nothing else in the package knows the format by name. docs/reference/formats.md
shows its files, and tests read them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from softirr.answers.answer import RawField, RawInput
from softirr.answers.kinds import TEXT
from softirr.answers.read_options import ReadOptions
from softirr.answers.rows import Records
from softirr.answers.weights import short_text
from softirr.errors import InputError, option
from softirr.text import listed, shown

GROUP = "softirr.readers"
"""Group of entry points by which other packages add formats."""


@dataclass(frozen=True)
class Ways:
    """How one form of a format is recognized, and how it is read.

    Attributes
    ----------
    is_it : callable
        Gets the beginning of the input; whether it is this format.
    read : callable
        Gets the input and a :class:`softirr.answers.registry.Request`.
    takes_item : bool
        Whether the reader takes the option ``item``, which otherwise names a column of a table.
    """

    is_it: Callable[..., bool]
    read: Callable[..., Any]
    takes_item: bool = False


@dataclass(frozen=True)
class Format:
    """A format, in the forms in which its files come.

    Attributes
    ----------
    name : str
        For the option ``format``.
    file : Ways or None
        Of a file: gets a :class:`softirr.answers.source.Source`; gives rows, records or tables.
    folder : Ways or None
        Of a folder or an unpacked ZIP archive: gets a :class:`softirr.answers.readers.table_folders.Folder`; gives
        tables.
    records : Ways or None
        Of JSON lines or a JSON list: recognized by the first object; gets records; gives tables.
    table : Ways or None
        Reader of a table with rows: recognized by the names of the columns, the first rows and the request; gets rows;
        gives rows or tables.
    is_general : bool
        Whether it is recognized only if no other format is.
    """

    name: str
    file: Ways | None = None
    folder: Ways | None = None
    records: Ways | None = None
    table: Ways | None = None
    is_general: bool = False


@cache
def formats() -> tuple[Format, ...]:
    """All formats; general ones come last."""
    package = importlib.import_module("softirr.answers.readers")
    names = (module.name for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."))
    built_in = [format for name in names for format in importlib.import_module(name).FORMATS]
    return tuple(sorted([*_installed(), *built_in], key=lambda format: format.is_general))


def _installed() -> list[Format]:
    """Formats that installed packages add, as entry points of the group ``softirr.readers``."""
    installed = []
    for entry in entry_points(group=GROUP):
        try:
            format = entry.load()
        except Exception as error:
            raise InputError(f"The reader {entry.name!r} of {entry.value} fails ({type(error).__name__}).") from error
        if not isinstance(format, Format):
            raise InputError(f"The reader {entry.name!r} of {entry.value} is not a softirr.answers.registry.Format.")
        installed.append(format)
    return installed


def format_names() -> tuple[str, ...]:
    """Return the values of the option ``format``."""
    return ("auto", *dict.fromkeys(format.name for format in formats()))


def recognized(form: str, name: str, *start: Any, general: bool = True) -> Ways | None:
    """The reader of an input.

    Parameters
    ----------
    form : {"file", "folder", "records", "table"}
    name : str
        The option ``format``: a format of this form that has this name is taken without a look at the content.
    *start
        What ``is_it`` gets.
    general : bool
        Whether general formats are tried.
    """
    tried = [format for format in formats() if general or not format.is_general]
    readers: dict[str, Ways] = {
        format.name: reader for format in tried if (reader := getattr(format, form)) is not None
    }
    if name in readers:
        return readers[name]
    return next((reader for reader in readers.values() if reader.is_it(*start)), None)


@dataclass(frozen=True)
class Request:
    """How an input is read.

    Attributes
    ----------
    name : str
        Name of the input, for messages.
    weights : dict of str to str
        Weights of the items as texts, by item, collected row by row.
    """

    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    weights: dict[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of the fields that the user wants."""
        names = (text for names_of_texts in self.options.text for text in names_of_texts.split(","))
        return tuple(self.options.control or names)

    @property
    def names_columns(self) -> bool:
        """Whether the user names columns, so that a tool's records are read as a table."""
        options = self.options
        return bool(options.item or options.rater or options.raters)

    def line(self, number: int) -> str:
        """Return the place of a record in words."""
        return f"{self.name}, line {number}"

    def add_weight(self, location: str, item: str, values: Mapping[str, Any]) -> None:
        """Add the weight of an item, if items have weights; an empty value does not count.

        Raises
        ------
        InputError
            If an earlier row of the item has another weight.
        """
        name = self.options.weight
        weight = "" if name is None else short_text(values.get(name))
        if weight and self.weights.setdefault(item, weight) != weight:
            raise InputError(f"{location}: the item {item} has two values of {name}: each item needs one weight.")

    def require_weights(self, name: str, other_names: Iterable[str]) -> None:
        """Refuse an input of this name that has other columns, but no item with a weight.

        Raises
        ------
        InputError
        """
        if self.options.weight is not None and not self.weights:
            names = ", ".join(sorted(set(other_names)))
            has = f"it has {names}" if names else "it has none beside the answers"
            raise InputError(f"{name} has no field {self.options.weight!r}; {has}.")

    def checked(
        self, records: Records, is_it: Callable[[Mapping[str, Any]], bool], expected: str
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield line and content of each record.

        Raises
        ------
        InputError
            If a record is not an object of the format.
        """
        for number, record in records:
            if not isinstance(record, Mapping) or not is_it(record):
                raise InputError(f"{self.line(number)}: expected {expected}.")
            yield number, record


def tool_input(
    request: Request, format: str, fields: Mapping[str, RawField], n_rows: int, notes: Sequence[str] = ()
) -> RawInput:
    """Return the input of an annotation tool.

    Raises
    ------
    InputError
        If weights of items are wanted, which the tool's files do not have.
    """
    if request.options.weight is not None and not request.weights:
        raise InputError(f"{request.name}: weights can be read from tables, JSONL and Label Studio's JSON only.")
    return RawInput(format, dict(fields), n_rows, request.line, notes=notes)


def is_empty(value: Any) -> bool:
    """Whether a value of a record is empty, so that leaving it out loses nothing."""
    return value in (None, "", [], {})


def unread_fields(counts: Mapping[str, int], what: str, request: Request) -> Iterator[str]:
    """Yield a note that names and counts the fields that are not read, unless the user has named the fields."""
    if counts and not request.texts:
        listed_counts = ", ".join(f"{shown(name)} ({n:,})" for name, n in counts.items())
        yield f"These {what} are not compared: {listed_counts}."


def chosen_texts(request: Request, names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the fields to read: those the user wants, or the only field.

    Raises
    ------
    InputError
        If there are none, several to choose from, or a wanted field is missing.
    """
    if not names:
        raise InputError(f"{request.name} has no {what} with texts.")
    for wanted_name in request.texts:
        if wanted_name not in names:
            raise InputError(f"{request.name} has no {what} {wanted_name!r}; it has {listed(names)}.")
    if request.texts:
        return request.texts
    if len(names) > 1:
        raise InputError(
            f"{request.name} has several {what}s ({listed(names)}): choose with {option('text', names[0])}."
        )
    return tuple(names)


def chosen_fields(request: Request, texts: Sequence[str], kinds: Mapping[str, str], what: str) -> dict[str, RawField]:
    """Return the fields to read: wanted ones, or the only text and, if kinds are read, all other fields.

    Raises
    ------
    InputError
        As for :func:`chosen_texts`.
    """
    is_text = request.options.kind is None
    if is_text and kinds and not texts:
        raise InputError(
            f"{request.name} has no {what} with texts. softirr score compares its other fields: {listed(list(kinds))}."
        )
    names: Sequence[str] = texts if is_text else [*texts, *kinds]
    if is_text or request.texts or not names:
        names = chosen_texts(request, names, what)
    elif len(texts) > 1:
        raise InputError(
            f"{request.name} has several {what}s ({listed(texts)}): choose with {option('text', texts[0])}, or give "
            f"a kind to each field to compare, as {option('field', f'{texts[0]}=text')} "
            f"{option('field', f'{texts[1]}=nominal')}."
        )
    return {name: RawField(name, kinds.get(name, TEXT), is_separate=True) for name in names}
