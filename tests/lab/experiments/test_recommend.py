"""Comparing measures without codes: the audit's sheet serves the comparison, a calibration and the audit."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.cli import experiment as command
from softirr.cli.main import main
from softirr.errors import InputError
from softirr.lab.experiments import compare as comparing
from softirr.lab.experiments import recommend as task
from softirr.lab.experiments.generate import Generator, Population
from softirr.lab.experiments.synthetic import NamedMeasure
from softirr.measures.calibration import JudgedPairs, read_pairs
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


def judged_csv(sheet: str, same: Callable[[str, str], bool]) -> str:
    """A sheet with its last column filled."""
    out = io.StringIO()
    rows = list(csv.DictReader(io.StringIO(sheet)))
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "judgement": "same" if same(row["text_a"], row["text_b"]) else "Different"})
    return out.getvalue()


def by_codes(population: Population) -> Callable[[str, str], bool]:
    meant: dict[str, set[str]] = {}
    for concepts, texts in zip(population.concepts, population.texts, strict=True):
        for rater in (0, 1):
            for concept, text in zip(concepts[rater], texts[rater], strict=True):
                meant.setdefault(text, set()).add(concept)
    return lambda a, b: bool(meant[a] & meant[b])


def test_judgements_by_the_codes_support_the_better_measure(
    population: Population, measures: list[NamedMeasure]
) -> None:
    table = population.table()
    drawn = softirr.audit.sample(table, measures[2].measure, judgements=60)
    judged = read_pairs(io.StringIO(judged_csv(drawn.to_csv(), by_codes(population))))
    assert len(judged.pairs) == 60
    verdict = task.compare_with_judgements(table, measures, judged)
    assert verdict.best in ("jaccard", "indel")
    assert "exact" not in verdict.ties
    assert verdict.best in verdict.sentence
    rows = {row[0].value: row for row in verdict.table.rows}
    assert rows["exact"][1].value == pytest.approx(0.5), "different texts all have P = 0: no order at all"
    assert rows["exact"][5].value == "needs an AUC of 0.7"
    area, plain, calibrated = (rows["indel"][i].value for i in (1, 4, 5))
    assert area > 0.8
    assert plain == softirr.agreement(table, "indel").coefficients["cohen_kappa"].value
    truth = population.target
    assert abs(calibrated - truth) < abs(plain - truth)


def test_kappa_is_that_of_the_calibrated_measure(population: Population, measures: list[NamedMeasure]) -> None:
    table = population.table()
    drawn = softirr.audit.sample(table, "indel", judgements=60)
    judged = read_pairs(io.StringIO(judged_csv(drawn.to_csv(), by_codes(population))))
    of_one_item = {frozenset(pair) for pair in comparing.text_pairs(table)[0]}
    kept = [n for n, pair in enumerate(judged.pairs) if frozenset(pair) in of_one_item]
    assert 30 <= len(kept) < 60, "the sheet has pairs of different items too"
    fewer = JudgedPairs(tuple(judged.pairs[n] for n in kept), tuple(judged.judged[n] for n in kept))
    calibration = softirr.calibrate(fewer, "indel").calibration
    wanted = softirr.agreement(table, softirr.corrected(softirr.measure("indel"), calibration))
    rows = {row[0].value: row for row in task.compare_with_judgements(table, measures, judged).table.rows}
    assert rows["indel"][5].value == wanted.coefficients["cohen_kappa"].value


def test_conditions_of_the_calibrated_kappa() -> None:
    def judged(same: int, different: int, rater: str = "b") -> JudgedPairs:
        pairs = tuple((f"{rater} {i}", f"a {i}") for i in range(same + different))
        return JudgedPairs(pairs, (1.0,) * same + (0.0,) * different)

    few = "needs 30 judged pairs of one item, 5 of each kind"
    answers = [Answer(str(i), r, (f"{r} {i}",)) for i in range(40) for r in "ab"]
    single = AnnotationTable.from_answers(answers)
    assert task.why_not_calibrated(single, judged(6, 6), 0.9) == few
    assert task.why_not_calibrated(single, judged(28, 2), 0.9) == few
    assert task.why_not_calibrated(single, judged(15, 15), 0.6) == "needs an AUC of 0.7"
    assert task.why_not_calibrated(single, judged(15, 15), None) == "needs an AUC of 0.7"
    assert task.why_not_calibrated(single, judged(15, 15), 0.8) is None
    assert task.why_not_calibrated(single, judged(15, 15, "c"), 0.8) == "needs a sheet of these answers"
    elsewhere = JudgedPairs(tuple((f"b {i}", f"a {i + 1}") for i in range(30)), judged(15, 15).judged)
    assert task.why_not_calibrated(single, elsewhere, 0.8) == few, "pairs of different items do not count"
    sets = AnnotationTable.from_answers([*answers, Answer("0", "c", ("x", "y"))])
    assert task.why_not_calibrated(sets, judged(15, 15), 0.8) == "needs answers of one text"


def test_area_under_the_curve_is_scikit_learns() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(4)
    p, same = rng.integers(0, 5, 60) / 4, rng.integers(0, 2, 60).astype(float)
    assert task.area_under_curve(p, same) == pytest.approx(roc_auc_score(same, p))
    assert task.area_under_curve(p, np.ones(60)) is None


def test_one_sheet_serves_recommend_calibrate_and_audit(
    population: Population, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["item,rater,text"]
    for item, (a, b) in enumerate(population.texts):
        rows += [f'{item},ann,"{a[0]}"', f'{item},ben,"{b[0]}"']
    path, folder = tmp_path / "answers.csv", tmp_path / "out"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    chosen = ["--measure", "indel", "--measure", "jaccard"]
    assert command.main(["recommend", str(path), *chosen, "--output", str(folder), "--judgements", "40"]) == 0
    out = capsys.readouterr().out
    assert "Agreement of the project by measure" in out
    sheet = folder / "sheet.csv"
    assert f"softirr audit apply {path} {sheet} --measure indel" in out
    assert (folder / "differences.csv").is_file()
    assert main(["audit", "sample", str(path), "--measure", "indel", "--judgements", "40"]) == 0
    assert sheet.read_text(encoding="utf-8") == capsys.readouterr().out, "the sheet of the audit"
    sheet.write_text(judged_csv(sheet.read_text(encoding="utf-8"), by_codes(population)), encoding="utf-8")
    assert command.main(["recommend", str(path), *chosen, "--judged", str(sheet)]) == 0
    assert "40 judgements support" in capsys.readouterr().out
    assert main(["audit", "apply", str(path), str(sheet), "--measure", "indel"]) == 0
    assert "40 of 40 pairs of texts are judged." in capsys.readouterr().out
    assert main(["calibrate", str(sheet), "--measure", "jaccard"]) == 0
    assert "40 judged pairs" in capsys.readouterr().out
    sheet.write_text("text_a,text_b,judgement\na,b,\n", encoding="utf-8")
    assert command.main(["recommend", str(path), *chosen, "--judged", str(sheet)]) == 2
    assert "The sheet holds no judgement." in capsys.readouterr().err
    assert command.main(["recommend", str(path), "--measure", "indel"]) == 2
    assert "two measures or more" in capsys.readouterr().err


def test_nothing_to_compare() -> None:
    table = AnnotationTable.from_answers(Answer(str(i), r, ("same",)) for i in range(3) for r in "ab")
    with pytest.raises(InputError, match="No item has different texts"):
        comparing.compare(table, [NamedMeasure.of("indel"), NamedMeasure.of("lcs")])
