"""Text files and tables with a header line, gzipped or not."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from softirr.errors import InputError
from softirr.numbers import plural

LARGEST = 1 << 31
"""Bytes, unpacked, of the largest file that is read."""


class _Limited(io.RawIOBase):
    """A binary file that ends in an error beyond ``LARGEST`` bytes."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path, self._left = file, path, LARGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self._path} is larger than {LARGEST >> 30} GB, the largest terminology that softirr reads."
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if it ends in ``.gz``; a damaged archive or an unreadable file is an InputError.

    Raises
    ------
    InputError
        Also for errors that show up while the caller reads.
    """
    try:
        with open(path, "rb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw) as packed:
                    yield io.BufferedReader(_Limited(packed, path), 1 << 20)
            else:
                yield io.BufferedReader(_Limited(raw, path), 1 << 20)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is a damaged gzip file.") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 text file with their numbers, from 1, without line ends.

    Raises
    ------
    InputError
        If the file can't be read or is not UTF-8 text.
    """
    number = 0
    with opened(path) as file:
        for raw in file:
            try:
                text = raw.decode("utf-8" if number else "utf-8-sig")
            except UnicodeDecodeError:
                raise InputError(f"{path}, line {number + 1}: a byte that does not belong in UTF-8 text.") from None
            for line in text.removesuffix("\n").removesuffix("\r").split("\r"):
                number += 1
                if "\0" in line:
                    raise InputError(f"{path}, line {number}: the file is not text: it contains a zero byte.")
                yield number, line


def read_table(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, each with its line number.

    Parameters
    ----------
    path : Path
        Tab-separated if it ends in ``.tsv`` or its header contains a tab, else comma-separated; ``.gz`` is unpacked.
    columns : sequence of str
        Required columns.

    Raises
    ------
    InputError
        If the file can't be read, is damaged or not UTF-8 text, lacks a column, or has a row with another length than
        its header.
    """
    text = read_text(path)
    header, _, _ = text.partition("\n")
    if not header.strip():
        raise InputError(f"{path} is empty.")
    tabs = path.name.removesuffix(".gz").endswith(".tsv") or "\t" in header
    # Exported tab-separated tables have bare quotation marks, which quote only cells with line ends.
    bare = tabs and all(line.count("\t") == header.count("\t") for line in text.split("\n") if line.strip("\r"))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if bare or '"' not in text else csv.QUOTE_MINIMAL,
    )
    try:
        names = [name.strip() for name in next(reader)]
        missing = [name for name in columns if name not in names]
        if missing:
            raise InputError(f"{path}, line 1: the header has no column {missing[0]!r}.")
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise InputError(
                    f"{path}, line {reader.line_num}: {plural(len(row), 'column')} instead of {len(names)}."
                )
            yield reader.line_num, dict(zip(names, map(_unquoted, row) if bare else row, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not a valid row ({error}).") from None


def _unquoted(cell: str) -> str:
    """A cell without its quotation marks; the marks quote it only where every inner mark is doubled."""
    inner = cell[1:-1]
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in inner.replace('""', ""):
        return cell
    return inner.replace('""', '"')


def read_text(path: Path) -> str:
    """The whole of a UTF-8 text file, gzipped or not.

    Raises
    ------
    InputError
        If the file can't be read or is not UTF-8 text.
    """
    return "\n".join(line for _, line in lines(path))
