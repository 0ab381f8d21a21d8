"""Fields of a project side by side, and the values that raters confuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.kinds import NO_VALUE, find_kind
from softirr.answers.ratings import Floats, Ratings
from softirr.answers.table import AnnotationTable
from softirr.json_object import JsonObject
from softirr.meaning.measures.arrays import pair_keys
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pairs import PairScorer
from softirr.numbers import plural
from softirr.report.items import ItemOptions, item_agreements
from softirr.report.key_figures import expected_agreement, headline, raters_below_the_others
from softirr.report.result_parts import ItemAgreement
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.text import printable

_MOST = 20
MOST_CATEGORIES = 40
"""Maximum number of categories of a confusion matrix."""
_MOST_ITEMS = 40


@dataclass(frozen=True)
class Confusion(JsonObject):
    """Two different answers that raters gave to the same items.

    Attributes
    ----------
    values : tuple of (str, str)
        Several values of one answer are joined by semicolons.
    pairs : int
        Pairs of answers.
    items : int
        Items with such a pair.
    examples : tuple of str
        The first of these items, 40 at most.
    """

    values: tuple[str, str]
    pairs: int
    items: int
    examples: tuple[str, ...]


def confusions(table: AnnotationTable, ratings: Ratings, scores: Floats) -> tuple[Confusion, ...]:
    """The pairs of different answers that are most frequent, in fields with categories.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the table.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    tuple of Confusion
        The most frequent first, 20 at most.
    """
    if not find_kind(table.kind).confusions:
        return ()
    order = _in_order(table)
    comparisons, rank, size = ratings.comparisons, np.argsort(order), len(order)
    differ = np.flatnonzero(scores < 1)
    a, b = (rank[ratings.answer[rows[differ]]] for rows in (comparisons.left_rows, comparisons.right_rows))
    keys, key_index, counts = np.unique(pair_keys(a, b, size), return_inverse=True, return_counts=True)
    rows = []
    for number in np.argsort(-counts, kind="stable")[:_MOST].tolist():
        items = np.unique(comparisons.item[differ[key_index == number]]).tolist()
        values = ["; ".join(table.texts_of(order[index])) for index in divmod(int(keys[number]), size)]
        examples = tuple(table.items[item] for item in items[:_MOST_ITEMS])
        rows.append(Confusion((values[0], values[1]), int(counts[number]), len(items), examples))
    return tuple(rows)


@dataclass(frozen=True)
class ConfusionMatrix(JsonObject):
    """How often raters gave two categories to the same item, and how often each rater gave each category.

    Attributes
    ----------
    categories : tuple of str
        All answers that occur, in the order of their numbers or the alphabet; several values of an answer are joined
        by semicolons.
    pairs : tuple of tuple of int
        Pairs of answers to one item by their two categories: symmetric, with agreement on the diagonal.
    labels : dict of str to tuple of int
        Number of answers in each category, by rater.
    """

    categories: tuple[str, ...]
    pairs: tuple[tuple[int, ...], ...]
    labels: dict[str, tuple[int, ...]]


def confusion_matrix(table: AnnotationTable, ratings: Ratings) -> ConfusionMatrix | None:
    """The confusion matrix of a field with categories.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the table.

    Returns
    -------
    ConfusionMatrix or None
        None for fields without categories, and for more than ``MOST_CATEGORIES`` of them.
    """
    if not find_kind(table.kind).confusions or len(table.answers) > MOST_CATEGORIES:
        return None
    order = _in_order(table)
    comparisons, rank, n = ratings.comparisons, np.argsort(order), len(order)
    first, second = rank[ratings.answer[comparisons.left_rows]], rank[ratings.answer[comparisons.right_rows]]
    upper = np.bincount(pair_keys(first, second, n), minlength=n * n).reshape(n, n)
    counts = np.maximum(upper, upper.T)
    labels = {
        rater: tuple(np.bincount(rank[table.answer[table.rater == number]], minlength=n).tolist())
        for number, rater in enumerate(table.raters)
    }
    categories = tuple(_name(table, answer) for answer in order)
    return ConfusionMatrix(categories, tuple(map(tuple, counts.tolist())), labels)


def _in_order(table: AnnotationTable) -> list[int]:
    """Numbers of the answers in the order of their values or names, whatever the order of the table's rows."""
    number = find_kind(table.kind).number

    def order(answer: int) -> tuple[list[float], str]:
        return [number(text) for text in table.texts_of(answer)] if number else [], _name(table, answer)

    return sorted(range(len(table.answers)), key=order)


def _name(table: AnnotationTable, answer: int) -> str:
    return "; ".join(table.texts_of(answer)) or NO_VALUE


def compared_items(table: AnnotationTable, measure: KindMeasure) -> list[ItemAgreement]:
    """The agreement of each item with two answers or more, and of each two raters on it.

    Parameters
    ----------
    table : AnnotationTable
        Table of a kind other than text.
    """
    answers, ratings = AnswerScorer(table, PairScorer(measure, table.texts)), Ratings.of(table)
    items = item_agreements(answers, ratings, answers.of_comparisons(ratings), ItemOptions(matches=False))
    return [item for item in items if item.pairs]


def field_row(name: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """A field as an entry of ``fields`` in the JSON of ``softirr score``.

    Parameters
    ----------
    name : str
        Name of the field.
    report : mapping
        The result of ``AgreementReport.to_dict()``.
    """
    key, coefficient = headline(report) or (None, {})
    below = raters_below_the_others(report)
    return {
        "name": name,
        "kind": report["provenance"]["kind"],
        "coefficient": key,
        "value": coefficient.get("value"),
        "ci95": coefficient.get("ci95"),
        "expected_agreement": None if key is None else expected_agreement(report, key),
        "n_items": sum(item["agreement"] is not None for item in report["items"]),
        "n_left_out": sum(entry["reason"] == NO_VALUE for entry in report.get("excluded", ())),
        "deviates": below[0]["id"] if below else None,
        "confusions": report.get("confusions", []),
        "confusion_matrix": report.get("confusion_matrix"),
    }


def left_out_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sentences on answers that are not values of their field's kind, from entries of ``fields``."""
    return [
        f"{printable(row['name'])}: {plural(row['n_left_out'], 'answer is not a value', 'answers are not values')} of "
        f"the kind {printable(row['kind'])} and left out."
        for row in rows
        if row.get("n_left_out")
    ]
