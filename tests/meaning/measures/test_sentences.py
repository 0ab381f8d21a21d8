"""Paragraphs are compared sentence by sentence, like sets."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softirr import measure
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.sentences_stage import ALL_PAIRS, MOST_SENTENCES, Sentences
from softirr.text import sentences
from tests.meaning.measures.function_measures import DirectedFunction

SENTENCE = st.sampled_from(["No fever.", "A dry cough!", "Is it asthma?", "Rash (on both arms. And legs) is new."])
PARAGRAPH = st.lists(SENTENCE, min_size=2, max_size=2, unique=True).map(" ".join)


def p_of(premise: str, hypothesis: str) -> float:
    return (sum(map(ord, premise)) * 31 + sum(map(ord, hypothesis)) * 17) % 97 / 97


def invented() -> DirectedFunction:
    return DirectedFunction(p_of).with_stage(Sentences())


@given(PARAGRAPH, PARAGRAPH)
def test_equivalence_of_paragraphs_is_that_of_the_best_assignment(a: str, b: str) -> None:
    def p(first: str, second: str) -> float:
        return 1.0 if first == second else float(np.sqrt(p_of(first, second) * p_of(second, first)))

    sentences_of_a, sentences_of_b = sentences(a), sentences(b)
    assert len(sentences_of_a) * len(sentences_of_b) <= ALL_PAIRS
    best = max(sum(map(p, sentences_of_a, order)) for order in permutations(sentences_of_b))
    assert invented().score([(a, b)])[0] == pytest.approx(
        1.0 if a == b else 2 * best / (len(sentences_of_a) + len(sentences_of_b))
    )


def test_single_sentence_follows_from_the_best_premise() -> None:
    by_sentence = measure("exact").with_stage(Sentences())
    directions = by_sentence.both([("No fever.", "No fever. A dry cough."), ("No rash.", "No fever. A dry cough.")])
    assert directions.tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_scorer_and_measure_agree_and_count_sentences_once() -> None:
    texts = ["No fever. Dry cough.", "Dry cough. No fever.", "Dry cough.", "No fever. Rash. Dry cough.", "Rash"]
    left, right = (side.ravel() for side in np.mgrid[: len(texts), : len(texts)])
    source = invented()
    scorer = PairScorer(source, texts)
    p = scorer.score(left, right)
    np.testing.assert_allclose(p, invented().score([(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]))
    np.testing.assert_allclose(p.reshape(len(texts), -1), p.reshape(len(texts), -1).T)
    assert len({frozenset(pair) for pair in source.asked}) == len(source.asked) == scorer.pairs_scored


def test_long_paragraphs_ask_about_few_pairs() -> None:
    premise = " ".join(f"Finding {k} is there." for k in range(40))
    hypothesis = " ".join(f"Sign {k} is absent." for k in range(30))
    source = invented()
    source.score([(premise, hypothesis)])
    assert len(source.asked) <= 3 * 40
    source.score([(premise * 10, hypothesis * 10)])
    assert MOST_SENTENCES < 400


PARAGRAPHS = {
    ("There is no chest pain. There is pneumonia.", "There is chest pain. There is no pneumonia."): (0.0, 0.1),
    ("There is fever. There is no rash. There is jaundice.", "There is fever. There is rash. There is jaundice."): (0.6, 0.7),
    ("There is fever. There is no rash. There is vomiting.", "There is fever. There is no rash."): (0.75, 0.85),
    ("There is fever. There is no vomiting.", "No emesis. Pyrexia is present."): (0.8, 1.0),
    ("The budget was cut. Two schools close.", "Dry cough for two days. No fever was seen."): (0.0, 0.1),
    ("There is fever and itching.", "There is fever. There is itching."): (0.6, 1.0),
}  # fmt: skip
"""Pairs of paragraphs, and the smallest and largest right P: 2/3 and 4/5 if one of three sentences has no counterpart."""


@pytest.mark.slow
def test_bundled_model_compares_paragraphs_like_sets() -> None:
    for (pair, (low, high)), p in zip(PARAGRAPHS.items(), measure("nli").score(list(PARAGRAPHS)), strict=True):
        assert low <= p <= high, (pair, p)
