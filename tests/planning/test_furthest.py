"""Items on which a rater is furthest from the others: their order, and which items count."""

from __future__ import annotations

import pytest

import softirr

ANSWERS = {
    "all agree": ("fever", "fever", "fever"),
    "model differs": ("fever", "fever", "rash"),
    "model is near": ("fever", "fever", "fevers"),
    "people differ more": ("fever", "cough", "fever"),
    "one person": ("fever", None, "rash"),
    "nothing found": ("fever", "fever", ()),
}


def test_the_lowest_agreement_comes_first_and_of_equals_where_the_others_agree() -> None:
    table = softirr.AnnotationTable.from_answers(
        softirr.Answer(item, rater, texts)
        for item, given in ANSWERS.items()
        for rater, texts in zip(("ann", "ben", "model:one"), given, strict=True)
        if texts is not None
    )
    comparison = softirr.compare_raters(table, measure="indel", coefficient="observed_agreement", difference_types=True)
    far = comparison.furthest
    assert [one.item for one in far] == ["nothing found", "model differs", "model is near"]
    assert (far[0].agreement, far[0].others, far[0].texts) == (0.0, 1.0, ())
    near = next(one for one in far if one.item == "model is near")
    assert near.agreement == pytest.approx(softirr.measure("indel").score([("fever", "fevers")])[0])
    assert comparison.to_dict()["furthest"][0]["item"] == "nothing found"
    assert "Items on which model:one is furthest from the others:" in str(comparison)
