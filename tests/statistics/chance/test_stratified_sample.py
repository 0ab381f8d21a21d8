"""The sample of each stratum: variances of levels as in a reference, and the cheapest allocation for a target."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.statistics.chance.stratified_sample import StratifiedSample, level_variances


def reference_variances(off, level, drawn, overall):
    """The docstring of `level_variances`, with the curve of a generalized linear model."""
    n, at = drawn + 1.0, np.arange(len(drawn), dtype=float)
    squares = np.bincount(level, weights=off) * drawn / (drawn - 1) + overall

    def curve(slope=None):
        model = sm.GLM(
            squares / n,
            sm.add_constant(at) if slope is None else np.ones(len(at)),
            family=sm.families.Poisson(),
            freq_weights=n,
            offset=None if slope is None else slope * at,
        ).fit(tol=1e-14, maxiter=200)
        return model.fittedvalues, float(model.params[-1])

    fitted, slope = curve()
    if abs(slope) > 3:
        slope = float(np.clip(slope, -3, 3))
        fitted, _ = curve(slope)
    dispersion = np.mean((off - fitted[level]) ** 2 / fitted[level])
    mass = n * fitted
    error = 4 * dispersion / (slope**2 * np.sum(mass * (at - np.average(at, weights=mass)) ** 2))
    shrunk, _ = curve(slope * max(1 - error, 0))
    distance = np.sum(n * (squares / n - shrunk) ** 2 / shrunk) / dispersion
    free = len(drawn) - 2
    trust = max(1 - (free + 2 * np.sqrt(2 * free)) / distance, 0)
    return trust * squares / n + (1 - trust) * shrunk, error, trust


class TestVariances:
    """The variance of each level is between its own and a curve over all levels."""

    @pytest.mark.parametrize(
        ("spread", "sure", "trusted"),
        [
            ((0.02, 0.02, 0.02, 0.02, 0.02, 0.02), False, False),
            ((0.02, 0.03, 0.05, 0.08, 0.12, 0.18), True, False),
            ((0.02, 0.3, 0.02, 0.4, 0.02, 0.5), True, True),
            ((0.02, 0.06, 0.4), True, False),
            ((0.002, 0.01, 0.04, 0.2, 0.9, 4), True, False),
            ((9e-5, 9e-4, 9e-3, 0.09, 0.9, 9), True, False),
            ((9, 0.9, 0.09, 9e-3, 9e-4, 9e-5), True, False),
        ],
    )
    def test_are_those_of_the_reference(self, spread, sure, trusted):
        rng = np.random.default_rng(4)
        drawn = np.array([60, 50, 40, 30, 30, 40])[: len(spread)]
        level = np.repeat(np.arange(len(spread)), drawn)
        off = (rng.normal(0, 1, len(level)) * np.array(spread)[level]) ** 2
        truth, error, trust = reference_variances(off, level, drawn, 0.01)
        assert ((error < 1), (trust > 0)) == (sure, trusted)
        assert level_variances(level, off, drawn, 0.01) == pytest.approx(truth, rel=1e-6)

    def test_two_levels_have_their_own(self):
        off, level = np.array([0.1, 0.2, 0.3, 0.1]), np.array([0, 0, 1, 1])
        own = [(0.3 * 2 / 1 + 0.05) / 3, (0.4 * 2 / 1 + 0.05) / 3]
        assert level_variances(level, off, np.array([2, 2]), 0.05) == pytest.approx(own, abs=1e-12)


class Known(StratifiedSample):
    """A sample of which the variances are known, and only the number of pairs in each stratum matters."""

    def __init__(self, sizes, drawn, variances):
        self.sizes, self.drawn, self._known = np.asarray(sizes), np.asarray(drawn), np.asarray(variances, dtype=float)

    def variances(self):
        return self._known


def error(totals, variances, sizes, n):
    """Largest standard error of the weighted sums, by the textbook."""
    n = np.asarray(n, dtype=float)
    return max(np.sqrt(np.sum(t**2 * variances * (1 / n - 1 / sizes))) for t in totals)


@st.composite
def designs(draw, sums=st.integers(1, 2)):
    """Strata of some pairs drawn, their variances, and the weights of one or two sums."""
    rng, strata = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(2, 6))
    sizes = rng.integers(2_000, 100_000, strata)
    sample = Known(sizes, rng.integers(300, 900, strata), rng.uniform(0.001, 0.2, strata))
    return sample, [rng.dirichlet(np.ones(strata)) for _ in range(draw(sums))]


class TestAllocation:
    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(designs(), st.floats(0.5, 0.98))
    def test_is_the_cheapest_that_meets_the_target(self, design, share):
        """In proportion to weight and standard deviation (Neyman), and hardly more than needed."""
        sample, totals = design
        sizes, drawn, variances = sample.sizes, sample.drawn, sample.variances()
        target = share * error(totals, variances, sizes, drawn)
        n = sample.allocate(totals, target)
        importance = np.sqrt(np.sum(np.square(totals), axis=0) * variances)
        lowest, highest = (n - 1)[n > drawn] / importance[n > drawn], (n / importance)[n < sizes]
        assert lowest.max() < highest.min(), "one scale times the importance, rounded up, gives all numbers"
        assert n.sum() <= 2 * drawn.sum()
        reached = error(totals, variances, sizes, n) <= 0.95 * target
        assert reached or n.sum() > 1.7 * drawn.sum()
        assert error(totals, variances, sizes, np.maximum(0.97 * n, drawn)) > 0.95 * target

    @settings(max_examples=30, deadline=None, derandomize=True)
    @given(designs())
    def test_a_target_that_is_met_adds_a_pair_to_each_stratum_that_counts(self, design):
        sample, totals = design
        totals[0][0] = totals[-1][0] = 0
        n = sample.allocate(totals, 1.0)
        assert n[0] == sample.drawn[0]
        assert n[1:].tolist() == (sample.drawn[1:] + 1).tolist()

    def test_a_target_out_of_reach_takes_all(self):
        sample = Known([40, 60, 50], [39, 41, 50], [0.1, 0.2, 0.3])
        assert sample.allocate([np.array([0.2, 0.3, 0.5])], 1e-9).tolist() == [40, 60, 50]


class Pairs:
    """Strata of given sizes."""

    def __init__(self, sizes, level):
        self.sizes, self.level = np.array(sizes), np.array(level)
        self.n_strata, self.n_levels = len(sizes), max(level) + 1
        self.stratum = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
        self.by_stratum = np.argsort(self.stratum, kind="stable")


class TestSample:
    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(
        st.lists(st.integers(1, 60), min_size=1, max_size=5),
        st.lists(st.lists(st.integers(0, 40), min_size=5, max_size=5), min_size=1, max_size=4),
    )
    def test_draws_up_to_what_is_wanted_without_replacement(self, sizes, rounds):
        pairs = Pairs(sizes, range(len(sizes)))
        sample = StratifiedSample(pairs, np.random.default_rng(0))
        drawn = np.zeros(len(sizes), dtype=int)
        for wanted in rounds:
            before = sample.members
            new = sample.extend(np.array(wanted[: len(sizes)]))
            drawn = np.maximum(drawn, np.minimum(wanted[: len(sizes)], sizes))
            assert sample.members.tolist() == [*before, *new]
            assert sample.drawn.tolist() == drawn.tolist()
            assert np.bincount(pairs.stratum[sample.members], minlength=len(sizes)).tolist() == drawn.tolist()
            assert len(set(sample.members.tolist())) == len(sample.members)

    @pytest.mark.parametrize(("first", "second"), [(2, 4), (10, 30)])
    def test_each_pair_is_drawn_as_often(self, first, second):
        counts = np.zeros(40)
        for seed in range(1_000):
            sample = StratifiedSample(Pairs([40], [0]), np.random.default_rng(seed))
            sample.extend(np.array([first]))
            counts[sample.extend(np.array([second]))] += 1
        assert scipy.stats.chisquare(counts).pvalue > 0.001

    @pytest.mark.parametrize("drawn", [[1, 1, 1], [2, 3, 4], [50, 20, 10]])
    def test_variances_are_those_of_the_levels(self, drawn):
        """Strata of one level share theirs; to the variance of all pairs two that are equivalent are added."""
        pairs, rng = Pairs([50, 20, 10], [0, 1, 0]), np.random.default_rng(1)
        sample = StratifiedSample(pairs, rng)
        sample.extend(np.array(drawn))
        sample.record(rng.random(len(sample.members)))
        stratum, value = pairs.stratum[sample.members], sample.values
        of = [value[stratum == one] for one in range(3)]
        share = np.array([50, 20, 10]) / 80
        mean = sum(s * v.mean() for s, v in zip(share, of, strict=True))
        square = sum(s * np.mean(v**2) for s, v in zip(share, of, strict=True))
        unseen = 2 / max(len(value), 4)
        overall = square - mean**2 + unseen * (1 - unseen)
        assert sample.overall_variance() == pytest.approx(overall, rel=1e-12)
        assert sample.means().tolist() == pytest.approx([v.mean() for v in of])
        level = pairs.level[stratum]
        off = (value - np.array([value[level == one].mean() for one in (0, 1)])[level]) ** 2
        two = level_variances(level, off, np.bincount(level), overall)
        assert sample.variances() == pytest.approx(two[[0, 1, 0]], rel=1e-12)
