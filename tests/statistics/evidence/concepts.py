"""Tables of texts that name their concept, and judges who know it."""

from __future__ import annotations

import random

from softirr import Answer
from softirr.answers.sheets import DIFFERENT, SAME
from softirr.audit import ONLY, Judgments


def answers(n_items=80, *, seed=0, raters=("ann", "bob"), concepts=25, keep=0.7, sets=False, missing=0.0, empty=0.0):
    """Answers with texts that name their concept: "c7 b" is the second wording of concept 7."""
    rng = random.Random(seed)
    rows = []
    for i in range(n_items):
        core = rng.sample(range(concepts), rng.randint(1, 3) if sets else 1)
        for rater in raters:
            if rng.random() < missing:
                continue
            named_concepts = {c if rng.random() < keep else rng.randrange(concepts) for c in core}
            texts = tuple(f"c{c} {rng.choice('abcd')}" for c in sorted(named_concepts))
            rows.append(Answer(f"item {i:03d}", rater, () if empty and rng.random() < empty else texts))
    return rows


def concept(text):
    return text.split()[0]


def truth(a, b):
    return SAME if concept(a) == concept(b) else DIFFERENT


def judged(sheet, judge="me", say=truth):
    """All pairs of a sheet, judged."""
    return Judgments(judge, {(unit.id, ONLY): say(unit.text_a, unit.text_b) for unit in sheet.units})
