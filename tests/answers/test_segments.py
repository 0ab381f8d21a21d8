"""Coded passages: which passages of two coders are one item, whatever their order, and what a project of one coder is told."""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
import zipfile
from pathlib import Path

import pytest

import softirr
from softirr.answers.gathered import Request
from softirr.answers.read_options import ReadOptions
from softirr.answers.segments import Segment, segment_tables
from softirr.errors import InputError
from tests.answers.formats.coders import atlas_ti, qualcoder, refi_qda, refi_qda_folder, taguette, taguette_highlights
from tests.answers.formats.common import text_table
from tests.answers.plain_rows import refusal, text_file


def items(*segments: tuple[str, str, int, int], overlap: float = 0.5) -> dict[str, dict[str, tuple[str, ...]]]:
    given = [Segment("doc", *one) for one in segments]
    table = segment_tables(given, Request("p", ReadOptions(overlap=overlap)), "test")["code"]
    by_item: dict[str, dict[str, tuple[str, ...]]] = {}
    for item, rater, answer in zip(table.item, table.rater, table.answer, strict=True):
        by_item.setdefault(table.items[item], {})[table.raters[rater]] = table.texts_of(answer)
    return by_item


@pytest.mark.parametrize(("overlap", "joined"), [(0.5, True), (0.6, True), (0.61, False), (1, False)])
def test_the_share_of_common_characters(overlap: float, joined: bool) -> None:
    """0-80 and 20-100 have 60 of 100 characters in common."""
    assert (len(items(("ann", "x", 0, 80), ("bob", "y", 20, 100), overlap=overlap)) == 1) is joined


@pytest.mark.parametrize("overlap", [0, -1, 1.1, float("nan"), "half"])
def test_a_share_that_is_none_is_refused(overlap: float) -> None:
    with pytest.raises(InputError, match="option overlap"):
        ReadOptions(overlap=overlap)


def test_several_codes_of_one_passage_are_a_set() -> None:
    assert items(("ann", "x", 0, 9), ("ann", "y", 0, 9), ("bob", "y", 0, 9)) == {
        "doc 0-9": {"ann": ("x", "y"), "bob": ("y",)}
    }


def test_the_best_overlap_is_taken_first_and_each_passage_once() -> None:
    assert items(("ann", "wide", 0, 100), ("ann", "tight", 0, 60), ("bob", "b", 0, 62)) == {
        "doc 0-62": {"ann": ("tight",), "bob": ("b",)},
        "doc 0-100": {"ann": ("wide",)},
    }


def test_order_does_not_matter() -> None:
    chance = random.Random(3)
    segments = [
        (coder, f"c{chance.randrange(9)}", start := chance.randrange(400), start + chance.randrange(1, 60))
        for coder in ("ann", "bob", "cy")
        for _ in range(40)
    ]
    expected = items(*segments)
    for _ in range(5):
        chance.shuffle(segments)
        assert items(*segments) == expected
    assert all(len(raters) <= 3 for raters in expected.values())


def test_passages_of_other_documents_and_touching_passages_are_apart() -> None:
    given = [Segment("one", "ann", "x", 0, 9), Segment("two", "bob", "x", 0, 9), Segment("one", "bob", "x", 9, 18)]
    table = segment_tables(given, Request("p"), "test")["code"]
    assert len(table.items) == 3
    assert table.warnings[1] == "3 passages were coded by one coder only and are not compared."


ALONE = "has the codes of one coder: give a folder or ZIP archive with"


@pytest.mark.parametrize("write", [refi_qda_folder, taguette, taguette_highlights, atlas_ti])
def test_the_file_of_one_coder_asks_for_the_others(write, tmp_path: Path) -> None:
    for path in sorted(write(tmp_path).iterdir()):
        assert f"{path} {ALONE}" in refusal(path)


def test_a_zip_archive_of_projects_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = refi_qda_folder(tmp_path)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    assert softirr.read(tmp_path / "all.zip").sha256 != softirr.read(folder).sha256
    assert softirr.read(tmp_path / "all.zip").texts == softirr.read(folder).texts
    assert softirr.read(qualcoder(tmp_path) / "data.qda").raters == softirr.read(tmp_path / "interviews.qda").raters


def test_codes_of_pictures_are_counted(tmp_path: Path) -> None:
    assert any(
        "1 code of whole documents, pictures" in warning for warning in softirr.read(refi_qda(tmp_path)).warnings
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("<Project ", "<!DOCTYPE a [<!ENTITY x 'y'>]><Project ", "declares entities"),
        ("</Project>", "", "its XML is damaged"),
        ('endPosition="', 'end="', "a passage has no endPosition"),
        ('targetGUID="', 'targetGUID="0', "has a code that is not in the code book"),
    ],
)
def test_a_damaged_project_is_refused(before: str, after: str, words: str, tmp_path: Path) -> None:
    path = refi_qda(tmp_path)
    with zipfile.ZipFile(path) as archive:
        text = archive.read("project.qde").decode()
    assert before in text
    (tmp_path / "project.qde").write_text(text.replace(before, after), encoding="utf-8")
    assert re.search(words, refusal(tmp_path / "project.qde"))


def test_a_code_book_is_no_project(tmp_path: Path) -> None:
    path = text_file(tmp_path / "codes.qdc", '<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes/></CodeBook>')
    assert "is a code book without coded documents" in refusal(path)


def test_an_unknown_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    assert "is a database of an unknown program" in refusal(tmp_path / "a.db")


HEAD = "Document;Start;End;Codes;Quotation Content;Created by"


def quotations(path: Path, *lines: str) -> dict[str, tuple[str, ...]]:
    path.write_text("\n".join([HEAD, *lines]), encoding="utf-8")
    table = softirr.read(path)
    cells = zip(table.item, table.rater, table.answer, strict=True)
    return {f"{table.items[item]} {table.raters[rater]}": table.texts_of(answer) for item, rater, answer in cells}


def test_codes_of_a_quotation_are_a_set_and_quotations_without_a_code_are_none(tmp_path: Path) -> None:
    given = quotations(
        tmp_path / "a.csv",
        'one;4;13;"stress\nnight";it hurts;ann',
        "one;5;14;night;hurts a;bob",
        "one;90;99;;so what;ann",
    )
    assert given == {"one 4-14 ann": ("night", "stress"), "one 4-14 bob": ("night",)}


def test_places_in_paragraphs_are_no_characters(tmp_path: Path) -> None:
    """Two quotations of one paragraph are two items."""
    given = quotations(
        tmp_path / "a.csv", "one;4;4;stress;it hurts;ann", "one;4;4;boss;my boss;ann", "one;4;4;pain;it hurts;bob"
    )
    assert given == {"one: it hurts ann": ("stress",), "one: my boss ann": ("boss",), "one: it hurts bob": ("pain",)}


def test_a_table_of_passages_whose_columns_are_named_is_any_table(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.csv", "document,content,code,coder\none,x,fever,ann\none,x,rash,bob\n")
    assert softirr.read(path, item="document", rater="coder", text="code").items == ("one",)
    assert softirr.read(path).items == ("one: x",)


@pytest.mark.parametrize("write", [refi_qda, refi_qda_folder, qualcoder, taguette])
def test_the_definitions_of_codes_are_read(write, tmp_path: Path) -> None:
    table = softirr.read(write(tmp_path))
    assert table.reading is not None and set(table.reading.definitions) == set(table.texts)
    assert all(re.fullmatch(r"Code \d+ of all", one) for one in table.reading.definitions.values())


def test_a_code_book_beside_the_projects_defines_their_codes(tmp_path: Path) -> None:
    folder = refi_qda_folder(tmp_path)
    code = '<Code name="fever"><Description>38.5 or more</Description></Code>'
    (folder / "all.qdc").write_text(f'<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes>{code}</Codes></CodeBook>')
    table = softirr.read(folder)
    assert table.reading is not None and table.reading.definitions["fever"] == "38.5 or more"
    assert "fever: 38.5 or more" in str(softirr.codebook(table, "indel"))


def project(path: Path, sources: str, codes: str = "", users: str = "") -> Path:
    """A project of REFI-QDA with the codes stress and joy, and the coders ann and bob."""
    users = users or '<User guid="u1" name="ann"/><User guid="u2" name="bob"/>'
    codes = codes or '<Code guid="c1" name="stress"/><Code guid="c2" name="joy"/>'
    whole = f"<Users>{users}</Users><CodeBook><Codes>{codes}</Codes></CodeBook><Sources>{sources}</Sources>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", f'<Project xmlns="urn:QDA-XML:project:1.0">{whole}</Project>')
    return path


def marked(user: str, code: str, name: str = "interview") -> str:
    by = f'creatingUser="{user}"' if user else ""
    return (
        f'<TextSource name="{name}"><PlainTextSelection startPosition="0" endPosition="9" {by}><Coding {by}>'
        f'<CodeRef targetGUID="{code}"/></Coding></PlainTextSelection></TextSource>'
    )


def both(code_ann: str = "c1", code_bob: str = "c2") -> str:
    """A document in which ann and bob coded one passage."""
    return (marked("u1", code_ann) + marked("u2", code_bob)).replace('</TextSource><TextSource name="interview">', "")


def test_documents_of_one_name_are_apart(tmp_path: Path) -> None:
    table = softirr.read(project(tmp_path / "p.qdpx", marked("u1", "c1") + marked("u2", "c2")))
    assert table.items == ("interview 0-9", "interview (2) 0-9")
    path = taguette(tmp_path)
    for file in path.iterdir():
        with contextlib.closing(sqlite3.connect(file)) as data, data:
            data.execute("UPDATE documents SET name = 'Interview'")
    own = softirr.read(path)
    assert {item.rpartition(" ")[0] for item in own.items} >= {"Interview", "Interview (2)"}
    assert any("matched in the order of their projects" in one for one in own.warnings), "they may be others"
    assert not any("order of their projects" in one for one in table.warnings), "one project, in which ids tell"


def test_codes_without_a_coder_are_left_out(tmp_path: Path) -> None:
    table = softirr.read(project(tmp_path / "p.qdpx", both() + marked("", "c1", "memo")))
    assert table.raters == ("ann", "bob") and len(table.items) == 1
    assert "1 code names no coder and is left out." in table.warnings
    assert "does not name the coders" in refusal(project(tmp_path / "p.qdpx", marked("", "c1")))


def test_codes_of_one_name_are_named(tmp_path: Path) -> None:
    codes = '<Code guid="w" name="work"><Code guid="c1" name="stress"/></Code><Code guid="c2" name="stress"/>'
    table = softirr.read(project(tmp_path / "p.qdpx", both(), codes))
    assert table.texts == ("stress",)
    assert "Several codes of the code book have one name, and count as one code: stress." in table.warnings
    assert not any("one name" in one for one in softirr.read(project(tmp_path / "p.qdpx", both("c1", "c1"))).warnings)


def test_codes_of_whole_documents_are_counted(tmp_path: Path) -> None:
    coding = '<Coding creatingUser="u1"><CodeRef targetGUID="c1"/></Coding>'
    path = project(tmp_path / "p.qdpx", both().replace("<PlainText", f"{coding}<PlainText", 1))
    assert any("1 code of whole documents" in one for one in softirr.read(path).warnings)
    assert re.search(
        r"1 code of whole documents, .* can't be compared",
        refusal(project(tmp_path / "p.qdpx", f'<TextSource name="i">{coding}</TextSource>')),
    )


def test_a_folder_with_one_project_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    path = project(tmp_path / "team" / "p.qdpx", both())
    assert softirr.read(tmp_path / "team").raters == softirr.read(path).raters == ("ann", "bob")


def test_a_project_of_several_coders_in_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    project(tmp_path / "team" / "one.qdpx", both())
    project(tmp_path / "team" / "two.qdpx", marked("u1", "c1"))
    warnings = softirr.read(tmp_path / "team").warnings
    assert "The project one has codes of ann, bob: all of them count as codes of one." in warnings
    assert not any("project two" in one for one in warnings)


def test_projects_of_qualcoder_with_several_coders_are_named_and_all_their_memos_read(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    for name in ("one", "two"):
        qualcoder(tmp_path).rename(tmp_path / "team" / f"{name}.qda")
    with contextlib.closing(sqlite3.connect(tmp_path / "team" / "one.qda" / "data.qda")) as data, data:
        data.execute("UPDATE code_name SET memo = NULL WHERE name = 'fever'")
    table = softirr.read(tmp_path / "team")
    assert table.raters == ("one", "two") and table.reading is not None
    assert "The project one has codes of ann, bob, cy: all of them count as codes of one." in table.warnings
    assert set(table.reading.definitions) == set(table.texts)


@pytest.mark.parametrize(
    ("head", "code", "expected"),
    [
        ("Document group,Document name,Code,Segment,Author", "Work > Stress", "Stress"),
        ("Dokumentgruppe,Dokumentname,Code,Segment,Erstellt von", "Arbeit > Stress", "Stress"),
        ("ID,Dokument,Kodes,Zitatinhalt,Erstellt von", "○ Stress", "Stress"),
        ("ID,Documento,Códigos,Contenido de la cita,Creado por", "Estrés > más", "Estrés > más"),
    ],
)
def test_headings_of_other_versions_and_languages(head: str, code: str, expected: str, tmp_path: Path) -> None:
    rows = [["1:1", "d", code, "some words", who] for who in ("ann", "bob")]
    table = softirr.read(text_table([head.split(","), *rows], tmp_path / "coded.csv"))
    assert table.raters == ("ann", "bob") and table.texts == (expected,)
