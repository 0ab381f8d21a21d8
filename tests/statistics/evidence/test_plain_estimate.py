"""The estimator against plain loops over pairs of answers, on small tables of every shape."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable, Answer
from softirr.answers.weights import weighted
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.evidence.estimator import COVERED, Estimates
from softirr.statistics.evidence.fit import Fit
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.posterior_draws import posterior_draws
from softirr.statistics.evidence.record import record_of
from softirr.statistics.evidence.sampling_frames import Frames
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.statistics.evidence.plain_estimate import PlainEstimate

NAMES = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")


def probability(a, b):
    """P of two texts, without ties; high for texts of one concept."""
    if a == b:
        return 1.0
    rng = random.Random(repr(sorted((a, b))))
    return 0.45 + 0.55 * rng.random() if a[0] == b[0] else 0.7 * rng.random()


class Invented(FunctionMeasure):
    def __init__(self):
        super().__init__(probability, "invented")


class World:
    """A table, its judgments, and both estimates of it."""

    def __init__(
        self, *, sets=False, weights=False, judged=0.6, decided=0.0, items=7, raters="abc", seed=0, maximum_judged=None
    ):
        rng = random.Random(seed)
        self.answers = {}
        for item in range(items):
            concepts = rng.sample("uvwxyz", 2)
            for rater in raters:
                if len(raters) > 2 and rng.random() < 0.15:
                    continue
                rater_concepts = [c if rng.random() < 0.7 else rng.choice("uvwxyz") for c in concepts]
                names = dict.fromkeys(rater_concepts if sets and rng.random() < 0.7 else rater_concepts[:1])
                self.answers[f"{item}", rater] = tuple(sorted(f"{concept}{rng.randrange(4)}" for concept in names))
        rows = (Answer(item, rater, texts) for (item, rater), texts in self.answers.items())
        table = AnnotationTable.from_answers(rows)
        self.weight = {str(item): 1.0 + item % 3 for item in range(items)} if weights else {}
        self.table = weighted(table, self.weight) if weights else table
        text_pairs = [frozenset((a, b)) for i, a in enumerate(table.texts) for b in table.texts[:i]]
        self.decided = {pair: len({text[0] for text in pair}) == 1 for pair in text_pairs if rng.random() < decided}
        self.judged = {}
        for pair in text_pairs:
            if pair not in self.decided and rng.random() < judged:
                same = float(len({text[0] for text in pair}) == 1)
                if not sets and rng.random() < 0.2:
                    same = 0.5
                self.judged[pair] = same
        self.judged = {pair: self.judged[pair] for pair in self.judged if self.is_pair(pair)}
        if maximum_judged is not None:  # pairs of the same item
            same = sorted((pair for pair in self.judged if self.is_of_item(pair)), key=sorted)
            self.judged = {
                pair: same_value for pair, same_value in self.judged.items() if pair not in same[maximum_judged:]
            }
        self.record = record_of(Provenance("indel"))

    def is_of_item(self, pair):
        first, second = pair
        by_item = {}
        for (item, _), texts in self.answers.items():
            by_item.setdefault(item, set()).update(texts)
        return any({first, second} <= texts for texts in by_item.values())

    def is_pair(self, pair):
        """Whether two answers have the texts: all others are not drawn."""
        first, second = pair
        rows = list(self.answers.values())
        return any(i != j and first in a and second in b for i, a in enumerate(rows) for j, b in enumerate(rows))

    @cached_property
    def plain(self):
        return PlainEstimate(self.answers, probability, self.record, self.judged, self.decided, self.weight)

    @cached_property
    def measure(self):
        decided = {tuple(sorted(pair)): same for pair, same in self.decided.items()}
        return Invented().with_stage(Decisions(decided)) if decided else Invented()

    @cached_property
    def frames(self):
        frames = Frames(AnswerScorer(self.table, PairScorer(self.measure, self.table.texts)), 0)
        assert frames.design.pairs.complete
        return frames

    @cached_property
    def evidence(self):
        number = {text: index for index, text in enumerate(self.table.texts)}
        n = len(number)
        keys = {pair: min(number[t] for t in pair) * n + max(number[t] for t in pair) for pair in self.judged}
        order = sorted(self.judged, key=keys.__getitem__)
        columns = np.array([(self.judged[pair], probability(*pair)) for pair in order]).reshape(-1, 2).T
        return Judged(np.array([keys[pair] for pair in order], dtype=np.int64), *columns, n)

    @cached_property
    def by_measure(self):
        design = self.frames.design
        texts = design.same.texts
        scores = texts.equivalence(texts.p)
        answers = self.table.answers
        matrix = np.eye(len(answers))
        for k, first in enumerate(answers):
            for j, second in enumerate(answers):
                if k != j:  # any equivalence of two answers will do here: it only scales chance
                    names = [[self.table.texts[t] for t in answer] for answer in (first, second)]
                    values = [[probability(*sorted((a, b))) for b in names[1]] for a in names[0]]
                    matrix[k, j] = (
                        np.max(values, axis=1).mean() if k < j else np.max(np.transpose(values), axis=1).mean()
                    )
        matrix = (matrix + matrix.T) / 2
        ratings = design.ratings
        chance = exact(ratings, MatrixEquivalence(matrix), scores)
        items = ItemWeights(np.arange(ratings.n_items), len(ratings.comparable_items))
        return ByMeasure(ratings, scores, chance, items)

    @cached_property
    def by_chance(self):
        """The measure's agreement of answers to different items: of each pair of raters, and pooled."""
        ratings, chance = self.by_measure.ratings, self.by_measure.chance
        comparisons = ratings.comparisons
        result = {}
        for number, (r, s) in enumerate(comparisons.rater_pairs.tolist()):
            of_pair = comparisons.rater_pair == number
            weight = ratings.weight[comparisons.item[of_pair]]
            same = float((weight / weight.sum()) ** 2 @ self.by_measure.scores[of_pair])
            result["abcdef"[r], "abcdef"[s]] = float(chance.cohen[number]) - same
        w, mass = self.plain.w, self.plain.mass
        same = sum(2 * (w[key[0]] / mass) ** 2 * self.plain.same_by_p(key) for key in self.plain.same)
        itself = sum(len(raters_of_item) * (w[item] / mass) ** 2 for item, raters_of_item in self.plain.by_item.items())
        return result | {"pooled": float(chance.pooled) - same - itself}

    @cached_property
    def estimates(self):
        measured = {name: Coefficient(0.4, 0.1, (0.3, 0.5)) for name in COVERED}
        return Estimates(self.frames.design, measured, self.by_measure, self.record, self.evidence)


WORLDS = {
    "judged": {},
    "weights": {"weights": True, "seed": 1},
    "sets": {"sets": True, "items": 5, "seed": 2, "weights": True},
    "two raters": {"raters": "ab", "items": 12, "seed": 3},
    "few judgments": {"judged": 0.1, "seed": 4},
    "seven judgments of an item": {"maximum_judged": 7, "judged": 0.9, "seed": 8},
    "eight judgments of an item": {"maximum_judged": 8, "judged": 0.9, "seed": 8},
    "one judgment": {"maximum_judged": 1, "seed": 8},
    "decisions": {"decided": 0.3, "judged": 0.3, "seed": 5},
    "decisions of sets": {"sets": True, "items": 5, "decided": 0.2, "judged": 0.3, "seed": 6},
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request):
    return World(**WORLDS[request.param])


def test_each_pair_is_fitted_as_the_judgments_say(world):
    fit = Fit(world.frames.design, world.record, world.evidence)
    assert fit.equivalence[0].tolist() == pytest.approx([world.plain.same_fit(k) for k in world.plain.same], abs=1e-7)


def test_values(world):
    plain_estimate = world.plain
    values, expected = plain_estimate.coefficients(plain_estimate.same_fit, world.by_chance)
    for name in NAMES:
        assert world.estimates.coefficients[name].value == pytest.approx(values[name], abs=1e-7)
        assert world.estimates.coefficients[name].details.by_measure == 0.4
    for name, value in expected.items():
        assert world.estimates.expected[name] == pytest.approx(value, abs=1e-7)
    assert world.estimates.coefficients["observed_agreement"].judgments == len(world.judged)


def test_rater_pairs_and_raters(world):
    plain_estimate, rater_estimates = world.plain, world.estimates
    comparisons = world.by_measure.ratings.comparisons
    cells = [("abcdef"[r], "abcdef"[s]) for r, s in comparisons.rater_pairs.tolist()]
    corrected = Coefficient(0.4, 0.1, (0.3, 0.5))
    kappas = {}
    for number, cell in enumerate(cells):
        expected, kappas[cell] = plain_estimate.kappa(cell, plain_estimate.same_fit, world.by_chance)
        observed, kappa = rater_estimates.of_pairs(np.array([number]), corrected, corrected)
        items = plain_estimate.cells()[cell]
        agreement = np.average(
            [plain_estimate.same_fit((i, *cell)) for i in items], weights=[plain_estimate.w[i] for i in items]
        )
        assert observed.value == pytest.approx(agreement, abs=1e-7)
        assert kappa.value == pytest.approx(kappas[cell], abs=1e-7)
        assert rater_estimates.center.pair_expected[number, 0] == pytest.approx(expected, abs=1e-7)
    for number, rater in enumerate(plain_estimate.raters):
        _, kappa = rater_estimates.of_pairs(comparisons.pairs_of_rater(number), corrected, corrected)
        assert kappa.value == pytest.approx(np.mean([kappas[c] for c in cells if rater in c]), abs=1e-7)


def test_interval_by_judgments_alone(world):
    plain_estimate = world.plain
    for name in NAMES:
        by_judgments = world.estimates.coefficients[name].details.judgments_only
        assert (by_judgments is None) == (plain_estimate.n < 8)
        if by_judgments is not None:
            value = plain_estimate.coefficients(plain_estimate.by_judgments, world.by_chance)[0][name]
            assert by_judgments.value == pytest.approx(value, abs=1e-9)
            assert by_judgments.ci95[0] <= value <= by_judgments.ci95[1]


def test_draws_have_the_mean_and_the_spread_of_the_posterior(world):
    fit = Fit(world.frames.design, world.record, world.evidence)
    measured = world.by_measure
    items = replace(measured.items, n_draws=40_000)
    by_measure = ByMeasure(measured.ratings, measured.scores, measured.chance, items)
    draws = posterior_draws(fit, by_measure, slice(None))
    for number, key in enumerate(world.plain.same):
        drawn_scores = draws.scores[number] + draws.score_draws.noise_unit * draws.score_draws.noise[number]
        if any(text not in world.judged for text, _, _ in world.plain.same[key].texts):
            assert float(drawn_scores.mean()) == pytest.approx(world.plain.same_fit(key), abs=0.05)
        else:
            assert drawn_scores == pytest.approx(world.plain.same_fit(key), abs=1e-9)


@pytest.mark.parametrize("decided", [0.0, 0.3])
def test_known_pairs_change_their_own_pairs_only(decided):
    world = World(judged=0.0, decided=decided, seed=7)
    for name in NAMES:
        result = world.estimates.coefficients[name]
        assert result.value == 0.4 and result.details.judgments_only is None and not result.judgments


def test_interval_of_perfect_agreement_allows_for_unseen_items():
    """With a probability of 5%: 1 - 0.05^(1/n) of the items."""
    n = 5
    rows = [Answer(str(item), rater, (f"finding {item}",)) for item in range(n) for rater in "ab"]
    report = softirr.agreement(AnnotationTable.from_answers(rows), "exact")
    for name, chance in (("observed_agreement", 0.0), ("fleiss_kappa", report.expected_agreement.fleiss)):
        reach = (1 - 0.05 ** (1 / n)) / (1 - chance)
        assert report.coefficients[name].value == 1
        assert report.coefficients[name].ci95 == pytest.approx((max(1 - reach, 0), 1.0), abs=0.06)
