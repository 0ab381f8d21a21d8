"""Every format of terminologies: names, parents and synonyms, and the error of a damaged file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.terminologies import load
from lab.terminologies.relations import Relations, texts_of
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Terminology
from tests.lab.terminologies.examples import (
    ICD10CM,
    ICD11,
    ICD11_SYNONYMS,
    MEDDRA,
    MESH,
    OBO_GRAPHS,
    SKOS,
    SNOMED,
    TABLE,
    TSV,
)
from tests.meaning.terminology.terms import HEART_OBO


def _folder(path: Path, files: dict[str, str]) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


MAKE: dict[str, Callable[[Path], Path]] = {
    "mesh": lambda t: _file(t / "desc2026.xml", MESH),
    "icd10cm": lambda t: _file(t / "tabular.xml", ICD10CM),
    "icd11": lambda t: _file(t / "SimpleTabulation.txt", ICD11),
    "meddra": lambda t: _folder(t / "MedAscii", MEDDRA),
    "obo": lambda t: _file(t / "hp.obo", HEART_OBO),
    "table": lambda t: _file(t / "house.tsv", TABLE),
    "folder": lambda t: _folder(t / "plain", TSV),
    "obographs": lambda t: _file(t / "hp.json", json.dumps(OBO_GRAPHS)),
    "snomed": lambda t: _folder(t / "Snapshot", SNOMED),
    "skos": lambda t: _file(t / "house.ttl", SKOS),
}


def _names(terminology: Terminology) -> dict[str, tuple[str, ...]]:
    return dict(zip(terminology.ids, terminology.names, strict=True))


def _parents(terminology: Terminology) -> dict[str, set[str]]:
    return {
        id: {terminology.ids[p] for p in parents}
        for id, parents in zip(terminology.ids, terminology.parents, strict=True)
    }


@pytest.mark.parametrize("kind", MAKE)
def test_names_parents_and_synonyms_of_every_format(kind: str, tmp_path: Path) -> None:
    terminology = load(str(MAKE[kind](tmp_path)))
    expected = json.loads((Path(__file__).parent / "concepts.json").read_text(encoding="utf-8"))[kind]
    names, note = _names(terminology), expected["note"]
    assert {id: name[0] for id, name in names.items()} == {id: values[0] for id, values in expected["names"].items()}, (
        note
    )
    assert {id: set(name) for id, name in names.items()} == {
        id: set(values) for id, values in expected["names"].items()
    }, note
    assert {id: sorted(values) for id, values in _parents(terminology).items() if values} == expected["parents"], note
    synonyms = sorted([terminology.ids[concept], text, scope] for concept, text, scope in terminology.synonyms)
    assert synonyms == sorted(expected["synonyms"]), note


def test_synonyms_of_icd11_are_in_a_second_file(tmp_path: Path) -> None:
    extra = _file(tmp_path / "names.json", json.dumps(ICD11_SYNONYMS))
    terminology = load(f"icd={MAKE['icd11'](tmp_path)},{extra}")
    assert terminology.name == "icd"
    assert _names(terminology)["BA41"] == ("Acute myocardial infarction", "heart attack")
    assert _names(terminology)["BA42"] == ("Subsequent myocardial infarction", "second infarct")


def test_siblings_share_a_parent(tmp_path: Path) -> None:
    terminology = load(str(MAKE["meddra"](tmp_path)))
    a, b = (terminology.ids.index(id) for id in ("10028596", "10002383"))
    assert Relations(terminology).siblings(a) == (b,)


def test_missing_tables_are_noted(tmp_path: Path) -> None:
    terminology = load(str(MAKE["folder"](tmp_path)))
    assert list(texts_of(terminology)) == ["Heart disease", "Myocardial infarction", "Heart attack", '5" scar']
    assert [note[:1] for note in terminology.notes] == ["1", "1"], "a synonym and a link of a concept that is not there"


@pytest.mark.parametrize("kind", ["mesh", "icd10cm", "obo"])
def test_gzip_is_read_the_same(kind: str, tmp_path: Path) -> None:
    path = MAKE[kind](tmp_path)
    packed = tmp_path / (path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(str(packed)).names == load(str(path)).names


DAMAGE: list[tuple[str, str, str, str, int | None]] = [
    # format, file within the folder ("" for the file itself), old text, new text, line of the error
    ("mesh", "", "</DescriptorRecordSet>", "", 18),
    ("mesh", "", "<DescriptorUI>D009203</DescriptorUI>", "", 10),
    ("mesh", "", "D009203", "D006331", 10),
    ("icd10cm", "", "<name>I21.9</name>", "", 7),
    ("icd10cm", "", '<section id="I26">', "<section>", 9),
    ("icd10cm", "", "</chapter>", "", 10),
    ("icd11", "", "BA41\t\t- - Acute", "BA41\t- - Acute", 4),
    ("icd11", "", "Code\t", "Kode\t", 1),
    ("icd11", "", "- - Subsequent myocardial infarction", "- - ", 5),
    ("meddra", "pt.asc", "10002383$Angina pectoris$$10007541$", "10002383", 2),
    ("meddra", "llt.asc", "10019250$Heart attack$10028596$$$$$$$Y$", "10019250$Heart attack", 1),
    ("meddra", "hlt_pt.asc", "10028600$10002383$", "10028600", 2),
    ("obo", "", 'synonym: "Heart attack" EXACT', 'synonym: "Heart attack EXACT', 11),
    ("obo", "", "name: Heart disease", "just words", 6),
    ("obo", "", "id: HP:0002", "id: HP:0001", 8),
    ("folder", "concepts.tsv", "B\tMyocardial infarction", "B", 3),
    ("folder", "concepts.tsv", "id\tname", "key\tname", 1),
    ("folder", "concepts.tsv", "A\tHeart disease", "\tHeart disease", 2),
    ("folder", "synonyms.tsv", "NARROW", "SIDEWAYS", 3),
    ("folder", "is_a.tsv", "B\tA", "B\tA\tC", 2),
    ("snomed", "sct2_Concept_Snapshot_INT_20260101.txt", "active", "state", 1),
    ("snomed", "sct2_Description_Snapshot-en_INT_20260101.txt", "Heart attack\t9", "Heart attack", 4),
    ("obographs", "", '"graphs": [', '"graphs": [,', 1),
    ("skos", "", "a skos:Concept ;", "a skos:Concept ", None),
]


@pytest.mark.parametrize(("kind", "file", "stands", "becomes", "line"), DAMAGE)
def test_damage_ends_in_one_sentence_with_file_and_line(
    kind: str, file: str, stands: str, becomes: str, line: int | None, tmp_path: Path
) -> None:
    path = MAKE[kind](tmp_path)
    target = path / file if file else path
    text = target.read_text(encoding="utf-8")
    assert stands in text
    target.write_text(text.replace(stands, becomes, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(str(path))
    message = str(caught.value)
    assert str(target) in message
    assert line is None or re.search(rf"line {line}\b", message), message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize("kind", sorted(MAKE))
@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"\xff\xfe\xfa broken \xff", b"<html></html>", b"{}"])
def test_other_files_are_refused(kind: str, content: bytes, tmp_path: Path) -> None:
    path = MAKE[kind](tmp_path)
    names = {"meddra": "pt.asc", "folder": "concepts.tsv", "snomed": "sct2_Concept_Snapshot_INT_20260101.txt"}
    target = path / names[kind] if path.is_dir() else path
    target.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(target) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_synonyms_of_icd11_are_refused_with_their_line(tmp_path: Path) -> None:
    path = MAKE["icd11"](tmp_path)
    extra = _file(tmp_path / "names.json", '{"BA41": ["heart attack"],\n "BA42": [}')
    with pytest.raises(InputError, match=re.escape(f"{extra}, line 2")):
        load(f"{path},{extra}")


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the kind of terminology is not recognized"):
        load(str(_file(tmp_path / "hp.owl", "<rdf/>")))
    with pytest.raises(InputError, match="does not exist"):
        load(str(tmp_path / "nothing.obo"))
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'names.json'} does not exist.")):
        load(f"{MAKE['icd11'](tmp_path)},{tmp_path / 'names.json'}")


def test_a_folder_may_have_an_equals_sign_or_a_comma_in_its_name(tmp_path: Path) -> None:
    for name in ("a=b", "a,b"):
        (tmp_path / name).mkdir()
        assert load(str(MAKE["obo"](tmp_path / name))).ids


def test_external_entities_of_xml_are_not_fetched(tmp_path: Path) -> None:
    secret = _file(tmp_path / "secret", "do not read this")
    text = MESH.replace(
        "<!DOCTYPE DescriptorRecordSet SYSTEM "
        '"https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20260101.dtd">',
        f'<!DOCTYPE DescriptorRecordSet [<!ENTITY leak SYSTEM "file://{secret}">]>',
    ).replace("Heart Attack", "&leak;")
    try:
        names_or_error = " ".join(texts_of(load(str(_file(tmp_path / "desc.xml", text)))))
    except InputError as error:
        names_or_error = str(error)
    assert "do not read this" not in names_or_error


def _bomb(where: str) -> str:
    """XML with entities that unfold to gigabytes, in a text or an attribute."""
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
    )
    inside = "<name>&j;</name>" if where == "text" else '<name note="&j;">x</name>'
    chapter = f"<chapter>{inside}<desc>d</desc></chapter>"
    return f"<!DOCTYPE ICD10CM.tabular [{entities}]><ICD10CM.tabular>{chapter}</ICD10CM.tabular>"


@pytest.mark.parametrize("where", ["text", "attribute"])
def test_entities_that_unfold_to_gigabytes_end_in_one_sentence(where: str, tmp_path: Path) -> None:
    import resource

    path = _file(tmp_path / "bomb.xml", _bomb(where))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = str(path)
    try:
        load(str(path))
    except InputError as error:
        message = str(error)
    assert "\n" not in message and str(path) in message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 300_000, "in KiB"


@pytest.mark.parametrize("kind", ["ttl", "rdf"])
def test_rdf_that_unfolds_or_is_none_ends_in_one_sentence(kind: str, tmp_path: Path) -> None:
    path = _file(tmp_path / f"bomb.{kind}", _bomb("text").replace("ICD10CM.tabular", "RDF"))
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_rdf_whose_label_unfolds_to_gigabytes_ends_in_one_sentence(tmp_path: Path) -> None:
    space = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"'
    concept = '<skos:Concept rdf:about="http://x/1"><skos:prefLabel>&j;</skos:prefLabel></skos:Concept>'
    head = _bomb("text").partition("<ICD10CM.tabular>")[0].replace("ICD10CM.tabular", "rdf:RDF")
    path = _file(tmp_path / "bomb.rdf", f"{head}<rdf:RDF {space}>{concept}</rdf:RDF>")
    with pytest.raises(InputError, match="can't be read as RDF"):
        load(str(path))


def test_links_of_mesh_that_close_a_cycle_are_left_out(tmp_path: Path) -> None:
    text = MESH.replace(
        "<TreeNumber>C14.280</TreeNumber>", "<TreeNumber>C14.280</TreeNumber><TreeNumber>C14.280.647.1</TreeNumber>"
    )
    terminology = load(str(_file(tmp_path / "desc.xml", text)))
    assert sum(map(len, _parents(terminology).values())) == 1
    assert any("closes a cycle" in note for note in terminology.notes)


@pytest.mark.parametrize(
    ("obo", "folder"),
    [("hpo/hp.obo.gz", "hpo"), ("cl/cl-base.obo.gz", "cl"), ("icd10cm/icd10cm_tabular_2021.xml.gz", "icd10cm")],
)
def test_a_published_file_and_its_table_agree(obo: str, folder: str, shared_data: Path) -> None:
    complete = load(str(shared_data / "benchmark" / "terminology" / obo))
    table = load(str(shared_data / "benchmark" / "terminology" / folder))
    assert set(complete.ids) == set(table.ids)
    assert sum(map(len, complete.parents)) == sum(map(len, table.parents))
    assert sum(map(len, complete.names)) == sum(map(len, table.names))
