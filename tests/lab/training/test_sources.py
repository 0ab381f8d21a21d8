"""What pairs are drawn from: reading, leaving benchmarks out, keeping concepts for development, and the draws themselves."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from rapidfuzz.distance import Indel

from softirr.audit import AuditSheet, AuditUnit
from softirr.errors import InputError
from softirr.lab.training.develop import NEGATIVE_KINDS, DevelopmentSet
from softirr.lab.training.graph import Graph
from softirr.lab.training.labelled import read_pairs
from softirr.lab.training.lexicon import spellings
from softirr.lab.training.meanings import Meanings
from softirr.lab.training.modifiers import first_person
from softirr.lab.training.source_graphs import terminology_graph, with_neighbors
from softirr.lab.training.sources import Sources, fingerprint, folded_pair, gather
from softirr.lab.training.stream import KINDS, PairStream, look_alikes
from softirr.lab.training.wordings import abbreviation_graph, is_acronym, read_word_forms, with_noun
from softirr.lab.training.wordnet import read_wordnet
from softirr.lab.training.words import LISTS, SHORT_FORMS, read_list
from softirr.measures.lexical import tokens
from softirr.terminology import load

from .conftest import write

SYNSETS = """synset\tlexfile\tpos\tlemmas\thypernyms\tdefinition
1-n\tnoun.state\tn\tillness|unwellness\t\timpairment of normal function (of a body); a state
2-n\tnoun.state\tn\tflu|influenza|grippe\t1-n\tan acute febrile highly contagious viral disease
3-n\tnoun.state\tn\tcommon_cold|cold\t1-n\ta mild viral infection of the nose
4-n\tnoun.artifact\tn\tcot|crib\t\ta baby bed with high sides
5-n\tnoun.person\tn\tGalen\t\tan anatomist
"""


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toynet")
    (folder / "synsets.tsv.gz").write_bytes(gzip.compress(SYNSETS.encode()))
    write(folder / "antonyms.tsv", "lemma\tpos\tsynset\tantonym_sense\nhot\ta\t9\tcold%3:00:01::\n")
    return folder


@pytest.fixture(scope="module")
def sources(toy, wordnet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    nli = write(
        folder / "nli.tsv",
        "premise\thypothesis\tlabel\na man sleeps\ta person sleeps\tentailment\na man sleeps\the runs\tcontradiction\n",
    )
    judged = write(
        folder / "sheet.csv",
        'unit,pair,text_a,text_b,judgement\n1,1,"pain, chest",chest pain,same\n1,2,cough,cold,different\n2,1,a,b,\n',
    )
    short = write(folder / "short.tsv", SHORT)
    forms = write(folder / "forms.tsv", "lemma\tpertains_to\nocular\teye\ncervical\tneck\ncervical\tcervix\n")
    return gather(
        [str(toy)],
        wordnet=wordnet,
        pairs=[str(nli)],
        judged=[str(judged)],
        abbreviations=[str(short)],
        word_forms=[str(forms)],
        held_out=0.2,
    )


SHORT = """short_form\tlong_form\tinventory\tfrequency
MI\tmyocardial infarction\tnotes\t0.95
MI\tmitral insufficiency\tnotes\t0.05
MS\tmultiple sclerosis\tlist\t
MS\tmorphine sulfate\tlist\tunknown
MS\tmorphine sulphate\tlist\t
RA\trheumatoid arthritis\tlist\t
"""


def test_kinds_in_a_word_list_entail_their_heading(sources):
    graph = next(g for g in sources.graphs if g.name == "skeleton")
    listed = read_list("skeleton")
    assert [p[0] if p else None for p in graph.parents] == list(listed.above)
    k = next(k for k, forms in enumerate(graph.forms) if graph.parents[k] and forms)
    assert graph.forms[graph.parents[k][0]] == listed.groups[listed.above[k]]


def test_graphs_count_by_their_share(sources):
    drawn = PairStream(
        replace(sources, graphs=tuple(replace(g, share=float(g.name == "organs")) for g in sources.graphs))
    )
    assert {drawn._any.draw(Random(seed))[0].name for seed in range(50)} == {"organs"}


def test_word_lists_count_as_much_as_asked(toy):
    found = gather([str(toy)], own_words=2.5)
    assert {g.share for g in found.graphs if g.name in LISTS} == {2.5}
    assert len(gather([str(toy)], own_words=0).graphs) == 1


def test_scopes_give_the_direction(toy):
    graph = terminology_graph([load(str(toy))])
    k = next(k for k, forms in enumerate(graph.forms) if forms[0] == "kidney pain")
    assert graph.forms[k] == ("kidney pain", "pain of the kidney", "pain in the kidney")
    assert graph.narrower[k] == ("small pain of the kidney",)
    assert graph.broader[k] == ("problem with the kidney",)
    assert {graph.forms[p][0] for p in graph.parents[k]} == {"kidney disease", "pain"}
    assert graph.ancestors(k) == frozenset(graph.parents[k])
    assert all(graph.related(k, up) and graph.related(up, k) for up in (k, *graph.parents[k]))


def test_one_id_in_two_terminologies_is_one_concept(tmp_path):
    for name, text in (("a", "kidney stone"), ("b", "renal stone")):
        write(tmp_path / name / "concepts.tsv", f"id\tname\nX:1\t{text}\n")
    graph = terminology_graph([load(str(tmp_path / "a")), load(str(tmp_path / "b"))])
    assert graph.forms == (("kidney stone", "renal stone"),)


def test_a_large_terminology_does_not_drown_a_small_one(tmp_path):
    for name, size in (("large", 2500), ("small", 25)):
        rows = "".join(f"{name}{k}\t{name} {k}\n" for k in range(size))
        write(tmp_path / name / "concepts.tsv", f"id\tname\n{rows}")
    graph = terminology_graph([load(str(tmp_path / name)) for name in ("large", "small")])
    stream = PairStream(Sources((graph,)), weights={"random": 1})
    drawn = [pair for seed in range(800) if (pair := stream._random(Random(seed)))]
    small = [one.startswith("small") for one, _, _ in drawn]
    assert 0.05 < np.mean(small) < 0.2  # by their sizes it would be 0.01
    assert np.mean([one[0] == other[0] for one, other, _ in drawn]) > 0.7


def test_texts_of_a_benchmark_are_left_out_whatever_their_case(toy, tmp_path):
    bench = tmp_path / "bench"
    write(bench / "concepts.tsv", "id\tname\nB:1\tKIDNEY PAIN\nB:2\tAny Scar\n")
    pair = write(tmp_path / "pairs.tsv", "premise\thypothesis\tlabel\nA man , asleep .\tHe sleeps\tentailment\n")
    mine = write(
        tmp_path / "mine.tsv",
        "premise\thypothesis\tlabel\nhe sleeps.\ta man asleep\tentailment\nhe runs\the moves\tentailment\n",
    )
    found = gather([str(toy)], pairs=[str(mine)], leave_out=[str(bench), str(pair)], own_words=0)
    texts = {t.casefold() for g in found.graphs for forms in g.forms for t in forms}
    assert found.dropped == 2
    assert "kidney pain" not in texts and "any scar" not in texts and "pain of the kidney" in texts
    assert [p[0] for p in found.pairs[0].pairs] == ["he runs"]
    assert found.banned == {fingerprint("kidney pain"), fingerprint("any scar")}
    assert any("2 texts left out" in note for note in found.notes)
    drawn = [e for number in range(4) for e in PairStream(found, seed=3).chunk(number, 500)]
    assert not {e.premise.casefold() for e in drawn} & {"kidney pain", "any scar"}


def test_held_out_concepts_give_development_pairs_only(sources):
    kept, used = set(), set()
    for graph in sources.graphs:
        for k, forms in enumerate(graph.forms):
            (kept if graph.held_out[k] else used).update(folded_pair(forms[0], t) for t in forms[1:])
    assert kept and used
    train = PairStream(sources, seed=1)
    plain = {folded_pair(e.premise, e.hypothesis) for e in train.of_kind("synonym", 1500)}
    assert not plain & (kept - used)
    dev = PairStream(sources, seed=1, development=True).of_kind("synonym", 200)
    assert {folded_pair(e.premise, e.hypothesis) for e in dev} & kept


@pytest.mark.slow
def test_the_calibration_goes_by_what_was_learned_as_much_as_by_what_was_not(sources):
    texts = [
        {t.casefold() for g in sources.graphs for k in range(len(g)) if g.held_out[k] is kept for t in g.forms[k]}
        for kept in (False, True)
    ]
    kept_apart, learned = texts[1] - texts[0], texts[0] - texts[1]
    ground = DevelopmentSet.of_calibration(sources, 40)
    synonyms = [pair for pair, kind in zip(ground.pairs, ground.kinds, strict=True) if kind == "synonym"]
    of_kept, of_learned = (
        sum(any(t.casefold() in among for t in pair) for pair in synonyms) for among in (kept_apart, learned)
    )
    assert len(ground) > 400 and min(of_kept, of_learned) > 0.2 * len(synonyms)


@pytest.mark.slow
def test_the_calibration_goes_by_names_of_terminologies_too(sources, toy):
    """Beside word lists and composed terms, which are easier; and of concepts with three names or more."""
    named = {
        frozenset(forms)
        for graph in sources.graphs
        if any(graph.parents) and all(graph.clinical)
        for forms, kept in zip(graph.forms, graph.held_out, strict=True)
        if kept and len(forms) >= 3
    }
    stream = PairStream(
        replace(sources, graphs=tuple(g for g in sources.graphs if any(g.parents) and all(g.clinical))),
        development=True,
        fewest_names=3,
    )
    drawn = [stream._synonym(Random(k)) for k in range(200)]
    assert named and all(any({one, other} <= forms for forms in named) for one, other, _ in drawn)
    kept = DevelopmentSet.of_terminologies(sources, 20)
    assert {"synonym", *NEGATIVE_KINDS} <= set(kept.kinds)
    assert kept.pairs != DevelopmentSet.of(sources, 20).pairs
    assert DevelopmentSet.of_terminologies(sources, 20).pairs == kept.pairs
    nothing_kept = replace(sources, graphs=tuple(g for g in sources.graphs if not any(g.parents)))
    assert DevelopmentSet.of_terminologies(nothing_kept, 20).pairs == DevelopmentSet.of(nothing_kept, 20).pairs
    both = kept + DevelopmentSet.of(sources, 20)
    assert len(both) == len(both.pairs) == len(both.kinds) == len(both.entails) == len(both.same) > len(kept)


def test_every_kind_is_drawn_and_a_chunk_depends_on_its_number_alone(sources):
    stream = PairStream(sources, seed=5, hard=[("a", "b", 0)])
    first = stream.chunk(7, 3000)
    assert set(Counter(e.kind for e in first)) == set(KINDS)
    stream.chunk(8, 10)
    assert stream.chunk(7, 3000) == first
    assert PairStream(sources, seed=6).chunk(7, 3000) != first
    share = sum(e.entails for e in first) / len(first)
    assert 0.35 < share < 0.6


def test_another_spelling_is_the_same_text_and_no_other_term(sources):
    stream = PairStream(sources, seed=0)
    pairs = {pair for seed in range(300) if (pair := stream._spelling(Random(seed)))}
    assert len(pairs) > 200 and {entails for *_, entails in pairs} == {1}
    terms = {text.casefold() for graph in sources.graphs for forms in graph.forms for text in forms}
    known = tokens(" ".join(terms))
    for one, other, _ in pairs:
        assert one.casefold() != other.casefold()
        assert Indel.normalized_similarity(one.lower(), other.lower()) > 0.7
        a, b = one.lower(), other.lower()
        if not any(
            a.replace(british, american) == b or b.replace(british, american) == a for british, american in spellings()
        ):
            assert (a in terms) != (b in terms), "a slip that is another term"
            slip = b if a in terms else a
            assert not tokens(slip) <= known, "a slip that makes another word"
    assert any(one.lower() in terms and other.lower() in terms for one, other, _ in pairs), "oedema and edema"


def test_a_slip_makes_no_other_word():
    graph = Graph.build("g", [["prostate cancer"], ["prostrate"], ["perineal pain"], ["peroneal nerve"]])
    meanings = Meanings((graph,))
    assert meanings.has_another_word("prostrate cancer", "prostate cancer")
    assert meanings.has_another_word("Peroneal pain", "perineal pain")
    assert not meanings.has_another_word("prosttate cancer", "prostate cancer")
    assert not meanings.has_another_word("cancer of the prostate", "prostate cancer")


def test_confused_texts_are_told_apart_in_any_wording(sources):
    stream = PairStream(sources, seed=0)
    drawn = {pair for seed in range(800) if (pair := stream._confused(Random(seed)))}
    pairs, names = ({pair for pair in drawn if pair[2] == entails} for entails in (0, 1))
    assert len(names) > 50 and all(stream.sources.meanings.same(one, other) for one, other, _ in names)
    trained, kept = (
        [g.forms[k] for g in sources.graphs for k in range(len(g)) if g.held_out[k] == held] for held in (False, True)
    )
    known = {(one.casefold(), other.casefold()) for forms in trained for one in forms for other in forms}
    assert all((one.casefold(), other.casefold()) in known for one, other, _ in names)
    unseen = {text.casefold() for forms in kept for text in forms}
    assert any(text.casefold() in unseen for pair in sources.confused for text in pair)
    assert all(one.casefold() not in unseen or other.casefold() not in unseen for one, other, _ in drawn)
    listed = {folded_pair(*pair) for pair in sources.confused}
    assert 0.6 < sum(folded_pair(one, other) in listed for one, other, _ in pairs) / len(pairs) < 1
    assert not any(stream.sources.meanings.same(one, other) for one, other, _ in pairs)
    assert not PairStream(sources, development=True).has("confused")


def test_two_findings_that_change_places_are_another_thing(toy):
    stream = PairStream(gather([str(toy)], own_words=0), seed=0)
    said = {pair for seed in range(4000) if (pair := stream._joined(Random(seed))) and pair[2]}
    for word in (" after ", " due to "):
        both = [(one, other) for one, other, _ in said if word in one and word in other]
        assert both and all(one == other for one, other in both)


def test_directions_of_hypernyms(toy):
    sources = gather([str(toy)], own_words=0)
    stream = PairStream(sources, seed=0)
    raw = {stream._hypernym(Random(seed)) for seed in range(2000)}
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
    for draw in (stream._sibling, stream._neighbor, stream._random):
        for seed in range(300):
            pair = draw(Random(seed))
            if pair is not None:
                assert pair[2] == 0
                assert not meanings.same(pair[0], pair[1])


def test_pairs_by_chance_are_mostly_of_one_source(sources):
    """As in a project; and two rare names of one terminology are then not taken for synonyms because most such pairs were."""
    stream = PairStream(sources, seed=4)
    holders = [{text for forms in graph.forms for text in forms} for graph in sources.graphs]
    drawn = [pair for seed in range(400) if (pair := stream._random(Random(seed)))]
    together = [any({one, other} <= texts for texts in holders) for one, other, _ in drawn]
    assert 0.7 < sum(together) / len(drawn) < 1


def test_words_that_look_alike():
    graph = Graph.build(
        "a",
        [["dysphagia", "trouble swallowing"], ["dysphasia"], ["dysuria"], ["ear"], ["eat"], ["hip pain"], ["hip paid"]],
        contrasts=[[1, 2], [0], [0, 1], [4], [3], [6], [5]],
    )
    assert look_alikes(graph) == {0: (1,), 1: (0,)}
    stream = PairStream(Sources((graph,)), weights={"look-alike": 1})
    plain = {pair for seed in range(50) if (pair := stream._look_alike(Random(seed)))}
    assert plain == {("dysphagia", "dysphasia", 0), ("dysphasia", "dysphagia", 0)}


def test_wrong_expansions_begin_with_the_letter_and_are_none(sources):
    stream = PairStream(sources, seed=7)
    shorts = {f[0] for g in sources.graphs if g.name in SHORT_FORMS for f in g.forms if f}
    drawn = [pair for seed in range(200) if (pair := stream._expansion(Random(seed)))]
    wrong = [(one, other) for one, other, entails in drawn if not entails]
    assert len(wrong) > 80 and 0.2 < 1 - len(wrong) / len(drawn) < 0.5
    for one, other in wrong:
        assert one[0].casefold() == other[0].casefold()
    for one, other, entails in drawn:
        assert sources.meanings.same(one, other) == bool(entails) and {one, other} & shorts


def test_initials_that_people_use_are_those_of_what_they_use_them_for():
    short = Graph.build("abbreviations", [["ABC", "acute brown cough"]])
    stream = PairStream(Sources((short, Graph.build("g", [["airway breathing circulation"], ["deep vein clot"]]))))
    drawn = [pair for seed in range(300) if (pair := stream._initials(Random(seed)))]
    held = {frozenset((one, other)) for one, other, entails in drawn if entails and one != other}
    assert held == {frozenset(("ABC", "acute brown cough")), frozenset(("DVC", "deep vein clot"))}


def test_meanings_are_shared_over_sources():
    graphs = (
        Graph.build("a", [["MI", "heart attack"]]),
        Graph.build("b", [["heart attack", "coronary attack"], ["cough"]]),
    )
    meanings = Meanings(graphs)
    assert meanings.same("mi", "Coronary Attack")
    assert not meanings.same("MI", "cough")
    assert meanings.same("cough", "COUGH")


def test_pairs_that_are_kept_apart_are_not_drawn(toy, tmp_path):
    apart = write(
        tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nsynonym\tkidney pain\tPain of the kidney\tequivalent\n"
    )
    found = gather([str(toy)], keep_apart=[str(apart)], own_words=0, held_out=0.1)
    assert found.kept_apart == {folded_pair("kidney pain", "pain of the kidney")}
    examples = PairStream(found, seed=0).of_kind("synonym", 2000)
    assert len(examples) > 500
    assert not found.kept_apart & {folded_pair(e.premise, e.hypothesis) for e in examples}


def test_neighbors_by_spelling_and_by_meaning():
    names = [
        "myelitis",
        "myositis",
        "cough",
        "tussis",
        "arthritis",
        "arteritis",
        "fever",
        "pyrexia",
        "rash",
        "hives",
        "gout",
        "boil",
    ]
    graph = Graph.build("x", [[n] for n in names])

    def embed(texts):
        return np.eye(len(names) // 2, dtype=np.float32)[[names.index(t) // 2 for t in texts]]

    spelled, meant = with_neighbors([graph], None)[0], with_neighbors([graph], embed)[0]
    assert 1 in spelled.contrasts[0] and 5 in spelled.contrasts[4]
    assert 3 in meant.contrasts[2] and 7 in meant.contrasts[6]
    assert all(k not in near for k, near in enumerate(meant.contrasts))


def test_wordnet(wordnet):
    words = read_wordnet(wordnet)
    assert words.lemmas[2] == ("common cold", "cold")
    assert words.definitions[0] == "impairment of normal function"
    assert words.hypernyms == ((1, 0), (2, 0))
    assert words.antonyms == (("cold", "hot"),)


def test_labelled_pairs(tmp_path):
    sheet = write(tmp_path / "s.csv", "text_a,text_b,judgement\nfever,pyrexia,same\nfever,cough,different\nfever,x,\n")
    found = read_pairs(sheet)
    assert found.pairs == (
        ("fever", "pyrexia", 1),
        ("pyrexia", "fever", 1),
        ("fever", "cough", 0),
        ("cough", "fever", 0),
    )
    assert found.skipped == 1
    told = write(tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nhypernym\tgout\tdisease\tfirst entails second\n")
    assert read_pairs(told).pairs == (("gout", "disease", 1), ("disease", "gout", 0))


@pytest.mark.parametrize(
    "name, text, sentence",
    [
        ("x.tsv", "one\ttwo\na\tb\n", "need the columns"),
        ("x.tsv", "premise\thypothesis\tlabel\na\tb\tperhaps\n", "no pair with a usable label"),
        ("x.tsv", "kind\tfirst\tsecond\tgold\nlay\ta\tb\tmaybe\n", "gold column"),
        ("x.tsv", "", "empty"),
    ],
)
def test_unusable_tables_are_refused_in_one_sentence(tmp_path, name, text, sentence):
    with pytest.raises(InputError, match=sentence) as refused:
        read_pairs(write(tmp_path / name, text))
    assert "\n" not in str(refused.value)


def test_missing_and_damaged_sources_are_refused(toy, tmp_path):
    with pytest.raises(InputError, match="not a file"):
        read_pairs(tmp_path / "none.tsv")
    with pytest.raises(InputError, match="no synsets"):
        read_wordnet(tmp_path)
    with pytest.raises(InputError, match="nothing to train on"):
        gather([], own_words=0)
    (tmp_path / "synsets.tsv.gz").write_bytes(gzip.compress(SYNSETS.encode())[:60])
    with pytest.raises(InputError, match="damaged"):
        read_wordnet(tmp_path)
    write(tmp_path / "t" / "concepts.tsv", "id\tname\nX:1\tstone\tmore\n")
    with pytest.raises(InputError, match="line 2"):
        gather([str(tmp_path / "t")])


def test_the_texts_of_an_audit_sheet_are_those_of_the_table(tmp_path: Path) -> None:
    """Sheets hold an apostrophe before what a spreadsheet would run; a model must not learn it."""
    sheet = AuditSheet((AuditUnit("0-a-b", "-fever", "= afebrile"), AuditUnit("0-a-c", "'quoted'", "no fever")))
    judged = [
        f"{line}{mark}" for line, mark in zip(sheet.to_csv().splitlines(), ("", "same", "different"), strict=True)
    ]
    (tmp_path / "sheet.csv").write_text("\n".join(judged))
    assert "'-fever" in judged[1]
    assert read_pairs(tmp_path / "sheet.csv").pairs == (
        ("-fever", "= afebrile", 1),
        ("= afebrile", "-fever", 1),
        ("'quoted'", "no fever", 0),
        ("no fever", "'quoted'", 0),
    )


def test_an_abbreviation_stands_for_its_main_sense_only(tmp_path):
    graph = abbreviation_graph([str(write(tmp_path / "a.tsv", SHORT))], lambda text: text != "RA", 3.0)
    told = {pair for pairs in graph.one_way for pair in pairs}
    assert ("MI", "myocardial infarction") in told and ("myocardial infarction", "MI") in told
    assert ("mitral insufficiency", "MI") in told and ("MI", "mitral insufficiency") not in told
    assert ("MS", "multiple sclerosis") not in told and not any("RA" in pair for pair in told)
    place = {forms[0]: k for k, forms in enumerate(graph.forms)}
    assert graph.contrasts[place["myocardial infarction"]] == (place["mitral insufficiency"],)
    # two spellings may be one sense
    assert graph.contrasts[place["morphine sulfate"]] == (place["multiple sclerosis"],)


def test_acronyms_and_related_names_hold_one_way_and_are_no_contradiction(tmp_path):
    folder = tmp_path / "t"
    write(folder / "concepts.tsv", "id\tname\nA:1\tcolor blindness\nA:2\tcontact burn\nA:3\tCBX\n")
    write(
        folder / "synonyms.tsv",
        "id\tsynonym\tscope\nA:1\tCB\tEXACT\nA:1\tdaltonism\tEXACT\nA:2\tCB\tEXACT\nA:2\tburn by an iron\tRELATED\n",
    )
    graph = terminology_graph([load(str(folder))])
    assert graph.forms == (("color blindness", "daltonism"), ("contact burn",), ("CBX",))
    assert set(graph.one_way[0]) == {("color blindness", "CB"), ("daltonism", "CB")}
    assert set(graph.one_way[1]) == {("contact burn", "CB"), ("burn by an iron", "contact burn")}
    meanings = Meanings([graph])
    assert meanings.same("CB", "daltonism") and meanings.same("contact burn", "burn by an iron")
    assert not meanings.same("daltonism", "contact burn") and not meanings.same("CB", "CBX")
    assert [is_acronym(t) for t in ("CB", "CBX2", "Cold", "ASTHMATIC", "17")] == [True, True, False, False, False]


def test_a_string_that_several_sources_have_counts_once(tmp_path):
    for name in "abc":
        rows = "".join(f"{name}{k}\tshared {k}\n" for k in range(40)) + (
            "".join(f"own{k}\town {k}\n" for k in range(40)) if name == "a" else ""
        )
        write(tmp_path / name / "concepts.tsv", f"id\tname\n{rows}")
    graph = terminology_graph([load(str(tmp_path / name)) for name in "abc"])
    assert graph.novelty[0] == pytest.approx(1 / 3) and graph.novelty[40] == 1
    choice = PairStream(Sources((graph,)), weights={"random": 1})._any
    drawn = [graph.forms[choice.draw(Random(seed))[1]][0].split()[0] for seed in range(600)]
    assert 0.3 < np.mean([word == "own" for word in drawn]) < 0.6  # by rows it would be a quarter


def test_definitions_entail_their_term_and_its_parents(tmp_path):
    folder = tmp_path / "t"
    write(folder / "concepts.tsv", "id\tname\nA:1\torgan\nA:2\tkidney\nA:3\tliver\nA:4\tpebble\n")
    write(folder / "is_a.tsv", "child\tparent\nA:2\tA:1\nA:3\tA:1\n")
    long = "word " * 50
    write(
        folder / "definitions.tsv",
        f"id\tdefinition\nA:2\tAn organ that makes urine. {long}\nA:3\tAn organ that makes bile.\nA:4\t{long}\n",
    )
    graph = gather([str(folder)], own_words=0, held_out=0).graphs[0]
    assert graph.definitions == ("", "An organ that makes urine", "An organ that makes bile.", "")
    stream = PairStream(Sources((graph,)), weights={"definition": 1})
    drawn = {
        (e.premise, e.hypothesis.casefold(), e.entails) for e in stream.chunk(0, 200) if e.premise in graph.definitions
    }
    told = {(a, b): y for a, b, y in drawn}
    assert told["An organ that makes urine", "kidney"] == 1 == told["An organ that makes urine", "organ"]
    assert told["An organ that makes urine", "liver"] == 0


def test_compounds_entail_their_parts_and_not_the_reverse(sources):
    stream = PairStream(sources, seed=0)
    drawn = [pair for seed in range(2000) if (pair := stream._compound(Random(seed)))]
    parts = {held: [p for p in drawn if p[2] == held] for held in (0, 1)}
    assert 0.3 < len(parts[1]) / len(drawn) < 0.7
    both = {(a, b): y for a, b, y in drawn}
    turned = [(both[a, b], both[b, a]) for a, b in both if (b, a) in both and len(a) > len(b)]
    assert all(told in {(1, 0), (0, 1)} for told in turned)


def test_an_adjective_is_its_noun_where_it_has_one_only(tmp_path, sources):
    table = write(
        tmp_path / "f.tsv",
        "lemma\tpertains_to\nrenal\tkidney\ncervical\tneck\ncervical\tcervix\n.22 caliber\tcaliber\n",
    )
    assert read_word_forms(table) == {"renal": "kidney"}
    assert with_noun("Renal cyst", {"renal": "kidney"}) == ("renal", "kidney", "cyst")
    assert with_noun("renal", {"renal": "kidney"}) is None and with_noun("cyst renal", {"renal": "kidney"}) is None
    assert sources.nouns == (("ocular", "eye"),)
    stream = PairStream(sources, seed=0)
    drawn = [pair for seed in range(200) if (pair := stream._word_form(Random(seed)))]
    assert drawn and all("eye" in f"{a} {b}".lower() for a, b, held in drawn if held)


@pytest.mark.parametrize(
    "text, start",
    [("unable to sleep", "I "), ("rash", ""), ("coughing up blood", "I "), ("my knee hurts", "my knee hurts")],
)
def test_a_patient_says_it_in_the_first_person(text, start):
    said = {first_person(Random(seed), text) for seed in range(20)}
    assert all(s.startswith(start) for s in said) and all(text.split()[-1] in s for s in said)


def test_lay_sentences_keep_what_they_are_about(sources):
    stream = PairStream(sources, seed=0)
    drawn = [pair for seed in range(400) if (pair := stream._lay_sentence(Random(seed)))]
    assert 0.4 < np.mean([held for *_, held in drawn]) < 0.8
    assert any("week" in a for a, *_ in drawn) and any(a.startswith("I ") for a, *_ in drawn)


def test_lists_of_texts_are_left_out(toy, tmp_path):
    listed = write(tmp_path / "l.txt", "Kidney PAIN\n\n")
    mentions = write(tmp_path / "m.tsv", "pmid\tmention\n1\tliver cyst\n")
    found = gather([str(toy)], own_words=0, leave_out=[str(listed), str(mentions)])
    texts = {t for graph in found.graphs for forms in graph.forms for t in forms}
    assert found.dropped == 2 and not texts & {"kidney pain", "liver cyst"}


def test_phrases_and_texts_that_support_each_other(tmp_path):
    phrases = write(
        tmp_path / "p.tsv",
        "phrase1\tphrase2\tlabel\nheart attack\tMI\tsame\nleft knee pain\tknee pain\tdifferent\ncold\tflu\tdifferent\n",
    )
    assert read_pairs(phrases).pairs == (
        ("heart attack", "MI", 1),
        ("MI", "heart attack", 1),
        ("knee pain", "left knee pain", 0),
        ("cold", "flu", 0),
        ("flu", "cold", 0),
    )
    notes = write(
        tmp_path / "n.tsv",
        f"dialogue\tnote\nany pets? two cats\thas cats\n{'long ' * 90}\tshort\nsmoking? no\tnonsmoker\n",
    )
    found = read_pairs(notes)
    assert found.skipped == 1 and ("any pets? two cats", "has cats", 1) in found.pairs
    assert ("any pets? two cats", "nonsmoker", 0) in found.pairs and len(found.pairs) == 4
