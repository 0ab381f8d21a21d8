"""A codebook as a file of other programs: each can be read back."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pyreadstat
import pytest

import softirr
from softirr.cli.main import main
from softirr.report.codebook_files import ENDINGS, codebook_file
from tests import Cli

ROWS = "item,rater,text\n1,ann,fever\n1,bob,fevers\n2,ann,rash\n2,bob,fever\n2,cy,=1+1\n3,ann,a\x01 <b> & c\n"


@pytest.fixture
def written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the codebook of the same answers in each format."""
    (tmp_path / "a.csv").write_text(ROWS)
    for ending in ENDINGS:
        target = str(tmp_path / f"book{ending.upper() if ending == '.csv' else ending}")
        assert main(["codebook", str(tmp_path / "a.csv"), "--measure", "indel", "--output", target]) == 0
    capsys.readouterr()
    return tmp_path


def test_a_code_book_of_refi_qda(written: Path) -> None:
    text = (written / "book.qdc").read_text(encoding="utf-8")
    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>")
    root = ElementTree.fromstring(text)
    space = "{urn:QDA-XML:codebook:1.0}"
    codes = root.findall(f"{space}Codes/{space}Code")
    assert root.tag == f"{space}CodeBook" and {code.get("name") for code in codes} == {
        "fever",
        "rash",
        "=1+1",
        "a <b> & c",
    }
    assert len({code.get("guid") for code in codes}) == 4 and all(code.get("isCodable") == "true" for code in codes)
    (fever,) = [code for code in codes if code.get("name") == "fever"]
    assert fever.findtext(f"{space}Description") == "Texts: fever; fevers.\nUsed 3 times by ann, bob."
    again = softirr.codebook(softirr.read(written / "a.csv"), "indel")
    assert codebook_file(again, softirr.read(written / "a.csv"), ".qdc").decode() == text


def test_agreed_answers_as_csv(written: Path) -> None:
    with (written / "book.CSV").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    of = {(row["item"], row["rater"]): (row["text"], row["name"], row["raters"], row["answered"]) for row in rows}
    assert of["1", "bob"] == ("fevers", "fever", "2", "2") and of["2", "bob"] == ("fever", "fever", "1", "3")
    assert of["2", "cy"][0] == "'=1+1", "no spreadsheet runs it"
    read = softirr.read(written / "book.CSV", item="item", rater="rater", text="name")
    assert softirr.agreement(read, "exact").coefficients["observed_agreement"].value == pytest.approx(0.5)


def test_labels_of_spss(written: Path) -> None:
    frame, meta = pyreadstat.read_sav(written / "book.sav")
    assert set(meta.variable_value_labels["code"].values()) >= {"fever", "rash", "=1+1"}
    read = softirr.read(written / "book.sav", item="item", rater="rater", text="code")
    assert {"fever", "rash"} <= set(read.texts) and len(frame) == 6


def test_columns_have_labels_in_spss(written: Path) -> None:
    meta = pyreadstat.read_sav(written / "book.sav", metadataonly=True)[1]
    assert meta.column_names_to_labels["code"] == "Entry of the codebook"


@pytest.mark.parametrize("name", ["agreed.qdpx", "agreed.xlsx"])
def test_an_unknown_ending_is_refused(name: str, written: Path, cli: Cli) -> None:
    error = cli("codebook", written / "a.csv", "--measure", "indel", "--output", written / name, status=2)
    assert "a codebook is written as .tsv" in error
    assert not (written / name).exists()
