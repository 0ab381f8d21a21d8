"""A damaged file is refused, or it gives the numbers of the file before the damage: never other ones.

Damage is what files suffer in practice: a key misspelled or lost, a value of another type, a line cut, a separator
without quotes.
"""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr import InputError, agreement, read, read_texts
from softirr.answers.table import AnnotationTable, Answer, Excluded
from tests.answers.formats import FORMATS, options
from tests.answers.plain_rows import annotation, refusal, region, rows, task

ODD: list[Any] = [None, 0, 1.5, -3, True, False, "", "7", [], [1], ["x", 2], {}, {"x": 1}]


def _annotation(number: int, rater: int, *texts: str, cancelled: bool = False) -> dict[str, Any]:
    dates = {
        f"{what}_at": f"2026-0{month}-0{number % 9 + 1}T00:00:00Z" for month, what in ((1, "created"), (2, "updated"))
    }
    result = [region(list(texts), id=f"r{number}", origin="manual")]
    return annotation(number, rater, was_cancelled=cancelled) | dates | {"result": result}


EXPORT = [
    task(1, _annotation(1, 1, "fever"), _annotation(2, 2, "fever", "cough")),
    task(2, _annotation(3, 1, "rash"), _annotation(4, 2, "fever")),
    task(3, _annotation(5, 1, "x", cancelled=True), _annotation(6, 2, "pain")),
    task(4, _annotation(7, 1, "old"), _annotation(8, 1, "pain"), _annotation(16, 2, "pain")),
]
# Whatever these keys hold or whether they are there decides who answered what.
DECISIVE = {
    *("id", "annotations", "completed_by", "was_cancelled", "updated_at", "result"),
    *("type", "from_name", "value", "text"),
}


def _numbers(text: str) -> tuple[Any, ...] | None:
    """Agreement numbers of the file, or None if it is refused."""
    try:
        table = read(io.StringIO(text))
        report = agreement(table, "indel")
    except InputError:
        return None
    return report.n_items, report.n_raters, [(name, c.value) for name, c in report.coefficients.items()]


RIGHT = _numbers(json.dumps(EXPORT))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for entry in value.values():
            yield from _objects(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _objects(entry)


def _decisive_places(export: Any) -> list[tuple[dict[str, Any], str]]:
    return [(record, key) for record in _objects(export) for key in record if key in DECISIVE]


class TestExport:
    def test_the_export_itself_is_read(self) -> None:
        assert RIGHT is not None

    @pytest.mark.slow
    @pytest.mark.parametrize("position", range(len(_decisive_places(EXPORT))))
    def test_a_key_misspelled_or_lost(self, position: int) -> None:
        for rename in (None, "misspelt"):
            export = copy.deepcopy(EXPORT)
            record, key = _decisive_places(export)[position]
            value = record.pop(key)
            if rename:
                record[rename] = value
            assert _numbers(json.dumps(export)) in (None, RIGHT), (record, key)

    @pytest.mark.slow
    @given(st.integers(0, len(_decisive_places(EXPORT)) - 1), st.sampled_from(ODD))
    @settings(max_examples=200, deadline=None)
    def test_a_value_of_another_type(self, position: int, value: Any) -> None:
        export = copy.deepcopy(EXPORT)
        record, key = _decisive_places(export)[position]
        if key in ("was_cancelled", "text", "result", "annotations") and (
            isinstance(value, type(record[key])) or (key == "text" and isinstance(value, str))
        ):
            return  # another answer, not a damaged one
        if key in ("id", "completed_by") and (isinstance(value, type(record[key])) or value == "7"):
            return  # another task or user
        if key == "completed_by" and value is None:
            return  # a user that was deleted: the answer is listed as left out
        record[key] = value
        assert _numbers(json.dumps(export)) in (None, RIGHT), (key, value)

    @given(st.integers(1, len(json.dumps(EXPORT)) - 1))
    @settings(max_examples=100, deadline=None)
    def test_cut_off(self, length: int) -> None:
        assert _numbers(json.dumps(EXPORT)[:length]) is None

    def test_message_names_the_line_and_the_task(self) -> None:
        export = copy.deepcopy(EXPORT)
        export[2]["annotations"][1]["result"][0]["value"]["text"] = 5  # type: ignore[index]
        lines = "[\n" + ",\n".join(json.dumps(task) for task in export) + "\n]"
        assert "line 4: task 3: annotation 6: the text of a textarea result is neither" in refusal(lines)

    def test_predictions_that_count_are_looked_at(self) -> None:
        export = [{**task, "predictions": [{"id": 1, "model_version": "m", "reslt": []}]} for task in EXPORT]
        assert _numbers(json.dumps(export)) == RIGHT
        assert "line 1: task 1: prediction 1: result is missing" in refusal(
            json.dumps(export), predictions_as_raters=True
        )
        bare = [{**task, "predictions": [5]} for task in EXPORT]
        assert "prediction number 1 is not an object" in refusal(json.dumps(bare), predictions_as_raters=True)


ROWS = [
    ("1", "ann", "fever, high"),
    ("1", "bob", 'a "hot" head'),
    ("2", "ann", "cough"),
    ("2", "bob", "first line\nsecond, of three, words"),
    ("3", "ann", ""),
    ("3", "bob", "rash"),
]


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n') else cell


CSV = "item,rater,text\n" + "".join(",".join(_quoted(cell) for cell in row) + "\n" for row in ROWS)


def _read(text: str) -> AnnotationTable | None:
    try:
        return read(io.StringIO(text), missing="none")
    except InputError:
        return None


class TestCsv:
    def test_the_table_itself_is_read(self) -> None:
        table = _read(CSV)
        assert table is not None
        assert ("2", "bob", ("first line second, of three, words",)) in rows(table)

    @pytest.mark.parametrize("position", [i for i, mark in enumerate(CSV) if mark == '"'])
    def test_a_quote_lost(self, position: int) -> None:
        damaged = _read(CSV[:position] + CSV[position + 1 :])
        # a quote inside a text belongs to the text: only it may differ
        assert damaged is None or len(rows(damaged) - rows(read(io.StringIO(CSV)))) <= 1

    @pytest.mark.parametrize("position", [i for i, mark in enumerate(CSV) if mark == "," and i > 16])
    def test_a_separator_doubled_or_lost(self, position: int) -> None:
        if CSV.count('"', 0, position) % 2:
            return  # part of a text: another text
        for damaged in (CSV[:position] + CSV[position + 1 :], CSV[:position] + "," + CSV[position:]):
            assert _read(damaged) is None

    @given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.text(max_size=8)), min_size=1, max_size=9))
    @settings(max_examples=150, deadline=None)
    def test_an_unquoted_text_is_whole_or_refused(self, cells: list[tuple[int, str, str]]) -> None:
        """Whoever joins cells with commas either gets the texts as they are or a refusal."""
        cells = [(i, r, "".join(m for m in t if m.isprintable() and m != '"')) for i, r, t in cells]
        table = _read("item,rater,text\n" + "".join(f"{i},{r},{t}\n" for i, r, t in cells))
        if any("," in text for _, _, text in cells):
            assert table is None
        elif table is not None:
            answers: dict[tuple[str, str], list[str]] = {}
            for item, rater, text in cells:
                answers.setdefault((str(item), rater), []).append(text)
            expected_table = AnnotationTable.from_answers(Answer(*key, tuple(texts)) for key, texts in answers.items())
            assert rows(table) == rows(expected_table)

    def test_a_byte_order_mark_within_a_text_changes_nothing(self) -> None:
        table = read(io.StringIO("item,rater,text\n1,a,\ufefffever\n1,b,fever\n"))
        assert table.texts == ("fever",)


class TestJsonl:
    def test_names_with_white_space_around_are_one_name(self) -> None:
        lines = ['{"item": " 1", "rater": "a", "texts": ["x"]}', '{"item": 1, "rater": "b ", "texts": ["x"]}']
        table = read(io.StringIO("\n".join(lines)))
        assert (table.items, table.raters) == (("1",), ("a", "b"))

    def test_an_answer_that_is_taken_back_does_not_count(self) -> None:
        lines = ['{"item": "1", "rater": "a", "texts": ["x"]}', '{"item": "1", "rater": "a", "texts": null}']
        table = read(io.StringIO("\n".join(lines)))
        assert (len(table.item), table.excluded) == (0, (Excluded("1", "a", "older answer of the same rater"),))

    @given(st.sampled_from(["item", "rater", "texts"]), st.sampled_from(ODD))
    def test_a_value_of_another_type(self, key: str, value: Any) -> None:
        row = {"item": "1", "rater": "a", "texts": ["x"]}
        table = _read(json.dumps({**row, key: value}) + "\n" + json.dumps({**row, "rater": "b"}))
        if key == "texts" and (value is None or value == []):
            assert table is not None
        elif key == "texts" or not isinstance(value, int | str) or isinstance(value, bool) or value == "":
            assert table is None


def _damaged(text: str, chance: random.Random) -> str:
    """The text with another value of JSON, or without a line or a character, or with a line twice."""
    lines = text.split("\n")
    line_number = chance.randrange(len(lines))
    for is_whole_file, damaged_text in ((True, text), (False, lines[line_number])):
        try:
            value = json.loads(damaged_text)
        except json.JSONDecodeError:
            continue
        if objects := [record for record in _objects(value) if record]:
            record = chance.choice(objects)
            record[chance.choice(list(record))] = chance.choice(ODD)
            changed = json.dumps(value)
            return changed if is_whole_file else "\n".join([*lines[:line_number], changed, *lines[line_number + 1 :]])
    position = chance.randrange(len(lines[line_number]) + 1)
    without = lines[line_number][:position] + lines[line_number][position + 1 :]
    return "\n".join(
        [*lines[:line_number], *chance.choice(([], [without], [lines[line_number]] * 2)), *lines[line_number + 1 :]]
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_of_any_tool_is_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    path, chance = FORMATS[name](tmp_path), random.Random(name)
    files = [file for file in ([path] if path.is_file() else sorted(path.rglob("*"))) if file.is_file()]
    texts = {file: content.decode() for file in files if _is_text(content := file.read_bytes())}
    for file in chance.choices(list(texts), k=12) if texts else ():
        file.write_text(_damaged(texts[file], chance), encoding="utf-8", newline="")
        try:
            read_texts(path, **options(name), kind=chance.choice((None, "auto")))
        except InputError as error:
            sentence = error.on_command_line
            assert sentence[:1].isupper() or sentence.startswith("/"), sentence
            assert sentence.endswith((".", ")")) and "\n" not in sentence, sentence
        file.write_text(texts[file], encoding="utf-8", newline="")


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
