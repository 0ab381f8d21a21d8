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
from softirr.meaning.measures.decisions import with_decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.coefficients.cohen import mean_cohen
from softirr.statistics.coefficients.fleiss import fleiss
from softirr.statistics.coefficients.intervals import Coefficient, standard_error
from softirr.statistics.coefficients.krippendorff import krippendorff
from softirr.statistics.evidence.estimator import COVERED, estimate
from softirr.statistics.evidence.fit import Fit
from softirr.statistics.evidence.judgments import Judged
from softirr.statistics.evidence.record import record_of
from softirr.statistics.evidence.sampling_frames import Frames
from softirr.statistics.evidence.targets import MeasureChance, Targets
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.statistics.evidence.plain_estimate import PlainEstimate, quantile

NAMES = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")


def probability(a, b):
    """P of two texts, without ties; high where they name one concept."""
    if a == b:
        return 1.0
    rng = random.Random(repr(sorted((a, b))))
    return 0.45 + 0.55 * rng.random() if a[0] == b[0] else 0.7 * rng.random()


class Invented(FunctionMeasure):
    def __init__(self):
        super().__init__(probability, "invented")


class World:
    """A table, its judgments, and both estimates of it."""

    def __init__(self, *, sets=False, weights=False, judged=0.6, decided=0.0, items=7, raters="abc", seed=0, most=None):
        rng = random.Random(seed)
        self.answers = {}
        for item in range(items):
            concepts = rng.sample("uvwxyz", 2)
            for rater in raters:
                if len(raters) > 2 and rng.random() < 0.15:
                    continue
                own = [c if rng.random() < 0.7 else rng.choice("uvwxyz") for c in concepts]
                names = dict.fromkeys(own if sets and rng.random() < 0.7 else own[:1])
                self.answers[f"{item}", rater] = tuple(sorted(f"{one}{rng.randrange(4)}" for one in names))
        rows = (Answer(item, rater, texts) for (item, rater), texts in self.answers.items())
        table = AnnotationTable.from_answers(rows)
        self.weight = {str(item): 1.0 + item % 3 for item in range(items)} if weights else {}
        self.table = weighted(table, self.weight) if weights else table
        every = [frozenset((a, b)) for i, a in enumerate(table.texts) for b in table.texts[:i]]
        self.decided = {pair: len({text[0] for text in pair}) == 1 for pair in every if rng.random() < decided}
        self.judged = {}
        for pair in every:
            if pair not in self.decided and rng.random() < judged:
                same = float(len({text[0] for text in pair}) == 1)
                if not sets and rng.random() < 0.2:
                    same = 0.5
                self.judged[pair] = same, rng.choice([1.0, 2.0, 3.5])
        self.judged = {pair: self.judged[pair] for pair in self.judged if self.is_pair(pair)}
        if most is not None:  # pairs of the same item
            same = sorted((pair for pair in self.judged if self.is_of_item(pair)), key=sorted)
            self.judged = {pair: own for pair, own in self.judged.items() if pair not in same[most:]}
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
        return with_decisions(Invented(), decided) if decided else Invented()

    @cached_property
    def frames(self):
        frames = Frames(self.table, PairScorer(self.measure, self.table.texts), 0, "optimal")
        assert frames.design.complete
        return frames

    @cached_property
    def evidence(self):
        number = {text: place for place, text in enumerate(self.table.texts)}
        n = len(number)
        keys = {pair: min(number[t] for t in pair) * n + max(number[t] for t in pair) for pair in self.judged}
        order = sorted(self.judged, key=keys.__getitem__)
        columns = np.array([(*self.judged[pair], probability(*pair)) for pair in order]).reshape(-1, 3).T
        return Judged(np.array([keys[pair] for pair in order], dtype=np.int64), *columns, n)

    @cached_property
    def measure_chance(self):
        design = self.frames.design
        texts = design.same.texts
        scores = texts.equivalence(texts.p)
        answers = self.table.answers
        matrix = np.eye(len(answers))
        for k, one in enumerate(answers):
            for j, other in enumerate(answers):
                if k != j:  # any equivalence of two answers will do here: it only scales chance
                    names = [[self.table.texts[t] for t in answer] for answer in (one, other)]
                    values = [[probability(*sorted((a, b))) for b in names[1]] for a in names[0]]
                    matrix[k, j] = (
                        np.max(values, axis=1).mean() if k < j else np.max(np.transpose(values), axis=1).mean()
                    )
        matrix = (matrix + matrix.T) / 2
        ratings = design.ratings
        chance = exact(ratings, MatrixEquivalence(matrix), scores)
        return MeasureChance(ratings, scores, chance, np.arange(len(scores)))

    @cached_property
    def different_of_measure(self):
        """The measure's agreement of different items for each pair of raters."""
        ratings, chance = self.measure_chance.ratings, self.measure_chance.chance
        comparisons = ratings.comparisons
        result = {}
        for number, (r, s) in enumerate(comparisons.rater_pairs.tolist()):
            mine = comparisons.rater_pair == number
            own = ratings.weight[comparisons.item[mine]]
            same = float((own / own.sum()) ** 2 @ self.measure_chance.scores[mine])
            result["abcdef"[r], "abcdef"[s]] = float(chance.cohen[number]) - same
        return result

    @cached_property
    def estimates(self):
        by_measure = {name: Coefficient(0.4, 0.1, (0.3, 0.5)) for name in COVERED}
        return estimate(self.frames.design, by_measure, self.measure_chance, self.record, self.evidence)


WORLDS = {
    "judged": {},
    "weights": {"weights": True, "seed": 1},
    "sets": {"sets": True, "items": 5, "seed": 2, "weights": True},
    "two raters": {"raters": "ab", "items": 12, "seed": 3},
    "few judgments": {"judged": 0.1, "seed": 4},
    "seven judgments of an item": {"most": 7, "judged": 0.9, "seed": 8},
    "eight judgments of an item": {"most": 8, "judged": 0.9, "seed": 8},
    "one judgment": {"most": 1, "seed": 8},
    "decisions": {"decided": 0.3, "judged": 0.3, "seed": 5},
    "decisions of sets": {"sets": True, "items": 5, "decided": 0.2, "judged": 0.3, "seed": 6},
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request):
    return World(**WORLDS[request.param])


def weights_of(target, keys):
    """Weights of a target by pair of answers."""
    weights = {keys[row]: own for row, own in zip(target.rows.tolist(), target.disagreement, strict=True)}
    chance = None if target.chance is None else dict(zip(weights, target.chance, strict=True))
    apart = target.apart
    return weights, chance, (apart.weight, apart.agreement, apart.variance, apart.by_p)


def assert_same(target, expected, keys):
    disagreement, chance, apart = weights_of(target, keys)
    assert disagreement == pytest.approx(expected[0], abs=1e-9)
    assert (chance is None) == (expected[1] is None)
    if chance is not None:
        assert chance == pytest.approx(expected[1], abs=1e-9)
    assert apart == pytest.approx(expected[2] or (1, 0, 0, 0), abs=1e-9)


def test_each_pair_is_fitted_as_the_judgments_say(world):
    fit = Fit(world.frames.design, world.record, world.evidence)
    assert fit.equivalence[0].tolist() == pytest.approx([world.plain.same_fit(k) for k in world.plain.same], abs=1e-7)
    assert fit.known_share == pytest.approx(world.plain.known_share())


def test_weights_of_the_table_of_raters_and_of_pairs(world):
    plain = world.plain
    targets = Targets(Fit(world.frames.design, world.record, world.evidence), world.measure_chance)
    keys = list(plain.same)
    expected = plain.targets(world.different_of_measure)
    for name in NAMES:
        assert_same(targets.project()[name], expected[name], keys)
    rater_pairs = world.measure_chance.ratings.comparisons.rater_pairs.tolist()
    cells = [("abcdef"[r], "abcdef"[s]) for r, s in rater_pairs]
    by_chance = plain.cohen(world.different_of_measure, cells)[3]
    for number, cell in enumerate(cells):
        observed, kappa = targets.of_pairs(np.array([number]))
        items = [i for i, own in plain.by_item.items() if set(cell) <= set(own)]
        mass = sum(plain.w[i] for i in items)
        assert_same(observed, ({(i, *cell): plain.w[i] / mass for i in items}, None, None), keys)
        assert_same(kappa, plain.cohen(world.different_of_measure, [cell])[:3], keys)
        assert targets.expected_of_pair(number) == pytest.approx(1 - by_chance[cell], abs=1e-9)
    for number, rater in enumerate(plain.raters):
        observed, kappa = targets.of_pairs(targets.ratings.comparisons.pairs_of_rater(number))
        mine = [key for key in keys if rater in key[1:]]
        mass = sum(plain.w[i] for i in {key[0] for key in mine})
        share = {k: plain.w[k[0]] / mass / sum(k[0] == other[0] for other in mine) for k in mine}
        assert_same(observed, (share, None, None), keys)
        assert_same(kappa, plain.cohen(world.different_of_measure, [c for c in cells if rater in c])[:3], keys)


def test_values_and_intervals(world):
    plain = world.plain
    for name, target in plain.targets(world.different_of_measure).items():
        floor = 0.0 if name == "observed_agreement" else -1.0
        influence = world.estimates.influences[name]
        assert influence.value == pytest.approx(plain.value(target, plain.same_fit), abs=1e-9)
        result = world.estimates.coefficients[name]
        error = standard_error(influence)
        every, weights, normal = plain.points(target, error, floor)
        points, weights = plain.likely(every, weights)
        low, middle, high = (quantile(points, weights, level) for level in (0.025, 0.5, 0.975))
        assert result.value == pytest.approx(middle, abs=1e-8)
        assert result.ci95 == pytest.approx((min(low, middle), max(high, middle)), abs=1e-8)
        mean = float(np.sum(points * weights))
        assert result.standard_error == pytest.approx(float(np.sqrt(np.sum(weights * (points - mean) ** 2))), abs=1e-6)
        ends = plain.any_time(every, normal, floor)
        wider = min(ends[0], low), max(ends[1], high)
        assert result.details.any_time.ci95 == pytest.approx(wider, abs=0.0051)  # a step more or less at a tie
        assert result.details.items_only.ci95 == (0.3, 0.5) and result.details.by_measure == 0.4
        fixed = result.details.judgments_only
        assert (fixed is None) == (plain.n < 8)
        if fixed is not None:
            value, spread, ends = plain.by_judgments(target, error, floor)
            assert (fixed.value, fixed.standard_error) == pytest.approx((value, spread), abs=1e-9)
            assert fixed.ci95 == pytest.approx(ends, abs=1e-9)


def test_influences_are_those_of_the_measure_with_corrected_scores_and_chance(world):
    plain, measure = world.plain, world.measure_chance
    noisy = replace(measure.chance, cohen_noise=measure.chance.cohen + 1, pooled_noise=0.25)
    fit = Fit(world.frames.design, world.record, world.evidence)
    influences = {n: t.influence for n, t in Targets(fit, replace(measure, chance=noisy)).project().items()}
    cells = [("abcdef"[r], "abcdef"[s]) for r, s in measure.ratings.comparisons.rater_pairs.tolist()]
    expected = 1 - np.array([plain.cohen(world.different_of_measure, cells)[3][cell] for cell in cells])
    same, apart = plain.targets(world.different_of_measure)["fleiss_kappa"][1:]
    fleiss_expected = 1 - sum(own * (1 - plain.same_fit(k)) for k, own in same.items()) - apart[0] + apart[1]
    by_cohen, by_pooled = expected.mean() / noisy.cohen.mean(), fleiss_expected / noisy.pooled
    chance = replace(
        noisy,
        cohen=expected,
        cohen_left=noisy.cohen_left * by_cohen,
        cohen_right=noisy.cohen_right * by_cohen,
        cohen_noise=noisy.cohen_noise * by_cohen**2,
        pooled=fleiss_expected,
        pooled_at=noisy.pooled_at * by_pooled,
        pooled_noise=0.25 * by_pooled**2,
        cohen_loadings=None,
    )
    scores = np.array([plain.same_fit(key) for key in plain.same])
    for name, coefficient in (
        ("cohen_kappa", mean_cohen),
        ("fleiss_kappa", fleiss),
        ("krippendorff_alpha", krippendorff),
    ):
        own = coefficient(measure.ratings, scores, chance)
        assert influences[name].value == pytest.approx(own.value, abs=1e-7)
        assert influences[name].influence == pytest.approx(own.influence, abs=1e-6)
        assert influences[name].noise == pytest.approx(own.noise, rel=1e-5)


def test_agreement_by_chance(world):
    targets = world.plain.targets(world.different_of_measure)
    errors = [0.0]
    for name, of in (("cohen", NAMES[1]), ("fleiss", NAMES[2]), ("krippendorff", NAMES[3])):
        _, chance, apart = targets[of]
        same = sum(own * (1 - world.plain.same_fit(key)) for key, own in chance.items())
        assert world.estimates.expected[name] == pytest.approx(1 - same - apart[0] + apart[1], abs=1e-9)
        errors.append(np.sqrt(apart[2]))
    assert world.estimates.expected_error == pytest.approx(max(errors), abs=1e-12)
    assert world.estimates.judgments == len(world.judged)


@pytest.mark.parametrize("by_measure", [0.4, 1.0])
@pytest.mark.parametrize("decided", [0.0, 0.3])
def test_without_judgments_known_pairs_move_the_value_of_the_measure(decided, by_measure):
    world = World(judged=0.0, decided=decided, seed=7)
    plain = world.plain
    estimates = world.estimates.parts.estimates(dict.fromkeys(COVERED, Coefficient(by_measure, 0.05)))
    for name, target in plain.targets(world.different_of_measure).items():
        result = estimates.coefficients[name]
        points, weights, _ = plain.points(target, 0.0, -5.0)
        points, weights = plain.likely(points, weights)
        center = quantile(points[:, 5], weights.sum(axis=1), 0.5)
        moved = plain.known_share() * (center - plain.value(target, plain.same_by_p)) if decided else 0.0
        assert result.value == pytest.approx(min(by_measure + moved, 1), abs=1e-6)
        assert result.details.any_time is None and result.details.judgments_only is None
        assert not result.judgments


def test_items_that_all_agree_leave_what_as_many_items_miss():
    """With a probability of 5%; the interval ends where a normal error of that size does."""
    n = 5
    rows = [Answer(str(item), rater, (f"finding {item}",)) for item in range(n) for rater in "ab"]
    report = softirr.agreement(AnnotationTable.from_answers(rows), "exact")
    z = np.linspace(-2.5, 2.5, 11)
    normal = np.exp(-(z**2) / 2)
    for name, chance in (("observed_agreement", 0.0), ("fleiss_kappa", report.expected_agreement.fleiss)):
        error = (1 - 0.05 ** (1 / n)) / 1.959964 / (1 - chance)
        low = quantile(np.minimum(1 + error * z, 1), normal, 0.025)
        assert report.coefficients[name].value == 1
        assert report.coefficients[name].ci95 == pytest.approx((low, 1.0), abs=0.01)
