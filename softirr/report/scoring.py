"""The scores of a table, its chance by the method that fits, and its coefficients by the measure alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from softirr.answers.ratings import Marginals, Ratings
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.defaults import CHEAP_TARGET_SE, TARGET_SE
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.kinds import check_kind
from softirr.meaning.measures.pairs import CacheOption, PairScorer, ProgressOption, cache_and_progress, pairs_used_for
from softirr.meaning.policy.measure import policy_of
from softirr.meaning.policy.rules import Policy
from softirr.provenance import Progress
from softirr.report.inputs import AgreementOptions
from softirr.statistics.chance.expected import Equivalence, PairEquivalence
from softirr.statistics.chance.method import Method
from softirr.statistics.chance.sample import Drawing, first_sample
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.coefficients.registry import ByMeasure, definition
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.weights_and_scores import ItemWeights

CHEAP_PAIRS = 500_000_000
"""``chance="auto"`` is exact up to this many pairs of distinct answers when the measure is cheap.

Some 20 s for 30,000 answers.
"""
SET_PAIRS = 20_000_000
"""The same when answers are sets of up to four texts on average.

With larger ones fewer, as the square of their size.
"""
_SET_SIZE = 4
COSTLY_PAIRS = 2_000
"""The same, in pairs of texts, when the measure is not cheap."""


@dataclass(frozen=True)
class Scoring:
    """How tables are scored: the same for all tables of a report or a comparison."""

    measure: Measure
    options: AgreementOptions
    cache: PairCache | None
    progress: Progress | None

    def answers(self, table: AnnotationTable, measure: Measure | None = None) -> AnswerScorer:
        """The scorer of the answers of a table, under another measure if one is given."""
        scorer = PairScorer(measure or self.measure, table.texts, cache=self.cache, progress=self.progress)
        return AnswerScorer(table, scorer, method=self.options.assignment)


@contextlib.contextmanager
def open_scoring(
    measure: str | Measure, options: AgreementOptions | None, cache: CacheOption, progress: ProgressOption
) -> Iterator[Scoring]:
    """Open a measure; pairs of a model that several tables or parts of a report share are scored once.

    Parameters
    ----------
    measure, options, cache, progress
        As for :func:`softirr.agreement`.
    """
    scorer = measure_by_name(measure) if isinstance(measure, str) else measure
    with cache_and_progress(scorer, cache, progress) as (store, reporter):
        yield Scoring(scorer, options or AgreementOptions(), store, reporter)


@dataclass(frozen=True, eq=False)
class Scored:
    """The estimates of a table before they become a report.

    Attributes
    ----------
    by_measure : ByMeasure
        Ratings, scores, chance, and the estimates by the measure alone.
    answers : AnswerScorer
        Scorer of the table's answers.
    options : AgreementOptions
        With the target standard error that was used.
    """

    by_measure: ByMeasure
    answers: AnswerScorer
    options: AgreementOptions

    @property
    def ratings(self) -> Ratings:
        """The ratings of the table."""
        return self.by_measure.ratings

    @property
    def table(self) -> AnnotationTable:
        """The table of the answers."""
        return self.answers.table

    @property
    def measure(self) -> Measure:
        """The measure that scored the answers."""
        return self.answers.scorer.measure

    def sample(self, estimate: Estimate) -> Sample:
        """An estimate by the measure alone, with the ids of its items."""
        ids = tuple(self.table.items[number] for number in estimate.items.tolist())
        return Sample(estimate.coefficient, estimate.draws, ids)


def policy_used(table: AnnotationTable, measure: Measure) -> Policy:
    """The policy of a measure, with the splitting of the table."""
    return policy_of(measure).changed(split=None if table.split is None else table.split.mode)


def scored(answers: AnswerScorer, options: AgreementOptions) -> Scored:
    """Score a table and estimate every coefficient by the measure alone.

    Parameters
    ----------
    answers : AnswerScorer
        Scores pairs of the table's answers.
    options : AgreementOptions
        As for :func:`softirr.agreement`.
    """
    table, ratings = answers.table, Ratings.of(answers.table)
    check_kind(table, answers.scorer.measure)
    if options.marginals != "answers":
        refuse_weights(table, f"The option marginals={options.marginals}")
    with pairs_used_for("same items"):
        scores = answers.of_comparisons(ratings)
    if options.target_se is None:
        options = replace(options, target_se=CHEAP_TARGET_SE if answers.scorer.cheap else TARGET_SE)
    method, marginals = _method(options, ratings, answers), options.marginals
    with pairs_used_for("chance"):
        chance = method.chance(ratings, answers, scores)
        pooled = None if marginals == "answers" else method.chance(ratings, answers, scores, marginals)
    items = ItemWeights.of(table.items, ratings)
    return Scored(ByMeasure(ratings, scores, chance, items, pooled), answers, options)


def coefficient_estimate(
    answers: AnswerScorer, key: str, options: AgreementOptions, by_chance: float | None = None
) -> Estimate:
    """One coefficient of a table: as :func:`scored` has it, from the permuted pairs that this one needs.

    Parameters
    ----------
    answers : AnswerScorer
        Scores pairs of the table's answers; an item has answers of two raters.
    key : str
        Key of the coefficient.
    options : AgreementOptions
        As for :func:`scored`.
    by_chance : float, optional
        Mean equivalence of answers drawn at random; if it is set, no pair is scored for chance.

    Returns
    -------
    Estimate
        The coefficient by the measure alone.
    """
    ratings = Ratings.of(answers.table)
    scores = answers.of_comparisons(ratings)
    formula = definition(key)
    marginals: Marginals = "answers" if formula.marginals == "answers" else options.marginals
    equivalence: Equivalence = answers
    method = _method(options, ratings, answers)
    if by_chance is not None:
        equivalence, method = PairEquivalence(lambda k, _: np.full(len(k), by_chance)), Method("permutation", 1)
    chance = method.chance(ratings, equivalence, scores, marginals, formula.expectations)
    assert chance is not None
    return ByMeasure(ratings, scores, chance, ItemWeights.of(answers.table.items, ratings)).estimate(formula)


def _method(options: AgreementOptions, ratings: Ratings, answers: AnswerScorer) -> Method:
    """The requested method of chance, or the one that fits the budget."""
    name, target_se = options.chance, options.target_se or TARGET_SE
    drawing = Drawing(options.seed, target_se=target_se)
    if name == "auto":
        name = "exact" if exact_fits(ratings, answers) else "sample"
    if name == "sample" and answers.table.answers:
        pool = first_sample(answers.table.answers, is_cheap=answers.scorer.cheap)
        drawing = Drawing(options.seed, pool, answers.ordered, target_se)
    return Method(name, options.permutations, drawing)


def exact_fits(ratings: Ratings, answers: AnswerScorer) -> bool:
    """Whether agreement by chance is computed from every pair of distinct answers by default."""
    table = answers.table
    compared_answers = np.unique(ratings.answer[ratings.comparable])
    if answers.scorer.cheap and table.is_single:
        return len(compared_answers) ** 2 / 2 <= CHEAP_PAIRS
    if answers.scorer.cheap:
        size = sum(len(table.answers[answer]) for answer in compared_answers.tolist()) / max(len(compared_answers), 1)
        return len(compared_answers) ** 2 / 2 * max(size**2 / _SET_SIZE**2, 1.0) <= SET_PAIRS
    texts = {text for answer in compared_answers.tolist() for text in table.answers[answer]}
    return len(texts) ** 2 / 2 <= COSTLY_PAIRS
