"""The measure as people corrected it: one formula for directions, decisions over everything, and chance at its own prior."""

from __future__ import annotations

import numpy as np
import pytest

from softirr import AnnotationTable, Answer, agreement
from softirr.lab.bench.audit_simulation import QUALITIES, Project, World, table_truth
from softirr.measures import measure
from softirr.measures.base import mutual, with_equivalence
from softirr.measures.calibration_curves import Calibration, fit
from softirr.measures.corrected import corrected
from softirr.measures.pairs import PairScorer
from softirr.provenance import Provenance


class Matrix:
    """A measure of texts that are numbers."""

    name = "matrix"

    def __init__(self, p):
        self.p = p

    def score(self, pairs):
        return np.array([self.p[int(a), int(b)] for a, b in pairs])

    def block(self, rows, cols):
        return self.p[np.ix_([int(a) for a in rows], [int(b) for b in cols])].astype(np.float32)

    def provenance(self):
        return Provenance(measure=self.name)


class Directional:
    name = "directional"

    def entail_both(self, pairs):
        return np.tile([0.9, 0.4], (len(pairs), 1))

    def entail(self, pairs):
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs):
        return np.sqrt(self.entail_both(pairs).prod(axis=1))

    def provenance(self):
        return Provenance(measure=self.name)


def halved(name):
    """A calibration that halves P."""
    return Calibration("isotonic", name, 100, (0.0, 1.0), (0.0, 0.5))


def test_the_stronger_direction_stays():
    raw = np.array([[0.9, 0.4], [0.4, 0.9], [0.5, 0.5]])
    both = with_equivalence(raw, halved("").apply(mutual(raw)))
    assert both == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.125]]))


@pytest.mark.parametrize("name", ["indel", "exact", "jaccard", "directional"])
def test_decisions_stand_over_the_measure_and_its_calibration(name):
    raw = Directional() if name == "directional" else measure(name)
    decided = {("aa", "bb"): True, ("aa", "ab"): False}
    made = corrected(raw, halved(raw.name), decided)
    pairs = [("bb", "aa"), ("ab", "aa"), ("ab", "bb"), ("aa", "aa")]
    wanted = [1.0, 0.0, float(raw.score([("ab", "bb")])[0]) / 2, 1.0]
    assert made.score(pairs) == pytest.approx(wanted)
    scorer = PairScorer(made, ["aa", "ab", "bb"])
    left, right = np.array([2, 1, 1, 0]), np.array([0, 0, 2, 0])
    assert scorer.score(left, right) == pytest.approx(wanted)
    assert scorer.block(np.arange(3), np.arange(3))[left, right] == pytest.approx(wanted, abs=1e-6)


def test_another_prior_is_bayes():
    made = Calibration("platt", "", 100, slope=4.0, intercept=-1.0, prior=0.5)
    odds = made.apply(0.6) / (1 - made.apply(0.6))
    moved = made.at(0.1).apply(0.6)
    assert moved / (1 - moved) == pytest.approx(odds / 9)
    steps = Calibration("isotonic", "", 100, (0.0, 1.0), (0.0, 0.5), prior=0.5).at(0.1)
    assert steps.values == pytest.approx((0.0, 0.1))


def test_the_prior_is_found_from_scores_alone():
    rng = np.random.default_rng(0)

    def scores(prior, n):
        same = rng.random(n) < prior
        return 1 / (1 + np.exp(-rng.normal(3.0 * same - 1.5, 1.0))), same.astype(float)

    made = fit(*scores(0.5, 2_000), method="isotonic")
    assert made.prior == pytest.approx(0.5, abs=0.05)
    assert made.prior_of(scores(0.08, 20_000)[0]) == pytest.approx(0.08, abs=0.04)
    # scores that tell nothing: chance agreement is no higher than without the calibration
    low = np.full(100, 0.02)
    assert made.at(made.prior_of(low)).apply(low).mean() <= 0.02 + 1e-6


@pytest.mark.parametrize("quality", ["good", "deaf"])
def test_a_calibration_does_not_make_kappa_worse(quality):
    """Judged pairs mean the same far more often than pairs by chance; one curve for both made kappa worse."""
    world = World(n_items=120, concepts=20, keep=0.75)
    before, after = [], []
    for seed in range(6):
        rng = np.random.default_rng((7, seed))
        project = Project.draw(world, QUALITIES[quality], rng)
        ratings, truth = project.ratings, table_truth(project)["cohen_kappa"]
        rows = zip(ratings.item.tolist(), ratings.rater.tolist(), ratings.answer.tolist(), strict=True)
        table = AnnotationTable.from_answers(Answer(str(i), str(r), (str(project.wording[k, 0]),)) for i, r, k in rows)
        pairs = project.text_pairs(
            *(ratings.answer[side] for side in (ratings.comparisons.left, ratings.comparisons.right))
        )
        chosen = rng.choice(len(pairs.left), 60, replace=False)
        learned = fit(pairs.p[chosen], project.same(pairs.left[chosen], pairs.right[chosen]), measure="matrix")
        raw = Matrix(project.p)
        for found, made in ((before, raw), (after, corrected(raw, learned))):
            found.append(abs(agreement(table, made).coefficients["cohen_kappa"].value - truth))
    assert np.mean(after) < 0.5 * np.mean(before)
