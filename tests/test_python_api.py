"""The public functions as Python users call them: data frames where tables are, and options that `help()` shows."""

from __future__ import annotations

import inspect
import json
import pydoc
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow
import pytest

import softirr

WORDS = ["fever", "cough", "rash", "pain"]
FRAME = pd.DataFrame(
    [
        {
            "item": str(n),
            "rater": who,
            "text": WORDS[(n + (n % 3 == 0) * (who == "bob")) % 4],
            "site": "xy"[n % 2],
            "day": n,
        }
        for n in range(20)
        for who in ("ann", "bob", "model:one")
    ]
)
TABLE = softirr.read(FRAME)
FUNCTIONS: dict[str, Any] = {
    "agreement": lambda table: softirr.agreement(table, "exact").to_dict()["coefficients"],
    "item_agreement": lambda table: softirr.item_agreement(table, "exact"),
    "krippendorff_alpha": lambda table: softirr.krippendorff_alpha(table, measure="exact"),
    "compare": lambda table: softirr.compare([table, table], "exact").differences,
    "compare_models": lambda table: softirr.compare_models(table, measure="exact").differences,
    "audit.draw_sheet": lambda table: softirr.audit.draw_sheet(table, "indel", judgments=5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
class TestTables:
    def test_a_data_frame_is_its_table(self, name: str) -> None:
        assert FUNCTIONS[name](FRAME) == FUNCTIONS[name](TABLE)

    @pytest.mark.parametrize("table", [3, "answers.csv", ["fever"]], ids=str)
    def test_anything_else_is_refused(self, name: str, table: Any) -> None:
        with pytest.raises(
            softirr.InputError, match=r"data frame is needed, not a|Answers can be a table|Row 0 of the list"
        ):
            FUNCTIONS[name](table)


@pytest.mark.parametrize("tables", [3, FRAME, TABLE, [FRAME]], ids=["number", "frame", "table", "one"])
def test_one_table_is_not_compared(tables: Any) -> None:
    with pytest.raises(softirr.InputError, match="at least two tables"):
        softirr.compare(tables, "exact")


def test_help_shows_every_option() -> None:
    """`measure` alone passes on what it is given: the options of models differ."""
    functions = {name: getattr(softirr, name) for name in softirr.__all__} | {"apply": softirr.audit.apply}
    hiding = [
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and any(
            parameter.kind is inspect.Parameter.VAR_KEYWORD
            for parameter in inspect.signature(function).parameters.values()
        )
    ]
    assert hiding == ["measure"]


@pytest.mark.parametrize(
    "function",
    [softirr.agreement, softirr.audit.apply, softirr.cohen_kappa, softirr.fleiss_kappa, softirr.krippendorff_alpha],
)
def test_help_fits_on_a_page(function: Any) -> None:
    """The rare options are in AgreementOptions and ReadOptions."""
    assert len(inspect.signature(function).parameters) <= 13
    assert len(pydoc.render_doc(function).splitlines()) < 90


class TestForms:
    ROWS = (("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash"))
    LISTS: ClassVar = {"ann": ["fever", "cough"], "bob": ["fevers", "rash"]}

    @pytest.mark.parametrize(
        "answers",
        [
            list(ROWS),
            [softirr.Answer(*row) for row in ROWS],
            [dict(zip(("item", "rater", "text"), row, strict=True)) for row in ROWS],
            dict(zip(("item", "rater", "text"), zip(*ROWS, strict=True), strict=True)),
            LISTS,
            {"ann": {"1": "fever", "2": "cough"}, "bob": {"2": "rash", "1": "fevers"}},
            np.array([["fever", "fevers"], ["cough", "rash"]]),
            pd.DataFrame(ROWS, columns=["item", "rater", "text"]),
            pyarrow.table(dict(zip(("item", "rater", "text"), zip(*ROWS, strict=True), strict=True))),
        ],
        ids=["rows", "answers", "records", "columns", "lists", "by item", "array", "pandas", "pyarrow"],
    )
    def test_every_form_has_the_same_agreement(self, answers: Any) -> None:
        expected = softirr.agreement(
            softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in self.ROWS), "indel"
        )
        report = softirr.agreement(answers, "indel")
        for key, coefficient in expected.coefficients.items():
            assert report.coefficients[key].value == pytest.approx(coefficient.value, abs=1e-12), key
        for key, function in (
            ("cohen_kappa", softirr.cohen_kappa),
            ("fleiss_kappa", softirr.fleiss_kappa),
            ("krippendorff_alpha", softirr.krippendorff_alpha),
        ):
            assert function(answers, measure="indel") == report.coefficients[key]

    def test_a_dataset_has_columns_by_name(self) -> None:
        class Dataset:
            """As `datasets.Dataset` gives its columns."""

            column_names = ("item", "rater", "text")

            def __getitem__(self, name: str) -> list[str]:
                return [row[self.column_names.index(name)] for row in TestForms.ROWS]

        expected = softirr.agreement(list(self.ROWS), "indel").coefficients
        assert softirr.agreement(Dataset(), "indel").coefficients == expected

    def test_a_list_of_texts_and_none_in_rows(self) -> None:
        report = softirr.agreement(
            [("1", "a", ["x", "y"]), ("1", "b", ["y", "x"]), ("2", "a", "z"), ("2", "b", None)], "exact"
        )
        assert [item.agreement for item in report.items] == [1.0, None]

    def test_coefficients_compare_with_numbers(self) -> None:
        kappa = softirr.cohen_kappa(*self.LISTS.values(), "indel")
        assert kappa > 0.3 and not kappa < 0.3 and kappa >= kappa and kappa <= 1
        with pytest.raises(softirr.InputError, match="no value"):
            assert softirr.cohen_kappa([None], ["x"], "exact") > 0.3

    def test_cosines_are_similarities_with_rounding_errors(self) -> None:
        vectors = np.random.default_rng(0).normal(size=(6, 32)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = np.abs(vectors @ vectors.T)
        cosines[0, 0], cosines[1, 1] = 0.9999999, 1.0000001
        exact = cosines.astype(np.float64)
        np.fill_diagonal(exact, 1)
        matrix = [[0, 1], [2, 3], [4, 4], [5, 0]]
        rounded_kappa, expected = (
            softirr.matrix_agreement(matrix, s).coefficients["cohen_kappa"].value for s in (cosines, exact)
        )
        assert rounded_kappa == pytest.approx(expected, abs=1e-6)
        with pytest.raises(softirr.InputError, match="must be 1 for a category"):
            softirr.matrix_agreement(matrix, cosines * 0.99)


@pytest.mark.parametrize("form", ["dictionary", "rows"])
def test_options_of_reading_count_in_lists_or_are_refused(form: str) -> None:
    lists = {"ann": ["1", "2", "4"], "bob": ["1", "3", "5"]}
    rows = [(str(n), who, text) for who, texts in lists.items() for n, text in enumerate(texts)]
    answers: Any = lists if form == "dictionary" else rows
    report = softirr.agreement(
        answers, "exact", reading=softirr.ReadOptions(kind="interval", rater_names={"ann": "Ann"})
    )
    assert report.provenance.kind == "interval" and [rater.id for rater in report.raters] == ["Ann", "bob"]
    assert report.coefficients["krippendorff_alpha"].value > 0.8
    numbers = {"ann": [1, 2, 4], "bob": [1, 3, 5]}
    assert (
        softirr.agreement(numbers, reading=softirr.ReadOptions(kind="interval")).coefficients
        == softirr.agreement(lists, reading=softirr.ReadOptions(kind="interval")).coefficients
    )
    with pytest.raises(softirr.InputError):
        softirr.agreement(answers, "exact", reading=softirr.ReadOptions(weight="share"))


@pytest.mark.parametrize(
    ("options", "agreements"),
    [
        ({}, [1, None, None, 0, 1]),
        ({"empty": "none"}, [1, None, 0, 0, 1]),
        ({"empty": "missing"}, [1, None, None, None, 1]),
        ({"missing": "none"}, [1, 1, None, 0, 1]),
        ({"casefold": True}, [1, None, None, 0, 1]),
    ],
    ids=str,
)
def test_missing_and_empty_answers_are_the_same_in_every_form(options: Any, agreements: Any, tmp_path: Path) -> None:
    lists: Any = {"ann": ["fever", "NA", None, "", []], "bob": ["fever", "NA", "rash", "rash", []]}
    rows = [(str(n), who, text) for who, texts in lists.items() for n, text in enumerate(texts)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(dict(zip(("item", "rater", "text"), row, strict=True))) + "\n" for row in rows))
    reading = softirr.ReadOptions(**options)
    of_lists = [softirr.agreement(answers, "exact", reading=reading) for answers in (lists, rows)]
    for report in (*of_lists, softirr.agreement(softirr.read(path, reading), "exact")):
        assert [item.agreement for item in sorted(report.items, key=lambda item: item.id)] == agreements


@pytest.mark.parametrize("name", [None, float("nan"), " "])
def test_rows_need_names_of_items_and_raters(name: Any) -> None:
    with pytest.raises(softirr.InputError, match="Row 1: item is missing"):
        softirr.agreement([("1", "ann", "fever"), (name, "bob", "fever")], "exact")
