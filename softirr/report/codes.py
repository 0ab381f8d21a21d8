"""Concepts of an item's matches and suggestion by terminologies, and concepts of every answer as CSV."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.cells import csv_text
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import Measure
from softirr.meaning.measures.terminology import sources_of, terminology_measure_of
from softirr.meaning.terminology.coder import Code, Coder
from softirr.report.result_parts import ItemAgreement
from softirr.statistics.matching.consensus import Match

__all__ = ["code_rows", "codes_csv", "codes_of_match", "items_with_codes"]

HEADER = ("item", "rater", "text", "concept", "name", "score", "how")
UNKNOWN = "not known"


def codes_of_match(match: Match, coder: Coder) -> tuple[Code, ...]:
    """The concepts of a match: each with the mean of its scores over the texts, the highest first.

    Parameters
    ----------
    match : Match
    coder : Coder

    Returns
    -------
    tuple of Code
    """
    texts = list(match.texts.values())
    by_concept: dict[tuple[str, str], Code] = {}
    scores: defaultdict[tuple[str, str], float] = defaultdict(float)
    for text in texts:
        for code in coder.codes(text):
            key = code.terminology, code.id
            if key not in by_concept or code.score > by_concept[key].score:
                by_concept[key] = code
            scores[key] += code.score / len(texts)
    order = sorted(by_concept, key=lambda key: (-round(scores[key], 9), key))
    return tuple(replace(by_concept[key], score=scores[key]) for key in order)


def items_with_codes(items: Sequence[ItemAgreement], measure: Measure) -> tuple[ItemAgreement, ...]:
    """Items with the concepts of their matches and suggestions.

    Parameters
    ----------
    items : sequence of ItemAgreement
    measure : Measure

    Returns
    -------
    tuple of ItemAgreement
        The items as they are where the measure has no terminologies.
    """
    with_terms = terminology_measure_of(measure)
    if with_terms is None:
        return tuple(items)
    coder = with_terms.coder
    coder.know([text for item in items for match in item.matches for text in match.texts.values()])
    pairs = [(match.texts[a], match.texts[b]) for item in items for match in item.matches for a, b, _ in match.pairs]
    sources = iter(sources_of(measure, pairs))
    result = []
    for item in items:
        matches = tuple(
            replace(
                match, codes=codes_of_match(match, coder), sources=tuple(sorted({next(sources) for _ in match.pairs}))
            )
            for match in item.matches
        )
        of_wording = {match.wording: match.codes for match in matches}
        coded = [of_wording.get(text) or coder.codes(text) for text in item.suggestion_parts or item.suggestion]
        suggested = (tuple(code for own in coded for code in own),) if item.suggestion_parts else tuple(coded)
        result.append(replace(item, matches=matches, suggestion_codes=suggested))
    return tuple(result)


def code_rows(table: AnnotationTable, coder: Coder) -> Iterator[tuple[Any, ...]]:
    """A row for each text of each answer and each of its concepts, as ``HEADER`` names them.

    Parameters
    ----------
    table : AnnotationTable
    coder : Coder

    Yields
    ------
    tuple
    """
    coder.know(table.texts)  # all at once
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        for number in table.answers[answer]:
            text = table.texts[number]
            start = table.items[item], table.raters[rater], text
            codes = coder.codes(text)
            if not codes:
                yield *start, "", "", "", UNKNOWN
            for code in codes:
                yield *start, code.id, code.name, round(code.score, 4), code.match_kind


def codes_csv(table: AnnotationTable, coder: Coder) -> str:
    """What ``softirr code`` prints: the concepts of every text, as CSV that spreadsheets take for text.

    Parameters
    ----------
    table : AnnotationTable
    coder : Coder

    Returns
    -------
    str
    """
    return csv_text([HEADER, *code_rows(table, coder)])
