"""The formats that are read. A format is one module of :mod:`softirr.answers.readers` that lists itself in ``FORMATS``.

A module recognizes its format by the content and reads it. Nothing else in the package knows the
format by name. docs/reference/formats.md shows its files, and tests read them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from softirr.errors import InputError

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
        Gets the input and a :class:`softirr.answers.request.Request`.
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
        Of a folder or an unpacked ZIP archive: gets a :class:`softirr.answers.archives.Folder`; gives tables.
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
    modules = (
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    )
    listed = [module for module in modules for module in getattr(module, "FORMATS", ())]
    return tuple(sorted([*_installed(), *listed], key=lambda module: module.is_general))


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
    readers: Mapping[str, Ways] = {
        format.name: reader for format in tried if (reader := getattr(format, form)) is not None
    }
    if name in readers:
        return readers[name]
    return next((reader for reader in readers.values() if reader.is_it(*start)), None)
