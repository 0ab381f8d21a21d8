"""Populations scored by a measure: their truth, the errors of the measure, and judgments of their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.bench.evidence_populations import Population
from lab.bench.record_fit import LEAST_PAIRS, Row
from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.meaning.measures import Measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import PairEquivalence
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.evidence.design import Design, chance_stratum
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.posterior import Scores, logit
from softirr.statistics.evidence.sampling_frames import Frames
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights
from softirr.text import normalize


@dataclass(frozen=True, eq=False)
class Case:
    """A population scored by a measure.

    Attributes
    ----------
    concepts : tuple of frozenset of str
        Concepts of each text of the table.
    truth : dict of str to (float or None)
        The coefficients of the project's own items.
    """

    population: Population
    measure: str
    model_sha256: str | None
    design: Design
    measured: dict[str, Any]
    by_measure: ByMeasure
    concepts: tuple[frozenset[str], ...]
    truth: dict[str, float | None]

    @classmethod
    def of(cls, population: Population, measure: Measure, cache: PairCache) -> Case:
        """Score a population."""
        table = population.table
        scorer = PairScorer(measure, table.texts, cache=cache)
        frames = Frames(AnswerScorer(table, scorer), population.number)
        concepts = tuple(population.concepts.get(normalize(text), frozenset({f"?{text}"})) for text in table.texts)
        design = frames.design
        ratings = design.ratings
        scores = design.same.texts.equivalence(design.same.texts.p)
        chance = permutation(ratings, _sampled(design), permutations=2, seed=0)
        items = ItemWeights(np.arange(ratings.n_items), len(ratings.comparable_items))
        by_measure = ByMeasure(ratings, scores, chance, items)
        measured = {name: estimate.coefficient for name, estimate in _all(ratings, scores, chance).items()}
        truth = _truth(frames, concepts)
        sha = measure.provenance().model_sha256
        return cls(population, measure.name, sha, design, measured, by_measure, concepts, truth)

    def same(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """T of texts left_texts[i] and right_texts[i]."""
        pairs = zip(left_texts.tolist(), right_texts.tolist(), strict=True)
        return np.array([float(bool(self.concepts[a] & self.concepts[b])) for a, b in pairs])


def _sampled(design: Design) -> PairEquivalence:
    """Equivalence of two answers by chance: the score of a random one of the sampled pairs of different items."""
    texts = design.different.texts
    first, second = (design.ratings.answer[rows] for rows in (design.pairs.first, design.pairs.second))
    values = texts.equivalence(texts.p)[first != second]
    rng = np.random.default_rng(0)

    def score(k: Ints, l: Ints) -> Floats:  # noqa: E741
        sample = rng.choice(values, len(k)) if len(values) else np.zeros(len(k))
        return np.where(k == l, 1.0, sample)

    return PairEquivalence(score)


def _all(ratings: Ratings, scores: Floats, chance: Any) -> dict[str, Any]:
    by_measure = ByMeasure(ratings, scores, chance)
    return {
        coefficient.key: by_measure.estimate(coefficient) for coefficient in registry.DEFINITIONS if coefficient.audited
    }


def _truth(frames: Frames, concepts: Sequence[frozenset[str]]) -> dict[str, float | None]:
    """The coefficients by the concepts: exact, with texts that share a concept as the same."""
    ratings = frames.design.ratings
    table = frames.table
    names = sorted({name for concept in concepts for name in concept})
    number = {name: index for index, name in enumerate(names)}
    from scipy.sparse import csr_matrix

    of_answer = [{number[name] for text in answer for name in concepts[text]} for answer in table.answers]
    size = np.array([len(answer) for answer in table.answers])
    flat = [(row, column) for row, columns in enumerate(of_answer) for column in columns]
    rows, columns = np.array(flat, dtype=np.int64).reshape(-1, 2).T
    has = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(size), len(names)))
    codes = np.asarray(has.sum(axis=1)).ravel()

    def score(k: Ints, l: Ints) -> Floats:  # noqa: E741
        n_shared = np.asarray(has[k].multiply(has[l]).sum(axis=1)).ravel()
        single = (size[k] <= 1) & (size[l] <= 1)
        n_codes = codes[k] + codes[l]
        shared = np.where(single, n_shared > 0, 2 * n_shared / np.maximum(n_codes, 1))
        return np.where((k == l) | (n_codes == 0), 1.0, shared)

    shared = PairEquivalence(score)
    first, second = ratings.comparisons.left_rows, ratings.comparisons.right_rows
    scores = shared.score(ratings.answer[first], ratings.answer[second])
    chance = exact(ratings, shared, scores)
    return {name: coefficient.value for name, coefficient in _all(ratings, scores, chance).items()}


def statistics(case: Case) -> Row:
    """The errors of a measure in a population.

    Returns
    -------
    dict
        ``recovery``, ``leak`` and ``slope`` (None if there are too few pairs), and ``chance``: weighted
        share of equivalent pairs and number of pairs in each stratum of pairs of different items.
    """
    same, different = case.design.same.texts, case.design.different.texts
    truth, apart = (case.same(texts.left_texts, texts.right_texts) for texts in (same, different))
    weight = same.weights(case.design.ratings.pair_weights)
    chance_weight = different.weights(case.design.pooled_weight)
    stratum = chance_stratum(different.p)
    scores = Scores(same.p, weight, different.p, chance_weight)
    base = float(np.average(different.p, weights=chance_weight)) if chance_weight.sum() > 0 else 0.0
    span = max(1 - base, 1e-3)

    def place(which: Any) -> float | None:
        if int(which.sum()) < LEAST_PAIRS:
            return None
        return (float(np.average(same.p[which], weights=weight[which])) - base) / span

    strata = []
    for number in range(3):
        weights = chance_weight * (stratum == number)
        share = float(weights @ apart / weights.sum()) if weights.sum() > 0 else 0.0
        strata.append([share, int((stratum == number).sum())])
    population = case.population
    return {
        "measure": case.measure,
        "model_sha256": case.model_sha256,
        "group": population.group,
        "source": population.source,
        "kind": population.kind,
        "number": population.number,
        "recovery": place(truth == 1),
        "leak": place(truth == 0),
        "slope": _slope(logit(scores.p), truth),
        "chance": strata,
    }


def _slope(logits: Floats, truth: Floats) -> float | None:
    """Slope of the logistic function of T on logit P, shrunk a little to 1."""
    if min(float(truth.sum()), float((1 - truth).sum())) < LEAST_PAIRS:
        return None
    from scipy.optimize import minimize

    def loss(weights: Floats) -> float:
        eta = weights[0] + weights[1] * logits
        return float(np.sum(np.logaddexp(0, eta) - truth * eta) + (weights[1] - 1) ** 2 / 8)

    return float(minimize(loss, np.array([0.0, 1.0])).x[1])


def judge(case: Case, n: int) -> Judged:
    """The first n units of a sheet, judged rightly."""
    texts = len(case.concepts)
    keys: dict[int, float] = {}
    if n:
        for frame, member in case.design.draws():
            a, b = case.design.key(frame, member)
            pairs = case.design.different.texts if frame else case.design.same.texts
            keys.setdefault(a * texts + b, float(pairs.p[member]))
            if len(keys) == n:
                break
    order = np.array(sorted(keys), dtype=np.int64)
    same = case.same(*np.divmod(order, texts)) if len(order) else np.zeros(0)
    return Judged(order, same, np.array([keys[key] for key in order.tolist()]), texts)
