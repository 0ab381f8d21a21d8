"""From a table of answers and a measure of equivalence to the report: every coefficient, rater, rater pair and item."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.answers.ratings import Ratings
from softirr.answers.read_options import ReadOptions
from softirr.answers.sheets import Judgments
from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption, collect_pair_counts, pairs_used_for
from softirr.meaning.policy.rules import Policy
from softirr.report import assembly
from softirr.report.evidence import Estimated, estimated
from softirr.report.fields import confusion_matrix, confusions
from softirr.report.inputs import AgreementOptions, ChanceMethod, read_sheets, table_from
from softirr.report.items import ItemOptions, explainer, item_agreements, under_measure
from softirr.report.meaning_clusters import MeaningCluster, meaning_clusters
from softirr.report.reason_counts import ReasonSummary, summarize_reasons
from softirr.report.result_parts import ItemAgreement, coverage_of
from softirr.report.results import AgreementReport
from softirr.report.scoring import Scoring, open_scoring, policy_used, scored
from softirr.report.what_if import with_what_if


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
    {'case 2': 0.22, 'case 1': 0.91}
    """
    columns: dict[str, Any] = {"item": item, "rater": rater, "text": text, "raters": raters}
    reading = replace(reading or ReadOptions(), **{name: value for name, value in columns.items() if value})
    options = options or AgreementOptions()
    if chance is not None:
        options = replace(options, chance=chance)
    table, scorer = under_measure(table_from(answers, reading), measure, policy)
    sheets = read_sheets(judgments)
    if table.kind != TEXT:
        options = replace(options, reasons=False, what_if=False, meanings=False)
    with open_scoring(scorer, options, cache, progress) as scoring, collect_pair_counts() as pair_counts:
        scored_table = scored(scoring.answers(table), options)
        # the meanings first: with many items, the draws of the estimates take much memory
        with pairs_used_for("meanings"):
            meanings = meaning_clusters(scored_table.answers) if options.meanings else ()
        report = _report(estimated(scored_table, sheets), scoring, meanings)
        if options.what_if:
            with pairs_used_for("what-if"):
                report = with_what_if(report, table, scoring)
    return replace(report, pairs_by_use=dict(pair_counts))


def _report(estimates: Estimated, scoring: Scoring, meanings: tuple[MeaningCluster, ...]) -> AgreementReport:
    """The report of a table's estimates."""
    table, ratings, measure, options = estimates.table, estimates.ratings, estimates.measure, estimates.options
    policy = policy_used(table, measure).to_dict() if table.kind == TEXT else None
    with pairs_used_for("matches and reasons"):
        items = _items(estimates, scoring)
    return AgreementReport(
        measure=measure.name,
        n_items=len(table.items),
        n_raters=len(table.raters),
        coefficients=estimates.coefficients,
        expected_agreement=assembly.expected_agreement(estimates),
        raters=assembly.raters(estimates),
        rater_pairs=assembly.rater_pairs(estimates),
        items=items,
        excluded=table.excluded,
        provenance=replace(measure.provenance(), policy=policy),
        warnings=assembly.report_warnings(estimates),
        misfits=estimates.misfits,
        options=_recorded(estimates),
        seed=options.seed,
        input_sha256=table.sha256,
        alpha_without=assembly.alpha_without(estimates),
        record=None if estimates.record is None else estimates.record.measure,
        audit=estimates.audit,
        terminology=coverage_of(table, measure),
        reasons=_reasons(table, ratings, items) if options.reasons else None,
        confusions=confusions(table, ratings, estimates.by_measure.scores),
        confusion_matrix=confusion_matrix(table, ratings),
        meanings=meanings,
    )


def _items(estimates: Estimated, scoring: Scoring) -> tuple[ItemAgreement, ...]:
    options = ItemOptions(
        expected=estimates.by_measure.estimates["fleiss_kappa"].expected,
        beyond=estimates.by_measure.beyond_chance,
        max_pairs=assembly.MOST_PAIRS_OF_ITEM,
        explain=explainer(estimates.table, scoring) if estimates.options.reasons else None,
        matches=estimates.options.matches,
    )
    return item_agreements(estimates.answers, estimates.ratings, estimates.by_measure.scores, options)


def _reasons(table: AnnotationTable, ratings: Ratings, items: Sequence[ItemAgreement]) -> ReasonSummary:
    comparisons, raters = ratings.comparisons, table.raters
    pairs = zip(comparisons.rater_pairs.tolist(), comparisons.shared.tolist(), strict=True)
    shared = {(raters[a], raters[b]): n for (a, b), n in pairs}
    return summarize_reasons(((item.id, [reason.with_broader() for reason in item.reasons]) for item in items), shared)


def _recorded(estimates: Estimated) -> dict[str, Any]:
    """The options as the provenance has them: None for methods that were not used."""
    table, options, chance = estimates.table, estimates.options, estimates.by_measure.chance
    method = options.chance if chance is None else chance.method
    return {
        "chance": options.chance,
        "permutations": options.permutations if method == "permutation" else None,
        "target_error": options.target_se if method == "sample" else None,
        "assignment": options.assignment,
        "marginals": options.marginals,
        "casefold": table.casefold,
        "threshold": THRESHOLD,
        "reasons": options.reasons,
        "split": None if table.split is None else table.split.to_dict(),
        "weights": assembly.weights_of(table, estimates.ratings),
    }
