"""Files of programs for qualitative coding."""

from __future__ import annotations

import contextlib
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

from tests.answers.formats.common import ANSWERS, RATERS, rows, text_table, workbook


def passages(coders: tuple[str, ...] = RATERS) -> Iterator[tuple[str, str, str, int, int]]:
    """Document, coder, code and place: a document for each two items; coders mark a little more or less."""
    for (item, rater), text in ANSWERS.items():
        if rater in coders:
            start = 100 * int(item) + RATERS.index(rater)
            yield f"Interview {(int(item) + 1) // 2}", rater, text, start, start + 60


def _qde(coders: tuple[str, ...], braces: bool = False) -> str:
    """REFI-QDA 1.5, ``project.qde``."""
    guid = lambda kind, n: f"{'{' * braces}0000000{kind}-0000-0000-0000-{n:012}{'}' * braces}"  # noqa: E731
    codes = list(dict.fromkeys(ANSWERS.values()))
    own = list(passages(coders))
    documents = sorted({document for document, *_ in own})
    out = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<Project xmlns="urn:QDA-XML:project:1.0" name="Interviews" origin="ATLAS.ti">',
    ]
    out.append(
        "<Users>" + "".join(f'<User guid="{guid(1, n)}" name="{name}"/>' for n, name in enumerate(coders)) + "</Users>"
    )
    out.append("<CodeBook><Codes>")
    out += [
        f'<Code guid="{guid(2, n)}" name={quoteattr(name)} isCodable="true">'
        f"<Description>Code {n}\n of all</Description></Code>"
        for n, name in enumerate(codes)
    ]
    out.append("</Codes></CodeBook><Sources>")
    for n, document in enumerate(documents):
        out.append(f'<TextSource guid="{guid(3, n)}" name="{document}" plainTextPath="internal://{n}.txt">')
        for k, (of, coder, code, start, end) in enumerate(own):
            if of != document:
                continue
            user = guid(1, coders.index(coder)).upper()
            out.append(
                f'<PlainTextSelection guid="{guid(4, k)}" startPosition="{start}" endPosition="{end}" creatingUser="{user}">'
                f'<Coding guid="{guid(5, k)}" creatingUser="{user}"><CodeRef targetGUID="{guid(2, codes.index(code))}"/></Coding>'
                "</PlainTextSelection>"
            )
        out.append("</TextSource>")
    out.append(
        '<PictureSource guid="9"><PictureSelection guid="8"><Coding guid="7"><CodeRef targetGUID="6"/></Coding></PictureSelection></PictureSource>'
    )
    return "\n".join([*out, "</Sources></Project>"])


def _qdpx(path: Path, coders: tuple[str, ...], braces: bool = False) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", _qde(coders, braces))
        archive.writestr("sources/0.txt", "An interview")
    return path


def refi_qda(folder: Path) -> Path:
    return _qdpx(folder / "interviews.qdpx", RATERS)


def refi_qda_folder(folder: Path) -> Path:
    (folder / "projects").mkdir()
    for rater in RATERS:
        _qdpx(folder / "projects" / f"{rater}.qdpx", (rater,), braces=rater == "bob")
    return folder / "projects"


def qualcoder(folder: Path) -> Path:
    """QualCoder 3, the database of a project."""
    root = folder / "interviews.qda"
    root.mkdir()
    own = list(passages())
    codes, documents = sorted({one[2] for one in own}), sorted({one[0] for one in own})
    with contextlib.closing(sqlite3.connect(root / "data.qda")) as data:
        data.executescript(
            "CREATE TABLE code_name (cid integer primary key, name text, memo text, catid integer, owner text, date text, color text);"
            "CREATE TABLE source (id integer primary key, name text, fulltext text, mediapath text, memo text, owner text, date text);"
            "CREATE TABLE code_text (ctid integer primary key, cid integer, fid integer, seltext text, pos0 integer, pos1 integer,"
            " owner text, date text, memo text, avid integer, important integer);"
        )
        named = [(n, code, f"Code {n} of all") for n, code in enumerate(codes)]
        data.executemany("INSERT INTO code_name (cid, name, memo) VALUES (?, ?, ?)", named)
        data.executemany("INSERT INTO source (id, name) VALUES (?, ?)", enumerate(documents))
        data.executemany(
            "INSERT INTO code_text (cid, fid, pos0, pos1, owner) VALUES (?, ?, ?, ?, ?)",
            [(codes.index(code), documents.index(of), start, end, coder) for of, coder, code, start, end in own],
        )
        data.commit()
    return root


def taguette(folder: Path) -> Path:
    """Taguette 1.4, a project as SQLite for each coder."""
    (folder / "taguette").mkdir()
    for rater in RATERS:
        own = list(passages((rater,)))
        codes, documents = sorted({one[2] for one in own}), sorted({one[0] for one in own})
        with contextlib.closing(sqlite3.connect(folder / "taguette" / f"{rater}.sqlite3")) as data:
            data.executescript(
                "CREATE TABLE documents (id integer primary key, name text, contents text);"
                "CREATE TABLE tags (id integer primary key, project_id integer, path text, description text);"
                "CREATE TABLE highlights (id integer primary key, document_id integer, start_offset integer, end_offset integer, snippet text);"
                "CREATE TABLE highlight_tags (highlight_id integer, tag_id integer);"
            )
            data.executemany("INSERT INTO documents (id, name) VALUES (?, ?)", enumerate(documents))
            named = [(n, code, f"Code {n} of all") for n, code in enumerate(codes)]
            data.executemany("INSERT INTO tags (id, path, description) VALUES (?, ?, ?)", named)
            data.executemany(
                "INSERT INTO highlights (id, document_id, start_offset, end_offset) VALUES (?, ?, ?, ?)",
                [(n, documents.index(of), start, end) for n, (of, _, _, start, end) in enumerate(own)],
            )
            data.executemany(
                "INSERT INTO highlight_tags VALUES (?, ?)", [(n, codes.index(one[2])) for n, one in enumerate(own)]
            )
            data.commit()
    return folder / "taguette"


def taguette_highlights(folder: Path) -> Path:
    """Taguette 1.4, highlights as CSV for each coder."""
    (folder / "highlights").mkdir()
    for rater in RATERS:
        own = [
            [n, f"interview{item}.txt", text, f"Passage {item}"]
            for n, (item, who, text) in enumerate(rows())
            if who == rater
        ]
        text_table([["id", "document", "tag", "content"], *own], folder / "highlights" / f"{rater}.csv")
    return folder / "highlights"


def atlas_ti(folder: Path) -> Path:
    """ATLAS.ti 23, the quotation manager as a workbook, of each coder: places are paragraphs."""
    (folder / "quotations").mkdir()
    head = ["ID", "Quotation Name", "Quotation Content", "Comment", "Codes", "Reference", "Created by", "Document"]
    for rater in RATERS:
        own = [
            [f"1:{n}", "", f"Passage {item} of two or three words", "", text, "3", rater, f"interview{item}.docx", 3, 3]
            for n, (item, who, text) in enumerate(rows())
            if who == rater
        ]
        workbook([[*head, "Start", "End"], *own], folder / "quotations" / f"{rater}.xlsx")
    return folder / "quotations"


def maxqda(folder: Path) -> Path:
    """MAXQDA 2022, retrieved segments as a workbook: places are paragraphs."""
    head = ["Comment", "Document group", "Document name", "Code", "Begin", "End", "Weight score", "Segment"]
    own = [
        ["", "", f"Interview {item}", text, "4", "4", "0", f"Passage {item} of two or three words", who, "05.01.2026"]
        for item, who, text in rows()
    ]
    return workbook([[*head, "Created by", "Creation date"], *own], folder / "segments.xlsx")


def nvivo(folder: Path) -> Path:
    """NVivo 14, a coding summary by file as an extract: a row for each coding reference."""
    head = ["File Name", "File Folder Location", "Hierarchical Name", "Coverage", "Reference Number", "Coded Text"]
    own = [
        [f"Interview {item}", "Files", f"Codes\\\\Findings\\\\{text}", "0.0312", n, f"Passage {item} of some words"]
        + [who, "05/01/2026"]
        for n, (item, who, text) in enumerate(rows(), start=1)
    ]
    return workbook([[*head, "Coded By Initials", "Modified On"], *own], folder / "references.xlsx")


def dedoose(folder: Path) -> Path:
    """Dedoose, excerpts as a workbook."""
    head = ["Media Title", "Excerpt Range", "Excerpt Creator", "Excerpt Date", "Excerpt Copy", "Codes Applied Combined"]
    codes = sorted(set(ANSWERS.values()))
    own = [
        [f"Interview {item}", "40-90", who, "1/5/2026", f"Passage {item} of some words", text]
        + [code == text for code in codes]
        for item, who, text in rows()
    ]
    return workbook([[*head, *(f"Code: {code} Applied" for code in codes)], *own], folder / "excerpts.xlsx")


def qualcoder_report(folder: Path) -> Path:
    """QualCoder 3, a report of codings as CSV."""
    head = ["Codename", "Coder", "Filename", "Pos0", "Pos1", "Coded text"]
    own = [[code, coder, of, start, end, "some words"] for of, coder, code, start, end in passages()]
    return text_table([head, *own], folder / "report.csv")


def coded_places(folder: Path) -> Path:
    """A table of passages with places in characters, and a passage that has no code yet."""
    own = [[of, start, end, code, coder] for of, coder, code, start, end in passages()]
    table = [["Document", "Start", "End", "Codes", "Coder"], *own, ["Interview 1", 1, 9, "", "ann"]]
    return text_table(table, folder / "coded.csv", ";")
