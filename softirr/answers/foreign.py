"""Files that no reader takes: what they are, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from softirr.answers.data_files import data_file
from softirr.errors import InputError

__all__ = ["foreign_archive", "foreign_start", "refuse_project"]


def foreign_start(start: bytes) -> str | None:
    """What a file is, by its beginning.

    Parameters
    ----------
    start : bytes

    Returns
    -------
    str or None
        Such as ``a PDF: copy its table into a spreadsheet first``; None for other files.

    Examples
    --------
    >>> foreign_start(b"%PDF-1.7")
    'a PDF: copy its table into a spreadsheet first'
    >>> foreign_start(b"item,rater,text") is None
    True
    """
    if start[8:12] == b"DUCK":
        return "a database of DuckDB: export its table as CSV or Parquet"
    begins: dict[str, str] = data_file("foreign")["begins"]
    return next((what for mark, what in begins.items() if start.startswith(mark.encode("latin-1"))), None)


def foreign_archive(names: Iterable[str]) -> str | None:
    """What a ZIP archive is, by the names of its files.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    str or None

    Examples
    --------
    >>> foreign_archive(["[Content_Types].xml", "word/document.xml"])
    'a Word document: copy its table into a spreadsheet first'
    """
    inside = set(names)
    return next((what for name, what in data_file("foreign")["archives"].items() if name in inside), None)


def refuse_project(name: str) -> None:
    """Refuse the project of a program that only this program can read, by the end of its name.

    Parameters
    ----------
    name : str

    Raises
    ------
    InputError
        If it is one.
    """
    program = data_file("foreign")["projects"].get(Path(name).suffix.casefold())
    if program is not None:
        raise InputError(
            f"{name} is a project that only {program} reads: export it there as a REFI-QDA project (QDPX), or export "
            "the coded passages of each coder as a spreadsheet."
        )
