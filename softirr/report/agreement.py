"""From a table of answers and a measure of equivalence to the report: every coefficient, rater, rater pair and item."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.answers.prepare import split_table
from softirr.answers.ratings import Floats, Ratings
from softirr.answers.read_options import ReadOptions
from softirr.answers.sheets import Judgments, read_sheet
from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.pair_counts import collect_pair_counts, pairs_used_for
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption, cache_and_progress
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.measure import policy_of, under_policy
from softirr.meaning.policy.reasons import Reason
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.meaning.policy.text_parts import known_words
from softirr.provenance import Progress
from softirr.report.assembly import MOST_PAIRS_OF_ITEM, report_parts, weights_of
from softirr.report.fields import confusion_matrix, confusions
from softirr.report.inputs import table_from
from softirr.report.items import item_agreements
from softirr.report.meaning_clusters import MeaningCluster, meaning_clusters
from softirr.report.options import AgreementOptions, ChanceMethod
from softirr.report.reason_counts import ReasonSummary, summarize_reasons
from softirr.report.reasons import Explain
from softirr.report.result_parts import ItemAgreement
from softirr.report.results import AgreementReport
from softirr.report.scoring import Estimated, estimated, scored
from softirr.report.terminology_use import coverage_of, items_with_sources
from softirr.report.what_if import with_what_if
from softirr.statistics.chance.expected import Chance
from softirr.statistics.matching.assignment import AnswerScorer

__all__ = ["agreement", "item_agreement", "with_reasons"]


def agreement(
    answers: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    judgments: Sequence[Judgments | str | os.PathLike[str]] = (),
    chance: ChanceMethod | None = None,
    item: str | None = None,
    rater: str | None = None,
    text: str | Sequence[str] = (),
    raters: Sequence[str] | Mapping[str, str] = (),
    reading: ReadOptions | None = None,
    options: AgreementOptions | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AgreementReport:
    """How far raters agree in meaning.

    Parameters
    ----------
    answers : AnnotationTable, data frame, Dataset, list, dict or array
        A table of :func:`softirr.read`; a data frame of pandas, polars or pyarrow; a Dataset of Hugging Face; a list of
        (item, rater, text); a dictionary with the answers of each rater; or an array of items by raters.
    measure : str or Measure
        Equivalence of two texts, by name or made. A field of another kind (``kind`` of :class:`softirr.ReadOptions`) is
        compared by the distance of its kind instead.
    policy : Policy or str, optional
        A policy, the name of a preset, or a file; see :class:`softirr.Policy`. None compares
        texts as they are written.
    judgments : sequence of Judgments or paths
        Judged sheets (:mod:`softirr.audit`): they correct the coefficients, and narrow their intervals.
    chance : {"auto", "exact", "permutation", "sample"}, optional
        How agreement by chance is computed, as in :class:`softirr.AgreementOptions`.
    item, rater, text : str, optional
        Columns of a long data frame.
    raters : sequence of str, optional
        Columns of a wide data frame, or names of the columns of an array.
    reading : ReadOptions, optional
        Further options of reading.
    options : AgreementOptions, optional
        Further options of chance, matching and the parts of the report.
    cache : PairCache, str or None
        Stores scores of models between runs; measures without a model never use one. ``"auto"`` is the cache of the
        command line: SOFTIRR_CACHE, else a file in your cache folder, which contains hashes of texts and no texts. A
        string is a file or URL as for ``--cache``; None stores nothing.
    progress : callable, "auto" or None
        Called with (pairs done, all pairs) while a model scores. ``"auto"`` is a progress bar on standard error if that
        is a terminal; None is silence.

    Returns
    -------
    AgreementReport
        Undefined values are None with a reason; nothing is nan.

    Raises
    ------
    InputError
        If the answers cannot be read, or the measure's name is unknown.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> softirr.agreement(rows, "exact").coefficients["observed_agreement"].value
    0.0

    A wide data frame with the items as its index:

    >>> import pandas
    >>> frame = pandas.DataFrame({"ann": ["fever", "cough"], "bob": ["fevers", "rash"]}, index=["case 1", "case 2"])
    >>> softirr.agreement(frame, "indel", raters=["ann", "bob"]).to_frame("items")["agreement"].round(2).to_dict()
    {'case 1': 0.91, 'case 2': 0.22}
    """
    column_options = {"item": item, "rater": rater, "text": text, "raters": raters}
    columns: dict[str, Any] = {name: value for name, value in column_options.items() if value}
    reading = replace(reading or ReadOptions(), **columns)
    options = options or AgreementOptions()
    if chance is not None:
        options = replace(options, chance=chance)
    table, scorer = _under(table_from(answers, reading), measure, policy)
    sheets = [sheet if isinstance(sheet, Judgments) else read_sheet(sheet) for sheet in judgments]
    with cache_and_progress(scorer, cache, progress) as (store, shown_progress), collect_pair_counts() as pair_counts:
        if table.kind != TEXT:
            options = replace(options, reasons=False, what_if=False)
        scored_table = scored(table, scorer, options, cache=store, progress=shown_progress)
        estimates = estimated(table, scorer, scored_table, sheets)
        report = _report(table, scorer, estimates, store, shown_progress)
    return replace(report, pairs_by_use=dict(pair_counts))


def _under(
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


def _policy(table: AnnotationTable, measure: Measure) -> Policy:
    """What counted as the same."""
    return policy_of(measure).changed(split=None if table.split is None else table.split.mode)


def _report(
    table: AnnotationTable, measure: Measure, estimates: Estimated, cache: PairCache | None, progress: Progress | None
) -> AgreementReport:
    """The report of a table's estimates."""
    exact = table.kind != TEXT
    scored_table, evidence, options = estimates.scored, estimates.evidence, estimates.scored.options
    with pairs_used_for("matches and reasons"):
        items = _items(table, estimates, cache, progress)
    report = AgreementReport(
        measure=measure.name,
        n_items=len(table.items),
        n_raters=len(table.raters),
        coefficients=estimates.coefficients,
        items=items_with_sources(items, measure),
        excluded=table.excluded,
        provenance=replace(measure.provenance(), policy=None if exact else _policy(table, measure).to_dict()),
        misfits=estimates.misfits,
        options=_recorded(options, scored_table.chance)
        | {"casefold": table.casefold, "threshold": THRESHOLD, "reasons": options.reasons}
        | {"split": None if table.split is None else table.split.to_dict()}
        | {"weights": weights_of(table, scored_table.ratings)},
        seed=options.seed,
        input_sha256=table.sha256,
        record=estimates.record,
        terminology=coverage_of(table, measure),
        reasons=_reasons(table, scored_table.ratings, items) if options.reasons else None,
        confusions=confusions(table, scored_table.ratings, scored_table.scores) if exact else (),
        confusion_matrix=confusion_matrix(table, scored_table.ratings) if exact else None,
        meanings=_meanings(table, scored_table.scorer) if options.meanings and not exact else (),
        **report_parts(table, estimates),
    )
    if evidence is not None:
        report = replace(
            report,
            expected_agreement=evidence.expected(report.expected_agreement),
            warnings=(*report.warnings, *evidence.warnings),
            audit=evidence.audit,
        )
    if not options.what_if:
        return report
    with pairs_used_for("what-if"):
        return with_what_if(report, table, measure, options, cache, progress)


def _meanings(table: AnnotationTable, scorer: PairScorer) -> tuple[MeaningCluster, ...]:
    with pairs_used_for("meanings"):
        return meaning_clusters(table, scorer)


def _items(
    table: AnnotationTable, estimates: Estimated, cache: PairCache | None, progress: Progress | None
) -> tuple[ItemAgreement, ...]:
    scored_table, options = estimates.scored, estimates.scored.options
    return item_agreements(
        table,
        scored_table.scorer,
        scored_table.ratings,
        scored_table.scores,
        options.assignment,
        expected=scored_table.summary.coefficients["fleiss_kappa"].expected,
        beyond=scored_table.summary.beyond_chance,
        most_pairs=MOST_PAIRS_OF_ITEM,
        explain=explainer(table, scored_table.scorer.measure, cache, progress) if options.reasons else None,
        matches=options.matches,
    )


def with_reasons(
    report: AgreementReport,
    reasons: ReasonSummary,
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions | None = None,
    *,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AgreementReport:
    """A report made without reasons, with reasons that were found item by item before.

    Parameters
    ----------
    report : AgreementReport
        Of :func:`softirr.agreement` with ``reasons=False``.
    reasons : ReasonSummary
        Of :func:`softirr.report.reason_counts.summarize_reasons`.
    table, measure, options, cache, progress
        As for :func:`softirr.agreement`; with ``what_if`` the headline coefficient is also computed without each
        attribute.

    Returns
    -------
    AgreementReport
    """
    options = options or AgreementOptions()
    report = replace(report, reasons=reasons)
    if not options.what_if:
        return report
    with cache_and_progress(measure, cache, progress) as (store, shown_progress):
        return with_what_if(report, table, measure, options, store, shown_progress)


def explainer(table: AnnotationTable, measure: Measure, cache: PairCache | None, progress: Progress | None) -> Explain:
    """The function that explains pairs of texts of this table.

    Parameters
    ----------
    table : AnnotationTable
    measure : Measure
    cache, progress
        As for :func:`softirr.meaning.policy.explain.explain`.

    Returns
    -------
    callable
        For :func:`softirr.report.items.item_agreements`.
    """
    project_words = known_words(table.texts)

    def asked(pairs: Sequence[tuple[str, str]], equivalence: Floats, directions: Floats | None) -> tuple[Reason, ...]:
        return explain(
            pairs,
            measure,
            equivalence,
            directions,
            threshold=THRESHOLD,
            known=project_words,
            cache=cache,
            progress=progress,
        )

    return asked


def _reasons(table: AnnotationTable, ratings: Ratings, items: Sequence[ItemAgreement]) -> ReasonSummary:
    comparisons = ratings.comparisons
    shared = {
        (table.raters[a], table.raters[b]): n
        for (a, b), n in zip(comparisons.rater_pairs.tolist(), comparisons.shared.tolist(), strict=True)
    }
    return summarize_reasons(((item.id, item.reasons) for item in items), shared)


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

    Returns
    -------
    tuple of ItemAgreement

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> [item.agreement and round(item.agreement, 2) for item in softirr.item_agreement(table, "indel")]
    [0.91, None]
    """
    table, base = _under(table_from(table), measure, policy)
    with cache_and_progress(base, cache, progress) as (store, shown_progress):
        scorer = PairScorer(base, table.texts, cache=store, progress=shown_progress)
        ratings = Ratings.of(table)
        comparisons = ratings.comparisons
        scores = AnswerScorer(table, scorer, method=assignment).score(
            ratings.answer[comparisons.left], ratings.answer[comparisons.right]
        )
        items = item_agreements(
            table,
            scorer,
            ratings,
            scores,
            assignment,
            explain=explainer(table, base, store, shown_progress) if reasons and table.kind == TEXT else None,
        )
        return items_with_sources(items, base)


def _recorded(options: AgreementOptions, chance: Chance | None) -> dict[str, Any]:
    """The options as the provenance has them: None for methods that were not used."""
    method = options.chance if chance is None else chance.method
    sampled = method == "stratified"
    sorting = options.sorting if isinstance(options.sorting, str) else options.sorting.name
    return {
        "chance": options.chance,
        "permutations": options.permutations if method == "permutation" else None,
        "target_error": options.target_se if sampled else None,
        "sorting": sorting if sampled else None,
        "assignment": options.assignment,
        "marginals": options.marginals,
        "compat": options.compat,
    }
