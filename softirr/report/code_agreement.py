"""How many texts of a table terminologies know, and how far its raters agree on the concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.terminology.coder import Coder
from softirr.report.headline import HEADLINE
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.matrix import matrix_agreement

__all__ = ["CodeAgreement", "code_agreement"]

MOST_CATEGORIES = 4_000
"""Different coded answers up to which agreement on codes is computed: it needs a matrix of all their pairs."""
MOST_SETS = 500
"""The same for closeness where answers are sets."""


@dataclass(frozen=True)
class CodeAgreement:
    """What terminologies know of a table, and how far its raters agree on concepts.

    Attributes
    ----------
    texts, known_texts : int
        Distinct texts, and those that a terminology knows.
    given, known_given : int
        The same, counting a text as often as it was given.
    answers : int
        Answers with a code for each of their texts: only these are compared.
    coefficients, by_closeness : dict of str to Coefficient
        Agreement on the concepts: a different concept is 0, or as close as the graph has it. Empty where there are too
        many different answers.
    """

    texts: int
    known_texts: int
    given: int
    known_given: int
    answers: int
    coefficients: dict[str, Coefficient] = field(default_factory=dict)
    by_closeness: dict[str, Coefficient] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The object ``codes`` of the report (docs/reference/json.md)."""
        return {
            "texts": self.texts,
            "known_texts": self.known_texts,
            "coverage_of_texts": self.known_texts / self.texts if self.texts else None,
            "coverage_of_answers": self.known_given / self.given if self.given else None,
            "answers": self.answers,
            "coefficients": {name: value.to_dict() for name, value in self.coefficients.items()},
            "by_closeness": {name: value.to_dict() for name, value in self.by_closeness.items()},
        }


def code_agreement(table: AnnotationTable, coder: Coder) -> CodeAgreement:
    """Coverage of a table's texts, and agreement on their concepts.

    An ambiguous text means the concept that is most frequent in the table. Sets of concepts agree as sets of texts
    do: by the optimal assignment. Closeness is the share of common ancestors of two concepts, themselves included,
    among all their ancestors (Gentleman 2005).

    Parameters
    ----------
    table : AnnotationTable
    coder : Coder

    Returns
    -------
    CodeAgreement
    """
    known = coder.know(table.texts)
    times: Counter[int] = Counter()
    for answer, count in Counter(table.answer.tolist()).items():
        for text in table.answers[answer]:
            times[text] += count
    frequent: Counter[int] = Counter()
    for text, count in times.items():
        for concept in known[text].concepts if known[text] is not None else ():  # type: ignore[union-attr]
            frequent[concept] += count
    concept_of = [
        None if one is None else max(one.concepts, key=lambda concept: (frequent[concept], -concept)) for one in known
    ]
    coded = [
        None if any(concept_of[text] is None for text in answer) else frozenset(concept_of[text] for text in answer)
        for answer in table.answers
    ]
    categories = list(dict.fromkeys(one for one in coded if one is not None))
    ratings = Ratings.of(table)
    numbers = {one: place for place, one in enumerate(categories)}
    of_answer = np.array([-1 if one is None else numbers[one] for one in coded], dtype=np.int64)
    result = CodeAgreement(
        texts=len(table.texts),
        known_texts=sum(one is not None for one in known),
        given=sum(times.values()),
        known_given=sum(count for text, count in times.items() if known[text] is not None),
        answers=int((of_answer[ratings.answer] >= 0).sum()) if len(ratings.answer) else 0,
    )
    if not categories or len(categories) > MOST_CATEGORIES or not len(ratings.answer):
        return result
    matrix = np.full((len(table.items), len(table.raters)), -1, dtype=np.int64)
    matrix[ratings.item, ratings.rater] = of_answer[ratings.answer]
    concepts = sorted({concept for one in categories for concept in one})  # type: ignore[type-var]
    close = _closeness(concepts, coder)  # type: ignore[arg-type]
    place = {concept: i for i, concept in enumerate(concepts)}
    sets = [[place[concept] for concept in sorted(one)] for one in categories]  # type: ignore[type-var]
    single = all(len(one) == 1 for one in sets)
    graded: dict[str, Coefficient] = {}
    if single or len(sets) <= MOST_SETS:
        graded = _coefficients(matrix, _of_sets(sets, close))
    return replace(result, coefficients=_coefficients(matrix, _shared(sets, len(concepts))), by_closeness=graded)


def _coefficients(matrix: np.ndarray, similarity: Floats) -> dict[str, Coefficient]:
    values = matrix_agreement(matrix, similarity).coefficients
    return {name: values[name] for name in reversed(HEADLINE)}


def _closeness(concepts: Sequence[int], coder: Coder) -> Floats:
    """Share of common ancestors of two concepts among all their ancestors, each concept among its own, shape (n, n)."""
    from scipy import sparse

    numbers: dict[int, int] = {}
    rows, cols = [], []
    for row, concept in enumerate(concepts):
        for one in sorted({concept, *coder.ancestors(concept)}):
            rows.append(row)
            cols.append(numbers.setdefault(one, len(numbers)))
    within = sparse.csr_matrix(
        (np.ones(len(rows)), (rows, cols)), shape=(len(concepts), max(len(numbers), 1)), dtype=np.float64
    )
    common = np.asarray((within @ within.T).todense())
    sizes = np.diagonal(common)
    return np.asarray(common / (sizes[:, None] + sizes[None, :] - common))


def _shared(sets: Sequence[Sequence[int]], n: int) -> Floats:
    """Twice the shared concepts over both sizes, shape (V, V); two empty sets are 1."""
    from scipy import sparse

    rows = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    within = sparse.csr_matrix(
        (np.ones(len(rows)), (rows, [c for one in sets for c in one])), shape=(len(sets), max(n, 1))
    )
    both = np.asarray((within @ within.T).todense())
    sizes = np.array([len(one) for one in sets], dtype=np.float64)
    total = sizes[:, None] + sizes[None, :]
    return np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)


def _of_sets(sets: Sequence[Sequence[int]], close: Floats) -> Floats:
    """Equivalence of sets by the optimal assignment of their concepts (Wullschleger et al. 2026), shape (V, V)."""
    from scipy.optimize import linear_sum_assignment

    if all(len(one) == 1 for one in sets):
        order = [one[0] for one in sets]
        return np.asarray(close[np.ix_(order, order)])
    result = np.eye(len(sets))
    for i, one in enumerate(sets):
        for j, other in enumerate(sets[:i]):
            if one and other:
                own = close[np.ix_(one, other)]
                result[i, j] = result[j, i] = 2 * own[linear_sum_assignment(own, maximize=True)].sum() / sum(own.shape)
    return result
