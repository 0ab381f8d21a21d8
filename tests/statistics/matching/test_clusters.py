"""Clusters of the texts of one item, against plain definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softirr.statistics.matching import clusters, pair_scores


def _partition(label):
    return {frozenset(np.flatnonzero(label == number).tolist()) for number in label.tolist()}


def _plain_agglomerate(start, rater, gain, linkage):
    """The two clusters with the highest positive mean (or least) gain that have no rater in common, again and again."""
    remaining = sorted(_partition(start), key=min)
    while True:
        best, pair = 0.0, None
        for i, first_cluster in enumerate(remaining):
            for j in range(i):
                second_cluster = remaining[j]
                if {rater[a] for a in first_cluster} & {rater[b] for b in second_cluster}:
                    continue
                gains = [gain[a, b] for a in first_cluster for b in second_cluster]
                value = min(gains) if linkage == "all" else float(np.mean(gains))
                if value > best + 1e-12:
                    best, pair = value, (j, i)
        if pair is None:
            return set(remaining)
        j, i = pair
        remaining[j] |= remaining.pop(i)


def _value(label, rater, gain):
    same = np.triu(label[:, None] == label[None, :], 1)
    if np.any(same & (rater[:, None] == rater[None, :])):
        return -np.inf
    return gain[same].sum()


def test_improvement_reaches_the_best_clustering_of_small_items():
    """Against all clusterings of three raters with two texts each: mostly the best one, never far from it."""
    rng = np.random.default_rng(11)
    rater = np.repeat(np.arange(3), 2)
    # each clustering once: a node opens the next place or joins one that is open
    clusterings = [
        np.array(p)
        for p in product(range(6), repeat=6)
        if all(c <= max(p[:i], default=-1) + 1 for i, c in enumerate(p))
    ]
    assert len(clusterings) == 203
    exact = 0
    for _ in range(40):
        gain = rng.random((6, 6)) - 0.5
        gain = (gain + gain.T) / 2
        label = clusters.improve(clusters.agglomerate(np.arange(6), rater, gain), rater, gain)
        best = max(_value(clustering, rater, gain) for clustering in clusterings)
        actual = _value(label, rater, gain)
        assert actual >= 0.8 * best
        exact += actual >= best - 1e-9
    assert exact >= 34


@pytest.mark.parametrize("linkage", ["sum", "all"])
@pytest.mark.parametrize("started", [False, True])
def test_merging_follows_its_definition(linkage, started):
    rng = np.random.default_rng(5)
    for _ in range(60):
        rater = rng.integers(0, 4, 9)
        gain = np.round(rng.random((9, 9)) - 0.4, 6)
        gain = (gain + gain.T) / 2
        start = np.arange(9)
        if started:  # some pairs are joined before
            start[np.flatnonzero(rater == 1)[:1]] = start[np.flatnonzero(rater == 0)[:1]] if 0 in rater else 0
        if np.isinf(_value(start, rater, gain)):
            continue
        result = clusters.agglomerate(start, rater, gain, linkage=linkage)
        assert _partition(result) == _plain_agglomerate(start, rater, gain, linkage)


@pytest.mark.parametrize("linkage", ["sum", "all"])
@pytest.mark.parametrize(("gain", "merged"), [(0.0, False), (1e-6, True)])
def test_a_merge_has_to_gain(linkage, gain, merged):
    labels = clusters.agglomerate(np.arange(2), np.arange(2), np.full((2, 2), gain), linkage=linkage)
    assert (labels[0] == labels[1]) is np.bool_(merged)


def test_improvement_ends_where_no_rater_gains_by_a_reassignment():
    """Against every reassignment of each rater's two texts, from starts that are far from the best."""
    rng = np.random.default_rng(2)
    rater = np.repeat(np.arange(4), 2)
    for _ in range(60):
        gain = rng.random((8, 8)) - 0.5
        gain = (gain + gain.T) / 2
        label = clusters.improve(np.arange(8), rater, gain)
        value = _value(label, rater, gain)
        assert value >= 0
        assert (label == np.array([np.flatnonzero(label == number)[0] for number in label])).all()
        for r in range(4):
            for new_labels in product(range(9), repeat=2):
                changed = label.copy()
                changed[rater == r] = new_labels
                assert _value(changed, rater, gain) <= value + 1e-9


def test_a_text_of_several_raters_is_nobodys_own():
    owner = pair_scores.own_rater([(0, 0), (0, 2), (1, 0), (1, 1), (2, 1), (2, 3)], 4)
    assert owner[[2, 3]].tolist() == [0, 2]
    assert (owner[[0, 1]] < 0).all() and owner[0] != owner[1]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_clusters_are_those_of_three_rounds_over_all_texts_at_once(seed, directed):
    """Equivalent texts, then more general ones, then the rest: parts that do not touch change nothing."""
    rng = np.random.default_rng(seed)
    n_texts, raters = int(rng.integers(1, 9)), int(rng.integers(3, 6))
    nodes = [(r, int(t)) for r in range(raters) for t in rng.permutation(n_texts)[: rng.integers(0, 4)]]
    equal = rng.random((n_texts, n_texts)) ** rng.choice([1, 2, 4])
    equal = np.maximum(equal, equal.T)
    np.fill_diagonal(equal, 1)
    implied = rng.random((n_texts, n_texts)) if directed else None
    result = clusters.clusters_of_many(nodes, equal, implied)
    assert sorted(node for cluster in result for node in cluster) == list(range(len(nodes)))
    if not nodes:
        return
    rater, text = np.array(nodes).T
    gain = equal[np.ix_(text, text)] - 0.5
    label = clusters.improve(clusters.agglomerate(np.arange(len(nodes)), rater, gain), rater, gain)
    if directed:
        one_way = np.maximum(implied, implied.T)[np.ix_(text, text)] - 0.5
        label = clusters.agglomerate(label, rater, np.maximum(gain, one_way), linkage="all")
    single = np.flatnonzero(np.bincount(label, minlength=len(nodes))[label] == 1)
    if len(single):
        remaining = clusters.agglomerate(np.arange(len(single)), rater[single], gain[np.ix_(single, single)] + 0.5)
        label[single] = single[remaining]
    assert {frozenset(cluster) for cluster in result} == _partition(label)
