"""Groups of equivalent texts: average linkage."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.statistics.matching import grouping
from softirr.statistics.matching.grouping import equivalent_groups, linked_groups


def grouped(n, pairs, weight=None, threshold=0.5):
    texts = np.array([(a, b) for a, b, _ in pairs], dtype=np.int64).reshape(-1, 2)
    p = np.array([p for _, _, p in pairs], dtype=np.float64)
    return equivalent_groups(texts, p, weight=weight or [1] * n, threshold=threshold)


def plain_groups(n, known_p, weight, threshold=0.5):
    """The docstring of `equivalent_groups`, one merge at a time."""

    def mean(xs, ys):
        return sum(known_p.get((min(a, b), max(a, b)), 0) for a in xs for b in ys) / (len(xs) * len(ys))

    groups = [[text] for text in range(n)]
    while len(groups) > 1:
        value, a, b = max((mean(xs, ys), a, b) for (a, xs), (b, ys) in combinations(enumerate(groups), 2))
        if value < threshold - 1e-9:
            break
        groups[a] += groups.pop(b)
    result = [sorted(group, key=lambda text: (-weight[text], text)) for group in groups]
    return sorted(result, key=lambda group: (-weight[group[0]], group[0]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5]))
def test_groups_are_those_of_the_definition(n, seed, threshold):
    rng = np.random.default_rng(seed)
    all_pairs = list(combinations(range(n), 2))
    known_p = {pair: float(rng.beta(2, 1)) for pair in all_pairs if rng.random() < 0.8}
    weight = rng.integers(1, 4, n).tolist()
    pairs = [(a, b, p) if rng.random() < 0.5 else (b, a, p) for (a, b), p in known_p.items()]
    pairs += [(a, a, 0.0) for a in range(n)]  # a text with itself is not evidence
    assert grouped(n, pairs, weight, threshold) == plain_groups(n, known_p, weight, threshold)


@pytest.mark.parametrize(("p", "same"), [(0.5, True), (0.49, False)])
def test_texts_at_the_threshold_are_one_group(p, same) -> None:
    assert grouped(4, [(0, 1, p), (0, 2, p), (1, 2, p)]) == ([[0, 1, 2], [3]] if same else [[0], [1], [2], [3]])
    assert grouped(2, [(0, 1, p)]) == ([[0, 1]] if same else [[0], [1]])


def test_a_component_that_is_too_large_is_cut_at_its_weaker_pairs(monkeypatch) -> None:
    """The cut only limits what is clustered at once: groups of surer pairs stay, and weaker pairs no longer join."""
    pairs = [(0, 1, 0.97), (1, 2, 0.55), (2, 3, 0.97), (0, 2, 0.55), (0, 3, 0.55), (1, 3, 0.55)]
    assert grouped(4, pairs) == [[0, 1, 2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 4)
    assert grouped(4, pairs) == [[0, 1, 2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 3)
    assert grouped(4, pairs) == [[0, 1], [2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 1)
    assert grouped(4, pairs) == [[0], [1], [2], [3]]
    pairs = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]
    assert grouped(3, pairs) == [[0, 1, 2]]


def test_linked_groups() -> None:
    groups = linked_groups(5, np.array([[0, 1], [1, 4]]), np.ones(2), cuts=(0.5,), largest=5)
    assert sorted(group.tolist() for group in groups) == [[0, 1, 4], [2], [3]]


def test_no_texts_have_no_groups() -> None:
    assert grouped(0, []) == []
