"""Values that papers, manuals and other libraries have published, a class per source; data typed in from there."""

from __future__ import annotations

import json

import numpy as np
import pytest

import softirr
from softirr.chance.equivalence import MatrixEquivalence
from softirr.coefficients.braylan import Braylan2022
from softirr.coefficients.intervals import standard_error, wald
from softirr.coefficients.matrix import matrix_agreement
from softirr.tables.ratings import Ratings, item_means


def from_counts(table):
    """Ratings of two raters from their contingency table: rows are the first rater's categories."""
    return np.array([[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)])


def from_distribution(table):
    """Ratings from items × categories counts.

    Which rater gave which answer is not known, and does not matter to pooled coefficients.
    """
    return np.array([[k for k, count in enumerate(row) for _ in range(count)] for row in table])


def columns(rows):
    """Ratings from a list of raters' answers, None where missing."""
    return np.array([[-1 if value is None else value for value in rater] for rater in rows]).T


def recoded(matrix):
    """Category values to numbers from 0; the values in order of the numbers."""
    values = np.unique(matrix[matrix >= 0])
    codes = np.searchsorted(values, matrix)
    return np.where(matrix >= 0, codes, -1), values.astype(float)


def similarity(values, distance):
    """1 - distance / its maximum, for a distance between category values."""
    d = np.array([[distance(a, b) for b in values] for a in values])
    return 1 - d / d.max()


def plain_interval(estimate):
    """Student's t around the value, as most packages give it."""
    return wald(estimate.value, standard_error(estimate), df=len(estimate.influence) - 1)


def of(matrix, weights=None, **options):
    return matrix_agreement(matrix, weights, **options).summary.coefficients


def uniform_chance(found):
    """Bennett's S, Brennan and Prediger's kappa, Randolph's free-marginal kappa."""
    return found.summary.coefficients["brennan_prediger"].value


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
        found = of([[0, 0], [1, 3], [2, 4]])
        assert round(found["observed_agreement"].value, 2) == 0.33
        assert round(found["cohen_kappa"].expected, 2) == 0.11
        assert round(found["cohen_kappa"].value, 2) == 0.25

    def test_soft(self):
        found = self.ratings(self.SOFT).summary.coefficients
        assert round(found["observed_agreement"].value, 2) == 0.62
        assert round(found["cohen_kappa"].expected, 2) == 0.33
        assert round(found["cohen_kappa"].value, 2) == 0.43


class TestCohen1960:
    """Cohen (1960), A coefficient of agreement for nominal scales, p. 37 and p. 45."""

    PAGE_37 = ((25, 12, 3), (13, 2, 15), (12, 16, 2))
    PAGE_45 = ((88, 14, 18), (10, 40, 10), (2, 6, 12))

    def test_first_example(self):
        found = of(from_counts(self.PAGE_37))
        assert found["observed_agreement"].value == pytest.approx(0.29, abs=0.005)
        assert found["cohen_kappa"].expected == pytest.approx(0.35, abs=0.005)

    def test_second_example(self):
        found = of(from_counts(self.PAGE_45))
        assert found["observed_agreement"].value == pytest.approx(0.70, abs=0.005)
        assert found["cohen_kappa"].expected == pytest.approx(0.41, abs=0.005)
        assert found["cohen_kappa"].value == pytest.approx(0.492, abs=0.0005)

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
        found = of(matrix)
        assert found["observed_agreement"].value == pytest.approx(0.5556, abs=5e-5)
        assert found["fleiss_kappa"].expected == pytest.approx(0.2201, abs=2e-4)  # from rounded shares
        assert found["fleiss_kappa"].value == pytest.approx(0.4302445, abs=5e-8)  # R irr, kappam.fleiss

    def test_each_diagnosis_against_the_others(self, matrix):
        kappas = [of((matrix == k).astype(int))["fleiss_kappa"].value for k in range(5)]
        assert kappas == pytest.approx([0.248, 0.248, 0.517, 0.470, 0.565], abs=0.005)

    def test_each_patient(self, matrix):
        found = matrix_agreement(matrix)
        assert item_means(found.ratings, found.scores) == pytest.approx(
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
        found = matrix_agreement(from_distribution(self.TABLE))
        assert found.summary.coefficients["fleiss_kappa"].value == pytest.approx(0.20993070442195522, abs=1e-12)
        assert item_means(found.ratings, found.scores) == pytest.approx(self.ITEMS, abs=0.0005)


class TestRandolph:
    """Randolph, online kappa calculator (statsmodels, test_fleis_randolph): 2 items, 8 raters.

    And 14 answers in 2 categories.
    """

    @pytest.mark.parametrize(
        ("table", "fixed", "free"),
        [([[7, 1], [3, 5]], 0.161905, 0.214286), ([[6, 1, 0], [0, 7, 0]], 0.708333, None)],
    )
    def test_kappas(self, table, fixed, free):
        found = matrix_agreement(from_distribution(table))
        assert found.summary.coefficients["fleiss_kappa"].value == pytest.approx(fixed, abs=5e-7)
        if free is not None:  # the second table's free kappa counts a category that nobody used
            assert uniform_chance(found) == pytest.approx(free, abs=5e-7)

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


KRIPPENDORFF_2011 = columns(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
)


def ordinal(values, frequency):
    """Krippendorff's ordinal distance between ranks, from the pooled frequency of each value."""
    frequency = np.asarray(frequency, dtype=float)

    def distance(a, b):
        low, high = sorted((list(values).index(a), list(values).index(b)))
        return (frequency[low : high + 1].sum() - (frequency[low] + frequency[high]) / 2) ** 2

    return distance


class TestKrippendorff2011:
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    4 observers, 12 units (doctest of krippendorff).
    """

    @pytest.fixture
    def coded(self):
        return recoded(KRIPPENDORFF_2011)

    def alpha(self, coded, distance):
        return of(coded[0], similarity(coded[1], distance))["krippendorff_alpha"].value

    def test_nominal(self, coded):
        found = of(coded[0])["krippendorff_alpha"]
        assert found.value == pytest.approx(0.743421052632, abs=5e-13)
        assert 1 - found.expected == pytest.approx(0.779, abs=0.0005)  # Krippendorff 2004, p. 230

    def test_ordinal(self, coded):
        rows = coded[0][(coded[0] >= 0).sum(1) >= 2]
        frequency = np.bincount(rows[rows >= 0], minlength=len(coded[1]))
        assert self.alpha(coded, ordinal(coded[1], frequency)) == pytest.approx(0.8153875037548813, abs=1e-12)

    def test_interval(self, coded):
        assert self.alpha(coded, lambda a, b: (a - b) ** 2) == pytest.approx(0.8491071428571428, abs=1e-12)

    def test_ratio(self, coded):
        assert self.alpha(coded, lambda a, b: ((a - b) / (a + b)) ** 2) == pytest.approx(0.7974027747116127, abs=1e-12)


class TestKrippendorffWikipedia:
    """Wikipedia, Krippendorff's alpha, worked example: 3 coders, 15 units (doctest of krippendorff)."""

    DATA = columns(
        [
            [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
            [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
            [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
        ]
    )

    def test_nominal(self):
        coded, _ = recoded(self.DATA)
        assert of(coded)["krippendorff_alpha"].value == pytest.approx(0.691358024691358, abs=1e-12)

    def test_interval(self):
        coded, values = recoded(self.DATA)
        weights = similarity(values, lambda a, b: (a - b) ** 2)
        assert of(coded, weights)["krippendorff_alpha"].value == pytest.approx(0.8108448928121059, abs=1e-12)


class TestKrippendorffExamples:
    """Other examples of the krippendorff and nltk packages' documentation."""

    def test_strings(self):
        data = columns([[0, 1, 2, None], [0, 1, 2, 0], [0, 1, 0, 0]])  # pos, neg, neu
        assert of(data)["krippendorff_alpha"].value == pytest.approx(0.7222222222222222, abs=1e-12)

    def test_custom_absolute_distance(self):
        data, values = recoded(columns([[1, 2, 3], [1, 2, 4]]))
        weights = similarity(values, lambda a, b: abs(a - b))
        assert of(data, weights)["krippendorff_alpha"].value == pytest.approx(0.7619047619047619, abs=1e-12)

    def test_nltk_easy(self):
        data = columns([[1, 1, None], [0, 0, None], [0, None, 0]])  # coder1: YES YES; coder2: NO NO; coder3: NO, -, NO
        assert of(data)["krippendorff_alpha"].value == pytest.approx(-0.3333333, abs=5e-8)

    def test_nltk_masi(self):
        """masi_distance({1, 2}, {1, 2, 3, 4}) is 0.6667 with NLTK's corrected constants.

        Two empty texts are equivalent here.
        """
        masi = softirr.measure("masi")
        assert 1 - masi.score([("1 2", "1 2 3 4")])[0] == pytest.approx(2 / 3, abs=1e-12)
        assert masi.score([("", "")])[0] == 1.0


class TestKrippendorff1980:
    """Krippendorff (1980), Content Analysis, p. 133 and p. 139."""

    DICHOTOMY = columns([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [0, 1, 1, 0, 0, 1, 0, 1, 0, 0]])
    MULTI = np.array(
        [[1, 1, 1], [1, 2, 2], [2, 2, 2], [4, 4, 4], [1, 4, 4], [2, 2, 2], [1, 2, 3], [3, 3, 3], [2, 2, 2]]
    )

    def test_dichotomy(self):
        found = of(self.DICHOTOMY)
        assert 1 - found["observed_agreement"].value == pytest.approx(0.400, abs=0.0005)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.442, abs=0.0005)
        assert found["krippendorff_alpha"].value == pytest.approx(0.095, abs=0.0005)

    def test_three_coders(self):
        found = of(recoded(self.MULTI)[0])
        assert 1 - found["observed_agreement"].value == pytest.approx(0.259, abs=0.0005)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.724, abs=0.0005)
        assert found["krippendorff_alpha"].value == pytest.approx(0.642, abs=0.001)

    def test_three_coders_interval(self):
        coded, values = recoded(self.MULTI)
        weights = similarity(values, lambda a, b: (a - b) ** 2)
        assert of(coded, weights)["krippendorff_alpha"].value == pytest.approx(0.547, abs=0.0005)

    def test_three_coders_ratio(self):
        coded, values = recoded(self.MULTI)
        weights = similarity(values, lambda a, b: ((a - b) / (a + b)) ** 2)
        assert of(coded, weights)["krippendorff_alpha"].value == pytest.approx(0.483, abs=0.0005)


class TestKrippendorff2004:
    """Krippendorff (2004), Content Analysis, 2nd edition, p. 224, 227 and 246."""

    DICHOTOMY = columns([[1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 1, 0, 1, 0, 0]])
    LETTERS = columns([[0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2], [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]])
    EVEN = from_counts([[12, 9, 9], [9, 14, 9], [9, 9, 20]])
    UNEVEN = from_counts([[12, 18, 18], [0, 14, 18], [0, 0, 20]])

    def test_dichotomy(self):
        found = of(self.DICHOTOMY)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.442, abs=0.0005)
        assert found["krippendorff_alpha"].value == pytest.approx(0.095, abs=0.0005)

    def test_three_categories(self):
        found = of(self.LETTERS)
        assert 1 - found["observed_agreement"].value == pytest.approx(0.1667, abs=5e-5)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.6268, abs=5e-5)
        assert found["krippendorff_alpha"].value == pytest.approx(0.734, abs=0.0005)

    @pytest.mark.parametrize(("matrix", "kappa"), [(EVEN, 0.186), (UNEVEN, 0.258)])
    def test_other_coefficients(self, matrix, kappa):
        found = matrix_agreement(matrix)
        values = found.summary.coefficients
        assert values["observed_agreement"].value == pytest.approx(0.460, abs=0.0005)
        assert uniform_chance(found) == pytest.approx(0.190, abs=0.0005)
        assert values["scott_pi"].value == pytest.approx(0.186, abs=0.001)
        assert values["cohen_kappa"].value == pytest.approx(kappa, abs=0.001)


class TestHayesKrippendorff2007:
    """Hayes and Krippendorff (2007), Answering the call for a standard reliability measure, p. 84.

    5 observers, 40 units.
    """

    ROWS = (
        "112.2 1101. 2333. .00.0 000.0 000.0 102.1 1.20. 222.2 2111. .100. 0000. 1222. 33223 111.1 111.1 212.2 1233. 1101. "
        "000.0 0011. 00.00 2333. 0000. 12.22 0111. 00010 1212. 1122. 112.2 110.0 2121. 22.22 3222. 222.2 223.2 222.2 22.12 2222. 111.1"
    )

    def test_ordinal(self):
        coded = np.array([[-1 if c == "." else int(c) for c in row] for row in self.ROWS.split()])
        frequency = np.bincount(coded[coded >= 0])
        weights = similarity(range(4), ordinal(range(4), frequency))
        assert of(coded, weights)["krippendorff_alpha"].value == pytest.approx(0.7598, abs=5e-5)


class TestArtsteinPoesio2008:
    """Artstein and Poesio (2008), Inter-coder agreement for computational linguistics, p. 558 and p. 568."""

    FIRST = from_counts([[20, 10], [20, 50]])  # STAT, IReq
    SECOND = from_counts([[46, 0, 0], [6, 32, 6], [0, 0, 10]])  # STAT, IReq, Chck
    WEIGHTS = np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]])  # half a disagreement with Chck

    def test_first_example(self):
        found = matrix_agreement(self.FIRST)
        values = found.summary.coefficients
        assert values["observed_agreement"].value == pytest.approx(0.7, abs=1e-12)
        assert uniform_chance(found) == pytest.approx(0.4, abs=1e-12)
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
        found = self.raters()["krippendorff_alpha"]
        assert found.value == pytest.approx(0.743, abs=0.0005)
        # irrCAC leaves the factor (n - 1) / n of alpha's disagreement out of the standard error; n is 40 answers
        assert standard_error(found) * 40 / 39 == pytest.approx(0.146, abs=0.001)
        assert plain_interval(found) == pytest.approx((0.419, 1), abs=0.01)

    def test_fleiss(self):
        found = self.raters(marginals="gwet2014")["fleiss_kappa"]
        assert found.value == pytest.approx(0.76117, abs=5e-6)
        assert found.expected == pytest.approx(0.23872, abs=5e-6)
        assert standard_error(found) == pytest.approx(0.15302, abs=5e-6)
        assert plain_interval(found) == pytest.approx((0.42438, 1), abs=5e-6)

    def test_ac1(self):
        found = self.raters(marginals="gwet2014")["gwet_ac2"]
        assert found.value == pytest.approx(0.77544, abs=5e-6)
        assert found.expected == pytest.approx(0.19032, abs=5e-6)
        assert standard_error(found) == pytest.approx(0.14295, abs=5e-6)
        assert plain_interval(found) == pytest.approx((0.46081, 1), abs=5e-6)

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
        found = self.raters(lambda a, b: abs(a - b) * (abs(a - b) + 1) / 2)["krippendorff_alpha"]
        assert found.value == pytest.approx(0.834, abs=0.0005)

    def test_abstractors(self):
        found = of(self.ABSTRACTORS)
        cohen = found["cohen_kappa"]
        assert cohen.value == pytest.approx(0.796, abs=0.0005)
        assert plain_interval(cohen) == pytest.approx((0.680, 0.913), abs=0.002)
        assert found["scott_pi"].value == pytest.approx(0.796, abs=0.0005)
        assert standard_error(found["scott_pi"]) == pytest.approx(0.059, abs=0.0005)
        assert found["krippendorff_alpha"].value == pytest.approx(0.797, abs=0.0005)


class TestSetAnnotations:
    """DKPro Statistics, SetAnnotationsTest: two raters, nine items, sets of A, B, C."""

    PAIRS = (("", ""), ("A", ""), ("A", "A"), ("A", "B"), ("AB", "A"), ("AB", "AC"), ("ABC", "ABC"), ("C", "AC"), ("C", "AC"))  # fmt: skip

    def alpha(self, distance):
        sets = sorted({s for pair in self.PAIRS for s in pair})
        weights = np.array([[1 - distance(set(a), set(b)) for b in sets] for a in sets])
        return of([[sets.index(a), sets.index(b)] for a, b in self.PAIRS], weights)

    @staticmethod
    def nested(a, b):
        if a == b:
            return 0
        return 1 / 3 if a <= b or b <= a else 2 / 3 if a & b else 1

    def test_set_distance(self):
        found = self.alpha(self.nested)
        assert 1 - found["observed_agreement"].value == pytest.approx(0.333, abs=0.0005)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.409, abs=0.001)
        assert found["krippendorff_alpha"].value == pytest.approx(0.186, abs=0.0005)

    def test_masi_distance(self):
        """Theirs multiplies Jaccard distance by set distance.

        That of Wullschleger et al. 2026 multiplies similarities.
        """

        def masi(a, b):
            return (1 - len(a & b) / len(a | b)) * self.nested(a, b) if a | b else 0

        found = self.alpha(masi)
        assert 1 - found["observed_agreement"].value == pytest.approx(0.253, abs=0.0005)
        assert 1 - found["krippendorff_alpha"].expected == pytest.approx(0.338, abs=0.001)
        assert found["krippendorff_alpha"].value == pytest.approx(0.252, abs=0.001)

    def test_dice(self):
        """Mean Dice is the set equivalence under exact match.

        They count two empty sets as 0, we as 1: one item of nine.
        """
        answers = [softirr.Answer(str(i), r, tuple(s)) for i, pair in enumerate(self.PAIRS) for r, s in zip("ab", pair, strict=True)]  # fmt: skip
        found = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact")
        assert found.coefficients["observed_agreement"].value - 1 / 9 == pytest.approx(0.5, abs=1e-12)

    def test_answers_that_print_alike_are_not_merged(self):
        """DKPro, SetAnnotationCategoryConflationTest; here: one text "1 2", and the two texts "1" and "2"."""
        answers = [
            softirr.Answer(str(i), r, texts)
            for i in range(4)
            for r, texts in (("a", (f"{i} {i + 9}",)), ("b", (str(i), str(i + 9))))
        ]
        found = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact")
        assert found.coefficients["observed_agreement"].value == 0.0
        assert found.coefficients["krippendorff_alpha"].value <= 0


class TestBraylan2022:
    """Braylan, Alonso and Lease (2022), Measuring annotator agreement generally across complex structured, multi-object, and free-text
    annotation tasks; the notebook interannotator.ipynb of their package: five translations of each of six sentences, 1
    - GLEU as distance.

    The notebook prints three sentences cut short; these endings give its alpha to all digits.
    """

    SENTENCES = (
        "She was very kind to show the town.|She kindly showed me around the town.|She was very kind to show the town.|"
        "She was very kind for me to show the town.|She take me on the tour in town kindly.",
        "This is the book I was looking for.|This is the very book that I was looking for.|This is exactly the book I was looking for.|"
        "This is the book just I look for.|This is the book I was looking for ",
        "I don't want to see myself that being at a loss.|Because I do not want to see myself miserable.|"
        "I don't want to see myself lost.|Because I don't want to see myself being at a loss.|"
        "Because I do not want to see myself who was beaten.",
        "Luckily he got on the train just in time.|fortunately he was in time for the train.|Luckily, he was in time fo the train.|"
        "Fortunately he was in time for the train.|Fortunately he was in time for a train.",
        "I make it a rule to walk early morning.|I make it a rule to walk at early morning.|"
        "I make it a rule to take a walk early in the morning.|I always take a walk early in the morning.|"
        "It\u2019s my rule to walk around every early morning.",
        "He often goes to school late.|He is often late at school.|He often late for school.|He is often late for school.|"
        "He is often late for school.",
    )

    @pytest.fixture
    def distances(self):
        """Of the pairs of the same sentence, and of all pairs of different ones."""
        from nltk.translate.gleu_score import sentence_gleu

        texts = [text.split(" ") for row in self.SENTENCES for text in row.split("|")]
        # GLEU is not symmetric: as in the notebook, the earlier annotation is the reference
        pairs = [(i, j, 1 - sentence_gleu([texts[i]], texts[j])) for j in range(30) for i in range(j)]
        return [np.array([d for i, j, d in pairs if (i // 5 == j // 5) == same]) for same in (True, False)]

    def test_pairs(self, distances):
        assert [len(d) for d in distances] == [60, 375]

    def test_as_their_code(self, distances):
        found = Braylan2022(*distances)
        assert found.alpha() == pytest.approx(0.3720402, abs=5e-8)
        assert found.ks() == pytest.approx(0.918, abs=5e-4)
        assert found.sigma() == pytest.approx(0.95, abs=1e-12)
        assert found.sigma(kde=False) == pytest.approx(0.95, abs=1e-12)

    def test_ours_over_all_pairs(self, distances):
        """KS is the same; sigma shares the ties out that theirs counts as disagreement."""
        raters = np.arange(30).reshape(6, 5)
        weights = np.eye(30)
        j, i = np.tril_indices(30, -1)
        same = i // 5 == j // 5
        values = np.empty(len(i))
        values[same], values[~same] = 1 - distances[0], 1 - distances[1]
        weights[i, j] = weights[j, i] = values
        found = of(raters, weights)
        assert found["ks"].value == pytest.approx(0.918, abs=5e-4)
        assert found["sigma"].value == pytest.approx(0.95, abs=0.01)

    def test_drawn_pairs_are_of_different_items_and_at_most_as_many_as_there_are(self):
        """Ten pairs of one item, but only five of different ones; the distance is 1 - equivalence."""
        ratings = Ratings.from_matrix(np.array([[0, 0, 0, 1, 1], [2, -1, -1, -1, -1]]))
        similarity = np.array([[1, 0.5, 0.25], [0.5, 1, 0.25], [0.25, 0.25, 1]])
        left, right = ratings.answer[ratings.comparisons.left], ratings.answer[ratings.comparisons.right]
        result = Braylan2022.of(ratings, MatrixEquivalence(similarity), similarity[left, right])
        assert result.expected.tolist() == [0.75] * 5
        assert sorted(result.observed.tolist()) == [0.0] * 4 + [0.5] * 6


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
