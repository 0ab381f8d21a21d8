"""Values that papers, manuals and other libraries have published."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.answers.ratings import item_means
from softirr.statistics.coefficients.matrix import matrix_agreement
from tests.statistics.coefficients.linear import linear_error, linear_interval
from tests.statistics.coefficients.published import DISTANCES, PUBLISHED, RATINGS, Published, similarity


def of(matrix, weights=None, **options):
    return matrix_agreement(matrix, weights, **options).estimates


READ = {
    "": lambda estimate: estimate.value,
    "disagreement": lambda estimate: 1 - estimate.value,
    "expected": lambda estimate: estimate.expected,
    "by chance": lambda estimate: 1 - estimate.expected,
}
ERRORS = {
    "error": linear_error,
    "low": lambda *of: linear_interval(*of)[0],
    "high": lambda *of: linear_interval(*of)[1],
}


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda source_values: source_values.source)
def test_values_of_a_source(published: Published):
    coefficients = of(published.matrix, published.weights, **published.options)
    marginals = published.options.get("marginals", "answers")
    for name, what, number, within in published.values:
        if what in READ:
            computed = READ[what](coefficients[name])
        elif marginals == "gwet2014" and (published.matrix < 0).any():
            continue  # Gwet's error counts items with a single answer in another way
        else:
            computed = ERRORS[what](name, published.matrix, published.weights, marginals)
        assert computed == pytest.approx(number, abs=within), (name, what)


def test_the_largest_kappa_of_the_margins_of_cohen_1960():
    ratings = RATINGS["Cohen 1960"]
    expected = of(ratings)["cohen_kappa"].expected
    largest = np.minimum(*(np.bincount(rater) for rater in ratings.T)).sum() / len(ratings)
    assert (largest - expected) / (1 - expected) == pytest.approx(0.831, abs=0.0005)


def test_each_diagnosis_of_fleiss_1971_against_the_others():
    kappas = [of((RATINGS["Fleiss 1971"] == k).astype(int))["fleiss_kappa"].value for k in range(1, 6)]
    assert kappas == pytest.approx([0.248, 0.248, 0.517, 0.470, 0.565], abs=0.005)


@pytest.mark.parametrize(
    ("source", "items"),
    [
        (
            "Fleiss 1971",
            "1 .4 .4 1 .4 .467 .467 .267 .467 1 .667 .4 .4 .667 .267 "
            ".667 .267 .667 .467 .267 1 .667 .267 .467 .4 .667 .467 .467 .667 1",
        ),
        ("Fleiss, Wikipedia", "1.000 0.253 0.308 0.440 0.330 0.462 0.242 0.176 0.286 0.286"),
    ],
)
def test_each_item_of_fleiss(source, items):
    report = matrix_agreement(RATINGS[source])
    assert item_means(report.ratings, report.scores) == pytest.approx([float(x) for x in items.split()], abs=0.0005)


@pytest.mark.parametrize(
    ("weights", "error", "interval"),
    [(None, 0.1380, (0.2137, 0.7547)), (similarity(range(3), DISTANCES["linear"]), 0.1457, (0.1845, 0.7558))],
)
def test_the_standard_error_of_sas_divides_by_n_and_not_by_n_minus_1(weights, error, interval):
    n, kappa = len(RATINGS["SAS"]), of(RATINGS["SAS"], weights)["cohen_kappa"]
    computed_error = linear_error("cohen_kappa", RATINGS["SAS"], weights) * np.sqrt((n - 1) / n)
    assert computed_error == pytest.approx(error, abs=5e-5)
    assert (kappa.value - 1.959964 * computed_error, kappa.value + 1.959964 * computed_error) == pytest.approx(
        interval, abs=5e-5
    )


def test_the_standard_error_of_alpha_of_gwet_2014():
    """The factor (n - 1) / n of alpha's disagreement is missing in irrCAC; n is 40 answers."""
    alpha = "krippendorff_alpha", RATINGS["Krippendorff 2011"]
    assert linear_error(*alpha) * 40 / 39 == pytest.approx(0.146, abs=0.001)
    assert linear_interval(*alpha) == pytest.approx((0.419, 1), abs=0.01)


def test_conger_of_gwet_2014():
    """Conger's kappa shares Fleiss' observed agreement.

    Chance is the mean over rater pairs of all their answers' marginals.
    """
    coded = RATINGS["Krippendorff 2011"].copy()
    coded[11, [1, 2]] = coded[11, [2, 1]]  # with Gwet the third rater gave the last answer
    shares = np.array([np.bincount(r[r >= 0], minlength=6) / (r >= 0).sum() for r in coded.T])
    expected = np.mean([shares[i] @ shares[j] for i in range(4) for j in range(i)])
    observed = of(coded)["observed_agreement"].value
    assert (observed - expected) / (1 - expected) == pytest.approx(0.763, abs=0.0005)


def test_masi_distance_of_nltk():
    """masi_distance({1, 2}, {1, 2, 3, 4}) is 0.6667 with NLTK's corrected constants; empty texts are equal here."""
    masi = softirr.measure("masi")
    assert 1 - masi.score([("1 2", "1 2 3 4")])[0] == pytest.approx(2 / 3, abs=1e-12)
    assert masi.score([("", "")])[0] == 1.0


class TestKnownValuesFile:
    """The shared file of known values: the tests above cover all of it."""

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


class TestSetAnnotations:
    """DKPro Statistics, SetAnnotationsTest: two raters, nine items, sets of A, B, C."""

    PAIRS = (
        ("", ""), ("A", ""), ("A", "A"), ("A", "B"), ("AB", "A"), ("AB", "AC"), ("ABC", "ABC"), ("C", "AC"),
        ("C", "AC"),
    )  # fmt: skip

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
        coefficients = self.alpha(self.nested)
        assert 1 - coefficients["observed_agreement"].value == pytest.approx(0.333, abs=0.0005)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.409, abs=0.001)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.186, abs=0.0005)

    def test_masi_distance(self):
        """Theirs multiplies Jaccard distance by set distance.

        That of Wullschleger et al. 2026 multiplies similarities.
        """

        def masi(a, b):
            return (1 - len(a & b) / len(a | b)) * self.nested(a, b) if a | b else 0

        coefficients = self.alpha(masi)
        assert 1 - coefficients["observed_agreement"].value == pytest.approx(0.253, abs=0.0005)
        assert 1 - coefficients["krippendorff_alpha"].expected == pytest.approx(0.338, abs=0.001)
        assert coefficients["krippendorff_alpha"].value == pytest.approx(0.252, abs=0.001)

    def test_dice(self):
        """Mean Dice is the set equivalence under exact match.

        They count two empty sets as 0, we as 1: one item of nine.
        """
        pairs = enumerate(self.PAIRS)
        answers = [softirr.Answer(str(i), r, tuple(s)) for i, pair in pairs for r, s in zip("ab", pair, strict=True)]
        report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact")
        assert report.coefficients["observed_agreement"].value - 1 / 9 == pytest.approx(0.5, abs=1e-12)

    def test_answers_that_print_alike_are_not_merged(self):
        """DKPro, SetAnnotationCategoryConflationTest; here: one text "1 2", and the two texts "1" and "2"."""
        answers = [
            softirr.Answer(str(i), r, texts)
            for i in range(4)
            for r, texts in (("a", (f"{i} {i + 9}",)), ("b", (str(i), str(i + 9))))
        ]
        report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact")
        assert report.coefficients["observed_agreement"].value == 0.0
        assert report.coefficients["krippendorff_alpha"].value <= 0


class TestBraylan2022:
    """Braylan, Alonso and Lease (2022), Measuring annotator agreement generally across complex structured tasks.

    The notebook interannotator.ipynb of their package has five translations of each of six sentences, with 1 - GLEU as
    distance. It prints three sentences cut short; these endings give its alpha (0.3720402) to all digits.
    """

    @pytest.fixture
    def distances(self):
        """Means of the pairs of the same sentence, and of all pairs of different ones."""
        from nltk.translate.gleu_score import sentence_gleu

        rows = Path(__file__).with_name("braylan_translations.txt").read_text(encoding="utf-8").splitlines()
        texts = [text.split(" ") for row in rows for text in row.split("|")]
        # GLEU is not symmetric: as in the notebook, the earlier annotation is the reference
        pairs = [(i, j, 1 - sentence_gleu([texts[i]], texts[j])) for j in range(30) for i in range(j)]
        return [np.array([d for i, j, d in pairs if (i // 5 == j // 5) == same]) for same in (True, False)]

    def test_pairs(self, distances):
        assert [len(d) for d in distances] == [60, 375]

    def test_ours_over_all_pairs(self, distances):
        """KS is the same; sigma shares the ties out that theirs counts as disagreement."""
        raters = np.arange(30).reshape(6, 5)
        weights = np.eye(30)
        j, i = np.tril_indices(30, -1)
        same = i // 5 == j // 5
        values = np.empty(len(i))
        values[same], values[~same] = 1 - distances[0], 1 - distances[1]
        weights[i, j] = weights[j, i] = values
        coefficients = of(raters, weights)
        assert coefficients["ks"].value == pytest.approx(0.918, abs=5e-4)
        assert coefficients["sigma"].value == pytest.approx(0.95, abs=0.01)
