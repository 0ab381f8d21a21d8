"""How an input is read: one object of options, or each by its name, with a signature that shows them."""

from __future__ import annotations

import inspect
import io
import json
from dataclasses import fields
from typing import Any

import pytest

import softirr

CSV = "case,ann,bob\n1,fever,fever\n2,cough,rash\n"
OPTIONS = softirr.ReadOptions(item="case", raters=["ann", "bob"])
NAMES = {field.name for field in fields(softirr.ReadOptions)}


@pytest.mark.parametrize("function", [softirr.read, softirr.read_texts, softirr.inspect])
class TestEveryReader:
    def test_the_signature_shows_each_option_once(self, function: Any) -> None:
        parameters = inspect.signature(function).parameters
        assert set(parameters) >= NAMES and parameters["format"].default == "auto"
        assert not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
        assert "**keywords" not in (inspect.getdoc(function) or "") and "survey's case weight" in (
            inspect.getdoc(function) or ""
        )

    def test_options_and_keywords_read_the_same(self, function: Any) -> None:
        by_options = function(io.StringIO(CSV), OPTIONS)
        by_keywords = function(io.StringIO(CSV), item="case", raters=["ann", "bob"])
        mixed = function(io.StringIO(CSV), softirr.ReadOptions(item="case"), raters=["ann", "bob"])
        assert repr(by_options) == repr(by_keywords) == repr(mixed)

    @pytest.mark.parametrize(
        ("keywords", "words"),
        [
            ({"columns": "case"}, "has no option columns: it has format, control"),
            ({"format": "xml"}, "There is no format 'xml'"),
            ({"empty": "zero"}, "The option empty is 'zero'"),
            ({"raters": ["ann"], "rater": "bob"}, "each rater has a column: name item="),
            ({"regions": "best"}, "The option regions is 'best'"),
        ],
    )
    def test_unusable_options_are_refused(self, function: Any, keywords: dict[str, Any], words: str) -> None:
        with pytest.raises(softirr.InputError, match=words):
            function(io.StringIO(CSV), **keywords)


def test_options_are_checked_when_they_are_made() -> None:
    with pytest.raises(softirr.InputError, match="The option repeats is 'all'"):
        softirr.ReadOptions(repeats="all")


@pytest.mark.parametrize(
    ("keywords", "note"),
    [
        ({"predictions_as_raters": True}, "predictions_as_raters= changes nothing: no prediction is an answer."),
        ({"empty": "missing"}, 'empty="missing" changes nothing: an annotation without text'),
        ({"repeats": "refuse"}, 'repeats="refuse" changes nothing: the newest annotation of an annotator counts.'),
        ({"repeats": "last"}, ""),
        ({"empty": "none"}, ""),
    ],
)
def test_options_that_change_nothing_in_an_export_are_noted(keywords: dict[str, Any], note: str) -> None:
    result = {"from_name": "note", "to_name": "text", "type": "textarea", "value": {"text": ["fever"]}}
    annotations = [{"id": user, "completed_by": user, "result": [result]} for user in (1, 2)]
    export = [{"id": 1, "data": {}, "annotations": annotations, "predictions": []}]
    warnings = softirr.read(io.StringIO(json.dumps(export)), **keywords).warnings
    assert len(warnings) == bool(note) and "".join(warnings).startswith(note)
