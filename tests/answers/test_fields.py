"""Fields of items: columns of files and frames that describe items."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import polars as pl
import pytest

import softirr
from tests.answers.plain_rows import annotation, refusal, task

CSV = """item,rater,text,site,year
1,ann,fever,Basel,2021
1,bob,cough,Basel,
2,ann,rash,Bern,2022
2,bob,rash,Bern,2022
"""


def _task(number: int, site: object, *dates: str) -> dict[str, object]:
    annotated = [annotation(10 * number + n, n, "fever", created_at=date) for n, date in enumerate(dates)]
    return task(number, *annotated, data={"site": site, "note": ["x"]})


EXPORT = json.dumps(
    [_task(1, "Basel", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"), _task(2, None, "2026-02-02T00:00:00Z")]
)
JSONL = """{"item": "1", "rater": "ann", "texts": ["a"], "site": "Basel"}
{"item": "2", "rater": "ann", "texts": [], "site": 4}
"""


class TestReading:
    def test_columns_of_a_csv_file(self) -> None:
        table = softirr.read(io.StringIO(CSV), fields=["site", "year"])
        assert table.fields == {"site": ("Basel", "Bern"), "year": ("2021", "2022")}

    def test_nothing_is_read_unasked(self) -> None:
        assert softirr.read(io.StringIO(CSV)).fields == {}
        assert softirr.read(io.StringIO(CSV)).sha256 == softirr.read(io.StringIO(CSV), fields=["site"]).sha256

    def test_data_of_label_studio_tasks(self) -> None:
        table = softirr.read(io.StringIO(EXPORT), fields=["site", "annotated_at"])
        assert table.fields["site"] == ("Basel", "")
        assert table.fields["annotated_at"] == ("2026-01-03T00:00:00Z", "2026-02-02T00:00:00Z")

    def test_keys_of_jsonl(self) -> None:
        assert softirr.read(io.StringIO(JSONL), fields=["site"]).fields == {"site": ("Basel", "4")}

    @pytest.mark.parametrize("library", [pd, pl])
    def test_columns_of_a_data_frame(self, library: object) -> None:
        long = library.DataFrame({"item": ["1", "1"], "rater": ["a", "b"], "text": ["x", "y"], "year": [2021.0, None]})
        assert softirr.read(long, fields=["year"]).fields == {"year": ("2021",)}
        wide = library.DataFrame({"item": [1, 2], "a": ["x", "y"], "b": ["x", "z"], "site": ["Basel", "Bern"]})
        assert softirr.read(wide, raters=["a", "b"], fields=["site"]).fields == {"site": ("Basel", "Bern")}


class TestWhatCannotBe:
    @pytest.mark.parametrize("text", [CSV, EXPORT, JSONL])
    def test_an_unknown_field_is_refused_with_those_there_are(self, text: str) -> None:
        assert re.search(r"no field 'modality'; it has .*site", refusal(text, fields=["modality"]))

    def test_two_values_for_one_item(self) -> None:
        assert "line 3: the item 1 has two values of site" in refusal(
            CSV.replace("1,bob,cough,Basel", "1,bob,cough,Bern"), fields=["site"]
        )


def test_a_part_keeps_the_fields_of_its_items() -> None:
    part_of_table = softirr.read(io.StringIO(CSV), fields=["site"]).part(items=["2"], raters=["bob"])
    assert (part_of_table.items, part_of_table.raters, part_of_table.fields) == (("2",), ("bob",), {"site": ("Bern",)})
