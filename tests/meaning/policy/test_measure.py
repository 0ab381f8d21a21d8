"""Measures under a policy: all ways to score agree, the cache sees the rewritten pair, and decisions override."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softirr
from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.policy.measure import combine_directions, policy_of, under_policy
from softirr.meaning.policy.rules import AS_WRITTEN, Policy
from tests.meaning.measures.contract import check
from tests.meaning.measures.function_measures import DirectedFunction

ANY_SEVERITY = Policy("any severity", ignore=frozenset({"severity"}))
TEXTS = ["severe knee pain", "mild knee pain", "knee pain", "pain", "fever", "severe", "left knee pain"]


class Directed(DirectedFunction):
    """The first text entails the second with the share of its words that the second has."""

    def __init__(self) -> None:
        super().__init__(lambda a, b: len(set(a.split()) & set(b.split())) / len(set(b.split())), "directed")


@pytest.mark.parametrize("name", ["indel", "jaccard", "exact"])
def test_the_contract_is_kept(name: str) -> None:
    p = check(under_policy(measure(name), ANY_SEVERITY), TEXTS)
    assert p[0, 1] == p[0, 2] == 1.0
    assert p[0, 6] == pytest.approx(measure(name).score([("knee pain", "left knee pain")])[0])


@pytest.mark.parametrize("more_general", ["strict", "graded", "lenient"])
def test_policy_decides_how_directions_combine(more_general: Any) -> None:
    scored = under_policy(Directed(), Policy(ignore=frozenset({"severity"}), more_general=more_general))
    assert scored.directional
    p = check(scored, TEXTS, atol=1e-12)
    assert p[0, 3] == pytest.approx({"strict": 0.5, "graded": 0.5**0.5, "lenient": 1.0}[more_general])
    if more_general == "strict":
        ((forward, backward),) = scored.both([("severe knee pain", "pain")])
        assert forward > backward, "it is still known which text is more general"


def test_the_cache_sees_the_rewritten_pair() -> None:
    cache = PairCache()
    raw = Directed()
    left_texts, right_texts = np.array([0, 1, 1]), np.array([3, 3, 2])
    PairScorer(under_policy(raw, ANY_SEVERITY), TEXTS, cache=cache).score(left_texts, right_texts)
    assert raw.asked == [("knee pain", "pain")]
    PairScorer(raw, ["knee pain", "pain"], cache=cache).score(np.array([0]), np.array([1]))
    strict = ANY_SEVERITY.changed(more_general="strict")
    PairScorer(under_policy(raw, strict), TEXTS, cache=cache).score(left_texts, right_texts)
    assert len(raw.asked) == 1


def test_a_policy_that_changes_no_score_leaves_the_measure_alone() -> None:
    indel = measure("indel")
    assert under_policy(indel, AS_WRITTEN) is indel
    assert under_policy(indel, Policy(split="lines")) is indel
    assert policy_of(indel) == AS_WRITTEN


@pytest.mark.parametrize("raw", [measure("indel"), Directed()], ids=["block", "directed"])
def test_decisions_win_over_the_policy(raw: Any) -> None:
    inside = under_policy(raw, ANY_SEVERITY)
    decided = {("mild knee pain", "severe knee pain"): False, ("fever", "knee pain"): True}
    scored = inside.with_stage(Decisions(decided))
    assert policy_of(scored) == ANY_SEVERITY
    p = check(scored, TEXTS, atol=1e-12)
    assert p[0, 1] == p[1, 0] == 0.0  # decided to be different
    assert p[4, 2] == 1.0  # decided to be the same
    assert p[0, 2] == p[5, 5] == 1.0  # the same without what does not count
    assert 0 < p[0, 3] < 1


def test_decisions_stay_under_a_policy() -> None:
    scored = under_policy(measure("indel").with_stage(Decisions({("fever", "pain"): True})), ANY_SEVERITY)
    assert scored.score([("fever", "pain"), ("severe pain", "pain")]).tolist() == [1.0, 1.0]


def test_two_policies_are_refused() -> None:
    scored = under_policy(measure("indel"), ANY_SEVERITY)
    assert under_policy(scored, ANY_SEVERITY) is scored
    with pytest.raises(InputError, match="another policy"):
        under_policy(scored, Policy(more_general="strict"))


def test_provenance_includes_the_policy() -> None:
    provenance = under_policy(measure("indel"), ANY_SEVERITY.changed(more_general="strict")).provenance()
    assert provenance.measure == "indel (without severity; strict)"
    assert provenance.policy["ignore"] == ["severity"]


def test_directions_of_zero_stay_zero() -> None:
    zero = np.zeros((1, 2))
    assert combine_directions(zero, "strict").tolist() == combine_directions(zero, "lenient").tolist() == [[0.0, 0.0]]


def test_one_sample_of_pairs_serves_every_policy() -> None:
    """Under each policy another sample was drawn, and a model met nearly all of its pairs for the first time."""
    body_parts = ["knee", "hip", "back", "arm", "leg", "neck", "jaw", "hand", "foot", "chest", "ear", "eye", "heel"]
    rows = [
        softirr.Answer(f"{body_part} {n}", rater, (f"{words} {body_part} pain {n} times",))
        for body_part in body_parts
        for n in range(3)
        for rater, words in (("a", "severe" if body_part == "knee" else "dull"), ("b", "burning"))
    ]
    table = softirr.AnnotationTable.from_answers(rows)
    scored_pairs = {}
    for policy in (AS_WRITTEN, Policy(ignore=frozenset({"severity"}))):
        directed = Directed()
        softirr.agreement(
            table,
            directed,
            policy=policy,
            chance="sample",
            cache=None,
            progress=None,
            options=softirr.AgreementOptions(target_se=1.0, reasons=False),
        )
        scored_pairs[policy.mark()] = {tuple(sorted(pair)) for pair in directed.asked}
    as_written, any_severity = scored_pairs.values()
    assert 0 < len(any_severity - as_written) < len(any_severity) / 4
