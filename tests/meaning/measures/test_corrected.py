"""The measure as people corrected it: decisions win over everything."""

from __future__ import annotations

import numpy as np
import pytest

from softirr.meaning.measures import measure
from softirr.meaning.measures.corrected import corrected
from softirr.meaning.measures.pairs import PairScorer
from tests.meaning.measures.function_measures import DirectedFunction


@pytest.mark.parametrize("name", ["indel", "exact", "jaccard", "directional"])
def test_decisions_win_over_the_measure(name):
    raw = DirectedFunction(lambda a, b: 0.9 if a < b else 0.4) if name == "directional" else measure(name)
    decided = {("aa", "bb"): True, ("aa", "ab"): False}
    with_decisions = corrected(raw, decided)
    pairs = [("bb", "aa"), ("ab", "aa"), ("ab", "bb"), ("aa", "aa")]
    wanted = [1.0, 0.0, float(raw.score([("ab", "bb")])[0]), 1.0]
    assert with_decisions.score(pairs) == pytest.approx(wanted)
    scorer = PairScorer(with_decisions, ["aa", "ab", "bb"])
    left, right = np.array([2, 1, 1, 0]), np.array([0, 0, 2, 0])
    assert scorer.score(left, right) == pytest.approx(wanted)
    assert scorer.block(np.arange(3), np.arange(3))[left, right] == pytest.approx(wanted, abs=1e-6)
