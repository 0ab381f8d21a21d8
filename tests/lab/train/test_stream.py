"""The pairs that are drawn: every kind, by seed and number alone, and true."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from rapidfuzz.distance import Indel

from lab.terminologies import load
from lab.train.concept_pairs import look_alikes
from lab.train.develop import NEGATIVE_KINDS, DevelopmentSet
from lab.train.graph import Graph
from lab.train.source_graphs import terminology_graph
from lab.train.sources import Sources, fingerprint, folded_pair
from lab.train.stream import WEIGHTS, PairStream
from lab.train.words import SHORT_FORMS, spellings
from softirr.meaning.measures.lexical import tokens
from tests.lab.train.conftest import gathered, write


@pytest.mark.slow
def test_graphs_count_by_their_share(sources):
    stream = PairStream(
        replace(sources, graphs=tuple(replace(g, share=float(g.name == "organs")) for g in sources.graphs))
    )
    assert {stream.concepts.pools["any"].draw(Random(seed))[0].name for seed in range(50)} == {"organs"}


def test_a_large_terminology_does_not_drown_a_small_one(tmp_path):
    for name, size in (("large", 2500), ("small", 25)):
        rows = "".join(f"{name}{k}\t{name} {k}\n" for k in range(size))
        write(tmp_path / name / "concepts.tsv", f"id\tname\n{rows}")
    graph = terminology_graph([load(str(tmp_path / name)) for name in ("large", "small")])
    stream = PairStream(Sources((graph,)))
    drawn_pairs = [pair for seed in range(800) if (pair := stream.concepts.random(Random(seed)))]
    small = [text_a.startswith("small") for text_a, _, _ in drawn_pairs]
    assert 0.05 < np.mean(small) < 0.2  # by their sizes it would be 0.01
    assert np.mean([text_a[0] == text_b[0] for text_a, text_b, _ in drawn_pairs]) > 0.7


def test_benchmark_texts_are_left_out_in_any_case(toy, tmp_path):
    bench = tmp_path / "bench"
    write(bench / "concepts.tsv", "id\tname\nB:1\tKIDNEY PAIN\nB:2\tAny Scar\n")
    pair = write(tmp_path / "pairs.tsv", "premise\thypothesis\tlabel\nA man , asleep .\tHe sleeps\tentailment\n")
    labeled_file = write(
        tmp_path / "mine.tsv",
        "premise\thypothesis\tlabel\nhe sleeps.\ta man asleep\tentailment\nhe runs\the moves\tentailment\n",
    )
    sources = gathered(toy, labeled=[labeled_file], leave_out=[bench, pair], word_lists=0)
    texts = {t.casefold() for g in sources.graphs for forms in g.forms for t in forms}
    assert sources.notes[-1].startswith("2 texts are left out")
    assert "kidney pain" not in texts and "any scar" not in texts and "pain of the kidney" in texts
    assert [p[0] for p in sources.pairs[0].pairs] == ["he runs"]
    assert sources.banned == {fingerprint("kidney pain"), fingerprint("any scar")}
    drawn_pairs = [e for number in range(4) for e in PairStream(sources, seed=3).chunk(number, 500)]
    assert not {e.premise.casefold() for e in drawn_pairs} & {"kidney pain", "any scar"}


@pytest.mark.slow
def test_held_out_concepts_give_development_pairs_only(sources):
    held_out, trained_names = set(), set()
    for graph in sources.graphs:
        for k, forms in enumerate(graph.forms):
            (held_out if graph.held_out[k] else trained_names).update(folded_pair(forms[0], t) for t in forms[1:])
    assert held_out and trained_names
    train = PairStream(sources, seed=1)
    synonyms = {folded_pair(e.premise, e.hypothesis) for e in train.of_kind("synonym", 1500)}
    assert not synonyms & (held_out - trained_names)
    dev = PairStream(sources, seed=1, development=True).of_kind("synonym", 200)
    assert {folded_pair(e.premise, e.hypothesis) for e in dev} & held_out


@pytest.mark.slow
def test_the_calibration_goes_by_names_of_terminologies_too(sources):
    """Beside word lists and composed terms, which are easier; and of concepts with three names or more."""
    names_of_concepts = {
        frozenset(forms)
        for graph in sources.graphs
        if any(graph.parents) and all(graph.clinical)
        for forms, held_out in zip(graph.forms, graph.held_out, strict=True)
        if held_out and len(forms) >= 3
    }
    stream = PairStream(
        replace(sources, graphs=tuple(g for g in sources.graphs if any(g.parents) and all(g.clinical))),
        development=True,
        fewest_names=3,
    )
    drawn_pairs = [stream.concepts.synonym(Random(k)) for k in range(200)]
    assert names_of_concepts and all(
        any({text_a, text_b} <= forms for forms in names_of_concepts) for text_a, text_b, _ in drawn_pairs
    )
    held_out = DevelopmentSet.of_terminologies(sources, 20)
    assert {"synonym", *NEGATIVE_KINDS} <= set(held_out.kinds)
    assert held_out.pairs != DevelopmentSet.of(sources, 20).pairs
    assert DevelopmentSet.of_terminologies(sources, 20).pairs == held_out.pairs
    nothing_kept = replace(sources, graphs=tuple(g for g in sources.graphs if not any(g.parents)))
    assert DevelopmentSet.of_terminologies(nothing_kept, 20).pairs == DevelopmentSet.of(nothing_kept, 20).pairs
    combined = held_out + DevelopmentSet.of(sources, 20)
    columns = (combined.pairs, combined.kinds, combined.entails, combined.same)
    assert {len(column) for column in columns} == {len(combined)} and len(combined) > len(held_out)


def test_every_kind_is_drawn_and_a_chunk_depends_on_its_number_alone(sources):
    stream = PairStream(sources, seed=5)
    first = stream.chunk(7, 1000)
    assert set(Counter(e.kind for e in first)) == set(WEIGHTS)
    stream.chunk(8, 10)
    assert stream.chunk(7, 1000) == first
    assert PairStream(sources, seed=6).chunk(7, 1000) != first
    share = sum(e.entails for e in first) / len(first)
    assert 0.35 < share < 0.6


def test_another_spelling_is_the_same_text_and_no_other_term(sources):
    stream = PairStream(sources, seed=0)
    pairs = {pair for seed in range(300) if (pair := stream.wordings.spelling(Random(seed)))}
    assert len(pairs) > 200 and {entails for *_, entails in pairs} == {1}
    terms = {text.casefold() for graph in sources.graphs for forms in graph.forms for text in forms}
    known_texts = tokens(" ".join(terms))
    for text_a, text_b, _ in pairs:
        assert text_a.casefold() != text_b.casefold()
        assert Indel.normalized_similarity(text_a.lower(), text_b.lower()) > 0.7
        a, b = text_a.lower(), text_b.lower()
        if not any(
            a.replace(british, american) == b or b.replace(british, american) == a for british, american in spellings()
        ):
            assert (a in terms) != (b in terms), "a slip that is another term"
            slip = b if a in terms else a
            assert not tokens(slip) <= known_texts, "a slip that makes another word"
    assert any(text_a.lower() in terms and text_b.lower() in terms for text_a, text_b, _ in pairs), "oedema and edema"


def test_confused_texts_differ_in_any_wording(sources):
    stream = PairStream(sources, seed=0)
    drawn_pairs = {pair for seed in range(800) if (pair := stream.wordings.confused(Random(seed)))}
    pairs, names = ({pair for pair in drawn_pairs if pair[2] == entails} for entails in (0, 1))
    assert len(names) > 50 and all(stream.sources.meanings.same(text_a, text_b) for text_a, text_b, _ in names)
    trained, held_out = (
        [g.forms[k] for g in sources.graphs for k in range(len(g)) if g.held_out[k] == entails]
        for entails in (False, True)
    )
    known_texts = {(text_a.casefold(), text_b.casefold()) for forms in trained for text_a in forms for text_b in forms}
    assert all((text_a.casefold(), text_b.casefold()) in known_texts for text_a, text_b, _ in names)
    unseen_texts = {text.casefold() for forms in held_out for text in forms}
    assert any(text.casefold() in unseen_texts for pair in sources.confused for text in pair)
    assert all(
        text_a.casefold() not in unseen_texts or text_b.casefold() not in unseen_texts
        for text_a, text_b, _ in drawn_pairs
    )
    listed = {folded_pair(*pair) for pair in sources.confused}
    assert 0.6 < sum(folded_pair(text_a, text_b) in listed for text_a, text_b, _ in pairs) / len(pairs) < 1
    assert not any(stream.sources.meanings.same(text_a, text_b) for text_a, text_b, _ in pairs)
    assert not PairStream(sources, development=True).has("confused")


def test_two_findings_that_change_places_are_another_thing(toy):
    stream = PairStream(gathered(toy, word_lists=0), seed=0)
    drawn_pairs = {pair for seed in range(4000) if (pair := stream.wordings.joined(Random(seed))) and pair[2]}
    for word in (" after ", " due to "):
        labels_by_pair = [(text_a, text_b) for text_a, text_b, _ in drawn_pairs if word in text_a and word in text_b]
        assert labels_by_pair and all(text_a == text_b for text_a, text_b in labels_by_pair)


def test_directions_of_hypernyms(toy):
    sources = gathered(toy, word_lists=0)
    stream = PairStream(sources, seed=0)
    raw = {stream.concepts.hypernym(Random(seed)) for seed in range(2000)}
    narrow = {pair for pair in raw if pair and (pair[0].startswith("small") or pair[1].startswith("small"))}
    assert narrow
    assert all(pair[2] == pair[0].startswith("small") for pair in narrow)
    graph = sources.graphs[0]
    up = {graph.forms[p][0] for k in range(len(graph)) for p in graph.parents[k]}
    for low, high, entails in (pair for pair in raw if pair):
        if high in up and low not in up:
            assert entails == 1


def test_negatives_never_share_a_meaning(sources):
    meanings = sources.meanings
    stream = PairStream(sources, seed=2)
    for draw in (stream.concepts.sibling, stream.concepts.neighbor, stream.concepts.random):
        for seed in range(300):
            pair = draw(Random(seed))
            if pair is not None:
                assert pair[2] == 0
                assert not meanings.same(pair[0], pair[1])


def test_pairs_by_chance_are_mostly_of_one_source(sources):
    """As in a project: else two rare names of one terminology pass for synonyms, because most such pairs were."""
    stream = PairStream(sources, seed=4)
    holders = [{text for forms in graph.forms for text in forms} for graph in sources.graphs]
    drawn_pairs = [pair for seed in range(400) if (pair := stream.concepts.random(Random(seed)))]
    together = [any({text_a, text_b} <= texts for texts in holders) for text_a, text_b, _ in drawn_pairs]
    assert 0.7 < sum(together) / len(drawn_pairs) < 1


def test_words_that_look_alike():
    graph = Graph(
        "a",
        [["dysphagia", "trouble swallowing"], ["dysphasia"], ["dysuria"], ["ear"], ["eat"], ["hip pain"], ["hip paid"]],
        contrasts=[[1, 2], [0], [0, 1], [4], [3], [6], [5]],
    )
    assert look_alikes(graph) == {0: (1,), 1: (0,)}
    stream = PairStream(Sources((graph,)))
    synonyms = {pair for seed in range(50) if (pair := stream.concepts.look_alike(Random(seed)))}
    assert synonyms == {("dysphagia", "dysphasia", 0), ("dysphasia", "dysphagia", 0)}


def test_wrong_expansions_begin_with_the_letter_and_are_none(sources):
    stream = PairStream(sources, seed=7)
    shorts = {f[0] for g in sources.graphs if g.name in SHORT_FORMS for f in g.forms if f}
    drawn_pairs = [pair for seed in range(200) if (pair := stream.wordings.expansion(Random(seed)))]
    wrong = [(text_a, text_b) for text_a, text_b, entails in drawn_pairs if not entails]
    assert len(wrong) > 80 and 0.2 < 1 - len(wrong) / len(drawn_pairs) < 0.5
    for text_a, text_b in wrong:
        assert text_a[0].casefold() == text_b[0].casefold()
    for text_a, text_b, entails in drawn_pairs:
        assert sources.meanings.same(text_a, text_b) == bool(entails) and {text_a, text_b} & shorts


def test_initials_in_use_keep_their_meaning():
    short = Graph("abbreviations", [["ABC", "acute brown cough"]])
    stream = PairStream(Sources((short, Graph("g", [["airway breathing circulation"], ["deep vein clot"]]))))
    drawn_pairs = [pair for seed in range(300) if (pair := stream.wordings.initials(Random(seed)))]
    entails = {frozenset((text_a, text_b)) for text_a, text_b, entails in drawn_pairs if entails and text_a != text_b}
    assert entails == {frozenset(("ABC", "acute brown cough")), frozenset(("DVC", "deep vein clot"))}


def test_pairs_that_are_kept_apart_are_not_drawn(toy, tmp_path):
    apart = write(
        tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nsynonym\tkidney pain\tPain of the kidney\tequivalent\n"
    )
    sources = gathered(toy, keep_apart=[apart], word_lists=0, development=0.1)
    assert sources.kept_apart == {folded_pair("kidney pain", "pain of the kidney")}
    examples = PairStream(sources, seed=0).of_kind("synonym", 2000)
    assert len(examples) > 500
    assert not sources.kept_apart & {folded_pair(e.premise, e.hypothesis) for e in examples}


def test_a_string_that_several_sources_have_counts_once(tmp_path):
    for name in "abc":
        rows = "".join(f"{name}{k}\tshared {k}\n" for k in range(40)) + (
            "".join(f"own{k}\town {k}\n" for k in range(40)) if name == "a" else ""
        )
        write(tmp_path / name / "concepts.tsv", f"id\tname\n{rows}")
    graph = terminology_graph([load(str(tmp_path / name)) for name in "abc"])
    assert graph.novelty[0] == pytest.approx(1 / 3) and graph.novelty[40] == 1
    choice = PairStream(Sources((graph,))).concepts.pools["any"]
    drawn_pairs = [graph.forms[choice.draw(Random(seed))[1]][0].split()[0] for seed in range(600)]
    assert 0.3 < np.mean([word == "own" for word in drawn_pairs]) < 0.6  # by rows it would be a quarter


def test_compounds_entail_their_parts_and_not_the_reverse(sources):
    stream = PairStream(sources, seed=0)
    drawn_pairs = [pair for seed in range(2000) if (pair := stream.wordings.compound(Random(seed)))]
    pairs_by_truth = {entails: [p for p in drawn_pairs if p[2] == entails] for entails in (0, 1)}
    assert 0.3 < len(pairs_by_truth[1]) / len(drawn_pairs) < 0.7
    labels_by_pair = {(a, b): y for a, b, y in drawn_pairs}
    turned = [
        (labels_by_pair[a, b], labels_by_pair[b, a])
        for a, b in labels_by_pair
        if (b, a) in labels_by_pair and len(a) > len(b)
    ]
    assert all(labels in {(1, 0), (0, 1)} for labels in turned)
