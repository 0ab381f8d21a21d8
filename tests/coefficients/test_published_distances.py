"""Coefficients of sets and of distances as papers and their code have published them, a class per source."""

from __future__ import annotations

import numpy as np
import pytest

import softirr
from softirr.chance.equivalence import MatrixEquivalence
from softirr.coefficients.braylan import Braylan2022
from softirr.tables.ratings import Ratings
from tests.coefficients.published import (
    of,
)


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
        answers = [softirr.Answer(str(i), r, tuple(s)) for i, pair in enumerate(self.PAIRS) for r, s in zip("ab", pair, strict=True)]  # fmt: skip
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
        coefficients = Braylan2022(*distances)
        assert coefficients.alpha() == pytest.approx(0.3720402, abs=5e-8)
        assert coefficients.ks() == pytest.approx(0.918, abs=5e-4)
        assert coefficients.sigma() == pytest.approx(0.95, abs=1e-12)
        assert coefficients.sigma(kde=False) == pytest.approx(0.95, abs=1e-12)

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

    def test_drawn_pairs_are_of_different_items_and_at_most_as_many_as_there_are(self):
        """Ten pairs of one item, but only five of different ones; the distance is 1 - equivalence."""
        ratings = Ratings.from_matrix(np.array([[0, 0, 0, 1, 1], [2, -1, -1, -1, -1]]))
        similarity = np.array([[1, 0.5, 0.25], [0.5, 1, 0.25], [0.25, 0.25, 1]])
        left, right = ratings.answer[ratings.comparisons.left], ratings.answer[ratings.comparisons.right]
        result = Braylan2022.of(ratings, MatrixEquivalence(similarity), similarity[left, right])
        assert result.expected.tolist() == [0.75] * 5
        assert sorted(result.observed.tolist()) == [0.0] * 4 + [0.5] * 6
