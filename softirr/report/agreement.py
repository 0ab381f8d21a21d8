"""From a table of answers and a measure of equivalence to the report: every coefficient, rater, rater pair and item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from softirr.chance import estimates as chances
from softirr.chance.cheap_measure import sorting_equivalence
from softirr.chance.expected import GRID, Chance, on_grid
from softirr.chance.strata import POPULATION
from softirr.chance.stratified import stratified
from softirr.coefficients import braylan
from softirr.coefficients.estimate import Estimate
from softirr.coefficients.intervals import FEW_ITEMS, Coefficient, analytic, bootstrap
from softirr.coefficients.leave_one_out import alpha_without_each_rater
from softirr.coefficients.summary import MOST_RATER_PAIRS, Summary, summarize
from softirr.errors import InputError
from softirr.matching.assignment import AnswerScorer
from softirr.matching.consensus import MANY, THRESHOLD
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.automatic import CacheOption, ProgressOption, cache_and_progress
from softirr.measures.base import BlockMeasure
from softirr.measures.cache import PairCache
from softirr.measures.calibration_curves import Calibration
from softirr.measures.corrected import CorrectedMeasure
from softirr.measures.fit import AUTO, FEWEST_TEXTS, Misfit, chance_misfit, chosen_for, swap_misfit, text_misfits
from softirr.measures.pairs import PairScorer
from softirr.measures.terminology import terminology_measure_of
from softirr.policy.measure import policy_of, under_policy
from softirr.policy.reasons import Reason, explain, known_words
from softirr.policy.rules import Policy, find_policy
from softirr.policy.splitting import split_table
from softirr.provenance import Progress
from softirr.report.code_agreement import code_agreement
from softirr.report.codes import items_with_codes
from softirr.report.headline import headline
from softirr.report.items import item_agreements
from softirr.report.known_pairs import calibrated_by_chance, calibration_on_known_pairs, with_unknown_calibrated
from softirr.report.objects import (
    AgreementReport,
    Distributions,
    Expected,
    ItemAgreement,
    RaterAgreement,
    RaterPairAgreement,
)
from softirr.report.options import AgreementOptions
from softirr.report.reasons import Explain, ReasonSummary, attributes_that_occur, summarize_reasons
from softirr.report.unaudited import unaudited_intervals
from softirr.report.what_if import what_if
from softirr.tables.ratings import Floats, Marginals, Ratings, sums
from softirr.tables.table import AnnotationTable
from softirr.tables.weights import effective_items, refuse_weights

__all__ = [
    "AgreementReport",
    "Distributions",
    "Expected",
    "ItemAgreement",
    "RaterAgreement",
    "RaterPairAgreement",
    "Scored",
    "Summary",
    "agreement",
    "item_agreement",
    "scored",
    "summarize",
    "with_reasons",
]

CHEAP_PAIRS = 500_000_000
"""``chance="auto"`` is exact up to this many pairs of distinct answers when the measure is cheap: some 20 s for 30,000 answers."""
SET_PAIRS = 20_000_000
"""The same when answers are sets of up to four texts on average; with larger ones fewer, as the square of their size."""
_SET_SIZE = 4
COSTLY_PAIRS = 5_000
"""The same, in pairs of texts, when the measure is not cheap."""

PRIOR_PAIRS, COSTLY_PRIOR_PAIRS = 20_000, 1_000
"""Random pairs that say how rarely texts of different items mean the same, where the measure is calibrated: cheap measures, and others."""

TARGET_SE = 0.005
"""Standard error of the expected agreement that a stratified sample stops at, where the measure is not cheap."""
CHEAP_TARGET_SE = 0.001
"""The same where it is."""
SET_POPULATION = 400_000
"""Pairs of answers that stand for all of them there when answers are sets."""

MOST_PAIRS_OF_ITEM = 50_000
"""Pairs of answers to one item (317 raters) up to which the report lists the equivalence of each."""

WithInterval = Callable[[Estimate], Coefficient]


def agreement(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    policy: Policy | str | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
    **changes: Any,
) -> AgreementReport:
    """How far the raters of a table agree in meaning.

    Parameters
    ----------
    table : AnnotationTable
    measure : str or Measure
        Equivalence of two texts, by name or made; "auto" is the bundled model, or letters where the texts are not English.
    options : AgreementOptions, optional
        How chance, intervals and the matching of sets are computed.
    policy : Policy or str, optional
        What counts as the same: a policy, the name of a preset, or a file; see :class:`softirr.Policy`. None compares texts as they are written.
    cache : PairCache, str or None
        Keeps scores of models between runs; measures without a model never use one. ``"auto"`` is the cache of the command line: SOFTIRR_CACHE, else a file
        in your cache folder, which holds hashes of texts and no texts. A string is a file or URL as for ``--cache``; None keeps nothing.
    progress : callable, "auto" or None
        Called with (pairs done, pairs in all) while a model scores. ``"auto"`` is a progress bar on standard error where that is a
        terminal, and silence elsewhere; None is silence.
    **changes
        Single options by name, such as ``chance="exact"`` or ``seed=1``; see :class:`softirr.AgreementOptions`.

    Returns
    -------
    AgreementReport
        Values that are not defined are None and say why; nothing is nan.

    Raises
    ------
    InputError
        If an option or the measure's name is not known.

    Examples
    --------
    >>> import softirr
    >>> answers = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in answers)
    >>> softirr.agreement(table, "exact", chance="exact").coefficients["observed_agreement"].value
    0.0
    """
    options = _changed(options or AgreementOptions(), changes)
    _check_table(table)
    table, made = _under(table, measure, policy)
    with cache_and_progress(made, cache, progress) as (store, told):
        return _agreement(table, made, options, cache=store, progress=told)


def _under(
    table: AnnotationTable, measure: str | Measure, policy: Policy | str | None
) -> tuple[AnnotationTable, Measure]:
    """The table split and the measure made as a policy says; a table that was split already stays."""
    if measure == AUTO:
        measure, tables = chosen_for({"": table})
        table = tables[""]
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    if policy is None:
        return table, made
    found = policy if isinstance(policy, Policy) else find_policy(policy)
    return table if table.split is not None else split_table(table, found.split), under_policy(made, found)


def _policy(table: AnnotationTable, measure: Measure) -> Policy:
    """What counted as the same."""
    return policy_of(measure).changed(split="none" if table.split is None else table.split.mode)


def _changed(options: AgreementOptions, changes: dict[str, Any]) -> AgreementOptions:
    known = [field.name for field in fields(AgreementOptions)]
    for name in changes:
        if name not in known:
            raise InputError(f"agreement has no option {name}: it has {', '.join(known)}.")
    return replace(options, **changes)


@dataclass(frozen=True, eq=False)
class Scored:
    """The estimates of a table before they become a report.

    Attributes
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance or None
        None where no answers can be compared.
    summary : Summary
        Estimates with the influence of each item.
    scorer : PairScorer
        Of the table's texts.
    options : AgreementOptions
        With the target standard error that was used.
    by_terminology : Calibration or None
        The calibration of pairs that terminologies do not know, fitted to those they know.
    """

    ratings: Ratings
    scores: Floats
    chance: Chance | None
    summary: Summary
    scorer: PairScorer
    options: AgreementOptions
    by_terminology: Calibration | None = None

    @property
    def with_interval(self) -> WithInterval:
        """What makes a coefficient of an estimate."""
        return analytic if self.options.interval == "analytic" else partial(bootstrap, seed=self.options.seed)


def scored(
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions,
    *,
    cache: PairCache | None,
    progress: Progress | None,
) -> Scored:
    """Score a table and estimate every coefficient, with the influence of each item.

    Parameters
    ----------
    table, measure, options
        As for :func:`softirr.agreement`.
    cache, progress
        Opened already, see :func:`softirr.measures.automatic.cache_and_progress`.

    Returns
    -------
    Scored
    """
    ratings = Ratings.of(table)
    _check_weights(table, options)
    comparisons = ratings.comparisons
    by_terminology = None
    if table.is_single:
        by_terminology = calibration_on_known_pairs(
            measure, _compared_texts(table, ratings), cache=cache, progress=progress
        )
    used = measure if by_terminology is None else with_unknown_calibrated(measure, by_terminology)
    scorer = PairScorer(used, table.texts, cache=cache, progress=progress)
    answers = AnswerScorer(table, scorer, method=options.assignment)
    scores = answers.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])
    if options.target_se is None:
        options = replace(options, target_se=CHEAP_TARGET_SE if scorer.cheap else TARGET_SE)
    random = _for_chance(measure, by_terminology, table, ratings, answers, options.seed, cache, progress)
    known = _chance(options, ratings, random, scores, "answers")
    pooled = known if options.marginals == "answers" else _chance(options, ratings, random, scores, options.marginals)
    summary = summarize(ratings, scores, known, pooled)
    if options.compat is not None:
        summary.coefficients.update(braylan.estimates(ratings, random, scores, seed=options.seed))
    return Scored(ratings, scores, known, summary, scorer, options, by_terminology)


def _compared_texts(table: AnnotationTable, ratings: Ratings) -> list[tuple[str, str]]:
    """The texts of every two answers of one item, each pair of texts once."""
    compared = ratings.answer[ratings.comparisons.left], ratings.answer[ratings.comparisons.right]
    pairs = set(zip(*(side.tolist() for side in compared), strict=True))
    return [
        (table.texts[one], table.texts[other])
        for a, b in pairs
        for one in table.answers[a]
        for other in table.answers[b]
    ]


def _agreement(
    table: AnnotationTable,
    made: Measure,
    options: AgreementOptions,
    *,
    cache: PairCache | None,
    progress: Progress | None,
) -> AgreementReport:
    found = scored(table, made, options, cache=cache, progress=progress)
    ratings, scores, known, summary = found.ratings, found.scores, found.chance, found.summary
    with_interval, options = found.with_interval, found.options
    explain_with = _explain(table, found.scorer.measure, cache, progress) if options.reasons else None
    fleiss_expected = summary.coefficients["fleiss_kappa"].expected
    coefficients = {name: with_interval(estimate) for name, estimate in summary.coefficients.items()}
    provenance = replace(made.provenance(), policy=_policy(table, made).to_dict())
    items = item_agreements(
        table,
        found.scorer,
        ratings,
        scores,
        options.assignment,
        expected=fleiss_expected,
        beyond=summary.beyond_chance,
        most_pairs=MOST_PAIRS_OF_ITEM,
        explain=explain_with,
    )
    terms = terminology_measure_of(made)
    report = AgreementReport(
        measure=made.name,
        n_items=len(table.items),
        n_raters=len(table.raters),
        coefficients=coefficients,
        expected_agreement=_expected(summary, known),
        raters=_raters(table, ratings, summary, with_interval),
        rater_pairs=_rater_pairs(table, ratings, known, summary, with_interval),
        items=items_with_codes(items, made),
        excluded=table.excluded,
        provenance=provenance,
        misfits=_misfits(table, made, known, options.seed, cache),
        warnings=_warnings(table, ratings, summary),
        distributions=_binned(ratings, scores, known),
        options=_told(options, known)
        | {"casefold": table.casefold, "threshold": THRESHOLD, "reasons": options.reasons}
        | {"split": None if table.split is None else table.split.to_dict()}
        | {"weights": _weights(table, ratings)},
        seed=options.seed,
        input_sha256=table.sha256,
        alpha_without=_alpha_without(table, ratings, scores, known),
        unaudited=unaudited_intervals(coefficients, table, ratings, known, provenance),
        codes=None if terms is None else replace(code_agreement(table, terms.coder), calibration=found.by_terminology),
        reasons=_reasons(table, ratings, items) if options.reasons else None,
    )
    return _with_what_if(report, table, made, options, cache, progress) if options.what_if else report


def with_reasons(
    report: AgreementReport,
    reasons: ReasonSummary,
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions | None = None,
    *,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
    **changes: Any,
) -> AgreementReport:
    """A report made without reasons, with reasons that were found item by item before.

    Parameters
    ----------
    report : AgreementReport
        Of :func:`softirr.agreement` with ``reasons=False``.
    reasons : ReasonSummary
        Of :func:`softirr.report.reasons.summarize_reasons`.
    table, measure, options, cache, progress, **changes
        As for :func:`softirr.agreement`; with ``what_if`` the headline coefficient is also computed without each attribute.

    Returns
    -------
    AgreementReport
    """
    options = _changed(options or AgreementOptions(), changes)
    report = replace(report, reasons=reasons)
    if not options.what_if:
        return report
    with cache_and_progress(measure, cache, progress) as (store, told):
        return _with_what_if(report, table, measure, options, store, told)


def _with_what_if(
    report: AgreementReport,
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions,
    cache: PairCache | None,
    progress: Progress | None,
) -> AgreementReport:
    """The report with its headline coefficient under policies that ignore one attribute more."""
    found = headline({"coefficients": {name: {"value": one.value} for name, one in report.coefficients.items()}})
    if found is None or report.reasons is None:
        return report
    name = found[0]
    if not isinstance(measure, BlockMeasure):
        # the same permutation with and without an attribute: what it adds to both is not in their difference
        options = replace(options, chance="permutation", permutations=1)
    options = replace(options, compat=None)

    def value_of(part: AnnotationTable, other: Measure) -> float | None:
        return scored(part, other, options, cache=cache, progress=progress).summary.coefficients[name].value

    differences = what_if(
        table,
        measure,
        attributes_that_occur(report.reasons),
        coefficient=name,
        value=found[1]["value"],
        value_of=value_of,
        seed=options.seed,
    )
    return replace(report, reasons=replace(report.reasons, what_if=differences))


def _explain(table: AnnotationTable, measure: Measure, cache: PairCache | None, progress: Progress | None) -> Explain:
    """What gives the reasons of pairs of texts of this table."""
    known = known_words(table.texts)

    def asked(pairs: Sequence[tuple[str, str]], equivalence: Floats, directions: Floats | None) -> tuple[Reason, ...]:
        return explain(
            pairs,
            measure,
            equivalence,
            directions,
            threshold=THRESHOLD,
            known=known,
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
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    assignment: str = "optimal",
    reasons: bool = True,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> tuple[ItemAgreement, ...]:
    """Agreement and matches of each item alone, without chance: what has to be computed anew when an item changes.

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
    _check_table(table)
    table, made = _under(table, measure, policy)
    with cache_and_progress(made, cache, progress) as (store, told):
        scorer = PairScorer(made, table.texts, cache=store, progress=told)
        ratings = Ratings.of(table)
        comparisons = ratings.comparisons
        scores = AnswerScorer(table, scorer, method=assignment).score(
            ratings.answer[comparisons.left], ratings.answer[comparisons.right]
        )
        found = item_agreements(
            table, scorer, ratings, scores, assignment, explain=_explain(table, made, store, told) if reasons else None
        )
        return items_with_codes(found, made)


def _check_table(table: object) -> None:
    if not isinstance(table, AnnotationTable):
        raise InputError(
            f"A table of answers is needed, not a {type(table).__name__}: read a file with softirr.read(path), "
            "or give answers to softirr.AnnotationTable.from_answers."
        )


def _check_weights(table: AnnotationTable, options: AgreementOptions) -> None:
    """Refuse what takes no item weights."""
    if options.chance == "stratified":
        refuse_weights(table, "Stratified chance", instead="choose chance exact or permutation, or ")
    if options.marginals != "answers":
        refuse_weights(table, f"The option marginals={options.marginals}")
    if options.compat is not None:
        refuse_weights(table, f"The option compat={options.compat}")


def _chance(
    options: AgreementOptions, ratings: Ratings, answers: AnswerScorer, scores: Floats, marginals: Marginals
) -> Chance | None:
    """Chance by the method asked for, or by the one that fits the budget; None where nothing can be compared."""
    if not len(ratings.comparisons.left):
        return None
    method = options.chance
    if method == "auto":
        if _exact_fits(ratings, answers):
            method = "exact"
        else:
            method = "stratified" if ratings.weights is None else "permutation"
    if method == "exact":
        return chances.exact(ratings, answers, scores, marginals=marginals)
    if method == "stratified":
        return _stratified(options, ratings, answers, scores, marginals)
    return chances.permutation(
        ratings, answers, permutations=options.permutations, marginals=marginals, seed=options.seed
    )


def _stratified(
    options: AgreementOptions, ratings: Ratings, answers: AnswerScorer, scores: Floats, marginals: Marginals
) -> Chance:
    table = answers.table
    return stratified(
        ratings,
        answers.score,
        scores,
        sorting_equivalence(table, options.sorting, method=answers.method, policy=policy_of(answers.scorer.measure)),
        target_se=TARGET_SE if options.target_se is None else options.target_se,
        marginals=marginals,
        seed=options.seed,
        population=POPULATION if table.is_single else SET_POPULATION,
    )


def _told(options: AgreementOptions, used: Chance | None) -> dict[str, Any]:
    """The options as the provenance holds them: those of methods that were not used are None."""
    method = options.chance if used is None else used.method
    sampled = method == "stratified"
    sorting = options.sorting if isinstance(options.sorting, str) else options.sorting.name
    return {
        "chance": options.chance,
        "permutations": options.permutations if method == "permutation" else None,
        "target_error": options.target_se if sampled else None,
        "sorting": sorting if sampled else None,
        "interval": options.interval,
        "assignment": options.assignment,
        "marginals": options.marginals,
        "compat": options.compat,
    }


def _for_chance(
    measure: Measure,
    by_terminology: Calibration | None,
    table: AnnotationTable,
    ratings: Ratings,
    answers: AnswerScorer,
    seed: int,
    cache: PairCache | None,
    progress: Progress | None,
) -> AnswerScorer:
    """What scores answers of different items: of a calibrated measure at the share of equivalent texts that these have.

    A calibration is right for pairs like those that were judged, of which perhaps half mean the same. Of pairs of different items few do.
    """
    by_people = isinstance(measure, CorrectedMeasure) and measure.calibration is not None
    if not (by_people or by_terminology) or not len(ratings.comparable):
        return answers
    rng = np.random.default_rng(seed)
    # terminologies are asked about each pair, and may compare many names
    size = PRIOR_PAIRS if answers.scorer.cheap and by_terminology is None else COSTLY_PRIOR_PAIRS
    a, b = (rng.choice(ratings.comparable, size) for _ in "ab")
    different = ratings.item[a] != ratings.item[b]
    texts = [
        np.array(
            [rng.choice(table.answers[k]) if table.answers[k] else -1 for k in ratings.answer[rows[different]].tolist()]
        )
        for rows in (a, b)
    ]
    used = (texts[0] >= 0) & (texts[1] >= 0) & (texts[0] != texts[1]) if len(texts[0]) else np.zeros(0, dtype=bool)
    left, right = (some[used].astype(np.int64) for some in texts)
    if by_terminology is not None:
        pairs = [(table.texts[i], table.texts[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
        by_chance = calibrated_by_chance(measure, by_terminology, pairs, cache=cache, progress=progress)
    else:
        assert isinstance(measure, CorrectedMeasure)
        raw = PairScorer(measure.raw, table.texts, cache=cache, progress=progress)
        p: Floats = np.zeros(0)
        if used.any():
            directions = raw.entail(left, right)
            p = raw.score(left, right) if directions is None else directions
        by_chance = measure.by_chance(p)
    random = PairScorer(by_chance, table.texts, cache=cache, progress=progress)
    return AnswerScorer(table, random, method=answers.method)


def _exact_fits(ratings: Ratings, answers: AnswerScorer) -> bool:
    table = answers.table
    used = np.unique(ratings.answer[ratings.comparable])
    if answers.scorer.cheap and table.is_single:
        return len(used) ** 2 / 2 <= CHEAP_PAIRS
    if answers.scorer.cheap:
        size = sum(len(table.answers[answer]) for answer in used.tolist()) / max(len(used), 1)
        return len(used) ** 2 / 2 * max(size**2 / _SET_SIZE**2, 1.0) <= SET_PAIRS
    texts = {text for answer in used.tolist() for text in table.answers[answer]}
    return len(texts) ** 2 / 2 <= COSTLY_PAIRS


def _expected(summary: Summary, chance: Chance | None) -> Expected:
    values = summary.coefficients
    return Expected(
        cohen=values["cohen_kappa"].expected,
        fleiss=values["fleiss_kappa"].expected,
        krippendorff=values["krippendorff_alpha"].expected,
        method=chance.method if chance else "exact",
        standard_error=chance.standard_error if chance else 0.0,
        pairs_scored=chance.pairs_scored if chance else 0,
    )


def _binned(ratings: Ratings, scores: Floats, chance: Chance | None, bins: int = 20) -> Distributions | None:
    if chance is None or chance.distribution is None:
        return None
    edges = np.rint(np.arange(bins) * GRID / bins).astype(np.int64)
    tail = np.append(chance.distribution.tail[edges], 0.0)
    place = np.searchsorted(edges, on_grid(scores), side="right") - 1
    own = ratings.weight[ratings.comparisons.item]
    same = sums(place, own, bins) / own.sum()
    return Distributions(tuple(same.tolist()), tuple((tail[:-1] - tail[1:]).tolist()))


def _alpha_without(
    table: AnnotationTable, ratings: Ratings, scores: Floats, chance: Chance | None
) -> tuple[tuple[str, float], ...]:
    if chance is None:
        return ()
    values = alpha_without_each_rater(ratings, scores, chance).tolist()
    found = [(rater, value) for rater, value in zip(table.raters, values, strict=True) if not np.isnan(value)]
    return tuple(sorted(found, key=lambda one: (-one[1], one[0])))


def _raters(
    table: AnnotationTable, ratings: Ratings, summary: Summary, interval: WithInterval
) -> tuple[RaterAgreement, ...]:
    n_items = np.bincount(ratings.rater, minlength=len(table.raters)).tolist()
    return tuple(
        RaterAgreement(id, n, interval(observed), interval(kappa), interval(sigma))
        for id, n, (observed, kappa, sigma) in zip(table.raters, n_items, summary.raters, strict=True)
    )


def _rater_pairs(
    table: AnnotationTable, ratings: Ratings, chance: Chance | None, summary: Summary, interval: WithInterval
) -> tuple[RaterPairAgreement, ...]:
    if chance is None or not summary.rater_pairs:
        return ()
    comparisons = ratings.comparisons
    rows = zip(
        comparisons.rater_pairs.tolist(),
        comparisons.shared.tolist(),
        chance.cohen.tolist(),
        summary.rater_pairs,
        strict=True,
    )
    return tuple(
        RaterPairAgreement(
            (table.raters[a], table.raters[b]), n, interval(observed), expected, interval(kappa), interval(sigma)
        )
        for (a, b), n, expected, (observed, kappa, sigma) in rows
    )


def _misfits(
    table: AnnotationTable, measure: Measure, chance: Chance | None, seed: int, cache: PairCache | None
) -> tuple[str, ...]:
    """Why the measure does not fit these texts; of several signs of an unknown language one sentence is enough."""
    found: list[Misfit | None] = list(text_misfits(measure, table.texts))
    if any(misfit is not None and misfit.reason in ("language", "unknown") for misfit in found):
        return tuple(misfit.sentence for misfit in found if misfit is not None)
    if chance is not None and len(table.texts) >= FEWEST_TEXTS:
        found.append(chance_misfit(measure, chance.similarity, chance.distinct))
        found.append(swap_misfit(measure, table.texts, seed, cache=cache))
    return tuple(misfit.sentence for misfit in found if misfit is not None)


def _weights(table: AnnotationTable, ratings: Ratings) -> dict[str, float] | None:
    """What the provenance holds of the items' weights."""
    if table.weights is None:
        return None
    own = table.weights[ratings.comparable_items]
    if not len(own):
        return {"least": 0.0, "most": 0.0, "effective_items": 0.0}
    return {"least": float(own.min()), "most": float(own.max()), "effective_items": effective_items(own.tolist())}


def _warnings(table: AnnotationTable, ratings: Ratings, summary: Summary) -> tuple[str, ...]:
    n = len(ratings.comparable_items)
    found = list(table.warnings)
    if 0 < n < FEW_ITEMS:
        found.append(
            f"Only {n} items have answers of two raters: below {FEW_ITEMS} the intervals are rough, and raters can hardly be ranked."
        )
    if (weights := _weights(table, ratings)) is not None and n:
        found.append(
            f"Items count by their weights ({weights['least']:g} to {weights['most']:g}); these {n:,} items tell as much as "
            f"{weights['effective_items']:,.1f} of equal weight (Kish 1965)."
        )
    found += _crowds(table, ratings)
    left_out = [i for i, (_, kappa, _) in enumerate(summary.rater_pairs) if kappa.value is None]
    if left_out and summary.coefficients["cohen_kappa"].value is not None:
        found.append(
            f"{len(left_out)} of {len(summary.rater_pairs)} rater pairs have no kappa of their own and are left out of Cohen's mean: "
            "they share one item only, or all their answers are equivalent."
        )
    return tuple(found)


def _crowds(table: AnnotationTable, ratings: Ratings) -> list[str]:
    """What is left out because of very many raters."""
    found = []
    n_pairs = len(ratings.comparisons.rater_pairs)
    if n_pairs > MOST_RATER_PAIRS:
        found.append(f"There are {n_pairs:,} pairs of raters: they count, but are not listed one by one.")
    crowded = int((ratings.per_item * (ratings.per_item - 1) // 2 > MOST_PAIRS_OF_ITEM).sum())
    if crowded:
        found.append(
            f"Items with more than {MOST_PAIRS_OF_ITEM:,} pairs of answers: {crowded:,}. The pairs count, but are not listed one by one."
        )
    sizes = np.array([len(answer) for answer in table.answers], dtype=np.int64)
    texts = np.bincount(ratings.item, weights=sizes[ratings.answer], minlength=ratings.n_items)
    many = int((texts > MANY).sum())
    if many:
        found.append(
            f"Items with more than {MANY} texts: {many:,}. Their matches hold equivalent texts only; the coefficients are not affected."
        )
    return found
