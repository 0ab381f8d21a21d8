"""Data frames of pandas and polars, long and wide, give the table that a file gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import softirr
from tests.answers.plain_rows import refusal, rows

LONG = {
    "item": [1, 1, 1, 2, 2],
    "rater": ["ann", "ann", "bob", "ann", "bob"],
    "text": ["fever", "cough", "fever", "rash", ""],
}
LIBRARIES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])


@LIBRARIES
class TestBoth:
    def test_long(self, library: Any, tmp_path: Path) -> None:
        lines = zip(LONG["item"], LONG["rater"], LONG["text"], strict=True)
        (tmp_path / "a.csv").write_text("item,rater,text\n" + "".join(f"{i},{r},{t}\n" for i, r, t in lines))
        frame = library.DataFrame(LONG)
        assert rows(softirr.read(frame, empty="none")) == rows(softirr.read(tmp_path / "a.csv"))
        assert rows(softirr.read(frame)) == rows(softirr.read(tmp_path / "a.csv", empty="missing"))

    def test_wide(self, library: Any) -> None:
        frame = library.DataFrame({"id": [1, 2, 3], "ann": ["fever", "", None], "bob": ["cough", "rash", "  "]})
        table = softirr.read(frame, item="id", raters=["ann", "bob"])
        assert rows(table) == {("1", "ann", ("fever",)), ("1", "bob", ("cough",)), ("2", "bob", ("rash",))}
        assert table.items == ("1", "2", "3")

    def test_cells_of_several_texts(self, library: Any) -> None:
        frame = library.DataFrame({"item": [1, 2], "ann": [["fever", "cough"], []], "bob": [["rash"], ["itch"]]})
        assert rows(softirr.read(frame, raters=["ann", "bob"])) == {
            ("1", "ann", ("cough", "fever")),
            ("1", "bob", ("rash",)),
            ("2", "ann", ()),
            ("2", "bob", ("itch",)),
        }

    @pytest.mark.parametrize(
        ("columns", "options", "message"),
        [
            ({"a": [1]}, {}, "has the columns a. Name them: item="),
            ({"item": [1]}, {"raters": ["ann"]}, "no column 'ann'"),
            ({"a": [1]}, {"rater": "b"}, "no column 'item'; it has a"),
            ({"item": [1], "a": ["x"]}, {"raters": ["a", "a"]}, "a column twice"),
            ({"item": [1], "a": [5]}, {"raters": ["a"]}, "Row 1, column 'a', has 5, which is not a text"),
            ({"item": [None], "a": ["x"]}, {"raters": ["a"]}, "Row 1: item is missing"),
            ({"item": [1, 1], "a": ["x", "y"]}, {"raters": ["a"]}, "two answers for item '1'"),
            ({"item": [1], "rater": [" "], "text": ["x"]}, {}, "Row 1: rater is missing"),
            (LONG, {"control": "findings"}, "no controls"),
        ],
    )
    def test_unusable_columns_are_refused(
        self, library: Any, columns: dict[str, Any], options: dict[str, Any], message: str
    ) -> None:
        assert re.search(message, refusal(library.DataFrame(columns), **options))


def test_the_missing_values_of_pandas() -> None:
    frame = pd.DataFrame({"item": [1.0, 2.0, 3.0], "a": ["x", np.nan, pd.NA], "b": [pd.NaT, "y", "z"]})
    assert rows(softirr.read(frame, raters=["a", "b"])) == {("1", "a", ("x",)), ("2", "b", ("y",)), ("3", "b", ("z",))}


@pytest.mark.parametrize("source", [3, None, {"item": [1]}, ["a"]])
def test_other_objects_are_refused(source: object) -> None:
    assert "A path, an open text file or a data frame can be read" in refusal(source)


class TestIndex:
    LONG = pd.DataFrame({"item": ["x", "x", "y", "y"], "rater": ["ann", "bob"] * 2, "text": ["a", "a", "b", "c"]})

    def test_named_levels_are_columns(self) -> None:
        expected_rows = rows(softirr.read(self.LONG))
        assert rows(softirr.read(self.LONG.set_index(["item", "rater"]))) == expected_rows
        assert rows(softirr.read(self.LONG.set_index("item"))) == expected_rows

    def test_a_pivoted_table_leaves_no_doubt(self) -> None:
        wide = self.LONG.pivot(index="item", columns="rater", values="text")
        assert rows(softirr.read(wide)) == rows(softirr.read(self.LONG))
        assert "has the columns item, ann, bob" in refusal(wide.rename_axis(columns=None))

    @pytest.mark.parametrize("name", [None, "case", "item"])
    def test_the_index_is_the_items_of_a_wide_table(self, name: str | None) -> None:
        wide = pd.DataFrame({"ann": ["a", "b"], "bob": ["a", "c"]}, index=pd.Index(["x", "y"], name=name))
        assert rows(softirr.read(wide, raters=["ann", "bob"])) == rows(softirr.read(self.LONG))

    def test_a_column_of_items_comes_before_the_index(self) -> None:
        wide = pd.DataFrame({"item": ["x", "y"], "ann": ["a", "b"], "bob": ["a", "c"]}, index=[7, 8])
        assert rows(softirr.read(wide, raters=["ann", "bob"])) == rows(softirr.read(self.LONG))

    def test_rows_of_one_label_are_refused(self) -> None:
        wide = pd.DataFrame({"ann": ["a", "b"], "bob": ["a", "c"]}, index=["x", "x"])
        assert "two answers for item 'x'" in refusal(wide, raters=["ann", "bob"])


def test_a_table_of_pyarrow() -> None:
    assert rows(softirr.read(pa.table(LONG))) == rows(softirr.read(pd.DataFrame(LONG)))


def test_a_frame_that_is_not_computed() -> None:
    assert "has not been computed yet" in refusal(pl.DataFrame(LONG).lazy())
