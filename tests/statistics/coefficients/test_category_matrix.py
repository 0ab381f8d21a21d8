"""A matrix of categories in every form that people have: the same coefficients, or a refusal that names the cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers import ratings
from softirr.statistics.coefficients.matrix import matrix_agreement
from tests.statistics.chance.direct import similarity

CELLS = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * 3), min_size=2, max_size=8)


def values(matrix: Any, **options: Any) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in matrix_agreement(matrix, **options).coefficients.items()}


def forms(rows: list[tuple[int | None, ...]]) -> dict[str, Any]:
    """One matrix in many forms; None is missing."""
    floats = np.array([[np.nan if cell is None else cell for cell in row] for row in rows])
    numbers = np.where(np.isnan(floats), 0, floats).astype(np.uint16)
    masked = np.ma.array(numbers, mask=np.isnan(floats))
    names = [f"r{number}" for number in range(floats.shape[1])]
    return {
        "lists": [list(row) for row in rows],
        "floats": floats,
        "objects": np.array(rows, dtype=object),
        "masked": masked,
        "masked rows": list(masked),
        "masked floats": np.ma.masked_invalid(floats),
        "pandas": pd.DataFrame(floats, columns=names),
        "pandas with NA": pd.DataFrame(floats, columns=names).astype("Int64"),
        "polars": pl.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(names)}, strict=False),
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_every_form_has_the_same_coefficients(rows: list[tuple[int | None, ...]]) -> None:
    expected = values(np.array([[-1 if cell is None else cell for cell in row] for row in rows]))
    for name, matrix in forms(rows).items():
        assert values(matrix) == expected, name


@settings(max_examples=40, deadline=None)
@given(CELLS, st.lists(st.integers(0, 2**70), min_size=4, max_size=4, unique=True))
def test_categories_without_a_similarity_are_names_only(rows: list[tuple[int | None, ...]], names: list[int]) -> None:
    renamed = [[None if cell is None else sorted(names)[cell] for cell in row] for row in rows]
    assert values(renamed) == values([list(row) for row in rows])


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 3),
    st.integers(0, 1),
    st.sampled_from(
        [
            "1",
            "",
            b"1",
            0.5,
            -0.5,
            1e300,
            float("inf"),
            1j,
            [1],
            {"a": 1},
            object(),
            np.datetime64("2026-01-01"),
        ]
    ),
    st.booleans(),
)
def test_anything_else_is_refused_with_its_cell(row: int, column: int, value: Any, frame: bool) -> None:
    matrix: Any = [[0, 0], [1, 1], [0, 1], [2, 2]]
    matrix[row][column] = value
    with pytest.raises(softirr.InputError, match=f"^Row {row + 1}, column {column + 1} of the matrix is "):
        matrix_agreement(pd.DataFrame(matrix, dtype=object) if frame else matrix)


class TestExamples:
    @pytest.mark.parametrize(("second", "alpha"), [([0, 1], "1.00"), ([-1, -1], "undefined")])
    def test_repr(self, second: list[int], alpha: str) -> None:
        result = matrix_agreement(np.array([[0, 1], second]).T)
        assert repr(result) == f"<MatrixAgreement: 2 items, 2 raters, Krippendorff's alpha {alpha}>"

    def test_a_mask_is_missing(self) -> None:
        unmasked = np.array([[0, 0], [1, 1], [0, 1], [2, 2], [0, 0]])
        mask = np.zeros(unmasked.shape, dtype=bool)
        mask[2, 1] = True
        assert values(np.ma.array(unmasked, mask=mask)) == values(np.where(mask, -1, unmasked))
        assert values(np.ma.array(unmasked, mask=mask)) != values(unmasked)

    def test_the_largest_unsigned_integer_is_a_category(self) -> None:
        top = np.iinfo(np.uint64).max
        matrix = np.array([[top, top], [1, 1], [0, 1], [2, 2]], dtype=np.uint64)
        assert values(matrix) == values([[3, 3], [1, 1], [0, 1], [2, 2]])

    @pytest.mark.parametrize("category", [10**9, 2**63, 2**64 - 1])
    def test_a_category_that_the_similarity_lacks(self, category: int) -> None:
        with pytest.raises(softirr.InputError, match=r"largest category is 1,000,000,000|is too large"):
            matrix_agreement([[category, 0], [1, 1]], np.eye(2))

    @pytest.mark.parametrize(
        "matrix",
        [{1, 2}, {"a": [1, 2]}, "01", None, 3, [], [0, 1], np.zeros((2, 2, 2)), pl.DataFrame({"a": [1]}).lazy()],
        ids=lambda value: type(value).__name__,
    )
    def test_values_other_than_a_matrix_are_refused(self, matrix: Any) -> None:
        with pytest.raises(
            softirr.InputError, match=r"^The matrix is of type .* one row per item and one column per rater"
        ):
            matrix_agreement(matrix)

    def test_rows_of_different_lengths(self) -> None:
        with pytest.raises(softirr.InputError, match="rows of different lengths"):
            matrix_agreement([[0, 1], [1]])

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"similarity": [["x"]]}, "square matrix of numbers"),
            ({"similarity": [[1, np.nan], [np.nan, 1]]}, "missing or infinite"),
            ({"similarity": [[1, 0.5], [0.4, 1]]}, "not symmetric"),
            ({"similarity": [[0.5, 0], [0, 1]]}, "1 for a category with itself"),
            ({"similarity": [[1, 2], [2, 1]]}, r"outside \[0, 1\]"),
            ({"chance": "guess"}, "The option chance"),
            ({"marginals": "both"}, "The option marginals"),
            ({"permutations": 0}, "above 0"),
        ],
    )
    def test_options_that_are_refused(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises(softirr.InputError, match=words):
            matrix_agreement([[0, 1], [1, 1]], **options)


@pytest.mark.parametrize("marginals", ["answers", "gwet2014"])
def test_many_permutations_give_the_coefficients_of_all_pairs(marginals: Any) -> None:
    rng = np.random.default_rng(0)
    matrix, weights = rng.integers(-1, 4, (30, 2)), similarity(4)
    exact, by_permutation = (
        matrix_agreement(matrix, weights, chance=chance, permutations=2_000, marginals=marginals).coefficients
        for chance in ("exact", "permutation")
    )
    for name in exact:
        assert by_permutation[name].value == pytest.approx(exact[name].value, abs=0.02), name


class TestManyRaters:
    def test_more_pairs_than_fit_are_refused_before_they_are_made(self) -> None:
        n = 5_000
        answers = (softirr.Answer("1", f"r{number}", "fever") for number in range(n))
        table = softirr.AnnotationTable.from_answers(answers)
        with pytest.raises(softirr.InputError, match=r"12,497,500 pairs of answers .* up to 5,000 raters on one item"):
            softirr.agreement(table, "exact")
        with pytest.raises(softirr.InputError, match="12,497,500 pairs"):
            matrix_agreement(np.zeros((1, n), dtype=int))

    def test_the_limit_itself_is_allowed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ratings, "MOST_COMPARISONS", 3)
        assert values([[0, 0, 1]])["observed_agreement"] == pytest.approx(1 / 3)
        with pytest.raises(softirr.InputError, match="4 pairs"):
            matrix_agreement([[0, 0, 1], [1, 1, -1]])
