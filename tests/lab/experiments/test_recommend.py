"""Comparing measures without codes: the sheet, its weights, and the verdict."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from softirr.cli import experiment as command
from softirr.errors import InputError
from softirr.lab.experiments import compare as comparing
from softirr.lab.experiments import recommend as task
from softirr.lab.experiments import sheet as sheets
from softirr.lab.experiments.generate import Generator, Population
from softirr.lab.experiments.synthetic import NamedMeasure
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminology import Terminology


@pytest.fixture(scope="module")
def population(terminology: Terminology) -> Population:
    """Some 100 items on which measures differ."""
    generator = Generator(terminology, "hard")
    return next(p for p in (generator.population(n) for n in range(50)) if 0.4 < p.target < 0.6)


@pytest.fixture(scope="module")
def measures() -> list[NamedMeasure]:
    return [NamedMeasure.of(name) for name in ("exact", "jaccard", "indel")]


def test_text_pairs_of_sets_and_of_several_raters() -> None:
    answers = [("1", "a", ("x", "y")), ("1", "b", ("y",)), ("1", "c", ("x",)), ("2", "a", ("x",)), ("2", "b", ("y",))]
    table = AnnotationTable.from_answers(Answer(*a) for a in answers)
    pairs, count = comparing.text_pairs(table)
    assert pairs == (("x", "y"),)
    # item 1: a-b x/y, a-c y/x, b-c y/x; item 2: x/y
    assert count.tolist() == [4]


def test_pairs_are_drawn_with_the_chances_that_the_weights_undo(
    population: Population, measures: list[NamedMeasure]
) -> None:
    comparison = comparing.compare(population.table(), measures)
    whole = float(comparison.count @ comparison.scores[:, 2])
    found, drawn = [], np.zeros(len(comparison.pairs))
    for seed in range(400):
        sheet = sheets.draw_sheet(comparison, judgements=20, seed=seed)
        assert len(sheet) == len({k for k, _ in sheet}) == 20
        found.append(sum(weight * comparison.scores[k, 2] for k, weight in sheet))
        for k, _ in sheet:
            drawn[k] += 1
    assert np.mean(found) == pytest.approx(whole, rel=0.03), "weighted sums are unbiased"
    assert (drawn > 0).mean() > 0.95, "no pair is out of reach"
    far = comparing.spread(comparison)
    assert np.corrcoef(far, drawn)[0, 1] > 0.8, "pairs on which measures differ come more often"


def test_all_pairs_are_drawn_when_there_are_few(measures: list[NamedMeasure]) -> None:
    answers = [(str(i), r, (f"{r} {i}",)) for i in range(6) for r in "ab"]
    comparison = comparing.compare(AnnotationTable.from_answers(Answer(*a) for a in answers), measures)
    sheet = sheets.draw_sheet(comparison, judgements=30)
    assert sorted(k for k, _ in sheet) == list(range(6))
    assert {weight for _, weight in sheet} == {1.0}


def _filled(population: Population, comparison: comparing.Comparison, judgements: int) -> str:
    meant: dict[str, set[str]] = {}
    for concepts, texts in zip(population.concepts, population.texts, strict=True):
        for rater in (0, 1):
            for concept, text in zip(concepts[rater], texts[rater], strict=True):
                meant.setdefault(text, set()).add(concept)
    rows = list(
        csv.DictReader(io.StringIO(sheets.sheet_csv(comparison, sheets.draw_sheet(comparison, judgements=judgements))))
    )
    out = io.StringIO()
    writer = csv.DictWriter(out, sheets.COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "judgement": "same" if meant[row["text_a"]] & meant[row["text_b"]] else "Different"})
    return out.getvalue()


def test_judgements_by_the_codes_support_the_better_measure(
    population: Population, measures: list[NamedMeasure], tmp_path: Path
) -> None:
    table = population.table()
    comparison = comparing.compare(table, measures)
    path = tmp_path / "sheet.csv"
    path.write_text(_filled(population, comparison, 60), encoding="utf-8")
    judged = sheets.read_sheet(path)
    assert len(judged.pairs) == 60
    verdict = task.judge(table, measures, judged)
    assert verdict.best in ("jaccard", "indel")
    assert "exact" not in verdict.ties
    assert verdict.best in verdict.sentence
    rows = {row[0].value: row for row in verdict.table.rows}
    assert rows["exact"][1].value == pytest.approx(0.5), "different texts all have P = 0: no order at all"
    assert rows["exact"][5].value == "needs an AUC of 0.7"
    area, plain, better = (rows["indel"][i].value for i in (1, 4, 5))
    assert area > 0.8
    estimate = task.calibrated_kappa(table, measures[2].measure, judged)
    assert estimate.to_dict() == {
        "estimator": "calibrated",
        "judgements": 60,
        "plain": plain,
        "cohen_kappa": better,
        "refused": None,
    }
    assert task.calibrated_kappa(table, measures[0].measure, judged).refused == "needs an AUC of 0.7"
    truth = population.target
    assert abs(better - truth) < abs(plain - truth)


def test_conditions_of_the_calibrated_kappa() -> None:
    def judged(same: int, different: int, rater: str = "b") -> sheets.Judged:
        n = same + different
        pairs = tuple((f"{rater} {i}", f"a {i}") for i in range(n))
        return sheets.Judged(pairs, np.ones(n), np.array([1.0] * same + [0.0] * different))

    answers = [Answer(str(i), r, (f"{r} {i}",)) for i in range(40) for r in "ab"]
    single = AnnotationTable.from_answers(answers)
    assert task.conditions(single, judged(6, 6), 0.9) == "needs 30 judgements, 5 of each kind"
    assert task.conditions(single, judged(28, 2), 0.9) == "needs 30 judgements, 5 of each kind"
    assert task.conditions(single, judged(15, 15), 0.6) == "needs an AUC of 0.7"
    assert task.conditions(single, judged(15, 15), None) == "needs an AUC of 0.7"
    assert task.conditions(single, judged(15, 15), 0.8) is None
    assert task.conditions(single, judged(15, 15, "c"), 0.8) == "needs a sheet of these answers"
    sets = AnnotationTable.from_answers([*answers, Answer("0", "c", ("x", "y"))])
    assert task.conditions(sets, judged(15, 15), 0.8) == "needs answers of one text"


def test_auc_is_scikit_learns() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(4)
    score, same, weight = rng.integers(0, 5, 60) / 4, rng.integers(0, 2, 60).astype(float), rng.uniform(0.5, 3, 60)
    judged = sheets.Judged((("a", "b"),) * 60, weight, same)
    assert task.auc(score, judged) == pytest.approx(roc_auc_score(same, score, sample_weight=weight))
    assert task.auc(score, sheets.Judged(judged.pairs, weight, np.ones(60))) is None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,2.5,x,y,maybe", "line 2: the judgement is 'maybe'"),
        ("1,none,x,y,same", "line 2: the weight 'none' is not a number"),
        ("1,1,x,y,", "holds no judgement"),
        ("1,1,x,y", "line 2: the row ends before the column judgement"),
    ],
)
def test_damaged_sheets(row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(f"pair,weight,text_a,text_b,judgement\n{row}\n")
    with pytest.raises(InputError) as caught:
        sheets.read_sheet(path)
    assert said in str(caught.value)


def test_an_audit_sheet_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    said = ("same", "different", "first is more general", "can't tell", "")
    path.write_text(
        "unit,pair,text_a,text_b,judgement\n" + "".join(f"u{i},1,a{i},b{i},{w}\n" for i, w in enumerate(said))
    )
    judged = sheets.read_sheet(path)
    assert judged.pairs == (("a0", "b0"), ("a1", "b1"), ("a2", "b2"))
    assert judged.same.tolist() == [1, 0, 0] and judged.weight.tolist() == [1, 1, 1]


def test_from_file_to_sheet_to_verdict(
    population: Population, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = population.table()
    rows = ["item,rater,text"]
    for item, (a, b) in enumerate(population.texts):
        rows += [f'{item},ann,"{a[0]}"', f'{item},ben,"{b[0]}"']
    path, folder = tmp_path / "answers.csv", tmp_path / "out"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    chosen = ["--measure", "jaccard", "--measure", "indel"]
    assert command.main(["recommend", str(path), *chosen, "--output", str(folder), "--judgements", "40"]) == 0
    out = capsys.readouterr().out
    assert "Agreement of the project by measure" in out
    assert "sheet.csv" in out
    assert (folder / "differences.csv").is_file()
    sheet = folder / "sheet.csv"
    assert len(sheet.read_text().splitlines()) == 41
    comparison = comparing.compare(table, [NamedMeasure.of("jaccard"), NamedMeasure.of("indel")])
    sheet.write_text(_filled(population, comparison, 40), encoding="utf-8")
    assert command.main(["recommend", str(path), *chosen, "--judged", str(sheet)]) == 0
    assert "40 judgements support" in capsys.readouterr().out
    assert command.main(["recommend", str(path), "--measure", "indel"]) == 2
    assert "two measures or more" in capsys.readouterr().err


def test_nothing_to_compare() -> None:
    table = AnnotationTable.from_answers(Answer(str(i), r, ("same",)) for i in range(3) for r in "ab")
    with pytest.raises(InputError, match="No item has different texts"):
        comparing.compare(table, [NamedMeasure.of("indel"), NamedMeasure.of("lcs")])
