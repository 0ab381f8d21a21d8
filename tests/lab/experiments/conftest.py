"""A terminology made up here: 240 concepts in a hierarchy of four levels, with one to four names each."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.terminologies import load
from softirr.meaning.terminology.concepts import Terminology

PLACES = ("knee", "hip", "wrist", "ankle", "elbow", "shoulder", "jaw", "spine", "rib", "skull", "toe", "thumb")
TROUBLES = ("pain", "swelling", "fracture", "rash", "cramp", "bruise", "burn", "numbness", "stiffness", "ulcer")
LAY = {"pain": "ache", "swelling": "puffiness", "fracture": "broken bone", "rash": "red skin", "cramp": "spasm"}


def write_terminology(folder: Path) -> Path:
    """Write the tables of the terminology into the folder."""
    concepts, synonyms, is_a = [("root", "disorder")], [], []
    synonyms += [("root", "disease", "EXACT"), ("root", "sickness", "EXACT")]
    for t, trouble in enumerate(TROUBLES):
        concepts.append((f"T{t}", trouble))
        is_a.append((f"T{t}", "root"))
        synonyms += [(f"T{t}", f"{trouble} disorder", "EXACT"), (f"T{t}", f"any {trouble}", "EXACT")]
        for p, body_part in enumerate(PLACES):
            id = f"T{t}P{p}"
            concepts.append((id, f"{body_part} {trouble}"))
            is_a.append((id, f"T{t}"))
            synonyms.append((id, f"{trouble} of the {body_part}", "EXACT"))
            if p % 3:
                synonyms.append((id, f"{body_part} {LAY.get(trouble, trouble + ' state')}", "EXACT"))
            if p % 3 == 2:
                synonyms.append((id, f"{body_part}-{trouble} syndrome", "EXACT"))
            synonyms.append((id, f"{body_part} trouble", "BROAD"))
            concepts.append((f"{id}C", f"chronic {body_part} {trouble}"))
            is_a.append((f"{id}C", id))
            if p % 2:
                synonyms.append((f"{id}C", f"long-standing {trouble} of the {body_part}", "EXACT"))
                synonyms.append((f"{id}C", f"{body_part} {trouble} for months", "EXACT"))
            concepts.append((f"{id}A", f"acute {body_part} {trouble}"))
            is_a.append((f"{id}A", id))
            synonyms.append((f"{id}A", f"sudden {trouble} of the {body_part}", "EXACT"))
            synonyms.append((f"{id}A", f"new {body_part} {trouble}", "EXACT"))
    folder.mkdir(parents=True, exist_ok=True)
    for name, header, rows in (
        ("concepts", "id\tname", concepts),
        ("synonyms", "id\tsynonym\tscope", synonyms),
        ("is_a", "child\tparent", is_a),
    ):
        lines = [header, *("\t".join(row) for row in rows)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def terminology_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the tables of the terminology."""
    return write_terminology(tmp_path_factory.mktemp("terminology") / "made_up")


@pytest.fixture(scope="session")
def terminology(terminology_folder: Path) -> Terminology:
    """The terminology."""
    return load(str(terminology_folder))
