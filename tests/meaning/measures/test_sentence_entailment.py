"""Paragraphs sentence by sentence.

Against the definition, through every way that a measure is asked, and by the bundled model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from softirr import measure
from softirr.meaning.measures.sentence_entailment import NEAREST, SentencePlan
from softirr.text import sentences
from tests.inference.tiny import make_model

SENTENCE = st.sampled_from(
    ["No fever.", "A dry cough!", "Is it asthma?", "Rash (on both arms. And legs) is new.", "Seen by Dr. Lee."]
)
TEXT = st.lists(SENTENCE, min_size=1, max_size=NEAREST).map(" ".join)


def p_of(premise: str, hypothesis: str) -> float:
    """A made-up model, which knows that a text entails itself."""
    return 1.0 if premise == hypothesis else (sum(map(ord, premise)) * 31 + sum(map(ord, hypothesis)) * 17) % 97 / 97


def by_definition(premise: str, hypothesis: str) -> float:
    parts = sentences(premise)

    def support(sentence: str) -> float:
        nearest = sorted(range(len(parts)), key=lambda place: -fuzz.token_set_ratio(sentence, parts[place]))[:2]
        two = " ".join(parts[place] for place in sorted(nearest))
        return max(p_of(one, sentence) for one in {*parts, two, premise})

    return min(map(support, sentences(hypothesis)))


@given(st.lists(st.tuples(TEXT, TEXT).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=6))
def test_the_least_supported_sentence_counts_by_its_best_premise(pairs: list[tuple[str, str]]) -> None:
    texts = sorted({text for pair in pairs for text in pair})
    left, right = (np.array([texts.index(pair[side]) for pair in pairs]) for side in (0, 1))
    plan = SentencePlan.of(texts, left, right)
    if plan is None:
        assert all(len(sentences(text)) == 1 for text in texts)
        return
    asked = list(zip(plan.left.tolist(), plan.right.tolist(), strict=True))
    assert len(set(asked)) == len(asked)
    values = np.array([p_of(plan.texts[a], plan.texts[b]) for a, b in asked])
    assert plan.combine(values).tolist() == [by_definition(*pair) for pair in pairs]
    # a whole premise that was cut stands in its sentences too
    assert not plan.cut(plan.whole).any()


def test_questions_grow_with_the_length_of_the_hypothesis_alone() -> None:
    premise = " ".join(f"Finding {k} is there." for k in range(40))
    hypothesis = " ".join(f"Sign {k} is absent." for k in range(30))
    plan = SentencePlan.of([premise, hypothesis], np.array([0]), np.array([1]))
    assert plan is not None and len(plan.left) == 30 * (NEAREST + 2)


def test_parts_whole_and_one_direction_agree(tmp_path: Path) -> None:
    folder = make_model(tmp_path, "bert", labels={0: "contradiction", 1: "entailment", 2: "neutral"})
    pairs = [
        ("No fever. A dry cough.", "A dry cough. No fever."),
        ("fever", "cough"),
        ("No fever. A dry cough.", "No fever."),
        ("cough", "fever"),
        ("No fever. A dry cough.", "No fever. A dry cough."),
    ]
    nli: Any = measure(f"nli:{folder}", device="cpu", precision="float32", facts=False)
    both = nli.entail_both(pairs)
    assert both[0].tolist() == [1.0, 1.0], "the same sentences in another order"
    assert both[2, 0] == 1.0 > both[2, 1]
    assert both[1].tolist() == both[3, ::-1].tolist()
    assert nli.entail(pairs) == pytest.approx(both[:, 0], abs=1e-6)
    at_once: Any = measure(f"nli:{folder}", device="cpu", precision="float32", facts=False, by_sentence=False)
    assert at_once.entail_both(pairs)[0, 0] < 1
    assert at_once.entail_both(pairs)[1] == pytest.approx(both[1], abs=1e-6)
    assert at_once.cache_key != nli.cache_key
    calls: list[tuple[int, int]] = []
    nli.entail_checked(pairs, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] <= len(pairs), "progress counts pairs, not questions"

    class Streamed:
        """The engine, whose answers come in parts."""

        def __init__(self, engine: Any) -> None:
            self.engine = engine

        def __getattr__(self, name: str) -> Any:
            return getattr(self.engine, name)

        def stream(self, texts: Any, left: Any, right: Any) -> Any:
            for start in range(0, len(left), 2):
                part = np.arange(start, start + 2)
                yield part, self.engine.run(texts, left[part], right[part])

    nli._engine = Streamed(nli._engine)
    streamed = np.zeros((len(pairs), 2))
    for places, values, sound in nli.entail_parts(pairs):
        streamed[places] = values
        assert sound.all()
    assert streamed == pytest.approx(both, abs=1e-6)


PARAGRAPHS = {
    ("There is no chest pain. There is pneumonia.", "There is chest pain. There is no pneumonia."): False,
    (
        "There is fever. There is no rash. There is jaundice.",
        "There is fever. There is rash. There is jaundice.",
    ): False,
    ("There is fever. There is no rash. There is vomiting.", "There is fever. There is no rash."): False,
    ("There is fever. There is no vomiting.", "No emesis. Pyrexia is present."): True,
    ("There is fever. There is no rash. There is itching.", "There is fever and itching. There is no rash."): True,
    ("There is nausea. There is no cough. There is edema.", "There is nausea and edema. There is no cough."): True,
}
"""Pairs of paragraphs, and whether both mean the same."""


@pytest.mark.slow
def test_the_bundled_model_separates_paragraphs_that_contradict_each_other() -> None:
    for pair, p in zip(PARAGRAPHS, measure("nli").score(list(PARAGRAPHS)), strict=True):
        assert p > 0.6 if PARAGRAPHS[pair] else p < 0.35, pair
