"""Terminologies that softirr reads: a table of concepts, and OBO."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.meaning.terminology import load, name_of, named_path
from softirr.meaning.terminology.readers import lines, read_table
from tests.meaning.terminology.terms import HEART_OBO as OBO


def test_obo_has_names_exact_synonyms_and_parents(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo.gz"
    path.write_bytes(gzip.compress(OBO.encode()))
    terminology = load(str(path))
    assert (terminology.name, terminology.ids) == ("hp", ("HP:0001", "HP:0002"))
    assert terminology.names == (("Heart disease",), ("Myocardial infarction", "Heart attack"))
    assert terminology.parents == ((), (0,))


@pytest.mark.parametrize(
    ("header", "second", "third"),
    [
        ("id,name,synonym,parent", "B,heart attack,infarction,A", "C,silent infarction,,B"),
        ("ID,Name,Synonyms,Parents", "B,heart attack,infarction;coronary,A", "C,silent infarction,,B|A"),
    ],
)
def test_a_table_has_synonyms_and_parents(header: str, second: str, third: str, tmp_path: Path) -> None:
    path = tmp_path / "house.csv"
    path.write_text(f"{header}\nA,heart disease,,\n{second}\n{third}\n", encoding="utf-8")
    terminology = load(f"ours={path}")
    assert terminology.name == "ours" and terminology.ids == ("A", "B", "C")
    assert terminology.names[1][:2] == ("heart attack", "infarction")
    assert terminology.parents == ((), (0,), (1, 0) if "|" in third else (1,))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "a.obo",
            OBO.replace('"Heart attack" EXACT', '"Heart attack EXACT'),
            "line 11: a synonym without closed",
        ),
        ("a.obo", OBO.replace("name: Heart disease", "just words"), "line 6: neither a stanza nor a tag"),
        ("a.obo", OBO.replace("HP:0002", "HP:0001"), "line 8: the concept HP:0001 is listed twice"),
        ("a.csv", "id,name\nA,fever,hot\n", "line 2: 3 columns instead of 2"),
        ("a.csv", "id,name\n,fever\n", "line 2: a concept has no id"),
        ("a.csv", "id,name\nA,fever\nA,cough\n", "line 3: the concept A has another name here than above"),
        ("a.csv", "", "needs the columns id and name"),
        ("a.txt", "term\tnumber\nFever\t1\n", "line 1: a table of concepts needs the columns id and name."),
        ("a.json", "{}", "is not a terminology that softirr reads"),
        ("a.xml", "<html/>", "is not a terminology that softirr reads"),
    ],
)
def test_unusable_files_are_refused(file: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(path) in str(caught.value) and message in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load(str(tmp_path / "nothing.obo"))
    with pytest.raises(InputError, match="is not a terminology that softirr reads"):
        load(str(tmp_path))


def test_a_name_comes_before_an_equals_sign(tmp_path: Path) -> None:
    path = tmp_path / "a=b" / "terms.tsv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"id\tname\n1\tfever\n"))
    assert named_path(str(path)) == ("", path)
    assert (name_of(str(path)), name_of(f"ours={path}"), load(str(path)).name) == ("terms", "ours", "terms")


@pytest.mark.parametrize("file", ["list.tsv", "list.csv", "list.txt"])
def test_a_table_of_ids_and_names_is_a_list_of_concepts(file: str, tmp_path: Path) -> None:
    between = "," if file.endswith(".csv") else "\t"
    (tmp_path / file).write_text(f"id{between}name\nA{between}Fever\nB{between}Joint pain\n")
    read = load(str(tmp_path / file))
    assert read.name == "list" and read.ids == ("A", "B") and read.names == (("Fever",), ("Joint pain",))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo.gz"
    path.write_bytes(gzip.compress(OBO.encode())[:-40])
    with pytest.raises(InputError, match="damaged gzip"):
        load(str(path))


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_larger_than_any_terminology_is_refused(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("softirr.meaning.terminology.readers.LARGEST", 1 << 20)
    path = tmp_path / ("huge.obo.gz" if packed else "huge.obo")
    content = b"format-version: 1.2\n" + b"remark: x\n" * (1 << 18)
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match="is larger than"):
        load(str(path))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a\tb\n"said" she\tx\n', [{"a": '"said" she', "b": "x"}]),
        ('a\tb\n"one ""two"" three"\tx\n', [{"a": 'one "two" three', "b": "x"}]),
        ('a\tb\n"two\nlines"\tx\n', [{"a": "two\nlines", "b": "x"}]),
        ('a,b\n"one, two",x\n', [{"a": "one, two", "b": "x"}]),
        ("a\tb\r\n1\t2\r\n", [{"a": "1", "b": "2"}]),
    ],
)
def test_tables_with_quotation_marks(text: str, rows: list[dict[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(text.encode())
    assert [row for _, row in read_table(path)] == rows


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_numbers_with_every_line_end(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "lines.obo"
    path.write_bytes("\ufeff".encode() + end.join([b"one", "zwölf".encode(), b"", b"four"]) + end)
    assert list(lines(path)) == [(1, "one"), (2, "zwölf"), (3, ""), (4, "four")]
    path.write_bytes(end.join([b"one", b"two", "zw\u00f6lf".encode("latin-1"), b"four"]))
    with pytest.raises(InputError, match=r"lines\.obo, line \d: a byte that does not belong in UTF-8 text") as caught:
        list(lines(path))
    if end != b"\r":  # else the whole file is read as one
        assert "line 3:" in str(caught.value)
    path.write_bytes(end.join([b"one", b"t\0wo"]))
    with pytest.raises(InputError, match="line 2: the file is not text"):
        list(lines(path))
