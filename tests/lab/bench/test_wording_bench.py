"""Measures compared on the same projects of people's texts."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from lab.bench.__main__ import main
from lab.bench.wording import ROTATIONS, Population, draw
from lab.experiments.wording import read_wording


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "phrases.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("text\tconcept\tsource_id\tn\n")
        for i in range(90):
            stream.writelines(f"{word * 3} {i:02}\tC{i}\t\t1\n" for word in ("ax", "by", "cz"))
    return path


def test_populations_have_both_kinds_of_pairs_and_the_truth(file):
    populations = draw(read_wording(file), "random", 4, 20)
    for population in populations:
        assert len(population.pairs) == len(population.same) == 20 * (1 + ROTATIONS)
        assert all(
            same == (a.split()[1] == b.split()[1])
            for (a, b), same in zip(population.pairs, population.same, strict=True)
        )
    assert draw(read_wording(file), "random", 4, 20)[3].pairs == populations[3].pairs
    shares = [p.same[: p.n_items].mean() for p in populations]
    assert shares[0] < shares[3]


def test_alpha_is_agreement_above_chance():
    population = Population((("a", "b"),) * 4, np.array([True, True, False, False]), 2)
    assert population.alpha(np.array([1.0, 0.5, 0.5, 0.0])) == pytest.approx((0.75 - 0.25) / 0.75)
    assert population.alpha(population.same.astype(float)) == 1.0


def test_the_table_pairs_measures(file, capsys):
    options = ["--wording", str(file), "--populations", "4", "--items", "12"]
    assert main(["wording", *options, "--measures", "exact", "indel", "--parts", "visible", "aside"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows[::2]] == [
        *(f"| phrases, {subset}, {kind}" for subset in ("visible", "aside") for kind in ("random", "similar")),
        "| all, visible",
        "| all, aside",
    ]
    assert all(row[1] == "exact" and row[3] == "–" for row in rows[::2])
    assert all(row[1] == "indel" and "±" in row[3] for row in rows[1::2])
    first, second = (float(row[2].split(" ")[0]) for row in rows[:2])
    assert float(rows[1][3].split(" ")[0]) == pytest.approx(first - second, abs=0.002)
