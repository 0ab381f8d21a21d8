"""What each rater contributes to an open list of codes: coverage, overlap, novelty and divergence.

The entries of a codebook are the merged list, and the weight of an entry is the number of raters who have it.
Intervals are a jackknife over items that keeps the entries: without the only item on which a rater has an entry, the
entry loses the rater.

References
----------
Chen, J. et al. (2024). A computational method for measuring "open codes" in qualitative analysis. arXiv 2411.12142.
Miller, R. G. (1974). The jackknife: a review. Biometrika 61, 1-15.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats
from softirr.statistics.coefficients.intervals import wald

__all__ = ["FIGURES", "Contribution", "contributions"]

FIGURES = ("coverage", "overlap", "novelty", "divergence")
Interval95 = tuple[float, float] | None
Places = Mapping[str, Collection[int]]
"""The items on which each rater has an entry."""


@dataclass(frozen=True)
class Contribution:
    """What a rater contributes.

    Attributes
    ----------
    rater : str
    entries : int
        Entries that the rater has.
    coverage : float
        Weight of the rater's entries, as a share of the weight of all entries.
    overlap : float or None
        The same with the rater taken out of all weights: the share of what the others have. None without others.
    novelty : float or None
        The rater's share of the entries that only one rater has; None where there are no such entries.
    divergence : float
        Distance of the rater's weights from the weights of all (square root of the Jensen-Shannon divergence): 0 if the
        rater has every entry, and at most 1.
    ci95 : tuple of ((float, float) or None)
        95% intervals of the four figures over items; None where one is undefined, also without one item.
    """

    rater: str
    entries: int
    coverage: float
    overlap: float | None
    novelty: float | None
    divergence: float
    ci95: tuple[Interval95, ...] = (None,) * len(FIGURES)

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``contributions`` in the JSON of the codebook."""
        shown: dict[str, Any] = {"rater": self.rater, "entries": self.entries}
        for figure, interval in zip(FIGURES, self.ci95, strict=True):
            shown[figure] = getattr(self, figure)
            shown[f"{figure}_ci95"] = None if interval is None else list(interval)
        return shown


@dataclass
class _Sums:
    """Sums over the entries that all four figures follow from, for all items or without one of them.

    Attributes
    ----------
    weight : float
        Of all entries.
    single : float
        Entries that only one rater has.
    of_rater : ndarray, shape (3, n_raters)
        Weight of each rater's entries, their number, and the number that no other rater has.
    """

    weight: float
    single: float
    of_rater: Floats

    def add(self, raters: Collection[int], sign: int) -> None:
        """Add an entry of these raters, or remove it."""
        n = len(raters)
        self.weight += sign * n
        self.single += sign * (n == 1)
        for rater in raters:
            self.of_rater[:, rater] += sign * np.array([n, 1, n == 1])

    def figures(self) -> Floats:
        """The four figures of each rater, shape (4, n_raters), NaN where one is not defined."""
        weight, entries, alone = self.of_rater
        with np.errstate(divide="ignore", invalid="ignore"):
            coverage = weight / self.weight
            overlap = (weight - entries) / (self.weight - entries)
            novelty = alone / self.single if self.single else np.full(len(alone), np.nan)
            # the rater's weights are those of all, divided by the coverage, so the divergence follows from the coverage
            inside = coverage * np.log2(2 * coverage / (1 + coverage)) + np.log2(2 / (1 + coverage)) + 1 - coverage
        divergence = np.sqrt(np.maximum(np.where(coverage > 0, inside, np.nan) / 2, 0.0))
        return np.stack([coverage, overlap, novelty, divergence])


def contributions(entries: Sequence[Collection[str] | Places]) -> tuple[Contribution, ...]:
    """What each rater contributes to a merged list.

    Parameters
    ----------
    entries : sequence of collection of str, or of mapping
        The raters who have each entry. Mappings from a rater to the items on which the rater has it give intervals too.

    Returns
    -------
    tuple of Contribution
        In the order of the raters' names.

    Examples
    --------
    >>> both, only_ann = {"ann", "ben"}, {"ann"}
    >>> [(c.rater, round(c.coverage, 2), c.overlap, c.novelty) for c in contributions([both, only_ann])]
    [('ann', 1.0, 1.0, 1.0), ('ben', 0.67, 0.5, 0.0)]
    """
    used = [entry for entry in entries if entry]
    names = sorted({rater for entry in used for rater in entry})
    number = {rater: at for at, rater in enumerate(names)}
    have = [frozenset(number[rater] for rater in entry) for entry in used]
    sums = _Sums(0, 0, np.zeros((3, len(names))))
    for raters in have:
        sums.add(raters, 1)
    figures = sums.figures()
    counts = sums.of_rater[1].astype(int).tolist()
    places = [entry for entry in used if isinstance(entry, Mapping)]
    intervals = _jackknife(sums, have, places, number) if len(places) == len(used) else None
    result = []
    for at, rater in enumerate(names):
        coverage, overlap, novelty, divergence = (None if np.isnan(x) else float(x) for x in figures[:, at])
        ci95 = (None,) * len(FIGURES) if intervals is None else tuple(row[at] for row in intervals)
        result.append(Contribution(rater, counts[at], coverage or 0.0, overlap, novelty, divergence or 0.0, ci95))
    return tuple(result)


def _jackknife(
    sums: _Sums, have: Sequence[frozenset[int]], places: Sequence[Places], number: Mapping[str, int]
) -> list[list[Interval95]] | None:
    """Intervals of each figure of each rater; None with fewer than two items."""
    only: dict[int, dict[int, set[int]]] = {}  # item, entry, raters who have the entry on this item only
    n_items = len({item for entry in places for items in entry.values() for item in items})
    for at, entry in enumerate(places):
        for rater, items in entry.items():
            if len(set(items)) == 1:
                only.setdefault(next(iter(items)), {}).setdefault(at, set()).add(number[rater])
    if n_items < 2:
        return None
    values = sums.figures()
    without = np.repeat(values[None], n_items, axis=0)
    for row, lost in enumerate(only.values()):
        changed = _Sums(sums.weight, sums.single, sums.of_rater.copy())
        for at, raters in lost.items():
            changed.add(have[at], -1)
            changed.add(have[at] - raters, 1)
        without[row] = changed.figures()
    spread = (without - without.mean(axis=0)) ** 2
    errors = np.sqrt(spread.sum(axis=0) * (n_items - 1) / n_items)
    return [
        [_interval(value, error, n_items) for value, error in zip(row, of_row, strict=True)]
        for row, of_row in zip(values.tolist(), errors.tolist(), strict=True)
    ]


def _interval(value: float, error: float, n_items: int) -> Interval95:
    if np.isnan(error):
        return None
    low, high = wald(value, error, df=n_items - 1)
    return max(low, 0.0), high
