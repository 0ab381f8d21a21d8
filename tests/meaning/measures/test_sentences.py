"""Paragraphs are compared sentence by sentence, like sets."""

from __future__ import annotations

import csv
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softirr import measure
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.sentences_stage import ALL_PAIRS, FOLLOWS, MOST_SENTENCES, Sentences
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
    def p(premise: str, hypothesis: str) -> float:
        directions = p_of(premise, hypothesis), p_of(hypothesis, premise)
        return float(np.sqrt(np.prod(directions))) if min(directions) >= FOLLOWS else 0.0

    equal = set(sentences(a)) & set(sentences(b))
    first, second = ([sentence for sentence in sentences(text) if sentence not in equal] for text in (a, b))
    assert len(first) == len(second) and len(first) * len(second) <= ALL_PAIRS
    best = max(sum(map(p, first, order)) for order in permutations(second))
    assert invented().score([(a, b)])[0] == pytest.approx((len(equal) + best) / 2)


@given(st.lists(st.sampled_from([f"Finding {k} is there." for k in range(12)]), min_size=3, max_size=9, unique=True))
def test_reordered_paragraph_is_the_same_and_a_missing_sentence_costs_its_share(findings: list[str]) -> None:
    paragraph, reordered, shorter = " ".join(findings), " ".join(reversed(findings)), " ".join(findings[1:])
    directions = invented().both([(paragraph, reordered), (paragraph, shorter), (shorter, paragraph)])
    assert directions[0].tolist() == [1.0, 1.0]
    share = 2 * (len(findings) - 1) / (2 * len(findings) - 1)
    assert np.sqrt(directions[1:].prod(axis=1)) == pytest.approx([share, share])
    assert directions[1].tolist() == directions[2, ::-1].tolist()
    assert directions[1, 0] > directions[1, 1], "the longer text says more"


@pytest.mark.parametrize(
    "of_text",
    [
        ("患者发烧38.5度。", "没有咳嗽(夜间。干咳)。", "左膝疼痛!"),
        ("熱が二日続く。", "「痛い。」と言う。", "左膝が痛い"),
        ("दो दिन से बुखार है।", "खांसी नहीं है।", "दर्द है"),
        ("بخار منذ يومين.", "هل يوجد سعال؟", "ألم في الركبة"),
        ("חום מזה יומיים.", "ד. כהן בדק.", "כאב בברך."),
        ("열이 이틀째다.", "기침은 없다.", "무릎이 아프다."),
        ("Lee z. B. hustet.", "Übelkeit seit 3. Mai.", "Кашля нет."),
    ],
)
def test_sentences_of_any_script_are_found(of_text: tuple[str, ...]) -> None:
    between = "" if of_text[0][-1] == "。" else " "
    assert sentences(between.join(of_text)) == of_text


@pytest.mark.parametrize(("p", "expected"), [(0.4, 0.0), (0.6, 0.6)])
def test_sentences_with_small_p_add_no_agreement(p: float, expected: float) -> None:
    """Long unrelated paragraphs must not agree because each sentence is a little like some other sentence."""
    first, second = (" ".join(f"{what} {k} is there." for k in range(10)) for what in ("Finding", "Sign"))
    by_sentence = DirectedFunction(lambda premise, hypothesis: p).with_stage(Sentences())
    assert by_sentence.score([(first, second)])[0] == pytest.approx(expected)


def test_sentence_that_follows_one_way_counts_in_that_direction_only() -> None:
    def entails(premise: str, hypothesis: str) -> float:
        return 0.9 if (premise, hypothesis) == ("High fever.", "Fever.") else 0.0

    by_sentence = DirectedFunction(entails).with_stage(Sentences())
    ((forward, backward),) = by_sentence.both([("Cough. High fever.", "Fever. Cough.")])
    assert forward == pytest.approx(0.95)
    assert np.sqrt(forward * backward) == pytest.approx(0.5)


def test_single_sentence_follows_from_the_best_premise() -> None:
    by_sentence = measure("exact").with_stage(Sentences())
    directions = by_sentence.both([("No fever.", "No fever. A dry cough."), ("No rash.", "No fever. A dry cough.")])
    assert directions.tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_each_pair_of_sentences_is_asked_once() -> None:
    texts = ["No fever. Dry cough.", "Dry cough. No fever.", "Dry cough.", "No fever. Rash. Dry cough.", "Rash"]
    source = invented()
    scorer = PairScorer(source, texts)
    scorer.score(*(side.ravel() for side in np.mgrid[: len(texts), : len(texts)]))
    assert len({frozenset(pair) for pair in source.asked}) == len(source.asked) == scorer.pairs_scored


def test_long_paragraphs_ask_about_few_pairs() -> None:
    premise = " ".join(f"Finding {k} is there." for k in range(40))
    hypothesis = " ".join(f"Sign {k} is absent." for k in range(30))
    source = invented()
    source.score([(premise, hypothesis)])
    assert len(source.asked) <= 2 * 40
    source.score([(premise * 10, hypothesis * 10)])
    assert MOST_SENTENCES < 400


PARAGRAPHS = {
    ("There is no chest pain. There is pneumonia.", "There is chest pain. There is no pneumonia."): (0.0, 0.1),
    (
        "There is fever. There is no rash. There is jaundice.",
        "There is fever. There is rash. There is jaundice.",
    ): (0.6, 0.7),
    ("There is fever. There is no rash. There is vomiting.", "There is fever. There is no rash."): (0.75, 0.85),
    ("There is fever. There is no vomiting.", "No emesis. Pyrexia is present."): (0.8, 1.0),
    ("The budget was cut. Two schools close.", "Dry cough for two days. No fever was seen."): (0.0, 0.1),
    ("There is fever and itching.", "There is fever. There is itching."): (0.6, 1.0),
}  # fmt: skip
"""Pairs of paragraphs, and the range of the right P: 2/3 and 4/5 if one of three sentences has no counterpart."""


@pytest.mark.slow
def test_bundled_model_separates_unrelated_paragraphs() -> None:
    """Five items with two paragraphs each, of 12 sentences about the same people and things: nine are the same."""
    with (Path(__file__).parents[2] / "cases" / "long_answers.csv").open(encoding="utf-8", newline="") as file:
        pairs = list(combinations(csv.DictReader(file), 2))
    p = measure("nli").score([(first["text"], second["text"]) for first, second in pairs])
    is_same_item = np.array([first["item"] == second["item"] for first, second in pairs])
    assert p[is_same_item].mean() == pytest.approx(0.75, abs=0.05)
    assert p[~is_same_item].mean() < 0.1


@pytest.mark.slow
def test_bundled_model_compares_paragraphs_like_sets() -> None:
    for (pair, (low, high)), p in zip(PARAGRAPHS.items(), measure("nli").score(list(PARAGRAPHS)), strict=True):
        assert low <= p <= high, (pair, p)
