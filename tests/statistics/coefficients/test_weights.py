"""Item weights: an item of weight 2 is two items, and unequal chances are reweighted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.weights import weighted
from softirr.cli.main import main

SAID = ("fever", "high fever", "cough", "dry cough", "rash", "")
NAMES = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "gwet_ac2")

Row = tuple[str, str, tuple[str, ...]]


def table_of(rows: list[Row]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(rows)


def rows_of(texts_of_items: list[tuple[int, ...]]) -> list[Row]:
    """A row of each rater for each item; below 0 the rater was not asked."""
    return [
        (f"i{item}", f"r{rater}", (SAID[text],) if SAID[text] else ())
        for item, texts in enumerate(texts_of_items)
        for rater, text in enumerate(texts)
        if text >= 0
    ]


def values(table: softirr.AnnotationTable, **options: Any) -> dict[str, float | None]:
    coefficients = softirr.agreement(
        table, "indel", options=softirr.AgreementOptions(reasons=False, **{"chance": "exact", **options})
    ).coefficients
    return {name: estimate.value for name, estimate in coefficients.items()}


def drawn(n: int, seed: int = 1, raters: int = 3) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    right = rng.integers(0, len(SAID), n)
    texts = np.where(rng.random((raters, n)) < 0.6, right, rng.integers(0, len(SAID), (raters, n)))
    texts = np.where(rng.random((raters, n)) < 0.15, -1, texts)
    return [tuple(map(int, column)) for column in texts.T]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.tuples(*[st.integers(-1, len(SAID) - 1)] * 3)), min_size=2, max_size=9
    ).filter(lambda items: sum(sum(text >= 0 for text in texts) >= 2 for _, texts in items) >= 2)
)
def test_an_item_of_weight_2_is_two_items(items: list[tuple[int, tuple[int, ...]]]) -> None:
    texts_of_items = [texts for _, texts in items]
    table = table_of(rows_of(texts_of_items))
    names = {f"i{number}": times for number, (times, _) in enumerate(items)}
    by_weight = values(weighted(table, {item: names[item] for item in table.items}))
    copies = [texts for times, texts in items for _ in range(times)]
    by_copies = values(table_of(rows_of(copies)))
    for name in NAMES:
        if by_weight[name] is not None and name != "cohen_kappa":
            assert by_weight[name] == pytest.approx(by_copies[name], abs=1e-9), name
    shared = [sum(texts[a] >= 0 and texts[b] >= 0 for texts in texts_of_items) for a, b in ((0, 1), (0, 2), (1, 2))]
    if all(n != 1 for n in shared) and by_weight["cohen_kappa"] is not None:
        # raters who share one item have no kappa, but they have one as soon as it stands twice
        assert by_weight["cohen_kappa"] == pytest.approx(by_copies["cohen_kappa"], abs=1e-9)


def test_weights_of_an_example() -> None:
    texts_of_items = [(0, 1, 0), (2, 3, -1), (4, 4, 5), (0, 2, 4)]
    by_weight = values(weighted(table_of(rows_of(texts_of_items)), [2, 1, 3, 1]))
    by_copies = values(table_of(rows_of([texts_of_items[0], *texts_of_items, texts_of_items[2], texts_of_items[2]])))
    for name in NAMES:
        assert by_weight[name] == pytest.approx(by_copies[name], abs=1e-9), name


@pytest.mark.slow
def test_equal_weights_change_nothing() -> None:
    table = table_of(rows_of(drawn(40)))
    unweighted = softirr.agreement(table, "indel", chance="exact").to_dict()
    same = softirr.agreement(weighted(table, [1.0] * len(table.items)), "indel", chance="exact").to_dict()
    for name, expected in unweighted["coefficients"].items():
        for number in ("value", "standard_error"):
            assert same["coefficients"][name][number] == pytest.approx(expected[number], abs=1e-9), name
        assert same["coefficients"][name]["ci95"] == pytest.approx(expected["ci95"], abs=1e-9), name
    shares = softirr.agreement(weighted(table, [1 / 40] * len(table.items)), "indel", chance="exact").to_dict()
    assert shares["coefficients"]["krippendorff_alpha"]["value"] == pytest.approx(
        unweighted["coefficients"]["krippendorff_alpha"]["value"], abs=1e-9
    ), "shares that sum to 1 are weights, too"


def _for(texts_of_items: list[tuple[int, ...]], item_weights: Any) -> dict[str, float]:
    return {f"i{i}": float(item_weights[i]) for i in range(len(texts_of_items))}


def test_drawn_chance_is_that_of_all_pairs() -> None:
    texts_of_items = drawn(150, seed=5)
    table = weighted(
        table_of(rows_of(texts_of_items)), _for(texts_of_items, np.random.default_rng(3).exponential(1.0, 150) + 0.01)
    )
    exact = softirr.agreement(table, "indel", chance="exact", options=softirr.AgreementOptions(reasons=False))
    by_permutation = softirr.agreement(
        table, "indel", chance="permutation", options=softirr.AgreementOptions(permutations=200, reasons=False)
    )
    for name in ("cohen", "fleiss", "krippendorff"):
        assert getattr(by_permutation.expected_agreement, name) == pytest.approx(
            getattr(exact.expected_agreement, name), abs=0.004
        )
    assert by_permutation.coefficients["sigma"].value == pytest.approx(exact.coefficients["sigma"].value, abs=0.05)
    assert 0 < by_permutation.expected_agreement.standard_error < 0.004


CSV = "item,rater,text,w\n1,a,fever,2\n1,b,fevers,2\n2,a,cough,1\n2,b,rash,\n3,a,pain,0.5\n3,b,pain,0.5\n"


def test_weight_column_of_a_file_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    assert main(["score", str(path), "--measure", "exact", "--weight", "w", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["coefficients"]["observed_agreement"]["value"] == pytest.approx(0.5 / 3.5)
    provenance = report["provenance"]["options"]["weights"]
    assert provenance == {"least": 0.5, "most": 2.0, "effective_items": pytest.approx(3.5**2 / 5.25)}
    assert any("2.3 of equal weight" in warning for warning in report["warnings"])
    frame = pd.DataFrame({"id": [1, 2], "a": ["x", "y"], "b": ["x", "z"], "n": [3, 1]})
    table = softirr.read(frame, item="id", raters=["a", "b"], weight="n")
    assert softirr.agreement(table, "exact").coefficients["observed_agreement"].value == 0.75


@pytest.mark.parametrize(
    "replaced, replacement, message",
    [
        ("1,a,fever,2", "1,a,fever,3", "two values of w"),
        ("2,a,cough,1", "2,a,cough,", "The item 2 has no weight in w"),
        ("2,a,cough,1", "2,a,cough,-1", "'-1': a weight is a number of 0 or more"),
        ("2,a,cough,1", "2,a,cough,nan", "a weight is a number of 0 or more"),
        ("2,a,cough,1", "2,a,cough,1_0", "'1_0': a weight is a number"),
        ("2,a,cough,1", "2,a,cough,\u0663", "a weight is a number"),
        ("2,a,cough,1", "2,a,cough,heavy", "'heavy': a weight is a number"),
        (",w\n", ",v\n", "no field 'w'; it has v"),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(
    replaced: str, replacement: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(CSV.replace(replaced, replacement, 1))
    assert main(["score", str(tmp_path / "a.csv"), "--measure", "exact", "--weight", "w"]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_an_item_of_weight_0_is_left_out_with_the_reason() -> None:
    texts_of_items = drawn(30)
    table = weighted(table_of(rows_of(texts_of_items)), _for(texts_of_items, np.array([0.0] * 5 + [1.0] * 25)))
    weighted_items = table_of([row for row in rows_of(texts_of_items) if int(row[0][1:]) >= 5])
    assert values(table) == pytest.approx(values(weighted_items))
    assert {exclusion.reason for exclusion in table.excluded} == {"weight 0"}
    with pytest.raises(softirr.InputError, match="No item has a weight above 0"):
        weighted(table, [0.0] * len(table.items))


def test_functions_without_weights_refuse_them() -> None:
    texts_of_items = drawn(30)
    table = weighted(table_of(rows_of(texts_of_items)), _for(texts_of_items, np.arange(30) + 1.0))
    for call in (
        lambda: softirr.agreement(table, "indel", options=softirr.AgreementOptions(marginals="gwet2014")),
        lambda: softirr.compare([table, table], "indel"),
    ):
        with pytest.raises(softirr.InputError, match="takes no item weights"):
            call()
