"""Krippendorff's alpha as papers, manuals and other libraries have published it, a class per source."""

from __future__ import annotations

import numpy as np
import pytest

import softirr
from softirr.coefficients.matrix import matrix_agreement
from tests.coefficients.published import (
    KRIPPENDORFF_2011,
    columns,
    from_counts,
    of,
    ordinal,
    recoded,
    similarity,
    uniform_chance,
)


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
        alpha = of(coded[0])["krippendorff_alpha"]
        assert alpha.value == pytest.approx(0.743421052632, abs=5e-13)
        assert 1 - alpha.expected == pytest.approx(0.779, abs=0.0005)  # Krippendorff 2004, p. 230

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
        coefficients = of(self.DICHOTOMY)
        assert 1 - coefficients["observed_agreement"].value == pytest.approx(0.400, abs=0.0005)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.442, abs=0.0005)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.095, abs=0.0005)

    def test_three_coders(self):
        coefficients = of(recoded(self.MULTI)[0])
        assert 1 - coefficients["observed_agreement"].value == pytest.approx(0.259, abs=0.0005)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.724, abs=0.0005)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.642, abs=0.001)

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
        coefficients = of(self.DICHOTOMY)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.442, abs=0.0005)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.095, abs=0.0005)

    def test_three_categories(self):
        coefficients = of(self.LETTERS)
        assert 1 - coefficients["observed_agreement"].value == pytest.approx(0.1667, abs=5e-5)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.6268, abs=5e-5)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.734, abs=0.0005)

    @pytest.mark.parametrize(("matrix", "kappa"), [(EVEN, 0.186), (UNEVEN, 0.258)])
    def test_other_coefficients(self, matrix, kappa):
        report = matrix_agreement(matrix)
        values = report.summary.coefficients
        assert values["observed_agreement"].value == pytest.approx(0.460, abs=0.0005)
        assert uniform_chance(report) == pytest.approx(0.190, abs=0.0005)
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
