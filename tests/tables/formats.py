"""The same answers in every format that is read, each file written after the format's documentation (version stated), and damaged ones."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import cassis
import h5py
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadr
import pyreadstat

ANSWERS: dict[tuple[str, str], str] = {
    ("1", "ann"): "high blood pressure",
    ("1", "bob"): "hypertension",
    ("1", "cy"): "high blood pressure",
    ("2", "ann"): "fever",
    ("2", "bob"): "high fever",
    ("3", "ann"): "pain, left knee",
    ("3", "bob"): "pain in the left knee",
    ("3", "cy"): 'a "stiff" knee',
    ("4", "bob"): "cough",
    ("4", "cy"): "dry cough",
    ("5", "ann"): "rash",
    ("5", "cy"): "naïve Rötung",
}
"""Item 2 was not shown to cy, item 4 not to ann, and item 5 not to bob."""
ITEMS = ("1", "2", "3", "4", "5")
RATERS = ("ann", "bob", "cy")


@dataclass(frozen=True)
class Format:
    """A format: how its file is made, with which options it is read, and how it is damaged."""

    write: Callable[[Path], Path]
    options: dict[str, Any] = field(default_factory=dict)
    damaged: tuple[tuple[str, str, str], ...] = ()
    """What is replaced in the file's text, by what, and what the message then says."""


def rows() -> Iterator[tuple[str, str, str]]:
    yield from ((item, rater, text) for (item, rater), text in ANSWERS.items())


def wide(names: tuple[str, ...] = ("id", *RATERS)) -> list[list[str]]:
    return [list(names)] + [[item, *(ANSWERS.get((item, rater), "") for rater in RATERS)] for item in ITEMS]


def text_table(table: list[list[Any]], path: Path, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(table)
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def json_lines(entries: list[Any], path: Path) -> Path:
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries), encoding="utf-8")
    return path


def workbook(table: list[list[Any]], path: Path) -> Path:
    book = openpyxl.Workbook()
    for row in table:
        book.active.append([cell if cell != "" else None for cell in row])
    book.save(path)
    return path


def by_item() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for item in ITEMS:
        yield item, [(rater, text) for (of, rater), text in ANSWERS.items() if of == item]


# --- tables -----------------------------------------------------------------------------------------------------------


def long_csv(folder: Path) -> Path:
    return text_table([["item", "rater", "text"], *map(list, rows())], folder / "long.csv")


def long_other_names(folder: Path) -> Path:
    table = [["case", "nurse", "seconds", "remark"], *([item, rater, 7, text] for item, rater, text in rows())]
    return text_table(table, folder / "other.csv", ";", "utf-8-sig")


def wide_csv(folder: Path) -> Path:
    return text_table(wide(), folder / "wide.csv")


def wide_tsv(folder: Path) -> Path:
    return text_table(wide(), folder / "wide.tsv", "\t", "utf-16")


def wide_xlsx(folder: Path) -> Path:
    return workbook([["Answers of the ward"], [], *wide(), ["", "", ""], []], folder / "wide.xlsx")


def wide_parquet(folder: Path) -> Path:
    table = wide()
    columns = {name: [row[i] or None for row in table[1:]] for i, name in enumerate(table[0])}
    pq.write_table(pa.table(columns), folder / "wide.parquet")
    return folder / "wide.parquet"


def jsonl(folder: Path) -> Path:
    return json_lines(
        [{"item": item, "rater": rater, "texts": [text]} for item, rater, text in rows()], folder / "a.jsonl"
    )


def json_list(folder: Path) -> Path:
    path = folder / "a.json"
    path.write_text(
        json.dumps([{"task_id": int(i), "annotator": r, "answer": t} for i, r, t in rows()]), encoding="utf-8"
    )
    return path


def model_log(folder: Path) -> Path:
    """A log of language models: a row for each call, an item for each prompt, answers below other keys."""
    entries = [
        {"prompt": f"Case {item}: what is it?", "model": rater, "usage": {"tokens": 5}, "response": text}
        for item, rater, text in rows()
    ]
    return json_lines(entries, folder / "log.jsonl")


# --- office and statistics packages ---


def wide_ods(folder: Path) -> Path:
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    sheet = Table(name="Answers")
    for cells in [["Answers of the ward"], *wide()]:
        row = TableRow()
        for text in cells:
            cell = TableCell(valuetype="string") if text else TableCell()
            if text:
                cell.addElement(P(text=text))
            row.addElement(cell)
        sheet.addElement(row)
    book.spreadsheet.addElement(sheet)
    book.save(folder / "wide.ods")
    return folder / "wide.ods"


def long_table() -> list[list[Any]]:
    return [["case", "nurse", "seconds", "remark"], *([item, rater, 7, text] for item, rater, text in rows())]


def long_xls(folder: Path) -> Path:
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Answers")
    for number, row in enumerate(long_table()):
        for column, value in enumerate(row):
            sheet.write(number, column, value)
    book.save(folder / "long.xls")
    return folder / "long.xls"


def long_frame() -> pd.DataFrame:
    head, *table = long_table()
    return pd.DataFrame(table, columns=head)


def spss(folder: Path) -> Path:
    """SPSS: cases and texts as numbers with value labels, and a row without a text."""
    frame = long_frame()
    texts = dict(enumerate(dict.fromkeys(frame["remark"]), start=1))
    frame["remark"] = frame["remark"].map({text: number for number, text in texts.items()})
    frame.loc[len(frame)] = ["2", "cy", 7, None]
    pyreadstat.write_sav(frame, folder / "long.sav", variable_value_labels={"remark": texts})
    return folder / "long.sav"


def stata(folder: Path) -> Path:
    pyreadstat.write_dta(long_frame(), folder / "long.dta")
    return folder / "long.dta"


def sas(folder: Path) -> Path:
    pyreadstat.write_xport(long_frame(), folder / "long.xpt", table_name="LONG")
    return folder / "long.xpt"


def rds(folder: Path) -> Path:
    pyreadr.write_rds(str(folder / "long.rds"), long_frame(), compress="gzip")
    return folder / "long.rds"


def anndata(folder: Path) -> Path:
    """AnnData 0.12, a column for each rater: categories, strings, and strings with a mask."""
    table = {row[0]: row[1:] for row in wide()[1:]}
    ann, bob, cy = zip(*table.values(), strict=True)
    strings = h5py.string_dtype()

    def written(group: Any, name: str, values: Any, kind: str, dtype: Any = None) -> None:
        group.create_dataset(name, data=values, dtype=dtype).attrs["encoding-type"] = kind

    with h5py.File(folder / "cells.h5ad", "w") as file:
        file.attrs["encoding-type"], file.attrs["encoding-version"] = "anndata", "0.1.0"
        file["X"] = np.zeros((len(ITEMS), 2))
        obs = file.create_group("obs")
        obs.attrs["encoding-type"], obs.attrs["_index"] = "dataframe", "_index"
        obs.attrs["column-order"] = np.array(["n_genes", *RATERS], dtype=object)
        written(obs, "_index", list(table), "string-array", strings)
        written(obs, "n_genes", np.arange(len(ITEMS)), "array")
        categories = sorted({text for text in ann if text})
        codes = np.array([categories.index(text) if text else -1 for text in ann], dtype=np.int8)
        one = obs.create_group("ann")
        one.attrs["encoding-type"] = "categorical"
        written(one, "codes", codes, "array")
        written(one, "categories", categories, "string-array", strings)
        written(obs, "bob", list(bob), "string-array", strings)
        one = obs.create_group("cy")
        one.attrs["encoding-type"] = "nullable-string-array"
        written(one, "values", list(cy), "string-array", strings)
        written(one, "mask", np.array([not text for text in cy]), "array")
    return folder / "cells.h5ad"


# --- LightTag and Datasaur ---


def lighttag(folder: Path) -> Path:
    """LightTag, the results of a job: classes of examples, with the annotators of each."""
    by = lambda raters: [  # noqa: E731
        {"annotator_id": RATERS.index(rater) + 1, "annotator": rater, "timestamp": "2026-01-05T10:00:00Z"}
        for rater in raters
    ]
    examples = []
    for item, given in by_item():
        classes = {text: [rater for rater, own in given if own == text] for _, text in given}
        examples.append(
            {
                "example_id": f"uuid-{item}",
                "content": f"Case {item}",
                "metadata": {},
                "seen_by": by([rater for rater, _ in given]),
                "annotations": [],
                "classifications": [
                    {"example_id": f"uuid-{item}", "classname": name, "class_id": "c", "classified_by": by(raters)}
                    for name, raters in classes.items()
                ],
            }
        )
    path = folder / "lighttag.json"
    job = {"name": "Findings", "id": "j", "examples": examples, "schema": {"id": "s", "tags": []}}
    path.write_text(json.dumps(job, indent=1), encoding="utf-8")
    return path


def datasaur(folder: Path) -> Path:
    """Datasaur 6, all files of a row labeling project as CSV: ``DOCUMENT-NAME``, ``REVIEW`` and ``ROOT``."""
    path, cases = folder / "datasaur.zip", [["case", "report"], *([item, f"Case {item}"] for item in ITEMS)]
    with zipfile.ZipFile(path, "w") as archive:
        for name in (*RATERS, ""):
            answers = [[ANSWERS.get((item, name or "ann"), "")] for item in ITEMS]
            table = [row + more for row, more in zip(cases, [["finding"], *answers], strict=True)]
            out = io.StringIO(newline="")
            csv.writer(out, quoting=csv.QUOTE_ALL).writerows(table)
            archive.writestr(f"DOCUMENT-{name}/cases.csv" if name else "REVIEW/cases.csv", out.getvalue())
        archive.writestr("ROOT/cases.csv", "\r\n".join(",".join(row) for row in cases))
    return path


# --- qualitative data analysis ---


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
        [
            f"Interview {item}",
            "Files",
            f"Codes\\\\Findings\\\\{text}",
            "0.0312",
            n,
            f"Passage {item} of some words",
            who,
            "05/01/2026",
        ]
        for n, (item, who, text) in enumerate(rows(), start=1)
    ]
    return workbook([[*head, "Coded By Initials", "Modified On"], *own], folder / "references.xlsx")


def dedoose(folder: Path) -> Path:
    """Dedoose, excerpts as a workbook."""
    head = ["Media Title", "Excerpt Range", "Excerpt Creator", "Excerpt Date", "Excerpt Copy", "Codes Applied Combined"]
    codes = sorted(set(ANSWERS.values()))
    own = [
        [
            f"Interview {item}",
            "40-90",
            who,
            "1/5/2026",
            f"Passage {item} of some words",
            text,
            *(code == text for code in codes),
        ]
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


# --- forms ------------------------------------------------------------------------------------------------------------


def redcap(folder: Path) -> Path:
    """REDCap 14, export of all data as CSV (raw): a record for each case and reader, ``--1`` and ``--2`` apart by an own field."""
    head = ["record_id", "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance", "reader", "finding"]
    head.append("reading_complete")
    table = [head]
    for item, given in by_item():
        table += [[item, "visit_arm_1", "reading", n, r, t, "2"] for n, (r, t) in enumerate(given, start=1)]
    return text_table(table, folder / "redcap.csv")


def survey(head: list[str], aside: Callable[[str], list[str]]) -> list[list[Any]]:
    """A row for each respondent, a column for each case."""
    return [head] + [[*aside(rater), *(ANSWERS.get((item, rater), "") for item in ITEMS)] for rater in RATERS]


def qualtrics(folder: Path) -> Path:
    """Qualtrics, export as CSV with two further header rows: the question's text and the import id."""
    names = ["StartDate", "Status", "Finished", "ResponseId", "RecipientEmail", *(f"Q{item}" for item in ITEMS)]
    table = survey(names, lambda r: ["2026-01-05 10:00:00", "IP Address", "True", r, ""])
    texts = ["Start Date", "Response Type", "Finished", "Response ID", "Recipient Email", *(f"Case {i}" for i in ITEMS)]
    ids = [json.dumps({"ImportId": name}) for name in names]
    return text_table([names, texts, ids, *table[1:]], folder / "qualtrics.csv", encoding="utf-8-sig")


def surveymonkey(folder: Path) -> Path:
    """SurveyMonkey, all responses as CSV: a second header row, empty but below questions."""
    head = ["Respondent ID", "Collector ID", "IP Address", *(f"What do you see in picture {item}?" for item in ITEMS)]
    head.append("How sure are you?")
    table = survey(head, lambda r: [r, "77", "10.0.0.1"])
    second = ["", "", "", *["Open-Ended Response"] * len(ITEMS), "Response"]
    return text_table([head, second, *([*row, "5"] for row in table[1:])], folder / "surveymonkey.csv")


def limesurvey(folder: Path) -> Path:
    """LimeSurvey 6, export as CSV with question codes; semicolons, as a German Excel wants them."""
    head = ["id", "submitdate", "lastpage", "startlanguage", "seed", "token", *(f"case{item}" for item in ITEMS)]
    table = survey(head, lambda r: [str(RATERS.index(r) + 1), "1980-01-01 00:00:00", "3", "de", "12345", r])
    return text_table(table, folder / "limesurvey.csv", ";", "utf-8-sig")


def kobo(folder: Path) -> Path:
    """KoBoToolbox, all submissions as CSV: semicolons, and the columns of the tool behind the questions."""
    head = ["start", "end", "Your name", *(f"Picture {item}" for item in ITEMS), "_id", "_uuid", "_submission_time"]
    head += ["_validation_status", "_notes", "_status", "_submitted_by", "__version__", "_tags", "_index"]
    table = survey(head, lambda r: ["2026-01-05T10:00:00.000+01:00", "2026-01-05T10:05:00.000+01:00", r])
    after = ["30", "u-1", "2026-01-05T09:05:00", "", "", "submitted_via_web", "", "vX", "", "1"]
    return text_table([head, *([*row, *after] for row in table[1:])], folder / "kobo.csv", ";", "utf-8-sig")


def google_forms(folder: Path) -> Path:
    """Google Forms, responses downloaded as CSV."""
    head = ["Timestamp", "Email Address", *(f"What do you see in picture {item}, in short?" for item in ITEMS)]
    return text_table(survey(head, lambda r: ["2026/01/05 10:00:00 AM GMT+1", r]), folder / "google.csv")


def microsoft_forms(folder: Path) -> Path:
    """Microsoft Forms, responses opened in Excel."""
    head = ["Id", "Start time", "Completion time", "Email", "Name", *(f"Picture {item}" for item in ITEMS)]
    aside = lambda r: [RATERS.index(r) + 1, "2026-01-05", "2026-01-05", "anonymous", r]  # noqa: E731
    return workbook(survey(head, aside), folder / "forms.xlsx")


# --- Label Studio -----------------------------------------------------------------------------------------------------


def label_studio(folder: Path) -> Path:
    """Label Studio 1.23, JSON."""
    tasks = []
    for item, given in by_item():
        annotations = [
            {
                "id": 100 * int(item) + RATERS.index(rater),
                "completed_by": RATERS.index(rater) + 1,
                "was_cancelled": False,
                "updated_at": "2026-01-05T10:00:00Z",
                "result": [
                    {
                        "id": "r",
                        "from_name": "finding",
                        "to_name": "text",
                        "type": "textarea",
                        "origin": "manual",
                        "value": {"text": [text]},
                    }
                ],
            }
            for rater, text in given
        ]
        tasks.append({"id": int(item), "data": {"text": f"Case {item}"}, "annotations": annotations})
    (folder / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    return folder / "export.json"


def _flat() -> list[dict[str, Any]]:
    return [
        {
            "text": f"Case {item}",
            "id": int(item),
            "finding": text,
            "annotator": RATERS.index(rater) + 1,
            "annotation_id": 100 * int(item) + RATERS.index(rater),
            "created_at": "2026-01-05T10:00:00Z",
            "updated_at": "2026-01-05T10:00:00Z",
            "lead_time": 3.5,
        }
        for item, rater, text in rows()
    ]


def json_min(folder: Path) -> Path:
    """Label Studio 1.23, JSON_MIN."""
    (folder / "min.json").write_text(json.dumps(_flat(), indent=2), encoding="utf-8")
    return folder / "min.json"


def label_studio_csv(folder: Path) -> Path:
    """Label Studio 1.23, CSV: columns in alphabetical order, quotes around texts."""
    path = folder / "label-studio.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, sorted(_flat()[0]), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(_flat())
    return path


# --- other tools ------------------------------------------------------------------------------------------------------


def prodigy(folder: Path) -> Path:
    """Prodigy 1.18, ``prodigy db-out`` of a text_input interface."""
    entries = [
        {
            "text": f"Case {item}",
            "_input_hash": 1000 + int(item),
            "_task_hash": -77,
            "field_rows": 1,
            "_view_id": "blocks",
            "user_input": text,
            "answer": "accept",
            "_timestamp": 1767600000,
            "_annotator_id": f"findings-{rater}",
            "_session_id": f"findings-{rater}",
        }
        for item, rater, text in rows()
    ]
    return json_lines(entries, folder / "prodigy.jsonl")


def argilla_flat(folder: Path) -> Path:
    """Argilla 2, ``records.to_list(flatten=True)`` or ``to_datasets()``, as JSON lines."""
    entries = [
        {
            "id": item,
            "_server_id": "3f1c",
            "text": f"Case {item}",
            "finding.responses": [text for _, text in given],
            "finding.responses.users": [f"uuid-{rater}" for rater, _ in given],
            "finding.responses.status": ["submitted"] * len(given),
        }
        for item, given in by_item()
    ]
    return json_lines(entries, folder / "argilla.jsonl")


def argilla_json(folder: Path) -> Path:
    """Argilla 2, ``records.to_json()``."""
    entries = [
        {
            "id": item,
            "fields": {"text": f"Case {item}"},
            "metadata": {},
            "suggestions": {},
            "responses": {"finding": [{"value": text, "user_id": f"uuid-{rater}"} for rater, text in given]},
            "vectors": {},
            "_server_id": "3f1c",
        }
        for item, given in by_item()
    ]
    (folder / "argilla.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder / "argilla.json"


def hugging_face(folder: Path) -> Path:
    """Argilla 1 on the Hugging Face hub: a column for each question, of user_id, value and status; Parquet."""
    given = [
        [{"user_id": f"uuid-{rater}", "value": text, "status": "submitted"} for rater, text in answers]
        for _, answers in by_item()
    ]
    pq.write_table(
        pa.table({"text": [f"Case {i}" for i in ITEMS], "finding": given, "external_id": list(ITEMS)}),
        folder / "hub.parquet",
    )
    return folder / "hub.parquet"


def doccano_zip(folder: Path) -> Path:
    """doccano 1.8, JSONL of a sequence-to-sequence project: a ZIP archive with a file for each member."""
    path = folder / "doccano.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for rater in RATERS:
            lines = [
                {"id": int(item), "text": f"Case {item}", "label": [text], "Comments": []}
                for item, who, text in rows()
                if who == rater
            ]
            archive.writestr(f"{rater}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return path


def doccano_users(folder: Path) -> Path:
    """doccano 1.0, JSONL with the annotators' numbers."""
    entries = [
        {
            "id": int(item),
            "text": f"Case {item}",
            "annotations": [{"text": text, "user": RATERS.index(rater) + 1} for rater, text in given],
            "meta": {},
        }
        for item, given in by_item()
    ]
    return json_lines(entries, folder / "doccano.jsonl")


def labelbox(folder: Path) -> Path:
    """Labelbox, export v2 as NDJSON: a free-text and a radio classification."""
    entries = [
        {
            "data_row": {"id": f"clx{item}", "external_id": f"case{item}", "row_data": "https://example.org/case"},
            "media_attributes": {"asset_type": "text"},
            "projects": {
                "clp1": {
                    "name": "Findings",
                    "labels": [
                        {
                            "label_kind": "Default",
                            "id": f"l{item}{rater}",
                            "label_details": {
                                "created_at": "2026-01-05T10:00:00.000+00:00",
                                "created_by": f"{rater}@example.org",
                            },
                            "annotations": {
                                "objects": [],
                                "classifications": [
                                    {
                                        "feature_id": "f",
                                        "name": "finding",
                                        "value": "finding",
                                        "text_answer": {"content": text},
                                    },
                                    {
                                        "feature_id": "g",
                                        "name": "sure",
                                        "value": "sure",
                                        "radio_answer": {"name": "yes"},
                                    },
                                ],
                            },
                        }
                        for rater, text in given
                    ],
                }
            },
        }
        for item, given in by_item()
    ]
    return json_lines(entries, folder / "labelbox.ndjson")


def of_model(rater: str) -> list[tuple[str, str, str | None]]:
    """Item, answer of a model, and the reference, which is what cy wrote."""
    return [(item, ANSWERS[item, rater], ANSWERS.get((item, "cy"))) for item in ITEMS if (item, rater) in ANSWERS]


def inspect_logs(folder: Path) -> Path:
    """Inspect, log version 2: an .eval archive of one model, and a JSON log of another."""
    root = folder / "inspect"
    root.mkdir()
    logs = {}
    for rater in ("ann", "bob"):
        samples = [
            {
                "id": int(item),
                "epoch": 1,
                "input": f"Case {item}",
                "target": target or "",
                "messages": [],
                "output": {
                    "model": rater,
                    "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
                    **({"completion": text} if rater == "bob" else {}),
                },
                "scores": {"match": {"value": "C", "answer": text}},
            }
            for item, text, target in of_model(rater)
        ]
        logs[rater] = {"version": 2, "status": "success", "eval": {"task": "findings", "model": rater}}, samples
    header, samples = logs["ann"]
    with zipfile.ZipFile(root / "2026_findings_ann.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": header["eval"]}))
        archive.writestr("summaries.json", json.dumps([{"id": one["id"], "epoch": 1} for one in samples]))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    header, samples = logs["bob"]
    last = {"id": 5, "epoch": 1, "target": ANSWERS["5", "cy"], "output": {"choices": []}, "error": {"message": "x"}}
    (root / "2026_findings_bob.json").write_text(json.dumps({**header, "samples": [*samples, last]}))
    return root


def openai_items(folder: Path) -> Path:
    """OpenAI evals, a page of output items of two runs."""
    items = [
        {
            "object": "eval.run.output_item",
            "id": f"outputitem_{rater}{item}",
            "run_id": f"evalrun_{rater}",
            "datasource_item_id": int(item),
            "datasource_item": {"input": f"Case {item}", **({"ideal": target} if target else {})},
            "results": [{"name": "match", "passed": True, "score": 1.0}],
            "sample": {
                "model": rater,
                "output": [{"role": "assistant", "content": text}],
                "error": {"code": None, "message": None},
            },
        }
        for rater in ("ann", "bob")
        for item, text, target in of_model(rater)
    ]
    path = folder / "output_items.json"
    path.write_text(json.dumps({"object": "list", "data": items, "has_more": False}, indent=1), encoding="utf-8")
    return path


def oaieval(folder: Path) -> Path:
    """oaieval: the specification, then events."""
    root = folder / "evallogs"
    root.mkdir()
    for rater in ("ann", "bob"):
        lines: list[Any] = [{"spec": {"completion_fns": [rater], "eval_name": "findings.dev.v0", "run_id": rater}}]
        for item, text, target in of_model(rater):
            event = {"run_id": rater, "event_id": len(lines), "sample_id": f"findings.dev.{item}"}
            lines.append({**event, "type": "sampling", "data": {"prompt": [], "sampled": [text]}})
            data = {"correct": False, "expected": target, "picked": None, "sampled": text}
            lines.append({**event, "type": "match", "data": data})
        json_lines([*lines, {"final_report": {"accuracy": 0.0}}], root / f"{rater}.jsonl")
    return root


def mlflow_tables(folder: Path) -> Path:
    """MLflow, eval_results_table.json of two models."""
    root = folder / "mlflow"
    root.mkdir()
    for rater in ("ann", "bob"):
        data = [[f"Case {item}", target, text, 1] for item, text, target in of_model(rater)]
        table = {"columns": ["inputs", "ground_truth", "outputs", "token_count"], "data": data}
        (root / f"{rater}.json").write_text(json.dumps(table), encoding="utf-8")
    return root


def langsmith(folder: Path) -> Path:
    """LangSmith, examples of a dataset with the runs of two experiments."""
    given = {item: dict(answers) for item, answers in by_item()}
    examples = [
        {
            "id": f"3f1c-{item}",
            "dataset_id": "d",
            "inputs": {"question": f"Case {item}"},
            "outputs": {"answer": given[item]["cy"]} if "cy" in given[item] else {},
            "runs": [
                {"id": "r", "session_id": f"session-{rater}", "outputs": {"answer": text}, "error": None}
                for rater, text in given[item].items()
                if rater != "cy"
            ],
        }
        for item in ITEMS
    ]
    (folder / "langsmith.json").write_text(json.dumps(examples), encoding="utf-8")
    return folder / "langsmith.json"


def langfuse(folder: Path) -> Path:
    """Langfuse, blob storage: a trace with a generation for each answer of a model, and text scores by an annotator."""
    root = folder / "langfuse"
    generations, scores = [], []
    for item, answers in by_item():
        given = dict(answers)
        for rater in ("ann", "bob"):
            if rater in given:
                ids = {"id": f"o-{rater}-{item}", "trace_id": f"t-{rater}-{item}", "project_id": "p"}
                kind = {"type": "GENERATION", "name": "find", "level": "DEFAULT", "provided_model_name": rater}
                times = {"start_time": f"2026-03-0{item} 10:00:00.000000", "end_time": None}
                texts = {"input": f"Case {item}", "output": json.dumps({"role": "assistant", "content": given[rater]})}
                generations.append({**ids, **kind, **times, **texts})
        if "cy" in given:
            about = {"trace_id": generations[-1]["trace_id"], "observation_id": None, "session_id": None}
            value = {"name": "finding", "value": 0, "data_type": "TEXT", "string_value": given["cy"]}
            who = {"source": "ANNOTATION", "author_user_id": "user-cy", "comment": None}
            scores.append({"id": f"s-{item}", "timestamp": f"2026-03-0{item} 11:00:00.000000", **about, **value, **who})
    for name, entries in (("observations_v2", generations), ("scores", scores)):
        (root / "p" / name).mkdir(parents=True)
        json_lines(entries, root / "p" / name / "2026-03-09.jsonl")
    return root


def inception_csv(folder: Path) -> Path:
    """INCEpTION 37, agreement page, export of the diff as CSV: "null" where an annotator has nothing."""
    table = [["Type", "Collection", "Document", "Layer", "Feature", "Position", *RATERS]]
    for item in ITEMS:
        values = [ANSWERS.get((item, rater), "null") for rater in RATERS]
        table.append(["SpanPosition", "", f"case{item}.txt", "custom.Finding", "value", "0-4", *values])
    return text_table(table, folder / "agreement.csv")


def _cas(text: str) -> Any:
    system = cassis.TypeSystem()
    finding = system.create_type("webanno.custom.Finding", supertypeName="uima.tcas.Annotation")
    system.create_feature(finding, "value", "uima.cas.String")
    made = cassis.Cas(system, sofa_string="A case")
    made.add(finding(begin=0, end=6, value=text))
    return made


def uima_xmi(folder: Path) -> Path:
    """UIMA CAS XMI (1.1), a folder for each annotator."""
    root = folder / "xmi"
    for item, rater, text in rows():
        made = _cas(text)
        (root / rater).mkdir(parents=True, exist_ok=True)
        made.to_xmi(root / rater / f"case{item}.xmi")
        made.typesystem.to_xml(root / "TypeSystem.xml")
    return root


def inception_zip(folder: Path) -> Path:
    """INCEpTION 37, export of a project with UIMA CAS JSON 0.4: ``annotation/DOCUMENT/ANNOTATOR.zip``."""
    path = folder / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("exportedproject.json", "{}")
        for item, rater, text in rows():
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as one:
                one.writestr(f"{rater}.json", _cas(text).to_json())
            archive.writestr(f"annotation/case{item}.txt/{rater}.zip", inner.getvalue())
        for item in ITEMS:
            archive.writestr(f"annotation/case{item}.txt/INITIAL_CAS.json", _cas("nothing yet").to_json())
    return path


def potato_states(folder: Path) -> Path:
    """Potato 2, ``annotation_output``: a folder with ``user_state.json`` for each annotator."""
    root = folder / "annotation_output"
    for rater in RATERS:
        labels = {
            item: [[{"schema": "finding", "name": "text_box"}, text], [{"schema": "sure", "name": "yes"}, "true"]]
            for item, who, text in rows()
            if who == rater
        }
        (root / rater).mkdir(parents=True)
        (root / rater / "user_state.json").write_text(
            json.dumps(
                {"user_id": rater, "instance_id_ordering": list(labels), "instance_id_to_label_to_value": labels}
            ),
            encoding="utf-8",
        )
    return root


def potato_lines(folder: Path) -> Path:
    """Potato 1, ``annotated_instances.jsonl`` for each annotator."""
    root = folder / "potato1"
    for rater in RATERS:
        (root / rater).mkdir(parents=True)
        lines = [
            {"id": item, "displayed_text": "A case", "label_annotations": {"finding": {"text_box": text}}}
            for item, who, text in rows()
            if who == rater
        ]
        json_lines(lines, root / rater / "annotated_instances.jsonl")
    return root


def brat(folder: Path) -> Path:
    """brat 1.3, standoff: annotators' notes on the documents, a folder for each annotator."""
    root = folder / "brat"
    for item, rater, text in rows():
        (root / rater).mkdir(parents=True, exist_ok=True)
        lines = ["T1\tCase 0 6\tA case", f"#1\tAnnotatorNotes T1\t{text}"]
        (root / rater / f"case{item}.ann").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (root / rater / f"case{item}.txt").write_text("A case", encoding="utf-8")
    return root


def folder_of_raters(folder: Path) -> Path:
    """A table for each rater, named after the rater; of several kinds."""
    root = folder / "raters"
    root.mkdir()
    own = {rater: [[item, text] for item, who, text in rows() if who == rater] for rater in RATERS}
    text_table([["case", "finding"], *own["ann"]], root / "ann.csv", ";")
    workbook([["case", "finding"], *own["bob"]], root / "bob.xlsx")
    json_lines([{"case": item, "finding": text} for item, text in own["cy"]], root / "cy.jsonl")
    return root


WIDE = {"item": "id", "raters": RATERS}
LONG = {"item": "case", "rater": "nurse", "text": "remark"}
FORMATS: dict[str, Format] = {
    "CSV item,rater,text": Format(
        long_csv, damaged=(("\r\n2,ann,fever", "\r\n2,fever", "expected item, rater and text"),)
    ),
    "long table": Format(
        long_other_names,
        {"item": "case", "rater": "nurse", "text": "remark"},
        (("remark", "said", "has no column 'remark'"),),
    ),
    "wide CSV": Format(
        wide_csv,
        WIDE,
        (("2,ann".replace("2,ann", "fever,high fever"), "fever,high fever,x,y", "6 cells where the header has 4"),),
    ),
    "wide TSV": Format(wide_tsv, WIDE),
    "wide XLSX": Format(wide_xlsx, WIDE),
    "wide Parquet": Format(wide_parquet, WIDE),
    "JSONL item, rater, texts": Format(
        jsonl, damaged=(('"texts": ["fever"]', '"texts": "fever"', "texts is not a list"),)
    ),
    "JSON list": Format(json_list, damaged=(('"answer": "fever"', '"answer": 5', "has 5, which is not a text"),)),
    "log of language models": Format(model_log, damaged=(('"model": "bob"', '"model": ""', "model is missing"),)),
    "REDCap": Format(
        redcap,
        {"item": "record_id", "rater": "reader", "text": "finding"},
        (("visit_arm_1,reading,1,ann,fever,2", "visit_arm_1,reading,1,,fever,2", "reader is missing"),),
    ),
    "Qualtrics": Format(
        qualtrics,
        {"rater": "ResponseId", "items": "Q*"},
        (("IP Address,True,ann", "IP Address,True,", "ResponseId is missing"),),
    ),
    "SurveyMonkey": Format(surveymonkey, {"rater": "Respondent ID", "items": "What do you see*"}),
    "LimeSurvey": Format(
        limesurvey, {"rater": "token", "items": "case*"}, ((";12345;ann", ";12345;", "token is missing"),)
    ),
    "KoBoToolbox": Format(
        kobo,
        {"rater": "Your name", "items": "Picture*"},
        (("05:00.000+01:00;ann", "05:00.000+01:00;", "Your name is missing"),),
    ),
    "Google Forms": Format(
        google_forms,
        {"rater": "Email Address", "items": "What do you see*"},
        (("GMT+1,ann", "GMT+1,bob", "rater 'bob' has two answers"),),
    ),
    "Microsoft Forms": Format(microsoft_forms, {"rater": "Name", "items": "Picture*"}),
    "Label Studio JSON": Format(label_studio, damaged=(('"result":', '"reslt":', "result is missing"),)),
    "Label Studio JSON_MIN": Format(
        json_min, damaged=(('"finding": "fever"', '"finding": 5', "finding has no texts"),)
    ),
    "Label Studio CSV": Format(
        label_studio_csv, damaged=(('"fever",2,', '"fever","",', "expected id, annotator and annotation_id"),)
    ),
    "Prodigy": Format(
        prodigy,
        damaged=(
            (
                '"_annotator_id": "findings-bob", "_session_id": "findings-bob"',
                '"_annotator_id": ""',
                "names an annotator",
            ),
            ('"_input_hash": 1002,', "", "expected _input_hash"),
        ),
    ),
    "Argilla": Format(
        argilla_flat, damaged=(('["uuid-ann", "uuid-bob"]', '["uuid-ann"]', "differ in number from their users"),)
    ),
    "Argilla JSON": Format(argilla_json, damaged=(('"user_id": "uuid-bob"', '"user": 1', "has no user_id"),)),
    "Hugging Face": Format(hugging_face),
    "doccano": Format(doccano_zip),
    "Labelbox": Format(
        labelbox,
        damaged=(
            ('"created_by": "bob@example.org"', '"created_by": null', "does not name its labeler"),
            ('"labels": [', '"label": [', "has no list of labels"),
        ),
    ),
    "Inspect": Format(inspect_logs),
    "OpenAI evals": Format(
        openai_items,
        damaged=(
            ('"model": "bob"', '"model": null', "does not name its model"),
            ('"datasource_item": {', '"datasource": {', "no sample or no datasource_item"),
        ),
    ),
    "OpenAI evals, oaieval": Format(oaieval),
    "MLflow": Format(mlflow_tables),
    "LangSmith": Format(
        langsmith, damaged=(('"session_id": "session-bob"', '"session": ""', "does not name its experiment"),)
    ),
    "Langfuse": Format(langfuse),
    "LightTag": Format(
        lighttag,
        damaged=(
            ('"annotator": "bob"', '"annotator": " "', "names no annotator"),
            ('"classname": "fever"', '"classname": 5', "classname is no text"),
            ('"example_id": "uuid-2",\n', '"id": 2,\n', "expected an example of LightTag"),
        ),
    ),
    "Datasaur": Format(datasaur),
    "doccano 1.0": Format(doccano_users, damaged=(('"user": 2', '"users": 2', "names no user"),)),
    "INCEpTION agreement": Format(
        inception_csv, damaged=(("0-4,fever,high fever,null", "0-4,fever,high fever,null,x", "10 cells"),)
    ),
    "INCEpTION project": Format(inception_zip),
    "UIMA CAS XMI": Format(uima_xmi),
    "Potato": Format(potato_states),
    "Potato 1": Format(potato_lines),
    "brat": Format(brat),
    "AnnData": Format(anndata, {**WIDE, "item": "index"}),
    "wide ODS": Format(wide_ods, WIDE),
    "long XLS": Format(long_xls, LONG),
    "SPSS": Format(spss, LONG),
    "Stata": Format(stata, LONG),
    "SAS": Format(sas, LONG),
    "R": Format(rds, LONG),
    "REFI-QDA project": Format(refi_qda),
    "REFI-QDA, a project for each coder": Format(refi_qda_folder),
    "QualCoder": Format(qualcoder),
    "Taguette": Format(taguette),
    "Taguette highlights": Format(taguette_highlights),
    "ATLAS.ti quotations": Format(atlas_ti),
    "MAXQDA coded segments": Format(maxqda),
    "NVivo coding references": Format(nvivo),
    "Dedoose excerpts": Format(dedoose),
    "QualCoder coding report": Format(qualcoder_report),
    "coded passages with places": Format(
        coded_places,
        damaged=(("Interview 1;201;", "Interview 1;;", "without their words or places in characters"),),
    ),
    "folder": Format(folder_of_raters, {"item": "case", "text": "finding"}),
}
