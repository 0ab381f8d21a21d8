"""Fields other than text: how their values are read from tables and from exports of Label Studio."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import softirr
from softirr.answers.kinds import CONTROL_KINDS, NO_VALUE, find_kind, kind_names
from softirr.answers.prepare import prepare_table
from softirr.cli.main import main
from tests.answers.plain_rows import json_file, left_out, refusal, text_file

PAGE = Path(__file__, "../../../docs/reference/fields.md").resolve().read_text(encoding="utf-8")
LONG = "id,who,side,size,note\n1,ann,left,3,fever\n1,bob,left,4.5,fever\n2,ann,right,,cough\n2,bob,left,2,rash\n"
RESULTS = {
    "note": ("textarea", {"text": ["fever"]}, "text", ("fever",)),
    "side": ("choices", {"choices": ["left"]}, "nominal", ("left",)),
    "organs": ("choices", {"choices": ["lung", "heart"]}, "set", ("heart", "lung")),
    "stars": ("rating", {"rating": 4}, "ordinal", ("4",)),
    "size": ("number", {"number": 2.5}, "interval", ("2.5",)),
    "seen": ("datetime", {"datetime": "2026-03-01"}, "date", ("2026-03-01",)),
    "topic": ("taxonomy", {"taxonomy": [["Heart", "Valve"], ["Lung"]]}, "path", ("Heart > Valve", "Lung")),
    "better": ("pairwise", {"selected": "left"}, "nominal", ("left",)),
    "rank": ("ranker", {"ranker": {"rank": ["b", "a"]}}, "ranking", ("b > a",)),
    "old": ("ranker", {"ranker": ["b", "a"]}, "ranking", ("b > a",)),
    "buckets": ("ranker", {"ranker": {"good": ["b"], "bad": ["a"], "_": ["c"]}}, "set", ("bad: a", "good: b")),
}


def task(number, *annotations):
    annotated = [
        {"id": number * 10 + who, "completed_by": who, "was_cancelled": False, "result": result}
        for who, result in enumerate(annotations, start=1)
    ]
    return {"id": number, "data": {}, "annotations": annotated}


def result(name, value=None, **more):
    type_, values, _, _ = RESULTS[name]
    return {"type": type_, "from_name": name, "to_name": "t", "value": values if value is None else value, **more}


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.json"
    everything = [result(name) for name in RESULTS]
    path.write_text(json.dumps([task(n, everything, everything) for n in (1, 2)]))
    return str(path)


def test_each_control_has_its_kind_and_values(export):
    tables = softirr.read_texts(export, kind="auto")
    assert list(tables) == list(RESULTS)
    for name, (_, _, kind, values) in RESULTS.items():
        assert tables[name].kind == kind, name
        assert tables[name].texts_of(0) == values, name


def test_without_a_kind_only_texts_are_read(export):
    assert list(softirr.read_texts(export)) == ["note"]
    assert "no TextArea named 'side'" in refusal(Path(export), control="side")


def test_a_named_kind_replaces_that_of_the_control(export):
    tables = softirr.read_texts(export, control=["size", "stars"], kind={"size": "ratio", "stars": "auto"})
    assert [table.kind for table in tables.values()] == ["ratio", "ordinal"]
    message = refusal(Path(export), control="nope", kind="auto")
    assert "no control named 'nope' with answers; it has note, side" in message


def test_an_annotation_without_a_value_is_missing_but_an_empty_set_is_an_answer(tmp_path):
    path = tmp_path / "export.json"
    tasks = [task(1, [result("stars"), result("organs")], []), task(2, [result("stars")], [result("stars")])]
    path.write_text(json.dumps(tasks))
    tables = softirr.read_texts(path, kind="auto")
    assert len(tables["stars"].item) == 3
    assert "Answers without a value: 1. They count as missing" in tables["stars"].warnings[-1]
    assert len(tables["organs"].item) == 4
    assert len(softirr.read(path, control="stars", kind="auto", empty="none").item) == 4


def test_items_of_one_bucket_have_no_order(tmp_path):
    path = json_file(
        tmp_path / "export.json", [task(1, [result("buckets")], [result("buckets", {"ranker": {"good": ["a", "b"]}})])]
    )
    table = softirr.read(path, control="buckets", kind="auto")
    assert [table.texts_of(answer) for answer in table.answer.tolist()] == [
        ("bad: a", "good: b"),
        ("good: a", "good: b"),
    ]


def test_several_values_and_region_texts_cause_warnings(tmp_path):
    """Two ratings of one annotation are of two regions, and an export does not link regions that are the same."""
    path = tmp_path / "export.json"
    twice = [result("stars"), result("stars", {"rating": 1})]
    of_region = [result("note", {"text": ["rash"], "start": 3, "end": 9})]
    path.write_text(json.dumps([task(n, [*twice, *of_region], [result("stars")]) for n in (1, 2)]))
    warnings = {name: table.warnings for name, table in softirr.read_texts(path, kind="auto").items()}
    assert (
        warnings["stars"][0]
        == "2 annotations have several values of stars, as of several regions: they count as a set."
    )
    assert warnings["note"][0].startswith("2 answers have texts of regions: all texts of an annotation are one")
    path.write_text(json.dumps([task(n, [result("stars"), result("note")], [result("stars")]) for n in (1, 2)]))
    assert not any("regions" in str(table.warnings) for table in softirr.read_texts(path, kind="auto").values())


def test_values_copied_from_a_prediction_are_left_out(tmp_path):
    path = json_file(tmp_path / "export.json", [task(1, [result("stars", origin="prediction")], [result("stars")])])
    table = softirr.read(path, control="stars", kind="auto")
    assert [(left_out.rater, left_out.reason) for left_out in table.excluded] == [("1", "copied from a prediction")]


@pytest.mark.parametrize(
    "value", [None, [], "x", {"rating": None}, {"rating": []}, {"choices": 3}, {"taxonomy": ["a"]}, {"ranker": [1]}]
)
@pytest.mark.parametrize("name", ["stars", "side", "topic", "rank"])
def test_damaged_values_are_missing_or_refused(tmp_path, name, value):
    path = tmp_path / "export.json"
    damaged = result(name) | {"value": value}
    path.write_text(json.dumps([task(1, [damaged], [result(name)]), task(2, [result(name)], [result(name)])]))
    assert softirr.read(path, control=name, kind="auto").items == ("1", "2")


def test_columns_of_a_long_table_have_kinds():
    tables = softirr.read_texts(
        io.StringIO(LONG),
        item="id",
        rater="who",
        text=["side", "size", "note"],
        kind={"side": "nominal", "size": "ratio"},
    )
    assert [table.kind for table in tables.values()] == ["nominal", "ratio", "text"]
    assert tables["size"].texts == ("2", "3", "4.5")
    assert len(tables["size"].item) == 3


def test_numbers_and_dates_of_a_data_frame_are_values():
    frame = pd.DataFrame({"ann": [1, 2.5, None], "bob": [1, 3, 4]})
    assert softirr.read(frame, raters=["ann", "bob"], kind="interval").texts == ("1", "2.5", "3", "4")
    frame = pd.DataFrame({"ann": pd.to_datetime(["2026-03-01"]), "bob": pd.to_datetime(["2026-03-02"])})
    assert (
        softirr.agreement(frame, raters=["ann", "bob"], reading=softirr.ReadOptions(kind="date")).items[0].agreement
        == 0
    )
    assert "not a text" in refusal(frame, raters=["ann", "bob"])
    frame = pd.DataFrame({"ann": pd.to_datetime(["2026-03-01", None]), "bob": pd.to_datetime(["2026-03-02"] * 2)})
    assert len(softirr.read(frame, raters=["ann", "bob"], kind="date").item) == 3


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("ordinal", "high"),
        ("interval", "inf"),
        ("interval", "1_0"),
        ("ratio", "-1"),
        ("date", "soon"),
        ("ordinal:a,b", "c"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_its_place(kind, wrong):
    answers = io.StringIO(f"item,rater,text\nq,ann,{wrong}\n")
    assert re.search(
        rf"No answer has a value of the kind {kind} .* item q, rater ann: '{wrong}'", refusal(answers, kind=kind)
    )


@pytest.mark.parametrize("semicolon", [";", "；", "؛", " ; "])
def test_cell_of_several_values_is_that_set(semicolon):
    rows = [("1", "ann", "A", "N/A", ""), ("1", "bob", "B", "A"), ("2", "ann", "n/a", "-"), ("2", "bob", "B", "B")]
    cells = "".join(f"{item},{rater},{semicolon.join(values)}\n" for item, rater, *values in rows)
    table = softirr.read(io.StringIO(f"item,rater,text\n{cells}"), kind="set")
    assert sorted(table.texts_of(answer) for answer in table.answer.tolist()) == [("A",), ("A", "B"), ("B",)]
    assert left_out(table) == [
        ("1", "ann", "one of several texts is missing, written as N/A"),
        ("2", "ann", "missing, written as N/A"),
    ]
    assert table.warnings[0].startswith("2 texts count as missing answers and are not compared: ann 2 (N/A).")


@pytest.mark.parametrize(
    ("kind", "cells", "mark"),
    [("set", ("a, b", "b, a"), ";"), ("path", ("Heart/Valve", "Heart"), ">"), ("ranking", ("a, b", "b, a"), ">")],
)
def test_values_without_the_mark_of_their_kind_cause_a_note(kind, cells, mark):
    def notes(first, second):
        frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": ["ann", "bob"] * 2, "text": [first, second] * 2})
        return [warning for warning in softirr.read(frame, kind=kind).warnings if "has the mark" in warning]

    (note,) = notes(*cells)
    assert note.startswith(f"No answer has the mark {mark} of the kind {kind}") and repr(cells[0]) in note
    assert notes(f"a {mark} b", cells[1]) == []


def test_invalid_values_of_the_kind_are_dropped_and_counted(tmp_path, cli):
    rows = '1,ann,3\n1,bob,tall\n2,ann,4\n2,bob,5\n3,ann,"5; 6"\n3,bob,6\n'
    table = softirr.read(io.StringIO(f"item,rater,text\n{rows}"), kind="interval")
    assert left_out(table) == [("1", "bob", NO_VALUE), ("3", "ann", NO_VALUE)]
    assert table.texts == ("3", "4", "5", "6") and "is no value" not in str(table.warnings[:-1])
    assert table.warnings[-1].endswith("2. They are left out, as item 1, rater bob: 'tall'.")
    path = text_file(
        tmp_path / "long.csv", "\n".join(["item,rater,size,side", *(f"{row},left" for row in rows.splitlines())])
    )
    out = cli("score", path, "--field", "size=interval", "--field", "side=nominal")
    assert "\nNote: size: 2 answers are not values of the kind interval and left out.\n" in out


def test_every_type_of_result_has_the_kind_of_its_control():
    assert {type_: kind for type_, _, kind, _ in RESULTS.values() if type_ != "textarea"}.keys() == CONTROL_KINDS.keys()


@pytest.mark.parametrize("kind", ["number", "ordinal:a", "ordinal:a,a", "set:dice", ""])
def test_an_unknown_kind_is_refused(kind):
    assert "There is no kind of field" in refusal(LONG, kind=kind)
    assert "no field 'nope'" in refusal("item,rater,text\n1,a,b\n", kind={"nope": "set"})


@pytest.mark.parametrize("kind", [3, {"v": 3}, ["set"]])
def test_kind_that_is_not_a_name_is_refused(kind):
    assert "a name for each field" in refusal("item,rater,text\n1,a,b\n", kind=kind)


def test_a_part_of_a_table_keeps_its_kind():
    table = softirr.read(io.StringIO("item,rater,text\n1,a,3\n1,b,4\n2,a,5\n"), kind="interval")
    assert table.part(items=["1"]).kind == "interval"


@pytest.mark.parametrize(
    "use",
    [
        lambda table: softirr.compare([table, table], "indel"),
        lambda table: softirr.compare_models(table, ["a"], "indel"),
        lambda table: softirr.audit.draw_sheet(table, "indel"),
    ],
)
def test_values_are_not_compared_by_their_letters(use):
    answers = [softirr.Answer(str(n), who, str(8 + n % 5)) for n in range(12) for who in "abc"]
    table = prepare_table(softirr.AnnotationTable.from_answers(answers), softirr.ReadOptions(kind="interval"))
    with pytest.raises(softirr.InputError, match="has values of the kind interval, which only"):
        use(table)


def test_the_documented_table_is_that_of_the_code():
    rows = dict(re.findall(r"^\| `([^`]+)` (\|[^|]*\|[^|]*\|)", PAGE, flags=re.MULTILINE))
    assert list(rows) == list(kind_names())
    for name, row in rows.items():
        kind = find_kind(name)
        assert row.startswith(f"| {kind.values} | {', '.join(kind.controls)}"), name
    assert find_kind("text").is_text


def test_report_of_the_text_of_an_export_lists_its_fields(export, cli):
    out = cli("score", export, "--measure", "indel")
    lines = out[out.index("\nfield ") :].splitlines()[2 : len(RESULTS) + 2]
    assert [line.split()[:2] for line in lines] == [[name, row[2]] for name, row in RESULTS.items()]
    assert "measure indel" in out and "ordinal values" not in out
    report = cli("score", export, "--measure", "indel", "--json")
    assert report["provenance"]["kind"] == "text" and report["schema_version"] == 3
    assert [row["name"] for row in report["fields"]] == list(RESULTS)
    report_of_note = cli("score", export, "--measure", "indel", "--json", "--control", "note")
    assert {key: report[key] for key in report_of_note} == report_of_note and "fields" not in report_of_note


def test_fields_of_a_table_are_reported_one_after_the_other(tmp_path, cli):
    path = text_file(tmp_path / "long.csv", LONG)
    arguments = ["score", path, "--item", "id", "--rater", "who", "--field", "side=nominal"]
    out = cli(*arguments)
    assert "nominal values" in out and "judgment" not in out
    printed = cli(*arguments, "--field", "size=ratio", "--json")
    assert list(printed["texts"]) == ["side", "size"]
    assert [row["kind"] for row in printed["fields"]] == ["nominal", "ratio"]
    assert printed["fields"][0]["confusions"] == [
        {"values": ["left", "right"], "pairs": 1, "items": 1, "examples": ["2"]}
    ]
    cli(*arguments, "--output", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "judgment" not in page.split("<main", 1)[1].split("</main", 1)[0].lower().replace("judgments,", "")


def test_a_field_of_a_wide_table_is_named_by_the_option(tmp_path, cli):
    path = text_file(tmp_path / "wide.csv", "case,ann,bob\n1,3,4\n2,1,1\n")
    arguments = ["score", path, "--item", "case", "--raters", "ann,bob"]
    assert cli(*arguments, "--field", "stars=ordinal", "--json")["provenance"]["kind"] == "ordinal"


def test_a_field_that_one_rater_answered_is_left_out_with_a_note(tmp_path, capsys):
    path = json_file(
        tmp_path / "export.json", [task(n, [result("note"), result("stars")], [result("note")]) for n in (1, 2)]
    )
    assert main(["score", str(path), "--measure", "indel"]) == 0
    out, err = capsys.readouterr()
    assert "stars" in err and not out.startswith("field")
