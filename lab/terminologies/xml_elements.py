"""Streaming XML reader: one element at a time, with line numbers, without fetching external entities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.meaning.terminology.readers import opened


def elements(path: Path, tag: str) -> Iterator[Any]:
    """Each ``tag`` element of a file.

    An element is emptied when the next one is requested.

    Memory use does not grow with the size of the file.

    Raises
    ------
    InputError
        If the file is not well-formed.
    """
    from lxml import etree

    with opened(path) as file:
        try:
            for _, element in etree.iterparse(
                file, tag=tag, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True
            ):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise InputError(f"{path}, line {error.lineno or 1}: not well-formed XML ({error.msg}).") from None


def outermost(path: Path) -> str:
    """Name of the outermost element.

    Raises
    ------
    InputError
        If the file is not well-formed.
    """
    from lxml import etree

    with opened(path) as file:
        try:
            _, top = next(
                etree.iterparse(file, events=("start",), resolve_entities=False, load_dtd=False, no_network=True)
            )
            return str(top.tag)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{path}, line {error.lineno or 1}: not well-formed XML ({error.msg}).") from None


def text(element: Any, path: str) -> str:
    """Text of the first element under ``path``, or nothing."""
    child = element.find(path)
    return "" if child is None else "".join(child.itertext()).strip()
