"""Columns of synonyms in tables of concepts: no synonym is lost, whatever the column is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.meaning.terminology import load


def names(path: Path) -> dict[str, set[str]]:
    terminology = load(str(path))
    return {
        id: {name.casefold() for name in names_of_concept}
        for id, names_of_concept in zip(terminology.ids, terminology.names, strict=True)
    }


@pytest.mark.parametrize(
    ("header", "cell"),
    [
        ("id,name,synonym", "pyrexia"),
        ("id,name,synonyms", "pyrexia"),
        ("ID,Name,Synonyms", "pyrexia; febris"),
        ("id,name,aliases", "pyrexia|febris"),
        ("id,name,Alternative names", "pyrexia ;febris;"),
        ("id,name,synonym_1", "pyrexia"),
    ],
)
def test_one_table(tmp_path: Path, header: str, cell: str) -> None:
    path = tmp_path / "house.csv"
    path.write_text(f"{header}\n1,fever,{cell}\n2,rash,\n", encoding="utf-8")
    names_by_id = names(path)
    assert names_by_id["1"] == {"fever", "pyrexia"} | ({"febris"} if "febris" in cell else set())
    assert names_by_id["2"] == {"rash"}


def test_separate_synonym_keeps_its_punctuation(tmp_path: Path) -> None:
    path = tmp_path / "house.tsv"
    path.write_text("id\tname\tsynonym\n1\tfever\thot; sweaty, tired\n", encoding="utf-8")
    assert names(path)["1"] == {"fever", "hot; sweaty, tired"}


def test_commas_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "house.csv"
    path.write_text('id,name,synonyms\n1,lung cancer,"carcinoma, lung"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: the column 'synonyms' contains commas.*separate synonyms with ; or"):
        load(str(path))
    path.write_text('id,name,synonyms\n1,lung cancer,"carcinoma, lung; lung carcinoma"\n', encoding="utf-8")
    assert names(path)["1"] == {"lung cancer", "carcinoma, lung", "lung carcinoma"}
