"""The agreement of each item alone, and the reasons of its differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softirr.answers.kinds import TEXT
from softirr.answers.prepare import split_table
from softirr.answers.ratings import Floats, Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pair_cache import PairCache
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption, cache_and_progress
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.reasons import Reason
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.meaning.policy.text_parts import known_words
from softirr.provenance import Progress
from softirr.report.inputs import AgreementOptions, table_from
from softirr.report.items import ItemOptions, item_agreements
from softirr.report.reasons import Explain
from softirr.report.result_parts import ItemAgreement
from softirr.report.results import AgreementReport
from softirr.report.terminology_use import items_with_sources
from softirr.report.what_if import with_what_if
from softirr.statistics.matching.answer_scorer import AnswerScorer


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
    with cache_and_progress(base, cache, progress) as (store, shown_progress):
        scorer = PairScorer(base, table.texts, cache=store, progress=shown_progress)
        ratings = Ratings.of(table)
        comparisons = ratings.comparisons
        scores = AnswerScorer(table, scorer, method=assignment).score(
            ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows]
        )
        explain_pairs = explainer(table, base, store, shown_progress) if reasons and table.kind == TEXT else None
        options = ItemOptions(assignment, explain=explain_pairs)
        return items_with_sources(item_agreements(table, scorer, ratings, scores, options), base)


def add_what_if(
    report: AgreementReport,
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions | None = None,
    *,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AgreementReport:
    """A report with its headline coefficient without each attribute, if the options request it.

    Parameters
    ----------
    report : AgreementReport
        With the reasons of all items.
    table, measure, options, cache, progress
        As for :func:`softirr.agreement`.
    """
    options = options or AgreementOptions()
    if not options.what_if:
        return report
    with cache_and_progress(measure, cache, progress) as (store, shown_progress):
        return with_what_if(report, table, measure, options, store, shown_progress)


def under_measure(
    table: AnnotationTable, measure: str | Measure, policy: Policy | str | None
) -> tuple[AnnotationTable, Measure]:
    """The table and the measure under a policy; a table that was split already stays."""
    if table.kind != TEXT:
        return table, measure if isinstance(measure, KindMeasure) else KindMeasure(table)
    scorer = measure_by_name(measure) if isinstance(measure, str) else measure
    if policy is None:
        return table, scorer
    policy_object = policy if isinstance(policy, Policy) else find_policy(policy)
    return split_table(table, policy_object.split), under_policy(scorer, policy_object)


def explainer(table: AnnotationTable, measure: Measure, cache: PairCache | None, progress: Progress | None) -> Explain:
    """The function that explains pairs of texts of this table.

    Parameters
    ----------
    cache, progress
        As for :func:`softirr.meaning.policy.explain.explain`.

    Returns
    -------
    callable
        For :func:`softirr.report.items.item_agreements`.
    """
    project_words = known_words(table.texts)

    def asked(pairs: Sequence[tuple[str, str]], equivalence: Floats, directions: Floats | None) -> tuple[Reason, ...]:
        if directions is None:
            directions = np.repeat(equivalence[:, None], 2, axis=1)
        return explain(pairs, measure, directions, project_words=project_words, cache=cache, progress=progress)

    return asked
