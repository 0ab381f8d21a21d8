"""Counting attributes never makes pairs wrong that the bundled model has right, and facts are read before it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.meaning.policy.attribute_values import value
from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy
from tests.meaning.measures.function_measures import FunctionMeasure

ROWS = list(csv.DictReader(Path(__file__).with_name("counted_pairs.tsv").open(encoding="utf-8"), delimiter="\t"))
PAIRS = [(row["text_a"], row["text_b"]) for row in ROWS]
SAME = np.array([row["same"] == "1" for row in ROWS])
EVERYTHING = Policy(count=frozenset(KINDS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nli", "indel"])
def test_accuracy_with_all_attributes_counted_is_not_below_that_without(name: str) -> None:
    assert len(ROWS) >= 120
    without, with_attributes = (
        float(np.mean((softirr.measure(name, policy=policy).score(PAIRS) >= 0.5) == SAME))
        for policy in (None, EVERYTHING)
    )
    print(f"{name}: {without:.3f} without, {with_attributes:.3f} with all attributes counted")
    assert with_attributes >= without
    if name == "nli":
        assert without >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    "pair, same",
    [
        (("cannot walk", "unable to walk"), True),
        (("no fever", "afebrile"), True),
        (("RUL", "right upper lobe"), True),
        (("160/95", "95/160"), False),
        (("BP 160/95", "BP 95/160"), False),
    ],
)
def test_values_are_compared_only_where_both_sides_have_one_in_order(pair: tuple[str, str], same: bool) -> None:
    p = softirr.measure("nli", policy=EVERYTHING).score([pair])[0]
    assert (p >= 0.9) if same else (p <= 0.1)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("fever in week two", {("point", ("week 2",))}),
        ("fever during month 3", {("point", ("month 3",))}),
        ("pain on day 5", {("point", ("day 5",))}),
    ],
)
def test_a_numbered_week_is_a_time(text: str, expected: set[tuple[str, tuple[str, ...]]]) -> None:
    assert value(text, "time") == expected


def test_dimensions_are_compared_one_by_one() -> None:
    """A left upper lobe may be a left lobe, but never a right or a lower one."""
    counting = under_policy(FunctionMeasure(lambda first, second: 1.0), Policy(count=frozenset({"side"})))
    texts = ["left upper lobe pneumonia", "inflammation of the left lobe", "right upper lobe", "left lower lobe"]
    assert counting.score([(texts[0], text) for text in texts[1:]]).tolist() == [1.0, 0.0, 0.0]
