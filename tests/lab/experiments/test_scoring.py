"""Scores of populations: the exact measure on the concepts is the truth, and everything kept agrees with everything reported."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr import agreement
from softirr.coefficients.registry import coefficient_keys
from softirr.errors import InputError
from softirr.lab.experiments.generate import NEGATIVES, SETTINGS, Generator, Population, Setting
from softirr.lab.experiments.gold import SetOverlap, gold_summary, jaccard, values
from softirr.lab.experiments.pools import pack, unpack
from softirr.lab.experiments.run_store import PopulationRow, RunStore
from softirr.lab.experiments.scoring import Chance, SharedScorer, score_population
from softirr.lab.experiments.synthetic import NamedMeasure, Plan, measure_key, pairs_of, run, split_label
from softirr.measures import measure
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminology import Terminology

EXACT = Chance("exact")


def _score(population: Population, name: str, chance: Chance = EXACT):  # type: ignore[no-untyped-def]
    return score_population(population, SharedScorer(measure(name), [population.table()]), chance)


def _as_written(population: Population) -> Population:
    """The same population, each rater writing the concept itself."""
    return dataclasses.replace(population, texts=population.concepts)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", NEGATIVES)
def test_the_exact_measure_on_the_concepts_is_the_ground_truth(
    setting: Setting, kind: str, terminology: Terminology
) -> None:
    population = _as_written(Generator(terminology, setting).population(0, kind))  # type: ignore[arg-type]
    # the assignment of two sets gives 2 |A ∩ B| / (|A| + |B|): the same as the Jaccard truth of Wullschleger et al.
    # 2026 for sets of one
    overlap = "dice" if setting == "sets" else "jaccard"
    truth = values(gold_summary(population.gold(), overlap))
    estimates = _score(population, "exact").estimates["optimal"]
    for name in coefficient_keys(shown=True):
        assert estimates[name] == pytest.approx(truth[name], abs=1e-12), name


@pytest.mark.parametrize("setting", ["paper", "sets"])
def test_the_truth_is_cohens_kappa_by_its_formula(setting: Setting, terminology: Terminology) -> None:
    population = Generator(terminology, setting).population(1)
    first = [a for a, _ in population.concepts]
    second = [b for _, b in population.concepts]
    observed = np.mean([jaccard(a, b) for a, b in zip(first, second, strict=True)])
    expected = np.mean([jaccard(a, b) for a in first for b in second])
    truth = values(gold_summary(population.gold()))
    assert truth["observed_agreement"] == pytest.approx(observed)
    assert truth["cohen_kappa"] == pytest.approx((observed - expected) / (1 - expected))


codes = st.lists(st.sets(st.sampled_from("abcdef"), max_size=4), min_size=4, max_size=8)


@settings(max_examples=30, deadline=None)
@given(codes, st.sampled_from(["jaccard", "dice", "equal"]))
def test_set_overlap_by_its_formula(sets: list[set[str]], overlap: str) -> None:
    table = AnnotationTable.from_answers(
        Answer(str(i // 2), str(i % 2), tuple(sorted(given_))) for i, given_ in enumerate(sets)
    )
    equivalence = SetOverlap(table, overlap)  # type: ignore[arg-type]
    index = np.arange(len(table.answers))
    grid = equivalence.block(index, index)
    for k in index.tolist():
        for l in index.tolist():  # noqa: E741
            a, b = set(table.texts_of(k)), set(table.texts_of(l))
            if not a and not b:
                wanted = 1.0
            elif overlap == "jaccard":
                wanted = len(a & b) / len(a | b)
            elif overlap == "dice":
                wanted = 2 * len(a & b) / (len(a) + len(b))
            else:
                wanted = float(a == b)
            assert grid[k, l] == pytest.approx(wanted)
            assert equivalence.score(np.array([k]), np.array([l]))[0] == pytest.approx(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["hard", "sets"])
def test_coefficients_are_those_of_softirr_score(setting: Setting, terminology: Terminology) -> None:
    population = Generator(terminology, setting).population(0, "lexical")
    report = agreement(population.table(), "indel", chance="exact")
    estimates = _score(population, "indel").estimates["optimal"]
    for name in coefficient_keys(shown=True):
        assert estimates[name] == pytest.approx(report.coefficients[name].value, abs=1e-6), name
    if setting == "sets":
        greedy = agreement(population.table(), "indel", chance="exact", assignment="greedy")
        value = _score(population, "indel").estimates["greedy"]["cohen_kappa"]
        assert value == pytest.approx(greedy.coefficients["cohen_kappa"].value, abs=1e-6)


@pytest.mark.parametrize("setting", ["hard", "sets"])
def test_pools_add_up_to_the_coefficients(setting: Setting, terminology: Terminology) -> None:
    population = Generator(terminology, setting).population(2)
    scored = _score(population, "levenshtein")
    assert scored.same.mean() == pytest.approx(scored.estimates["optimal"]["observed_agreement"])
    truth = gold_summary(population.gold()).coefficients["observed_agreement"].value
    assert float(scored.same.share @ scored.same.truth) == pytest.approx(truth)
    assert len(scored.chance.base) == 3 * len(scored.same.base)
    same, chance = unpack(pack(scored.same, scored.chance))
    assert same.mean() == scored.same.mean()
    assert np.array_equal(chance.pair, scored.chance.pair)


def test_edges_carry_the_concepts_truth(terminology: Terminology) -> None:
    population = Generator(terminology, "sets").population(3)
    pool = _score(_as_written(population), "exact").same
    assert np.array_equal(pool.gold, pool.score), "written as concepts, a match is right just where it is exact"
    # edges and Dice agree: base is 0 and each right edge adds 2 / (m + n)
    dice = [2 * len(set(a) & set(b)) / (len(a) + len(b)) for a, b in population.concepts]
    assert pool.answers(pool.gold) == pytest.approx(dice)


def test_contributions_average_to_the_coefficient(terminology: Terminology) -> None:
    scored = _score(Generator(terminology, "hard").population(0), "indel")
    for name, contributions in scored.contributions.items():
        assert contributions.mean() == pytest.approx(scored.estimates["optimal"][name], abs=1e-9), name


def test_permutation_chance_depends_on_the_population_alone(terminology: Terminology) -> None:
    generator = Generator(terminology, "hard")
    paper = Chance("permutation", 3)
    first = _score(generator.population(1), "indel", paper).estimates
    _score(generator.population(2), "indel", paper)
    assert _score(generator.population(1), "indel", paper).estimates == first


# --- the store
# ----------------------------------------------------------------------------------------------------------


class _Counting:
    """An exact measure that counts what it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0
        self._inner = measure("exact")

    def score(self, pairs):  # type: ignore[no-untyped-def]
        self.asked += len(pairs)
        return self._inner.score(pairs)

    def provenance(self):  # type: ignore[no-untyped-def]
        return self._inner.provenance()


def test_a_population_scored_once_is_never_scored_again(terminology: Terminology, tmp_path: Path) -> None:
    plan = Plan(settings=("paper",), negatives=("random", "lexical"), populations=2)
    counting = _Counting()
    named = [NamedMeasure("counting", counting, "counting")]  # type: ignore[arg-type]
    seen: list[tuple[str, int, int]] = []

    class _Stop(Exception):
        pass

    def stop(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))
        if done == 3:
            raise _Stop

    with RunStore(tmp_path) as store, pytest.raises(_Stop):
        run(plan, [terminology], named, store, progress=stop)
    assert seen[-1] == ("made_up, paper, counting", 3, 4)
    with RunStore(tmp_path) as store:
        assert len(store.records()) == 3
        counting.asked = 0
        run(plan, [terminology], named, store)
        assert len(store.records()) == 4
        assert 0 < counting.asked < 2_500, "only what the fourth population asks for"
        counting.asked = 0
        run(plan, [terminology], named, store)
        assert counting.asked == 0


def test_progress_of_a_model_is_told_pair_by_pair() -> None:
    seen: list[tuple[str, int, int]] = []
    report_pairs = pairs_of(lambda *what: seen.append(what), "hpo, hard, nli")
    assert report_pairs is not None
    report_pairs(3, 700)
    assert seen == [("hpo, hard, nli, text pairs", 3, 700)]
    assert pairs_of(None, "hpo") is None


def test_the_store_gives_back_what_it_was_given(tmp_path: Path, terminology: Terminology) -> None:
    population = Generator(terminology, "paper").population(0)
    scored = _score(population, "indel")
    truth = values(gold_summary(population.gold()))
    row = PopulationRow(population.digest, "made_up", "paper", "random", 0, population.target, truth, {"items": 100})
    with RunStore(tmp_path) as store:
        store.put_population(row)
        store.put(population.digest, "indel", "exact", "Indel", scored, 0)
        store.put_items(population.digest, "indel", "exact", scored.contributions)
    with RunStore(tmp_path) as store:
        (record,) = store.records()
        assert record.population == row
        assert record.estimates == scored.estimates
        assert record.error() == pytest.approx(abs(record.estimates["optimal"]["cohen_kappa"] - truth["cohen_kappa"]))
        assert np.array_equal(store.pools(record)[0].score, scored.same.score)
        assert np.array_equal(
            store.items(population.digest, "indel", "exact")["cohen_kappa"], scored.contributions["cohen_kappa"]
        )
        assert store.items(population.digest, "lcs", "exact") == {}


def test_a_folder_of_another_seed_is_not_mixed(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.settle(seed=0, size=100)
        store.settle(seed=0, truth="jaccard")
        with pytest.raises(InputError, match="made with seed 0, not 1"):
            store.settle(seed=1)


def test_a_damaged_store_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(InputError, match=r"scores\.sqlite can't be used"):
        RunStore(tmp_path)


def test_labels_and_keys_of_measures(tmp_path: Path) -> None:
    assert NamedMeasure.of("indel").label == "indel"
    assert NamedMeasure.of("letters=indel").label == "letters"
    assert split_label("MiniLM (emb.)=embedding:/a=b/c") == ("MiniLM (emb.)", "embedding:/a=b/c")
    assert split_label("embedding:/a=b/c") == ("", "embedding:/a=b/c")
    assert measure_key(measure("indel")) == "indel"
    with RunStore(tmp_path) as store, pytest.raises(InputError, match="same label"):
        run(Plan(), [], [NamedMeasure.of("x=indel"), NamedMeasure.of("x=lcs")], store)
