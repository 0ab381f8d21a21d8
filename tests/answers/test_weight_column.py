"""Weights of items in columns of tables, keys of JSONL, and data of Label Studio's tasks."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pandas as pd
import polars as pl
import pytest

import softirr
from tests.answers.plain_rows import annotation, refusal, region, task

CSV = """item,rater,text,share
1,ann,fever,2
1,bob,cough,
2,ann,rash,0.5
2,bob,rash,0.5
"""
EXPORT = json.dumps(
    [
        task(number, annotation(10 * number, 1, "fever"), annotation(10 * number + 1, 2, "rash"), data={"share": share})
        for number, share in ((1, 2), (2, "0.5"))
    ]
)
JSONL = """{"item": "1", "rater": "ann", "texts": ["a"], "share": "2"}
{"item": "2", "rater": "ann", "texts": [], "share": 0.5}
"""


@pytest.mark.parametrize("text", [CSV, EXPORT, JSONL], ids=["csv", "label-studio", "jsonl"])
class TestText:
    def test_weights_are_those_of_the_column(self, text: str) -> None:
        weights = softirr.read(io.StringIO(text), weight="share").weights
        assert weights is not None and weights.tolist() == [2.0, 0.5]

    def test_nothing_is_read_unasked(self, text: str) -> None:
        table = softirr.read(io.StringIO(text))
        assert table.weights is None and table.sha256 == softirr.read(io.StringIO(text), weight="share").sha256

    def test_an_unknown_column_is_refused_with_those_there_are(self, text: str) -> None:
        assert re.search(r"no field 'modality'; it has .*share", refusal(text, weight="modality"))


_SPANS = [region(["fever"], value={"text": ["fever"], "start": start, "end": start + 4}) for start in (0, 6)]
_TURNS = [region(["fever"], from_name=f"rewrite_{turn}", to_name=f"turn_{turn}") for turn in (0, 1)]


@pytest.mark.parametrize(("results", "mark"), [(_SPANS, "#"), (_TURNS, "/")])
def test_regions_and_turns_have_the_weight_of_their_task(results: list[dict[str, Any]], mark: str) -> None:
    tasks = [
        task(
            number, *(annotation(10 * number + rater, rater, result=results) for rater in (1, 2)), data={"share": share}
        )
        for number, share in ((1, 2), (2, "0.5"))
    ]
    table = softirr.read(io.StringIO(json.dumps(tasks)), weight="share", regions="matched")
    assert table.items == tuple(f"{task_id}{mark}{index}" for task_id in (1, 2) for index in (0, 1))
    assert table.weights is not None and table.weights.tolist() == [2.0, 2.0, 0.5, 0.5]


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_a_data_frame(library: object) -> None:
    long = library.DataFrame({"item": ["1", "1"], "rater": ["a", "b"], "text": ["x", "y"], "share": [2.0, None]})
    wide = library.DataFrame({"item": [1, 2], "a": ["x", "y"], "b": ["x", "z"], "share": [2, 1]})
    for table, expected in (
        (softirr.read(long, weight="share"), [2.0]),
        (softirr.read(wide, raters=["a", "b"], weight="share"), [2.0, 1.0]),
    ):
        assert table.weights is not None and table.weights.tolist() == expected


def test_two_weights_of_one_item_are_refused() -> None:
    assert "line 3: the item 1 has two values of share" in refusal(
        CSV.replace("1,bob,cough,", "1,bob,cough,3"), weight="share"
    )


def test_a_part_keeps_the_weights_of_its_items() -> None:
    part_of_table = softirr.read(io.StringIO(CSV), weight="share").part(items=["2"], raters=["bob"])
    assert part_of_table.weights is not None and part_of_table.weights.tolist() == [0.5]


@pytest.mark.parametrize("weight", ["1e300", "1e-300"])
def test_weights_beyond_floating_point_are_refused_in_one_sentence(weight: str) -> None:
    rows = f"item,rater,text,share\n1,ann,fever,{weight}\n1,bob,fever,{weight}\n"
    with pytest.raises(softirr.InputError, match="too large or too small"):
        softirr.read(io.StringIO(rows), weight="share")
