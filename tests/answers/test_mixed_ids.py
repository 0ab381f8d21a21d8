"""Ids that are numbers in one row and texts in another cause a warning, in data frames and in JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pytest

import softirr
from tests.answers.plain_rows import refusal

WORDS = "a mix of texts and numbers"


def warned(source: Any, **options: Any) -> bool:
    return any(WORDS in warning for warning in softirr.read(source, **options).warnings)


@pytest.mark.parametrize(
    ("ids", "mixed"),
    [(["1", "01", 2.0], True), (["1", 3], True), (["1", "01"], False), ([1, 2.0], False), ([1.0, 2], False)],
    ids=str,
)
def test_ids_of_a_matrix(ids: list[Any], mixed: bool) -> None:
    texts = ["fever", "rash", "cough"][: len(ids)]
    column = pd.Series(ids, dtype=object)
    rows = [{"item": id, "ann": text, "bob": text} for id, text in zip(ids, texts, strict=True)]
    raters = ["ann", "bob"]
    assert warned(pd.DataFrame({"item": column, "ann": texts, "bob": texts}), raters=raters) is mixed
    assert warned(pd.DataFrame({"ann": texts, "bob": texts}, index=pd.Index(column)), raters=raters) is mixed
    assert warned(io.StringIO(json.dumps(rows)), raters=raters) is mixed


def test_only_ids_are_looked_at() -> None:
    frame = pd.DataFrame({"item": [1, 2], "ann": ["a", "b"], "bob": ["a", "b"], "aside": ["x", 1]})
    assert not warned(frame, raters=["ann", "bob"])


def test_a_number_that_repeats_a_text_is_refused_in_a_matrix() -> None:
    frame = pd.DataFrame({"ann": ["a", "b"], "bob": ["a", "b"]}, index=["1", 1.0])
    assert "two answers for item '1'" in refusal(frame, raters=["ann", "bob"])
