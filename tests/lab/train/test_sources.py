"""What pairs are drawn from: reading, leaving benchmarks out, keeping concepts for development, and the draws."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lab.terminologies import load
from lab.train.develop import DevelopmentSet
from lab.train.graph import Graph, Meanings
from lab.train.labeled import read_pairs
from lab.train.source_graphs import read_wordnet, terminology_graph, with_neighbors
from lab.train.wordings import abbreviation_graph, is_acronym
from lab.train.words import LISTS, read_list
from softirr.audit import AuditSheet, AuditUnit
from softirr.errors import InputError
from tests.lab.train.conftest import SHORT, SYNSETS, gathered, write


def test_kinds_in_a_word_list_entail_their_heading(sources):
    graph = next(g for g in sources.graphs if g.name == "skeleton")
    listed = read_list("skeleton")
    assert [p[0] if p else None for p in graph.parents] == list(listed.above)
    k = next(k for k, forms in enumerate(graph.forms) if graph.parents[k] and forms)
    assert graph.forms[graph.parents[k][0]] == listed.groups[listed.above[k]]


def test_word_lists_count_as_much_as_asked(toy):
    sources = gathered(toy, word_lists=2.5)
    assert {g.share for g in sources.graphs if g.name in LISTS} == {2.5}
    assert len(gathered(toy, word_lists=0).graphs) == 1


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


@pytest.mark.slow
def test_calibration_uses_learned_and_held_out_concepts(sources):
    texts = [
        {
            t.casefold()
            for g in sources.graphs
            for k in range(len(g))
            if g.held_out[k] is is_held_out
            for t in g.forms[k]
        }
        for is_held_out in (False, True)
    ]
    kept_apart, learned = texts[1] - texts[0], texts[0] - texts[1]
    ground = DevelopmentSet.of_calibration(sources, 40)
    synonyms = [pair for pair, kind in zip(ground.pairs, ground.kinds, strict=True) if kind == "synonym"]
    of_kept, of_learned = (
        sum(any(t.casefold() in among for t in pair) for pair in synonyms) for among in (kept_apart, learned)
    )
    assert len(ground) > 400 and min(of_kept, of_learned) > 0.2 * len(synonyms)


def test_a_slip_makes_no_other_word():
    graph = Graph("g", [["prostate cancer"], ["prostrate"], ["perineal pain"], ["peroneal nerve"]])
    meanings = Meanings((graph,))
    assert meanings.has_another_word("prostrate cancer", "prostate cancer")
    assert meanings.has_another_word("Peroneal pain", "perineal pain")
    assert not meanings.has_another_word("prosttate cancer", "prostate cancer")
    assert not meanings.has_another_word("cancer of the prostate", "prostate cancer")


def test_meanings_are_shared_over_sources():
    graphs = (
        Graph("a", [["MI", "heart attack"]]),
        Graph("b", [["heart attack", "coronary attack"], ["cough"]]),
    )
    meanings = Meanings(graphs)
    assert meanings.same("mi", "Coronary Attack")
    assert not meanings.same("MI", "cough")
    assert meanings.same("cough", "COUGH")


def test_neighbors_have_similar_letters():
    names = ["myelitis", "myositis", "cough", "tussis", "arthritis", "arteritis", "fever", "pyrexia", "rash", "hives"]
    graph = with_neighbors([Graph("x", [[name] for name in names])])[0]
    assert 1 in graph.contrasts[0] and 5 in graph.contrasts[4]
    assert all(k not in near for k, near in enumerate(graph.contrasts))
    sampled = with_neighbors([Graph("x", [[name] for name in names])], limit=3)[0]
    assert sum(bool(near) for near in sampled.contrasts) == 3


def test_wordnet(wordnet):
    words = read_wordnet(wordnet)
    assert words.lemmas[2] == ("common cold", "cold")
    assert words.hypernyms == ((1, 0), (2, 0))
    assert words.antonyms == (("cold", "hot"),)


def test_labeled_pairs(tmp_path):
    sheet = write(tmp_path / "s.csv", "text_a,text_b,judgement\nfever,pyrexia,same\nfever,cough,different\nfever,x,\n")
    labeled = read_pairs(sheet)
    assert labeled.pairs == (
        ("fever", "pyrexia", 1),
        ("pyrexia", "fever", 1),
        ("fever", "cough", 0),
        ("cough", "fever", 0),
    )
    challenge = write(tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nhypernym\tgout\tdisease\tfirst entails second\n")
    assert read_pairs(challenge).pairs == (("gout", "disease", 1), ("disease", "gout", 0))


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


def test_missing_and_damaged_sources_are_refused(tmp_path):
    with pytest.raises(InputError, match="not a file"):
        read_pairs(tmp_path / "none.tsv")
    with pytest.raises(InputError, match="no synsets"):
        read_wordnet(tmp_path)
    with pytest.raises(InputError, match="nothing to train on"):
        gathered(word_lists=0)
    (tmp_path / "synsets.tsv.gz").write_bytes(gzip.compress(SYNSETS.encode())[:60])
    with pytest.raises(InputError, match="damaged"):
        read_wordnet(tmp_path)
    write(tmp_path / "t" / "concepts.tsv", "id\tname\nX:1\tstone\tmore\n")
    with pytest.raises(InputError, match="line 2"):
        gathered(tmp_path / "t")


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


def test_abbreviation_entails_its_main_sense_only(tmp_path):
    graph = abbreviation_graph([str(write(tmp_path / "a.tsv", SHORT))], lambda text: text != "RA", 3.0)
    directed = {pair for pairs in graph.one_way for pair in pairs}
    assert ("MI", "myocardial infarction") in directed and ("myocardial infarction", "MI") in directed
    assert ("mitral insufficiency", "MI") in directed and ("MI", "mitral insufficiency") not in directed
    assert ("MS", "multiple sclerosis") not in directed and not any("RA" in pair for pair in directed)
    number = {forms[0]: k for k, forms in enumerate(graph.forms)}
    assert graph.contrasts[number["myocardial infarction"]] == (number["mitral insufficiency"],)
    # two spellings may be one sense
    assert graph.contrasts[number["morphine sulfate"]] == (number["multiple sclerosis"],)


def test_acronyms_and_related_names_entail_in_one_direction(tmp_path):
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


def test_mentions_of_benchmarks_are_left_out(toy, tmp_path):
    mentions = write(tmp_path / "m.tsv", "pmid\tmention\n1\tliver cyst\n2\tKidney PAIN\n")
    sources = gathered(toy, word_lists=0, leave_out=[mentions])
    texts = {t for graph in sources.graphs for forms in graph.forms for t in forms}
    assert sources.notes[-1].startswith("2 texts are left out") and not texts & {"kidney pain", "liver cyst"}
