"""Compare models with people: their agreement with the people and the agreement of the people with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softirr.answers.answer import MODEL, REFERENCE
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.defaults import MARGIN
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.numbers import plural
from softirr.report.alternative_annotator import AlternativeAnnotator, alternative_annotator
from softirr.report.comparison import NOT_AUDITED, Comparison, comparable_items, difference_of, few_items, reading_notes
from softirr.report.evidence import with_fit
from softirr.report.inputs import AgreementOptions, table_from
from softirr.report.judged_raters import JudgedRaters
from softirr.report.scoring import Scored, Scoring, open_scoring, policy_used, scored
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.comparisons.difference import equivalence_p, holm
from softirr.statistics.comparisons.groups import OTHERS, Difference, Group, verdict, with_adjusted_intervals
from softirr.text import listed

_FEW_SHARED = 10


def compare_models(
    table: AnnotationTable | Any,
    models: Sequence[str] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str = "cohen_kappa",
    margin: float = MARGIN,
    epsilon: float | None = None,
    adjust: bool = True,
    judgments: Sequence[Any] = (),
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare models, or other raters, with the people on the same items.

    The mean agreement over pairs that include the model, minus the mean over pairs of people. Only items that the model
    and two people answered count.

    Parameters
    ----------
    table : AnnotationTable, data frame, Dataset, list, dict or array
        With the answers of the people and the models, in any form that :func:`softirr.agreement` takes.
    models : sequence of str, optional
        Raters to compare with all others; by default those with names that begin with ``model:``. If all of them are
        models, other models do not count as people. The rater ``reference`` never counts.
    measure, options, adjust, cache, progress
        As for :func:`compare`.
    coefficient : {"cohen_kappa", "observed_agreement"}
        Coefficient that is compared.
    margin : float
        How much less a model may agree with the people and still be within their range.
    epsilon : float, optional
        Also run the alternative annotator test (Calderon et al. 2025) for each model, with this advantage in cost.
    judgments : sequence
        Judged audit sheets that were drawn from the whole table: they correct both parts of each difference.

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
    >>> comparison = compare_models(table, measure="exact")
    >>> comparison.differences[0].b, comparison.differences[0].difference.value
    ('model:one', 0.0)
    """
    _check_options(coefficient, margin)
    table = table_from(table)
    model_names, people = _models_and_people(table, models)
    refuse_weights(table, "A comparison")
    with open_scoring(measure, options, cache, progress) as scoring:
        judged = JudgedRaters(scoring.answers(table), judgments) if judgments else None
        contrasts = _Contrasts(people, coefficient, scoring, judged)
        contrasts.add(table, model_names)
        tests = _alternative_tests(table, scoring, model_names, people, epsilon)
        each_person = _each_with_the_others(table.part(raters=people), coefficient, scoring)
    return Comparison(
        coefficient,
        tuple(contrasts.groups),
        _with_verdicts(contrasts.differences, margin, adjust, audited=bool(judgments)),
        measure=scoring.measure.name,
        policy=policy_used(table, scoring.measure),
        compared="models",
        paired=True,
        adjusted="holm" if adjust and len(contrasts.differences) > 1 else None,
        others=each_person,
        margin=margin,
        alternative=tests,
        warnings=tuple(_model_warnings(contrasts, adjust, bool(tests), bool(each_person))),
        misfits=tuple(contrasts.misfits),
    )


def _check_options(coefficient: str, margin: float) -> None:
    if coefficient not in ("cohen_kappa", "observed_agreement"):
        raise InputError(f"Models are compared by cohen_kappa or observed_agreement, not by {coefficient}.")
    if not 0 <= margin < 1:
        raise InputError(f"The margin is {margin}, but must be from 0 to 1.")


def _model_warnings(contrasts: _Contrasts, is_adjusted: bool, has_tests: bool, has_range: bool) -> Iterator[str]:
    yield from few_items(contrasts.groups)
    if contrasts.judged is None:
        yield NOT_AUDITED
    yield from contrasts.warnings
    if not is_adjusted and len(contrasts.differences) > 1:
        yield f"The verdicts are not adjusted for {len(contrasts.differences)} comparisons."
    if has_tests and contrasts.judged is not None:
        yield "The alternative annotator test uses the measure alone: the judgments do not correct it."
    if has_range and contrasts.judged is not None:
        yield "Each of the others with the rest of them is by the measure alone."


def _alternative_tests(
    table: AnnotationTable, scoring: Scoring, models: Sequence[str], people: Sequence[str], epsilon: float | None
) -> tuple[AlternativeAnnotator, ...]:
    if epsilon is None:
        return ()
    tables = {model: scored(scoring.answers(table.part(raters=[*people, model])), scoring.options) for model in models}
    return tuple(alternative_annotator(of_model, model, people, epsilon) for model, of_model in tables.items())


def _models_and_people(table: AnnotationTable, models: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The models to compare, and the people to compare them with."""
    candidates = (rater for rater in table.raters if rater.startswith(MODEL)) if models is None else models
    model_names = list(dict.fromkeys(candidates))
    for name in model_names:
        if name not in table.raters:
            names = listed(sorted(table.raters, key=lambda rater: not rater.startswith(MODEL)))  # the models first
            raise InputError(f"No rater is named {name!r}; there are {names}: name those that are models.")
    if not model_names:
        raise InputError(
            "There are no models: the export has no predictions, and no name of a rater begins with 'model:'. Name the "
            "raters that are models."
        )
    only_models = all(rater.startswith(MODEL) for rater in model_names)
    excluded = {*model_names, REFERENCE}
    people = [r for r in table.raters if r not in excluded and not (only_models and r.startswith(MODEL))]
    if len(people) < 2:
        raise InputError(
            "A model is compared with the agreement of the people, so the table needs at least two people, but it "
            f"has {f'only {people[0]}' if people else 'none'}."
        )
    return model_names, people


@dataclass
class _Contrasts:
    """The agreement of each model with the people, and of the people with each other on the same items."""

    people: Sequence[str]
    coefficient: str
    scoring: Scoring
    judged: JudgedRaters | None
    groups: list[Group] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    misfits: dict[str, None] = field(default_factory=dict)

    def add(self, table: AnnotationTable, models: Sequence[str]) -> None:
        """Compare some models; a single one is compared with "the others".

        Raises
        ------
        InputError
            If no model shares an item with two people.
        """
        comparable = comparable_items(table.part(raters=self.people))
        self.warnings += [*reading_notes({"": table}), *(self.judged.warnings if self.judged else ())]
        for model in models:
            answered = {table.items[item] for item in table.item[table.rater == table.raters.index(model)].tolist()}
            shared = table.part(items=answered & comparable, raters=[*self.people, model])
            if len(shared.item):
                self._add(shared, model, OTHERS if len(models) == 1 else f"{OTHERS}, on items of {model}")
            else:
                self.warnings.append(f"{model}: no item has an answer of this rater and of two others.")
        if not self.differences:
            raise InputError("No model shares an item with two people, so there is nothing to compare.")

    def _add(self, shared: AnnotationTable, model: str, label: str) -> None:
        """Compare a model on the items that it shares with two people."""
        people = scored(self.scoring.answers(shared.part(raters=self.people)), self.scoring.options)
        everyone = with_fit(scored(self.scoring.answers(shared), self.scoring.options))
        self.misfits |= dict.fromkeys(everyone.misfits)
        self.warnings += everyone.warnings
        among_people = people.sample(people.by_measure.estimates[self.coefficient])
        samples: tuple[Sample, Sample] = among_people, _with_the_others(everyone, self.coefficient, model)
        if self.judged is not None:
            samples = judged = self.judged.compared(model, self.people, shared.items, self.coefficient)
            if any(sample.coefficient.value is not None and sample.coefficient.ci95 is None for sample in judged):
                self.warnings.append(
                    f"{model}: too few pairs are judged for an interval ({judged[1].judged} of {model} with the "
                    f"others, {judged[0].judged} of the others with each other): judge more pairs."
                )
        groups = _group(label, people, samples[0]), _group(model, everyone, samples[1])
        self.groups += groups
        self.differences.append(difference_of(groups, samples))
        n_shared = everyone.ratings.comparisons.shared
        if len(n_shared) and np.median(n_shared) < _FEW_SHARED:
            self.warnings.append(
                f"{model}: two raters share {plural(round(float(np.median(n_shared))), 'item')} at the median, too "
                "few for the kappa of a pair. Compare observed_agreement instead."
            )


def _with_verdicts(
    differences: list[Difference], margin: float, adjust: bool, *, audited: bool
) -> tuple[Difference, ...]:
    p = holm([entry.p for entry in differences]) if adjust else [entry.p for entry in differences]
    equivalent = [equivalence_p(entry.difference, entry.n_shared, margin) for entry in differences]
    if adjust:
        equivalent, differences = holm(equivalent), with_adjusted_intervals(differences, margin)
    result = []
    for change, p_adjusted, p_equivalent in zip(differences, p, equivalent, strict=True):
        change = replace(change, p_adjusted=p_adjusted, p_equivalent=p_equivalent)
        result.append(replace(change, verdict=verdict(change, margin, audited=audited)))
    return tuple(result)


def _each_with_the_others(people: AnnotationTable, coefficient: str, scoring: Scoring) -> tuple[Group, ...]:
    """Agreement of each person with the other people: the range that people have."""
    if len(people.raters) < 3:
        return ()
    everyone = scored(scoring.answers(people), scoring.options)
    groups = [_group(rater, everyone, _with_the_others(everyone, coefficient, rater)) for rater in people.raters]
    return tuple(group for group in groups if group.coefficient.value is not None)


def _with_the_others(everyone: Scored, coefficient: str, rater: str) -> Sample:
    """Agreement of one rater with the others, by the measure alone."""
    observed, kappa, _ = everyone.by_measure.raters[everyone.table.raters.index(rater)]
    return everyone.sample(observed if coefficient == "observed_agreement" else kappa)


def _group(label: str, scored_table: Scored, sample: Sample) -> Group:
    return Group(label, len(sample.items), len(scored_table.table.raters), sample.coefficient)
