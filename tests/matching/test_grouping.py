"""Groups of equivalent texts: average linkage, and decisions that come before it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.matching import grouping
from softirr.matching.grouping import components, equivalent_groups


def grouped(n, pairs, decided=None, weight=None, threshold=0.5):
    left, right, p = [a for a, _, _ in pairs], [b for _, b, _ in pairs], [p for _, _, p in pairs]
    weight = weight or [1] * n
    return equivalent_groups(n, left, right, p, weight=weight, decided=decided, threshold=threshold)


def test_pairs_at_the_threshold_are_one_group_and_unknown_pairs_are_not() -> None:
    assert grouped(4, [(0, 1, 0.5), (1, 2, 0.49)]) == ([[0, 1], [2], [3]], [])


def test_a_chain_is_cut_where_the_mean_is_too_low() -> None:
    # 0-1-2-3 linked one by one: 0 and 3 were never said to be the same
    groups, _ = grouped(4, [(0, 1, 0.9), (1, 2, 0.6), (2, 3, 0.9)])
    assert groups == [[0, 1], [2, 3]]
    assert grouped(3, [(0, 1, 0.9), (1, 2, 0.6)])[0] == [[0, 1], [2]]


def test_groups_and_their_texts_are_ordered_by_frequency() -> None:
    assert grouped(4, [(0, 3, 1.0)], weight=[1, 5, 2, 9])[0] == [[3, 0], [1], [2]]


def test_a_pair_that_was_parted_is_in_two_groups_and_the_rest_stays() -> None:
    same = [(0, 1, 0.9), (0, 2, 0.9), (1, 2, 0.9)]
    assert grouped(3, same, {(0, 2): False}, weight=[3, 2, 1])[0] == [[0, 1], [2]]


def test_two_texts_that_were_parted_from_the_name_stay_together_if_they_are_the_same() -> None:
    same = [(a, b, 0.9) for b in range(4) for a in range(b)]
    groups, _ = grouped(4, same, {(0, 2): False, (0, 3): False}, weight=[4, 3, 2, 1])
    assert groups == [[0, 1], [2, 3]]


@pytest.mark.parametrize(("p", "groups"), [(1.0, [[0, 1, 2], [3, 4, 5]]), (0.9, [[0, 1, 2], [3, 4], [5]])])
def test_texts_that_were_parted_stay_together_by_the_mean_of_known_pairs(p, groups) -> None:
    """Texts 3, 4 and 5 leave the name; 4 and 5 were not compared, so the mean of 5 with 3 and 4 is half of p."""
    same = [(a, b, 1.0) for b in range(6) for a in range(b) if (a, b) not in ((3, 5), (4, 5))]
    decided = {(0, text): False for text in (3, 4, 5)}
    assert grouped(6, [*same, (3, 5, p)], decided, weight=[6, 5, 4, 3, 2, 1])[0] == groups


def test_a_component_that_is_too_large_is_cut_at_its_weaker_pairs(monkeypatch) -> None:
    """The cut only limits what is clustered at once: groups of surer pairs stay, and weaker pairs no longer join."""
    pairs = [(0, 1, 0.97), (1, 2, 0.55), (2, 3, 0.97), (0, 2, 0.55), (0, 3, 0.55), (1, 3, 0.55)]
    assert grouped(4, pairs)[0] == [[0, 1, 2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 4)
    assert grouped(4, pairs)[0] == [[0, 1, 2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 3)
    assert grouped(4, pairs)[0] == [[0, 1], [2, 3]]
    monkeypatch.setattr(grouping, "_LARGEST", 1)
    assert grouped(4, pairs)[0] == [[0], [1], [2], [3]]
    pairs = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]
    assert grouped(3, pairs)[0] == [[0, 1, 2]]


def test_groups_of_a_pair_that_was_merged_are_one() -> None:
    groups, contradictions = grouped(4, [(0, 1, 0.9), (2, 3, 0.9)], {(0, 2): True})
    assert groups == [[0, 1, 2, 3]] and contradictions == []


def test_contradictions_are_told() -> None:
    groups, contradictions = grouped(3, [(0, 1, 0.9)], {(0, 2): False, (1, 2): True}, weight=[3, 2, 1])
    assert groups == [[0, 1], [2]] and contradictions == [(1, 2)]


def test_components() -> None:
    label = components(5, [0, 1], [1, 4])
    assert label[0] == label[1] == label[4] and len(set(label.tolist())) == 3


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_decision_is_broken_and_no_text_is_lost(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    every = [(a, b) for b in range(n) for a in range(b)]
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    pairs = [(a, b, data.draw(st.floats(0, 1))) for a, b in chosen]
    decided = {pair: data.draw(st.booleans()) for pair in every if data.draw(st.integers(0, 4)) == 0}
    groups, contradictions = grouped(n, pairs, decided, weight=[data.draw(st.integers(1, 3)) for _ in range(n)])
    assert sorted(text for group in groups for text in group) == list(range(n))
    of = {text: at for at, group in enumerate(groups) for text in group}
    for (a, b), same in decided.items():
        if same:
            assert of[a] == of[b] or (a, b) in contradictions
        else:
            assert of[a] != of[b]
