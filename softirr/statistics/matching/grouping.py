"""Groups of equivalent texts over a whole project, from compared pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = 3000
"""Texts of a component that are clustered at once; a larger one is taken apart at its weaker pairs first."""
_STEPS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def components(n: int, left_nodes: ArrayLike, right_nodes: ArrayLike) -> NDArray[np.int64]:
    """Connected component of each of n nodes.

    Parameters
    ----------
    left_nodes, right_nodes : array_like of int, shape (m,)
        The linked nodes.

    Returns
    -------
    shape (n,)
        A number for each component.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = np.asarray(left_nodes, dtype=np.int64), np.asarray(right_nodes, dtype=np.int64)
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def equivalent_groups(
    left_texts: ArrayLike, right_texts: ArrayLike, p: ArrayLike, *, weight: Sequence[float], threshold: float = 0.5
) -> list[list[int]]:
    """Groups of texts with a mean equivalence of at least the threshold (average linkage).

    Pairs that were not compared count as different.

    Parameters
    ----------
    left_texts, right_texts : array_like of int, shape (m,)
        Numbers of the compared texts.
    p : array_like, shape (m,)
        P(left ≡ right).
    weight : sequence of float, length n
        How often each of the n texts was given.

    Returns
    -------
    list of list of int
        The groups, each with the most frequent text first.
    """
    compared = {
        (min(a, b), max(a, b)): value
        for a, b, value in zip(
            np.asarray(left_texts, dtype=np.int64).tolist(),
            np.asarray(right_texts, dtype=np.int64).tolist(),
            np.asarray(p, dtype=np.float64).tolist(),
            strict=True,
        )
        if a != b
    }
    order = sorted(range(len(weight)), key=lambda i: (-weight[i], i))
    rank = {text: position for position, text in enumerate(order)}
    groups = [sorted(group, key=rank.__getitem__) for group in _linked(len(weight), compared, threshold)]
    return sorted(groups, key=lambda group: rank[group[0]])


def _linked(n: int, compared: Mapping[tuple[int, int], float], threshold: float) -> list[list[int]]:
    """Groups by average linkage, one connected component after the other."""
    todo = [(list(range(n)), threshold)]
    groups: list[list[int]] = []
    while todo:
        members, cut = todo.pop()
        number = {text: index for index, text in enumerate(members)}
        links = [pair for pair, value in compared.items() if value >= cut and pair[0] in number]
        label = components(len(members), [number[a] for a, _ in links], [number[b] for _, b in links])
        by_label: dict[int, list[int]] = {}
        for text, component_label in zip(members, label.tolist(), strict=True):
            by_label.setdefault(component_label, []).append(text)
        for component in by_label.values():
            higher = next((step for step in _STEPS if step > cut), None)
            if len(component) > _LARGEST and higher is not None:
                todo.append((component, higher))
            else:
                groups += _clustered(component, compared, threshold)
    return groups


def _clustered(texts: list[int], compared: Mapping[tuple[int, int], float], threshold: float) -> list[list[int]]:
    if len(texts) <= 2:
        return [texts]
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    number = {text: index for index, text in enumerate(texts)}
    distance = np.ones((len(texts), len(texts)))
    for a, text in enumerate(texts):
        for b in range(a):
            value = compared.get((min(text, texts[b]), max(text, texts[b])))
            if value is not None:
                distance[a, b] = distance[b, a] = 1.0 - value
    label = fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - threshold + 1e-9, "distance")
    groups: dict[int, list[int]] = {}
    for text, cluster in zip(number, label.tolist(), strict=True):
        groups.setdefault(cluster, []).append(text)
    return list(groups.values())
