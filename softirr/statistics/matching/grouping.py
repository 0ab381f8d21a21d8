"""Groups of equivalent texts over a whole project, from compared pairs and what people decided about some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["components", "equivalent_groups"]

_LARGEST = 3000
"""Texts of a component that are clustered at once; a larger one is taken apart at its weaker pairs first."""
_STEPS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def components(n: int, left: ArrayLike, right: ArrayLike) -> NDArray[np.int64]:
    """Connected component of each of n nodes.

    Parameters
    ----------
    left, right : array_like of int, shape (m,)
        The linked nodes.

    Returns
    -------
    shape (n,)
        A number for each component.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def equivalent_groups(
    n: int,
    left: ArrayLike,
    right: ArrayLike,
    p: ArrayLike,
    *,
    weight: Sequence[float],
    decided: Mapping[tuple[int, int], bool] | None = None,
    threshold: float = 0.5,
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Groups of texts whose mean equivalence reaches the threshold (average linkage), and contradictory decisions.

    Pairs that were not compared count as different. People's decisions come first: a pair that was decided to differ
    is never in one group; the less frequent text of the two leaves it. The groups of a pair that was decided to be
    the same are one group.

    Parameters
    ----------
    n : int
        Number of texts.
    left, right : array_like of int, shape (m,)
        The compared texts.
    p : array_like, shape (m,)
        P(left ≡ right).
    weight : sequence of float
        How often each text was given.
    decided : mapping, optional
        Whether two texts, the smaller number first, mean the same.

    Returns
    -------
    tuple of (list of list of int, list of (int, int))
        The groups, each with the most frequent text first, and pairs decided to be the same that other decisions keep
        apart.
    """
    known = {
        (min(a, b), max(a, b)): value
        for a, b, value in zip(
            np.asarray(left, dtype=np.int64).tolist(),
            np.asarray(right, dtype=np.int64).tolist(),
            np.asarray(p, dtype=np.float64).tolist(),
            strict=True,
        )
        if a != b
    }
    decisions = dict(decided or {})  # kept out of the means: one decision would pull its two texts out of their groups
    order = sorted(range(n), key=lambda i: (-weight[i], i))
    place = {text: at for at, text in enumerate(order)}
    apart: dict[int, set[int]] = {}
    for (a, b), same in decisions.items():
        if not same:
            apart.setdefault(a, set()).add(b)
            apart.setdefault(b, set()).add(a)
    groups = [
        part
        for group in _linked(n, known, threshold)
        for part in _parted(sorted(group, key=place.__getitem__), known, apart, threshold)
    ]
    groups, contradictions = _united(groups, decisions, apart)
    groups = [sorted(group, key=place.__getitem__) for group in groups]
    return sorted(groups, key=lambda group: place[group[0]]), contradictions


def _linked(n: int, known: Mapping[tuple[int, int], float], threshold: float) -> list[list[int]]:
    """Groups by average linkage, one connected component after the other."""
    todo = [(list(range(n)), threshold)]
    groups: list[list[int]] = []
    while todo:
        members, cut = todo.pop()
        number = {text: at for at, text in enumerate(members)}
        links = [pair for pair, value in known.items() if value >= cut and pair[0] in number]
        label = components(len(members), [number[a] for a, _ in links], [number[b] for _, b in links])
        parts: dict[int, list[int]] = {}
        for text, own in zip(members, label.tolist(), strict=True):
            parts.setdefault(own, []).append(text)
        for part in parts.values():
            higher = next((step for step in _STEPS if step > cut), None)
            if len(part) > _LARGEST and higher is not None:
                todo.append((part, higher))
            else:
                groups += _clustered(part, known, threshold)
    return groups


def _clustered(part: list[int], known: Mapping[tuple[int, int], float], threshold: float) -> list[list[int]]:
    if len(part) <= 2:
        return [part]
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    number = {text: at for at, text in enumerate(part)}
    distance = np.ones((len(part), len(part)))
    for a, text in enumerate(part):
        for b in range(a):
            value = known.get((min(text, part[b]), max(text, part[b])))
            if value is not None:
                distance[a, b] = distance[b, a] = 1.0 - value
    label = fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - threshold + 1e-9, "distance")
    groups: dict[int, list[int]] = {}
    for text, own in zip(number, label.tolist(), strict=True):
        groups.setdefault(own, []).append(text)
    return list(groups.values())


def _parted(
    group: list[int], known: Mapping[tuple[int, int], float], apart: Mapping[int, set[int]], threshold: float
) -> list[list[int]]:
    """The group without pairs that were decided to differ, in the order of how frequent texts are."""
    parts: list[list[int]] = []
    for text in group:
        for at, part in enumerate(parts):
            if apart.get(text, set()).isdisjoint(part):
                mean = sum(known.get((min(text, one), max(text, one)), 0.0) for one in part) / len(part)
                if at == 0 or mean >= threshold:
                    part.append(text)
                    break
        else:
            parts.append([text])
    return parts


def _united(
    groups: list[list[int]], decisions: Mapping[tuple[int, int], bool], apart: Mapping[int, set[int]]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The groups with those joined that a decision says are the same."""
    of = {text: at for at, group in enumerate(groups) for text in group}
    kept = [list(group) for group in groups]
    contradictions = []
    for (a, b), same in sorted(decisions.items()):
        first, second = of[a], of[b]
        if not same or first == second:
            continue
        if any(not apart.get(text, set()).isdisjoint(kept[first]) for text in kept[second]):
            contradictions.append((a, b))
            continue
        for text in kept[second]:
            of[text] = first
        kept[first] += kept[second]
        kept[second] = []
    return [group for group in kept if group], contradictions
