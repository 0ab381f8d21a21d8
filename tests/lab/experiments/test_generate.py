"""Populations against the formulas of Wullschleger et al. 2026, section "Synthetic Experiments" and of its appendix."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from lab.experiments.draw import Draw
from lab.experiments.generate import NEGATIVES, NEIGHBOURS, SETTINGS, Generator, Negatives, Setting
from lab.experiments.scoring import truth
from lab.experiments.set_sizes import LARGEST, SMALLEST, nearest, set_sizes, shared_count, size_gap
from lab.terminologies import load
from lab.terminologies.relations import Relations
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Terminology

targets = st.floats(0, 1)


# --- the appendix's formulas
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "size", "gap"),
    # min(round((1 - α) 3), floor((1 - α) |A|)), worked out by hand
    [(0, 2, 2), (0, 5, 3), (0.5, 2, 1), (0.5, 5, 2), (0.6, 2, 0), (0.6, 3, 1), (0.9, 5, 0), (1, 5, 0), (0.25, 4, 2)],
)
def test_the_gap_of_sizes(target: float, size: int, gap: int) -> None:
    assert size_gap(target, size) == gap


@given(targets, st.integers(SMALLEST, LARGEST))
def test_the_gap_closes_as_agreement_grows(target: float, size: int) -> None:
    assert 0 <= size_gap(target, size) <= LARGEST - SMALLEST
    assert size_gap(1, size) == 0
    assert size_gap(min(1.0, target + 0.1), size) <= size_gap(target, size)


@given(targets, st.integers(SMALLEST, LARGEST), st.integers(SMALLEST, LARGEST))
def test_the_shared_count_gives_the_target_jaccard(target: float, m: int, n: int) -> None:
    k = shared_count(target, m, n)
    assert k / (m + n - k) == pytest.approx(target)


@given(targets, st.integers(0, 10_000))
def test_sizes_are_within_their_bounds(target: float, seed: int) -> None:
    draw = Draw(seed)
    m, n, k = set_sizes(target, draw)
    assert SMALLEST <= m <= LARGEST
    assert SMALLEST <= n <= LARGEST
    assert abs(m - n) <= size_gap(target, m)
    expected = shared_count(target, m, n)
    assert k in {min(math.floor(expected), m, n), min(math.ceil(expected), m, n)}


@pytest.mark.parametrize("target", [0.0, 0.15, 0.4, 0.6, 0.85, 1.0])
def test_the_expected_jaccard_is_near_the_target(target: float) -> None:
    draw = Draw("sizes", target)
    jaccards = [k / (m + n - k) for m, n, k in (set_sizes(target, draw) for _ in range(20_000))]
    # k is rounded at random, which is unbiased for k and, J being convex in k, a little high for J; capping at min(|A|,
    # |B|) is a little low
    assert np.mean(jaccards) == pytest.approx(target, abs=0.03)


def test_every_size_and_difference_is_drawn() -> None:
    draw = Draw("all")
    size_counts = Counter((m, n - m) for m, n, _ in (set_sizes(0.0, draw) for _ in range(20_000)))
    assert {m for m, _ in size_counts} == set(range(SMALLEST, LARGEST + 1))
    assert {d for m, d in size_counts if m == 3} == {-1, 0, 1, 2}, "clipped to the smallest and the largest size"


# --- populations
# --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generators(terminology: Terminology) -> dict[Setting, Generator]:
    return {setting: Generator(terminology, setting, seed=3) for setting in SETTINGS}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", NEGATIVES)
def test_every_text_is_a_name_of_its_concept(
    setting: Setting, kind: Negatives, generators: dict[Setting, Generator], terminology: Terminology
) -> None:
    names = dict(zip(terminology.ids, terminology.names, strict=True))
    needed = {"paper": 2, "hard": 3, "sets": 2}[setting]
    population = generators[setting].population(1, kind)
    assert len(population.texts) == 100
    for (first, second), (a, b) in zip(population.concepts, population.texts, strict=True):
        for concepts, texts in ((first, a), (second, b)):
            assert len(concepts) == len(texts) == len(set(concepts))
            assert all(text in names[concept] for concept, text in zip(concepts, texts, strict=True))
        assert all(len(names[concept]) >= needed for concept in first)


@pytest.mark.parametrize("setting", ["paper", "hard"])
@pytest.mark.parametrize("kind", NEGATIVES)
def test_the_target_is_the_share_of_kept_concepts(
    setting: Setting, kind: Negatives, generators: dict[Setting, Generator]
) -> None:
    for number in range(5):
        population = generators[setting].population(number, kind)
        remaining = sum(a == b for a, b in population.concepts)
        assert remaining == nearest(population.target * 100)
        concepts = [a[0] for a, _ in population.concepts]
        assert len(set(concepts)) == 100, "concepts are sampled without replacement"


def test_targets_are_spread_over_the_unit_interval(generators: dict[Setting, Generator]) -> None:
    drawn_targets = np.array([generators["paper"].population(n).target for n in range(200)])
    assert np.all((drawn_targets >= 0) & (drawn_targets < 1))
    assert np.allclose(np.histogram(drawn_targets, bins=4, range=(0, 1))[0] / 200, 0.25, atol=0.1)


@pytest.mark.parametrize("setting", ["paper", "hard"])
def test_negatives_have_their_relation_to_the_concept(
    setting: Setting, generators: dict[Setting, Generator], terminology: Terminology
) -> None:
    generator, folded = generators[setting], Relations(terminology).folded
    number = {id: c for c, id in enumerate(terminology.ids)}
    for kind in NEGATIVES:
        for (first,), (second,) in generator.population(2, kind).concepts:
            a, b = number[first], number[second]
            if a == b:
                continue
            assert folded[a].isdisjoint(folded[b]), "a negative shares no name"
            parents = set(terminology.parents[a])
            grandparents = {g for p in parents for g in terminology.parents[p]}
            if kind == "sibling":
                assert parents & set(terminology.parents[b])
                assert b not in parents | grandparents
            elif kind == "ancestor":
                assert b in parents | grandparents
            elif kind == "lexical":
                rest_of_pool = sorted(
                    -Indel.normalized_similarity(terminology.names[a][0], terminology.names[c][0])
                    for c in generator.pool
                    if folded[a].isdisjoint(folded[c])
                )
                distance = -Indel.normalized_similarity(terminology.names[a][0], terminology.names[b][0])
                assert distance <= rest_of_pool[NEIGHBOURS - 1]
                assert b in generator.pool


@pytest.mark.parametrize("kind", NEGATIVES)
def test_sets_follow_the_rule(kind: Negatives, generators: dict[Setting, Generator], terminology: Terminology) -> None:
    number = {id: c for c, id in enumerate(terminology.ids)}
    relations = Relations(terminology)
    folded = relations.folded
    overlaps, targets_ = [], []
    for index in range(6):
        population = generators["sets"].population(index, kind)
        jaccards = []
        related = unrelated = 0
        for a, b in population.concepts:
            assert SMALLEST <= len(a) <= LARGEST
            assert SMALLEST <= len(b) <= LARGEST
            assert abs(len(a) - len(b)) <= size_gap(population.target, len(a))
            common = set(a) & set(b)
            expected = shared_count(population.target, len(a), len(b))
            assert len(common) in {min(math.floor(expected), len(a), len(b)), min(math.ceil(expected), len(a), len(b))}
            jaccards.append(len(common) / len(set(a) | set(b)))
            for concept in set(b) - common:
                negative = number[concept]
                for second in a:
                    assert folded[negative].isdisjoint(folded[number[second]]), "a leak of the truth"
                kin = {
                    "random": set(range(len(terminology))),
                    "sibling": {s for c in a for s in relations.siblings(number[c])},
                    "ancestor": {s for c in a for s in relations.ancestors(number[c])},
                    "lexical": {s for c in a for s in generators["sets"].candidates(number[c], "lexical")},
                }[kind]
                related += negative in kin
                unrelated += negative not in kin
        assert unrelated <= population.substituted, "whatever is no relative was drawn at random, and counted"
        overlaps.append(np.mean(jaccards))
        targets_.append(population.target)
    assert np.allclose(overlaps, targets_, atol=0.08)


@pytest.mark.parametrize("setting", SETTINGS)
def test_kinds_of_negatives_share_everything_else(setting: Setting, generators: dict[Setting, Generator]) -> None:
    base = generators[setting].population(4, "random")
    for kind in NEGATIVES[1:]:
        other_population = generators[setting].population(4, kind)
        assert other_population.target == base.target
        for (a, b), (c, d), (x, y), (u, v) in zip(
            base.concepts, other_population.concepts, base.texts, other_population.texts, strict=True
        ):
            assert a == c
            assert x == u, "the first rater's words"
            assert len(b) == len(d)
            remaining = [i for i, concept in enumerate(b) if concept in a]
            assert [b[i] for i in remaining] == [concept for concept in d if concept in a]
            assert [y[i] for i in remaining] == [v[i] for i in remaining], (
                "the second rater's words for the same concept"
            )


def test_both_raters_draw_their_names_uniformly(generators: dict[Setting, Generator], terminology: Terminology) -> None:
    number = {id: c for c, id in enumerate(terminology.ids)}
    positions = [Counter[int](), Counter[int]()]
    for index in range(60):
        population = generators["hard"].population(index)
        for concepts, texts in zip(population.concepts, population.texts, strict=True):
            for rater in (0, 1):
                names = terminology.names[number[concepts[rater][0]]]
                if len(names) == 3:
                    positions[rater][names.index(texts[rater][0])] += 1
    for counts in positions:
        total = sum(counts.values())
        assert total > 1_000
        assert all(abs(counts[k] / total - 1 / 3) < 0.03 for k in range(3))


# --- seeds
# --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_seed_alone_determines_a_population(setting: Setting, terminology: Terminology) -> None:
    generator = Generator(terminology, setting, seed=7)
    for number in range(3):
        generator.population(number, "sibling")
    repeated = Generator(terminology, setting, seed=7)
    assert generator.population(5, "lexical").digest == repeated.population(5, "lexical").digest
    second = Generator(terminology, setting, seed=8)
    assert generator.population(5).digest != second.population(5).digest
    assert generator.population(5).digest != generator.population(6).digest


def test_draws_never_change() -> None:
    draw = Draw("fixed", 1)
    assert [draw.below(100) for _ in range(8)] == [11, 6, 95, 39, 48, 37, 37, 18]
    assert draw.sample("abcdef", 3) == ["b", "f", "a"]


@given(st.lists(st.integers(), unique=True, max_size=20), st.data())
def test_sample_contains_each_item_once(items: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(items)))
    sample = Draw("sample", len(items)).sample(items, k)
    assert len(sample) == len(set(sample)) == k
    assert set(sample) <= set(items)


# --- what can't be done
# -------------------------------------------------------------------------------------------------


def test_a_terminology_that_is_too_small_is_refused() -> None:
    small = Terminology("small", ("a", "b"), (("x", "y"), ("z", "w")), ((), (0,)))
    with pytest.raises(InputError, match="small has 0 concepts with 2 names or more and with relatives"):
        Generator(small, "paper")
    with pytest.raises(InputError, match="small has 2 concepts"):
        Generator(small, "paper", negatives=("random",))


def test_kinds_that_were_not_announced_are_refused(terminology: Terminology) -> None:
    generator = Generator(terminology, "paper", negatives=("random",))
    with pytest.raises(InputError, match="not made for 'sibling'"):
        generator.population(0, "sibling")


def test_without_a_hierarchy_random_and_lexical_negatives_still_work(terminology: Terminology) -> None:
    flat = Terminology("flat", terminology.ids, terminology.names, ((),) * len(terminology))
    generator = Generator(flat, "paper", negatives=("random", "lexical"))
    assert len(generator.population(0, "lexical").texts) == 100
    with pytest.raises(InputError, match="with relatives"):
        Generator(flat, "paper")


@pytest.mark.parametrize("name", ["hpo", "cl", "icd10cm"])
def test_real_terminologies_have_enough_concepts(name: str, shared_data: object) -> None:
    terminology = load(str(Path(str(shared_data)) / "benchmark" / "terminology" / name))
    for setting in SETTINGS:
        population = Generator(terminology, setting).population(0, "sibling")
        kappa = truth(population.gold()).estimates["optimal"]["cohen_kappa"]
        assert kappa is not None
        assert kappa == pytest.approx(population.target, abs=0.1)
