"""JSON objects as rows of a table: every key of every object counts, and the order of the objects does not."""

from __future__ import annotations

import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from tests.answers.plain_rows import answers

RATERS = ("ann", "bob", "cid")
CELL = st.one_of(st.none(), st.just("absent"), st.sampled_from(["fever", "cough", "rash", "high fever"]))


def read(rows: list[dict[str, Any]], *, lines: bool, **options: Any) -> softirr.AnnotationTable:
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    return softirr.read(io.StringIO(text), **options)


def numbers(table: softirr.AnnotationTable) -> Any:
    report = softirr.agreement(table, "indel", chance="exact")
    values = {name: coefficient.value for name, coefficient in report.coefficients.items()}
    items = {item.id: (item.agreement, item.n_raters) for item in report.items}
    raters = {rater.id: (rater.n_items, rater.agreement.value) for rater in report.raters}
    return (
        {name: None if value is None else round(value, 9) for name, value in values.items()},
        {name: (None if value is None else round(value, 9), n) for name, (value, n) in sorted(items.items())},
        {name: (n, None if value is None else round(value, 9)) for name, (n, value) in sorted(raters.items())},
    )


def outcome(rows: list[dict[str, Any]], **options: Any) -> Any:
    try:
        return numbers(read(rows, **options))
    except softirr.InputError:
        return "refused"


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=2, max_size=8), st.randoms(use_true_random=False), st.booleans())
def test_wide_rows_in_any_order(cells: list[tuple[str | None, ...]], source: random.Random, lines: bool) -> None:
    rows = [
        {"case": f"i{number}"} | {name: cell for name, cell in zip(RATERS, row, strict=True) if cell != "absent"}
        for number, row in enumerate(cells)
    ]
    shuffled = source.sample(rows, len(rows))
    options = {"item": "case", "raters": RATERS, "lines": lines}
    assert outcome(shuffled, **options) == outcome(rows, **options)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.sampled_from(RATERS)), CELL, min_size=2, max_size=12),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_long_rows_in_any_order(cells: dict[tuple[int, str], str | None], source: random.Random, lines: bool) -> None:
    rows = [
        {"item": item, "rater": rater} | ({} if text == "absent" else {"text": text})
        for (item, rater), text in cells.items()
    ]
    shuffled = source.sample(rows, len(rows))
    assert outcome(shuffled, lines=lines) == outcome(rows, lines=lines)


@pytest.mark.parametrize("lines", [True, False])
def test_a_rater_who_begins_late(lines: bool) -> None:
    rows: list[dict[str, Any]] = [{"item": n, "ann": f"text {n % 7}", "bob": f"text {n % 7}"} for n in range(300)]
    for n in range(250, 300):
        rows[n]["cid"] = "something else"
    table = read(rows, lines=lines, raters=["*n*", "b*", "c*"])
    assert set(table.raters) == {"ann", "bob", "cid"}
    assert numbers(table) == numbers(read(rows[::-1], lines=lines, raters=["*n*", "b*", "c*"]))


def test_a_format_that_a_later_record_has_is_refused_in_every_order() -> None:
    rows: list[dict[str, Any]] = [{"item": "1", "rater": "ann"}, {"item": "1", "rater": "bob", "texts": ["fever"]}]
    for order in (rows, rows[::-1]):
        with pytest.raises(softirr.InputError, match=r"line 1|line 2|another format"):
            read(order, lines=True)


def test_a_folder_of_temporary_files_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", full)
    with pytest.raises(
        softirr.InputError, match=r"temporary files .* is full or not writable \(No space left on device\)"
    ):
        read([{"item": "1", "ann": "x", "bob": "x"}], lines=True, raters=["ann", "bob"])


def test_numbers_of_a_folder_with_a_file_for_each_rater_are_answers_to_a_field_of_values(tmp_path: Path) -> None:
    for rater, scores in {"ann": (3, 4, 5), "ben": (3, 5, 5)}.items():
        rows = [{"item": str(item), "score": score} for item, score in enumerate(scores)]
        (tmp_path / f"{rater}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reading = softirr.ReadOptions(item="item", text="score", kind="interval")
    assert answers(softirr.read(tmp_path, reading)) == {
        (str(item), rater): (score,)
        for rater, scores in {"ann": "345", "ben": "355"}.items()
        for item, score in enumerate(scores)
    }
