"""A prior, judgements, and the intervals of both together."""

import numpy as np
import pytest

from softirr.coefficients.informed import grid, informed, unaudited
from softirr.coefficients.intervals import Coefficient
from softirr.measures.known_errors import ANY, RECORDED, KnownError, known_error, records
from softirr.provenance import Provenance

NLI = records()["measures"]["nli"]["model_sha256"]


def normal(at, center, error):
    return -(((at - center) / error) ** 2) / 2


def test_two_normal_curves_give_the_precision_weighted_mean():
    at = grid("cohen_kappa")
    found = informed(normal(at, 0.4, 0.1), normal(at, 0.6, 0.05), at, 0.0, 99.0)
    mean, error = (0.4 / 0.1**2 + 0.6 / 0.05**2) / 500, 500**-0.5
    assert found.value == pytest.approx(mean, abs=0.001)
    assert found.ci95 == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.001)


def test_the_confidence_sequence_is_that_of_the_normal_mixture():
    at = grid("cohen_kappa")
    prior, error = 0.1, 0.05
    found = informed(normal(at, 0.5, prior), normal(at, 0.5, error), at, 0.0, 99.0)
    # log N(x; k, V) >= log(0.05) + log N(x; m, V + T) with x = m
    half = error * np.sqrt(2 * np.log(20) + np.log((error**2 + prior**2) / error**2))
    assert found.ci95_any_time == pytest.approx((0.5 - half, 0.5 + half), abs=0.002)
    assert found.ci95[0] > found.ci95_any_time[0]


def test_without_judgements_the_sequence_holds_everything():
    at = grid("observed_agreement")
    assert informed(normal(at, 0.5, 0.1), np.zeros_like(at), at, 0.0, 99.0).ci95_any_time == (0.0, 1.0)


def test_items_add_their_sampling_error():
    at = grid("cohen_kappa")
    found = informed(normal(at, 0.5, 0.03), np.zeros_like(at), at, 0.04, 1e6)
    assert found.ci95 == pytest.approx((0.5 - 1.96 * 0.05, 0.5 + 1.96 * 0.05), abs=0.002)


def test_judgements_overrule_a_record_that_they_contradict():
    at = grid("cohen_kappa")
    prior = KnownError("indel", 0.0, 1.0, 0.03, 4.0).log_density(0.2, at)
    found = informed(prior, normal(at, 0.7, 0.04), at, 0.0, 99.0)
    assert found.ci95[0] < 0.7 < found.ci95[1]


def test_a_value_near_one_keeps_its_interval_within_the_limits():
    known = KnownError("indel", 0.1, 1.2, 0.1, 4.0)
    low, high = unaudited("cohen_kappa", Coefficient(0.97, 0.01, (0.95, 0.99)), known, 100)
    assert low < 0.97 and high == pytest.approx(1.0, abs=1e-9)
    assert unaudited("cohen_kappa", Coefficient(None, undefined="no"), known, 100) is None
    assert unaudited("sigma", Coefficient(0.5, 0.1), None, 100) is None


def test_the_interval_holds_that_of_the_items_alone():
    few = Coefficient(0.56, 0.2, (-1.7, 1.0))
    low, high = unaudited("krippendorff_alpha", few, KnownError("indel", 0.2, 0.5, 0.05, 4.0), 3)
    assert low == -1.7 and high == 1.0


class TestRecords:
    def test_every_coefficient_has_one(self):
        for coefficient in RECORDED:
            known = known_error(coefficient, Provenance("indel"))
            assert known is not None and known.measure == "indel" and known.scale > 0

    def test_a_model_has_that_of_its_own_weights(self):
        known = known_error("cohen_kappa", Provenance("nli", model_sha256=NLI))
        assert known.measure == "nli"
        for other in (Provenance("nli", model_sha256="f" * 64), Provenance("nli:mine", model_sha256=NLI)):
            assert known_error("cohen_kappa", other).measure == ANY

    def test_a_calibrated_measure_is_another_one(self):
        assert known_error("cohen_kappa", Provenance("indel (calibrated on 40 pairs)")).measure == ANY

    def test_a_policy_that_changes_what_counts_leaves_none(self):
        ignore = {"ignore": ["severity"], "more_general": "graded"}
        assert known_error("cohen_kappa", Provenance("indel", policy=ignore)).measure == ANY
        written = {"ignore": [], "more_general": "graded", "split": "auto"}
        assert known_error("cohen_kappa", Provenance("indel", policy=written)).measure == "indel"

    def test_nobody_knows_less_about_a_measure_than_about_any(self):
        measures = records()["measures"]
        for name in set(RECORDED.values()):
            widest = max(found["errors"][name]["scale"] for found in measures.values())
            assert measures[ANY]["errors"][name]["scale"] == widest
