"""Pairs that terminologies know calibrate P of the pairs that they do not know."""

from __future__ import annotations

import numpy as np
import pytest

import softirr
from softirr.measures import Measure, measure
from softirr.measures.base import raw_of
from softirr.measures.calibration_curves import fit
from softirr.measures.corrected import CorrectedMeasure, corrected
from softirr.measures.terminology import TerminologyMeasure, with_terminology
from softirr.policy.measure import policy_of, under_policy
from softirr.policy.rules import Policy
from softirr.report.known_pairs import calibrated_by_chance, calibration_on_known_pairs, with_unknown_calibrated
from softirr.terminology.index import build_index
from tests.terminology.test_index import terminology

# look-alikes that are different concepts: by letters they are as close as variants of one name
KINDS = ("alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega", "theta", "iota", "zeta", "eta", "chi")
INDEX = build_index(
    terminology(*((f"{kind} disorder", f"{kind} illness") for kind in KINDS), *((f"{kind} disease",) for kind in KINDS))
)
DIFFERENT = [(f"{kind} disorder", f"{kind} disease") for kind in KINDS]
UNKNOWN = ("phi disorder", "phi disease")
RANDOM = [("phi disorder", "rho disease"), ("tau disorder", "phi disease"), ("tau disorder", "psi dysfunction")]


def indel() -> TerminologyMeasure:
    return with_terminology(measure("indel"), [INDEX])


def table(*pairs: tuple[str, str]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(
        softirr.Answer(str(item), rater, text)  # type: ignore[arg-type]
        for item, pair in enumerate(pairs)
        for rater, text in zip(("ann", "bob"), pair, strict=True)
    )


def p_of(report: softirr.AgreementReport, item: int) -> float:
    found = report.items[item].agreement
    assert found is not None
    return found


def test_where_known_pairs_differ_an_unknown_pair_like_them_is_taken_for_less() -> None:
    given = table(*DIFFERENT, UNKNOWN, ("tau disorder", "tau disorder"))
    alone = measure("indel").score([UNKNOWN])[0]
    report = softirr.agreement(given, indel(), reasons=False)
    assert alone > 0.6 and p_of(report, 12) < 0.35
    assert [p_of(report, i) for i in range(12)] == [0.0] * 12 and p_of(report, 13) == 1.0
    # the truth is that one item of fourteen agrees
    before = with_terminology(measure("indel"), [INDEX]).score([UNKNOWN])[0]
    assert abs(report.coefficients["observed_agreement"].value - 1 / 14) < abs((before + 1) / 14 - 1 / 14)  # type: ignore[operator]


def test_where_known_pairs_are_the_same_an_unknown_pair_like_them_is_taken_for_more() -> None:
    same = [(f"{kind} disorder", f"{kind} illness") for kind in KINDS]
    made = calibration_on_known_pairs(indel(), [*same, UNKNOWN])
    assert made is not None and made.n == 12
    assert with_unknown_calibrated(indel(), made).score([UNKNOWN])[0] > indel().score([UNKNOWN])[0]


def test_the_report_says_so() -> None:
    report = softirr.agreement(table(*DIFFERENT, UNKNOWN), indel(), reasons=False)
    told = report.to_dict()["codes"]["calibration"]
    assert (
        told["pairs"] == 12
        and 0 < told["prior"] < 0.1
        and set(told) == {*("pairs", "prior", "weaker", "stronger", "intercept")}
    )
    assert "P of unknown pairs is calibrated on 12 known pairs." in str(report)
    assert report.provenance.measure == indel().name


def test_too_few_known_pairs_change_nothing() -> None:
    given = table(*DIFFERENT[:9], UNKNOWN, *([DIFFERENT[0]] * 5))  # the same pair again says nothing new
    report = softirr.agreement(given, indel(), reasons=False)
    assert report.to_dict()["codes"]["calibration"] is None
    assert p_of(report, 9) == pytest.approx(indel().score([UNKNOWN])[0])


@pytest.mark.parametrize(
    "made",
    [
        measure("indel"),
        with_terminology(measure("exact"), [INDEX]),
        under_policy(indel(), Policy(more_general="lenient")),
        corrected(indel(), fit([0.1, 0.2, 0.8, 0.9] * 5, [0, 0, 1, 1] * 5)),
    ],
    ids=["no terminology", "identical texts only", "another policy", "calibrated by people"],
)
def test_measures_that_are_not_calibrated(made: Measure) -> None:
    assert calibration_on_known_pairs(made, DIFFERENT) is None


def test_answers_that_are_sets_are_not_calibrated() -> None:
    rows = [
        softirr.Answer(str(i), rater, (text, "x"))
        for i, pair in enumerate(DIFFERENT)
        for rater, text in zip("ab", pair, strict=True)
    ]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(rows), indel(), reasons=False)
    assert report.to_dict()["codes"]["calibration"] is None


def test_layers_stay() -> None:
    layered = corrected(under_policy(indel(), Policy(ignore={"severity"})), decided={UNKNOWN[::-1]: True})
    made = calibration_on_known_pairs(layered, [(f"severe {a}", b) for a, b in DIFFERENT])
    assert made is not None
    found = with_unknown_calibrated(layered, made)
    assert (
        isinstance(found, CorrectedMeasure) and policy_of(found).ignore == {"severity"} and found.name == layered.name
    )
    assert found.score([UNKNOWN])[0] == 1.0
    assert (
        found.score([("severe phi disorder", "mild phi diseases")])[0]
        < layered.score([("phi disorder", "phi diseases")])[0]
    )
    assert isinstance(raw_of(found), TerminologyMeasure)


def test_by_chance_texts_mean_the_same_at_most_as_often_as_within_an_item() -> None:
    made = calibration_on_known_pairs(indel(), DIFFERENT)
    assert made is not None
    chance, own = calibrated_by_chance(indel(), made, RANDOM), with_unknown_calibrated(indel(), made)
    assert np.all(chance.score(RANDOM) <= own.score(RANDOM) + 1e-12)
    assert np.all(calibrated_by_chance(indel(), made, []).score(RANDOM) == own.score(RANDOM))
