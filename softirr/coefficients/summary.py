"""Every coefficient of a project, its raters and its rater pairs."""

from __future__ import annotations

from dataclasses import dataclass

from softirr.chance.expected import Chance
from softirr.coefficients import chance_corrected as co
from softirr.coefficients.distributions import beyond_chance, ks, sigma
from softirr.coefficients.estimate import Estimate, Undefined, undefined
from softirr.tables.ratings import Floats, Ratings

__all__ = ["COEFFICIENTS", "MOST_RATER_PAIRS", "Summary", "summarize"]

Trio = tuple[Estimate, Estimate, Estimate]

COEFFICIENTS = (
    "observed_agreement",
    "cohen_kappa",
    "scott_pi",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac2",
    "sigma",
    "ks",
)
"""Every coefficient, in the order of reports."""

MOST_RATER_PAIRS = 50_000
"""Most rater pairs that a summary lists (317 raters who share items with each other); each takes a kilobyte."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of every coefficient of the project, its raters and its rater pairs.

    Attributes
    ----------
    coefficients : dict of str to Estimate
        The project's coefficients.
    raters, rater_pairs : tuple of (Estimate, Estimate, Estimate)
        Observed agreement, Cohen's kappa, and sigma against the chance distribution of the whole project, for each rater and rater pair.
        ``rater_pairs`` is empty where there are more than ``MOST_RATER_PAIRS``.
    beyond_chance : shape (P,), or None where there is no chance distribution
        See :func:`softirr.coefficients.distributions.beyond_chance`.
    """

    coefficients: dict[str, Estimate]
    raters: tuple[Trio, ...]
    rater_pairs: tuple[Trio, ...]
    beyond_chance: Floats | None = None


def summarize(ratings: Ratings, scores: Floats, chance: Chance | None, pooled: Chance | None = None) -> Summary:
    """Compute every coefficient from the scores.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance or None
        None where no answers can be compared.
    pooled : Chance, optional
        Chance computed with other marginals, for Fleiss, Scott and Gwet.

    Returns
    -------
    Summary
    """
    observed = co.observed_agreement(ratings, scores)
    if chance is None:
        missing = undefined(observed.undefined or Undefined.NO_OVERLAP)
        alone = undefined(Undefined.NO_OTHER_RATER)
        return Summary(
            dict.fromkeys(COEFFICIENTS, missing) | {"observed_agreement": observed},
            ((alone, alone, alone),) * ratings.n_raters,
            (),
        )
    other = pooled or chance
    known = chance.distribution
    beyond = None if known is None or len(ratings.comparable_items) < 2 else beyond_chance(scores, known)
    no_sigma = undefined(Undefined.ONE_ITEM)
    n_pairs = len(ratings.comparisons.rater_pairs)
    return Summary(
        coefficients={
            "observed_agreement": observed,
            "cohen_kappa": co.mean_cohen(ratings, scores, chance),
            "scott_pi": co.scott(ratings, scores, other),
            "fleiss_kappa": co.fleiss(ratings, scores, other),
            "krippendorff_alpha": co.krippendorff(ratings, scores, chance),
            "gwet_ac2": co.gwet(ratings, scores, other),
            "sigma": sigma(ratings, scores, chance.distribution),
            "ks": ks(ratings, scores, chance.distribution),
        },
        raters=tuple(
            (
                co.rater_agreement(ratings, scores, rater),
                co.mean_cohen(ratings, scores, chance, rater=rater),
                no_sigma if beyond is None else co.rater_agreement(ratings, beyond, rater),
            )
            for rater in range(ratings.n_raters)
        ),
        rater_pairs=tuple(
            (
                co.pair_agreement(ratings, scores, pair),
                co.cohen_pair(ratings, scores, chance, pair),
                no_sigma if beyond is None else co.pair_agreement(ratings, beyond, pair),
            )
            for pair in range(n_pairs if n_pairs <= MOST_RATER_PAIRS else 0)
        ),
        beyond_chance=beyond,
    )
