"""Files of statistics packages: SPSS, Stata and SAS, read by pyreadstat, and R, read by pyreadr; imported only here."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any

from softirr.answers.books import text_of_value
from softirr.answers.gathered import Request
from softirr.answers.layout import listed
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows, is_missing
from softirr.answers.source import Source, needed, refused, stored
from softirr.errors import InputError

__all__ = ["FORMATS"]

_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_PORTABLE, _PORTABLE_AT = b"SPSSPORT", 456
"""The tag of a portable file, and how many characters are before it: its kind in five alphabets, and these."""
_R = (b"X\n", b"A\n", b"RDX", b"RDA")


def _begins(*starts: bytes) -> Callable[[Source], bool]:
    return lambda source: source.start.startswith(starts)


def _is_stata(source: Source) -> bool:
    """New files begin with a tag, old ones with the version, the order of bytes, a 1 and a 0."""
    start = source.start
    return start.startswith(b"<stata_dta>") or (
        len(start) > 4 and 105 <= start[0] <= 115 and start[1] in (1, 2) and start[2] == 1 and start[3] == 0
    )


def _is_portable(source: Source) -> bool:
    """Whether the tag is in its place; the lines of a portable file mean nothing."""
    return source.start.translate(None, b"\r\n").startswith(_PORTABLE, _PORTABLE_AT)


def _is_r(source: Source) -> bool:
    start = source.start
    if start.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(31).decompress(start, 5)
        except zlib.error:
            return False
    return start.startswith(_R)


def _pyreadstat(format: str, reader: str, title: str) -> Callable[[Source, Request], Rows]:
    def read(source: Source, request: Request) -> Rows:
        """The rows, with the labels of the values that have one; what the package takes as missing is missing."""
        needed("pyreadstat", "pyreadstat", title)
        module = importlib.import_module("pyreadstat")
        options: dict[str, Any] = {"encoding": request.options.encoding} if request.options.encoding else {}
        if format != "sas":
            options |= {"apply_value_formats": True, "formats_as_category": False}
        with refused(f"{source.name} is a damaged {title[2:]} ({{error}})."), stored(source) as path:
            frame, meta = getattr(module, reader)(str(path), **options)
        unlabeled = [
            name
            for name in getattr(meta, "variable_value_labels", {})
            if len({isinstance(value, str) for value in frame[name] if not is_missing(value)}) > 1
        ]
        notes = (f"Some values have no label and are read as numbers: {listed(unlabeled)}.",) if unlabeled else ()
        return _rows(source, format, frame, notes)

    return read


def _read_r(source: Source, request: Request) -> Rows:
    pyreadr = needed("pyreadr", "pyreadr", "A file of R")
    wrong = f"{source.name} is a damaged file of R, or has no data frame ({{error}}): save one data frame with saveRDS."
    with refused(wrong), stored(source) as path:
        frames = pyreadr.read_r(str(path))
    if len(frames) != 1:
        raise InputError(f"{source.name} has {len(frames)} data frames: save one with saveRDS.")
    return _rows(source, "r", next(iter(frames.values())), ())


def _rows(source: Source, format: str, frame: Any, notes: tuple[str, ...]) -> Rows:
    columns = [[None if is_missing(value) else text_of_value(value) for value in frame[name]] for name in frame.columns]
    rows = ((number, list(cells)) for number, cells in enumerate(zip(*columns, strict=True), start=1))
    return Rows(source.name, format, tuple(map(str, frame.columns)), rows, notes=notes, blank="missing")


FORMATS = (
    Format("spss", file=Ways(_begins(b"$FL2", b"$FL3"), _pyreadstat("spss", "read_sav", "A file of SPSS"))),
    Format("spss-portable", file=Ways(_is_portable, _pyreadstat("spss", "read_por", "A portable file of SPSS"))),
    Format("stata", file=Ways(_is_stata, _pyreadstat("stata", "read_dta", "A file of Stata"))),
    Format("sas", file=Ways(_begins(b"HEADER RECORD*******"), _pyreadstat("sas", "read_xport", "A file of SAS"))),
    Format("sas7bdat", file=Ways(_begins(_SAS), _pyreadstat("sas", "read_sas7bdat", "A file of SAS"))),
    Format("r", file=Ways(_is_r, _read_r)),
)
