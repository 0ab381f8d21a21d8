"""Strata: the population of pairs, its levels, and the cheap equivalence that sorts it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import softirr
from softirr.answers.ratings import Ratings
from softirr.errors import InputError
from softirr.statistics.chance import strata as module
from softirr.statistics.chance.cheap_measure import sorting_equivalence
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.strata import PairPopulation
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.statistics.chance.direct import similarity, tables


def population(matrix, sorting, population=10**6, seed=0, marginals="answers"):
    rng = np.random.default_rng(seed)
    return PairPopulation.draw(Ratings.from_matrix(matrix), marginals, sorting, population=population, rng=rng)


class TestPopulation:
    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(tables(raters=6), st.sampled_from(["answers", "gwet2014"]), st.integers(0, 9))
    def test_is_all_pairs_of_rows_of_different_items(self, table, marginals, seed):
        ratings, cheap = table
        n = len(ratings.item) if marginals == "gwet2014" else len(ratings.comparable)
        limit = n * (n - 1) // 2
        rng = np.random.default_rng(seed)
        pairs = PairPopulation.draw(ratings, marginals, cheap, population=limit, rng=rng)
        rows = range(len(ratings.item)) if marginals == "gwet2014" else ratings.comparable.tolist()
        expected = [(i, j) for i, j in combinations(rows, 2) if ratings.item[i] != ratings.item[j]]
        assert pairs.complete and list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == expected
        answered = set(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True))
        numbers = {tuple(pair): q for q, pair in enumerate(ratings.comparisons.rater_pairs.tolist())}
        for cell, (i, j) in zip(pairs.cell, expected, strict=True):
            raters = tuple(sorted(ratings.rater[[i, j]].tolist()))
            both = {(int(ratings.item[row]), rater) for row in (i, j) for rater in raters} <= answered
            assert cell == (numbers[raters] if both and raters[0] != raters[1] else len(numbers))
        same = ratings.answer[pairs.first] == ratings.answer[pairs.second]
        assert np.array_equal(pairs.stratum < 0, same) and set(pairs.weight.tolist()) <= {1.0}
        assert pairs.sizes.tolist() == [int((pairs.stratum == one).sum()) for one in range(pairs.n_strata)]
        assert pairs.by_stratum.tolist() == [
            k for one in range(pairs.n_strata) for k in np.flatnonzero(pairs.stratum == one)
        ]
        own = len(numbers) <= 10  # rater pairs have strata of their own
        group = pairs.cell if own else pairs.cell == len(numbers)
        of_stratum = {(int(pairs.level[one]), int(g)) for one, g in zip(pairs.stratum, group, strict=True) if one >= 0}
        assert len(of_stratum) == pairs.n_strata and (pairs.n_levels == 0) == (pairs.n_strata == 0)

    @pytest.mark.parametrize(("size", "sampled"), [(500, 500), (500, 300)])
    def test_of_too_many_pairs_a_random_sample_is_taken(self, size, sampled, monkeypatch):
        """Each pair is drawn as often as every other one, and stands for its share of the pairs of its cell."""
        monkeypatch.setattr(module, "_SAMPLED", sampled)
        monkeypatch.setattr(module, "_CHUNK", 100)
        rng = np.random.default_rng(2)
        matrix = np.where(rng.random((18, 3)) < 0.8, np.arange(54).reshape(18, 3), -1)
        cheap = MatrixEquivalence(similarity(54))
        every = population(matrix, cheap)
        assert every.complete and len(every.first) > size
        counts: Counter = Counter()
        for seed in range(200):
            pairs = population(matrix, cheap, population=size, seed=seed)
            within = sampled - len(pairs.first)  # pairs of one item are drawn and not used
            assert not pairs.complete and 0 <= within < 0.15 * sampled
            counts.update(frozenset(pair) for pair in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
            there = np.bincount(pairs.cell)
            sums = np.bincount(pairs.cell, pairs.weight)
            assert sums[there > 0] == pytest.approx(np.bincount(every.cell)[there > 0], rel=1e-12)
            values = cheap.score(pairs.ratings.answer[pairs.first], pairs.ratings.answer[pairs.second])
            assert np.all(np.diff(pairs.level[pairs.stratum][np.argsort(values)]) >= 0)
        assert len(counts) == len(every.first)
        assert chisquare(list(counts.values())).pvalue > 0.001

    @pytest.mark.parametrize(("size", "halves"), [(60, 3), (300, 8), (600, 8)])
    def test_levels_are_quarters_and_the_top_quarter_is_halved_repeatedly(self, size, halves):
        """A half of less than 40 pairs is no level, and there are at most 12 levels."""
        sorting = MatrixEquivalence(similarity(size, 1))
        pairs = population(np.arange(size).reshape(-1, 2), sorting)
        level = pairs.level[pairs.stratum]
        shares = [1 / 2**k for k in range(3, 3 + halves)]
        assert np.bincount(level) / len(level) == pytest.approx([0.25, 0.25, 0.25, *shares, shares[-1]], abs=0.002)
        values = sorting.score(pairs.ratings.answer[pairs.first], pairs.ratings.answer[pairs.second])
        assert np.all(np.diff(level[np.argsort(values)]) >= 0)

    @pytest.mark.parametrize(("least", "levels"), [(39, 5), (40, 4)])
    def test_a_level_has_at_least_so_many_pairs(self, least, levels, monkeypatch):
        """An eighth of 312 pairs is 39."""
        monkeypatch.setattr(module, "_LEVEL_SIZE", least)
        pairs = population(np.arange(26).reshape(13, 2), MatrixEquivalence(similarity(26, 1)))
        assert (len(pairs.first), pairs.n_levels) == (312, levels)

    def test_pairs_of_one_cheap_value_are_in_one_level(self):
        values = np.round(similarity(60, 1), 1)
        pairs = population(np.arange(60).reshape(-1, 2), MatrixEquivalence(values))
        level = pairs.level[pairs.stratum]
        own = values[pairs.ratings.answer[pairs.first], pairs.ratings.answer[pairs.second]]
        assert all(len(set(level[own == one].tolist())) == 1 for one in np.unique(own))
        assert pairs.n_levels == 5 and sorted(set(level.tolist())) == list(range(pairs.n_levels))

    @pytest.mark.parametrize(("raters", "strata"), [(2, 1), (5, 10), (6, 1)])
    def test_up_to_ten_rater_pairs_have_strata_of_their_own(self, raters, strata):
        """With complete answers: the pairs that two raters share, and, in their own stratum, all other pairs."""
        pairs = population(np.arange(raters * 20).reshape(20, raters), None)
        assert pairs.n_strata == strata + 1


class TestSorting:
    def table(self):
        answers = [softirr.Answer(str(i), r, (f"{r} fever {i}",)) for i in range(3) for r in "ab"]
        return softirr.AnnotationTable.from_answers(answers)

    def test_the_mean_of_two_measures(self):
        table = self.table()
        k, l = np.array([0, 1]), np.array([2, 3])  # noqa: E741
        both = sorting_equivalence(table, "indel+jaccard")
        alone = [sorting_equivalence(table, name).score(k, l) for name in ("indel", "jaccard")]
        assert both.score(k, l) == pytest.approx(np.mean(alone, axis=0), abs=1e-12)
        assert both.block(k, l)[0, 0] == pytest.approx(both.score(k[:1], l[:1])[0], abs=1e-6)

    def test_a_slow_measure_cannot_sort(self):
        with pytest.raises(InputError, match="too slow"):
            sorting_equivalence(self.table(), FunctionMeasure(lambda a, b: 0.0))
