"""Wordings of other languages: every line of the table can be used, and pairs of a language have the right labels."""

from __future__ import annotations

from random import Random

import pytest

from lab.train.graph import Graph
from lab.train.language import Language, language, listed_languages
from lab.train.source_graphs import with_neighbors
from lab.train.sources import Sources
from lab.train.stream import OTHER_LANGUAGES, MixedStream, PairStream
from lab.train.words import read_medical

FINDINGS = ("Kopfschmerz", "Bauchschmerz", "Fieber", "Husten", "Schwindel", "Ausschlag", "akute Atemnot der Nacht")


@pytest.fixture(scope="module")
def german() -> Sources:
    names = [(finding, f"Symptom: {finding}") for finding in FINDINGS]
    graph = Graph("de", [*names, ("Symptom", "Zeichen")], parents=[*[(len(FINDINGS),)] * len(FINDINGS), ()])
    return Sources(tuple(with_neighbors([graph])), language="de", weight=0.25)


@pytest.mark.parametrize("code", listed_languages())
def test_wordings_contain_their_texts(code: str) -> None:
    wordings = language(code)
    assert wordings.code == code and wordings.weight > 0
    assert all(w.count("{}") == 1 for m in wordings.modifiers for group in m.groups for w in group)
    assert all(len({w for g in m.groups for w in g}) == sum(map(len, m.groups)) for m in wordings.modifiers)
    assert all(w.count("{0}") == 1 == w.count("{1}") for join in wordings.joins for w in join.wordings)


@pytest.mark.parametrize("code", listed_languages())
def test_every_opposite_is_found_in_both_directions(code: str) -> None:
    wordings, rng = language(code), Random(0)
    assert len(wordings.opposite_words) > 10
    for pair in wordings.opposite_words:
        for word in pair:
            text = word.removesuffix("-") + ("abcd" if word.endswith("-") else "")
            changed = wordings.opposite(rng, text)
            assert changed is not None and changed != text, word


def test_a_word_inside_another_word_has_no_opposite() -> None:
    assert language("de").opposite(Random(0), "altern") is None
    assert str(language("de").opposite(Random(0), "Hypertonie")).lower() == "hypotonie"
    assert language("zh").opposite(Random(0), "左膝") == "右膝"


def test_a_language_without_wordings_has_none() -> None:
    assert language("xx") == Language("xx")
    assert language("pt-BR") == language("pt") and language("nn").code == "nb"


def test_every_kind_is_drawn_in_another_language(german: Sources) -> None:
    examples = PairStream(german, seed=1).chunk(0, 1500)
    kinds = {example.kind for example in examples}
    assert kinds == set(OTHER_LANGUAGES) - {"one way", "labeled", "look-alike"}
    assert all(example.entails or example.premise.casefold() != example.hypothesis.casefold() for example in examples)


def test_negations_are_different(german: Sources) -> None:
    examples = PairStream(german, seed=2).of_kind("modifier", 900)
    negated = [e for e in examples if e.premise == "Fieber" and e.hypothesis == "kein Fieber"]
    assert not any(example.entails for example in negated)


def test_languages_are_drawn_by_their_weight(german: Sources) -> None:
    english = Sources((Graph("en", [("fever", "pyrexia"), ("rash", "hives"), ("cough", "tussis")]),), weight=0.75)
    stream = MixedStream([english, german], seed=3)
    examples = stream.chunk(0, 800)
    is_english = [not set("äöüßÄÖÜ").isdisjoint(e.premise) or "Symptom" in e.premise for e in examples]
    assert len(examples) == 800 and 0.02 < sum(is_english) / 800 < 0.3
    assert stream.chunk(0, 800) == examples != stream.chunk(1, 800)


def test_medical_words_are_in_several_languages() -> None:
    rows = read_medical()
    assert len(rows) > 50 and all(len(row) > 5 for row in rows)
    assert all(text.strip() == text and text for row in rows for forms in row.values() for text in forms)
