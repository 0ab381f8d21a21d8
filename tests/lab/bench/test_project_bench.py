"""The large project of ``softirr bench project``, and how many pairs a cheap pass would leave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softirr.lab.bench import project
from softirr.lab.bench.project import Project, make_project, needed_pairs, predicted, same_item_pairs
from softirr.lab.training.parts import in_part
from softirr.terminology import Terminology

SIZE = 120


def terminology() -> Terminology:
    ids = tuple(f"C:{k}" for k in range(SIZE))
    names = tuple((f"name {k}", f"synonym {k}", f"other {k}") for k in range(SIZE))
    parents = tuple(() if k == 0 else ((k - 1) // 4,) for k in range(SIZE))
    return Terminology(name="made up", ids=ids, names=names, parents=parents)


def test_a_project_has_names_of_its_part_and_is_the_same_again() -> None:
    shape = Project(items=60, raters=3, hit=1.0)
    table = make_project(terminology(), shape, part="visible", seed=1)
    again = make_project(terminology(), shape, part="visible", seed=1)
    assert (table.texts, table.answers) == (again.texts, again.answers)
    assert (len(table.items), len(table.raters)) == (60, 3)
    assert all(in_part(f"C:{text.split()[1]}", "visible") for text in table.texts)


def test_same_item_pairs_of_different_texts_stand_for_their_share() -> None:
    table = make_project(terminology(), Project(items=50, raters=3, hit=1.0, usual=0.0), seed=2)
    low, high, share = same_item_pairs(table)
    different = sum(a != b for answers in _by_item(table) for k, a in enumerate(answers) for b in answers[k + 1 :])
    assert (low < high).all()
    assert share.sum() == pytest.approx(different / 150)


def _by_item(table: object) -> list[list[str]]:
    from softirr.tables.ratings import Ratings
    from softirr.tables.table import AnnotationTable

    assert isinstance(table, AnnotationTable)
    ratings = Ratings.of(table)
    return [
        [table.texts_of(answer)[0] for answer in ratings.answer[ratings.item == item].tolist()]
        for item in range(len(table.items))
    ]


def test_a_prediction_that_tells_all_leaves_nothing_to_score() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((500, 2))
    p = x[:, 0] * x[:, 1]
    share = np.full(500, 1 / 500)
    guess = predicted(x, p)
    assert needed_pairs(p - guess, guess, share, 0.001) <= 1
    assert needed_pairs(p - 0.25, np.full(500, 0.25), share, 0.001) > 450


@pytest.mark.slow
def test_leaving_out_reasons_changes_no_coefficient_and_no_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = terminology()
    tables = {
        "concepts": ["id\tname", *(f"{id}\t{names[0]}" for id, names in zip(made.ids, made.names, strict=True))],
        "synonyms": [
            "id\tsynonym\tscope",
            *(f"{id}\t{name}\tEXACT" for id, names in zip(made.ids, made.names, strict=True) for name in names[1:]),
        ],
        "is_a": ["child\tparent", *(f"C:{k}\tC:{parents[0]}" for k, parents in enumerate(made.parents) if parents)],
    }
    for name, lines in tables.items():
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert project.main(["--terminology", f"made={tmp_path}", "--parts", "visible", "--items", "30"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "| softirr score" in line]
    assert [row[-2:] for row in rows] == [["0.0000", "0 |"], ["0.0000", "0 |"]]
    everything, without = (int(row[2].replace(",", "")) for row in rows)
    assert without < everything
