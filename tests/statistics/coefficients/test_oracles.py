"""Every library that computes a part of softirr's coefficients, on the same random tables: equal to 1e-10.

Categories have a random symmetric similarity S with ones on its diagonal, which the peers take as weights (or 1 - S as
distances); the identity is the classical case.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from softirr.statistics.coefficients.matrix import matrix_agreement
from tests.statistics.chance.direct import similarity
from tests.statistics.coefficients.linear import linear_error

SETTINGS = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SAME = {"abs": 1e-10, "rel": 0}


@st.composite
def tables(draw, raters=(2, 4), missing=False, soft=True):
    """An items × raters matrix of category numbers, every category in use, and a similarity."""
    n_raters = draw(st.integers(*raters))
    shape = (draw(st.integers(3, 12)), n_raters)
    matrix = draw(hnp.arrays(np.int64, shape, elements=st.integers(-1 if missing else 0, 4)))
    answered = matrix[(matrix >= 0).sum(axis=1) >= 2]
    assume(len(answered) >= 2)
    categories = np.unique(answered[answered >= 0])
    assume(len(categories) >= 2)
    # answers that meet no other count for nothing; the peers differ in whether their categories exist, so there are
    # none
    coded = np.where(answered >= 0, np.searchsorted(categories, answered), -1)
    return coded, similarity(len(categories), draw(st.integers(0, 2**32 - 1))) if soft else np.eye(len(categories))


def of(table, **options):
    return matrix_agreement(*table, **options).estimates


def value(estimate):
    assume(estimate.value is not None)
    return estimate.value


def nltk_task(matrix, weights):
    from nltk.metrics.agreement import AnnotationTask

    data = [
        (f"rater {rater}", f"item {item}", int(answer))
        for item, row in enumerate(matrix)
        for rater, answer in enumerate(row)
        if answer >= 0
    ]
    return AnnotationTask(data=data, distance=lambda a, b: 1 - weights[a, b])


class TestKrippendorff:
    """fast-krippendorff 0.8."""

    @staticmethod
    def alpha(matrix, weights):
        import krippendorff

        def distance(v1, v2, i1, i2, n_v, dtype=np.float64):
            return (1 - weights[v1.astype(int), v2.astype(int)]).astype(dtype)

        data = np.where(matrix >= 0, matrix, np.nan).astype(float).T
        return krippendorff.alpha(
            data, level_of_measurement=distance, value_domain=np.arange(len(weights), dtype=float)
        )

    @SETTINGS
    @given(tables(missing=True))
    def test_soft(self, table):
        assert value(of(table)["krippendorff_alpha"]) == pytest.approx(self.alpha(*table), **SAME)


class TestNltk:
    """NLTK's AnnotationTask."""

    @SETTINGS
    @given(tables(missing=True))
    def test_alpha(self, table):
        assert value(of(table)["krippendorff_alpha"]) == pytest.approx(nltk_task(*table).alpha(), **SAME)

    @SETTINGS
    @given(tables(raters=(2, 2)))
    def test_cohen_of_two(self, table):
        expected = nltk_task(*table).weighted_kappa(max_distance=1.0)
        assert value(of(table)["cohen_kappa"]) == pytest.approx(expected, **SAME)

    @SETTINGS
    @given(tables(raters=(3, 4)))
    def test_cohen_is_the_mean_over_rater_pairs(self, table):
        agreement = matrix_agreement(*table)
        assume(all(kappa.value is not None for _, kappa, _ in agreement.rater_pairs))
        expected = nltk_task(*table).weighted_kappa(max_distance=1.0)
        assert value(agreement.estimates["cohen_kappa"]) == pytest.approx(expected, **SAME)

    @SETTINGS
    @given(tables(raters=(2, 4), soft=False))
    def test_observed_and_pi(self, table):
        task = nltk_task(*table)
        coefficients = of(table)
        assert coefficients["observed_agreement"].value == pytest.approx(task.avg_Ao(), **SAME)
        # NLTK calls Fleiss' generalisation multi-pi (Siegel and Castellan)
        assert value(coefficients["fleiss_kappa"]) == pytest.approx(task.pi(), **SAME)


class TestStatsmodels:
    """statsmodels.stats.inter_rater."""

    @SETTINGS
    @given(tables(raters=(2, 2)))
    def test_weighted_cohen_and_its_standard_error(self, table):
        from statsmodels.stats.inter_rater import cohens_kappa

        matrix, weights = table
        counts = np.zeros((len(weights), len(weights)))
        np.add.at(counts, (matrix[:, 0], matrix[:, 1]), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = cohens_kappa(counts, weights=1 - weights, return_results=True)
        kappa = of(table)["cohen_kappa"]
        assert value(kappa) == pytest.approx(peer.kappa, **SAME)
        n = len(matrix)
        # theirs divides by n, ours by n - 1
        variance = linear_error("cohen_kappa", *table) ** 2 * (n - 1) / n
        assert variance == pytest.approx(max(peer.var_kappa, 0.0), abs=1e-7)

    @SETTINGS
    @given(tables(raters=(2, 4), soft=False))
    def test_fleiss(self, table):
        from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

        counts, _ = aggregate_raters(table[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = fleiss_kappa(counts)
        assert value(of(table)["fleiss_kappa"]) == pytest.approx(expected, **SAME)


class TestScikitLearn:
    """sklearn.metrics.cohen_kappa_score: identity, linear and quadratic weights."""

    @SETTINGS
    @given(tables(raters=(2, 2), soft=False), st.sampled_from([None, "linear", "quadratic"]))
    def test_cohen(self, table, kind):
        from sklearn.metrics import cohen_kappa_score

        matrix, weights = table
        size = len(weights)
        if kind is not None:
            apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)
            weights = 1 - apart ** (1 if kind == "linear" else 2)
        expected = cohen_kappa_score(matrix[:, 0], matrix[:, 1], weights=kind, labels=range(size))
        assert value(of((matrix, weights))["cohen_kappa"]) == pytest.approx(expected, **SAME)


class TestIrrCac:
    """irrCAC, the Python port of Gwet's package.

    Values, expected agreement and standard errors, with missing answers.
    """

    @staticmethod
    def peer(table, name):
        irrcac = pytest.importorskip("irrCAC.raw")
        import pandas

        matrix, weights = table
        ratings = pandas.DataFrame(np.where(matrix >= 0, matrix, np.nan))
        analysis = irrcac.CAC(ratings, weights=weights, categories=list(range(len(weights))), digits=14)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return getattr(analysis, name)()["est"]

    @pytest.mark.parametrize(
        ("key", "name", "compared", "raters", "missing"),
        [
            ("fleiss_kappa", "fleiss", "value expected error", 4, True),
            ("scott_pi", "fleiss", "value", 2, True),
            ("gwet_ac2", "gwet", "value expected error", 4, True),
            ("brennan_prediger", "bp", "value expected error", 4, True),
            ("cohen_kappa", "conger", "value error", 2, False),
            ("krippendorff_alpha", "krippendorff", "value", 4, True),
        ],
    )
    @SETTINGS
    @given(st.data())
    def test_coefficient(self, key, name, compared, raters, missing, data):
        table = data.draw(tables(raters=(2, raters), missing=missing))
        estimate = of(table, marginals="gwet2014")[key]
        value(estimate)
        peer = self.peer(table, name)
        assert estimate.value == pytest.approx(peer["coefficient_value"], **SAME)
        if "expected" in compared:
            assert estimate.expected == pytest.approx(peer["pe"], **SAME)
        # Gwet's error counts items with a single answer in another way
        if "error" in compared and (table[0] >= 0).all():
            assert linear_error(key, *table, marginals="gwet2014") == pytest.approx(peer["se"], abs=1e-5)
