"""Reports on items with very many texts."""

from __future__ import annotations

import numpy as np
import pytest

import softirr
from tests.report.slow_measures import WORDS, Slow


class TestHugeItems:
    def test_thousands_of_texts_in_one_item(self):
        """One hostile task must not hold up a project.

        Work grows with the pairs of different raters' texts, in arrays.
        """
        rng = np.random.default_rng(0)
        answers = [
            softirr.Answer("huge", r, tuple(f"{WORDS[rng.integers(8)]} {r} {n}" for n in range(size)))
            for r, size in (("a", 2_500), ("b", 40), ("c", 1))
        ]
        answers += [softirr.Answer("small", r, ("fever",)) for r in "abc"]
        measure = Slow()
        huge, small = softirr.item_agreement(softirr.AnnotationTable.from_answers(answers), measure)
        assert small.agreement == 1
        assert 0 <= huge.agreement < 0.1
        # no two texts of one rater were compared, and no pair twice
        assert all(a.split()[-2] != b.split()[-2] for a, b in measure.asked)
        assert len(measure.asked) == 2_500 * 40 + 2_500 + 40

    def test_text_pairs_of_small_items_are_looked_up_in_both_orders(self):
        answers = [softirr.Answer("1", "a", ("x y", "fever")), softirr.Answer("1", "b", ("fevers", "x z"))]
        (item,) = softirr.item_agreement(softirr.AnnotationTable.from_answers(answers), "indel")
        indel = softirr.measure("indel")
        equivalences = {frozenset(match.texts.values()): match.equivalence for match in item.matches}
        assert equivalences == {
            frozenset(("fever", "fevers")): pytest.approx(indel.score([("fever", "fevers")])[0]),
            frozenset(("x y", "x z")): pytest.approx(indel.score([("x y", "x z")])[0]),
        }
