"""Small changes of a table or a policy have small effects on audited coefficients."""

from __future__ import annotations

import random

import pytest

import softirr
from softirr.audit.workflow import Judgments, draw_sheet
from softirr.meaning.measures.decisions import with_decisions
from tests.statistics.evidence.concepts import answers, judged

OPTIONS = softirr.AgreementOptions(reasons=False)
LARGEST = 0.04
"""How far an edit may move the audited alpha away from the change by the measure."""

TABLES = [
    (raters, sets, judgments, measure)
    for raters, sets, judgments, measure in (
        (2, False, 30, "indel"),
        (2, True, 60, "levenshtein"),
        (3, True, 30, "indel"),
        (3, False, 100, "jaccard"),
        (4, True, 10, "exact"),
        (6, False, 30, "levenshtein"),
        (6, True, 100, "indel"),
        (3, True, 0, "indel"),
    )
]


def edited(rows, rng):
    """The rows after one rater copies another rater's answer to an item on which they differ."""
    while True:
        place = rng.randrange(len(rows))
        other_rows = [row for row in rows if row.item == rows[place].item and row.texts != rows[place].texts]
        if other_rows:
            copy = softirr.Answer(rows[place].item, rows[place].rater, rng.choice(other_rows).texts)
            return [*rows[:place], copy, *rows[place + 1 :]]


def alpha(rows, measure, sheet):
    table = softirr.AnnotationTable.from_answers(rows)
    judgments = [sheet] if sheet else []
    report = softirr.agreement(table, measure, judgments=judgments, options=OPTIONS)
    coefficient = report.coefficients["krippendorff_alpha"]
    return coefficient.value, coefficient.details.by_measure


def audited(rows, judgments):
    """The table, and a sheet that was judged rightly."""
    table = softirr.AnnotationTable.from_answers(rows)
    sheet = draw_sheet(table, "indel", judgments=judgments)
    texts = {(unit.id, 1): (unit.text_a, unit.text_b) for unit in sheet.units}
    return table, Judgments("me", judged(sheet).values, texts)


@pytest.mark.parametrize("judgments", [0, 30])
def test_policy_that_changes_no_pair_changes_nothing(judgments):
    table, sheet = audited(answers(40, seed=1, raters=("a", "b", "c")), max(judgments, 1))
    sheets = [sheet] if judgments else []
    before, after = (
        softirr.agreement(table, "indel", judgments=sheets, policy=policy, options=OPTIONS).to_dict()["coefficients"]
        for policy in ("as-written", "any-severity")
    )
    assert after == before


def test_order_of_rows_and_judgments_changes_nothing():
    rows = answers(30, seed=2, raters=("a", "b", "c"), sets=True)
    table, sheet = audited(rows, 30)
    shuffled = softirr.AnnotationTable.from_answers(rows[::-1])
    backwards = Judgments("me", dict(reversed(sheet.values.items())), sheet.texts)
    first, second = (
        softirr.agreement(answered, "indel", judgments=[judgments], options=OPTIONS).coefficients
        for answered, judgments in ((table, sheet), (shuffled, backwards))
    )
    for name, coefficient in first.items():
        if coefficient.value is not None:
            assert second[name].value == pytest.approx(coefficient.value, abs=1e-9)
            assert second[name].ci95 == pytest.approx(coefficient.ci95, abs=1e-9)


def test_decision_changes_its_pair_only():
    rows = answers(40, seed=3, concepts=60)
    table = softirr.AnnotationTable.from_answers(rows)
    pairs = [tuple(sorted((a.texts[0], b.texts[0]))) for a, b in zip(*[iter(rows)] * 2, strict=True)]
    pair = next(pair for pair in pairs if pair[0] != pair[1])
    measure = softirr.measure("indel")
    before, after = (
        softirr.agreement(table, scorer, options=OPTIONS).coefficients["observed_agreement"].value
        for scorer in (measure, with_decisions(measure, {pair: True}))
    )
    share = pairs.count(pair) / len(pairs)
    assert after - before == pytest.approx(share * (1 - float(measure.score([pair])[0])), abs=1e-9)


@pytest.mark.parametrize(("raters", "sets", "judgments", "measure"), TABLES)
def test_edit_moves_alpha_as_the_measure_does(raters, sets, judgments, measure):
    rows = answers(60, seed=raters, raters=[f"r{i}" for i in range(raters)], sets=sets, keep=0.75)
    sheet = None
    if judgments:
        drawn_sheet = draw_sheet(softirr.AnnotationTable.from_answers(rows), measure, judgments=judgments)
        texts = {(unit.id, 1): (unit.text_a, unit.text_b) for unit in drawn_sheet.units}
        sheet = softirr.audit.Judgments("me", judged(drawn_sheet).values, texts)
    value, by_measure = alpha(rows, measure, sheet)
    rng = random.Random(judgments)
    for _ in range(4):
        value_after, by_measure_after = alpha(edited(rows, rng), measure, sheet)
        assert abs((value_after - value) - (by_measure_after - by_measure)) < LARGEST
