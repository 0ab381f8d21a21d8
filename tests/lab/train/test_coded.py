"""Texts as people wrote them as training source: what may be drawn as the same, what as different, and what never."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lab.experiments.wording import is_aside
from lab.terminologies import load
from lab.train.coded import aside_texts, coded_graph, parents_by_id
from lab.train.graph import Meanings
from lab.train.stream import PairStream

from .conftest import gathered, write

VISIBLE = [key for key in (f"C:{i}" for i in range(60)) if not is_aside(key)]
ASIDE = next(key for key in (f"C:{i}" for i in range(60)) if is_aside(key))
HEART, CHEST, ARREST, LUNG, *OTHERS = VISIBLE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = [
        (HEART, "heart attack", "d1"),
        (HEART, "myocardial infarction", "d1"),
        (HEART, "MI", "d1"),
        (HEART, "CVX", "d1"),
        (CHEST, "chest pain", "d1"),
        (CHEST, "pain in the chest", "d2"),
        (ARREST, "heart stopped", "d2"),
        (ARREST, "cardiac arrest", "d2"),
        (HEART, "heart trouble", "d1"),
        (ARREST, "Heart trouble", "d2"),
        (LUNG, "pain", "d1"),
        (LUNG, "benchmark words", "d1"),
        (ASIDE, "secret words", "d3"),
        (ASIDE, "more secret words", "d3"),
        *((key, f"{word} {key}", "d4") for key in OTHERS for word in ("finding", "observation of")),
    ]
    path = tmp_path / "notes.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("text\tconcept\tsource_id\tn\n")
        stream.writelines(f"{text}\t{concept}\t{source}\t1\n" for concept, text, source in rows)
    with gzip.open(tmp_path / "concept_labels.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.write(f"set\tconcept\tlabel\nnotes\t{ARREST}\tasystole\nothers\t{CHEST}\tnot of this set\n")
    return path


def concept(graph, text):
    return next(k for k, forms in enumerate(graph.forms) if text in forms)


def test_forms_labels_and_acronyms(file):
    graph = coded_graph(file, lambda text: text != "benchmark words")
    heart = concept(graph, "heart attack")
    assert set(graph.forms[heart]) == {"heart attack", "myocardial infarction", "MI"}
    assert set(graph.one_way[heart]) == {("heart attack", "CVX"), ("myocardial infarction", "CVX"), ("MI", "CVX")} - {
        ("MI", "CVX")
    }
    assert "asystole" in graph.forms[concept(graph, "cardiac arrest")]
    texts = {text for forms in graph.forms for text in forms}
    assert not texts & {"benchmark words", "secret words", "not of this set", "heart trouble", "Heart trouble"}


def test_contrasts_leave_out_broader_and_unclear_concepts(file):
    graph = coded_graph(file, lambda text: True)
    heart, chest, arrest, pain = (
        concept(graph, t) for t in ("heart attack", "chest pain", "cardiac arrest", "benchmark words")
    )
    assert chest in graph.contrasts[heart], "another concept of the document"
    assert arrest not in graph.contrasts[heart] and heart not in graph.contrasts[arrest], "both are 'heart trouble'"
    assert pain not in graph.contrasts[chest], "'pain' may be broader than 'chest pain'"
    assert Meanings([graph]).same("heart attack", "cardiac arrest")
    assert not Meanings([graph]).same("heart attack", "chest pain")


def test_parents_skip_concepts_that_the_set_lacks(file, tmp_path):
    write(tmp_path / "up" / "concepts.tsv", f"id\tname\n{HEART}\tone\nX:1\ttwo\n{LUNG}\tthree\nX:2\tfour\n")
    write(tmp_path / "up" / "is_a.tsv", f"child\tparent\n{HEART}\tX:1\nX:1\t{LUNG}\n{LUNG}\tX:2\n")
    parents = parents_by_id([load(str(tmp_path / "up"))])
    graph = coded_graph(file, lambda text: True, parents=parents)
    heart, lung = concept(graph, "heart attack"), concept(graph, "benchmark words")
    assert graph.parents[heart] == (lung,) and heart in graph.children[lung] and graph.parents[lung] == ()


def test_no_source_keeps_a_text_that_is_set_aside(file, tmp_path):
    write(tmp_path / "names" / "concepts.tsv", "id\tname\nA:1\tSecret words\nA:2\tcough\n")
    write(tmp_path / "names" / "synonyms.tsv", "id\tsynonym\tscope\nA:2\ttussis\tEXACT\n")
    assert aside_texts([file]) == {"secret words", "more secret words"}
    sources = gathered(tmp_path / "names", wording=[file], word_lists=0)
    texts = {text.casefold() for graph in sources.graphs for forms in graph.forms for text in forms}
    assert not texts & {"secret words", "more secret words"} and {"cough", "heart attack"} <= texts
    assert any("notes" in note for note in sources.notes)
    examples = PairStream(sources, seed=1).chunk(0, 400)
    unclear = {frozenset(pair) for pair in (("heart attack", "cardiac arrest"), ("heart attack", "heart stopped"))}
    assert not any(frozenset((e.premise, e.hypothesis)) in unclear and not e.entails for e in examples)
