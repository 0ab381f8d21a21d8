"""A sheet belongs to its pairs, not to what drew it: it counts under another policy, measure or terminology."""

from __future__ import annotations

import pytest

from softirr.audit import apply, draw_sheet, read_sheet
from tests.audit.judged_sheets import filled, gold, single
from tests.statistics.evidence.concepts import answers


@pytest.fixture
def sheet(tmp_path):
    table = single(n_items=120, seed=4)
    path = tmp_path / "sheet.csv"
    drawn_sheet = draw_sheet(table, "indel", judgments=60)
    path.write_text(filled(drawn_sheet), encoding="utf-8")
    return table, read_sheet(path), drawn_sheet


@pytest.fixture
def terminology(tmp_path):
    path = tmp_path / "terms.csv"
    rows = [f"c{c},c{c} a,c{c} b" for c in range(12)]
    path.write_text("\n".join(["id,name,synonym", *rows]) + "\n", encoding="utf-8")
    return f"terminology:{path}"


@pytest.mark.parametrize("under", ["measure", "policy", "terminology"])
def test_all_judgments_count(sheet, terminology, under):
    table, judgments, original_sheet = sheet
    measure = {"measure": "jaccard", "policy": "indel", "terminology": terminology}[under]
    options = {"policy": "any-severity"} if under == "policy" else {}
    report = apply(table, measure, [judgments], **options)
    known_texts = {f"c{c} {wording}" for c in range(12) for wording in "ab"} if under == "terminology" else set()
    fixed = sum({unit.text_a, unit.text_b} <= known_texts for unit in original_sheet.units)
    assert (report.audit.judgments, report.audit.asked) == (60 - fixed, 60)
    truth = gold(table)["krippendorff_alpha"]
    alpha, krippendorff_alpha = report.coefficients["krippendorff_alpha"], report.audit.plain["krippendorff_alpha"]
    assert alpha.ci95[0] <= truth <= alpha.ci95[1]
    assert abs(alpha.value - truth) < 0.08 and alpha.value != krippendorff_alpha


def test_the_command_line_takes_it_under_another_policy(sheet, tmp_path, cli):
    table, judgments, _ = sheet
    path = tmp_path / "answers.csv"
    rows = (f"{a.item},{a.rater},{a.texts[0]}" for a in answers(n_items=120, seed=4))
    path.write_text("\n".join(["item,rater,text", *rows]), encoding="utf-8")
    command = ["audit", "apply", path, tmp_path / "sheet.csv", "--measure", "jaccard", "--policy", "any-severity"]
    printed = cli(*command, "--json")
    alpha = apply(table, "jaccard", [judgments], policy="any-severity").coefficients["krippendorff_alpha"]
    assert printed["coefficients"]["krippendorff_alpha"]["value"] == pytest.approx(alpha.value, abs=1e-12)
    assert printed["coefficients"]["krippendorff_alpha"]["judgments"] == 60
