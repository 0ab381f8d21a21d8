"""REFI-QDA projects (``.qdpx``), as ATLAS.ti, MAXQDA, NVivo, QualCoder and others exchange them (version 1.5)."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import IO, Any
from xml.etree import ElementTree

from softirr.errors import InputError
from softirr.plural import plural
from softirr.tables.archives import Folder
from softirr.tables.gathered import Request, Tables
from softirr.tables.registry import Example, Format, Ways
from softirr.tables.segments import Segment, needs_coders, segment_tables
from softirr.tables.source import Source

__all__ = ["FORMATS"]

_LARGEST = 1 << 30
_SELECTIONS = ("PlainTextSelection",)
_OTHER = ("PDFSelection", "PictureSelection", "AudioSelection", "VideoSelection", "TranscriptSelection")


def _is_it(source: Source) -> bool:
    if not source.start.startswith(b"PK\x03\x04"):
        return b"urn:QDA-XML:" in source.start[:4096]
    try:
        with zipfile.ZipFile(source.seekable()) as archive:
            return any(name.casefold().endswith(".qde") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, struct.error):
        return False  # the reader of archives says what is wrong


def _read(source: Source, request: Request) -> Tables:
    """The codes of a project in which several coders worked."""
    segments, left_out, definitions = _project(source.seekable(), source.name)
    if len({one.coder for one in segments}) == 1:
        raise needs_coders(source.name, "a QDPX file")
    return _noted(segment_tables(segments, request, "refi-qda", definitions), left_out)


def _read_folder(folder: Folder, request: Request) -> Tables:
    """The codes of a folder with a project for each coder, and the definitions of a code book beside them."""
    every: list[Segment] = []
    left_out, definitions = 0, dict[str, str]()
    for path in folder.ending(".qdpx", ".qde"):
        with path.open("rb") as file:
            segments, n, own = _project(file, str(path))
        every += (replace(one, coder=path.stem) for one in segments)
        left_out += n
        definitions = own | definitions
    for path in folder.ending(".qdc"):
        definitions |= _definitions(_parsed(path.read_bytes(), str(path)))
    return _noted(segment_tables(every, request, "refi-qda", definitions), left_out)


def _noted(tables: Tables, left_out: int) -> Tables:
    if not left_out:
        return tables
    note = (
        f"{plural(left_out, 'code')} of pictures, sound, video and areas of PDF pages "
        f"{'was' if left_out == 1 else 'were'} not "
        "read: only passages of text are compared."
    )
    return {name: replace(table, warnings=(*table.warnings, note)) for name, table in tables.items()}


def _project(file: IO[bytes], name: str) -> tuple[list[Segment], int, dict[str, str]]:
    """The coded passages of a project, the number of codes of other media, and the definitions of codes."""
    root = _parsed(_xml(file, name), name)
    if _tag(root) == "CodeBook":
        raise InputError(
            f"{name} is a code book without coded documents: export the project as QDPX, or put the code book into a "
            "folder with the project of each coder."
        )
    coders = {_guid(one.get("guid")): one.get("name") or one.get("id") or "" for one in _all(root, "User")}
    codes = {_guid(one.get("guid")): (one.get("name") or "").strip() for one in _all(root, "Code")}
    segments: list[Segment] = []
    left_out = 0
    for document, selection in _selections(root):
        codings = [one for one in selection if _tag(one) == "Coding"]
        if _tag(selection) in _OTHER:
            left_out += len(codings)
            continue
        start, end = _place(selection, "startPosition", name), _place(selection, "endPosition", name)
        for coding in codings:
            coder = _guid(coding.get("creatingUser") or selection.get("creatingUser"))
            for ref in _all(coding, "CodeRef"):
                code = codes.get(_guid(ref.get("targetGUID")))
                if not code:
                    raise InputError(f"{name}: a passage of {document!r} has a code that is not in the code book.")
                segments.append(Segment(document, coders.get(coder) or coder or "(no coder)", code, start, end))
    return segments, left_out, _definitions(root)


def _definitions(root: ElementTree.Element) -> dict[str, str]:
    """Name and description of each code that has one."""
    described = (
        ((code.get("name") or "").strip(), part.text or "")
        for code in _all(root, "Code")
        for part in code
        if _tag(part) == "Description"
    )
    return {name: " ".join(text.split()) for name, text in described if name and text.strip()}


def _selections(root: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Name of the document and each selection in it; a PDF or recording has its text in an element of its own."""
    for source in (one for sources in _all(root, "Sources") for one in sources):
        document = source.get("name") or source.get("guid") or ""
        for one in source.iter():
            if _tag(one) in (*_SELECTIONS, *_OTHER):
                yield document, one


def _xml(file: IO[bytes], name: str) -> bytes:
    start = file.read(4)
    file.seek(0)
    if start != b"PK\x03\x04":
        return file.read()
    try:
        with zipfile.ZipFile(file) as archive:
            member = next(one for one in archive.infolist() if one.filename.casefold().endswith(".qde"))
            too_large = member.file_size > _LARGEST
            text = b"" if too_large else archive.read(member)
    except (
        zipfile.BadZipFile,
        StopIteration,
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        struct.error,
    ):
        raise InputError(f"{name} is a damaged QDPX file: export the project again.") from None
    if too_large:
        raise InputError(f"{name} has a project of more than {_LARGEST >> 30} GiB.")
    return text


def _parsed(text: bytes, name: str) -> ElementTree.Element:
    plain = text.replace(b"\0", b"")  # UTF-16, too
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise InputError(f"{name} is not accepted as a REFI-QDA project: its XML declares entities.")
    try:
        return ElementTree.fromstring(text)  # noqa: S314 - without entities
    except (ElementTree.ParseError, ValueError, LookupError):
        raise InputError(f"{name} is not a valid REFI-QDA project: its XML is damaged.") from None


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _all(element: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (one for one in element.iter() if _tag(one) == tag)


def _guid(value: str | None) -> str:
    """Programs write identifiers in either case, with and without braces."""
    return (value or "").strip("{}").casefold()


def _place(selection: ElementTree.Element, name: str, file: str) -> int:
    try:
        return int(_attributes(selection)[name])
    except (KeyError, ValueError):
        raise InputError(f"{file}: a passage has no {name}.") from None


def _attributes(selection: ElementTree.Element) -> Mapping[str, Any]:
    return selection.attrib


FORMATS = (
    Format(
        "refi-qda",
        (
            Example(
                "REFI-QDA project",
                "1.5, QDPX; ATLAS.ti, MAXQDA, NVivo, QualCoder",
                "interviews.qdpx",
                "passages that two coders coded, coders, and names of codes; `--overlap` is the share of the characters that passages of "
                "two coders need to have in common",
            ),
            Example(
                "REFI-QDA, a project for each coder",
                "1.5, QDPX",
                "projects",
                "a folder or ZIP archive; a project is named after its coder",
            ),
        ),
        file=Ways(_is_it, _read),
        folder=Ways(lambda folder: len(folder.ending(".qdpx", ".qde")) > 1, _read_folder),
    ),
)
