"""What each rater contributes to an open list of codes: coverage, overlap, novelty and divergence.

The entries of a codebook are the merged list, and the weight of an entry is the number of raters who have it.

References
----------
Chen, J. et al. (2024). A computational method for measuring "open codes" in qualitative analysis. arXiv 2411.12142.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2, sqrt

__all__ = ["Contribution", "contributions"]


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
    """

    rater: str
    entries: int
    coverage: float
    overlap: float | None
    novelty: float | None
    divergence: float

    def to_dict(self) -> dict[str, str | int | float | None]:
        """An entry of ``contributions`` in the JSON of the codebook."""
        return {
            "rater": self.rater,
            "entries": self.entries,
            "coverage": self.coverage,
            "overlap": self.overlap,
            "novelty": self.novelty,
            "divergence": self.divergence,
        }


def contributions(entries: Sequence[Collection[str]]) -> tuple[Contribution, ...]:
    """What each rater contributes to a merged list.

    Parameters
    ----------
    entries : sequence of collection of str
        The raters who have each entry.

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
    have = [frozenset(raters) for raters in entries if raters]
    weights = [len(raters) for raters in have]
    total, novel = sum(weights), weights.count(1)
    result = []
    for rater in sorted(frozenset().union(*have)):
        own = [rater in raters for raters in have]
        mine = sum(weight for weight, has in zip(weights, own, strict=True) if has)
        of_others = total - sum(own)
        alone = sum(has and weight == 1 for weight, has in zip(weights, own, strict=True))
        result.append(
            Contribution(
                rater,
                sum(own),
                mine / total,
                (mine - sum(own)) / of_others if of_others else None,
                alone / novel if novel else None,
                _distance(
                    [weight / total for weight in weights],
                    [weight * has / mine for weight, has in zip(weights, own, strict=True)],
                ),
            )
        )
    return tuple(result)


def _distance(p: Sequence[float], q: Sequence[float]) -> float:
    """Square root of the Jensen-Shannon divergence of two distributions, with logarithms of base 2."""
    divergence = sum(x * log2(2 * x / (a + b)) / 2 for a, b in zip(p, q, strict=True) for x in (a, b) if x > 0)
    return sqrt(max(divergence, 0.0))
