"""Properties of every table: order, S of 0 and 1, monotonicity, and the reasons of undefined values."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import softirr
from softirr.answers.category_matrix import matrix_ratings
from softirr.statistics.chance.expected import GRID, on_grid
from softirr.statistics.coefficients.definition import Undefined
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import coefficient_keys
from tests.statistics.chance.direct import similarity

SETTINGS = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SAME = {"abs": 1e-12, "rel": 0}


@st.composite
def tables(draw, raters=(2, 4)):
    """Items × raters, with missing answers, and a similarity of the five categories."""
    shape = (draw(st.integers(2, 10)), draw(st.integers(*raters)))
    matrix = draw(hnp.arrays(np.int64, shape, elements=st.integers(-1, 4)))
    return matrix, similarity(5, draw(st.integers(0, 2**32 - 1)))


def values(matrix, weights=None):
    coefficients = matrix_agreement(matrix, weights).estimates
    return {name: (estimate.value, estimate.undefined) for name, estimate in coefficients.items()}


def same(first, second):
    for name in coefficient_keys():
        (a, why_a), (b, why_b) = first[name], second[name]
        assert why_a == why_b, name
        assert a is b is None or a == pytest.approx(b, **SAME), name


@SETTINGS
@given(tables())
def test_comparisons_by_rater_pair(table):
    comparisons = matrix_ratings(table[0]).comparisons
    for pair in range(len(comparisons.rater_pairs)):
        assert (
            comparisons.of_pairs(np.array([pair])).tolist() == np.flatnonzero(comparisons.rater_pair == pair).tolist()
        )


class TestOrder:
    """Nothing depends on the order of items, raters or texts."""

    @SETTINGS
    @given(tables(), st.randoms(use_true_random=False))
    def test_of_items(self, table, random):
        matrix, weights = table
        order = random.sample(range(len(matrix)), len(matrix))
        same(values(matrix, weights), values(matrix[order], weights))

    @SETTINGS
    @given(tables(), st.randoms(use_true_random=False))
    def test_of_raters(self, table, random):
        matrix, weights = table
        order = random.sample(range(matrix.shape[1]), matrix.shape[1])
        same(values(matrix, weights), values(matrix[:, order], weights))

    @SETTINGS
    @given(tables(), st.permutations(range(5)))
    def test_of_categories(self, table, order):
        matrix, weights = table
        new = np.array(order)
        turned = np.empty_like(weights)
        turned[np.ix_(new, new)] = weights
        same(values(matrix, weights), values(np.where(matrix >= 0, new[matrix], -1), turned))

    @SETTINGS
    @given(tables())
    def test_categories_that_nobody_used_change_nothing(self, table):
        matrix, weights = table
        larger = np.eye(9)
        larger[:5, :5] = weights
        same(values(matrix, weights), values(matrix, larger))

    @SETTINGS
    @given(tables())
    def test_an_item_that_nobody_answered_changes_nothing(self, table):
        matrix, weights = table
        same(values(matrix, weights), values(np.vstack([matrix, np.full(matrix.shape[1], -1)]), weights))


class TestClassical:
    """With S in {0, 1} the classical coefficients, which test_oracles.py compares with libraries."""

    @SETTINGS
    @given(tables())
    def test_answers_in_groups_of_one_meaning(self, table):
        """A block matrix of zeros and ones is the classical coefficient of the groups."""
        matrix, _ = table
        group = np.array([0, 0, 1, 1, 2])
        weights = (group[:, None] == group[None, :]).astype(float)
        soft, classical = values(matrix, weights), values(np.where(matrix >= 0, group[matrix], -1))
        for name in ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "ks"):
            a, b = soft[name][0], classical[name][0]
            assert a is b is None or a == pytest.approx(b, **SAME), name


class TestMonotonicity:
    """Two raters with all answers different, so that a single entry of S can change."""

    @staticmethod
    def moved(n, seed, a, b, share):
        """All coefficients before and after S(a, b) went up by a share of the way to 1."""
        original = similarity(2 * n, seed)
        changed = original.copy()
        changed[a, b] = changed[b, a] = original[a, b] + share * (1 - original[a, b])
        matrix = np.arange(2 * n).reshape(n, 2)
        return values(matrix, original), values(matrix, changed)

    @SETTINGS
    @given(st.integers(2, 10), st.integers(0, 2**32 - 1), st.integers(0, 9), st.floats(0.01, 1.0))
    def test_more_alike_on_an_item_is_more_agreement(self, n, seed, item, share):
        item %= n
        original, changed = self.moved(n, seed, 2 * item, 2 * item + 1, share)
        for name in ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha"):
            assert changed[name][0] > original[name][0] - 1e-12, name
        assert changed["observed_agreement"][0] > original["observed_agreement"][0]

    @SETTINGS
    @given(st.integers(2, 10), st.integers(0, 2**32 - 1), st.integers(0, 9), st.floats(0.01, 1.0))
    def test_more_alike_by_chance_is_less_agreement(self, n, seed, item, share):
        item %= n
        next_item = (item + 1) % n
        original, changed = self.moved(n, seed, 2 * item, 2 * next_item + 1, share)
        assert changed["observed_agreement"][0] == original["observed_agreement"][0]
        for name in ("cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha"):
            assert changed[name][0] < original[name][0], name

    @SETTINGS
    @given(tables())
    def test_bounds(self, table):
        for name, (value, why) in values(*table).items():
            assert (value is None) != (why is None)
            if value is not None:
                assert math.isfinite(value)
                assert value <= 1 + 1e-12
            if value is not None and name in ("observed_agreement", "sigma", "ks"):
                assert value >= 0


class TestDegenerate:
    """Undefined is a reason, never nan; and the whole report is made of JSON numbers."""

    def values(self, matrix):
        with np.errstate(all="raise"):
            return values(np.array(matrix))

    @pytest.mark.parametrize("items", [2, 3])
    def test_one_category_without_disagreement(self, items):
        coefficients = self.values([[0, 0]] * items)
        assert coefficients["observed_agreement"] == (1.0, None)
        for name in ("cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha"):
            assert coefficients[name] == (None, Undefined.NO_VARIATION)
        assert coefficients["gwet_ac2"] == (None, Undefined.ONE_CATEGORY)
        # same-item pairs are like chance pairs: the level itself, and no lead
        assert coefficients["sigma"][0] == pytest.approx(0.05, abs=1e-12)
        assert coefficients["ks"] == (0.0, None)

    def test_one_rater(self):
        for name, (value, why) in self.values([[0], [1], [2]]).items():
            assert (value, why) == (None, Undefined.ONE_RATER), name

    def test_no_overlap(self):
        for name, (value, why) in self.values([[0, -1], [-1, 1], [2, -1]]).items():
            assert (value, why) == (None, Undefined.NO_OVERLAP), name

    def test_nothing_answered(self):
        for name, (value, why) in self.values(np.full((3, 2), -1)).items():
            assert (value, why) == (None, Undefined.ONE_RATER), name

    def test_one_item(self):
        coefficients = self.values([[0, 1]])
        assert coefficients["observed_agreement"] == (0.0, None)
        for name in coefficient_keys()[1:]:
            assert coefficients[name] == (None, Undefined.ONE_ITEM), name

    def test_alpha_of_a_single_shared_item_is_undefined(self):
        coefficients = self.values([[0, 1], [0, -1], [-1, 2]])
        assert coefficients["krippendorff_alpha"] == (None, Undefined.ONE_ITEM)

    def test_scott_of_three(self):
        assert self.values([[0, 0, 1], [1, 1, 0]])["scott_pi"] == (None, Undefined.MORE_THAN_TWO_RATERS)

    def test_one_disagreement_among_many_is_about_zero(self):
        """Krippendorff himself confirmed 0 (fast-krippendorff, issue 11)."""
        matrix = np.zeros((100, 2), dtype=int)
        matrix[0, 1] = 1
        assert self.values(matrix)["krippendorff_alpha"][0] == pytest.approx(0.0, abs=1e-12)

    def test_raters_of_one_shared_item_are_left_out_of_the_mean(self):
        matrix = np.array([[0, 0, -1], [1, 1, -1], [0, 1, -1], [1, 0, 0], [1, -1, -1]])
        of_two_raters = values(matrix[:, :2])
        assert values(matrix)["cohen_kappa"][0] == pytest.approx(of_two_raters["cohen_kappa"][0], **SAME)

    def test_no_rater_pair_has_a_kappa(self):
        coefficients = self.values([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
        assert coefficients["cohen_kappa"] == (None, Undefined.NO_PAIR_DEFINED)
        assert coefficients["krippendorff_alpha"][0] is not None

    @pytest.mark.parametrize(
        "rows",
        [
            [("1", "a", ()), ("1", "b", ()), ("2", "a", ()), ("2", "b", ())],
            [("1", "a", ("x",)), ("1", "b", ("x",))],
            [("1", "a", ("x",)), ("2", "a", ("y",))],
            [("1", "a", ("x",)), ("2", "b", ("y",))],
            [("1", "a", ("x",)), ("1", "b", ("x",)), ("2", "a", ("x",)), ("2", "b", ("x",))],
            [],
        ],
        ids=["all empty", "one item", "one rater", "no overlap", "one category", "nothing"],
    )
    @pytest.mark.parametrize("chance", ["exact", "permutation", "sample"])
    def test_reports(self, rows, chance):
        table = softirr.AnnotationTable.from_answers(rows)
        with np.errstate(all="raise"):
            report = softirr.agreement(table, "indel", chance=chance).to_dict()
        json.dumps(report, allow_nan=False)
        for coefficient in report["coefficients"].values():
            assert (coefficient["value"] is None) == bool(coefficient["undefined"])
            assert (coefficient["value"] is None) <= (coefficient["ci95"] is None)


class TestSigmaAndKs:
    """sigma and KS against their definitions, computed over all pairs."""

    @staticmethod
    def distances(matrix, weights):
        ratings = matrix_ratings(matrix)
        rows = ratings.comparable
        i, j = (rows[k] for k in np.triu_indices(len(rows), 1))
        s = on_grid(weights[ratings.answer[i], ratings.answer[j]])
        same_item = ratings.item[i] == ratings.item[j]
        return GRID - s[same_item], GRID - s[~same_item]

    @SETTINGS
    @given(tables())
    def test_ks_is_the_two_sample_statistic_over_all_pairs(self, table):
        from scipy.stats import ks_2samp

        ks = values(*table)["ks"][0]
        assume(ks is not None)
        observed, expected = self.distances(*table)
        peer = ks_2samp(observed, expected, alternative="greater", method="asymp").statistic
        assert ks == pytest.approx(max(peer, 0.0), abs=1e-12)

    @SETTINGS
    @given(tables())
    def test_sigma_is_the_probability_of_a_rank_below_the_level(self, table):
        """The rank of a same-item distance among the chance distances is uniform on its ties.

        Sigma is P(rank < 0.05).
        """
        sigma = values(*table)["sigma"][0]
        assume(sigma is not None)
        observed, expected = self.distances(*table)
        below = np.array([np.mean(expected < d) for d in observed])
        tied = np.array([np.mean(expected == d) for d in observed])
        certain = np.where(tied > 0, np.clip((0.05 - below) / np.where(tied > 0, tied, 1), 0, 1), below < 0.05)
        assert sigma == pytest.approx(float(certain.mean()), abs=1e-9)

    def test_at_chance(self):
        """Answers that have nothing to do with their items: sigma is the level, and KS near 0."""
        rng = np.random.default_rng(3)
        coefficients = values(rng.integers(0, 5, (400, 2)), similarity(5, 1))
        assert coefficients["sigma"][0] == pytest.approx(0.05, abs=0.04)
        assert coefficients["ks"][0] < 0.06

    def test_full_agreement_where_chance_never_agrees(self):
        matrix = np.repeat(np.arange(40)[:, None], 2, axis=1)
        coefficients = values(matrix)
        assert coefficients["sigma"][0] == pytest.approx(1.0, abs=1e-12)
        assert coefficients["ks"][0] == pytest.approx(1.0, abs=1e-12)
