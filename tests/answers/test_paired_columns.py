"""Wide tables with several fields: columns are paired with fields and raters by their names, or refused."""

from __future__ import annotations

import io
import itertools
from typing import Any

import pandas
import pytest

import softirr
from softirr.cli.main import main
from tests.answers.plain_rows import text_file

ANSWERS = {
    ("severity", "Anna"): "1 3 2",
    ("severity", "ben"): "1 2 2",
    ("finding", "Anna"): "a b c",
    ("finding", "ben"): "a a c",
}
KINDS = {"severity": "ordinal", "finding": "nominal"}


def csv(names: dict[str, str]) -> io.StringIO:
    """A table with these columns: name -> three cells."""
    rows = zip(*([name, *cells.split()] for name, cells in names.items()), strict=True)
    return io.StringIO("".join(",".join(row) + "\n" for row in rows))


def read(names: dict[str, str], **options: Any) -> dict[str, Any]:
    return softirr.read_texts(csv({"case": "1 2 3"} | names), item="case", text=list(KINDS), kind=KINDS, **options)


def answers(tables: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    given: dict[tuple[str, str], list[str]] = {}
    for field, table in tables.items():
        for rater, answer in zip(table.rater.tolist(), table.answer.tolist(), strict=True):
            given.setdefault((field, table.raters[rater]), []).extend(table.texts_of(answer))
    return given


EXPECTED = {pair: cells.split() for pair, cells in ANSWERS.items()}


@pytest.mark.parametrize("between", ["_", "-", ".", " ", ":", "/", "__"])
@pytest.mark.parametrize("order", ["{field}{between}{rater}", "{rater}{between}{field}"])
def test_every_order_of_the_columns_gives_the_same_answers(order: str, between: str) -> None:
    names = [
        (order.format(field=field.upper(), rater=rater, between=between), cells)
        for (field, rater), cells in ANSWERS.items()
    ]
    for turned in itertools.permutations(names):
        tables = read(dict(turned))
        assert answers(tables) == EXPECTED
    assert {name: table.kind for name, table in tables.items()} == KINDS


PAIRED = {f"{field}_{rater}": cells for (field, rater), cells in ANSWERS.items()}
TEN = "1 2 3"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"severity_note": TEN}, "a column of severity by note, but none of finding: name the raters with raters="),
        ({"severity-ANNA": TEN}, "several columns of severity by Anna: severity_Anna, severity-ANNA"),
        (
            {"Anna_severity": TEN, "ben_severity": TEN, "Anna_finding": TEN, "ben_finding": TEN},
            "has columns of both FIELD_RATER and RATER_FIELD",
        ),
    ],
)
def test_a_doubt_is_refused_and_named_raters_may_resolve_it(more: dict[str, str], sentence: str) -> None:
    with pytest.raises(softirr.InputError, match=sentence):
        read(PAIRED | more)
    if "severity_note" in more:
        assert answers(read(PAIRED | more, raters=["Anna", "Ben"])).keys() == {
            (field, rater) for field in KINDS for rater in ("Anna", "Ben")
        }


def test_a_named_rater_needs_a_column_for_each_field() -> None:
    with pytest.raises(softirr.InputError, match="no column of finding by cara"):
        read(PAIRED | {"severity_cara": TEN}, raters=["Anna", "ben", "cara"])
    with pytest.raises(softirr.InputError, match="no columns for each of the fields and raters, such as severity_x or"):
        read(PAIRED, raters=["x", "y"])


def test_a_field_that_begins_as_another_one() -> None:
    names = {"pain_a": TEN, "pain_b": TEN, "pain_score_a": TEN, "pain_score_b": TEN}
    with pytest.raises(
        softirr.InputError, match="column pain_score_a of pain or of pain_score: name the raters with raters="
    ):
        softirr.read_texts(csv({"item": TEN} | names), text=["pain", "pain_score"], kind="interval")
    tables = softirr.read_texts(csv({"item": TEN} | names), text=["pain", "pain_score"], kind="interval", raters="a,b")
    assert {name: table.raters for name, table in tables.items()} == {"pain": ("a", "b"), "pain_score": ("a", "b")}


def test_the_column_of_items_is_of_no_rater_and_a_column_of_its_own_is_a_long_table() -> None:
    tables = softirr.read_texts(csv({"finding_id": TEN} | PAIRED), item="finding_id", text=list(KINDS), kind=KINDS)
    assert answers(tables) == EXPECTED
    long = csv({"item": "1 1 2", "rater": "a b a", "severity": TEN, "severity_a": TEN, "severity_b": TEN})
    assert softirr.read(long, text="severity").raters == ("a", "b")


def test_a_data_frame_and_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = text_file(tmp_path / "wide.csv", csv({"case": "1 2 3"} | PAIRED).read())
    fields = [part for name, kind in KINDS.items() for part in ("--field", f"{name}={kind}")]
    for more in ([], ["--raters", "anna,ben"]):
        assert main(["score", str(path), "--item", "case", *fields, *more]) in (0, None)
        printed = capsys.readouterr().out
        assert printed.startswith("field") and "Field finding" in printed
    frame = pandas.read_csv(path)
    report = softirr.agreement(frame, item="case", text="severity", kind="ordinal")
    wanted = softirr.agreement(read(PAIRED)["severity"])
    assert report.coefficients["krippendorff_alpha"].value == wanted.coefficients["krippendorff_alpha"].value
