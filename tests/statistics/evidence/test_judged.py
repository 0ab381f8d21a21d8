"""Judged sheets as evidence: which judgments count for a table, their weights, and the report about the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable
from softirr.audit import ONLY, Judgments, draw_sheet
from softirr.errors import InputError
from softirr.meaning.measures.arrays import pair_keys
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.statistics.evidence.fit import Fit
from softirr.statistics.evidence.judged import collect, judges_agreement
from softirr.statistics.evidence.known import FormerPairs, Judged
from softirr.statistics.evidence.record import record_of
from softirr.statistics.evidence.sampling_frames import Frames, is_of_item
from softirr.statistics.matching.answer_scorer import AnswerScorer
from tests.statistics.evidence.concepts import answers as rows_of
from tests.statistics.evidence.concepts import truth

_MIXED_CASE = (("Fever", "High temperature"), ("حُمّى", "Cough"), ("Rash", "rash"), ("Pain", "Ache"))


def frames_of(answers, measure="indel", seed=0):
    table = AnnotationTable.from_answers(answers)
    return Frames(AnswerScorer(table, PairScorer(softirr.measure(measure), table.texts)), seed)


def sheet_of(units, say, judge="me"):
    values = {(unit.id, ONLY): say(unit.text_a, unit.text_b) for unit in units}
    texts = {(unit.id, ONLY): (unit.text_a, unit.text_b) for unit in units}
    return Judgments(judge, values, texts)


def by_texts(collected, frames):
    """(same, P) of each judged pair of texts."""
    judged, texts = collected.judged, frames.table.texts
    return {
        frozenset((texts[low], texts[high])): same_and_p
        for (low, high), same_and_p in zip(
            (divmod(key, len(texts)) for key in judged.keys.tolist()),
            zip(judged.same.tolist(), judged.p.tolist(), strict=True),
            strict=True,
        )
    }


@pytest.fixture(scope="module")
def drawn_sheet():
    answers = rows_of(60, concepts=12)
    table = AnnotationTable.from_answers(answers)
    return answers, frames_of(answers), draw_sheet(table, "indel", judgments=40).units


def test_judgments_match_the_pairs_of_the_table(drawn_sheet):
    _, frames, units = drawn_sheet
    collected = collect(frames, [sheet_of(units, truth)])
    assert (collected.n_pairs, collected.unused, collected.unsure, collected.judges) == (40, 0, 0, 1)
    assert collected.agreement is None
    measure = softirr.measure("indel")
    assert by_texts(collected, frames) == {
        frozenset((u.text_a, u.text_b)): (
            float(truth(u.text_a, u.text_b) == "same"),
            pytest.approx(float(measure.score([(u.text_a, u.text_b)])[0])),
        )
        for u in units
    }


def test_judgments_count_under_another_measure(drawn_sheet):
    answers, _, units = drawn_sheet
    frames = frames_of(answers, "jaccard")
    collected = collect(frames, [sheet_of(units, truth)])
    assert collected.n_pairs == len(collected.judged.keys) == 40
    assert not len(collected.judged.former.p)


def test_judgments_count_where_the_table_folds_case_or_vowel_signs():
    rows = [
        (str(n), rater, text) for n, texts in enumerate(_MIXED_CASE) for rater, text in zip("ab", texts, strict=True)
    ]
    table = AnnotationTable.from_answers(rows)
    sheet = sheet_of(draw_sheet(table, "indel", judgments=12).units, lambda a, b: "same")
    folded = AnnotationTable.from_answers(rows, casefold=True, ignore_harakat=True)
    collected = collect(Frames(AnswerScorer(folded, PairScorer(softirr.measure("indel"), folded.texts)), 0), [sheet])
    identical = frozenset(("Rash", "rash"))
    assert identical in map(frozenset, sheet.texts.values())
    assert (collected.n_pairs, collected.unused, len(collected.judged.former.p)) == (12, 1, 0)
    assert len(collected.judged.keys) == len({frozenset(map(str.lower, pair)) for pair in sheet.texts.values()}) - 1


def test_judgments_of_known_pairs_change_nothing(drawn_sheet):
    answers, _, _ = drawn_sheet
    table = AnnotationTable.from_answers(answers)
    units = draw_sheet(table, "indel", judgments=150).units
    decided = {tuple(sorted((unit.text_a, unit.text_b))): False for unit in units[::3]}
    measure = softirr.measure("indel").with_stage(Decisions(decided))
    sheets = [sheet_of(units, truth), sheet_of([unit for unit in units if unit not in units[::3]], truth)]
    of_all, of_open = (softirr.agreement(table, measure, judgments=[sheet]) for sheet in sheets)
    assert {is_of_item(unit.id) for unit in units[::3]} == {True, False}
    assert of_all.audit.judgments == of_open.audit.judgments == 100
    assert of_all.coefficients == of_open.coefficients


def test_judgments_of_pairs_that_are_gone_are_counted(drawn_sheet):
    answers, _, units = drawn_sheet
    remaining_answers = [answer for answer in answers if answer.item >= "item 020"]
    frames = frames_of(remaining_answers)
    collected = collect(frames, [sheet_of(units, truth)])
    texts = {text for answer in remaining_answers for text in answer.texts}
    by_item = {}
    for answer in remaining_answers:
        by_item.setdefault(answer.item, []).append(answer.texts[0])
    pairs = {frozenset(pair_of_item) for pair_of_item in by_item.values()}
    used_units = [
        unit
        for unit in units
        if {unit.text_a, unit.text_b} <= texts
        and (not is_of_item(unit.id) or frozenset((unit.text_a, unit.text_b)) in pairs)
    ]
    assert 0 < len(used_units) < len(units)
    assert (collected.n_pairs, collected.unused) == (40, 40 - len(used_units))
    assert set(by_texts(collected, frames)) == {frozenset((unit.text_a, unit.text_b)) for unit in used_units}
    former, unused_units = collected.judged.former, [unit for unit in units if unit not in used_units]
    measure = softirr.measure("indel")
    for of_item in (True, False):
        pairs = [(unit.text_a, unit.text_b) for unit in unused_units if is_of_item(unit.id) is of_item]
        p, same = former.part(of_item=of_item)
        assert p.tolist() == pytest.approx([float(measure.score([pair])[0]) for pair in pairs])
        assert same.tolist() == [float(truth(*pair) == "same") for pair in pairs]
    gone = frames_of([answer for answer in rows_of(20, seed=9, concepts=99) if answer.texts[0] not in texts])
    with pytest.raises(InputError, match="None of the"):
        collect(gone, [sheet_of([u for u in units if is_of_item(u.id)], truth)])


def test_several_judges_count_by_their_mean_and_who_cannot_tell_does_not(drawn_sheet):
    _, frames, units = drawn_sheet
    first, second, third, fourth = units[:4]
    first_marks = {first: "same", second: "can't tell", third: "can't tell", fourth: ""}
    second_marks = {first: "different", second: "same", third: "can't tell", fourth: ""}
    sheets = [
        Judgments(judge, {(unit.id, ONLY): mark for unit, mark in marks.items()})
        for judge, marks in (("me", first_marks), ("you", second_marks))
    ]
    collected = collect(frames, sheets)
    assert (collected.n_pairs, collected.unused, collected.unsure, collected.judges) == (4, 0, 1, 2)
    assert {pair: same for pair, (same, _) in by_texts(collected, frames).items()} == {
        frozenset((first.text_a, first.text_b)): 0.5,
        frozenset((second.text_a, second.text_b)): 1.0,
    }
    assert collected.agreement is not None and collected.agreement["pairs"] == 1
    assert collected.agreement["observed_agreement"] == 0.0


@pytest.mark.parametrize(("more_general", "same"), [("lenient", 1.0), ("strict", 0.0), ("graded", 0.0)])
def test_policy_decides_whether_a_more_general_text_counts(drawn_sheet, more_general, same):
    answers, _, units = drawn_sheet
    table = AnnotationTable.from_answers(answers)
    measure = softirr.measure("indel", policy=softirr.Policy(more_general=more_general, ignore={"severity"}))
    frames = Frames(AnswerScorer(table, PairScorer(measure, table.texts)), 0)
    collected = collect(frames, [sheet_of(units[:1], lambda a, b: "first is more general")])
    assert [same for same, _ in by_texts(collected, frames).values()] == [same]


def test_sheets_that_were_changed_are_refused(drawn_sheet):
    _, frames, units = drawn_sheet
    unit = units[0]
    key = (unit.id, ONLY)
    for sheets, message in (
        ([Judgments("me", {key: "same"}, {key: (unit.text_a, "another text")})], "do not edit"),
        ([Judgments("me", {(unit.id, 2): "same"})], "me, unit .*, pair 2: unit .* has no pair 2"),
        ([Judgments("me", {key: "same"}), Judgments("me", {key: "different"})], "twice, differently"),
        ([Judgments("me", {("0-abcdef01-0123456789ab", ONLY): "same"})], "was not drawn from these answers"),
    ):
        with pytest.raises(InputError, match=message):
            collect(frames, sheets)
    assert len(collect(frames, [Judgments("me", {key: "same"}), Judgments("me", {key: "same"})]).judged.keys) == 1


def test_agreement_of_judges_by_hand():
    """Of three judges, two judge each of four pairs, one a fifth: observed 2 of 4; alpha by its definition."""
    marks = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0, "y": 0.0}, "c": {"x": 0.0, "y": 0.0}, "d": {"x": 1.0}}
    result = judges_agreement({**marks, "e": {"y": 0.0, "z": 1.0}})
    assert result is not None and result["pairs"] == 4
    assert result["observed_agreement"] == pytest.approx(2 / 4)
    # of eight judgments four are 1: two drawn without replacement differ with probability 2 * 4 * 4 / (8 * 7)
    assert result["krippendorff_alpha"] == pytest.approx(1 - (2 / 4) / (32 / 56))
    assert judges_agreement({"a": {"x": 1.0}, "b": {"y": 1.0}}) is None and judges_agreement({}) is None


def test_pairs_that_are_gone_inform_the_calibration_only(drawn_sheet):
    """Dropping the judgments of pairs that are gone changes the calibration; the other pairs keep their judgments."""
    answers, _, units = drawn_sheet
    remaining_answers = [answer for answer in answers if answer.item >= "item 020"]
    frames, record = frames_of(remaining_answers), record_of(Provenance("indel"))
    collected = collect(frames, [sheet_of(units, truth)]).judged
    without = replace(collected, former=FormerPairs())
    with_former, without_former = (Fit(frames.design, record, judged) for judged in (collected, without))
    assert len(collected.former.p) > 0
    assert not np.allclose(with_former.curve.weight, without_former.curve.weight)
    settled = ~with_former.open_same
    assert with_former.same[settled].tolist() == without_former.same[settled].tolist()


def test_places_of_judged_pairs_in_either_order():
    judged = Judged(np.array([3, 7, 11]), np.ones(3), np.ones(3), 5)  # (0, 3), (1, 2), (2, 1): 5 texts
    left_texts, right_texts = np.array([3, 0, 2, 4, 0]), np.array([0, 3, 1, 4, 1])
    assert pair_keys(left_texts, right_texts, judged.n_texts).tolist() == [3, 3, 7, 24, 1]
    assert judged.place(left_texts, right_texts).tolist() == [0, 0, 1, -1, -1]
    assert Judged.nothing(5).place(left_texts, right_texts).tolist() == [-1] * 5
