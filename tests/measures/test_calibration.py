"""Calibration: against scikit-learn's, and what a calibrated measure still can do."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

import softirr
from softirr.errors import InputError
from softirr.measures.cache import MemoryCache
from softirr.measures.calibration import (
    ISOTONIC_FROM,
    Calibration,
    JudgedPairs,
    calibrate,
    corrected,
    cross_validated,
    expected_calibration_error,
    fit,
    load_calibration,
    read_pairs,
    reliability,
)
from softirr.measures.pairs import PairScorer
from softirr.provenance import Provenance


def drawn(n, seed=0):
    """Scores and judgements: the truth is that P means its square."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 3)
    return p, (rng.random(n) < p**2).astype(float)


class TestFit:
    @given(seed=st.integers(0, 2**32 - 1), n=st.integers(12, 400))
    @settings(max_examples=60, deadline=None)
    def test_isotonic_is_scikit_learns(self, seed, n):
        p, y = drawn(n, seed)
        if min(y.sum(), n - y.sum()) < 2:
            return
        made = fit(p, y, method="isotonic")
        oracle = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(p, y)
        at = np.linspace(0, 1, 101)
        np.testing.assert_allclose(made.apply(at), oracle.predict(at), atol=1e-12)

    @given(seed=st.integers(0, 2**32 - 1), n=st.integers(30, 400))
    @settings(max_examples=40, deadline=None)
    def test_platt_is_scikit_learns(self, seed, n):
        p, y = drawn(n, seed)
        if min(y.sum(), n - y.sum()) < 2:
            return
        a, b = _sigmoid_calibration(p, y)
        made = fit(p, y, method="platt")
        if a >= -1e-3:  # ours never falls
            assert made.slope >= 0
            return
        at = np.linspace(0, 1, 21)
        np.testing.assert_allclose(made.apply(at), 1 / (1 + np.exp(a * at + b)), atol=2e-4)

    def test_targets_are_smoothed_as_platt_did(self):
        # P says nothing: the sigmoid is the mean of the targets (N+ + 1) / (N+ + 2) and 1 / (N- + 2)
        made = fit(np.full(10, 0.5), [1] * 4 + [0] * 6, method="platt")
        assert made.apply(0.5) == pytest.approx((4 * 5 / 6 + 6 * 1 / 8) / 10, abs=1e-7)

    def test_soft_judgements(self):
        p = np.linspace(0, 1, 40)
        soft = fit(p, p, method="isotonic")
        np.testing.assert_allclose(soft.apply(p), p, atol=1e-12)

    def test_auto(self):
        assert fit(*drawn(ISOTONIC_FROM - 1)).method == "platt"
        assert fit(*drawn(ISOTONIC_FROM)).method == "isotonic"

    @pytest.mark.parametrize("method", ["isotonic", "platt"])
    def test_rising_and_within_0_and_1(self, method):
        p, y = drawn(300)
        for judged in (y, 1 - y):
            got = fit(p, judged, method=method).apply(np.linspace(0, 1, 200))
            assert np.all(np.diff(got) >= -1e-12)
            assert got.min() >= 0 and got.max() <= 1

    @pytest.mark.parametrize(
        "p, y, message",
        [
            (np.full(9, 0.5), np.ones(9), "9 judged pairs are too few"),
            (np.full(20, 0.5), np.ones(20), "judged same"),
            (np.full(20, 0.5), np.zeros(20), "judged different"),
            (np.full(20, 1.5), np.ones(20), "Each score"),
            (np.full(20, np.nan), np.ones(20), "Each score"),
            (np.full(20, 0.5), np.full(20, 2), "Each judgement"),
            (np.full(20, 0.5), np.ones(19), "20 scores but 19 judgements"),
        ],
    )
    def test_bad_input(self, p, y, message):
        with pytest.raises(InputError, match=message):
            fit(p, y)

    def test_unknown_method(self):
        with pytest.raises(InputError, match="auto, isotonic, platt"):
            fit(*drawn(50), method="beta")


class TestError:
    def test_by_hand(self):
        # bins of width 0.5: (0, 0.5] holds 0.2 and 0.4 with one same; (0.5, 1] holds 0.8 judged same
        p, y = [0.2, 0.4, 0.8], [0, 1, 1]
        assert expected_calibration_error(p, y, bins=2) == pytest.approx(2 / 3 * abs(0.3 - 0.5) + 1 / 3 * 0.2)
        first, second = reliability(p, y, bins=2)
        assert (first.n, first.mean_p, first.share_same) == (2, pytest.approx(0.3), 0.5)
        assert (second.low, second.high, second.n) == (0.5, 1.0, 1)

    def test_edges_belong_to_the_bin_below(self):
        curve = reliability([0.0, 0.1, 0.1 + 0.2, 1.0], [0, 0, 1, 1], bins=10)
        assert [one.n for one in curve] == [2, 0, 1, 0, 0, 0, 0, 0, 0, 1]

    @given(seed=st.integers(0, 2**32 - 1), bins=st.integers(1, 20))
    @settings(max_examples=30, deadline=None)
    def test_as_defined(self, seed, bins):
        p, y = drawn(80, seed)
        naive = 0.0
        for b in range(bins):
            inside = (p > b / bins + 1e-10) & (p <= (b + 1) / bins + 1e-10) | ((b == 0) & (p <= 1e-10))
            if inside.any():
                naive += inside.mean() * abs(p[inside].mean() - y[inside].mean())
        assert expected_calibration_error(p, y, bins=bins) == pytest.approx(naive, abs=1e-9)

    def test_cross_validation_is_not_in_sample(self):
        rng = np.random.default_rng(0)
        p, y = rng.random(60), (rng.random(60) < 0.5).astype(float)
        inside = fit(p, y, method="isotonic").apply(p)
        outside = cross_validated(p, y, method="isotonic")
        assert expected_calibration_error(inside, y) < 1e-9 < expected_calibration_error(outside, y)
        np.testing.assert_array_equal(outside, cross_validated(p, y, method="isotonic"))

    def test_calibration_helps(self):
        p, y = drawn(2_000)
        after = cross_validated(p, y)
        assert expected_calibration_error(after, y) < expected_calibration_error(p, y) / 2

    def test_nothing(self):
        with pytest.raises(InputError, match="no pairs"):
            expected_calibration_error([], [])


class TestFile:
    @pytest.mark.parametrize("method", ["isotonic", "platt"])
    def test_round_trip(self, tmp_path, method):
        made = fit(*drawn(80), method=method, measure="indel")
        made.save(tmp_path / "c.json")
        assert load_calibration(tmp_path / "c.json") == made
        assert Calibration.from_dict(json.loads(json.dumps(made.to_dict()))) == made

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "[]",
            "{}",
            '{"softirr_calibration": 1}',
            '{"softirr_calibration": 1, "method": "isotonic", "measure": "m", "n": 9, "knots": [0, 0], "values": [0, 1]}',
            '{"softirr_calibration": 1, "method": "isotonic", "measure": "m", "n": 9, "knots": [0, 1], "values": [1, 0]}',
            '{"softirr_calibration": 1, "method": "platt", "measure": "m", "n": 9, "slope": -1, "intercept": 0}',
            '{"softirr_calibration": 1, "method": "other", "measure": "m", "n": 9, "slope": 1, "intercept": 0}',
        ],
    )
    def test_what_is_none(self, tmp_path, content):
        (tmp_path / "c.json").write_text(content)
        with pytest.raises(InputError, match=r"c\.json"):
            load_calibration(tmp_path / "c.json")

    def test_where_nothing_can_be_written(self, tmp_path):
        with pytest.raises(InputError, match="can't be written"):
            fit(*drawn(80)).save(tmp_path / "none" / "c.json")


class Directional:
    """A model in small: directions from tables, counted calls."""

    name = "tables"
    cache_key = "tables-1"

    def __init__(self):
        self.asked = 0

    def entail_both(self, pairs):
        self.asked += len(pairs)
        return np.array([[0.9, 0.4] if len(a) < len(b) else [0.4, 0.9] for a, b in pairs]).reshape(-1, 2)

    def entail(self, pairs):
        return self.entail_both(pairs)[:, 0]

    def entail_checked(self, pairs, *, progress=None):
        return self.entail_both(pairs), np.ones(len(pairs), dtype=bool)

    def score(self, pairs):
        both = self.entail_both(pairs)
        return np.where([a == b for a, b in pairs], 1.0, np.sqrt(both[:, 0] * both[:, 1]))

    def provenance(self):
        return Provenance(measure=self.name, model="tables")


class TestMeasure:
    made = Calibration("platt", "", 40, slope=6.0, intercept=-4.0)

    def test_cheap_measures_stay_cheap(self):
        raw = softirr.measure("indel")
        measure = corrected(raw, self.made)
        texts = ["fever", "fevers", "cough", "fever"]
        scorer = PairScorer(measure, texts)
        assert scorer.cheap
        everything = scorer.block(np.arange(4), np.arange(4))
        k, l = np.divmod(np.arange(16), 4)  # noqa: E741
        np.testing.assert_allclose(everything.ravel(), scorer.score(k, l), atol=1e-6)
        assert everything[0, 3] == 1.0 == scorer.score(np.array([0]), np.array([3]))[0]
        assert everything[0, 1] == pytest.approx(self.made.apply(raw.score([("fever", "fevers")])[0]), abs=1e-6)
        np.testing.assert_allclose(measure.block(texts, texts), everything, atol=1e-6)
        assert measure.score([("fever", "fever "), ("fever", "cough")])[0] == 1.0
        assert measure.provenance().measure == "indel (calibrated on 40 pairs)" == measure.name

    def test_directions(self):
        measure = corrected(Directional(), self.made)
        both = measure.entail_both([("a", "bcd"), ("bcd", "a"), ("a", "a")])
        wanted = self.made.apply(0.6)
        np.testing.assert_allclose(np.sqrt(both[:2].prod(axis=1)), wanted)
        np.testing.assert_allclose(both[0], [0.9, wanted**2 / 0.9])
        np.testing.assert_allclose(both[1], both[0][::-1])
        np.testing.assert_array_equal(both[2], 1.0)
        np.testing.assert_allclose(measure.score([("a", "bcd")]), wanted)
        np.testing.assert_allclose(measure.entail([("a", "bcd")]), 0.9)

    @given(
        st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20),
        st.floats(0, 20),
        st.floats(-9, 9),
    )
    @settings(max_examples=60, deadline=None)
    def test_directions_are_probabilities_of_the_calibrated_product(self, pairs, slope, intercept):
        made = Calibration("platt", "", 40, slope=slope, intercept=intercept)
        given_ = np.array(pairs)
        got = corrected(Directional(), made).adjust(given_)
        assert np.all((got >= 0) & (got <= 1))
        np.testing.assert_allclose(np.sqrt(got.prod(axis=1)), made.apply(np.sqrt(given_.prod(axis=1))), atol=1e-9)
        assert np.all((got[:, 0] - got[:, 1]) * (given_[:, 0] - given_[:, 1]) >= -1e-9)

    def test_through_the_pair_scorer_and_its_cache(self):
        raw, cache = Directional(), MemoryCache()
        measure = corrected(raw, self.made)
        for _ in range(2):
            scorer = PairScorer(measure, ["a", "bcd"], cache=cache)
            np.testing.assert_allclose(
                scorer.score(np.array([0, 1, 1]), np.array([1, 0, 1])), [self.made.apply(0.6)] * 2 + [1]
            )
            np.testing.assert_allclose(scorer.entail(np.array([1]), np.array([0]))[0, 1], 0.9)
        assert raw.asked == 1
        # the measure without its calibration does not meet calibrated values in the cache
        plain = PairScorer(raw, ["a", "bcd"], cache=cache)
        np.testing.assert_allclose(plain.score(np.array([0]), np.array([1])), 0.6)

    def test_another_measure(self):
        with pytest.raises(InputError, match="made for the measure indel, not for lcs"):
            corrected(softirr.measure("lcs"), fit(*drawn(80), measure="indel"))

    def test_agreement_takes_it(self):
        table = softirr.AnnotationTable.from_answers(
            softirr.Answer(str(i), r, (t,))
            for i, pair in enumerate([("fever", "fevers"), ("cough", "rash")] * 5)
            for r, t in zip("ab", pair, strict=True)
        )
        low = softirr.agreement(
            table, corrected(softirr.measure("indel"), Calibration("platt", "indel", 10, intercept=-30.0))
        )
        assert low.coefficients["observed_agreement"].value == pytest.approx(0, abs=1e-9)
        assert "calibrated" in low.measure


SHEET = """unit,pair,text_a,text_b,judgement
u1,1,fever,pyrexia,same
u2,1,fever,cough,Different
u3,1,fever,rash,
u4,1,fever,rash,can't tell
u5,1,fever,Fever ,first is more general
u6,1,fever, fever,same
u7,1,fever,hot,0.5
"""


class TestPairs:
    def test_read(self):
        got = read_pairs(io.StringIO(SHEET))
        assert got.pairs == (("fever", "pyrexia"), ("fever", "cough"), ("fever", "Fever"), ("fever", "hot"))
        assert got.judged == (1.0, 0.0, 0.0, 0.5)
        assert (got.skipped, got.identical) == (2, 1)

    def test_semicolons_and_a_byte_order_mark(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_bytes("text_a;text_b;judgement\r\nä;b;same\r\n".encode("utf-8-sig"))
        assert read_pairs(path).pairs == (("ä", "b"),)

    @pytest.mark.parametrize(
        "text, message",
        [
            ("a,b,c\n", "line 1 has to have the columns text_a,text_b,judgement"),
            ("text_a,text_b,judgement\na,b,maybe\n", "line 2: the judgement is 'maybe'"),
            ("text_a,text_b,judgement\na,b,7\n", "line 2: the judgement is '7'"),
            ("text_a,text_b,judgement\na,b,nan\n", "line 2: the judgement is 'nan'"),
            ("text_a,text_b,judgement\n\na\n", "line 3: the row ends before the column text_b"),
            ('text_a,text_b,judgement\n"a,b,same\n', "not valid CSV"),
        ],
    )
    def test_bad_sheets(self, text, message):
        with pytest.raises(InputError, match=message):
            read_pairs(io.StringIO(text))

    def test_calibrate(self):
        rng = np.random.default_rng(1)
        words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(60)]
        pairs = [(a, b) for a, b in zip(words, rng.permutation(words).tolist(), strict=True) if a != b]
        p = softirr.measure("indel").score(pairs)
        report = calibrate(JudgedPairs(tuple(pairs), tuple((rng.random(len(p)) < p**3).astype(float))), "indel")
        assert report.calibration.method == "platt" and report.calibration.measure == "indel"
        assert report.pairs == len(pairs) == sum(one.n for one in report.before)
        assert report.ece_before > report.ece_after
        told = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        assert told["bins"] == 10 and told["calibration"]["n"] == len(pairs)
        lines = report.lines()
        assert "before" in lines[1] and "cross-validated" in lines[1]
        assert len(lines) == 4 + 10 + 1

    def test_too_few(self):
        with pytest.raises(InputError, match="4 judged pairs are too few"):
            calibrate(io.StringIO(SHEET), "indel")
