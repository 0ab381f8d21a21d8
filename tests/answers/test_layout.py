"""Columns of any table: named by the user, recognized by their names, or suggested."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.answer import OLDER_DUPLICATE
from softirr.answers.table import AnnotationTable, Answer, Excluded
from softirr.errors import InputError
from softirr.text import is_blank, normalize
from tests import Cli
from tests.answers.formats.common import text_table, workbook
from tests.answers.plain_rows import read, refusal, rows, text_file

WIDE = "id,nurse_1,nurse_2,comment\n1,fever,high fever,\n2,cough,,unsure\n3,,,\n"


class TestWide:
    def test_empty_cell_is_not_asked_unless_the_option_changes_it(self) -> None:
        options = {"item": "id", "raters": ["nurse_1", "nurse_2"]}
        table = read(WIDE, **options)
        expected = {("1", "nurse_1", ("fever",)), ("1", "nurse_2", ("high fever",)), ("2", "nurse_1", ("cough",))}
        assert rows(table) == expected
        assert table.items == ("1", "2", "3")
        (warning,) = table.warnings
        assert warning.startswith("3 empty cells count as not asked")
        nothing = {("2", "nurse_2", ()), ("3", "nurse_1", ()), ("3", "nurse_2", ())}
        assert rows(read(WIDE, empty="none", **options)) == expected | nothing
        assert read(WIDE, empty="none", **options).warnings == ()

    def test_a_melted_table_is_read_as_the_wide_one(self) -> None:
        cells = [line.split(",") for line in WIDE.splitlines()]
        long = "".join(f"{row[0]},{cells[0][i]},{row[i]}\n" for i in (1, 2) for row in cells[1:])
        other_table = read("id,variable,value\n" + long, item="id", rater="variable", text="value")
        assert rows(other_table) == rows(read(WIDE, item="id", raters=["nurse_1", "nurse_2"]))
        # with our own names an empty text is an answer, by contract; a table that looks melted gets a warning
        table = read("item,rater,text\n" + long)
        assert ("3", "nurse_1", ()) in rows(table)
        assert any("--empty missing" in warning.on_command_line for warning in table.warnings)
        assert rows(read("item,rater,text\n" + long, empty="missing")) == rows(other_table)

    def test_several_columns_are_one_answer(self) -> None:
        text = "id,ann_1,ann_2,bob_1,bob_2\n1,fever,cough,cough,\n"
        for raters in ("ann=ann_1+ann_2,bob=bob_1+bob_2", {"ann": ["ann_1", "ann_2"], "bob": ["bob_1", "bob_2"]}):
            assert rows(read(text, item="id", raters=raters)) == {
                ("1", "ann", ("cough", "fever")),
                ("1", "bob", ("cough",)),
            }

    def test_columns_by_a_pattern_and_in_any_case(self) -> None:
        assert rows(read(WIDE, item="ID", raters="NURSE_*")) == rows(read(WIDE, item="id", raters="nurse_1,nurse_2"))

    def test_a_column_of_items_has_no_answers(self) -> None:
        text = "id,ann,bob,share\n1,x,x,1\n2,y,z,2\n"
        assert read(text, item="id", raters="*").raters == ("ann", "bob", "share")
        assert "raters= names a column that has the names of items" in refusal(text, item="id", raters="id,ann,bob")
        assert "text= names a column that has the names" in refusal(text, item="id", rater="ann", text="ann")
        assert "item= and rater= name the same column" in refusal(text, item="id", rater="id", text="ann")
        assert "'share' has the weights" in refusal(text, item="id", raters="*", weight="share")

    def test_an_item_of_two_columns(self) -> None:
        text = "case,question,ann,bob\n1,a,x,y\n1,b,x,x\n"
        assert read(text, item="case+question", raters="ann,bob").items == ("1 / a", "1 / b")

    def test_repeated_item_is_refused_without_the_repeats_option(self) -> None:
        text = "id,ann,bob\n1,x,y\n1,z,\n"
        assert "line 3: rater 'ann' has two answers for item '1': say with repeats=" in refusal(
            text, item="id", raters="ann,bob"
        )
        options = {"item": "id", "raters": "ann,bob"}
        assert ("1", "ann", ("x", "z")) in rows(read(text, repeats="set", **options))
        last = read(text, repeats="last", **options)
        assert ("1", "ann", ("z",)) in rows(last)
        assert last.excluded == (Excluded("1", "ann", OLDER_DUPLICATE),)
        assert ("1", "ann", ("x",)) in rows(read(text, repeats="first", **options))

    def test_short_rows_cause_a_warning(self) -> None:
        table = read("id,ann,bob,cy\n1,x,y,z\n2,x\n3,x,y\n", item="id", raters="ann,bob,cy")
        assert len(table.item) == 6
        assert any(warning.startswith("2 rows are shorter") for warning in table.warnings)


class TestLong:
    LOG = "id,coder,answer\n1,a,x\n1,a,y\n1,b,x\n"

    def test_repeats_are_not_merged_silently(self) -> None:
        table = read(self.LOG)
        assert ("1", "a", ("x", "y")) in rows(table)
        assert any(
            "1 row repeats a rater and an item. The rows of a rater and an item count as a set" in warning
            for warning in table.warnings
        )
        last = read(self.LOG, repeats="last")
        assert ("1", "a", ("y",)) in rows(last)
        assert last.excluded == (Excluded("1", "a", OLDER_DUPLICATE),)
        assert "two answers" in refusal(self.LOG, repeats="refuse")

    def test_several_columns_of_texts(self, tmp_path: Path, cli: Cli) -> None:
        text = "id,who,finding,plan\n1,ann,fever,rest\n1,bob,fever,tea\n2,ann,rash,\n2,bob,itch,cream\n"
        options: dict[str, Any] = {"item": "id", "rater": "who"}
        tables = softirr.read_texts(io.StringIO(text), text=["finding", "plan"], **options)
        assert rows(tables["plan"]) == {("1", "ann", ("rest",)), ("1", "bob", ("tea",)), ("2", "bob", ("cream",))}
        assert "several columns of texts (finding, plan)" in refusal(text, text="finding,plan", **options)
        assert ("1", "ann", ("fever", "rest")) in rows(read(text, text="finding+plan", **options))
        (tmp_path / "a.csv").write_text(text)
        words = [str(tmp_path / "a.csv"), *shlex.split("--item id --rater who --text finding,plan --measure exact")]
        assert cli("score", *words).count("\nKrippendorff's alpha  ") == 2
        assert "one column of texts" in cli("audit", "sample", *words, status=2)


def test_a_repeated_header_is_refused() -> None:
    file = "\ufeffstart,who,Q1,Q2\t\n8:00,ann,fever,rash\n"
    assert "line 3: the header is repeated" in refusal(file * 2, item="who", raters="Q1,Q2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"item": "case"}, "no column 'case'; it has id, nurse_1"),
        ({"item": "id", "raters": "nurse_1,nurse_1"}, "raters names a column twice"),
        ({"item": "id", "raters": "doctor_*"}, "no column like 'doctor_*'"),
        ({"repeats": "merge"}, "The option repeats is 'merge'"),
        ({"format": "json"}, "is no JSON"),
        ({"rater": "id", "text": "x"}, "no column 'item'"),
    ],
)
def test_unusable_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(WIDE, **options)
    assert message in str(caught.value)


def test_two_columns_of_one_name_are_named() -> None:
    message = refusal("id,rater 1,rater 1 ,rater 2\n1,a,b,c\n", item="id", raters="rater*")
    assert "raters names two columns 'rater 1'. Give each a heading of its own." in message


UNNAMED = {
    "other words": "case_no,who,remark\n1,ann,fever\n1,bob,rash\n",
    "no rater": "id,text\n1,fever\n2,rash\n",
    "two texts": "id,rater,text,answer\n1,ann,fever,a\n1,bob,rash,b\n",
    "a column for each rater": "Fall;Anna;Berta\n1;Fieber;hohes Fieber\n",
    "a survey": "Timestamp,Response ID,Picture 1,Picture 2\nt,R_1,fever,rash\n",
}


@pytest.mark.parametrize("case", UNNAMED)
def test_columns_without_obvious_names_are_listed_and_asked_for(case: str, tmp_path: Path, cli: Cli) -> None:
    path = text_file(tmp_path / "a.csv", UNNAMED[case])
    header = UNNAMED[case].splitlines()[0].replace(";", ",")
    error = cli("score", path, "--measure", "indel", status=2)
    assert (
        f"has the columns {header.replace(',', ', ')}. Name them: --item COLUMN --rater COLUMN --text COLUMN" in error
    )
    output = cli("inspect", path)
    assert all(f"\n  {name}\n" in output for name in header.split(","))
    assert f"softirr score {path} --item COLUMN --raters COLUMN,COLUMN" in output
    listed = cli("inspect", path, "--json")
    assert listed["columns"] == header.split(",")


@pytest.mark.parametrize(
    "header", ["Aufgabe,Bewerter,Antwort", "cas,évaluateur,réponse", "caso,anotador,texto", "项目,标注者,答案"]
)
def test_translated_headers_are_recognized(header: str) -> None:
    table = read(f"{header}\n1,ann,fever\n1,bob,rash\n")
    assert rows(table) == {("1", "ann", ("fever",)), ("1", "bob", ("rash",))}
    assert table.warnings[0].startswith("The columns were recognized by their names")


NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=5).map(normalize).filter(bool)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\x1a", exclude_categories=("C",)), max_size=12)


class TestAnyTable:
    @given(
        st.lists(NAMES, min_size=1, max_size=6, unique=True),
        st.lists(NAMES, min_size=2, max_size=4, unique_by=str.casefold),
        st.data(),
        st.sampled_from([",", ";", "\t"]),
        st.sampled_from(["missing", "none"]),
    )
    @settings(max_examples=120, deadline=None)
    def test_wide_and_long_tables_give_the_same_answers(
        self, items: list[str], raters: list[str], data: st.DataObject, delimiter: str, empty: str
    ) -> None:
        raters = [f"r {name}" for name in raters]
        cells = {(item, rater): data.draw(TEXTS) for item in items for rater in raters}
        expected = AnnotationTable.from_answers(
            [
                Answer(item, rater, () if is_blank(text) else (text,))
                for (item, rater), text in cells.items()
                if empty == "none" or not is_blank(text)
            ],
            items=items,
        )
        options: dict[str, Any] = {"empty": empty, "missing": "none"}

        def csv_of(table: list[list[str]]) -> io.StringIO:
            out = io.StringIO(newline="")
            csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(table)
            return io.StringIO(out.getvalue())

        wide = csv_of([["the id", *raters]] + [[item, *(cells[item, rater] for rater in raters)] for item in items])
        long = csv_of([["the id", "who", "said"]] + [[item, rater, text] for (item, rater), text in cells.items()])
        assert rows(softirr.read(wide, item="the id", raters=raters, **options)) == rows(expected)
        assert rows(softirr.read(long, item="the id", rater="who", text="said", **options)) == rows(expected)

    @given(st.binary(max_size=300))
    @settings(max_examples=300, deadline=None)
    def test_any_bytes_are_read_or_refused_in_one_sentence(self, data: bytes) -> None:
        path = Path(self.folder) / "input"
        path.write_bytes(data)
        self.check(path)

    @pytest.mark.slow
    @given(st.lists(st.lists(st.text(max_size=6), max_size=4), max_size=6), st.sampled_from(",;\t"))
    @settings(max_examples=300, deadline=None)
    def test_any_cells_are_read_or_refused_in_one_sentence(self, table: list[list[str]], mark: str) -> None:
        path = Path(self.folder) / "input"
        path.write_text("\n".join(mark.join(row) for row in table), encoding="utf-8", errors="replace", newline="")
        self.check(path)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        type(self).folder = str(tmp_path_factory.mktemp("any"))

    folder = ""

    @staticmethod
    def check(path: Path) -> None:
        refused = None
        try:
            softirr.read(path)
        except InputError as error:
            refused = error
        assert refused is None or str(refused).endswith((".", ")"))


SHOWN = [[str(i), f"narrative {i}", who, text] for i in range(4) for who, text in (("ann", "fever"), ("bob", "hot"))]
"""Item, the text that raters were shown, rater, and answer."""


def test_text_column_next_to_labels_is_not_guessed_as_answers(tmp_path: Path) -> None:
    """All raters were shown the same text, so agreement would be perfect."""
    path = text_table([["id", "text", "annotator", "label"], *SHOWN], tmp_path / "labels.csv")
    assert "has the columns id, text, annotator, label. Name them" in refusal(path)
    folder = tmp_path / "raters"
    folder.mkdir()
    for who in ("ann", "bob"):
        rows_of_rater = [[item, text, label] for item, text, rater, label in SHOWN if rater == who]
        text_table([["id", "text", "label"], *rows_of_rater], folder / f"{who}.csv")
    assert "name them with item= and text=" in refusal(folder)
    assert set(softirr.read(folder, item="id", text="label").texts) == {"fever", "hot"}


@pytest.mark.parametrize("names", ["item,text,rater,opinion", "id,text,annotator,opinion"])
def test_texts_that_are_the_same_for_all_raters_are_named(names: str, tmp_path: Path) -> None:
    path = text_table([names.split(","), *SHOWN], tmp_path / "texts.csv")
    assert any("the text that they were shown" in warning for warning in softirr.read(path).warnings)
    few_rows = text_table([names.split(","), *SHOWN[:6]], tmp_path / "few.csv")
    differ = text_table(
        [names.split(","), *SHOWN, ["5", "x", "ann", ""], ["5", "y", "bob", ""]], tmp_path / "other.csv"
    )
    for path in (few_rows, differ):
        assert not any("they were shown" in warning for warning in softirr.read(path).warnings)


def test_an_item_that_is_only_in_the_row_above_is_asked_for(tmp_path: Path) -> None:
    path = workbook([["case", "rater", "answer"], ["1", "ann", "fever"], ["", "bob", "hot"]], tmp_path / "a.xlsx")
    assert "row 3: case is missing. If it is the same as in the row above, fill the cell." in refusal(path)
