"""sigma, KS and alpha computed as the code of their authors does (Braylan et al. 2022, package annotationmodeling).

Intended for comparisons with published figures. It differs from :mod:`softirr.statistics.coefficients.distributions`:
chance is a random sample with as many different-item pairs as there are same-item pairs; items with one answer count;
sigma estimates the chance distribution by a kernel density or a plain quantile, and counts ties as disagreement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.statistics.chance.equivalence import Equivalence
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined

__all__ = ["COMPAT", "Braylan2022", "estimates"]

COMPAT = "braylan2022"


@dataclass(frozen=True, eq=False)
class Braylan2022:
    """The statistics of two sets of distances.

    Attributes
    ----------
    observed : shape (n_o,)
        Distances 1 - S of the pairs of answers to one item, each unordered pair once.
    expected : shape (n_e,)
        Distances of pairs of answers to different items.
    """

    observed: Floats
    expected: Floats

    @classmethod
    def of(cls, ratings: Ratings, equivalence: Equivalence, scores: Floats, *, seed: int = 0) -> Braylan2022:
        """Compute the distances of a table; different-item pairs are drawn with replacement.

        Parameters
        ----------
        ratings : Ratings
            Needs at least one item with two answers, and answers to another item.
        equivalence : Equivalence
            Scores the drawn different-item pairs.
        scores : shape (P,)
            Equivalence of each of ``ratings.comparisons``.
        seed : int
            Seed of the draw; the authors' code sets none.
        """
        rng = np.random.default_rng(seed)
        left_rows, right_rows = _drawn(ratings, len(scores), rng)
        return cls(1 - scores, 1 - equivalence.score(ratings.answer[left_rows], ratings.answer[right_rows]))

    def alpha(self) -> float | None:
        """1 - mean observed / mean expected distance; None if all expected distances are 0."""
        mean = float(self.expected.mean())
        return 1 - float(self.observed.mean()) / mean if mean > 0 else None

    def sigma(self, level: float = 0.05, *, kde: bool = True) -> float:
        """Share of the observed distances that are smaller than all but a share ``level`` of the expected ones.

        With ``kde`` the distribution of the expected distances is a Gaussian kernel density (Scott's bandwidth),
        integrated from 0. Without it, or if all expected distances are the same, their quantile is used.
        """
        if not kde or np.ptp(self.expected) == 0:
            return 1 - float(np.mean(self.observed >= np.quantile(self.expected, level)))
        from scipy.stats import gaussian_kde

        density = gaussian_kde(self.expected)
        distinct, distinct_index = np.unique(self.observed, return_inverse=True)
        below = np.array([density.integrate_box_1d(0, d) for d in distinct.tolist()])[distinct_index]
        return 1 - float(np.mean(below >= level))

    def ks(self) -> float:
        """Maximum over x of F_observed(x) - F_expected(x)."""
        from scipy.stats import ks_2samp

        return float(ks_2samp(self.observed, self.expected, alternative="greater").statistic)


def estimates(ratings: Ratings, equivalence: Equivalence, scores: Floats, *, seed: int = 0) -> dict[str, Estimate]:
    """Estimate sigma and KS as the authors' code does, without intervals.

    Parameters
    ----------
    equivalence : Equivalence
        Scores answers of different items.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    seed : int
        Seed of the sampled different-item pairs.

    Returns
    -------
    dict of str to Estimate
        ``sigma`` and ``ks``.
    """
    reason: Any = missing(ratings)
    if reason is None and len(np.unique(ratings.item)) < 2:
        reason = Undefined.ONE_ITEM
    if reason is not None:
        return {"sigma": undefined(reason), "ks": undefined(reason)}
    distances = Braylan2022.of(ratings, equivalence, scores, seed=seed)
    return {"sigma": Estimate(distances.sigma()), "ks": Estimate(distances.ks())}


def _drawn(ratings: Ratings, observed: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of pairs of different items, drawn with replacement.

    As many as there are same-item pairs, at most all of them.
    """
    n, sizes = len(ratings.item), ratings.per_item
    available = (n * n - int(np.sum(sizes**2))) // 2
    if available == 0:
        raise InputError("All answers are to one item, so there are no pairs of answers to different items.")
    n_pairs = min(observed, available)
    left_rows: Ints = np.zeros(0, dtype=np.int64)
    right_rows: Ints = np.zeros(0, dtype=np.int64)
    while len(left_rows) < n_pairs:
        a, b = rng.integers(0, n, (2, 2 * n_pairs))
        different = np.flatnonzero(ratings.item[a] != ratings.item[b])
        left_rows, right_rows = np.append(left_rows, a[different]), np.append(right_rows, b[different])
    return left_rows[:n_pairs], right_rows[:n_pairs]
