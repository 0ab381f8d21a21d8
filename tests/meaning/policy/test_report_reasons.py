"""Reasons of differences in a report: their counts, examples, and the effect of ignoring an attribute."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.meaning.policy.reasons import Reason
from softirr.report.reason_counts import EXAMPLES, summarize_reasons
from softirr.report.reasons import ItemReason
from softirr.report.view import view


def table(rows: list[tuple[str, str, Any]]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(rows)


OPPOSITES = {
    "omission": "addition",
    "addition": "omission",
    "substitution": "substitution",
    "more general": "more specific",
    "contradiction": "contradiction",
}
"""Types of difference from a rater's side, and the same difference from the other rater's side."""
ROWS: list[tuple[str, str, Any]] = [
    ("1", "ben", "headache"),
    ("1", "chiara", "very severe headache"),
    ("2", "ben", ("cough", "fever")),
    ("2", "chiara", ("cough",)),
    ("3", "ben", "mild cough"),
    ("3", "chiara", "severe cough"),
    ("4", "ben", ()),
    ("4", "chiara", "rash"),
    ("5", "ben", "rash"),
    ("5", "chiara", "rash"),
]


def test_a_report_counts_reasons() -> None:
    report = softirr.agreement(table(ROWS), "exact", options=softirr.AgreementOptions(what_if=True))
    assert [[(reason.reason.kind, reason.texts) for reason in item.reasons] for item in report.items] == [
        [("severity", ("headache", "very severe headache"))],
        [("one rater only", ("fever", "cough"))],
        [("severity", ("mild cough", "severe cough"))],
        [("one rater only", (None, "rash"))],
        [],
    ]
    reasons = report.to_dict()["reasons"]
    assert (reasons["pairs"], reasons["items"]) == (4, 4)
    assert [(kind["kind"], kind["pairs"], kind["items"]) for kind in reasons["kinds"]] == [
        ("severity", 2, 2),
        ("one rater only", 2, 2),
    ]
    assert reasons["rater_pairs"] == [
        {"raters": ["ben", "chiara"], "n_items": 5, "kinds": {"severity": 2, "one rater only": 2}}
    ]
    assert report.to_dict()["items"][2]["matches"][0]["reason"] == "severity"


@pytest.mark.parametrize(
    ("reason", "difference"),
    [
        (Reason("negation", "no", ""), "contradiction"),
        (Reason("list", "fever, cough", "cough"), "addition"),
        (Reason("list", "cough", "fever, cough"), "omission"),
        (Reason("more general", "pain", "back pain"), "more general"),
        (Reason("side", "", "left"), "more general"),
        (Reason("spelling", "ilium", "ileum"), "substitution"),
    ],
)
def test_each_reason_is_a_type_of_difference(reason: Reason, difference: str) -> None:
    texts = ("pain", "back pain")
    item_reason = ItemReason(("ann", "ben"), texts, 0.1, reason)
    assert item_reason.difference == difference
    assert ItemReason(("ben", "ann"), texts[::-1], 0.1, reason.turned()).difference == OPPOSITES[difference]


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_examples_equal_a_plain_count(data: st.DataObject) -> None:
    text = st.sampled_from([f"t{n}" for n in range(8)])
    stored_reasons = st.fixed_dictionaries(
        {
            "raters": st.sampled_from([["ann", "ben"], ["ann", "cem"]]),
            "texts": st.tuples(text, st.one_of(text, st.none())).map(list),
            "kind": st.sampled_from(["side", "severity", "unrelated"]),
            "also": st.sampled_from([[], ["number"]]),
            "words": st.just("words"),
        }
    )
    items = [
        (str(n), reasons_of_item)
        for n, reasons_of_item in enumerate(data.draw(st.lists(st.lists(stored_reasons, max_size=4), max_size=30)))
    ]
    for count in summarize_reasons(items, {}).kinds:
        by_pair: dict[Any, list[tuple[str, dict[str, Any]]]] = {}
        for id, reasons_of_item in items:
            for reason in reasons_of_item:
                if count.kind in (reason["kind"], *reason["also"]):
                    pair = tuple(sorted(reason["texts"], key=lambda text: text or ""))
                    by_pair.setdefault(pair, []).append((id, reason))
        maximum = sorted(by_pair.values(), key=len, reverse=True)[:EXAMPLES]
        maximum.sort(key=lambda same_reasons: same_reasons[0][1]["kind"] != count.kind)
        assert [example.to_dict() for example in count.examples] == [
            {
                "item": same_reasons[0][0],
                "raters": same_reasons[0][1]["raters"],
                "texts": same_reasons[0][1]["texts"],
                "words": "words",
                "pairs": len(same_reasons),
                "items": list(dict.fromkeys(id for id, _ in same_reasons)),
            }
            for same_reasons in maximum
        ]


def test_effect_of_ignoring_equals_the_value_under_the_policy() -> None:
    report = softirr.agreement(table(ROWS), "exact", options=softirr.AgreementOptions(what_if=True))
    ignored = softirr.agreement(table(ROWS), "exact", policy=softirr.Policy(ignore={"severity"}))
    assert report.reasons is not None
    (change,) = report.reasons.what_if
    assert (change.attribute, change.coefficient, change.items) == ("severity", "krippendorff_alpha", 5)
    assert change.value == pytest.approx(ignored.coefficients["krippendorff_alpha"].value)
    assert change.instead_of == report.coefficients["krippendorff_alpha"].value
    values = f"{change.value:.2f} instead of {change.instead_of:.2f}"
    assert f"If severity did not count, Krippendorff's alpha would be {values}." in str(report)
    under = softirr.agreement(
        table(ROWS), "exact", policy=softirr.Policy(ignore={"severity"}), options=softirr.AgreementOptions(what_if=True)
    )
    assert under.reasons is not None and under.reasons.what_if == ()


def test_change_below_two_digits_is_not_reported() -> None:
    change = {"attribute": "severity", "coefficient": "krippendorff_alpha", "value": 0.5049, "instead_of": 0.4953}
    assert list(_what_if(change)) == []
    assert "be 0.51 instead of 0.50" in _what_if({**change, "value": 0.5051})[0]


def _what_if(entry: dict[str, Any]) -> tuple[str, ...]:
    report = softirr.agreement(table(ROWS), "indel").to_dict()
    return view(report | {"reasons": {**report["reasons"], "what_if": [entry]}}).what_if


def test_reasons_change_no_number() -> None:
    with_reasons, without_reasons = (
        softirr.agreement(table(ROWS), "indel", options=softirr.AgreementOptions(reasons=reasons)).to_dict()
        for reasons in (True, False)
    )
    assert without_reasons["reasons"] is None
    for exported in (with_reasons, without_reasons):
        exported.pop("reasons")
        exported["provenance"]["options"].pop("reasons")
        for item in exported["items"]:
            item.pop("reasons")
            for match in item["matches"]:
                match.pop("reason")
    assert with_reasons == without_reasons
