"""Coefficients that nobody has audited: their interval includes the measure's error."""

import pytest

import softirr

WORDS = ("fever", "cough", "rash", "nausea", "itch", "pain", "chills", "fatigue")


def table(n=60, same=0.5):
    rows = []
    for i in range(n):
        other = WORDS[i % 8] if i < same * n else WORDS[(i + 3) % 8]
        rows += [(str(i), "ann", f"{WORDS[i % 8]} {i}"), (str(i), "bob", f"{other} {i}")]
    return softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)


def test_the_interval_is_wider_than_that_of_the_items():
    report = softirr.agreement(table(), "indel", progress=None)
    for name, (low, high) in report.unaudited.items():
        of_items = report.coefficients[name].ci95
        assert high - low > of_items[1] - of_items[0], name
    said = report.to_dict()["coefficients"]
    assert said["cohen_kappa"]["ci95_unaudited"] == list(report.unaudited["cohen_kappa"])
    assert said["cohen_kappa"]["audited"] is False and said["sigma"]["ci95_unaudited"] is None


def test_identical_texts_need_no_audit():
    answers = [softirr.Answer(str(i), who, WORDS[i % 8]) for i in range(60) for who in ("ann", "bob")]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "indel", progress=None)
    low, high = report.unaudited["cohen_kappa"]
    assert low == pytest.approx(report.coefficients["cohen_kappa"].ci95[0]) and high == 1.0
    observed = softirr.agreement(table(same=0.8), "exact", progress=None)
    assert observed.unaudited["observed_agreement"][0] >= observed.coefficients["observed_agreement"].ci95[0]


def test_the_text_shows_it_first_and_says_not_audited():
    report = softirr.agreement(table(), "indel", progress=None)
    low, high = report.unaudited["krippendorff_alpha"]
    first, last = report.coefficients["krippendorff_alpha"].ci95
    assert (
        f"95% interval {low:z.2f} to {high:z.2f}, not audited ({first:z.2f} to {last:z.2f} if the measure made no errors)."
        in str(report)
    )
    assert report.to_dict()["provenance"]["known_error"] == "indel"
