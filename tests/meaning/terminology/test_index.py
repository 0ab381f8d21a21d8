"""The index of a terminology: it finds what a search through all names finds, and opens from a cache that may be damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.errors import InputError
from softirr.meaning.terminology import Terminology
from softirr.meaning.terminology.folded_words import Folder
from softirr.meaning.terminology.hashes import cut_hashes, hash_texts
from softirr.meaning.terminology.index import TerminologyIndex, build_index, open_index
from softirr.meaning.terminology.lookup import MATCH_KINDS, find, one_slip
from softirr.meaning.terminology.name_keys import exact_keys, keys_of
from softirr.text import normalize

WORDS = (
    "fever", "fevers", "left", "right", "knee", "pain", "of", "the", "and", "due", "to", "type", "1", "II",
    "tumour", "tumor", "CD4+",
)  # fmt: skip
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
VOCABULARIES = st.lists(st.lists(NAMES, min_size=1, max_size=3, unique=True), min_size=1, max_size=8)


def terminology(*names: tuple[str, ...], parents: dict[int, tuple[int, ...]] | None = None) -> Terminology:
    """Concepts C0, C1, ... with these names."""
    return Terminology(
        name="test",
        ids=tuple(f"C{i}" for i in range(len(names))),
        names=names,
        parents=tuple((parents or {}).get(i, ()) for i in range(len(names))),
    )


def found_concepts(index: TerminologyIndex, text: str) -> tuple[set[str], str | None]:
    concepts = find(index, [text])
    match_kind = int(concepts.match_kind[0])
    return {index.id(concept) for concept in concepts.concept.tolist()}, MATCH_KINDS[
        match_kind
    ] if match_kind >= 0 else None


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(VOCABULARIES, st.lists(NAMES, min_size=1, max_size=10))
def test_lookup_finds_what_a_search_through_all_names_finds(names: list[list[str]], texts: list[str]) -> None:
    index = build_index(terminology(*map(tuple, names)))
    concepts = find(index, texts)
    every = [(number, name) for number, own in enumerate(names) for name in own]
    for place, text in enumerate(texts):
        expected, match_kind = _searched(text, every)
        assert set(concepts.concept[concepts.text == place].tolist()) == expected, text
        assert concepts.match_kind[place] == match_kind


MARKED = st.lists(
    st.one_of(
        st.sampled_from(
            [*WORDS, "a", "A", "An", "CD4-", "CD8-, x", "Crohn's", "AIDS", "sign(s)", "R&D", "é", "-", "a-b", "3-"]
        ),
        st.text(max_size=6),
    ),
    max_size=6,
).map(" ".join)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(MARKED, max_size=8))
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    normal = [normalize(text) for text in texts]
    folder = Folder()
    lists = folder.word_lists(normal)
    assert [lists[i] for i in range(len(lists))] == [Folder().words(text) for text in normal]
    keys, _ = keys_of(texts, folder)
    joined = ["".join(words) for words in map(Folder().words, normal)]
    for i, one in enumerate(joined):
        long = len(one.encode()) >= 8
        assert bool(keys.joined[i]) == long
        assert all((keys.joined[i] == keys.joined[k]) == (one == other) for k, other in enumerate(joined) if long)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(["aa", "common", "pneumonia"]), st.text(min_size=1, max_size=6)), max_size=5))
def test_cuts_are_the_words_without_each_of_their_letters(words: list[str]) -> None:
    hashes, owner = cut_hashes(words)
    for place, word in enumerate(words):
        if word.isascii():
            cuts = {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}
            assert sorted(hashes[owner == place]) == sorted(hash_texts(sorted(cuts)))


def _searched(text: str, every: list[tuple[int, str]]) -> tuple[set[int], int]:
    """The concepts with a name that has the closest key in common, one name at a time."""
    if same := {number for number, name in every if exact_keys([name]) == exact_keys([text])}:
        return same, 0
    own, _ = keys_of([text])
    for key, level in (("folded", 1), ("bag", 2), ("joined", 1)):
        wanted = getattr(own, key)[0]
        close = {number for number, name in every if wanted and getattr(keys_of([name])[0], key)[0] == wanted}
        if close:
            return close, level
    return set(), -1


@pytest.mark.parametrize(
    ("text", "name", "match_kind"),
    [
        ("FEVER", "Fever", "name"),
        ("heart  attack", "Heart attack", "name"),
        ("heart attacks", "Heart attack", "variant"),
        ("Tumours of the oesophagus", "Tumor of the esophagus", "variant"),
        ("non small-cell carcinoma", "Non-small cell carcinoma", "variant"),
        ("nonsmall cell carcinoma", "Non-small cell carcinoma", "variant"),
        ("Crohn disease", "Crohn's disease", "variant"),
        ("Sjogren syndrome", "Sjögren's syndrome", "variant"),
        ("metastases", "Metastasis", "variant"),
        ("anaemia", "Anemia", "variant"),
        ("type II diabetes mellitus", "Diabetes mellitus, type 2", "word order"),
        ("lung cancer", "Cancer of the lung", "word order"),
        ("vomiting and nausea", "Nausea and vomiting", "word order"),
        ("CD8+ T-cells", "CD8-positive T cell", "variant"),
        ("HIV-", "HIV negative", "variant"),
        ("hypertenison", "Hypertension", "spelling"),
        ("pulmonary hypertensoin", "Pulmonary hypertension", "spelling"),
        ("hypertension pulmonry", "Pulmonary hypertension", "spelling"),
        ("short statue", "Short stature", "spelling"),
        ("yellow fevre", "Yellow fever", "spelling"),
    ],
)
def test_variants_of_a_name_are_found(text: str, name: str, match_kind: str) -> None:
    index = build_index(terminology((name,), ("something else",)))
    assert found_concepts(index, text) == ({"C0"}, match_kind)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hypertension due to kidney disease", "Kidney disease due to hypertension"),
        ("CD8-positive, CD4-negative T cell", "CD4-positive, CD8-negative T cell"),
        ("upper left lower right quadrant", "lower left upper right quadrant"),
        ("grade 1 type 2 lesion", "grade 2 type 1 lesion"),
        ("seizures without fever", "fever without seizures"),
        ("other injury of unspecified muscle", "unspecified injury of other muscle"),
        ("microcephaly", "Macrocephaly"),
        ("hypotension", "Hypertension"),
        ("adduction", "Abduction"),
        ("dysphagia", "Dysphasia"),
        ("atypical pneumonia", "typical pneumonia"),
        ("vitamin a deficiency", "Vitamin deficiency"),
        ("hepatitis B", "Hepatitis C"),
        ("aid", "AIDS"),
        ("feever", "Fever"),
        ("lover", "Liver"),
        ("joint pian", "Joint pain"),
        ("", "Fever"),
        ("???", "Fever"),
        ("fever?", "Fever"),
        ("HIV -", "HIV"),
        ("HIV-", "HIV"),
        ("cough (-)", "Cough"),
    ],
)
def test_other_meanings_are_not_found(text: str, name: str) -> None:
    assert found_concepts(build_index(terminology((name,))), text) == (set(), None)


def test_a_word_of_the_vocabulary_is_never_taken_for_a_misspelling() -> None:
    index = build_index(terminology(("prostration",), ("prostratiom scan",)))
    assert found_concepts(index, "prostratiom") == (set(), None), "this word stands in another name"


def test_two_words_a_slip_away_are_one_too_many() -> None:
    index = build_index(terminology(("abcdefghi",), ("abcdefgih",)))
    assert found_concepts(index, "abcdefgi") == (set(), None)


@given(st.text("abcdefgh", min_size=8, max_size=12), st.integers(0, 11), st.sampled_from("abcdefgh"))
def test_one_slip_is_symmetric(word: str, place: int, letter: str) -> None:
    for other in (
        word[:place] + letter + word[place:],
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place + 1 :],
    ):
        assert one_slip(word, other) == one_slip(other, word)


def test_an_ambiguous_name_keeps_all_its_concepts() -> None:
    index = build_index(terminology(("Cold", "common cold"), ("Cold", "low temperature"), ("colds and flu",)))
    assert found_concepts(index, "cold")[0] == {"C0", "C1"}
    assert found_concepts(index, "the colds")[0] == {"C0", "C1"}


def test_names_ids_and_the_graph_are_those_of_the_terminology() -> None:
    given = terminology(
        ("Disease",), ("Heart disease", "cardiac disease"), ("Heart attack",), parents={1: (0,), 2: (1,)}
    )
    index = build_index(given)
    assert [index.names(i) for i in range(3)] == [list(own) for own in given.names]
    assert index.names(1, 1) == ["Heart disease"]
    assert [index.id(i) for i in range(3)] == list(given.ids)
    assert index.ancestors(2) == {0, 1}
    assert (index.n_concepts, index.n_names) == (3, 4)


def test_a_cycle_is_refused_with_a_concept_of_it() -> None:
    looped = terminology(("a",), ("b",), ("c",), ("d",), parents={0: (1,), 1: (2,), 2: (0,), 3: (0,)})
    with pytest.raises(InputError, match=r"has a cycle: C[012] is its own ancestor\.$"):
        build_index(looped)


def _tsv(path: Path, names: list[str]) -> Path:
    rows = "".join(f"C{i}\t{name}\n" for i, name in enumerate(names))
    path.write_text(f"id\tname\n{rows}", encoding="utf-8")
    return path


def test_an_index_is_opened_from_the_cache_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, cache = _tsv(tmp_path / "house.tsv", ["fever", "cough"]), tmp_path / "cache"
    first = open_index(str(source), cache=cache)
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr("softirr.meaning.terminology.index.load", lambda *_, **__: pytest.fail("read a second time"))
    again = open_index(str(source), cache=cache)
    assert again.sha256 == first.sha256
    assert found_concepts(again, "coughs")[0] == {"C1"}
    monkeypatch.undo()
    _tsv(source, ["fever", "cough", "rash"])
    changed = open_index(str(source), cache=cache)
    assert found_concepts(changed, "rash")[0] == {"C2"}
    assert changed.sha256 != first.sha256


@pytest.mark.parametrize("damage", ["empty", "cut", "header", "longer header", "text"])
def test_a_damaged_index_file_is_made_anew(damage: str, tmp_path: Path) -> None:
    source, cache = _tsv(tmp_path / "house.tsv", ["fever", "cough"]), tmp_path / "cache"
    open_index(str(source), cache=cache)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    damaged = {
        "empty": b"",
        "cut": whole[:-200],
        "header": whole[:40] + b"}" + whole[41:],
        "longer header": whole[:16] + (1 << 60).to_bytes(8, "little") + whole[24:],
        "text": b"<html>" * 100,
    }
    os.chmod(file, 0o600)
    file.write_bytes(damaged[damage])
    assert found_concepts(open_index(str(source), cache=cache), "cough")[0] == {"C1"}
    assert file.read_bytes() == whole


def test_where_the_cache_cannot_be_written_the_index_stays_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    index = open_index(str(_tsv(tmp_path / "house.tsv", ["fever"])), cache=blocked / "cache")
    assert found_concepts(index, "fevers")[0] == {"C0"}
    assert "can't be kept" in caplog.text


def test_processes_share_one_file(tmp_path: Path) -> None:
    source, cache = _tsv(tmp_path / "house.tsv", ["fever", "cough"]), tmp_path / "cache"
    program = (
        "import sys\nfrom softirr.meaning.terminology.index import open_index\nfrom softirr.meaning.terminology.lookup import find\n"
        "print(find(open_index(sys.argv[1], cache=sys.argv[2]), ['coughs', 'COUGH', 'x']).concept.tolist())"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(source), str(cache)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [run.communicate()[0].strip() for run in runs] == ["[1, 1]"] * 3
    assert len(list(cache.iterdir())) == 1


def test_keys_do_not_depend_on_the_process_or_on_other_texts() -> None:
    alone, _ = keys_of(["pain in the left knee"])
    among, _ = keys_of(["fever", "pain in the left knee", "and or"])
    for key in ("folded", "bag", "joined"):
        assert getattr(alone, key)[0] == getattr(among, key)[1]
    assert alone.bag[0] == 18433374003259222021, "a changed key needs another version of the index file"


def test_an_empty_list_of_texts_has_no_concepts() -> None:
    concepts = find(build_index(terminology(("fever",))), [])
    assert not len(concepts.text) and not len(concepts.match_kind)
    assert Folder().words("") == []
    assert len(np.unique(exact_keys(["a", "b", "ab"]))) == 3
