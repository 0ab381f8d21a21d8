"""Missing answers written as a text: which texts count as missing, and the notes about them."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.labelstudio.answers import Reading, read_task
from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from softirr.answers.missing import MissingMarks
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError, on_command_line
from tests import Cli
from tests.answers.plain_rows import annotation, left_out, region, task, text_file

MARKS = ["NA", "n/a", "N/A", "-", "--", "null", "NULL", ".", "?", "\u2013", "#N/A", "k. A."]
MARKS += ["not applicable", " n/A ", "Not  Applicable"]
WIDE = {"item": "case", "raters": ["ann", "bob", "cy"]}


def wide(mark: str, *, rows: int = 40) -> str:
    """Three raters; two of them did not get a third of the items, which is written as `mark`."""
    chance = random.Random(1)
    lines = ["case,ann,bob,cy"]
    for i in range(rows):
        cells = [chance.choice(["fever", "cough", "rash", "itch"]) for _ in range(3)]
        if chance.random() < 0.35:
            cells[:2] = [f'"{mark}"'] * 2
        lines.append(f"{i},{','.join(cells)}")
    return "\n".join(lines) + "\n"


def kappas(table: AnnotationTable) -> list[float]:
    report = softirr.agreement(table, "exact", progress=None, options=softirr.AgreementOptions(reasons=False))
    return [coefficient.value for coefficient in report.coefficients.values() if coefficient.value is not None]


class TestDefault:
    @pytest.mark.slow
    @pytest.mark.parametrize("mark", MARKS)
    def test_a_mark_counts_as_the_empty_cell_does(self, mark: str) -> None:
        marked_table = softirr.read(io.StringIO(wide(mark)), **WIDE)
        blank = softirr.read(io.StringIO(wide("")), **WIDE)
        kept_table = softirr.read(io.StringIO(wide(mark)), missing="none", **WIDE)
        assert kappas(marked_table) == pytest.approx(kappas(blank), abs=1e-12)
        assert kappas(kept_table.part(raters=["ann", "bob"]))[0] > kappas(blank.part(raters=["ann", "bob"]))[0] + 0.1

    def test_warnings_and_excluded_count_them_by_rater(self) -> None:
        table = softirr.read(io.StringIO("case,ann,bob,cy\n1,NA,n.a.,x\n2,-,y,x\n3,x,y,x\n"), **WIDE)
        assert left_out(table) == [
            ("1", "ann", "missing, written as NA"),
            ("1", "bob", "missing, written as N.A."),
            ("2", "ann", "missing, written as -"),
        ]
        (warning,) = table.warnings
        assert warning.startswith("3 texts count as missing answers and are not compared: ann 2 (NA, -), bob 1 (N.A.).")
        assert "--missing none" in on_command_line(warning)

    def test_missing_marks_within_longer_texts_are_ignored(self) -> None:
        table = softirr.read(io.StringIO("case,ann,bob,cy\n1,NA low,Na+,n/a for age\n2,x?,- fever,.5\n"), **WIDE)
        assert len(table.item) == 6
        assert table.warnings == ()

    def test_none_is_an_answer_that_is_asked_about(self) -> None:
        table = softirr.read(io.StringIO("case,ann,bob,cy\n1,None,none,x\n2,x,y,x\n"), **WIDE)
        assert len(table.item) == 6
        (warning,) = table.warnings
        assert warning.startswith(
            "2 texts count as answers but may mean that an answer is missing: ann 1 (none), bob 1 (none)."
        )
        assert "--missing auto,none" in on_command_line(warning)

    def test_minus_is_an_answer_where_plus_is_one(self) -> None:
        table = softirr.read(io.StringIO("case,ann,bob,cy\n1,+,-,-\n2,-,+,NA\n"), **WIDE)
        assert len(table.item) == 5
        missing, minus = table.warnings
        assert missing.startswith("1 text counts as a missing answer and is not compared")
        assert minus.startswith("3 texts count as answers but may mean")

    def test_of_several_texts_only_the_mark_is_left_out(self) -> None:
        long = io.StringIO("item,rater,text\n1,ann,fever\n1,ann,N/A\n1,bob,fever\n2,ann,-\n2,ann,?\n2,bob,x\n")
        table = softirr.read(long)
        assert [table.texts_of(a) for a in table.answer] == [("fever",), ("fever",), ("x",)]
        assert [e.reason for e in table.excluded] == [
            "one of several texts is missing, written as N/A",
            "missing, written as -",
        ]

    def test_items_and_the_order_of_raters_stay(self) -> None:
        table = softirr.read(io.StringIO("case,ann,bob,cy\n1,NA,x,y\n2,-,-,-\n3,x,x,x\n"), **WIDE)
        assert (table.items, table.raters) == (("1", "2", "3"), ("ann", "bob", "cy"))
        assert table.part(raters=["ann", "bob"]).marks == "auto"


class TestChoice:
    @pytest.mark.parametrize(
        ("choice", "texts"),
        [
            ("none", "NA - none x"),
            ("NA", "- none x"),
            ("na,-", "none x"),
            (["NA", "none"], "- x"),
            (["none"], "NA - x"),
            ("auto", "none x"),
            ("auto,none", "x"),
            ("auto,x", "none"),
            (None, "none x"),
        ],
    )
    def test_which_texts_are_left(self, choice: Any, texts: str) -> None:
        rows = "".join(f"{i},ann,{text}\n{i},bob,{text}\n" for i, text in enumerate(["NA", "-", "none", "x"]))
        table = softirr.read(io.StringIO("item,rater,text\n" + rows), missing=choice)
        assert set(table.texts) == set(texts.split())

    def test_marks_outside_the_chosen_ones_cause_a_warning(self) -> None:
        content = "case,ann,bob,cy\n1,NA,-,none\n"
        warnings = softirr.read(io.StringIO(content), missing="NA", **WIDE).warnings
        assert any("bob 1 (-)" in warning and "--missing NA,-" in on_command_line(warning) for warning in warnings)
        assert not any("cy" in warning for warning in warnings)
        assert softirr.read(io.StringIO(content), missing="none", **WIDE).warnings == ()

    @pytest.mark.parametrize("choice", ["", ",", [], [1], 3])
    def test_a_choice_of_nothing_is_refused(self, choice: Any) -> None:
        with pytest.raises(InputError, match="option missing"):
            MissingMarks.of(choice)


class TestEverywhere:
    def test_a_table_made_in_python_is_warned_about(self) -> None:
        rows = [("1", "ann", "NA"), ("1", "bob", "n/a"), ("2", "ann", "x"), ("2", "bob", "y")]
        table = AnnotationTable.from_answers(rows)
        report = softirr.agreement(table, "exact", progress=None)
        assert any(
            "look like marks for missing answers: ann 1 (NA), bob 1 (N/A)" in warning for warning in report.warnings
        )

    def test_inspect_and_score_say_so(self, tmp_path: Path, cli: Cli) -> None:
        path = text_file(tmp_path / "wide.csv", "case,ann,bob,cy\n1,NA,n/a,x\n2,-,y,x\n3,x,y,x\n")
        columns = [str(path), "--item", "case", "--raters", "ann,bob,cy"]
        output = cli("inspect", *columns)
        assert "missing marks  3 cells (1 NA, 1 -, 1 N/A) by ann 2, bob 1 (--missing)" in output
        assert "missing        3 pairs" in output
        assert "3 texts count as missing answers" in cli("score", *columns, "--measure", "exact")
        report = cli("score", *columns, "--measure", "exact", "--json", "--missing", "none")
        assert report["excluded"] == []
        (field,) = cli("inspect", *columns, "--json").values()
        assert field["missing_marks"] == {"ann": {"NA": 1, "-": 1}, "bob": {"N/A": 1}}

    def test_a_rater_who_wrote_marks_only_is_named(self, tmp_path: Path, cli: Cli) -> None:
        path = text_file(tmp_path / "wide.csv", "item,rater,text\n1,ann,x\n1,bob,NA\n")
        assert "1 missing, written as NA" in cli("score", path, "--measure", "exact", status=2)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("fever; NA", "rash; n/a"), {"1": ("fever",), "2": ("rash",)}),
        (("n/a; NA", "fever"), {"2": ("fever",)}),
        (("fever; NA", ""), {"1": ("fever",), "2": ()}),
    ],
)
def test_a_mark_in_a_list_is_missing_in_a_file_and_in_a_project(texts, expected, tmp_path) -> None:
    """Two raters who both write "NA" into a list do not agree for it."""
    path = text_file(
        tmp_path / "answers.csv", "item,rater,text\n" + "".join(f"1,{n},{text}\n" for n, text in enumerate(texts, 1))
    )
    table = softirr.read(path, split="semicolons")
    assert {table.raters[r]: table.texts_of(a) for r, a in zip(table.rater, table.answer, strict=True)} == expected
    result = [
        annotation(n, n) | {"result": [region([text], name="finding")] if text else []}
        for n, text in enumerate(texts, 1)
    ]
    settings = ProjectSettings(policy=softirr.Policy(split="semicolons"))
    raw, _ = read_task(task(1, *result), Reading([Control("finding", "text")], settings))
    entry = AnswerPreparation(settings).entry(1, raw, "finding")
    assert {rater: tuple(texts_of_rater) for rater, texts_of_rater in entry["answers"].items()} == expected
    assert entry["excluded"] == [[left_out.rater, left_out.reason] for left_out in table.excluded]
