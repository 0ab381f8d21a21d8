"""The contract of every coefficient over draws."""

from __future__ import annotations

import numpy as np
import pytest

from lab.experiments.influence import item_influence
from softirr.answers.category_matrix import matrix_ratings
from softirr.answers.ratings import Ratings
from softirr.statistics import draws as module
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.registry import DEFINITIONS, ByMeasure
from softirr.statistics.draws import Draws
from softirr.statistics.weights_and_scores import ItemWeights

KEYS = [definition.key for definition in DEFINITIONS]


class Table:
    """Random ratings, their equivalences and their agreement by chance."""

    def __init__(self, n_raters=3, n_items=60, n_answers=12, seed=0, weighted=False):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(0, n_answers, (n_items, n_raters))
        if n_raters > 2:
            matrix[rng.random(matrix.shape) < 0.2] = -1
        similarity = rng.random((n_answers, n_answers))
        similarity = (similarity + similarity.T) / 2
        np.fill_diagonal(similarity, 1)
        ratings = matrix_ratings(matrix)
        if weighted:
            shares = rng.uniform(0.5, 2, n_items)
            sizes = ratings.n_items, ratings.n_raters, ratings.n_answers
            ratings = Ratings(ratings.item, ratings.rater, ratings.answer, *sizes, weights=shares / shares.mean())
        self.ratings, self.equivalence = ratings, MatrixEquivalence(similarity)
        comparisons = ratings.comparisons
        self.scores = self.equivalence.score(
            ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows]
        )
        self.chance = exact(ratings, self.equivalence, self.scores)

    def estimate(self, definition) -> Estimate:
        return ByMeasure(self.ratings, self.scores, self.chance).estimate(definition)

    def item_draws(self, n_draws=400):
        n_items = self.ratings.n_items
        items = ItemWeights(np.arange(n_items), len(self.ratings.comparable_items), n_draws)
        return Draws.of_items(self.ratings, self.scores, self.chance, items)


@pytest.mark.parametrize("n_raters", [2, 4])
@pytest.mark.parametrize("definition", DEFINITIONS, ids=KEYS)
def test_draws_spread_as_the_jackknife(definition, n_raters):
    table = Table(n_raters, n_items=100)
    estimate = table.estimate(definition)
    if estimate.value is None:
        assert (definition.key, n_raters) == ("scott_pi", 4)
        return
    values = definition.over_draws(table.item_draws(4_000))
    influence = item_influence(ByMeasure(table.ratings, table.scores, table.chance), definition)
    error = influence.std(ddof=1) / np.sqrt(len(influence))
    assert float(values.std()) == pytest.approx(error, rel=0.1)
    assert float(values.mean()) == pytest.approx(estimate.value, abs=0.1 * error)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=KEYS)
def test_parts_give_the_same_draws(definition, monkeypatch):
    table = Table(2)
    at_once = table.item_draws().over(definition.over_draws)
    monkeypatch.setattr(module, "_AT_ONCE", 7 * len(table.scores))
    assert table.item_draws().over(definition.over_draws) == pytest.approx(at_once, abs=1e-12)


def test_items_have_the_same_weights_in_every_table():
    names = [f"item {i}" for i in range(50)]
    ratings = Table(2, n_items=50).ratings
    items = ItemWeights.of(names, ratings)
    weights = items.weights
    assert ItemWeights.of(names[::-1], ratings).weights[::-1] == pytest.approx(weights)
    assert len(np.unique(items.ids)) == 50 and (weights > 0).all()
    assert float(weights.mean()) == pytest.approx(1, abs=0.02)
    assert abs(np.corrcoef(weights)[0, 1:]).mean() < 0.1


def test_mean_has_the_error_of_a_sample_mean():
    values = np.random.default_rng(1).normal(size=30)
    weights = ItemWeights(np.arange(30), 30, 20_000).weights
    means = values @ weights / weights.sum(axis=0)
    assert float(means.std()) == pytest.approx(values.std(ddof=1) / np.sqrt(30), rel=0.05)


@pytest.mark.parametrize("definition", [d for d in DEFINITIONS if d.key != "scott_pi"], ids=lambda d: d.key)
def test_intervals_of_subsets_are_wider_on_average(definition):
    widths = {n: [] for n in (30, 120)}
    for seed in range(6):
        for n in widths:
            low, high = np.quantile(definition.over_draws(Table(3, n, seed=seed).item_draws()), (0.025, 0.975))
            widths[n].append(high - low)
    assert np.mean(widths[30]) > np.mean(widths[120])
