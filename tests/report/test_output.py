"""A report as files: it joins the input, runs nothing in a spreadsheet, and shows texts as texts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import softirr
from softirr.answers.sheets import cell_text
from softirr.cli.main import main
from tests import Cli

INPUT = {
    "id": ["=1+1", "0007", "case 3", "Ω"],
    "site": ["a", "b", "a", "b"],
    "ann": ["fever", "=cmd|' /C calc'!A0", "<script>alert(1)</script>", "rash"],
    "bob": ["high fever", "-pain", "a & b", "rash\x07"],
    "cy": ["fever", None, "</style><b>", "itchy rash"],
}
KINDS = ("coefficients", "items", "raters", "pairs", "matches", "reasons")


@pytest.fixture
def output(tmp_path: Path) -> tuple[Path, softirr.AgreementReport]:
    table = softirr.read(pd.DataFrame(INPUT), item="id", raters=["ann", "bob", "cy"])
    report = softirr.agreement(table, "indel")
    report.to_folder(tmp_path / "out" / "deep", source="ward <1>.csv")
    return tmp_path / "out" / "deep", report


def test_every_file_is_there(output: tuple[Path, softirr.AgreementReport]) -> None:
    folder, report = output
    names = {path.name for path in folder.iterdir()}
    assert names == {"methods.md", "report.html", "report.json", *(f"{kind}.csv" for kind in KINDS)}
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == json.loads(json.dumps(report.to_dict()))


def test_items_join_the_input(output: tuple[Path, softirr.AgreementReport]) -> None:
    folder, report = output
    items = pd.read_csv(folder / "items.csv", dtype={"item": str})
    items["item"] = items["item"].map(cell_text)
    merged = pd.DataFrame(INPUT).merge(items, left_on="id", right_on="item", validate="one_to_one")
    assert len(merged) == 4
    expected = {item.id: item.agreement for item in report.items}
    assert dict(zip(merged["id"], merged["agreement"], strict=True)) == pytest.approx(expected)


def test_every_text_is_in_the_matches(output: tuple[Path, softirr.AgreementReport]) -> None:
    matches = output[1].to_frame("matches").reset_index()
    cells = set(zip(matches["item"], matches["rater"], matches["text"], strict=True))
    assert ("0007", "ann", "=cmd|' /C calc'!A0") in cells
    assert len(cells) == 11
    csv_table = pd.read_csv(output[0] / "matches.csv", dtype=str, keep_default_na=False)
    assert csv_table["text"].map(cell_text).tolist() == matches["text"].tolist()


def test_no_cell_is_a_formula(output: tuple[Path, softirr.AgreementReport]) -> None:
    for path in output[0].glob("*.csv"):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        texts = [value for name in ("item", "text") if name in frame for value in frame[name]]
        assert not [value for value in texts if value.startswith(("=", "@", "-", "+"))]


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_shows_texts_and_loads_nothing(output: tuple[Path, softirr.AgreementReport]) -> None:
    page = Page()
    page.feed((output[0] / "report.html").read_text(encoding="utf-8"))
    assert not {"img", "iframe", "b", "object"} & set(page.tags)
    assert not [value for name, value in page.attributes if name == "src" or name.startswith("on")]
    assert all(value and value.startswith(("#", "data:,")) for name, value in page.attributes if name == "href")
    policy = next(value for name, value in page.attributes if name == "content" and value and "default-src" in value)
    assert "default-src 'none'" in policy and policy.count("sha256-") == 3 and "unsafe" not in policy
    text = " ".join(page.texts)
    for text_on_page in ("<script>alert(1)</script>", "ward <1>.csv", "Krippendorff’s alpha", "Ω", "case 3"):
        assert text_on_page in text
    assert page.tags.count("script") == 1, "the tabs"


def test_several_texts_have_a_folder_each(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.csv").write_text("id,who,f/1,plan\n1,a,x,y\n1,b,x,z\n2,a,x,y\n2,b,y,y\n")
    words = ["--item", "id", "--rater", "who", "--text", "f/1,plan", "--measure", "exact"]
    cli("score", tmp_path / "a.csv", *words, "--output", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"f_1", "plan"}


def test_texts_with_like_names_do_not_share_a_folder(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.csv").write_text("id,who,f/1,F?1\n1,a,x,y\n1,b,x,z\n2,a,x,y\n2,b,x,w\n")
    words = ["--item", "id", "--rater", "who", "--text", "f/1,F?1", "--measure", "exact"]
    cli("score", tmp_path / "a.csv", *words, "--output", tmp_path / "out")
    first, second = sorted((tmp_path / "out").iterdir(), key=lambda path: len(path.name))
    assert [
        json.loads((folder / "report.json").read_text())["items"][0]["agreement"] for folder in (first, second)
    ] == [1, 0]


def test_a_folder_that_can_not_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("item,rater,text\n1,a,x\n1,b,y\n")
    (tmp_path / "file").write_text("")
    words = ["score", str(tmp_path / "a.csv"), "--measure", "exact", "--output", str(tmp_path / "file")]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert "Observed agreement" in out and "can't be written" in err
