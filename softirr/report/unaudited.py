"""The intervals of coefficients that nobody has audited: sampling of the items, and the measure's error on benchmark populations."""

from __future__ import annotations

from collections.abc import Mapping

from softirr.chance.expected import Chance
from softirr.coefficients import chance_corrected as co
from softirr.coefficients.estimate import Estimate
from softirr.coefficients.informed import unaudited
from softirr.coefficients.intervals import Coefficient, analytic
from softirr.matching.assignment import AnswerScorer
from softirr.measures import measure
from softirr.measures.known_errors import known_error
from softirr.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.tables.ratings import Floats, Ratings
from softirr.tables.table import AnnotationTable

__all__ = ["record_of", "unaudited_intervals"]


def unaudited_intervals(
    coefficients: Mapping[str, Coefficient],
    table: AnnotationTable,
    ratings: Ratings,
    chance: Chance | None,
    provenance: Provenance,
) -> dict[str, tuple[float, float]]:
    """95% intervals with the measure's error, by coefficient; those without a record or a standard error are left out.

    Identical texts mean the same whatever the measure, so no interval begins below that of identical texts alone.

    Parameters
    ----------
    coefficients : mapping of str to Coefficient
        By the measure.
    table : AnnotationTable
    ratings : Ratings
        Of the table.
    chance : Chance or None
        By the measure.
    provenance : Provenance
        Of the measure.

    Returns
    -------
    dict of str to (float, float)
    """
    comparisons = ratings.comparisons
    identical = AnswerScorer(table, PairScorer(measure("exact"), table.texts)).score(
        ratings.answer[comparisons.left], ratings.answer[comparisons.right]
    )
    least = {name: analytic(estimate) for name, estimate in _least(ratings, identical, chance).items()}
    found: dict[str, tuple[float, float]] = {}
    for name, coefficient in coefficients.items():
        interval = unaudited(name, coefficient, known_error(name, provenance), len(ratings.comparable_items))
        if interval is None:
            continue
        low, high = interval
        bound = least[name]
        if bound.ci95 is not None:
            low, high = max(low, bound.ci95[0]), max(high, bound.ci95[1])
        found[name] = (low, high)
    return found


def record_of(provenance: Provenance) -> str | None:
    """The name of the record that the intervals rest on.

    Parameters
    ----------
    provenance : Provenance
        Of the measure.

    Returns
    -------
    str or None
    """
    known = known_error("krippendorff_alpha", provenance)
    return None if known is None else known.measure


def _least(ratings: Ratings, identical: Floats, chance: Chance | None) -> dict[str, Estimate]:
    """The coefficients, were only identical texts equivalent."""
    found = {"observed_agreement": co.observed_agreement(ratings, identical)}
    if chance is not None:
        found |= {
            "cohen_kappa": co.mean_cohen(ratings, identical, chance),
            "scott_pi": co.scott(ratings, identical, chance),
            "fleiss_kappa": co.fleiss(ratings, identical, chance),
            "krippendorff_alpha": co.krippendorff(ratings, identical, chance),
        }
    return found
