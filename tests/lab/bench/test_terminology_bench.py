"""The benchmark of terminologies: halves, typing errors, and tables that are printed."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lab.bench.terminology import WAYS, coded_lookups, errors, half_of, mistyped
from lab.experiments.draw import Draw
from softirr.cli.main import main
from softirr.meaning.measures import measure
from softirr.meaning.terminology import load


@pytest.fixture
def terminology(tmp_path: Path) -> str:
    """400 concepts of four names each, in groups of ten below a parent."""
    kinds = [f"{a}{b}" for a, b in product(("cardi", "ren", "derm", "hepat", "neur"), ("itis", "osis", "oma", "algia"))]
    concepts = [f"{place} {kind}" for kind in kinds for place in ("left", "upper", "outer", "inner", "small", "large")]
    (tmp_path / "concepts.tsv").write_text(
        "id\tname\n" + "".join(f"C{i}\t{name}\n" for i, name in enumerate([*kinds, *concepts]))
    )
    (tmp_path / "synonyms.tsv").write_text(
        "id\tsynonym\n"
        + "".join(
            f"C{i}\t{way} {name}\n"
            for i, name in enumerate([*kinds, *concepts])
            for way in ("so-called", "true", "plain")
        )
    )
    (tmp_path / "is_a.tsv").write_text(
        "child\tparent\n" + "".join(f"C{len(kinds) + i}\tC{i // 6}\n" for i in range(len(concepts)))
    )
    return str(tmp_path)


def test_half_of_the_names_are_left_out_and_no_concept(terminology: str) -> None:
    whole = load(terminology)
    half = half_of(whole, 0)
    share = sum(map(len, half.names)) / sum(map(len, whole.names))
    assert 0.4 < share < 0.6
    assert half.ids == whole.ids and half.parents == whole.parents
    assert half_of(whole, 0).names == half.names != half_of(whole, 1).names


def test_a_typing_error_changes_one_letter_or_two_places() -> None:
    draw = Draw(0)
    texts = [mistyped("hypertension", draw) for _ in range(200)]
    assert {len(text) for text in texts} == {11, 12, 13}
    assert mistyped("123", draw) == "123"


def test_the_tables_are_printed(terminology: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "bench",
                "terminology",
                "--terminology",
                terminology,
                "--populations",
                "1",
                "--texts",
                "50",
                "--names",
                "2000",
            ]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    cells = {
        tuple(cell.strip() for cell in line.strip("|").split("|")[:2]): line for line in lines if line.startswith("|")
    }
    name = Path(terminology).name
    assert cells[name, "whole"].count("0.000") == 5, "with its own terminology kappa has no error"
    assert ("names", name) in cells and "100.00%" in cells["names", name]
    assert any("look up names" in line for line in lines)


def test_coded_texts_are_looked_up_with_and_without_them_as_names(terminology: str, tmp_path: Path) -> None:
    table = tmp_path / "lay.tsv"
    table.write_text(
        "id\ttext\n" + "".join(f"C{i}\tplain {name[0]}\n" for i, name in enumerate(load(terminology).names))
    )
    with table.open("a") as file:
        file.write("C0\trenitis\nC1\tnothing like it\nC999\ta concept that is not there\n")
    lookups = list(coded_lookups(load(terminology), table))
    whole, hidden = (
        np.sum([counts for kind, _, counts in lookups if kind == wanted], axis=0)
        for wanted in ("lay", "lay, which are no names")
    )
    n = len(load(terminology))
    assert whole.tolist() == [n, 0, 1, 1]
    assert hidden.sum() == n + 2 and hidden[0] == 0


def test_without_the_calibration_on_known_pairs_P_is_as_it_is(terminology: str) -> None:
    kappa_errors = errors(load(terminology), measure("indel"), 1, 0, None)
    assert {way for way, _ in kappa_errors} == set(WAYS)
