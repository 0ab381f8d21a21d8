"""Parts of an agreement report: raters, rater pairs, items, agreement by chance; frozen, and JSON by ``to_dict``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.meaning.measures import Measure
from softirr.meaning.measures.known_pairs import Terminologies, sources_of
from softirr.report.reasons import ItemReason
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.matching.consensus import Match


class _WithAgreement(JsonObject):
    """Results with an agreement, which is a value and an interval in the JSON object."""

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``raters`` or ``rater_pairs``."""
        entries: dict[str, Any] = {}
        for key, value in super().to_dict().items():
            is_agreement = key in ("agreement", "observed_agreement")
            entries |= {key: value["value"], f"{key}_ci95": value["ci95"]} if is_agreement else {key: value}
        return entries


@dataclass(frozen=True)
class RaterPairAgreement(_WithAgreement):
    """Agreement of two raters over the items both answered.

    Attributes
    ----------
    raters : (str, str)
        Names of the two raters, as in the input.
    n_items : int
        Items that both answered.
    observed_agreement : Coefficient
        Mean equivalence of their answers.
    expected_agreement : float
        Their agreement by chance.
    cohen_kappa, sigma : Coefficient
        Coefficients of these two raters.
    """

    raters: tuple[str, str]
    n_items: int
    observed_agreement: Coefficient
    expected_agreement: float
    cohen_kappa: Coefficient
    sigma: Coefficient


@dataclass(frozen=True)
class RaterAgreement(_WithAgreement):
    """Agreement of one rater with all others.

    Attributes
    ----------
    id : str
        The rater.
    n_items : int
        Items that this rater answered.
    agreement : Coefficient
        Mean equivalence with the other raters' answers.
    cohen_kappa : Coefficient
        Mean of Cohen's kappa over this rater's pairs.
    sigma : Coefficient
        sigma of this rater's pairs of answers.
    others : Coefficient or None
        Mean equivalence of the other raters' answers with each other; None with fewer than three raters.
    difference : Coefficient or None
        ``agreement`` minus ``others``, with an interval that is adjusted for the number of raters.
    """

    id: str
    n_items: int
    agreement: Coefficient
    cohen_kappa: Coefficient
    sigma: Coefficient
    others: Coefficient | None = None
    difference: Coefficient | None = None


@dataclass(frozen=True)
class ItemAgreement(JsonObject):
    """Agreement on one item.

    Attributes
    ----------
    id : str
        Id of the item, as in the input.
    agreement : float or None
        Mean equivalence of its pairs of answers; None with fewer than two answers.
    kappa : float or None
        Agreement beyond the chance of the whole project, (P_i - Pe) / (1 - Pe) with the Pe of Fleiss; their mean is
        Fleiss' kappa. None if it was not requested or is undefined.
    sigma : float or None
        Share of its pairs of answers that fewer than 5% of the pairs of answers to different items exceed. None if it
        was not requested or is undefined. At 0 the answers are as far apart as answers to different items.
    n_raters : int
        How many raters answered it.
    pairs : tuple of (str, str, float)
        Two raters and the equivalence of their answers.
    matches, unmatched, suggestion
        See :func:`softirr.statistics.matching.consensus.consensus`.
    written : dict of str to tuple of str
        Raters with split answers (:func:`softirr.answers.prepare.split_table`), and their texts as they wrote
        them.
    reasons : tuple of ItemReason
        The pairs of texts that do not match, and why.
    """

    id: str
    agreement: float | None
    kappa: float | None
    sigma: float | None
    n_raters: int
    pairs: tuple[tuple[str, str, float], ...]
    matches: tuple[Match, ...]
    unmatched: dict[str, tuple[str, ...]]
    suggestion: tuple[str, ...]
    written: dict[str, tuple[str, ...]]
    reasons: tuple[ItemReason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``items``."""
        kinds = {frozenset(zip(entry.raters, entry.texts, strict=True)): entry.reason.kind for entry in self.reasons}
        return {
            **super().to_dict(),
            "pairs": [{"raters": [a, b], "equivalence": value} for a, b, value in self.pairs],
            "matches": [match.to_dict() | {"reason": _match_reason(match, kinds)} for match in self.matches],
        }


def _match_reason(match: Match, kinds: Mapping[frozenset[tuple[str, str | None]], str]) -> str | None:
    """The reason that most pairs of texts of a match have; None if they match."""
    pairs = map(frozenset, combinations(match.texts.items(), 2))
    counts = Counter(kinds[pair] for pair in pairs if pair in kinds)
    return max(counts, key=counts.__getitem__, default=None)


@dataclass(frozen=True)
class Expected(JsonObject):
    """Agreement by chance; the values are None if the coefficient is not defined.

    Attributes
    ----------
    cohen : float or None
        Mean over the rater pairs.
    fleiss, krippendorff : float or None
        Of pooled answers, drawn with and without replacement.
    method : str
        ``exact``, ``permutation``, ``sample`` or ``audit``.
    standard_error : float
        What sampling pairs for chance adds; 0 for ``exact``.
    pairs_scored : int
        Pairs of different answers that were scored for it.
    """

    cohen: float | None
    fleiss: float | None
    krippendorff: float | None
    method: str
    standard_error: float
    pairs_scored: int


@dataclass(frozen=True)
class TerminologyCoverage(JsonObject):
    """How many different texts of a table the terminologies know.

    Attributes
    ----------
    texts, known_texts : int
        Number of different texts, and of those that name a concept.
    """

    texts: int
    known_texts: int


def coverage_of(table: AnnotationTable, measure: Measure) -> TerminologyCoverage | None:
    """Coverage of a table's texts; None if the measure has no terminology."""
    with_terms = measure.stage(Terminologies)
    if with_terms is None:
        return None
    n_known = sum(bool(with_terms.lookup.find(text)) for text in table.texts)
    return TerminologyCoverage(len(table.texts), n_known)


def with_sources(items: Sequence[ItemAgreement], measure: Measure) -> Sequence[ItemAgreement]:
    """Items with the source of the scores of each match; unchanged if the measure has no terminology."""
    if measure.stage(Terminologies) is None:
        return items
    pairs = [(match.texts[a], match.texts[b]) for item in items for match in item.matches for a, b, _ in match.pairs]
    sources = iter(sources_of(measure, pairs))

    def sourced(match: Match) -> Match:
        return replace(match, sources=tuple(sorted({next(sources) for _ in match.pairs})))

    return [replace(item, matches=tuple(map(sourced, item.matches))) for item in items]
