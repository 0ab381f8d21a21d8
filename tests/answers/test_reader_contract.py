"""The contract of readers: every format of the documentation gives the same table for the same answers.

Rows, raters, missing marks, repeated answers, hostile texts, order, and damaged files.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import softirr
from softirr.answers import registry
from softirr.answers.answer import OLDER_DUPLICATE
from softirr.text import normalize
from tests import Cli
from tests.answers.formats import COMMANDS, DAMAGED, FORMATS, options
from tests.answers.formats.common import ANSWERS, RATERS, ROWS, Rows
from tests.answers.plain_rows import answers, refusal


def content(table: softirr.AnnotationTable) -> list[set[tuple[int, tuple[str, ...]]]]:
    """The answers of each item, without the names of items and raters, which every tool gives itself."""
    raters = {
        name: RATERS.index(name) if name in RATERS else number for number, name in enumerate(sorted(table.raters))
    }
    items: dict[str, set[tuple[int, tuple[str, ...]]]] = {}
    for (item, rater), texts in answers(table).items():
        items.setdefault(item, set()).add((raters[rater], texts))
    return sorted(items.values(), key=sorted)


def expected_content(rows: Rows) -> list[set[tuple[int, tuple[str, ...]]]]:
    """The same for rows of item, rater and text."""
    texts: dict[tuple[str, str], set[str]] = {}
    for item, rater, text in rows:
        texts.setdefault((item, rater), set()).add(normalize(text))
    return content(
        softirr.AnnotationTable.from_answers(
            softirr.Answer(*key, tuple(texts_of_rater)) for key, texts_of_rater in texts.items()
        )
    )


TABLE = softirr.AnnotationTable.from_answers(softirr.Answer(*key, (text,)) for key, text in ANSWERS.items())


def test_every_row_of_the_documentation_is_a_test() -> None:
    assert sorted(COMMANDS) == sorted(FORMATS)


def test_rows_of_the_documentation_are_in_order() -> None:
    assert list(COMMANDS) == sorted(COMMANDS, key=str.casefold)


def test_no_module_outside_its_own_knows_a_format_by_name() -> None:
    folder = Path(registry.__file__).parent
    names = {entry.name for entry in registry.formats() if not entry.is_general} - {
        "xlsx",
        "parquet",
        "label-studio-flat",
        "answers",
    }
    for path in folder.glob("*.py"):
        words = set(re.findall(r"[\"']([a-z-]+)[\"']", path.read_text(encoding="utf-8")))
        assert not words & names, path


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    report = softirr.agreement(TABLE, "indel")
    return {name: coefficient.value for name, coefficient in report.coefficients.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_the_answers_are_read_and_the_documented_command_gives_their_numbers(
    name: str,
    expected: dict[str, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Cli,
) -> None:
    path = FORMATS[name](tmp_path)
    table = softirr.read(path, **options(name))
    assert content(table) == content(TABLE) and table.reading is not None and table.reading.n_rows > 0
    monkeypatch.chdir(tmp_path)
    words = shlex.split(COMMANDS[name])[1:]
    assert words[1] == path.name
    report = cli(*words, "--measure", "indel", "--json")
    assert {key: coefficient["value"] for key, coefficient in report["coefficients"].items()} == pytest.approx(
        expected, abs=1e-12
    )


HOSTILE = (
    *("=1+1", "-5", "+1", "@sum", "'quoted'", 'a "b" c', "a,b;c|d", "a\tb", "a\nb", "  spaces  ", "0", "1.0", "01"),
    *("true", "[1]", '{"a": 1}', "{{x}}", "<script>alert(1)</script>", "&amp;", "\u202eabc", "e\u0301", "漢字"),
    *("👩\u200d⚕", "ß"),
)


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_texts_come_back_unchanged(name: str, tmp_path: Path) -> None:
    rows = [
        (str(item), rater, HOSTILE[(item + shift) % len(HOSTILE)])
        for item in range(1, len(HOSTILE) + 1)
        for shift, rater in enumerate(RATERS)
    ]
    table = softirr.read(FORMATS[name](tmp_path, rows), **options(name))
    assert content(table) == expected_content(rows)


@pytest.mark.parametrize("name", FORMATS)
def test_marks_for_a_missing_answer_are_left_out_with_the_reason(name: str, tmp_path: Path) -> None:
    rows = [*ROWS, ("6", "ann", "N/A"), ("6", "bob", "cough"), ("6", "cy", "none")]
    table = softirr.read(FORMATS[name](tmp_path, rows), **options(name))
    assert content(table) == expected_content([row for row in rows if row[2] != "N/A"])
    assert [left_out.reason for left_out in table.excluded] == ["missing, written as N/A"]
    with_marks = softirr.read(FORMATS[name](tmp_path, rows), **options(name), missing="none")
    assert content(with_marks) == expected_content(rows) and with_marks.excluded == ()


@pytest.mark.parametrize("name", FORMATS)
def test_order_of_rows_changes_nothing(name: str, tmp_path: Path) -> None:
    forward, backward = (
        softirr.read(FORMATS[name](tmp_path, rows), **options(name)) for rows in (list(ROWS), list(ROWS)[::-1])
    )
    assert content(forward) == content(backward)
    alphas = [softirr.agreement(table, "indel").coefficients["krippendorff_alpha"] for table in (forward, backward)]
    assert alphas[0].value == pytest.approx(alphas[1].value, abs=1e-12)


ONE_ANSWER = {"wide CSV", "wide TSV", "wide XLSX", "wide Parquet"}
"""Formats with a cell for each item and rater, which cannot have two answers."""
SETS = {"CSV item,rater,text", "long table", "JSON list", "doccano", "doccano 1.0", "folder"}
"""Formats in which several answers of a rater to an item are a set; in the others the last one counts."""


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ONE_ANSWER])
def test_second_answer_of_a_rater_is_a_part_of_a_set_or_replaces_the_first(name: str, tmp_path: Path) -> None:
    rows = [*ROWS, ("1", "ann", "headache")]
    table = softirr.read(FORMATS[name](tmp_path, rows), **options(name))
    if name in SETS:
        assert content(table) == expected_content(rows) and table.excluded == ()
    else:
        assert content(table) == expected_content(rows[1:])
        assert [left_out.reason for left_out in table.excluded] == [OLDER_DUPLICATE]


@pytest.mark.parametrize(("name", "old_text", "new_text", "message"), DAMAGED, ids=[f"{d[0]}-{d[3]}" for d in DAMAGED])
def test_a_damaged_file_is_refused(name: str, old_text: str, new_text: str, message: str, tmp_path: Path) -> None:
    path = FORMATS[name](tmp_path)
    text = path.read_bytes().decode()
    assert old_text in text
    path.write_bytes(text.replace(old_text, new_text).encode())
    sentence = refusal(path, **options(name))
    assert message in sentence and (str(path) in sentence or "Row" in sentence)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("folder",)])
def test_cut_file_is_refused_or_loses_answers(name: str, tmp_path: Path) -> None:
    """Half of a file is refused, or has fewer answers, none of which is another one."""
    path = FORMATS[name](tmp_path)
    if path.is_dir():
        path = next(file for file in sorted(path.rglob("*")) if file.suffix in (".json", ".jsonl", ".csv", ".xlsx"))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    source = path if path.parent == tmp_path else next(entry for entry in path.parents if entry.parent == tmp_path)
    try:
        table = softirr.read(source, **options(name))
    except softirr.InputError:
        return
    texts = set(ANSWERS.values())
    known_texts = [text for answer in range(len(table.answers)) for text in table.texts_of(answer) if text not in texts]
    assert len(known_texts) <= 1, "only the last text may be cut"


@pytest.mark.parametrize("names_columns", [False, True])
@pytest.mark.parametrize("name", ["min", "csv", "tsv"])
def test_flat_exports_of_label_studio_say_that_copies_count(name: str, names_columns: bool, tmp_path: Path) -> None:
    """They do not mark answers that were copied from predictions."""
    row = {
        "id": 1,
        "text": "narrative",
        "annotator": 1,
        "annotation_id": 10,
        "created_at": "2026-01-01",
        "updated_at": "2026-01-01",
        "lead_time": 1,
    }
    records = [
        {**row, "annotator": user, "annotation_id": 10 * task + user, "id": task, "findings": text}
        for task, texts in ((1, ("fever", "high fever")), (2, ("rash", "itch")))
        for user, text in enumerate(texts, start=1)
    ]
    path = tmp_path / "export"
    if name == "min":
        path.write_text(json.dumps(records), encoding="utf-8")
    else:
        mark = "," if name == "csv" else "\t"
        lines = [mark.join(records[0]), *(mark.join(map(str, record.values())) for record in records)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    column_options = {"item": "id", "rater": "annotator"} if names_columns else {}
    table = softirr.read(path, text="findings", **column_options)
    assert table.reading is not None
    assert (table.reading.format == "label-studio-flat") is not names_columns
    (warning,) = table.warnings
    assert (
        "does not say which answers were copied from predictions or filled in from the task's data, "
        "so such answers count" in warning
    )
    assert "Export with the format JSON" in warning
