"""Which task a reviewer should look at first."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml_backend.review.agreement_words import chance_of, is_low, word
from ml_backend.review.triage_queue import candidate, ordered

NAMES = {"a": "Ann", "b": "Ben", "c": "Cleo"}


def pairs(values: dict[str, float]) -> list[tuple[str, str, float]]:
    return [(pair[0], pair[1], value) for pair, value in values.items()]


def of(task: int, values: dict[str, float], unmatched: dict[str, list[str]] | None = None) -> Any:
    rater_pairs = pairs(values)
    return candidate(task, sum(v for *_, v in rater_pairs) / len(rater_pairs), rater_pairs, unmatched)


def test_lower_agreement_comes_first() -> None:
    assert [one.task for one in ordered([of(1, {"ab": 0.9}), of(2, {"ab": 0.1}), of(3, {"ab": 0.5})])] == [2, 3, 1]


def test_more_annotators_come_first_at_the_same_agreement() -> None:
    two, four = of(1, {"ab": 0.3}), of(2, {"".join(p): 0.3 for p in combinations("abcd", 2)})
    assert four.priority > two.priority


def test_one_dissenter_comes_before_disagreement_all_round() -> None:
    dissent = of(1, {"ab": 0.9, "ac": 0.0, "bc": 0.0})
    around = of(2, {"ab": 0.3, "ac": 0.3, "bc": 0.3})
    assert dissent.agreement == pytest.approx(around.agreement)
    assert dissent.priority > around.priority
    assert dissent.dissenter == "c" and dissent.without == pytest.approx(0.9)
    assert around.dissenter is None


def test_two_annotators_have_no_dissenter() -> None:
    assert of(1, {"ab": 0.0}).dissenter is None


def test_reasons_are_words() -> None:
    reasons = of(1, {"ab": 0.9, "ac": 0.0, "bc": 0.0}, {"c": ["x"]}).reasons(NAMES)
    assert reasons == ["low agreement", "Cleo differs from the others, who agree at 0.90", "1 text without a match"]
    assert of(2, {"ab": 0.95}).reasons(NAMES) == ["nothing in particular"]


def test_high_agreement_is_no_reason_to_look_and_chance_agreement_is() -> None:
    """0.61 was called high agreement, and the same words were the reason to look at the task."""
    one = of(1, {"ab": 0.61})
    assert one.reasons(NAMES, 0.61) == ["chance-level agreement"]
    assert one.reasons(NAMES, 0.0) == ["nothing in particular"]
    for agreement in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0):
        for chance in (None, 0.0, 0.05, 0.3, 0.61, 0.95, 1.0):
            reasons = of(1, {"ab": agreement}).reasons(NAMES, chance)
            assert not any("high" in reason for reason in reasons)
            assert (reasons != ["nothing in particular"]) == is_low(agreement, chance)


def test_full_agreement_is_very_high_and_none_is_very_low_whatever_chance_gives() -> None:
    for chance in (None, 0.0, 0.4, 0.99):
        assert word(1.0, chance) == "very high" and word(0.0, chance) == "very low"


def test_chance_of_a_project_is_the_mean_of_its_fields() -> None:
    def field(expected: float) -> dict[str, Any]:
        return {
            "coefficients": {"krippendorff_alpha": {"value": 0.2}},
            "expected_agreement": {"krippendorff": expected, "cohen": 0.9},
        }

    summary = {"controls": {"a": field(0.2), "b": field(0.6)}}
    assert chance_of(summary) == pytest.approx(0.4)
    assert chance_of(None) is None and chance_of({"controls": {}}) is None


def test_ties_go_by_number() -> None:
    assert [one.task for one in ordered([of(5, {"ab": 0.2}), of(3, {"ab": 0.2})])] == [3, 5]


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_never_worse_for_lower_agreement(values: list[float]) -> None:
    """Lowering every pair of a task alike never moves it back."""
    names = ["".join(p) for p in combinations("abcd", 2)]
    high = of(1, dict(zip(names, values, strict=True)))
    low = of(1, {name: value * 0.5 for name, value in zip(names, values, strict=True)})
    assert low.priority >= high.priority - 0.5 * max(0.0, (high.without or 0) - high.agreement) - 1e-9
    assert 0 <= high.priority <= 2.5
