"""Scores of populations: the exact measure on the concepts is the truth, and what is kept is what is reported."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pytest

from lab.experiments.generate import NEGATIVES, SETTINGS, Generator, Negatives, Population, Setting
from lab.experiments.run import NamedMeasure, measure_key, pairs_of, split_label
from lab.experiments.run_store import PopulationRow, RunStore
from lab.experiments.scoring import EXACT, Chance, Scored, SharedScorer, Values, score_table, truth
from lab.experiments.synthetic import Plan, run
from softirr import AgreementOptions, agreement
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.terminology import Terminology
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import coefficient_keys
from tests.meaning.measures.function_measures import FunctionMeasure


def _score(population: Population, name: str, chance: Chance = EXACT) -> Scored:
    table = population.table()
    return score_table(table, SharedScorer(measure(name), [table]), chance, key=population.digest)


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
    every = [frozenset(one) for one in (*first, *second)]
    distinct = list(dict.fromkeys(every))
    similarity = np.array([[_overlap(kind, a, b) for b in distinct] for a in distinct])
    rows = np.array([distinct.index(one) for one in every]).reshape(2, -1).T
    return {
        name: coefficient.value for name, coefficient in matrix_agreement(rows, similarity).summary.coefficients.items()
    }


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
    jaccards = [_overlap("jaccard", *both) for both in population.concepts]
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
    first = _score(generator.population(1), "indel", Chance()).estimates
    _score(generator.population(2), "indel", Chance())
    assert _score(generator.population(1), "indel", Chance()).estimates == first


# --- the store
# ----------------------------------------------------------------------------------------------------------


class _Counting(FunctionMeasure):
    """An exact measure that records what it is asked."""

    def __init__(self) -> None:
        super().__init__(lambda a, b: 0.0, "counting")
        self.cache_key = None


def test_a_population_scored_once_is_never_scored_again(terminology: Terminology, tmp_path: Path) -> None:
    plan = Plan(settings=("paper",), negatives=("random", "lexical"), populations=2)
    counting = _Counting()
    named = [NamedMeasure("counting", counting, "counting")]  # type: ignore[arg-type]
    seen: list[tuple[str, int, int]] = []

    class _Stop(Exception):
        pass

    def stop(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))
        if (what, done) == ("made_up, paper, counting", 3):
            raise _Stop

    with RunStore(tmp_path) as store, pytest.raises(_Stop):
        run(plan, [terminology], named, store, progress=stop)
    assert seen[-1] == ("made_up, paper, counting", 3, 4)
    with RunStore(tmp_path) as store:
        assert len(store.records()) == 3
        counting.asked.clear()
        run(plan, [terminology], named, store)
        assert len(store.records()) == 4
        assert 0 < len(counting.asked) < 2_500, "only what the fourth population asks for"
        counting.asked.clear()
        run(plan, [terminology], named, store)
        assert not counting.asked


def test_model_reports_progress_pair_by_pair() -> None:
    seen: list[tuple[str, int, int]] = []
    pairs_of(lambda *what: seen.append(what), "hpo, hard, nli")(3, 700)
    assert seen == [("hpo, hard, nli, text pairs", 3, 700)]


def test_store_returns_stored_scores(tmp_path: Path, terminology: Terminology) -> None:
    population = Generator(terminology, "paper").population(0)
    scored, known_truth = _score(population, "indel"), truth(population.gold())
    row = PopulationRow(
        population.digest, "made_up", "paper", "random", 0, known_truth.estimates["optimal"], {"items": 100}
    )
    with RunStore(tmp_path) as store:
        store.put_population(row, known_truth)
        store.put(population.digest, "indel", "Indel", scored, 0)
    with RunStore(tmp_path) as store:
        (record,) = store.records()
        assert record.population == row
        assert record.estimates == scored.estimates
        kappa, true = (one.estimates["optimal"]["cohen_kappa"] for one in (scored, known_truth))
        assert record.error() == pytest.approx(abs(kappa - true))
        for kept, given in ((store.scores(record), scored), (store.truth(population.digest), known_truth)):
            assert np.array_equal(kept.same, given.same)
            assert kept.contributions.keys() == given.contributions.keys()
            assert np.array_equal(kept.contributions["cohen_kappa"], given.contributions["cohen_kappa"])


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "scores.sqlite") as database:
        database.execute("CREATE TABLE scores (digest TEXT)")
    with pytest.raises(InputError, match="is of another version of softirr: give another folder with --output"):
        RunStore(tmp_path)


def test_two_measures_with_one_label_are_refused(tmp_path: Path, terminology: Terminology) -> None:
    plan = Plan(settings=("paper",), negatives=("random",), populations=1)
    with RunStore(tmp_path) as store:
        with pytest.raises(InputError, match="same label, x"):
            run(plan, [], [NamedMeasure.of("x=indel"), NamedMeasure.of("x=lcs")], store)
        run(plan, [terminology], [NamedMeasure.of("x=indel")], store)
        with pytest.raises(InputError, match="same label, x"):
            run(plan, [terminology], [NamedMeasure.of("x=lcs")], store)


def test_a_folder_of_another_seed_is_not_mixed(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.settle(seed=0, size=100)
        store.settle(seed=0)
        with pytest.raises(InputError, match="made with seed 0, not 1"):
            store.settle(seed=1)


def test_a_damaged_store_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(InputError, match=r"scores\.sqlite can't be used"):
        RunStore(tmp_path)


def test_labels_and_keys_of_measures() -> None:
    assert NamedMeasure.of("indel").label == "indel"
    assert NamedMeasure.of("letters=indel").label == "letters"
    assert split_label("MiniLM (emb.)=embedding:/a=b/c") == ("MiniLM (emb.)", "embedding:/a=b/c")
    assert split_label("embedding:/a=b/c") == ("", "embedding:/a=b/c")
    assert measure_key(measure("indel")) == "indel"
