"""The contract of every measure and every stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.measures import measure
from softirr.meaning.measures.fact_comparisons import Facts
from softirr.meaning.measures.kinds import KindMeasure
from softirr.meaning.measures.known_pairs import Decisions, Terminologies
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.stages import Stage
from softirr.meaning.policy.measure import PolicyStage
from softirr.meaning.policy.rules import Policy
from softirr.meaning.terminology.concepts import NameLookup
from tests.meaning.measures.contract import check
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.meaning.terminology.terms import terminology

TEXTS = ["fever", "high fever", "no fever", "5 mg", "0.005 g", "left knee pain", "mild pain of the right knee"]
TEXTS += ["fever  ", "", "Fever. No cough.", "No cough. Fever. Rash.", "2", "4", "rash > itch"]


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


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_keeps_the_contract(name: str) -> None:
    built = MEASURES[name]()
    check(built, TEXTS)
    raw = built.with_stages(())
    assert raw.stages == () and raw.name == built.raw_name == built.describe().measure


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["indel", "function"])
def test_every_stage_keeps_the_contract(stage: str, name: str) -> None:
    check(MEASURES[name]().with_stage(STAGES[stage]), TEXTS)


@pytest.mark.parametrize("name", ["indel", "function"])
def test_all_stages_together_keep_the_contract(name: str) -> None:
    kinds = [STAGES[stage] for stage in ("decisions", "counting policy", "facts", "terminologies")]
    built = MEASURES[name]().with_stages(kinds[::-1])
    assert [stage.rank for stage in built.stages] == sorted(stage.rank for stage in kinds)
    check(built, TEXTS)
    assert built.score([("5 mg", "fever"), ("fever", "high fever"), ("pyrexia", "fever")]).tolist() == [1, 0, 1]


def test_kinds_keep_the_contract() -> None:
    check(of_numbers(), [str(k) for k in range(7)])
