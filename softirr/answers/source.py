"""The bytes of an input: read once, piece by piece, decoded and hashed on the way."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

from softirr.errors import InputError, MissingFileError, option
from softirr.json_object import data_file
from softirr.provenance import Progress

_CHUNK = 1 << 18
_START = 65536


class Source:
    """An input that is read once.

    Parameters
    ----------
    encoding : str, optional
        Encoding of the text; by default recognized by its beginning.
    progress : callable, optional
        Called with the bytes read so far and the size of the file, if it is known.

    Attributes
    ----------
    name : str
        Name of the input, for messages.
    start : bytes
        The first 64 KiB.
    is_short : bool
        Whether that is all.
    size : int
        Size of the file in bytes; 0 if it is not known.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | io.TextIOBase,
        *,
        encoding: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._hash = hashlib.sha256()
        self._progress = progress
        self._errors = "strict"
        self.size = 0
        self.path = None if isinstance(source, io.TextIOBase) or source == "-" else os.fspath(source)
        self._copy: IO[bytes] | None = None
        if isinstance(source, io.TextIOBase):
            text = source.read().removeprefix("\ufeff")
            self.name = str(getattr(source, "name", None) or "The input")
            self._file: IO[bytes] = io.BytesIO(text.encode("utf-8", "surrogatepass"))
            encoding, self._errors = "utf-8", "surrogatepass"
        else:
            self.name = "Standard input" if source == "-" else " ".join(os.fspath(source).splitlines())
            self._file = self._opened()
        self.start = self._read(_START)
        while self.start.isspace() and (more := self._read(_CHUNK)):
            self.start += more  # white space at the beginning identifies nothing
        self.is_short = len(self.start) < _START
        self._hash.update(self.start)
        self._n_line_ends = self.start.count(b"\n")
        if encoding is not None:
            try:
                encoding = codecs.lookup(encoding).name
            except LookupError:
                raise InputError(
                    f"There is no encoding {encoding!r}: it can be utf-8, cp1252, utf-16 and the like."
                ) from None
        self.encoding = encoding

    def _opened(self) -> IO[bytes]:
        if self.path is None:
            if sys.stdin is None:  # closed by the caller
                raise InputError("Standard input is closed.")
            return sys.stdin.buffer
        with self._reading():
            file = open(self.path, "rb")  # noqa: SIM115 - closed when it is read to its end, or with this object
            self.size = os.fstat(file.fileno()).st_size
            return file

    def _read(self, size: int) -> bytes:
        with self._reading():
            return self._file.read(size)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            reason = f"{self.name} can't be read: {getattr(error, 'strerror', None) or error}."
            raise (MissingFileError if isinstance(error, FileNotFoundError) else InputError)(reason) from None

    @property
    def is_zip(self) -> bool:
        """Whether it begins as a ZIP archive does."""
        return self.start.startswith(b"PK\x03\x04")

    @property
    def sha256(self) -> str:
        """Hash of the bytes read so far: of the whole input after a reader has finished."""
        return self._hash.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """All bytes, piece by piece."""
        done = len(self.start)
        yield self.start
        while chunk := self._read(_CHUNK):
            self._hash.update(chunk)
            self._n_line_ends += chunk.count(b"\n")
            done += len(chunk)
            if self._progress is not None and self.size:
                self._progress(done, max(self.size, done))
            yield chunk
        if self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()

    def seekable(self) -> IO[bytes]:
        """The whole input as a file that can be read in any order."""
        if self._copy is None:
            if self.path is None:
                self._copy = io.BytesIO(b"".join(self.chunks()))
            else:
                for _ in self.chunks():  # for the hash
                    pass
                self._copy = self._opened()
        self._copy.seek(0)
        return self._copy

    def check_text(self) -> str:
        """The beginning as text.

        Raises
        ------
        InputError
            If it is not a text.
        """
        if (what := foreign_start(self.start.lstrip())) is not None:
            raise InputError(f"{self.name} is {what}.")
        if self.is_zip:
            raise InputError(
                f"{self.name} is a ZIP archive or an Excel workbook: unpack it, or save the table as CSV in UTF-8."
            )
        if self.encoding is None:
            is_utf_16 = self.start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            self.encoding = "utf-16" if is_utf_16 else "utf-8-sig"
        if b"\0" in self.start and not self.encoding.startswith("utf-16"):
            raise InputError(f"{self.name} is not text: it contains zero bytes.")
        with self._decoding():
            return codecs.getincrementaldecoder(self.encoding)(self._errors).decode(self.start)

    def text(self) -> Iterator[str]:
        """The whole text, piece by piece, without byte order mark.

        Raises
        ------
        InputError
            If it is not a text; the message names the line.
        """
        self.check_text()
        with self._decoding():
            yield from codecs.iterdecode(self.chunks(), self.encoding or "utf-8", self._errors)

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:
            line = 1 + self._n_line_ends - error.object.count(b"\n", error.start)
            # with or without byte order mark
            name = "UTF-8" if (self.encoding or "").startswith("utf-8") else str(self.encoding)
            raise InputError(
                f"{self.name} is not {name} text: line {line} has a byte that does not belong there. "
                f"Save it as UTF-8, or name its encoding with {option('encoding')} (cp1252 for most Windows programs)."
            ) from None

    def lines(self) -> Iterator[str]:
        r"""Lines with their ends, which may be ``\n``, ``\r\n`` or ``\r``."""
        end_of_piece = ""
        for chunk in self.text():
            lines = list(io.StringIO(end_of_piece + chunk, newline=""))
            end_of_piece = lines.pop() if lines else ""  # it may go on in the next piece
            yield from lines
        if end_of_piece:
            yield from io.StringIO(end_of_piece, newline="")


def foreign_start(start: bytes) -> str | None:
    """Describe a file that softirr cannot read, by its first bytes.

    Examples
    --------
    >>> foreign_start(b"%PDF-1.7")
    'a PDF: copy its table into a spreadsheet first'
    >>> foreign_start(b"item,rater,text") is None
    True
    """
    begins: dict[str, str] = data_file("softirr.answers", "foreign")
    return next((what for mark, what in begins.items() if start.startswith(mark.encode("latin-1"))), None)


def contents(source: str | os.PathLike[str] | io.TextIOBase) -> tuple[str, str]:
    """Name for messages, and the whole text."""
    opened = Source(source)
    return opened.name, "".join(opened.text())


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line for line in re.split(r"\r\n|\r|\n", text) if line.strip()), "")


@contextmanager
def refused(message: str, *errors: type[Exception]) -> Iterator[None]:
    """Refuse an input that a library can't read.

    Parameters
    ----------
    message : str
        ``{error}`` in it is the kind of the library's error.
    *errors : type
        Exceptions that the library raises; all by default.

    Raises
    ------
    InputError
    """
    errors = errors or (Exception,)
    try:
        yield
    except InputError:
        raise
    except errors as error:
        raise InputError(message.replace("{error}", type(error).__name__)) from None


def csv_rows(
    lines: Iterable[str], delimiter: str, name: str, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row of a CSV file that is not blank; a field may be as long as it likes.

    Parameters
    ----------
    strict : bool
        Whether text behind a closing quote is refused.

    Raises
    ------
    InputError
        If it is not valid CSV; the message names the line.
    """
    previous_limit = csv.field_size_limit(sys.maxsize)  # of 128 KiB, which a long answer passes
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: not valid CSV ({error}).") from None
    finally:
        csv.field_size_limit(previous_limit)
