"""Policies learned from judgments.

What hangs on an attribute, how sure that is, and the coefficient under each candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.audit.proposal import GENERAL, Support, propose_policy
from softirr.errors import InputError
from softirr.meaning.measures.reliability import JudgedPairs
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, Policy
from softirr.provenance import Provenance

HEADS = ("pain", "rash", "cough", "fever", "nausea", "itching", "swelling", "fatigue", "dizziness", "tremor")


def judged(*parts: tuple[Sequence[tuple[str, str]], float]) -> JudgedPairs:
    pairs = [(pair, value) for some, value in parts for pair in some]
    return JudgedPairs(tuple(pair for pair, _ in pairs), tuple(value for _, value in pairs))


SEVERITY = [(f"severe {head}", f"mild {head}") for head in HEADS]
SIDE = [(f"left leg {head}", f"right leg {head}") for head in HEADS]
BOTH = [(f"severe {head} for 3 days", f"{head} since Monday") for head in HEADS]
OTHER = list(pairwise(HEADS))


def test_an_attribute_that_the_judges_ignore_is_left_out() -> None:
    proposal = propose_policy(judged((SEVERITY, 1), (SIDE, 0), (OTHER, 0)), "exact", threshold=1.0)
    assert proposal.policy == Policy(ignore=frozenset({"severity"}))
    verdicts = {one.what: (one.same, one.judged, one.verdict) for one in proposal.supports}
    assert verdicts == {"severity": (10, 10, "does not count"), "side": (0, 10, "counts")}
    fits = {one.policy: (one.right, one.brier) for one in proposal.candidates}
    assert fits[proposal.policy] == (1.0, 0.0)
    assert fits[AS_WRITTEN] == pytest.approx((19 / 29, 10 / 29))
    assert set(PRESETS.values()) <= set(fits)
    assert "  100%  0.000      -  severity does not count" in proposal.lines()


def test_one_dissenting_judge_is_not_enough_to_change_it_and_many_are() -> None:
    proposal = propose_policy(judged((SEVERITY[:9], 1), (SEVERITY[9:], 0)), "exact")
    assert proposal.policy.kinds == ("severity",)
    assert proposal.supports[0].describe() == "Severity: 9 of 10 judgments ignore it: does not count."
    proposal = propose_policy(judged((SEVERITY[:6], 1), (SEVERITY[6:], 0)), "exact")
    assert proposal.policy == AS_WRITTEN
    assert proposal.supports[0].verdict == "undecided"


def test_few_judgements_decide_nothing() -> None:
    proposal = propose_policy(judged((SEVERITY[:2], 1)), "exact")
    assert proposal.policy == AS_WRITTEN
    assert proposal.supports[0].probability == pytest.approx(1 - 0.5**3)


def test_an_attribute_counts_beside_one_that_is_left_out() -> None:
    proposal = propose_policy(judged((SEVERITY, 1), (BOTH, 1)), "exact")
    assert proposal.policy.kinds == ("severity", "time")


class Directed:
    """Two texts of which one adds words: only the longer one entails the other."""

    name = "directed"

    def entail_both(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.array(
            [[float(set(b.split()) <= set(a.split())), float(set(a.split()) <= set(b.split()))] for a, b in pairs]
        ).reshape(-1, 2)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        both = self.entail_both(pairs)
        return np.sqrt(both[:, 0] * both[:, 1])

    def provenance(self) -> Provenance:
        return Provenance("directed")


def test_an_attribute_decides_where_the_judges_see_a_difference_that_the_measure_does_not() -> None:
    same = [(f"severe {head}", f"marked {head}") for head in HEADS]
    proposal = propose_policy(judged((SEVERITY, 0), (SIDE, 1), (same, 1), (OTHER, 0)), Blind())
    assert proposal.policy == Policy(count=frozenset({"severity"}))
    verdicts = {one.what: (one.same, one.judged, one.verdict) for one in proposal.supports if one.deciding}
    assert verdicts == {"severity": (0, 10, "decides"), "side": (10, 10, "does not count")}
    assert next(one for one in proposal.supports if one.deciding and one.what == "severity").describe() == (
        "Severity: 0 of 10 pairs with this difference and a high P were judged the same: decides."
    )
    fits = {one.policy: one.right for one in proposal.candidates}
    assert fits[proposal.policy] == 1.0 > fits[AS_WRITTEN]
    assert propose_policy(judged((SEVERITY[:2], 0), (OTHER, 0)), Blind()).policy == AS_WRITTEN


@pytest.mark.parametrize("lost, counts", [(10, True), (11, False)])
def test_an_attribute_decides_where_no_fewer_judgments_are_explained(lost: int, counts: bool) -> None:
    """Once severity decides, two wordings of one severity are the same; here the judges disagree."""
    wordings = [(f"severe {head}", f"marked {head}") for head in (*HEADS, "vertigo")][:lost]
    proposal = propose_policy(judged((SEVERITY, 0), (wordings, 0)), OneWord())
    assert proposal.policy == (Policy(count=frozenset({"severity"})) if counts else AS_WRITTEN)


def test_of_two_attributes_of_the_same_pairs_the_better_supported_one_decides() -> None:
    severity = [(f"severe left leg {head}", f"mild left leg {head}") for head in HEADS[:4]]
    both = [(f"severe left leg {head}", f"mild right leg {head}") for head in HEADS[4:]]
    assert propose_policy(judged((severity + both, 0)), Blind()).policy == Policy(count=frozenset({"severity"}))


@pytest.mark.parametrize(
    ("what", "same", "judged", "deciding", "sentence"),
    [
        (GENERAL, 1, 1, False, "More general texts: 1 of 1 such pair was judged the same: undecided."),
        (GENERAL, 1, 2, False, "More general texts: 1 of 2 such pairs were judged the same: undecided."),
        ("side", 1, 1, False, "Side: 1 of 1 judgment ignores it: undecided."),
        ("side", 2, 3, False, "Side: 2 of 3 judgments ignore it: undecided."),
        ("side", 0, 0, False, "Side: no judgment is about it."),
        ("side", 1, 2, True, "Side: 1 of 2 pairs with this difference and a high P was judged the same: undecided."),
        ("side", 2, 3, True, "Side: 2 of 3 pairs with this difference and a high P were judged the same: undecided."),
    ],
)
def test_support_in_a_sentence(what: str, same: float, judged: int, deciding: bool, sentence: str) -> None:
    assert Support(what, same, judged, 0.5, "undecided", deciding).describe() == sentence


class Blind:
    """Two texts are the same if their last words are: it sees no attribute."""

    name = "blind"

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.array([float(a.split()[-1] == b.split()[-1]) for a, b in pairs])

    def provenance(self) -> Provenance:
        return Provenance("blind")


class OneWord(Blind):
    """It does not know the word marked."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return super().score(pairs) * [("marked" in a) == ("marked" in b) for a, b in pairs]


@pytest.mark.parametrize("value, more_general", [(1, "lenient"), (0, "strict")])
def test_more_general_texts_count_as_the_judges_say(value: int, more_general: str) -> None:
    pairs = [(f"leg {head}", head) for head in HEADS]
    proposal = propose_policy(judged((pairs, value)), Directed())
    assert proposal.policy.more_general == more_general
    assert proposal.supports[-1].what == GENERAL
    assert proposal.supports[-1].describe().endswith(f"were judged the same: {more_general}.")


def test_what_can_not_be_learned_from_is_refused() -> None:
    with pytest.raises(InputError, match="no judged pair"):
        propose_policy(JudgedPairs((), ()), "exact")
    with pytest.raises(InputError, match="already has a policy"):
        propose_policy(judged((SEVERITY, 1)), under_policy(softirr.measure("exact"), PRESETS["any-severity"]))


def test_the_command_writes_a_policy_that_the_next_one_takes(tmp_path: Path, cli: Any) -> None:
    sheet, answers, policy = (str(tmp_path / name) for name in ("judged.csv", "answers.csv", "policy.json"))
    rows = [f"{a},{b},same" for a, b in SEVERITY] + [f"{a},{b},different" for a, b in OTHER]
    Path(sheet).write_text("\n".join(["text_a,text_b,judgement", *rows]))
    lines = [f"{i},{r},{t}" for i, pair in enumerate(SEVERITY[:5] + OTHER[5:]) for r, t in zip("ab", pair, strict=True)]
    Path(answers).write_text("\n".join(["item,rater,text", *lines]))
    base = ["calibrate", sheet, "--measure", "exact", "--propose", "--answers", answers]
    printed = cli(*base, "--output", policy)
    assert "Proposed: severity does not count." in printed
    assert "Severity: 10 of 10 judgments ignore it: does not count." in printed
    assert "Value: Krippendorff's alpha." in printed
    exported = cli(*base, "--json")
    assert f" {exported['candidates'][1]['value']:.3f}  severity does not count" in printed
    alpha = cli("score", answers, "--measure", "exact", "--policy", policy, "--json")["coefficients"][
        "krippendorff_alpha"
    ]["value"]
    assert exported["candidates"][1]["policy"] == exported["policy"]
    assert exported["candidates"][1]["value"] == alpha > exported["candidates"][0]["value"]
    assert "--answers needs --propose" in cli("calibrate", sheet, "--measure", "exact", "--answers", answers, status=2)
