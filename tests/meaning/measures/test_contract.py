"""The contract of every measure and every stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.measures import measure
from softirr.meaning.measures.arrays import mutual
from softirr.meaning.measures.fact_comparisons import Facts
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.known_pairs import Decisions, Terminologies
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.stages import Stage
from softirr.meaning.policy.measure import PolicyStage
from softirr.meaning.policy.rules import Policy
from softirr.meaning.terminology.concepts import NameLookup
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.meaning.terminology.terms import terminology

TEXTS = ["fever", "high fever", "no fever", "5 mg", "0.005 g", "left knee pain", "mild pain of the right knee"]
TEXTS += ["fever  ", "", "Fever. No cough.", "No cough. Fever. Rash.", "2", "4", "rash > itch"]
EVERY = np.arange(len(TEXTS))
LEFT, RIGHT = (side.ravel() for side in np.mgrid[: len(TEXTS), : len(TEXTS)])
PAIRS = [(TEXTS[i], TEXTS[j]) for i, j in zip(LEFT, RIGHT, strict=True)]


def of_numbers() -> Measure:
    rows = [Answer(str(k), rater, str(k + (rater == "b"))) for k in range(6) for rater in "ab"]
    return KindMeasure(replace(AnnotationTable.from_answers(rows), kind="interval"))


MEASURES: dict[str, Callable[[], Any]] = {
    name: lambda name=name: measure(name)  # type: ignore[misc]
    for name in ("exact", "jaccard", "masi", "levenshtein", "indel", "lcs", "nli")
} | {"function": lambda: FunctionMeasure(lambda a, b: 1 / (1 + abs(len(a) - len(b))) / 2)}
STAGES: dict[str, Stage] = {
    "decisions": Decisions({("5 mg", "fever"): True, ("fever", "high fever"): False}),
    "ignoring policy": PolicyStage(Policy(ignore={"severity"})),
    "counting policy": PolicyStage(Policy(count={"side", "negation"}, more_general="strict")),
    "lenient policy": PolicyStage(Policy(more_general="lenient")),
    "sentences": Sentences(),
    "facts": Facts(),
    "terminologies": Terminologies(NameLookup([terminology(("fever", "pyrexia"), ("rash",))])),
}


def check(scored: Any) -> None:
    """P is symmetric, a probability, 1 for the same text, and equal in all methods that return it."""
    scorer = PairScorer(scored, TEXTS)
    p = scorer.score(LEFT, RIGHT)
    table = p.reshape(len(TEXTS), -1)
    assert np.all((p >= 0) & (p <= 1)) and np.array_equal(table, table.T)
    assert np.all(np.diag(table) == 1) and table[0, 7] == 1
    np.testing.assert_allclose(scored.score(PAIRS), p, atol=1e-6)
    np.testing.assert_allclose(mutual(scored.both(PAIRS)), p, atol=1e-6)
    if not any(isinstance(stage, Sentences) for stage in scored.stages) or not scored.has_blocks:
        np.testing.assert_allclose(scorer.block(EVERY, EVERY), table, atol=1e-6)
    directions = scorer.directions(LEFT, RIGHT)
    swapped = directions.reshape(len(TEXTS), -1, 2).transpose(1, 0, 2)[..., ::-1]
    assert np.array_equal(directions.reshape(swapped.shape), swapped)
    assert scored.directional or np.allclose(directions[:, 0], directions[:, 1])
    assert scored.provenance().measure == scored.name


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_keeps_the_contract(name: str) -> None:
    built = MEASURES[name]()
    check(built)
    raw = built.with_stages(())
    assert raw.stages == () and raw.name == built.raw_name == built.describe().measure


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["indel", "function"])
def test_every_stage_keeps_the_contract(stage: str, name: str) -> None:
    check(MEASURES[name]().with_stage(STAGES[stage]))


@pytest.mark.parametrize("name", ["indel", "function"])
def test_all_stages_together_keep_the_contract(name: str) -> None:
    kinds = [STAGES[stage] for stage in ("decisions", "counting policy", "facts", "terminologies")]
    built = MEASURES[name]().with_stages(kinds[::-1])
    assert [stage.rank for stage in built.stages] == sorted(stage.rank for stage in kinds)
    check(built)
    assert built.score([("5 mg", "fever"), ("fever", "high fever"), ("pyrexia", "fever")]).tolist() == [1, 0, 1]


def test_kinds_keep_the_contract() -> None:
    numbers = of_numbers()
    texts = [str(k) for k in range(7)]
    left_texts, right_texts = (side.ravel() for side in np.mgrid[:7, :7])
    p = PairScorer(numbers, texts).score(left_texts, right_texts).reshape(7, 7)
    np.testing.assert_allclose(PairScorer(numbers, texts).block(np.arange(7), np.arange(7)), p, atol=1e-6)
    assert np.array_equal(p, p.T) and np.all(np.diag(p) == 1)
