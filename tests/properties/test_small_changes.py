"""Small changes of a table or a policy have small effects on audited coefficients."""

from __future__ import annotations

import random

import pytest

import softirr
from softirr.audit.workflow import draw_sheet
from tests.statistics.evidence.concepts import answers, judged

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
        others = [row for row in rows if row.item == rows[place].item and row.texts != rows[place].texts]
        if others:
            copy = softirr.Answer(rows[place].item, rows[place].rater, rng.choice(others).texts)
            return [*rows[:place], copy, *rows[place + 1 :]]


def alpha(rows, measure, sheet):
    table = softirr.AnnotationTable.from_answers(rows)
    options = softirr.AgreementOptions(reasons=False)
    judgments = [sheet] if sheet else []
    report = softirr.agreement(table, measure, judgments=judgments, options=options)
    coefficient = report.coefficients["krippendorff_alpha"]
    return coefficient.value, coefficient.details.by_measure


@pytest.mark.parametrize(("raters", "sets", "judgments", "measure"), TABLES)
def test_edit_moves_alpha_as_the_measure_does(raters, sets, judgments, measure):
    rows = answers(60, seed=raters, raters=[f"r{i}" for i in range(raters)], sets=sets, keep=0.75)
    sheet = None
    if judgments:
        drawn = draw_sheet(softirr.AnnotationTable.from_answers(rows), measure, judgments=judgments)
        texts = {(unit.id, 1): (unit.text_a, unit.text_b) for unit in drawn.units}
        sheet = softirr.audit.Judgments("me", judged(drawn).values, texts)
    value, by_measure = alpha(rows, measure, sheet)
    rng = random.Random(judgments)
    for _ in range(4):
        value_after, by_measure_after = alpha(edited(rows, rng), measure, sheet)
        assert abs((value_after - value) - (by_measure_after - by_measure)) < LARGEST
