"""Scores of populations: the exact measure on the concepts is the truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from lab.experiments.generate import NEGATIVES, SETTINGS, Generator, Negatives, Population, Setting
from lab.experiments.run import NamedMeasure, Plan, run_synthetic, split_label
from lab.experiments.scoring import Scored, SharedScorer, Values, score_table, truth
from softirr import AgreementOptions, agreement
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.terminology.concepts import Terminology
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import coefficient_keys
from tests.meaning.measures.function_measures import FunctionMeasure


def _score(population: Population, name: str, permutations: int | None = None) -> Scored:
    table = population.table()
    return score_table(table, SharedScorer(measure(name), [table]), permutations=permutations, key=population.digest)


def _as_written(population: Population) -> Population:
    """The same population, each rater writing the concept itself."""
    return dataclasses.replace(population, texts=population.concepts)


def _overlap(kind: str, a: Collection[str], b: Collection[str]) -> float:
    """Jaccard or Dice coefficient of two sets by its formula."""
    common, union = len(set(a) & set(b)), len(set(a) | set(b))
    return 1.0 if not union else common / union if kind == "jaccard" else 2 * common / (len(a) + len(b))


def _by_formula(kind: str, answers: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> Values:
    """Coefficients of two raters' sets from the matrix of their overlaps."""
    first, second = zip(*answers, strict=True)
    all_sets = [frozenset(answer) for answer in (*first, *second)]
    distinct = list(dict.fromkeys(all_sets))
    similarity = np.array([[_overlap(kind, a, b) for b in distinct] for a in distinct])
    rows = np.array([distinct.index(answer) for answer in all_sets]).reshape(2, -1).T
    return {name: coefficient.value for name, coefficient in matrix_agreement(rows, similarity).estimates.items()}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", NEGATIVES)
def test_the_exact_measure_on_the_concepts_is_the_ground_truth(
    setting: Setting, kind: Negatives, terminology: Terminology
) -> None:
    """Of sets the assignment gives 2 |A ∩ B| / (|A| + |B|), and the truth of Wullschleger et al. 2026 is Jaccard's."""
    population = Generator(terminology, setting, size=40).population(0, kind)
    known_truth = truth(population.gold())
    score = _score(_as_written(population), "exact")
    for overlap, scored in (("jaccard", known_truth), ("dice", score)):
        by_formula = _by_formula(overlap, population.concepts)
        for name in coefficient_keys():
            assert scored.estimates["optimal"][name] == pytest.approx(by_formula[name], abs=1e-9), name
    jaccards = [_overlap("jaccard", *answers) for answers in population.concepts]
    assert known_truth.same.tolist() == pytest.approx(jaccards)
    assert np.array_equal(known_truth.same == 1, score.same == 1)


def test_two_answers_without_a_code_are_the_same() -> None:
    table = AnnotationTable.from_answers(
        Answer(i, r, ("x",) if (i, r) == ("2", "b") else ()) for i in "12" for r in "ab"
    )
    assert truth(table).same.tolist() == [1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["hard", "sets"])
def test_coefficients_are_those_of_softirr_score(setting: Setting, terminology: Terminology) -> None:
    population = Generator(terminology, setting).population(0, "lexical")
    report = agreement(population.table(), "indel", chance="exact")
    estimates = _score(population, "indel").estimates["optimal"]
    for name in coefficient_keys():
        assert estimates[name] == pytest.approx(report.coefficients[name].value, abs=1e-6), name
    if setting == "sets":
        greedy = agreement(population.table(), "indel", chance="exact", options=AgreementOptions(assignment="greedy"))
        value = _score(population, "indel").estimates["greedy"]["cohen_kappa"]
        assert value == pytest.approx(greedy.coefficients["cohen_kappa"].value, abs=1e-6)


@pytest.mark.parametrize("setting", ["hard", "sets"])
def test_same_item_pairs_and_contributions_average_to_the_coefficients(
    setting: Setting, terminology: Terminology
) -> None:
    scored = _score(Generator(terminology, setting).population(2), "levenshtein")
    assert scored.same.mean() == pytest.approx(scored.estimates["optimal"]["observed_agreement"])
    for name, contributions in scored.contributions.items():
        assert contributions.mean() == pytest.approx(scored.estimates["optimal"][name], abs=1e-9), name


def test_permutation_chance_depends_on_the_population_alone(terminology: Terminology) -> None:
    generator = Generator(terminology, "hard")
    first = _score(generator.population(1), "indel", 3).estimates
    _score(generator.population(2), "indel", 3)
    assert _score(generator.population(1), "indel", 3).estimates == first


def test_texts_of_several_populations_are_scored_once_with_progress(terminology: Terminology) -> None:
    counting = FunctionMeasure(lambda a, b: 0.0, "counting")
    counting.cache_key = None
    plan = Plan(settings=("paper",), negatives=("random", "lexical"), populations=2)
    progress: list[tuple[int, int]] = []
    measures = [NamedMeasure("counting", counting)]  # type: ignore[arg-type]
    records = run_synthetic(plan, [terminology], measures, progress=lambda *counts: progress.append(counts))
    assert len(records) == 4
    assert len(counting.asked) == len(set(counting.asked)) == sum(record.scored.pairs for record in records)
    assert progress and all(done <= total for done, total in progress) and progress[-1][0] == progress[-1][1]


def test_two_measures_with_one_label_are_refused() -> None:
    with pytest.raises(InputError, match="same label, x"):
        run_synthetic(Plan(), [], [NamedMeasure.of("x=indel"), NamedMeasure.of("x=lcs")])


def test_labels_of_measures() -> None:
    assert NamedMeasure.of("indel").label == "indel"
    assert NamedMeasure.of("letters=indel").label == "letters"
    assert split_label("MiniLM (emb.)=embedding:/a=b/c") == ("MiniLM (emb.)", "embedding:/a=b/c")
    assert split_label("embedding:/a=b/c") == ("embedding:c", "embedding:/a=b/c")
    assert split_label("nli:work/model")[0] == "nli:work"
