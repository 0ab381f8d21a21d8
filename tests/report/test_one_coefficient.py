"""One coefficient of lists or of a table: any ordered list is read, and unordered input is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.frames_and_lists import lists_table
from tests.answers.plain_rows import rows

A, B = ["fever", "rash", "pain", None], ["fever", "cough", "pain", "rash"]
LONG = {
    "item": [number for number in range(4) for _ in "ab"],
    "rater": ["a", "b"] * 4,
    "text": [text for pair in zip(A, B, strict=True) for text in pair],
}
FORMS: dict[str, Any] = {
    "tuple": tuple,
    "iterator": iter,
    "objects": lambda texts: np.array(texts, dtype=object),
    "masked": lambda texts: np.ma.array([text or "x" for text in texts], mask=[text is None for text in texts]),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "keys": lambda texts: dict.fromkeys(texts).keys(),
    "values": lambda texts: dict(enumerate(texts)).values(),
    "lists": lambda texts: [None if text is None else [text] for text in texts],
}


@pytest.mark.parametrize("form", FORMS)
def test_lists_of_every_form(form: str) -> None:
    expected_cohen_kappa = softirr.cohen_kappa(A, B, "exact")
    assert expected_cohen_kappa.value == pytest.approx(4 / 7)
    assert softirr.cohen_kappa(FORMS[form](A), B, "exact") == expected_cohen_kappa
    assert softirr.cohen_kappa(A, FORMS[form](B), "exact") == expected_cohen_kappa


def assert_same(actual: Any, expected: Any) -> None:
    """The same value and interval: processors add the products of tables of different order in different ways."""
    assert actual.value == pytest.approx(expected.value, abs=1e-12) and actual.ci95 == pytest.approx(
        expected.ci95, abs=1e-12
    )
    assert actual.undefined == expected.undefined


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_lists_frames_and_tables_agree(library: Any) -> None:
    frame = library.DataFrame(LONG)
    report = softirr.agreement(softirr.read(frame), "exact")
    assert softirr.agreement(frame, "exact").coefficients == report.coefficients
    alpha = report.coefficients["krippendorff_alpha"]
    assert_same(softirr.krippendorff_alpha(A, B, "exact"), alpha)
    assert_same(softirr.krippendorff_alpha(frame, measure="exact"), alpha)
    assert_same(softirr.fleiss_kappa(frame, "exact"), report.coefficients["fleiss_kappa"])
    assert_same(softirr.cohen_kappa(A, B, "exact"), report.coefficients["cohen_kappa"])


PAIRS = st.lists(st.tuples(*[st.one_of(st.none(), st.sampled_from(["x", "y", "z", ""]))] * 2), max_size=8)


@settings(max_examples=200, deadline=None)
@given(PAIRS)
def test_generated_lists_are_the_table_of_their_answers(pairs: list[tuple[str | None, str | None]]) -> None:
    table = lists_table({"a": [pair[0] for pair in pairs], "b": [pair[1] for pair in pairs]})
    texts = {(str(n), who, text) for n, pair in enumerate(pairs) for who, text in zip("ab", pair, strict=True)}
    assert rows(table) == {(n, who, (text,) if text else ()) for n, who, text in texts if text is not None}


class TestRefused:
    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"fever", "rash"}, "a set has no order"),
            (frozenset({"fever"}), "a set has no order"),
            (dict(enumerate(B)), "give its values as a list"),
            (pd.DataFrame(LONG), "give one of its columns"),
            (pl.DataFrame(LONG), "give one of its columns"),
            (pl.DataFrame(LONG).lazy(), "give one of its columns"),
            ("fever", "one answer per item"),
            (b"fever", "one answer per item"),
            (None, "one answer per item"),
            (np.array("fever"), "one answer per item"),
            ([b"fever"], "has b'fever'"),
            ([{"text": "fever"}], "has {'text'"),
            ([["fever", None]], "has None"),
            ([1], "has 1"),
        ],
        # the order of a set differs between processes
        ids=lambda argument: argument if isinstance(argument, str) else type(argument).__name__,
    )
    @pytest.mark.parametrize("function", [softirr.cohen_kappa, softirr.krippendorff_alpha])
    def test_a_list_that_is_none(self, function: Any, values: Any, words: str) -> None:
        with pytest.raises(softirr.InputError, match=words):
            function(values, ["fever"], "exact")
        with pytest.raises(softirr.InputError, match=words):
            function(["fever"], values, "exact") if values is not None else function(None, ["fever"], "exact")

    @pytest.mark.parametrize("options", [{"casefold": True}, {"missing": "NA"}, {"missing": ""}])
    @pytest.mark.parametrize("function", [softirr.cohen_kappa, softirr.krippendorff_alpha])
    def test_options_of_reading_for_a_table(self, function: Any, options: Any) -> None:
        with pytest.raises(softirr.InputError, match=r"give casefold to softirr\.read|give missing to|names no text"):
            function(softirr.read(pd.DataFrame(LONG)), measure="exact", **options)

    def test_columns_are_never_joined_by_place_when_their_labels_differ(self) -> None:
        a = pd.Series(B, index=[3, 2, 1, 0])
        with pytest.raises(softirr.InputError, match="rows have different labels"):
            softirr.cohen_kappa(a, pd.Series(B), "exact")
        assert softirr.cohen_kappa(a, pd.Series(B, index=a.index), "exact").value == 1
        assert softirr.cohen_kappa(a.to_list(), pd.Series(B), "exact").value == 1

    @pytest.mark.parametrize(("n_items", "warns"), [(2, False), (3, False), (1, True)])
    def test_a_dictionary_with_more_raters_than_items_warns(self, n_items: int, warns: bool) -> None:
        by_rater = {name: {f"item {k}": "fever" for k in range(n_items)} for name in ("ann", "bob")}
        warnings = softirr.agreement(by_rater, "exact").warnings
        assert any("If its keys are items" in warning for warning in warnings) == warns

    def test_a_dictionary_of_one_rater_is_undefined(self) -> None:
        for function in (softirr.fleiss_kappa, softirr.krippendorff_alpha):
            coefficient = function({"a": A}, measure="exact")
            assert (coefficient.value, coefficient.undefined) == (None, "only one rater")
