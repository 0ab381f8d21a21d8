"""A cache returns the computed values, bit for bit.

A run that finds everything gives the run that scored everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.measures import measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.known_pairs import Decisions, with_terminology
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy
from softirr.meaning.terminology import load
from tests.meaning.measures.function_measures import DirectedFunction, FunctionMeasure

TEXTS = [
    "fever",
    "pyrexia",
    "severe fever",
    "left knee pain",
    "pain of the right knee",
    "No rash. No itch.",
    "é",
    "漢字",
]


class Noisy(DirectedFunction):
    """A model with last bits that depend on the rest of the batch, as in real models."""

    chunk = 5
    calls = 0

    def __init__(self) -> None:
        super().__init__(lambda a, b: 0.9 * _number(f"{a}>{b}"), "noisy")

    def values(self, pairs: Any) -> np.ndarray:
        self.calls += 1
        return np.asarray(super().values(pairs) + 1e-12 * (1 + self.calls + _number(repr(pairs))))


class Symmetric(FunctionMeasure):
    """The same without directions."""

    def __init__(self) -> None:
        super().__init__(Noisy().p, "symmetric")
        self._model = Noisy()

    def values(self, pairs: Any) -> np.ndarray:
        return np.repeat(np.sqrt(self._model.values(pairs).prod(axis=1))[:, None], 2, axis=1)


def _number(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def _by_table(folder: Path) -> Any:
    (folder / "terms.csv").write_text("id,name,synonym\n1,fever,pyrexia\n2,rash,\n", encoding="utf-8")
    return with_terminology(Noisy(), [load(str(folder / "terms.csv"))])


KINDS: dict[str, Callable[[Path], Any]] = {
    "directed": lambda folder: Noisy(),
    "symmetric": lambda folder: Symmetric(),
    "decided": lambda folder: Noisy().with_stage(Decisions({("cough", "fever"): True})),
    "without attributes": lambda folder: under_policy(Noisy(), Policy(ignore={"severity", "side"})),
    "lenient": lambda folder: under_policy(Noisy(), Policy(more_general="lenient")),
    "with attributes that decide": lambda folder: under_policy(Noisy(), Policy(count={"side"})),
    "terminology": _by_table,
    "bundled model": lambda folder: measure("nli", device="cpu"),
}


@pytest.fixture(params=["memory", "file"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PairCache]:
    with PairCache() if request.param == "memory" else PairCache(tmp_path / "pairs.sqlite") as store:
        yield store


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_scores_from_a_cache_are_those_that_were_computed(kind: str, cache: PairCache, tmp_path: Path) -> None:
    left_texts, right_texts = (side.ravel() for side in np.mgrid[: len(TEXTS), : len(TEXTS)])
    cold = PairScorer(KINDS[kind](tmp_path), TEXTS, cache=cache)
    scores, directions = cold.score(left_texts, right_texts), cold.directions(left_texts, right_texts)
    order = np.random.default_rng(1).permutation(len(left_texts))
    warm = PairScorer(KINDS[kind](tmp_path), TEXTS[::-1], cache=cache)
    last = len(TEXTS) - 1
    warm_directions = warm.directions(last - left_texts[order], last - right_texts[order])
    assert np.array_equal(warm_directions, directions[order])
    assert np.array_equal(warm.score(last - left_texts[order], last - right_texts[order]), scores[order])
    block = warm.block(last - np.arange(len(TEXTS)), last - np.arange(len(TEXTS)))
    assert np.array_equal(block.ravel(), scores.astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["directed", "symmetric", "terminology", "bundled model"])
@pytest.mark.parametrize("split", ["none", "commas"])
def test_a_report_from_a_cache_is_the_first_one(kind: str, split: Any, cache: PairCache, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [Answer(str(item), rater, str(rng.choice(TEXTS))) for item in range(12) for rater in ("ann", "bob", "eve")]
    table = AnnotationTable.from_answers(rows)

    def report() -> dict[str, Any]:
        policy = Policy(ignore={"severity"}, split=split)
        agreement = softirr.agreement(
            table, KINDS[kind](tmp_path), policy=policy, cache=cache, options=softirr.AgreementOptions(what_if=True)
        )
        return agreement.to_dict()

    first, second = report(), report()
    for exported in (first, second):
        exported["provenance"].pop("truncated_texts", None)
    assert second == first
