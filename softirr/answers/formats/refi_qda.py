"""REFI-QDA projects (``.qdpx``), as ATLAS.ti, MAXQDA, NVivo, QualCoder and others exchange them (version 1.5)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO
from xml.etree import ElementTree

from softirr.answers.archives import DAMAGE, Folder, names_inside
from softirr.answers.gathered import Request, Tables
from softirr.answers.layout import listed
from softirr.answers.registry import Format, Ways
from softirr.answers.segments import Segment, check_coders, numbered, own_coders, same_names, segment_tables
from softirr.answers.source import Source, refused
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["FORMATS"]

_LARGEST = 1 << 30
_SELECTIONS = ("PlainTextSelection",)
_OTHER = ("PDFSelection", "PictureSelection", "AudioSelection", "VideoSelection", "TranscriptSelection")


def _is_it(source: Source) -> bool:
    if not source.is_zip:
        return b"urn:QDA-XML:" in source.start[:4096]
    # the reader of archives says what is wrong with a damaged one
    return any(name.casefold().endswith(".qde") for name in names_inside(source) or ())


@dataclass(frozen=True)
class _Project:
    """The coded passages of a project.

    Attributes
    ----------
    segments : list of Segment
    n_other : int
        Codes of whole documents and of other media.
    definitions : dict of str to str
    twins : tuple of str
        Names that several codes have which coders used.
    documents : tuple of str
        Names of its documents; empty of several projects together.
    """

    segments: list[Segment]
    n_other: int
    definitions: dict[str, str]
    twins: tuple[str, ...]
    documents: tuple[str, ...] = ()


def _is_folder(folder: Folder) -> bool:
    """Whether a folder has projects, or one project and no tables."""
    n = len(folder.ending(".qdpx", ".qde"))
    return n > 1 or (n == 1 and not folder.tables)


def _read(source: Source, request: Request) -> Tables:
    """The codes of a project in which several coders worked."""
    return _of_coders(_project(source.seekable(), source.name), source.name, request)


def _of_coders(project: _Project, name: str, request: Request) -> Tables:
    check_coders(project.segments, name, "a QDPX file")
    return _tables(project, request)


def _read_folder(folder: Folder, request: Request) -> Tables:
    """The codes of a folder with a project for each coder, and the definitions of a code book beside them."""
    paths, projects = folder.ending(".qdpx", ".qde"), {}
    for path in paths:
        with path.open("rb") as file:
            projects[path.stem] = _project(file, str(path))
    definitions = dict[str, str]()
    for project in projects.values():
        definitions = project.definitions | definitions
    for path in folder.ending(".qdc"):
        definitions |= _definitions(_parsed(path.read_bytes(), str(path)))
    if len(paths) == 1:
        return _of_coders(replace(projects[paths[0].stem], definitions=definitions), str(paths[0]), request)
    every, notes = own_coders({coder: project.segments for coder, project in projects.items()})
    notes += same_names(project.documents for project in projects.values())
    n_other = sum(project.n_other for project in projects.values())
    twins = tuple(dict.fromkeys(name for project in projects.values() for name in project.twins))
    return _tables(_Project(every, n_other, definitions, twins), request, notes)


def _tables(project: _Project, request: Request, notes: Sequence[str] = ()) -> Tables:
    n, more = project.n_other, list(notes)
    left_out = f"{plural(n, 'code')} of whole documents, pictures, sound, video and areas of PDF pages"
    if n and not project.segments:
        raise InputError(f"{request.name} has no coded passages of text: {left_out} can't be compared.")
    if n:
        more.append(f"{left_out} {'was' if n == 1 else 'were'} not read: only passages of text are compared.")
    if project.twins:
        more.append(f"Several codes of the code book have one name, and count as one code: {listed(project.twins)}.")
    tables = segment_tables(project.segments, request, "refi-qda", project.definitions)
    return {name: replace(table, warnings=(*table.warnings, *more)) for name, table in tables.items()}


def _project(file: IO[bytes], name: str) -> _Project:
    """The coded passages of a project, and what else it has."""
    root = _parsed(_xml(file, name), name)
    if _tag(root) == "CodeBook":
        raise InputError(
            f"{name} is a code book without coded documents: export the project as QDPX, or put the code book into a "
            "folder with the project of each coder."
        )
    coders = {_guid(one.get("guid")): one.get("name") or one.get("id") or "" for one in _all(root, "User")}
    codes = {_guid(one.get("guid")): (one.get("name") or "").strip() for one in _all(root, "Code")}
    segments: list[Segment] = []
    used: dict[str, set[str]] = {}
    n_other = 0
    for document, selection in _selections(root):
        codings = [one for one in selection if _tag(one) == "Coding"]
        if _tag(selection) not in _SELECTIONS:
            n_other += len(codings)
            continue
        start, end = _place(selection, "startPosition", name), _place(selection, "endPosition", name)
        for coding in codings:
            coder = _guid(coding.get("creatingUser") or selection.get("creatingUser"))
            for ref in _all(coding, "CodeRef"):
                target = _guid(ref.get("targetGUID"))
                code = codes.get(target)
                if not code:
                    raise InputError(f"{name}: a passage of {document!r} has a code that is not in the code book.")
                used.setdefault(code, set()).add(target)
                segments.append(Segment(document, coders.get(coder) or coder, code, start, end))
    twins = tuple(code for code, targets in used.items() if len(targets) > 1)
    return _Project(segments, n_other, _definitions(root), twins, tuple(map(_document, _sources(root))))


def _definitions(root: ElementTree.Element) -> dict[str, str]:
    """Name and description of each code that has one."""
    described = (
        ((code.get("name") or "").strip(), part.text or "")
        for code in _all(root, "Code")
        for part in code
        if _tag(part) == "Description"
    )
    return {name: " ".join(text.split()) for name, text in described if name and text.strip()}


def _sources(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [one for every in _all(root, "Sources") for one in every]


def _document(source: ElementTree.Element) -> str:
    return source.get("name") or source.get("guid") or ""


def _selections(root: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Name of the document, with itself and each selection in it.

    A PDF or recording has its text in an element of its own.
    """
    sources = _sources(root)
    names = numbered(enumerate(map(_document, sources)))
    for number, source in enumerate(sources):
        yield names[number], source
        for one in source.iter():
            if _tag(one) in (*_SELECTIONS, *_OTHER):
                yield names[number], one


def _xml(file: IO[bytes], name: str) -> bytes:
    start = file.read(4)
    file.seek(0)
    if start != b"PK\x03\x04":
        return file.read()
    wrong = f"{name} is a damaged QDPX file: export the project again."
    with refused(wrong, *DAMAGE, OSError, StopIteration), zipfile.ZipFile(file) as archive:
        member = next(one for one in archive.infolist() if one.filename.casefold().endswith(".qde"))
        if member.file_size > _LARGEST:
            raise InputError(f"{name} has a project of more than {_LARGEST >> 30} GiB.")
        return archive.read(member)


def _parsed(text: bytes, name: str) -> ElementTree.Element:
    plain = text.replace(b"\0", b"")  # UTF-16, too
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise InputError(f"{name} is not accepted as a REFI-QDA project: its XML declares entities.")
    wrong = f"{name} is not a valid REFI-QDA project: its XML is damaged."
    with refused(wrong, ElementTree.ParseError, ValueError, LookupError):
        return ElementTree.fromstring(text)  # noqa: S314 - without entities


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _all(element: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (one for one in element.iter() if _tag(one) == tag)


def _guid(value: str | None) -> str:
    """Programs write identifiers in either case, with and without braces."""
    return (value or "").strip("{}").casefold()


def _place(selection: ElementTree.Element, name: str, file: str) -> int:
    with refused(f"{file}: a passage has no {name}.", KeyError, ValueError):
        return int(selection.attrib[name])


FORMATS = (Format("refi-qda", file=Ways(_is_it, _read), folder=Ways(_is_folder, _read_folder)),)
