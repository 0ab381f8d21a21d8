"""The part of a terminology in a report: known texts, and sources of the scores of matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.meaning.measures import Measure
from softirr.meaning.measures.terminology import sources_of, terminologies_of
from softirr.report.result_parts import ItemAgreement


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
    with_terms = terminologies_of(measure)
    if with_terms is None:
        return None
    n_known = sum(bool(with_terms.lookup.find(text)) for text in table.texts)
    return TerminologyCoverage(len(table.texts), n_known)


def items_with_sources(items: Sequence[ItemAgreement], measure: Measure) -> tuple[ItemAgreement, ...]:
    """Items with the source of the scores of each match; unchanged if the measure has no terminology."""
    if terminologies_of(measure) is None:
        return tuple(items)
    pairs = [(match.texts[a], match.texts[b]) for item in items for match in item.matches for a, b, _ in match.pairs]
    sources = iter(sources_of(measure, pairs))
    return tuple(
        replace(
            item,
            matches=tuple(
                replace(match, sources=tuple(sorted({next(sources) for _ in match.pairs}))) for match in item.matches
            ),
        )
        for item in items
    )
