"""Warnings with a remedy: names of items and raters in two forms."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.text import normalize
from tests import Cli


def warnings(content: str, **options: Any) -> tuple[str, ...]:
    return softirr.read(io.StringIO(content), **options).warnings


@pytest.mark.parametrize(
    ("first_name", "second_name"),
    [("1", "01"), ("1", "1.0"), ("1000", "1,000"), ("Case 1", "case_01"), ("a b", "A-B"), ("Ａ1", "a1"), ("007", "7")],
)
def test_items_of_one_form_that_nobody_has_answered_twice(first_name: str, second_name: str) -> None:
    rows = f'item,rater,text\n"{first_name}",ann,x\n"{second_name}",bob,x\nc,ann,x\nc,bob,y\n'
    (warning,) = warnings(rows)
    names = f"{normalize(first_name)!r} and {normalize(second_name)!r}"
    assert warning.startswith(f"Items may be counted twice, because their ids differ in form only: {names}.")
    assert "write each id one way" in warning


def test_items_that_differ_in_case_are_two_if_a_rater_answered_both() -> None:
    rows = "item,rater,text\na,ann,x\nA,ann,y\na,bob,x\nA,bob,y\n"
    assert warnings(rows) == ()


@pytest.mark.parametrize(
    ("first_name", "second_name"),
    [("CD4+", "CD4-"), ("1", "11"), ("1.1", "1.10"), ("1-1", "11"), ("-1", "1"), ("x1", "x2")],
)
def test_other_items_are_other_items(first_name: str, second_name: str) -> None:
    rows = f"item,rater,text\n{first_name},ann,x\n{second_name},bob,x\nc,ann,x\nc,bob,y\n"
    assert warnings(rows) == ()


def test_raters_of_one_form_in_long_and_wide_tables() -> None:
    start = "Raters may be counted twice, because their names differ in form only: 'Ann' and 'ann'."
    (long,) = warnings("item,rater,text\n1,Ann,x\n2,ann,x\n1,bob,x\n2,bob,y\n")
    (wide,) = warnings("case,Ann,bob,ann\n1,x,x,y\n", item="case", raters=["Ann", "bob", "ann"])
    assert long.startswith(start) and wide.startswith(start)


def test_inspect_and_score_say_so(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item,rater,text\n1,Ann,x\n01,bob,y\n2,ann,x\n2,bob,y\n", encoding="utf-8")
    for command in (["inspect", str(path)], ["score", str(path), "--measure", "exact"]):
        output = cli(*command)
        assert "Note: Raters may be counted twice" in output
        assert "Note: Items may be counted twice" in output


def test_names_that_are_missing_or_shortened_are_counted() -> None:
    rows = "item,rater,text\n1.2E+12,ann,x\n1.2E+12,NA,x\nNA,ann,y\nNA,NA,z\n3,ann,x\n3,bob,y\n"
    raters, items = warnings(rows)
    assert raters.startswith("1 rater written like a missing value") and "'NA'" in raters
    assert items.startswith("2 items written like a missing value") and "'1.2E+12'; 'NA'" in items


def test_categories_in_two_forms_cause_a_warning_and_texts_do_not() -> None:
    rows = "item,rater,side\n1,ann,Left\n1,bob,left\n2,ann,1\n2,bob,1.0\n3,ann,right\n3,bob,right\n"
    columns = {"item": "item", "rater": "rater", "text": "side"}
    (warning,) = warnings(rows, kind="nominal", **columns)
    assert "'1' and '1.0'; 'Left' and 'left'" in warning
    assert warnings(rows, **columns) == warnings(rows, kind="ordinal:Left,left,1,1.0,right", **columns) == ()


@pytest.mark.parametrize("text", ["????", "?????? 38", "f\ufffdver"])
def test_texts_with_lost_characters_cause_a_warning(text: str) -> None:
    (warning,) = warnings(f"item,rater,text\n1,ann,{text}\n1,bob,{text}\n2,ann,x???\n2,bob,x\n")
    assert warning.startswith("1 text seems to have lost characters") and "UTF-8" in warning


def test_raters_of_the_options_are_in_the_table() -> None:
    rows = "item,rater,text\n1,ann,x\n1,bob,x\n2,cy,x\n2,bob,x\n"
    (warning,) = warnings(rows, ignore_raters=["Cy", "ann"])
    assert warning == "No rater is named 'Cy', as ignore_raters= says."
    (warning,) = warnings(rows, rater_names={"zoe": "Zoe", "cy": "Cy"})
    assert warning == "No rater is named 'zoe', as rater_names= says."
    (warning,) = warnings(rows, rater_names={"ann": "bob"})
    assert warning == "The raters 'ann' and 'bob' have one name, 'bob', and count as one rater."
    assert warnings(rows, rater_names={"ann": "bob", "bob": "ann"}) == ()
