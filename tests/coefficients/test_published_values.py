"""Values that papers, manuals and other libraries have published, a class per source; data typed in from there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softirr.coefficients.intervals import standard_error
from softirr.coefficients.matrix import matrix_agreement
from softirr.tables.ratings import item_means
from tests.coefficients.published import (
    KRIPPENDORFF_2011,
    from_counts,
    from_distribution,
    of,
    plain_interval,
    recoded,
    similarity,
    uniform_chance,
)


class TestPaperFigure:
    """Wullschleger et al. 2026, figure "Toy example highlighting the difference between traditional and soft IRR"."""

    SOFT = np.array([[1.00, 0.18, 0.10], [0.55, 0.13, 0.08], [0.12, 0.07, 0.72]])

    def ratings(self, block):
        """Texts: Fatigue (both raters), Weakness, Nausea, Dry eyes, Vomiting."""
        weights = np.eye(5)
        for i, a in enumerate((0, 1, 2)):
            for j, b in enumerate((0, 3, 4)):
                if a != b:
                    weights[a, b] = weights[b, a] = block[i, j]
        return matrix_agreement([[0, 0], [1, 3], [2, 4]], weights)

    def test_traditional(self):
        coefficients = of([[0, 0], [1, 3], [2, 4]])
        assert round(coefficients["observed_agreement"].value, 2) == 0.33
        assert round(coefficients["cohen_kappa"].expected, 2) == 0.11
        assert round(coefficients["cohen_kappa"].value, 2) == 0.25

    def test_soft(self):
        coefficients = self.ratings(self.SOFT).summary.coefficients
        assert round(coefficients["observed_agreement"].value, 2) == 0.62
        assert round(coefficients["cohen_kappa"].expected, 2) == 0.33
        assert round(coefficients["cohen_kappa"].value, 2) == 0.43


class TestCohen1960:
    """Cohen (1960), A coefficient of agreement for nominal scales, p. 37 and p. 45."""

    PAGE_37 = ((25, 12, 3), (13, 2, 15), (12, 16, 2))
    PAGE_45 = ((88, 14, 18), (10, 40, 10), (2, 6, 12))

    def test_first_example(self):
        coefficients = of(from_counts(self.PAGE_37))
        assert coefficients["observed_agreement"].value == pytest.approx(0.29, abs=0.005)
        assert coefficients["cohen_kappa"].expected == pytest.approx(0.35, abs=0.005)

    def test_second_example(self):
        coefficients = of(from_counts(self.PAGE_45))
        assert coefficients["observed_agreement"].value == pytest.approx(0.70, abs=0.005)
        assert coefficients["cohen_kappa"].expected == pytest.approx(0.41, abs=0.005)
        assert coefficients["cohen_kappa"].value == pytest.approx(0.492, abs=0.0005)

    def test_largest_kappa_of_the_margins(self):
        table = np.array(self.PAGE_45)
        expected = of(from_counts(table))["cohen_kappa"].expected
        largest = np.minimum(table.sum(0), table.sum(1)).sum() / table.sum()
        assert (largest - expected) / (1 - expected) == pytest.approx(0.831, abs=0.0005)


class TestFleiss1971:
    """Fleiss (1971), Measuring nominal scale agreement among many raters, p. 379.

    30 patients, 6 psychiatrists, 5 diagnoses.
    """

    ROWS = (
        "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
        "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
    )
    ITEMS = "1 .4 .4 1 .4 .467 .467 .267 .467 1 .667 .4 .4 .667 .267 .667 .267 .667 .467 .267 1 .667 .267 .467 .4 .667 .467 .467 .667 1"

    @pytest.fixture
    def matrix(self):
        return np.array([[int(digit) - 1 for digit in row] for row in self.ROWS.split()])

    def test_kappa(self, matrix):
        coefficients = of(matrix)
        assert coefficients["observed_agreement"].value == pytest.approx(0.5556, abs=5e-5)
        assert coefficients["fleiss_kappa"].expected == pytest.approx(0.2201, abs=2e-4)  # from rounded shares
        assert coefficients["fleiss_kappa"].value == pytest.approx(0.4302445, abs=5e-8)  # R irr, kappam.fleiss

    def test_each_diagnosis_against_the_others(self, matrix):
        kappas = [of((matrix == k).astype(int))["fleiss_kappa"].value for k in range(5)]
        assert kappas == pytest.approx([0.248, 0.248, 0.517, 0.470, 0.565], abs=0.005)

    def test_each_patient(self, matrix):
        report = matrix_agreement(matrix)
        assert item_means(report.ratings, report.scores) == pytest.approx(
            [float(x) for x in self.ITEMS.split()], abs=0.0005
        )


class TestFleissWikipedia:
    """Wikipedia, Fleiss' kappa, worked example: 10 items, 14 raters, 5 categories (statsmodels, table1)."""

    TABLE = (
        (0, 0, 0, 0, 14),
        (0, 2, 6, 4, 2),
        (0, 0, 3, 5, 6),
        (0, 3, 9, 2, 0),
        (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0),
        (3, 2, 6, 3, 0),
        (2, 5, 3, 2, 2),
        (6, 5, 2, 1, 0),
        (0, 2, 2, 3, 7),
    )
    ITEMS = (1.000, 0.253, 0.308, 0.440, 0.330, 0.462, 0.242, 0.176, 0.286, 0.286)

    def test_kappa(self):
        report = matrix_agreement(from_distribution(self.TABLE))
        assert report.summary.coefficients["fleiss_kappa"].value == pytest.approx(0.20993070442195522, abs=1e-12)
        assert item_means(report.ratings, report.scores) == pytest.approx(self.ITEMS, abs=0.0005)


class TestRandolph:
    """Randolph, online kappa calculator (statsmodels, test_fleis_randolph): 2 items, 8 raters.

    And 14 answers in 2 categories.
    """

    @pytest.mark.parametrize(
        ("table", "fixed", "free"),
        [([[7, 1], [3, 5]], 0.161905, 0.214286), ([[6, 1, 0], [0, 7, 0]], 0.708333, None)],
    )
    def test_kappas(self, table, fixed, free):
        report = matrix_agreement(from_distribution(table))
        assert report.summary.coefficients["fleiss_kappa"].value == pytest.approx(fixed, abs=5e-7)
        if free is not None:  # the second table's free kappa counts a category that nobody used
            assert uniform_chance(report) == pytest.approx(free, abs=5e-7)

    def test_full_agreement(self):
        assert of(from_distribution([[7, 0], [0, 7]]))["fleiss_kappa"].value == pytest.approx(1.0, abs=1e-12)


class TestSas:
    """SAS/STAT, PROC FREQ, kappa example (statsmodels, table10). Its standard errors divide by n, ours by n - 1."""

    MATRIX = from_counts([[0, 4, 1], [0, 8, 0], [0, 1, 5]])

    def large_sample_error(self, estimate):
        n = len(self.MATRIX)
        return standard_error(estimate) * np.sqrt((n - 1) / n)

    def test_simple(self):
        kappa = of(self.MATRIX)["cohen_kappa"]
        error = self.large_sample_error(kappa)
        assert kappa.value == pytest.approx(0.4842, abs=5e-5)
        assert kappa.value == pytest.approx(0.48416289592760176, abs=1e-12)
        assert error == pytest.approx(0.1380, abs=5e-5)
        assert (kappa.value - 1.959964 * error, kappa.value + 1.959964 * error) == pytest.approx(
            (0.2137, 0.7547), abs=5e-5
        )

    def test_weighted(self):
        kappa = of(self.MATRIX, similarity(range(3), lambda a, b: abs(a - b)))["cohen_kappa"]
        error = self.large_sample_error(kappa)
        assert kappa.value == pytest.approx(0.4701195219123505, abs=1e-12)
        assert error == pytest.approx(0.1457, abs=5e-5)
        assert (kappa.value - 1.959964 * error, kappa.value + 1.959964 * error) == pytest.approx(
            (0.1845, 0.7558), abs=5e-5
        )


class TestAnxiety:
    """R irr, data set anxiety, kappa2 of raters 2 and 3 (statsmodels, test_cohens_kappa_irr)."""

    ANSWERS = "32 61 44 64 23 42 21 46 31 31 21 32 33 33 21 21 13 33 32 42"

    @pytest.fixture
    def coded(self):
        return recoded(np.array([[int(a), int(b)] for a, b in self.ANSWERS.split()]))

    def test_unweighted(self, coded):
        assert of(coded[0])["cohen_kappa"].value == pytest.approx(-0.006289308, abs=5e-10)

    def test_equal_weights(self, coded):
        weights = similarity(range(len(coded[1])), lambda a, b: abs(a - b))
        assert of(coded[0], weights)["cohen_kappa"].value == pytest.approx(0.1459075, abs=5e-8)

    def test_squared_weights(self, coded):
        weights = similarity(range(len(coded[1])), lambda a, b: (a - b) ** 2)
        assert of(coded[0], weights)["cohen_kappa"].value == pytest.approx(0.2520325, abs=5e-8)


class TestArtsteinPoesio2008:
    """Artstein and Poesio (2008), Inter-coder agreement for computational linguistics, p. 558 and p. 568."""

    FIRST = from_counts([[20, 10], [20, 50]])  # STAT, IReq
    SECOND = from_counts([[46, 0, 0], [6, 32, 6], [0, 0, 10]])  # STAT, IReq, Chck
    WEIGHTS = np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]])  # half a disagreement with Chck

    def test_first_example(self):
        report = matrix_agreement(self.FIRST)
        values = report.summary.coefficients
        assert values["observed_agreement"].value == pytest.approx(0.7, abs=1e-12)
        assert uniform_chance(report) == pytest.approx(0.4, abs=1e-12)
        assert values["scott_pi"].expected == pytest.approx(0.545, abs=1e-12)
        assert values["scott_pi"].value == pytest.approx(0.341, abs=0.0005)
        assert values["cohen_kappa"].expected == pytest.approx(0.54, abs=1e-12)
        assert values["cohen_kappa"].value == pytest.approx(0.348, abs=0.0005)

    def test_second_example(self):
        values = of(self.SECOND)
        assert values["observed_agreement"].value == pytest.approx(0.88, abs=1e-12)
        assert values["scott_pi"].expected == pytest.approx(0.4014, abs=5e-5)
        assert values["scott_pi"].value == pytest.approx(0.7995, abs=5e-5)
        assert values["cohen_kappa"].expected == pytest.approx(0.396, abs=0.0005)
        assert values["cohen_kappa"].value == pytest.approx(0.8013, abs=5e-5)
        assert 1 - values["krippendorff_alpha"].expected == pytest.approx(0.601, abs=0.001)
        assert values["krippendorff_alpha"].value == pytest.approx(0.800, abs=0.001)

    def test_weighted(self):
        """The canonical soft fixture."""
        values = of(self.SECOND, self.WEIGHTS)
        assert 1 - values["observed_agreement"].value == pytest.approx(0.090, abs=1e-12)
        assert 1 - values["krippendorff_alpha"].expected == pytest.approx(0.4879, abs=5e-5)
        assert values["krippendorff_alpha"].value == pytest.approx(0.8156, abs=6e-5)
        assert 1 - values["cohen_kappa"].expected == pytest.approx(0.490, abs=0.0005)
        assert values["cohen_kappa"].value == pytest.approx(0.8163, abs=5e-5)


class TestGwet2014:
    """Gwet (2014), Handbook of inter-rater reliability: data sets and results as irrCAC documents them."""

    ABSTRACTORS = from_counts([[13, 0, 0], [0, 20, 7], [0, 4, 56]])

    def raters(self, weights=None, **options):
        coded, values = recoded(KRIPPENDORFF_2011)
        if weights is not None:
            weights = similarity(values, weights)
        return of(coded, weights, **options)

    def test_alpha(self):
        alpha = self.raters()["krippendorff_alpha"]
        assert alpha.value == pytest.approx(0.743, abs=0.0005)
        # irrCAC leaves the factor (n - 1) / n of alpha's disagreement out of the standard error; n is 40 answers
        assert standard_error(alpha) * 40 / 39 == pytest.approx(0.146, abs=0.001)
        assert plain_interval(alpha) == pytest.approx((0.419, 1), abs=0.01)

    def test_fleiss(self):
        kappa = self.raters(marginals="gwet2014")["fleiss_kappa"]
        assert kappa.value == pytest.approx(0.76117, abs=5e-6)
        assert kappa.expected == pytest.approx(0.23872, abs=5e-6)
        assert standard_error(kappa) == pytest.approx(0.15302, abs=5e-6)
        assert plain_interval(kappa) == pytest.approx((0.42438, 1), abs=5e-6)

    def test_ac1(self):
        ac1 = self.raters(marginals="gwet2014")["gwet_ac2"]
        assert ac1.value == pytest.approx(0.77544, abs=5e-6)
        assert ac1.expected == pytest.approx(0.19032, abs=5e-6)
        assert standard_error(ac1) == pytest.approx(0.14295, abs=5e-6)
        assert plain_interval(ac1) == pytest.approx((0.46081, 1), abs=5e-6)

    def test_fleiss_pooled_over_answers_differs(self):
        assert self.raters()["fleiss_kappa"].value == pytest.approx(0.76077, abs=5e-6)

    def test_conger(self):
        """Conger's kappa shares Fleiss' observed agreement.

        Chance is the mean over rater pairs of all their answers' marginals.
        """
        coded, values = recoded(KRIPPENDORFF_2011)
        coded[11, [1, 2]] = coded[11, [2, 1]]  # with Gwet the third rater gave the last answer
        shares = np.array([np.bincount(r[r >= 0], minlength=len(values)) / (r >= 0).sum() for r in coded.T])
        expected = np.mean([shares[i] @ shares[j] for i in range(4) for j in range(i)])
        observed = of(coded)["observed_agreement"].value
        assert (observed - expected) / (1 - expected) == pytest.approx(0.763, abs=0.0005)

    def test_brennan_prediger(self):
        coded, _ = recoded(KRIPPENDORFF_2011)
        assert uniform_chance(matrix_agreement(coded)) == pytest.approx(0.773, abs=0.0005)

    def test_quadratic_alpha(self):
        assert self.raters(lambda a, b: (a - b) ** 2)["krippendorff_alpha"].value == pytest.approx(0.849, abs=0.0005)

    def test_ordinal_alpha(self):
        """Gwet's ordinal weights: 1 - C(|k - l| + 1, 2) / C(q, 2)."""
        alpha = self.raters(lambda a, b: abs(a - b) * (abs(a - b) + 1) / 2)["krippendorff_alpha"]
        assert alpha.value == pytest.approx(0.834, abs=0.0005)

    def test_abstractors(self):
        coefficients = of(self.ABSTRACTORS)
        cohen = coefficients["cohen_kappa"]
        assert cohen.value == pytest.approx(0.796, abs=0.0005)
        assert plain_interval(cohen) == pytest.approx((0.680, 0.913), abs=0.002)
        assert coefficients["scott_pi"].value == pytest.approx(0.796, abs=0.0005)
        assert standard_error(coefficients["scott_pi"]) == pytest.approx(0.059, abs=0.0005)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.797, abs=0.0005)


class TestKnownValuesFile:
    """The file of known values that stands beside the project: nothing in it is left out above."""

    COVERED = (
        "fleiss_wikipedia",
        "fleiss_1971_diagnoses",
        "cohen_sas",
        "cohen_sas_linear",
        "cohen_anxiety_r2_r3_unweighted",
        "krippendorff_2011_nominal",
        "krippendorff_2011_ordinal",
        "krippendorff_2011_interval",
        "krippendorff_2011_ratio",
        "krippendorff_wikipedia_nominal",
        "krippendorff_wikipedia_interval",
        "nltk_easy",
        "krippendorff_strings",
        "custom_absolute_distance",
    )

    def test_all_are_covered(self, shared_data):
        assert set(json.loads((shared_data / "known_irr_values.json").read_text())) == set(self.COVERED)
