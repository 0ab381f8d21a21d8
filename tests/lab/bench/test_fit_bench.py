"""How often ``softirr bench fit`` sees each warning raised, on texts that are English and on others."""

from __future__ import annotations

import argparse
import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.lab.bench.fit import alarms, main, read_column
from softirr.provenance import Provenance

OPTIONS = argparse.Namespace(projects=6, scored=4, texts=20, pairs=30, seed=0)
PLACES = ["knee", "left arm", "right foot", "lower back", "scalp", "elbow", "shoulder", "wrist", "ankle", "hip"]
ENGLISH = [f"{what} of the {place}" for what in ("pain", "swelling", "rash", "fracture", "itching") for place in PLACES]
FRENCH = [
    f"{what} {place}"
    for what in ("douleur", "gonflement", "éruption", "fracture")
    for place in ("du genou", "de la main", "de l'épaule", "du pied", "de la tête", "des doigts", "du dos", "de la hanche")
]  # fmt: skip


class Constant:
    """Stands for an entailment model that says the same of every pair."""

    name = "nli"

    def __init__(self, p: float) -> None:
        self.p = p

    def score(self, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        return np.array([1.0 if a == b else self.p for a, b in pairs])

    def provenance(self) -> Provenance:
        return Provenance(measure=self.name)


def test_texts_alone_are_checked_without_a_model() -> None:
    assert alarms(ENGLISH, "nli", OPTIONS).counts["language"] == (0, 6)
    found = alarms(FRENCH, "nli", OPTIONS)
    assert found.counts["language"] == (6, 6)
    assert found.counts["chance"] == found.any == (0, 0)


def test_scores_are_checked_on_the_first_projects() -> None:
    low, high = alarms(ENGLISH, Constant(0.1), OPTIONS), alarms(ENGLISH, Constant(0.8), OPTIONS)
    assert (low.counts["chance"], low.counts["swapped"], low.any) == ((0, 4), (0, 4), (0, 4))
    assert (high.counts["chance"], high.counts["swapped"], high.any) == ((4, 4), (4, 4), (4, 4))
    assert high.by_chance == pytest.approx((0.8,) * 4)


def test_a_column_gives_the_half_that_nothing_was_fitted_on(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("language\ttext\n" + "".join(f"fr\t{text}\n" for text in FRENCH) + "de\tFieber\nde\tFieber\n")
    found = read_column(path, "text")
    assert all(hashlib.sha256(text.encode()).digest()[0] % 2 for texts in found.values() for text in texts)
    assert set(found) <= {"fr", "de"}
    assert 0 < len(found["fr"]) < len(FRENCH)
    with pytest.raises(InputError, match="has no column 'name'; it has language, text"):
        read_column(path, "name")


def test_the_table_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "english.tsv").write_text("name\n" + "\n".join(ENGLISH) + "\n", encoding="utf-8")
    french = "\n".join(f"fr\t{text}" for text in FRENCH)
    (tmp_path / "other.tsv").write_text(f"language\ttext\n{french}\n", encoding="utf-8")
    given = ["--english", f"made={tmp_path}/english.tsv#name", "--other", f"in={tmp_path}/other.tsv#text"]
    assert main([*given, "--projects", "5", "--scored", "0"]) == 0
    rows = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines() if "%" in line]
    assert [(row[1], row[3], row[7]) for row in rows] == [("made", "0%", "–"), ("in fr", "100%", "–")]


@pytest.mark.parametrize("given", [[], ["--english", "file.tsv"], ["--other", "made=file.tsv"], ["--english", "a=none.tsv#b"]])  # fmt: skip
def test_a_table_has_a_name_a_file_and_a_column(given: list[str]) -> None:
    with pytest.raises(InputError):
        main([*given, "--scored", "0"])
