"""The audit end to end: sheets, judgments, audited coefficients.

tests/statistics/evidence tests its statistics.
"""

from __future__ import annotations

import csv
import io
import json
import random

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable, Answer
from softirr.answers.ratings import Ratings
from softirr.answers.sheets import CANT_TELL, DIFFERENT, HEADER, SAME
from softirr.audit import Judgments, apply, draw_sheet
from softirr.errors import InputError
from softirr.report.key_figures import judgments_for
from tests.audit.judged_sheets import COEFFICIENTS, filled, gold, single
from tests.statistics.evidence.concepts import answers, judged, truth


class TestSheet:
    def test_columns_and_order(self):
        sheet = draw_sheet(single(), "indel", judgments=30)
        rows = list(csv.reader(io.StringIO(sheet.to_csv())))
        assert tuple(rows[0]) == HEADER == ("unit", "pair", "text_a", "text_b", "judgment")
        assert len(sheet.units) == 30 == len(rows) - 1
        assert all(row[4] == "" for row in rows[1:])
        assert len({unit.id for unit in sheet.units}) == 30

    def test_sheet_shows_only_the_texts(self):
        table = single()
        sheet = draw_sheet(table, "indel", judgments=60)
        for unit in sheet.units:
            # an id has the seed, the source of the sample (the same for all), and a hash
            seed, origin, mark = unit.id.split("-")
            assert seed == "0" and len(mark) == 12
            assert origin == sheet.units[0].id.split("-")[1]
        text = sheet.to_csv()
        assert not any(name in text for name in ("ann", "bob", "item", "indel"))
        # neither the order nor the ids separate same-item pairs from others
        pairs = {frozenset((a.texts[0], b.texts[0])) for a, b in zip(*[iter(answers())] * 2, strict=True)}
        same = np.array([frozenset((u.text_a, u.text_b)) in pairs for u in sheet.units])
        assert 10 < same.sum() < 60
        half = same[:30].sum() / 30 - same[30:].sum() / 30
        assert abs(half) < 0.35

    def test_identical_texts_are_never_asked(self):
        for table in (single(), single(sets=True)):
            assert all(unit.text_a != unit.text_b for unit in draw_sheet(table, "indel", judgments=200).units)

    def test_larger_sample_includes_the_smaller(self):
        table = single()
        small_sheet, large_sheet = (draw_sheet(table, "indel", judgments=n) for n in (20, 45))
        ids = {unit.id: unit for unit in large_sheet.units}
        assert all(ids[unit.id] == unit for unit in small_sheet.units)
        remaining_sheet = draw_sheet(table, "indel", judgments=45, without={unit.id for unit in small_sheet.units})
        assert len(remaining_sheet.units) == 25
        assert {u.id for u in remaining_sheet.units} | {u.id for u in small_sheet.units} == set(ids)

    def test_a_seed_is_a_sheet(self):
        table = single()
        assert draw_sheet(table, "indel", seed=3) == draw_sheet(table, "indel", seed=3)
        first_pairs, second_pairs = (
            {(u.text_a, u.text_b) for u in draw_sheet(table, "indel", seed=seed).units} for seed in (3, 4)
        )
        assert first_pairs != second_pairs

    def test_the_order_of_the_file_does_not_matter(self):
        rows = answers(sets=True)
        sheet = draw_sheet(AnnotationTable.from_answers(rows), "indel", judgments=30)
        random.Random(1).shuffle(rows)
        assert draw_sheet(AnnotationTable.from_answers(rows), "indel", judgments=30) == sheet

    def test_of_sets_texts_are_drawn_that_could_match(self):
        table = AnnotationTable.from_answers(
            [
                Answer("1", "a", ("x", "y", "z")),
                Answer("1", "b", ("z", "v")),
                Answer("2", "a", ("p",)),
                Answer("2", "b", ("q", "r")),
            ]
        )
        pairs = [{u.text_a, u.text_b} for u in draw_sheet(table, "indel", judgments=500).units]
        # z stands in both answers to item 1 and matches itself
        for candidate in ("xv", "yv", "pq", "pr"):
            assert pairs.count(set(candidate)) == 1
        for excluded_pair in ("zv", "xz", "yz", "xy", "qr"):
            assert set(excluded_pair) not in pairs

    @pytest.mark.parametrize("number", [20, 60, 133])
    def test_so_many_judgements_are_so_many_rows(self, number):
        for table in (single(), single(sets=True)):
            assert len(draw_sheet(table, "indel", judgments=number).to_csv().splitlines()) == 1 + number

    def test_decided_pairs_are_not_sampled(self):
        table = AnnotationTable.from_answers(
            [
                Answer(str(i), r, t)
                for i, text_sets in enumerate([(("x",), ("x", "y")), ((), ("x",)), (("x",), ("x",))])
                for r, t in zip("ab", text_sets, strict=True)
            ]
        )
        with pytest.raises(InputError, match="nothing to judge"):
            draw_sheet(table, "indel")

    @pytest.mark.parametrize("number", [0, -3])
    def test_how_many(self, number):
        with pytest.raises(InputError, match="at least 1"):
            draw_sheet(single(), "indel", judgments=number)
        assert len(draw_sheet(single(), "indel", judgments=1).units) == 1

    def test_one_rater(self):
        with pytest.raises(InputError, match="no agreement to audit"):
            draw_sheet(single(raters=("ann",)), "indel")


class TestApply:
    @pytest.mark.parametrize("measure", ["indel", "exact", "jaccard"])
    @pytest.mark.parametrize("options", [{}, {"sets": True}, {"raters": ("a", "b", "c"), "missing": 0.2}])
    def test_everything_judged_is_the_truth(self, measure, options):
        table = single(n_items=25, concepts=6, **options)
        sheet = draw_sheet(table, measure, judgments=100_000)
        report = apply(table, measure, [judged(sheet)])
        expected_gold = gold(table)
        for name in COEFFICIENTS:
            if expected_gold[name] is None:
                assert report.coefficients[name].value is None
                assert (
                    report.coefficients[name].undefined
                    == softirr.agreement(table, "indel").coefficients[name].undefined
                )
            else:
                # pairs of different items are a large sample
                tolerance = 1e-6 if name == "observed_agreement" else 0.02
                assert report.coefficients[name].value == pytest.approx(expected_gold[name], abs=tolerance)

    @pytest.mark.slow
    @pytest.mark.parametrize("sets", [False, True])
    def test_the_report(self, sets):
        table = single(sets=sets)
        sheet = draw_sheet(table, "indel", judgments=60)
        report = apply(table, "indel", [judged(sheet)])
        plain_report = softirr.agreement(table, "indel")
        exported = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        assert set(exported) == {*plain_report.to_dict(), "audit"}
        audit = exported["audit"]
        assert 60 == audit["asked"] == audit["judgments"]
        expected_gold = gold(table)
        for name in COEFFICIENTS:
            coefficient = exported["coefficients"][name]
            assert audit["plain"][name] == plain_report.coefficients[name].value
            assert audit["off"][name] == pytest.approx(audit["plain"][name] - coefficient["value"])
            low, high = coefficient["ci95"]
            assert low < coefficient["value"] < high and low < expected_gold[name] < high
            assert 0 < coefficient["standard_error"] < 0.2
        for name in ("sigma", "ks"):
            assert exported["coefficients"][name]["value"] is None
            assert exported["coefficients"][name]["undefined"] == "judgments do not correct it"
        assert exported["expected_agreement"]["method"] == "audit"
        kappa = exported["coefficients"]["fleiss_kappa"]["value"]
        po, pe = exported["coefficients"]["observed_agreement"]["value"], exported["expected_agreement"]["fleiss"]
        assert kappa == pytest.approx((po - pe) / (1 - pe), abs=0.01)

    def test_as_csv(self, tmp_path):
        table = single()
        sheet = draw_sheet(table, "indel", judgments=40)
        (tmp_path / "sheet.csv").write_text(filled(sheet), encoding="utf-8")
        by_file = apply(table, "indel", [tmp_path / "sheet.csv"])
        assert by_file.coefficients == apply(table, "indel", [judged(sheet)]).coefficients

    def test_more_judgements_narrow_the_interval_as_predicted(self):
        table = single(n_items=400)
        report = apply(table, "indel", [judged(draw_sheet(table, "indel", judgments=60))])
        needed = judgments_for(0.15, report.coefficients["krippendorff_alpha"].to_dict())
        assert 60 < needed < 400
        later = apply(table, "indel", [judged(draw_sheet(table, "indel", judgments=needed))])
        low, high = later.coefficients["krippendorff_alpha"].ci95
        assert high - low == pytest.approx(0.15, abs=0.03)
        # 400 items are a sample themselves: no audit makes the interval as narrow as this
        assert report.audit.needed_for_width["0.05"] is None

    def test_sheets_add_up(self):
        table = single()
        small_sheet, large_sheet = (draw_sheet(table, "indel", judgments=n) for n in (30, 60))
        remaining_sheet = draw_sheet(table, "indel", judgments=60, without={unit.id for unit in small_sheet.units})
        from_one_sheet = apply(table, "indel", [judged(large_sheet)])
        from_two_sheets = apply(table, "indel", [judged(small_sheet), judged(remaining_sheet)])
        assert from_two_sheets.coefficients == from_one_sheet.coefficients
        assert (
            apply(table, "indel", [judged(large_sheet), Judgments("bea", {})]).coefficients
            == from_one_sheet.coefficients
        )
        assert from_two_sheets.audit.judges == 1 and from_two_sheets.audit.judges_agreement is None

    def test_a_measure_may_be_made(self):
        table = single()
        indel = softirr.measure("indel")
        sheet = draw_sheet(table, indel, judgments=30)
        assert apply(table, indel, [judged(sheet)]).coefficients == apply(table, "indel", [judged(sheet)]).coefficients

    def test_part_of_a_sheet(self):
        table = single(n_items=200)
        sheet = draw_sheet(table, "indel", judgments=100)
        all_values = judged(sheet).values
        half = {key: value if index < 50 else "" for index, (key, value) in enumerate(all_values.items())}
        without = {key: value for key, value in half.items() if value}
        empty, gone = (apply(table, "indel", [Judgments("me", v)]) for v in (half, without))
        assert (empty.audit.judgments, empty.audit.asked, gone.audit.asked) == (50, 100, 50)
        for name in COEFFICIENTS:
            # an unjudged pair is missing at random, with or without its row
            assert empty.coefficients[name].value == pytest.approx(gone.coefficients[name].value, abs=0.05)
        assert (
            empty.coefficients["cohen_kappa"].ci95[0]
            < gold(table)["cohen_kappa"]
            < empty.coefficients["cohen_kappa"].ci95[1]
        )

    def test_cant_tell_is_not_judged_and_more_general_is_different(self):
        table = single()
        sheet = draw_sheet(table, "indel", judgments=60)
        unchanged_report = apply(table, "indel", [judged(sheet)])
        general = {SAME: SAME, DIFFERENT: "first is more general"}
        assert (
            apply(table, "indel", [judged(sheet, say=lambda a, b: general[truth(a, b)])]).coefficients
            == unchanged_report.coefficients
        )
        values = dict(judged(sheet).values)
        for key in list(values)[::3]:
            values[key] = CANT_TELL
        report = apply(table, "indel", [Judgments("me", values)])
        assert report.audit.judgments == 40 and report.audit.asked == 60

    def test_empty_answers(self):
        table = single(n_items=150, sets=True, empty=0.15)
        report = apply(table, "indel", [judged(draw_sheet(table, "indel", judgments=60))])
        low, high = report.coefficients["krippendorff_alpha"].ci95
        assert low < gold(table)["krippendorff_alpha"] < high


def test_ratings_are_compared_once():
    """Each unit is one pair of answers, however often it is drawn."""
    table = single(n_items=60, concepts=3)
    sheet = draw_sheet(table, "indel", judgments=500)
    pairs = [frozenset((u.text_a, u.text_b)) for u in sheet.units]
    assert len(pairs) == len(set(pairs)) <= 12 * 11 // 2
    assert len(Ratings.of(table).comparisons.left_rows) == 60
