"""Groups of raters who agree more with each other than with the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.numbers import number
from softirr.report.scoring import Scored
from softirr.report.terminal_report import printable

__all__ = ["LEAST_SHARED", "RaterGroups", "rater_groups"]

LEAST_SHARED = 10
"""Fewest items that two raters have in common."""
_RESAMPLED = 200
_STABLE = 0.8
_APART = 0.1
_MOST_GROUPS = 5


@dataclass(frozen=True)
class RaterGroups(JsonObject):
    """Groups of raters who agree more with each other than with the others.

    Attributes
    ----------
    groups : tuple of tuple of str
    within, between : float
        Mean equivalence of two raters of one group, and of different groups.
    stability : float
        Mean adjusted Rand index with the groups of resampled items: 1 is always the same groups, 0 is chance.
    found : bool
        Whether the groups are stable and apart; otherwise they are noise.
    """

    groups: tuple[tuple[str, ...], ...]
    within: float
    between: float
    stability: float
    found: bool

    @property
    def sentences(self) -> list[str]:
        """The groups in words."""
        if not self.found:
            return [
                "No groups of raters: the best division is not stable or not separated (stability "
                f"{number(self.stability)})."
            ]
        names = "; ".join(", ".join(map(printable, group)) for group in self.groups)
        return [
            f"Groups of raters who agree with each other: {names}.",
            f"Mean equivalence within groups {number(self.within)}, between groups {number(self.between)}, "
            f"stability {number(self.stability)}.",
        ]


def rater_groups(table: AnnotationTable, scored: Scored) -> RaterGroups | None:
    """Cluster raters by average linkage of the mean equivalence of each pair.

    Their stability is tested on resampled items.

    Parameters
    ----------
    table : AnnotationTable
    scored : Scored

    Returns
    -------
    RaterGroups or None
        None with fewer than four raters, or where two raters share fewer than ``LEAST_SHARED`` items.

    References
    ----------
    Hubert, L. and Arabie, P. (1985). Comparing partitions. Rousseeuw, P. J. (1987). Silhouettes.
    """
    comparisons = scored.ratings.comparisons
    n, pairs = len(table.raters), comparisons.rater_pairs
    if n < 4 or len(pairs) < n * (n - 1) // 2 or comparisons.shared.min() < LEAST_SHARED:
        return None
    m, items = len(pairs), scored.ratings.n_items
    total = np.zeros((m, items))
    count = np.zeros((m, items))
    np.add.at(total, (comparisons.rater_pair, comparisons.item), scored.scores)
    np.add.at(count, (comparisons.rater_pair, comparisons.item), 1.0)
    own = total.sum(axis=1) / count.sum(axis=1)
    label, apart = _best(own, pairs, n)
    k = int(label.max()) + 1
    rng = np.random.default_rng(scored.options.seed)
    same = []
    for _ in range(_RESAMPLED):
        weights = np.bincount(rng.integers(0, items, items), minlength=items).astype(np.float64)
        shared = count @ weights
        if shared.min() <= 0:
            continue
        same.append(_rand(label, _cut(total @ weights / shared, pairs, n, k)))
    stability = float(np.mean(same)) if same else 0.0
    together = label[pairs[:, 0]] == label[pairs[:, 1]]
    groups = tuple(tuple(table.raters[i] for i in np.flatnonzero(label == number).tolist()) for number in range(k))
    within = float(own[together].mean()) if together.any() else 1.0
    between = float(own[~together].mean()) if (~together).any() else within
    return RaterGroups(groups, within, between, stability, k > 1 and stability >= _STABLE and apart >= _APART)


def _best(own: Floats, pairs: Ints, n: int) -> tuple[Ints, float]:
    """The number of groups whose raters agree most beyond the other groups, relative to the spread of all.

    Groups of one count for nothing.
    """
    divisions: list[tuple[float, Ints]] = []
    for k in range(2, min(_MOST_GROUPS, n - 1) + 1):
        label = _cut(own, pairs, n, k)
        divisions.append((_silhouette(own, pairs, label), label))
    value, label = max(divisions, key=lambda pair: pair[0])
    return label, value


def _cut(own: Floats, pairs: Ints, n: int, k: int) -> Ints:
    """Labels of k groups, numbered by their first rater."""
    from scipy.cluster.hierarchy import fcluster, linkage

    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    label = fcluster(linkage(1 - own[order], "average"), k, "maxclust")
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


def _silhouette(own: Floats, pairs: Ints, label: Ints) -> float:
    """Mean silhouette of the raters (Rousseeuw 1987) with 1 - agreement as distance; 0 for a rater alone."""
    n = len(label)
    if label.max() == 0:  # all raters are equally far from each other
        return 0.0
    far = np.zeros((n, n))
    far[pairs[:, 0], pairs[:, 1]] = far[pairs[:, 1], pairs[:, 0]] = 1 - own
    values = []
    for i in range(n):
        mine = (label == label[i]) & (np.arange(n) != i)
        if not mine.any():
            values.append(0.0)
            continue
        a = float(far[i, mine].mean())
        b = min(float(far[i, label == other].mean()) for other in np.unique(label) if other != label[i])
        values.append((b - a) / max(a, b, 1e-12))
    return float(np.mean(values))


def _rand(a: Ints, b: Ints) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    i, j = np.triu_indices(len(a), 1)
    one, two = a[i] == a[j], b[i] == b[j]
    both, first, second, n = (one & two).sum(), one.sum(), two.sum(), len(i)
    chance = first * second / n
    most = (first + second) / 2
    return 1.0 if most == chance else float((both - chance) / (most - chance))
