"""Small changes of a table or a policy have small effects on audited coefficients."""

from __future__ import annotations

import random

import pytest

import softirr
from softirr.audit import Judgments, draw_sheet
from softirr.meaning.measures.known_pairs import Decisions
from tests.statistics.evidence.concepts import answers, judged

OPTIONS = softirr.AgreementOptions(reasons=False)
LARGEST = 0.04
"""How far an edit may move the audited alpha away from the change by the measure."""

TABLES = [
    # raters, sets, judgments, measure, edits
    (2, False, 30, "indel", 25),
    (2, True, 60, "levenshtein", 25),
    (3, True, 30, "indel", 25),
    (3, False, 100, "jaccard", 25),
    (4, True, 10, "exact", 25),
    (6, False, 30, "levenshtein", 25),
    (6, True, 100, "indel", 25),
    (3, True, 0, "indel", 25),
]
"""200 edits."""


def edited(rows, rng):
    """The rows after one rater copies another rater's answer to an item on which they differ."""
    while True:
        index = rng.randrange(len(rows))
        other_rows = [row for row in rows if row.item == rows[index].item and row.texts != rows[index].texts]
        if other_rows:
            copy = softirr.Answer(rows[index].item, rows[index].rater, rng.choice(other_rows).texts)
            return [*rows[:index], copy, *rows[index + 1 :]]


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
    as_written, any_severity = (
        softirr.agreement(table, "indel", judgments=sheets, policy=policy, options=OPTIONS).to_dict()["coefficients"]
        for policy in ("as-written", "any-severity")
    )
    assert any_severity == as_written


def assert_same(first, second, of_interval=1e-9):
    for name, coefficient in first.items():
        if coefficient.value is not None:
            assert second[name].value == pytest.approx(coefficient.value, abs=1e-12)
            assert second[name].ci95 == pytest.approx(coefficient.ci95, abs=of_interval)


def test_order_of_rows_and_judgments_changes_nothing():
    rows = answers(30, seed=2, raters=("a", "b", "c"), sets=True)
    table, sheet = audited(rows, 30)
    shuffled = softirr.AnnotationTable.from_answers(rows[::-1])
    backwards = Judgments("me", dict(reversed(sheet.values.items())), sheet.texts)
    first, second = (
        softirr.agreement(answered, "indel", judgments=[judgments], options=OPTIONS).coefficients
        for answered, judgments in ((table, sheet), (shuffled, backwards))
    )
    assert_same(first, second)


@pytest.mark.parametrize("judgments", [0, 30])
def test_items_without_anything_to_compare_change_nothing(judgments):
    rows = answers(20, seed=4, raters=("a", "b", "c"), sets=True)
    table, sheet = audited(rows, max(judgments, 1))
    single_answers = [softirr.Answer(f"alone {number}", "a", (f"finding {number}",)) for number in range(12)]
    more = softirr.AnnotationTable.from_answers([*single_answers[:6], *rows, *single_answers[6:]])
    sheets = [sheet] if judgments else []
    first, second = (
        softirr.agreement(answered, "indel", judgments=sheets, options=OPTIONS).coefficients
        for answered in (table, more)
    )
    assert_same(first, second)


def test_decision_changes_its_pair_only():
    rows = answers(40, seed=3, concepts=60)
    table = softirr.AnnotationTable.from_answers(rows)
    pairs = [tuple(sorted((a.texts[0], b.texts[0]))) for a, b in zip(*[iter(rows)] * 2, strict=True)]
    pair = next(pair for pair in pairs if pair[0] != pair[1])
    measure = softirr.measure("indel")
    undecided, decided = (
        softirr.agreement(table, scorer, options=OPTIONS).coefficients["observed_agreement"].value
        for scorer in (measure, measure.with_stage(Decisions({pair: True})))
    )
    share = pairs.count(pair) / len(pairs)
    assert decided - undecided == pytest.approx(share * (1 - float(measure.score([pair])[0])), abs=1e-9)


def check_edits(raters, sets, judgments, measure, edits):
    """Edits of a table move its audited alpha by about the change by the measure."""
    rows = answers(60, seed=raters, raters=[f"r{i}" for i in range(raters)], sets=sets, keep=0.75)
    sheet = None
    if judgments:
        drawn_sheet = draw_sheet(softirr.AnnotationTable.from_answers(rows), measure, judgments=judgments)
        texts = {(unit.id, 1): (unit.text_a, unit.text_b) for unit in drawn_sheet.units}
        sheet = softirr.audit.Judgments("me", judged(drawn_sheet).values, texts)
    value, by_measure = alpha(rows, measure, sheet)
    rng = random.Random(judgments)
    for _ in range(edits):
        value_after, by_measure_after = alpha(edited(rows, rng), measure, sheet)
        assert abs((value_after - value) - (by_measure_after - by_measure)) < LARGEST


@pytest.mark.parametrize("of_table", TABLES, ids=lambda of: "-".join(map(str, of)))
def test_edit_moves_alpha_as_the_measure_does(of_table):
    *options, _ = of_table
    check_edits(*options, edits=2)


@pytest.mark.slow
@pytest.mark.parametrize("of_table", TABLES, ids=lambda of: "-".join(map(str, of)))
def test_200_edits_move_alpha_as_the_measure_does(of_table):
    check_edits(*of_table)


def test_order_of_raters_changes_nothing():
    """Renaming a rater changes the order of raters, but no value, and no interval beyond its random draws."""
    rows = answers(40, seed=5, raters=("a", "b", "c"))
    renamed = [softirr.Answer(row.item, {"a": "z"}.get(row.rater, row.rater), row.texts) for row in rows]
    first, second = (
        softirr.agreement(softirr.AnnotationTable.from_answers(answers_in_order), "indel", options=OPTIONS).coefficients
        for answers_in_order in (rows, renamed)
    )
    assert_same(first, second, of_interval=0.05)


@pytest.mark.parametrize("judgments", [0, 30])
def test_difference_of_reports_is_that_of_their_values(judgments):
    rows = answers(40, seed=6, raters=("a", "b", "c"))
    table, sheet = audited(rows, max(judgments, 1))
    changed_table = softirr.AnnotationTable.from_answers(edited(edited(rows, random.Random(1)), random.Random(2)))
    sheets = [sheet] if judgments else []
    for name in ("observed_agreement", "krippendorff_alpha"):
        comparison = softirr.compare([table, changed_table], "indel", OPTIONS, coefficient=name, judgments=sheets)
        (change,) = comparison.differences
        first_value, second_value = (group.coefficient for group in comparison.groups)
        assert change.difference.value == second_value.value - first_value.value
        assert change.difference.ci95[0] <= change.difference.value <= change.difference.ci95[1]


@pytest.mark.parametrize("judgments", [0, 30])
def test_difference_of_a_rater_equals_that_of_the_two_values(judgments):
    table, sheet = audited(answers(40, seed=7, raters=("a", "b", "c", "d")), max(judgments, 1))
    report = softirr.agreement(table, "indel", judgments=[sheet] if judgments else [], options=OPTIONS)
    for rater in report.raters:
        assert rater.difference.value == pytest.approx(rater.agreement.value - rater.others.value, abs=1e-12)
        assert rater.difference.ci95[0] <= rater.difference.value <= rater.difference.ci95[1]


def test_alpha_without_a_rater_uses_the_judgments():
    """Without raters, an audited table of three gives the audited values of its pairs, not those of the measure."""
    table, sheet = audited(answers(40, seed=8, raters=("a", "b", "c")), 1_000)
    report = softirr.agreement(table, "indel", judgments=[sheet], options=OPTIONS)
    report_of_two = softirr.agreement(table.part(raters=["a", "b"]), "indel", judgments=[sheet], options=OPTIONS)
    without = dict(report.alpha_without)
    assert without["c"] == pytest.approx(report_of_two.coefficients["krippendorff_alpha"].value, abs=0.03)


def test_intervals_of_random_subsets_are_not_narrower_on_average():
    rows = answers(60, seed=9, raters=("a", "b", "c"))
    names = ("observed_agreement", "cohen_kappa", "krippendorff_alpha")
    table = softirr.AnnotationTable.from_answers(rows)

    def widths(subtable):
        coefficients = softirr.agreement(subtable, "indel", options=OPTIONS).coefficients
        return [coefficients[name].ci95[1] - coefficients[name].ci95[0] for name in names]

    rng = random.Random(3)
    of_subsets = [widths(table.part(items=rng.sample(table.items, 20))) for _ in range(5)]
    for name, subset, width in zip(names, zip(*of_subsets, strict=True), widths(table), strict=True):
        assert sum(subset) / len(subset) > width, name
