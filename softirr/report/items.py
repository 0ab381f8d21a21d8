"""Agreement, matches and reasons of each item of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from softirr.answers.kinds import TEXT
from softirr.answers.prepare import split_table
from softirr.answers.ratings import Floats, Ints, Ratings, item_means
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.arrays import find_keys, mutual
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.meaning.policy.text_parts import known_words
from softirr.report.inputs import AgreementOptions, table_from
from softirr.report.reasons import Explain, explain_items, open_pairs
from softirr.report.result_parts import ItemAgreement, with_sources
from softirr.report.scoring import Scoring, open_scoring
from softirr.statistics.matching.answer_scorer import AnswerScorer, pair_keys
from softirr.statistics.matching.consensus import MANY, Consensus, consensus

_CERTAIN = 1e-12


def item_agreement(
    table: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    assignment: str = "optimal",
    reasons: bool = True,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> tuple[ItemAgreement, ...]:
    """Agreement and matches of each item alone, without chance: the part to repeat when an item changes.

    Parameters
    ----------
    table, measure, policy, assignment
        As for :func:`softirr.agreement`.
    reasons : bool
        Say for each pair of texts that does not match why.
    cache, progress
        As for :func:`softirr.agreement`.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> [item.agreement and round(item.agreement, 2) for item in softirr.item_agreement(table, "indel")]
    [0.91, None]
    """
    table, base = under_measure(table_from(table), measure, policy)
    with open_scoring(base, AgreementOptions(assignment=assignment), cache, progress) as scoring:
        answers, ratings = scoring.answers(table), Ratings.of(table)
        options = ItemOptions(explain=explainer(table, scoring) if reasons and table.kind == TEXT else None)
        return item_agreements(answers, ratings, answers.of_comparisons(ratings), options)


def under_measure(
    table: AnnotationTable, measure: str | Measure, policy: Policy | str | None
) -> tuple[AnnotationTable, Measure]:
    """The table and the measure that scores it: the distance of its kind, or a measure of texts under a policy."""
    if table.kind != TEXT:
        return table, measure if isinstance(measure, KindMeasure) else KindMeasure(table)
    return text_under_measure(table, measure, policy)


def text_under_measure(
    table: AnnotationTable, measure: str | Measure, policy: Policy | str | None
) -> tuple[AnnotationTable, Measure]:
    """A table of texts and the measure under a policy; a table that was split already stays."""
    scorer = measure_by_name(measure) if isinstance(measure, str) else measure
    if policy is None:
        return table, scorer
    policy_object = policy if isinstance(policy, Policy) else find_policy(policy)
    return split_table(table, policy_object.split), under_policy(scorer, policy_object)


def explainer(table: AnnotationTable, scoring: Scoring) -> Explain:
    """The function that explains pairs of texts of this table, for :func:`item_agreements`."""
    words, cache, progress = known_words(table.texts), scoring.cache, scoring.progress
    return partial(explain, measure=scoring.measure, project_words=words, cache=cache, progress=progress)


_NOT_MATCHED = Consensus((), {}, ())


@dataclass(frozen=True, eq=False)
class ItemOptions:
    """The data of each item in addition to its agreement.

    Attributes
    ----------
    expected : float, optional
        Expected agreement of Fleiss, for the kappa of each item.
    beyond : shape (P,), optional
        :func:`softirr.statistics.coefficients.braylan.beyond_chance` of each comparison, for the sigma of each
        item.
    max_pairs : int, optional
        Items with more pairs of raters list none of them, and no reasons.
    explain : callable, optional
        Gives the reasons of pairs that do not match; None finds none. Items of very many texts (``MANY``) get none.
    matches : bool
        Find matches and suggestions.
    """

    expected: float | None = None
    beyond: Floats | None = None
    max_pairs: int | None = None
    explain: Explain | None = None
    matches: bool = True


def item_agreements(
    answers: AnswerScorer, ratings: Ratings, scores: Floats, options: ItemOptions
) -> tuple[ItemAgreement, ...]:
    """One entry per item of the table, answered or not.

    Parameters
    ----------
    answers : AnswerScorer
        Scorer of the table's answers.
    ratings : Ratings
        Ratings of the table.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    """
    builder = _Builder(answers, ratings, scores, options)
    items = with_sources([builder.item(number) for number in range(len(answers.table.items))], answers.scorer.measure)
    if options.explain is None or (text_scores := builder.text_scores) is None:
        return tuple(items)
    unmatched = [
        open_pairs(builder.texts_of(number), text_scores.equal) if builder.is_small(number) else []
        for number in range(len(items))
    ]
    reasons = explain_items(unmatched, text_scores.directions, options.explain)
    return tuple(
        replace(item, reasons=item_reasons) if item_reasons else item
        for item, item_reasons in zip(items, reasons, strict=True)
    )


class _Builder:
    """Builds the entry of each item of a table."""

    def __init__(self, answers: AnswerScorer, ratings: Ratings, scores: Floats, options: ItemOptions) -> None:
        self._table, self._options = answers.table, options
        has_texts = options.matches or options.explain is not None
        self.text_scores = _TextScores(answers, ratings) if has_texts else None
        comparisons, n_items = ratings.comparisons, len(self._table.items)
        self._rows, self._pairs = _bounds(ratings.item, n_items), _bounds(comparisons.item, n_items)
        self._rater, self._answer = ratings.rater.tolist(), ratings.answer.tolist()
        two_raters = (ratings.rater[rows].tolist() for rows in (comparisons.left_rows, comparisons.right_rows))
        self._compared = list(zip(*two_raters, scores.tolist(), strict=True))
        self._means = _by_item(ratings, scores)
        self._sigmas = {} if options.beyond is None else _by_item(ratings, options.beyond)

    def texts_of(self, number: int) -> dict[str, tuple[str, ...]]:
        """The texts of an item by rater."""
        table = self._table
        return {table.raters[self._rater[i]]: table.texts_of(self._answer[i]) for i in range(*self._rows[number])}

    def _listed(self, number: int) -> list[tuple[int, int, float]]:
        compared, limit = self._compared[slice(*self._pairs[number])], self._options.max_pairs
        return compared if limit is None or len(compared) <= limit else []

    def is_small(self, number: int) -> bool:
        """Whether an item lists its pairs of raters, and has few enough texts to be explained."""
        first, last = self._pairs[number]
        return len(self._listed(number)) == last - first and sum(map(len, self.texts_of(number).values())) <= MANY

    def item(self, number: int) -> ItemAgreement:
        """The entry of an item, without reasons."""
        table, options, raters = self._table, self._options, self._table.raters
        texts_by_rater = self.texts_of(number)
        matched = _NOT_MATCHED
        if self.text_scores is not None and options.matches:
            matched = self.text_scores.consensus(texts_by_rater)
        mean, kappa = self._means.get(number), None
        if mean is not None and options.expected is not None and options.expected < 1 - _CERTAIN:
            kappa = (mean - options.expected) / (1 - options.expected)
        rows = [row for row in range(*self._rows[number]) if table.was_split(row)]
        original_texts = {raters[self._rater[row]]: table.written[row] for row in rows}
        suggestion: tuple[str, ...] = matched.suggestion
        if table.split is not None and len(suggestion) > 1 and 2 * len(original_texts) >= len(texts_by_rater):
            suggestion = (table.split.join(suggestion),)
        pairs = tuple((raters[a], raters[b], value) for a, b, value in self._listed(number))
        texts = (matched.matches, matched.unmatched, suggestion, original_texts)
        return ItemAgreement(
            table.items[number], mean, kappa, self._sigmas.get(number), len(texts_by_rater), pairs, *texts
        )


class _TextScores:
    """Directions and equivalences of the texts that different raters gave to one item."""

    def __init__(self, answers: AnswerScorer, ratings: Ratings) -> None:
        texts, self._method = answers.table.texts, answers.method
        self._number = {text: i for i, text in enumerate(texts)}
        self._size = max(len(texts), 1)
        low, high = answers.text_pairs_of_items(ratings)
        self._keys = low * self._size + high
        self._directions, self._is_directional = answers.scorer.directions(low, high), answers.scorer.directional

    def consensus(self, texts_by_rater: dict[str, tuple[str, ...]]) -> Consensus:
        forward = (lambda pairs: self.directions(pairs)[:, 0]) if self._is_directional else None
        return consensus(texts_by_rater, self.equal, forward, method=self._method)

    def equal(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """P(a ≡ b) of texts of different raters."""
        return mutual(self.directions(pairs))

    def directions(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of texts of different raters, shape (n, 2); 0 for two texts of one rater."""
        number = self._number
        flat = np.fromiter((number[text] for pair in pairs for text in pair), dtype=np.int64, count=2 * len(pairs))
        a, b = flat[::2], flat[1::2]
        index, is_scored = find_keys(self._keys, pair_keys(a, b, self._size))
        result = np.zeros((len(pairs), 2))
        result[is_scored] = self._directions[index[is_scored]]
        return np.where((a > b)[:, None], result[:, ::-1], result)


def _by_item(ratings: Ratings, values: Floats) -> dict[int, float]:
    """Mean of values of each item's comparisons; items with fewer than two answers have none."""
    return dict(zip(ratings.comparable_items.tolist(), item_means(ratings, values).tolist(), strict=True))


def _bounds(sorted_codes: Ints, size: int) -> list[tuple[int, int]]:
    """Start and stop of each code's entries."""
    return list(pairwise(np.searchsorted(sorted_codes, np.arange(size + 1)).tolist()))
