"""Fields of other kinds in exports of annotation tools have the coefficients of the same answers in a CSV table."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.errors import InputError
from tests.answers.formats.common import json_lines
from tests.answers.plain_rows import left_out, refusal, text_file

RATERS = ("ann", "bob", "cy")
ITEMS = [str(number) for number in range(1, 13)]


def answer_number(item: str, rater: str) -> int:
    """Which of three answers a rater gives; one rater differs now and then."""
    return (int(item) + (rater == "cy" and int(item) % 3 == 0)) % 3


TEXTS, LABELS = ("fever", "cough", "rash"), ("A", "B", "C")
SETS = (["A"], ["A", "B"], ["B", "C"])
ORDERS = (["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"])
VALUES: dict[str, tuple[str, Callable[[int], Any]]] = {
    "nominal": ("label", lambda n: LABELS[n]),
    "set": ("topics", lambda n: "; ".join(SETS[n])),
    "ordinal": ("stars", lambda n: str(2 * n + 1)),
    "ranking": ("order", lambda n: " > ".join(ORDERS[n])),
}


def assert_as_csv(table: softirr.AnnotationTable, kind: str, tmp_path: Path) -> None:
    """The table of a field of a tool is that of a CSV file with the same answers."""
    name, value = VALUES[kind]
    rows = [f"{item},{rater},{value(answer_number(item, rater))}" for item in ITEMS for rater in RATERS]
    csv = text_file(tmp_path / "same.csv", "\n".join([f"item,rater,{name}", *rows]))
    same = softirr.read(csv, item="item", rater="rater", text=name, kind=kind)
    assert table.kind == kind and len(table.raters) == len(RATERS)
    report, expected_report = softirr.agreement(table), softirr.agreement(same)
    assert {name: coefficient.value for name, coefficient in report.coefficients.items()} == {
        name: coefficient.value for name, coefficient in expected_report.coefficients.items()
    }
    assert report.coefficients["krippendorff_alpha"].ci95 == expected_report.coefficients["krippendorff_alpha"].ci95
    assert 0 < (report.coefficients["krippendorff_alpha"].value or 0) < 1


def prodigy(folder: Path, accept: Callable[[int], list[str]], *, text: bool = False, **more: Any) -> Path:
    """Prodigy 1.18, ``db-out`` of a choice interface."""
    entries = []
    for item in ITEMS:
        for rater in RATERS:
            n = answer_number(item, rater)
            entry = {"text": f"Case {item}", "_input_hash": int(item), "_task_hash": -1, "_view_id": "choice"}
            entry |= {"options": [{"id": label, "text": f"Option {label}"} for label in LABELS], "accept": accept(n)}
            entry |= {"answer": "accept", "_timestamp": 1767600000, "_annotator_id": rater, **more}
            entries.append(entry | ({"user_input": TEXTS[n]} if text else {}))
    return json_lines(entries, folder / "choices.jsonl")


def test_choices_of_prodigy(tmp_path: Path) -> None:
    table = softirr.read_texts(prodigy(tmp_path, lambda n: [LABELS[n]]), kind="auto")["accept"]
    assert_as_csv(table, "nominal", tmp_path)


def test_prodigy_choices_and_texts_become_two_fields(tmp_path: Path) -> None:
    tables = softirr.read_texts(prodigy(tmp_path, lambda n: SETS[n], text=True), kind="auto")
    assert list(tables) == ["user_input", "accept"] and tables["user_input"].kind == "text"
    assert_as_csv(tables["accept"], "set", tmp_path)


def test_choices_of_prodigy_are_a_set_where_several_may_be_chosen(tmp_path: Path) -> None:
    export = prodigy(tmp_path, lambda n: [LABELS[n]][: n + 1], config={"choice_style": "multiple"})
    assert softirr.read_texts(export, kind="auto")["accept"].kind == "set"


def test_ignored_choices_and_none_are_left_out(tmp_path: Path) -> None:
    export = prodigy(tmp_path, lambda n: [LABELS[n]])
    entries = [json.loads(line) for line in export.read_text().splitlines()]
    entries[0] |= {"answer": "ignore"}
    entries[4] |= {"accept": []}
    table = softirr.read_texts(json_lines(entries, export), kind="auto")["accept"]
    assert left_out(table) == [("1", "ann", "skipped")]
    assert len(table.item) == len(ITEMS) * len(RATERS) - 2
    entries[4] |= {"accept": [{"id": "A"}]}
    with pytest.raises(InputError, match="line 5: accept is not a list of identifiers of options"):
        softirr.read_texts(json_lines(entries, export), kind="auto")


def argilla(folder: Path, form: str, **questions: Callable[[int], Any]) -> Path:
    """Argilla 2, flat or ``to_json()``, with questions and spans."""
    questions["spans"] = lambda n: [{"start": 0, "end": n + 1, "label": "x"}]
    entries: list[dict[str, Any]] = []
    for item in ITEMS:
        values_by_question = {
            name: [of(answer_number(item, rater)) for rater in RATERS] for name, of in questions.items()
        }
        if form == "json":
            responses = {
                name: [{"value": value, "user_id": rater} for value, rater in zip(responses, RATERS, strict=True)]
                for name, responses in values_by_question.items()
            }
            entries.append({"id": item, "fields": {"text": "x"}, "responses": responses})
            continue
        entry: dict[str, Any] = {"id": item, "text": "x"}
        for name, responses in values_by_question.items():
            entry |= {f"{name}.responses": responses, f"{name}.responses.users": list(RATERS)}
            entry |= {f"{name}.responses.status": ["submitted"] * len(RATERS)}
        entries.append(entry)
    return json_lines(entries, folder / "argilla.jsonl")


def ranked(n: int) -> list[dict[str, Any]]:
    return [{"rank": rank, "value": value} for rank, value in sorted(enumerate(ORDERS[n], start=1), reverse=True)]


@pytest.mark.parametrize("form", ["flat", "json"])
@pytest.mark.parametrize("order", [lambda n: ORDERS[n], ranked], ids=["values", "ranks"])
def test_questions_of_argilla(tmp_path: Path, form: str, order: Callable[[int], Any]) -> None:
    values_by_question = {
        "stars": lambda n: 2 * n + 1,
        "topics": lambda n: SETS[n],
        "order": order,
        "reason": lambda n: TEXTS[n],
    }
    tables = softirr.read_texts(argilla(tmp_path, form, **values_by_question), kind="auto")
    assert {name: table.kind for name, table in tables.items()} == {
        "reason": "text",
        "stars": "ordinal",
        "topics": "set",
        "order": "ranking",
    }
    for name in ("stars", "topics", "order"):
        assert_as_csv(tables[name], tables[name].kind, tmp_path)


def test_a_question_of_one_label_in_argilla_is_named(tmp_path: Path) -> None:
    export = argilla(tmp_path, "flat", label=lambda n: LABELS[n], reason=lambda n: TEXTS[n], stars=lambda n: n)
    with pytest.raises(InputError, match=r"several text questions \(label, reason\): .* a kind to each field"):
        softirr.read_texts(export, kind="auto")
    kinds = {"label": "nominal", "reason": "text"}
    tables = softirr.read_texts(export, text=tuple(kinds), kind=kinds)
    assert list(tables) == ["label", "reason"]
    assert_as_csv(tables["label"], "nominal", tmp_path)


@pytest.mark.parametrize("key", ["finding.responses", "finding.responses.status"])
def test_responses_of_argilla_that_differ_in_number_are_refused(key: str, tmp_path: Path) -> None:
    column = {
        "finding.responses.users": ["a", "b"],
        "finding.responses": ["x", "y"],
        "finding.responses.status": [None] * 2,
    }
    export = json_lines([{"id": 1} | column | {key: column[key][:1]}], tmp_path / "a.jsonl")
    assert "the responses to finding differ in number from their users" in refusal(export)


def doccano(folder: Path, labels: Callable[[int], list[int]]) -> Path:
    """doccano 1.0, JSONL of a classification project with the annotators' numbers."""
    entries = [
        {
            "id": int(item),
            "text": f"Case {item}",
            "annotations": [
                {"label": label, "user": RATERS.index(rater) + 1}
                for rater in RATERS
                for label in labels(answer_number(item, rater))
            ],
            "meta": {},
        }
        for item in ITEMS
    ]
    return json_lines(entries, folder / "doccano.jsonl")


def test_categories_of_doccano(tmp_path: Path) -> None:
    table = softirr.read_texts(doccano(tmp_path, lambda n: [n + 1]), kind="auto")["label"]
    assert_as_csv(table, "nominal", tmp_path)
    export = doccano(tmp_path, lambda n: [LABELS.index(label) + 1 for label in SETS[n]])
    assert_as_csv(softirr.read_texts(export, kind="auto")["label"], "set", tmp_path)


def test_categories_in_files_of_annotators_are_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "doccano.zip", "w") as archive:
        for rater in RATERS:
            responses = [
                {"id": int(i), "text": "x", "label": [LABELS[answer_number(i, rater)]], "Comments": []} for i in ITEMS
            ]
            archive.writestr(f"{rater}.jsonl", "".join(json.dumps(entry) + "\n" for entry in responses))
    table = softirr.read_texts(tmp_path / "doccano.zip", text=("label",), kind={"label": "nominal"})["label"]
    assert_as_csv(table, "nominal", tmp_path)


@pytest.mark.parametrize("first", [0, 1])
def test_texts_and_categories_of_doccano_are_not_mixed(tmp_path: Path, first: int) -> None:
    entries = [json.loads(line) for line in doccano(tmp_path, lambda n: [n]).read_text().splitlines()]
    for entry in entries[first :: len(entries) - 1]:
        entry["annotations"] = [{"text": "fever", "user": 1}]
    with pytest.raises(InputError, match="some annotations are texts and others categories"):
        softirr.read_texts(json_lines(entries, tmp_path / "doccano.jsonl"), kind="auto")


def test_where_texts_are_needed_the_other_fields_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="softirr score compares its other fields: label"):
        softirr.read_texts(doccano(tmp_path, lambda n: [n]))
