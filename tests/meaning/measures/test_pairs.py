"""PairScorer: the measure's own values whatever is asked, in whatever order, as often as one likes.

Nothing reaches the measure twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.measures.arrays import mutual
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from tests.meaning.measures.function_measures import DirectedFunction, FunctionMeasure

TEXTS = ["fever", "high temperature", " fever ", "cough", "dry  cough", "dry cough", "", "no fever at all", "rash"]


def entailment(a: str, b: str) -> float:
    """Grows with the share of b's letters that a has."""
    return (len(set(a) & set(b)) + 0.5) / (len(set(b)) + 1)


def directed() -> DirectedFunction:
    return DirectedFunction(entailment, "directed")


def symmetric() -> FunctionMeasure:
    return FunctionMeasure(lambda a, b: 0.9 / (1 + abs(len(a) - len(b))), "symmetric")


def expected(left_texts: list[int], right_texts: list[int]) -> np.ndarray:
    """Both directions of every pair, one at a time."""
    rows = []
    for i, j in zip(left_texts, right_texts, strict=True):
        a, b = (" ".join(TEXTS[k].split()) for k in (i, j))
        rows.append([1.0, 1.0] if a == b else [entailment(a, b), entailment(b, a)])
    return np.array(rows).reshape(-1, 2)


INDEX = st.integers(0, len(TEXTS) - 1)
ASKED = st.lists(st.lists(st.tuples(INDEX, INDEX), max_size=12), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60)
@given(calls=ASKED, with_cache=st.booleans(), chunk=st.sampled_from([1, 3, 1000]))
def test_values_are_the_measures_own_and_no_pair_is_asked_twice(
    calls: list[list[tuple[int, int]]], with_cache: bool, chunk: int
) -> None:
    source = directed()
    source.chunk = chunk  # type: ignore[attr-defined]
    scorer = PairScorer(source, TEXTS, cache=PairCache() if with_cache else None)
    for call in calls:
        left_texts, right_texts = [i for i, _ in call], [j for _, j in call]
        directions = scorer.directions(np.array(left_texts, dtype=np.int64), np.array(right_texts, dtype=np.int64))
        assert np.array_equal(directions, expected(left_texts, right_texts))
        scores = scorer.score(np.array(right_texts, dtype=np.int64), np.array(left_texts, dtype=np.int64))
        assert np.array_equal(scores, mutual(expected(left_texts, right_texts)))
    unordered = [frozenset(pair) for pair in source.asked]
    assert len(unordered) == len(set(unordered)) == scorer.pairs_scored
    assert all(len(pair) == 2 for pair in unordered), "the same text was asked about itself"


def test_blocks_are_filled_from_pairs() -> None:
    everything = np.arange(len(TEXTS))
    for source in (directed(), symmetric()):
        scorer = PairScorer(source, TEXTS)
        assert scorer.block(everything, everything).dtype == np.float32
        # nine texts, seven of them different
        assert scorer.pairs_scored == len(source.asked) == 7 * 6 // 2


@pytest.mark.parametrize("name", ["indel", "jaccard"])
def test_cheap_measures_count_each_pair_of_a_block_once(name: str) -> None:
    scorer = PairScorer(measure(name), TEXTS)
    rows, cols = np.array([0, 1, 2, 3]), np.array([1, 3, 7])
    block = scorer.block(rows, cols)
    pairs = [(TEXTS[i], TEXTS[j]) for i in rows for j in cols]
    assert np.allclose(block.ravel(), measure(name).score(pairs), atol=1e-6)
    # fever, high temperature, cough with high temperature, cough, no fever at all
    assert scorer.pairs_scored == 3 * 3 - 2 - 1


def test_progress_runs_to_all_pairs_also_when_some_are_known() -> None:
    cache, reports = PairCache(), list[tuple[int, int]]()
    PairScorer(directed(), TEXTS, cache=cache).score(np.array([0, 1]), np.array([1, 3]))
    source = directed()
    source.chunk = 4  # type: ignore[attr-defined]
    scorer = PairScorer(source, TEXTS, cache=cache, progress=lambda done, total: reports.append((done, total)))
    scorer.block(np.arange(9), np.arange(9))
    assert reports[0] == (2, 21) and reports[-1] == (21, 21) and reports == sorted(reports)
    assert scorer.pairs_scored == 19


@pytest.mark.parametrize("name", ["exact", "indel", "jaccard", "nli"])
@pytest.mark.parametrize("pairs", [[("a", "b", "c")] * 2, [("fever",)], [("fever", 1)], [None], "fever"])
def test_pairs_of_other_shapes_are_refused(name: str, pairs: Any) -> None:
    with pytest.raises(InputError, match=r"^Pairs are of two texts each, but one is "):
        measure(name).score(pairs)


def test_scores_outside_zero_and_one_are_refused() -> None:
    source = symmetric()
    for wrong in (1.2, -0.1, np.nan):
        source.p = lambda a, b, wrong=wrong: wrong  # type: ignore[misc]
        with pytest.raises(InputError, match="symmetric returned scores that are not probabilities"):
            PairScorer(source, TEXTS).score(np.array([0]), np.array([1]))


@pytest.mark.parametrize("kind", [directed, symmetric])
def test_decisions_read_the_raw_scores_of_the_model(kind: type) -> None:
    everything, cache = np.arange(len(TEXTS)), PairCache()
    left_texts, right_texts = np.repeat(everything, len(TEXTS)), np.tile(everything, len(TEXTS))
    PairScorer(kind(), TEXTS, cache=cache).score(left_texts, right_texts)
    plain_scores = PairScorer(kind(), TEXTS).score(left_texts, right_texts)
    source = kind()
    a, b = sorted({" ".join(text.split()) for text in TEXTS})[:2]
    scorer = PairScorer(source.with_stage(Decisions({(a, b): True})), TEXTS, cache=cache)
    scores = scorer.score(left_texts, right_texts)
    assert source.asked == [] and scorer.pairs_scored == 0, "a decision asked the model again"
    changed = scores != plain_scores
    assert changed.any() and np.all(scores[changed] == 1)


def test_a_cheap_measure_with_decisions_stays_cheap() -> None:
    assert PairScorer(measure("indel").with_stage(Decisions({("a", "b"): True})), TEXTS).cheap
