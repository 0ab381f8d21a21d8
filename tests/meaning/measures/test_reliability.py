"""Reliability of a measure on judged pairs: the calibration error by its definition, and sheets of judged pairs."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.errors import InputError
from softirr.meaning.measures.reliability import (
    JudgedPairs,
    calibrate,
    expected_calibration_error,
    read_pairs,
    reliability,
)


def drawn(n, seed=0):
    """Scores and judgments: the truth is that P means its square."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 3)
    return p, (rng.random(n) < p**2).astype(float)


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

    def test_nothing(self):
        with pytest.raises(InputError, match="no pairs"):
            expected_calibration_error([], [])


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
            ("a,b,c\n", "line 1 must have the columns text_a,text_b,judgement"),
            ("text_a,text_b,judgement\na,b,maybe\n", "line 2: the judgment is 'maybe'"),
            ("text_a,text_b,judgement\na,b,7\n", "line 2: the judgment is '7'"),
            ("text_a,text_b,judgement\na,b,nan\n", "line 2: the judgment is 'nan'"),
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
        judged = (rng.random(len(p)) < p**3).astype(float)
        report = calibrate(JudgedPairs(tuple(pairs), tuple(judged)), "indel")
        assert report.error == pytest.approx(expected_calibration_error(p, judged))
        assert report.pairs == len(pairs) == sum(one.n for one in report.bins)
        content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        assert content["measure"] == "indel" and len(content["reliability"]) == 10
        assert len(report.lines()) == 4 + 10 and f"{report.error:.3f}" in report.lines()[1]

    def test_nothing_judged(self):
        with pytest.raises(InputError, match="No pair is judged"):
            calibrate(JudgedPairs((), ()), "indel")
