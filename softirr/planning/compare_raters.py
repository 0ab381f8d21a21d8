"""One rater or model against the others.

Their agreement with the others and the agreement of the others with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softirr.answers.files import answer_table
from softirr.answers.table import MODEL, REFERENCE, AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.audit.rater_contrast import JudgedPart, JudgedRaters
from softirr.defaults import MARGIN
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.planning.alternative_annotator import AlternativeAnnotator, alternative_annotator
from softirr.planning.compared_parts import (
    NOT_AUDITED,
    Scoring,
    differences_of,
    few_items,
    open_scoring,
    require_rater,
)
from softirr.planning.comparison import Comparison
from softirr.planning.comparison_groups import OTHERS, Difference, Group
from softirr.planning.difference import equivalence_p, holm
from softirr.planning.furthest import FarItem, furthest_items
from softirr.planning.runs import others_than, runs_of
from softirr.planning.verdict import verdict, with_adjusted_intervals
from softirr.plural import plural
from softirr.report.agreement import explainer
from softirr.report.differences import OPPOSITES, DifferenceCount, count_differences
from softirr.report.items import item_agreements
from softirr.report.options import AgreementOptions
from softirr.report.scoring import Scored

__all__ = ["OTHERS_ON_ITEMS_OF", "compare_raters"]

OTHERS_ON_ITEMS_OF = f"{OTHERS}, on items of "
"""What the label of the others begins with where several raters are compared with them."""
_FEW_SHARED = 10


def compare_raters(
    table: AnnotationTable | Any,
    raters: Sequence[str] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str = "cohen_kappa",
    margin: float = MARGIN,
    epsilon: float | None = None,
    adjust: bool = True,
    difference_types: bool = False,
    sheets: Sequence[Any] = (),
    labels: Mapping[str, str] | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare raters, or models, with the others on the same items.

    Each rater's agreement with the others is compared with the agreement of the others with each other: the mean over
    pairs that include the rater, minus the mean over all other pairs. Only items that the rater and two others answered
    count.

    Parameters
    ----------
    table : AnnotationTable or data frame
    raters : sequence of str, optional
        Each is compared with all that are not named here, but models with people only; by default the models, whose
        names begin with ``model:``. The name of a model that ran several times means all its runs. The rater
        ``reference`` is none of the others: it counts in the types of difference alone.
    measure, options, adjust, cache, progress
        As for :func:`compare`.
    coefficient : {"cohen_kappa", "observed_agreement"}
    margin : float
        How much less a rater may agree with the others and still be within their range.
    epsilon : float, optional
        Also run the alternative annotator test (Calderon et al. 2025) for each rater, with this advantage in cost.
    difference_types : bool
        Also count how each rater differs from each of the others: omissions, additions, substitutions and the like.
    sheets : sequence, optional
        Judged audit sheets that were drawn from the whole table: both parts of each difference are audited.
    labels : dict of str to str, optional
        What the comparison calls raters.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a rater is not in the table, or fewer than two others are.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> raters = ("ann", "bob", "model:one")
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in raters]
    >>> table = softirr.AnnotationTable.from_answers(rows)
    >>> comparison = compare_raters(table, measure="exact")
    >>> comparison.differences[0].b, comparison.differences[0].difference.value
    ('model:one', 0.0)
    """
    if coefficient not in ("cohen_kappa", "observed_agreement"):
        raise InputError(f"Raters are compared by cohen_kappa or observed_agreement, not by {coefficient}.")
    if not 0 <= margin < 1:
        raise InputError(f"The margin is {margin}, but must be from 0 to 1.")
    table = answer_table(table)
    wanted = (r for r in table.raters if r.startswith(MODEL)) if raters is None else raters
    chosen = tuple(dict.fromkeys(run for name in wanted for run in runs_of(table.raters, name)))
    for name in chosen:
        require_rater(table, name)
    if not chosen:
        raise InputError(
            "There are no models: the export has no predictions, and no name of a rater begins with 'model:'. Name the "
            "raters that are models."
        )
    others = others_than(table.raters, chosen)
    if len(others) < 2:
        there = f"only {others[0]} is" if others else "none is"
        raise InputError(
            "A rater is compared with the agreement of the others, so there must be at least two others, but "
            f"{there} there."
        )

    refuse_weights(table, "A comparison")

    def called(rater: str) -> str:
        return (labels or {}).get(rater, rater)

    groups: list[Group] = []
    differences: list[Difference] = []
    warnings: list[str] = []
    misfits: dict[str, None] = {}
    types: list[DifferenceCount] = []
    furthest: list[FarItem] = []
    with open_scoring(measure, options, cache, progress) as scoring:
        judged = _judged_raters(table, scoring, sheets)
        for rater in chosen:
            name = called(rater)
            kept = table.part(items=_answered_with_two(table, rater, others), raters=[*others, rater])
            if not len(kept.item):
                warnings.append(f"{name}: no item has an answer of this rater and of two others.")
                continue
            theirs = scoring.part("others", kept.part(raters=others))
            whole = scoring.part(name, kept)
            misfits |= dict.fromkeys(whole.whole.misfits)
            among, own = theirs.sample(coefficient), whole.rater_sample(coefficient, rater)
            if judged is not None:
                among, own = parts = judged.compared(rater, others, kept.items, coefficient)
                warnings += _few_judged(parts, name)
            groups += [replace(theirs.group(among), label=OTHERS_ON_ITEMS_OF + name), whole.group(own)]
            differences += differences_of(groups[-2:], [among, own], False, adjust=False)
            warnings += _sparse(whole.scored, name)
            furthest += (replace(one, rater=name) for one in furthest_items(kept, whole.scored, rater, others))
            if difference_types:
                types += _types(table, kept, scoring, rater, others)
        if not differences:
            raise InputError("No rater shares an item with two others, so there is nothing to compare.")
        if len(chosen) == 1:
            groups[0] = replace(groups[0], label=OTHERS)
            differences = [replace(differences[0], a=OTHERS)]
        alternative = _alternative(table, scoring, chosen, others, epsilon)
        people_groups = tuple(
            replace(group, label=called(group.label))
            for group in _each_of(table.part(raters=others), coefficient, scoring)
        )
    p = holm([one.p for one in differences]) if adjust else [one.p for one in differences]
    equivalent = [equivalence_p(one.difference, one.n_shared, margin) for one in differences]
    if adjust:
        equivalent, differences = holm(equivalent), with_adjusted_intervals(differences, margin)
    differences = [replace(one, p_equivalent=value) for one, value in zip(differences, equivalent, strict=True)]
    with_verdicts = tuple(
        replace(one, p_adjusted=value, verdict=verdict(one, margin, audited=bool(sheets)))
        for one, value in zip(differences, p, strict=True)
    )
    if not adjust and len(with_verdicts) > 1:
        warnings.append(f"The verdicts are not adjusted for {len(with_verdicts)} comparisons.")
    if alternative and sheets:
        warnings.append("The alternative annotator test uses the measure alone: the judgments do not correct it.")
    if REFERENCE in table.raters and REFERENCE not in chosen:
        warnings.append(f"The rater {REFERENCE} is not a person, so it counts only in the types of difference.")
    if judged is not None:
        warnings += judged.warnings
    if not sheets:
        warnings.insert(0, NOT_AUDITED)
    elif people_groups:
        warnings.append("Each of the others with the rest of them is by the measure alone.")
    return Comparison(
        coefficient,
        tuple(groups),
        with_verdicts,
        measure=scoring.measure.name,
        policy=scoring.policy(table),
        paired=True,
        adjusted="holm" if adjust and len(with_verdicts) > 1 else None,
        others=people_groups,
        margin=margin,
        alternative=alternative,
        difference_types=tuple(replace(one, rater=called(one.rater), other=called(one.other)) for one in types),
        furthest=tuple(furthest),
        warnings=(*few_items(groups), *warnings),
        misfits=tuple(misfits),
    )


def _answered_with_two(table: AnnotationTable, rater: str, others: Sequence[str]) -> list[str]:
    """Items with an answer of the rater and of two others."""
    who = np.array([name in set(others) for name in table.raters])
    n = np.bincount(table.item, weights=who[table.rater], minlength=len(table.items))
    mine = set(table.item[table.rater == table.raters.index(rater)].tolist())
    return [item for i, item in enumerate(table.items) if i in mine and n[i] >= 2]


def _each_of(
    people: AnnotationTable,
    name: str,
    scoring: Scoring,
) -> tuple[Group, ...]:
    """Agreement of each of the others with the rest of them: the range that people have."""
    if len(people.raters) < 3:
        return ()
    part = scoring.part("", people)
    samples = [part.rater_sample(name, rater) for rater in people.raters]
    return tuple(
        replace(part.group(sample), label=rater)
        for rater, sample in zip(people.raters, samples, strict=True)
        if sample.coefficient.value is not None
    )


def _types(
    table: AnnotationTable, kept: AnnotationTable, scoring: Scoring, rater: str, others: Sequence[str]
) -> Iterator[DifferenceCount]:
    """Types of difference of a rater from each of the others, and from the reference where there is one."""
    if REFERENCE in table.raters and rater != REFERENCE:
        others = (*others, REFERENCE)
        kept = table.part(items=kept.items, raters=[*others, rater])
    scored = scoring.part(rater, kept).scored
    ratings = scored.ratings
    explain = explainer(kept, scoring.measure, scoring.cache, scoring.progress)
    assignment = scoring.options.assignment
    items = item_agreements(kept, scored.scorer, ratings, scored.scores, assignment, explain=explain)
    reasons = ((item.id, [one.to_dict() for one in item.reasons]) for item in items)
    comparisons = ratings.comparisons
    shared = {
        (kept.raters[a], kept.raters[b]): n
        for (a, b), n in zip(comparisons.rater_pairs.tolist(), comparisons.shared.tolist(), strict=True)
        if rater in (kept.raters[a], kept.raters[b])
    }
    counts = {(one.other, one.difference): one for one in count_differences(reasons, shared) if one.rater == rater}
    yield from (counts[other, kind] for other in others for kind in OPPOSITES if (other, kind) in counts)


def _alternative(
    table: AnnotationTable, scoring: Scoring, chosen: Sequence[str], others: Sequence[str], epsilon: float | None
) -> tuple[AlternativeAnnotator, ...]:
    """The alternative annotator test of each of the chosen raters."""
    if epsilon is None:
        return ()
    tests = []
    for rater in chosen:
        kept = table.part(raters=[*others, rater])
        tests.append(alternative_annotator(kept, scoring.part(rater, kept).scored, rater, others, epsilon))
    return tuple(tests)


def _judged_raters(table: AnnotationTable, scoring: Scoring, sheets: Sequence[Any]) -> JudgedRaters | None:
    if not sheets:
        return None
    assignment = scoring.options.assignment
    return JudgedRaters(
        table, scoring.measure, sheets, assignment=assignment, cache=scoring.cache, progress=scoring.progress
    )


def _few_judged(parts: Sequence[JudgedPart], rater: str) -> list[str]:
    if all(part.coefficient.value is None or part.coefficient.ci95 is not None for part in parts):
        return []
    people, own = (part.judged for part in parts)
    return [
        f"{rater}: too few pairs are judged for an interval ({own} of {rater} with the others, {people} of the "
        "others with each other): judge more pairs."
    ]


def _sparse(scored: Scored, rater: str) -> list[str]:
    shared = scored.ratings.comparisons.shared
    if len(shared) and np.median(shared) < _FEW_SHARED:
        return [
            f"{rater}: two raters share {plural(round(float(np.median(shared))), 'item')} at the median, too few "
            "for the kappa of a pair. "
            "Compare observed_agreement instead."
        ]
    return []
