"""Which task a reviewer should look at first."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml_backend.web.task_queue import Entry
from softirr.report.view.rows import dissenter, priority


def pairs(values: dict[str, float]) -> list[tuple[str, str, float]]:
    return [(pair[0], pair[1], value) for pair, value in values.items()]


def of(task: int, values: dict[str, float]) -> dict[str, Any]:
    row = {
        "number": task,
        "agreement": sum(values.values()) / len(values),
        "n_raters": len({rater for pair in values for rater in pair}),
        "pairs": [{"raters": [a, b], "equivalence": value} for a, b, value in pairs(values)],
    }
    return row | {"priority": priority(row)}


def ordered(*rows: dict[str, Any]) -> list[int]:
    return [entry.task for entry in sorted((Entry(row, "ready", None) for row in rows), key=lambda entry: entry.order)]


def test_lower_agreement_comes_first() -> None:
    assert ordered(of(1, {"ab": 0.9}), of(2, {"ab": 0.1}), of(3, {"ab": 0.5})) == [2, 3, 1]


def test_more_annotators_come_first_at_the_same_agreement() -> None:
    two, four = of(1, {"ab": 0.3}), of(2, {"".join(p): 0.3 for p in combinations("abcd", 2)})
    assert four["priority"] > two["priority"]


def test_one_dissenter_comes_before_disagreement_all_round() -> None:
    dissent = of(1, {"ab": 0.9, "ac": 0.0, "bc": 0.0})
    disagreement = of(2, {"ab": 0.3, "ac": 0.3, "bc": 0.3})
    assert dissent["agreement"] == pytest.approx(disagreement["agreement"])
    assert dissent["priority"] > disagreement["priority"]


def test_ties_go_by_number() -> None:
    assert ordered(of(5, {"ab": 0.2}), of(3, {"ab": 0.2})) == [3, 5]


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_never_worse_for_lower_agreement(values: list[float]) -> None:
    """Lowering every pair of a task alike never moves it back."""
    names = ["".join(p) for p in combinations("abcd", 2)]
    high = of(1, dict(zip(names, values, strict=True)))
    low = of(1, {name: value * 0.5 for name, value in zip(names, values, strict=True)})
    _, without = dissenter(high["agreement"], pairs(dict(zip(names, values, strict=True)))) or (None, 0.0)
    assert low["priority"] >= high["priority"] - 0.5 * max(0.0, without - high["agreement"]) - 1e-9
    assert 0 <= high["priority"] <= 2.5
