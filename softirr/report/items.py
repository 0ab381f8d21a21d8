"""Agreement, matches and reasons of each item of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, starmap
from typing import Any

import numpy as np

from softirr.answers.kinds import TEXT, agreed_values
from softirr.answers.prepare import split_table
from softirr.answers.ratings import Floats, Ints, Ratings, item_means
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.arrays import find_keys, mutual, pair_keys
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.reasons import known_words
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.report.inputs import AgreementOptions, table_from
from softirr.report.reasons import Explain, explain_items, open_pairs
from softirr.report.result_parts import ItemAgreement, with_sources
from softirr.report.scoring import Scoring, open_scoring
from softirr.statistics.matching.answer_scorer import AnswerScorer
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
    table, means = answers.table, _by_item(ratings, scores)
    sigmas = {} if options.beyond is None else _by_item(ratings, options.beyond)
    text_scores = _TextScores(answers, ratings) if options.matches or options.explain is not None else None
    items, unmatched = [], []
    for number, (texts, original_texts, pairs) in enumerate(_given(table, ratings, scores)):
        matched, mean, kappa = _NOT_MATCHED, means.get(number), None
        if text_scores is not None and options.matches:
            matched = text_scores.consensus(texts)
        if mean is not None and options.expected is not None and options.expected < 1 - _CERTAIN:
            kappa = (mean - options.expected) / (1 - options.expected)
        suggestion = matched.suggestion
        if table.kind != TEXT and options.matches:
            suggestion = agreed_values(table.kind, list(texts.values())) or ()
        if table.split is not None and len(suggestion) > 1 and 2 * len(original_texts) >= len(texts):
            suggestion = (table.split.join(suggestion),)
        is_listed = options.max_pairs is None or len(pairs) <= options.max_pairs
        agreements = mean, kappa, sigmas.get(number), len(texts), pairs if is_listed else ()
        items.append(
            ItemAgreement(
                table.items[number], *agreements, matched.matches, matched.unmatched, suggestion, original_texts
            )
        )
        if text_scores is not None and options.explain is not None:
            is_small = is_listed and sum(map(len, texts.values())) <= MANY
            unmatched.append(open_pairs(texts, text_scores.equal) if is_small else [])
    with_matches = with_sources(items, answers.scorer.measure)
    if text_scores is None or options.explain is None:
        return tuple(with_matches)
    reasons = explain_items(unmatched, text_scores.directions, options.explain)
    return tuple(replace(item, reasons=item_reasons) for item, item_reasons in zip(with_matches, reasons, strict=True))


def _given(
    table: AnnotationTable, ratings: Ratings, scores: Floats
) -> Iterator[tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], tuple[tuple[str, str, float], ...]]]:
    """For each item its texts by rater, split ones as they were written, and the equivalence of each two answers."""
    comparisons, n_items, raters = ratings.comparisons, len(table.items), table.raters
    rater, answer = [raters[number] for number in ratings.rater.tolist()], ratings.answer.tolist()
    left_rows, right_rows, values = comparisons.left_rows.tolist(), comparisons.right_rows.tolist(), scores.tolist()
    for rows, pairs in zip(_bounds(ratings.item, n_items), _bounds(comparisons.item, n_items), strict=True):
        texts = {rater[row]: table.texts_of(answer[row]) for row in rows}
        original_texts = {rater[row]: table.written[row] for row in rows if table.was_split(row)}
        yield texts, original_texts, tuple((rater[left_rows[i]], rater[right_rows[i]], values[i]) for i in pairs)


class _TextScores:
    """Directions and equivalences of the texts that different raters gave to one item."""

    def __init__(self, answers: AnswerScorer, ratings: Ratings) -> None:
        texts, self._method = answers.table.texts, answers.method
        self._number = {text: i for i, text in enumerate(texts)}
        self._size = max(len(texts), 1)
        low, high = answers.text_pairs_of_items(ratings)
        self._keys = low * self._size + high
        self._directions, self._is_directional = (
            answers.scorer.directions(low, high),
            answers.scorer.measure.directional,
        )

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


def _bounds(sorted_codes: Ints, size: int) -> Iterable[range]:
    """Positions of each code."""
    return starmap(range, pairwise(np.searchsorted(sorted_codes, np.arange(size + 1)).tolist()))
