"""The audit's statistics: unbiased whatever the measure, intervals that hold what they promise, narrower the better the measure.

Short versions with fixed seeds; ``softirr bench audit --simulations 500`` is the long one, its output in softirr/lab/bench/results/audit.md.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ppi_py import ppi_mean_pointestimate

from softirr.audit import estimate as difference
from softirr.audit.design import Design, Frame, TextPairs
from softirr.audit.estimate import AUDITED, estimate
from softirr.chance import estimates as chances
from softirr.lab.bench.audit_simulation import NAMES, QUALITIES, Project, World, audits, judge, simulate, table_truth
from softirr.tables.ratings import Ratings

SINGLE = World(n_items=150, concepts=20, keep=0.75)
SETS = World(n_items=150, concepts=30, keep=0.75, largest=3)
RATERS = World(n_items=100, n_raters=3, concepts=20, keep=0.75, missing=0.15)


def each_one_text(first, second, score):
    """Answers of one text each, which has the answer's number."""
    n = int(max(first.max(initial=0), second.max(initial=0))) + 1
    return TextPairs.of(first, second, np.ones(n, dtype=np.int64), np.arange(n), score)


def frame(p, seed=0, cuts=(0.25, 0.5, 0.75), tilt=False):
    p = np.asarray(p, dtype=np.float64)
    answers = np.arange(len(p))
    texts = each_one_text(answers, answers + len(p), lambda *_: p)
    rank = np.random.default_rng(seed).random(len(p))
    return Frame.of(answers, answers + len(p), p, texts, rank, cuts, tilt=tilt)


def fitted(of, members, values, power, monkeypatch):
    monkeypatch.setattr(difference, "_power", lambda *_: power)
    return difference._Fit.of(of, np.asarray(members), np.asarray(values, dtype=np.float64), None)


class TestPredictionPowered:
    """Angelopoulos et al. 2023: the point estimates of their own library."""

    @given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([0.0, 0.3, 1.0, 1.7]))
    @settings(max_examples=30, deadline=None)
    def test_one_stratum(self, seed, power):
        rng = np.random.default_rng(seed)
        p = rng.random(200)
        truth = (rng.random(200) < p).astype(float)
        of = frame(p, cuts=())
        members = rng.choice(200, 40, replace=False)
        with pytest.MonkeyPatch.context() as patch:
            ours = fitted(of, members, truth[members], power, patch).total(np.full(200, 1 / 200))
        theirs = ppi_mean_pointestimate(truth[members], p[members], p, lam=power)
        assert ours == pytest.approx(float(theirs[0]), abs=1e-12)

    @given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([0.0, 1.0]))
    @settings(max_examples=30, deadline=None)
    def test_strata_are_their_weights(self, seed, power):
        rng = np.random.default_rng(seed)
        p = rng.random(200)
        truth = (rng.random(200) < p**2).astype(float)
        of = frame(p)
        members = np.concatenate([queue[:k] for queue, k in zip(of.queues, (3, 12, 5, 9), strict=True)])
        with pytest.MonkeyPatch.context() as patch:
            ours = fitted(of, members, truth[members], power, patch).total(np.full(200, 1 / 200))
        weight = (np.bincount(of.stratum) / np.array([3, 12, 5, 9]))[of.stratum[members]]
        weight *= len(members) / weight.sum()
        theirs = ppi_mean_pointestimate(truth[members], p[members], p, lam=power, w=weight)
        assert ours == pytest.approx(float(theirs[0]), abs=1e-12)

    def test_a_constant_measure_is_the_plain_mean(self):
        values = np.array([1.0, 0, 0, 1, 1])
        fit = difference._Fit.of(frame(np.full(50, 0.3)), np.arange(5), values, None)
        assert fit.total(np.full(50, 1 / 50)) == pytest.approx(0.6)

    def test_a_perfect_measure_leaves_little_to_judge(self):
        truth = np.repeat([0.0, 1.0], [60, 40])
        of = frame(truth)
        members = np.array([0, 1, 2, 70, 71, 72])
        fit = difference._Fit.of(of, members, truth[members], None)
        assert fit.total(np.full(100, 0.01)) == pytest.approx(0.4)
        # but six judgements do not prove it perfect
        assert np.sqrt(fit.variances(np.full(100, 0.01)).sum()) > 0.05

    def test_texts_that_weigh_more_where_p_is_high(self):
        """In small answers each pair of texts weighs more and is more often the same: their weighted mean of P is not the plain one."""
        rng = np.random.default_rng(0)
        p = rng.random(400)
        truth = (rng.random(400) < p).astype(float)
        weights = (0.2 + p) / 400
        of = frame(p, cuts=())
        error = []
        for _ in range(300):
            members = rng.choice(400, 60, replace=False)
            fit = difference._Fit.of(of, members, truth[members], None)
            error.append(fit.total(weights) - weights @ truth)
        assert abs(np.mean(error)) < 3 * np.std(error) / np.sqrt(300)

    def test_judging_everything_leaves_no_variance(self):
        truth = (np.random.default_rng(0).random(60) < 0.5).astype(float)
        fit = difference._Fit.of(frame(np.linspace(0, 1, 60)), np.arange(60), truth, None)
        assert fit.total(np.full(60, 1 / 60)) == pytest.approx(truth.mean())
        assert fit.variances(np.full(60, 1 / 60)).sum() == pytest.approx(0, abs=1e-12)


class TestFrames:
    @given(p=st.lists(st.floats(0, 1), min_size=1, max_size=80), tilt=st.booleans(), seed=st.integers(0, 99))
    @settings(max_examples=80, deadline=None)
    def test_strata(self, p, tilt, seed):
        got = frame(p, seed, (0.6, 0.9), tilt)
        assert len(got.rate) <= 3 and got.rate.sum() == pytest.approx(1)
        for low in range(len(got.rate) - 1):
            assert got.texts.p[got.stratum == low].max() < got.texts.p[got.stratum == low + 1].min()
        assert sorted(i for queue in got.queues for i in queue.tolist()) == list(range(len(p)))

    def test_texts_of_answers(self):
        """Answers 0: {0, 1}, 1: {1, 2, 3}, 2: {}, 3: {0, 1}."""
        sizes, texts = np.array([2, 3, 0, 2]), np.array([0, 1, 1, 2, 3, 0, 1])
        first, second = np.array([0, 0, 2, 0, 1]), np.array([1, 2, 2, 3, 0])
        got = TextPairs.of(first, second, sizes, texts, lambda a, b: (a + b) / 10)
        # text 1 matches itself, so only text 0 is asked; empty answers are known, and so are equal ones
        assert got.known.tolist() == [2 / 5, 0, 1, 1, 2 / 5]
        assert list(zip(got.owner.tolist(), got.left.tolist(), got.right.tolist(), strict=True)) == [
            (0, 0, 2),
            (0, 0, 3),
            (4, 2, 0),
            (4, 3, 0),
        ]
        assert got.share.tolist() == [2 / 5] * 4 and got.p.tolist() == [0.2, 0.3, 0.2, 0.3]
        assert got.equivalence(np.array([1.0, 0, 0, 0])).tolist() == [4 / 5, 0, 1, 1, 2 / 5]

    @pytest.mark.parametrize("world", [SINGLE, SETS, RATERS])
    def test_the_frames_are_the_project(self, world):
        """Weighted sums over both frames are the observed and the expected agreement, exactly or nearly."""
        project = Project.draw(world, QUALITIES["good"], np.random.default_rng(3))
        ratings = project.ratings
        design = Design.of(ratings, project.truth, project.text_pairs, pool=60_000, seed=1)
        found = chances.exact(ratings, _Truth(project), design.same.p)
        n = len(ratings.comparable)
        pooled = n / n**2 + 2 * design.same.p.sum() / n**2 + design.pooled_weight @ design.different.p
        assert pooled == pytest.approx(found.pooled, abs=0.004)
        shared = ratings.comparisons.shared[ratings.comparisons.rater_pair]
        m = len(ratings.comparisons.rater_pairs)
        cohen = np.sum(design.same.p / shared**2) / m + design.cohen_weight @ design.different.p
        assert cohen == pytest.approx(found.cohen.mean(), abs=0.004)
        first, second = design.different.first, design.different.second
        assert design.cohen_weight.sum() == pytest.approx(np.mean(1 - 1 / ratings.comparisons.shared))
        assert len(first) == len(second) == 60_000

    def test_draws(self):
        project = Project.draw(SINGLE, QUALITIES["fair"], np.random.default_rng(0))
        design = Design.of(project.ratings, project.score, project.text_pairs, pool=300, seed=0)
        drawn = list(design.draws())
        assert drawn == list(design.draws())
        assert len(drawn) == len(set(drawn)) == sum(len(f.stratum) for f in (design.same, design.different))
        first = drawn[:60]
        for number, of in enumerate((design.same, design.different)):
            counts = np.bincount(of.stratum[[m for f, m in first if f == number]], minlength=len(of.rate))
            assert counts.min() >= 2
        share = np.mean([f for f, _ in first])
        assert share == pytest.approx(design.chance_share, abs=0.06)

    def test_the_draw_does_not_depend_on_the_measure_within_strata(self):
        project = Project.draw(SINGLE, QUALITIES["fair"], np.random.default_rng(0))
        one = Design.of(project.ratings, project.score, project.text_pairs, pool=300, seed=0)

        def cubed(k, l):  # noqa: E741
            texts = project.text_pairs(k, l)
            return replace(texts, p=texts.p**3)

        two = Design.of(project.ratings, lambda k, l: project.score(k, l) ** 3, cubed, pool=300, seed=0)  # noqa: E741
        assert list(islice(one.draws(), 10)) == list(islice(two.draws(), 10))

    def test_one_item(self):
        ratings = Ratings.from_matrix([[0, 1]])
        zeros = lambda k, l: np.zeros(len(k))  # noqa: E731, E741
        design = Design.of(ratings, zeros, lambda k, l: each_one_text(k, l, zeros), pool=100)  # noqa: E741
        assert len(design.different.p) == 0
        found = estimate(design, {(0, 1): 0.0}, 5, chances.permutation(ratings, chances.MatrixEquivalence(np.eye(2))))
        assert all(found.coefficients[name].value is None for name in AUDITED[1:])


class _Truth:
    def __init__(self, project):
        self.score = project.truth

    def block(self, ks, ls):
        return self.score(np.repeat(ks, len(ls)), np.tile(ls, len(ks))).reshape(len(ks), len(ls))


class TestEstimates:
    @pytest.mark.parametrize("world", [SINGLE, SETS, RATERS])
    @pytest.mark.parametrize("quality", ["noise", "good"])
    def test_all_judged(self, world, quality):
        project = Project.draw(world, QUALITIES[quality], np.random.default_rng(1))
        design = Design.of(project.ratings, project.score, project.text_pairs, pool=4_000, seed=0)
        judged, draws = judge(design, project.same, 10**6)
        found = estimate(design, judged, draws, chances.permutation(project.ratings, project))
        for name, value in table_truth(project).items():
            got = found.coefficients[name]
            assert got.value == pytest.approx(value, abs=0.02)
            assert got.ci95[0] < value < got.ci95[1]

    def test_missing_judgements_do_not_matter(self):
        project = Project.draw(SINGLE, QUALITIES["fair"], np.random.default_rng(1))
        design = Design.of(project.ratings, project.score, project.text_pairs, pool=1_000, seed=0)
        chance = chances.permutation(project.ratings, project)
        judged, draws = judge(design, project.same, 120)
        rng = np.random.default_rng(0)
        values = []
        for _ in range(150):
            part = {pair: value for pair, value in judged.items() if rng.random() < 0.5}
            values.append(estimate(design, part, draws, chance).coefficients["cohen_kappa"].value)
        whole = estimate(design, judged, draws, chance).coefficients["cohen_kappa"].value
        assert abs(np.mean(values) - whole) < 3 * np.std(values) / np.sqrt(150) + 0.01

    @pytest.mark.slow
    @pytest.mark.parametrize(("world", "simulations"), [(SINGLE, 150), (SETS, 100)])
    @pytest.mark.parametrize("quality", ["noise", "deaf", "good", "perfect"])
    def test_unbiased_and_covered(self, world, simulations, quality):
        found = simulate(world, QUALITIES[quality], (60, 100), simulations, seed=12)
        for (name, n), runs in found.items():
            # four standard errors: some hundred such checks are made
            assert abs(np.mean(runs.values - runs.table)) < max(
                4 * np.std(runs.values - runs.table) / np.sqrt(simulations), 0.003
            ), (name, n)
            assert runs.covered >= 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / simulations), (name, n)
            # the median: with few judgements of sets some errors are very large, as they should be
            assert np.median(runs.errors) == pytest.approx(runs.spread, rel=0.3), (name, n)

    @pytest.mark.slow
    def test_the_better_the_measure_the_smaller_the_error(self):
        wanted = ("noise", "fair", "good", "perfect")
        found = {q: simulate(SINGLE, QUALITIES[q], (60,), 120, seed=5) for q in wanted}
        plain = simulate(SINGLE, QUALITIES["noise"], (60,), 120, seed=5, without="anything")
        for name in NAMES:
            off = [float(np.sqrt(np.mean((found[q][name, 60].values - found[q][name, 60].table) ** 2))) for q in wanted]
            without = float(np.sqrt(np.mean((plain[name, 60].values - plain[name, 60].table) ** 2)))
            assert off == sorted(off, reverse=True)
            assert off[0] < without
            assert off[2] < 0.6 * without and off[3] < 0.1 * without

    def test_widths(self):
        project = Project.draw(SINGLE, QUALITIES["fair"], np.random.default_rng(1))
        (found,) = audits(project, (60,), seed=0)
        for name in AUDITED:
            now = found.coefficients[name]
            width = [found.widths(name, more) for more in (1, 2, 4, 1_000)]
            assert width[0] == pytest.approx(now.ci95[1] - now.ci95[0], abs=0.02)
            assert width == sorted(width, reverse=True)
            assert width[-1] > 0.05  # the items are a sample too

    def test_what_the_items_leave_open_does_not_depend_on_how_many_were_judged(self):
        """With three raters the pairs of an item go together: judged ones say something of the others."""
        left: dict[int, list[float]] = {}
        for seed in range(25):
            project = Project.draw(RATERS, QUALITIES["noise"], np.random.default_rng((4, seed)))
            for n, found in zip((60, 120, 100_000), audits(project, (60, 120, 100_000), seed=seed), strict=True):
                width = found.widths("cohen_kappa", 1e9)
                assert width is not None
                left.setdefault(n, []).append(width)
        whole = np.mean(left[100_000])
        assert np.mean(left[60]) == pytest.approx(whole, rel=0.1)
        assert np.mean(left[120]) == pytest.approx(whole, rel=0.05)

    def test_half_a_sheet(self):
        """Strata with two judged pairs make no absurd intervals."""
        truth, low, high = [], [], []
        for seed in range(120):
            project = Project.draw(SINGLE, QUALITIES["noise"], np.random.default_rng((9, seed)))
            design = Design.of(project.ratings, project.score, project.text_pairs, pool=1_000, seed=seed)
            judged, draws = judge(design, project.same, 60)
            keys = np.random.default_rng(seed).permutation(len(judged))[::2]
            half = {key: judged[key] for key in (list(judged)[i] for i in keys)}
            found = estimate(design, half, draws, chances.permutation(project.ratings, project)).coefficients
            ci95 = found["cohen_kappa"].ci95
            assert ci95 is not None and -1 <= ci95[0] < ci95[1] <= 1
            truth.append(table_truth(project)["cohen_kappa"])
            low.append(ci95[0])
            high.append(ci95[1])
        inside = (np.array(low) <= truth) & (truth <= np.array(high))
        assert inside.mean() >= 0.92
        assert np.quantile(np.subtract(high, low), 0.9) < 1.0

    def test_no_coefficient_below_minus_one(self):
        """Judged as different throughout on the same items, and nearly always the same by chance."""
        ratings = Ratings.from_matrix([[i % 2, 2 + i % 2] for i in range(40)])
        half = lambda a, b: np.full(len(a), 0.5)  # noqa: E731
        design = Design.of(ratings, half, lambda k, l: each_one_text(k, l, half), pool=200)  # noqa: E741
        judged, draws = judge(design, lambda a, b: (a % 2 != b % 2).astype(float), 6)
        equal = chances.MatrixEquivalence(np.full((4, 4), 0.5) + np.eye(4) / 2)
        found = estimate(design, judged, draws, chances.permutation(ratings, equal)).coefficients
        for coefficient in found.values():
            assert coefficient.value is not None and coefficient.ci95 is not None
            assert -1 <= coefficient.ci95[0] <= coefficient.value <= coefficient.ci95[1] <= 1


class TestFewJudgements:
    """A share near 0 or 1 has more error than its own estimate says, because the judged pairs may hold none of the rare ones."""

    def test_nothing_equivalent_among_the_judged_is_no_proof(self):
        _, high = interval_of(judged_same=0, judged=20)
        assert 0.16 < high < 0.25  # Wilson's interval of 0 of 20 ends at 0.16, the exact one at 0.17

    def test_an_even_share_is_as_before(self):
        low, high = interval_of(judged_same=200, judged=400)
        assert high - low == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(400), rel=0.1)


def interval_of(judged_same, judged):
    """The interval of a share of very many pairs, of which so many are judged."""
    share = judged_same / judged
    floor = 1 / 3 / judged
    variance = np.array([max(share * (1 - share), floor) / judged])
    freedom = np.array([judged - 1.0, 1e9, 1e9])
    shares = difference._Share(1.0, 0.0, floor), difference._Share(1.0, 0.0, floor)
    return difference._Parts(1 - share, 1.0, variance, np.zeros(0), 0.0, 0.0, freedom, None, shares).interval()


class TestProxies:
    """Further measures: no bias, a useful one narrows, a useless one costs next to nothing."""

    @pytest.mark.slow
    def test_a_useful_and_a_useless_one(self):
        errors = {"none": [], "good": [], "noise": []}
        off = {name: [] for name in errors}
        for number in range(24):
            rng = np.random.default_rng((9, number))
            project = Project.draw(World(n_items=150), QUALITIES["deaf"], rng)
            design = Design.of(project.ratings, project.score, project.text_pairs, pool=1_000, seed=number)
            chance = chances.permutation(project.ratings, project, permutations=2, seed=number)
            judgements, draws = judge(design, project.same, 100)
            for name in errors:
                proxies = None if name == "none" else scores_of(project, design, QUALITIES[name], rng)
                found = estimate(design, judgements, draws, chance, None, proxies).coefficients["cohen_kappa"]
                errors[name].append(found.standard_error)
                off[name].append(found.value - table_truth(project)["cohen_kappa"])
        widths = {name: np.mean(each) for name, each in errors.items()}
        assert widths["good"] < 0.9 * widths["none"]
        assert widths["noise"] < 1.02 * widths["none"]
        spread = {name: np.sqrt(np.mean(np.square(each))) for name, each in off.items()}
        assert spread["good"] < 0.9 * spread["none"]
        assert abs(np.mean(off["good"])) < 3 * spread["good"] / np.sqrt(24)

    def test_one_proxy_that_is_the_measure_itself_changes_nothing(self):
        of = frame(np.random.default_rng(1).random(200))
        members = np.arange(80)
        truth = (np.random.default_rng(2).random(80) < of.texts.p[:80]).astype(float)
        alone = difference._Fit.of(of, members, truth, None)
        twice = difference._Fit.of(of, members, truth, None, of.texts.p[:, None])
        weights = np.full(200, 1 / 200)
        assert twice.total(weights) == pytest.approx(alone.total(weights), abs=0.01)

    def test_constant_proxies_are_left_out(self):
        of = frame(np.random.default_rng(1).random(200))
        truth = (np.random.default_rng(2).random(80) < of.texts.p[:80]).astype(float)
        found = difference._Fit.of(of, np.arange(80), truth, None, np.full((200, 2), 0.5))
        assert np.isfinite(found.adjusted).all()
        assert (found.slope[:, 1:] == 0).all()


def scores_of(project, design, quality, rng):
    """P of another simulated measure, of the pairs of texts of both frames."""
    names = np.arange(len(project.p)) // project.names
    p = quality(rng, names[:, None] == names)
    p = np.where(np.eye(len(p), dtype=bool), 1.0, (p + p.T) / 2)
    return tuple(p[frame.texts.left, frame.texts.right][:, None] for frame in (design.same, design.different))
