"""Pairs of texts of a design, its parts, and the frames that samples are drawn from."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable, Answer
from softirr.audit import ONLY, Judgments, apply, draw_sheet
from softirr.errors import InputError
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.sampling_frames import Frames, is_of_item, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs, count_once
from softirr.statistics.matching.answer_scorer import AnswerScorer
from tests.statistics.evidence.concepts import answers
from tests.statistics.evidence.drawn_ratings import cells_of, equal, ratings_of, text_pairs


class TestTextPairs:
    def test_equal_and_known_texts_match_and_are_left_out(self):
        """Answers {0, 1}, {1, 2, 3} and the empty one; 0 and 2 are known to mean the same, 0 and 3 not."""
        sizes, texts = np.array([2, 3, 0]), np.array([0, 1, 1, 2, 3])

        def truth(left_texts, right_texts):
            pairs = [frozenset(pair) for pair in zip(left_texts.tolist(), right_texts.tolist(), strict=True)]
            return np.array([{frozenset((0, 2)): 1.0, frozenset((0, 3)): 0.0}.get(pair, np.nan) for pair in pairs])

        first, second = np.array([0, 0, 2, 0]), np.array([1, 2, 2, 0])
        scored_pairs = []

        def score(left_texts, right_texts):
            scored_pairs.extend(zip(left_texts.tolist(), right_texts.tolist(), strict=True))
            return left_texts + right_texts / 10

        without_truth = TextPairs.of(first, second, sizes, texts, score)
        assert scored_pairs == [(0, 2), (0, 3)]
        assert without_truth.known_equivalence.tolist() == pytest.approx([0.4, 0.0, 1.0, 1.0])
        assert without_truth.owner.tolist() == [0, 0] and without_truth.share.tolist() == pytest.approx([0.4, 0.4])
        assert without_truth.p.tolist() == pytest.approx([0.2, 0.3])
        with_truth = TextPairs.of(first, second, sizes, texts, score, truth)
        assert with_truth.known_equivalence.tolist() == pytest.approx([0.8, 0.0, 1.0, 1.0])
        assert len(with_truth.owner) == len(with_truth.share) == len(with_truth.p) == 0

    def test_a_part_has_the_pairs_of_its_answers(self):
        sizes, texts = np.array([2, 2, 1]), np.array([0, 1, 2, 3, 4])
        all_pairs = TextPairs.of(np.array([0, 0, 1]), np.array([1, 2, 2]), sizes, texts, lambda a, b: a + b / 10)
        selected, members = all_pairs.part(np.array([2, 0]))
        assert members.tolist() == [0, 1, 2, 3, 6, 7] and selected.owner.tolist() == [1, 1, 1, 1, 0, 0]
        assert selected.p.tolist() == pytest.approx([0.2, 0.3, 1.2, 1.3, 2.4, 3.4])
        assert selected.equivalence(np.full(6, 0.5)).tolist() == pytest.approx([2 / 3, 1.0])

    def test_of_texts_that_match_several_the_surest_counts(self):
        left_texts, right_texts = np.array([0, 0, 1, 2]), np.array([5, 6, 5, 7])
        owner = np.zeros(4, dtype=np.int64)
        assert count_once(owner, left_texts, right_texts, np.array([0.5, 1.0, 0.7, 0.2])).tolist() == [
            0.0,
            1.0,
            0.7,
            0.2,
        ]
        assert count_once(owner, left_texts, right_texts, np.array([1.0, 0.5, 0.5, 0.0])).tolist() == [
            1.0,
            0.0,
            0.0,
            0.0,
        ]
        assert count_once(np.arange(4), left_texts, right_texts, np.full(4, 0.5)).tolist() == [0.5] * 4


class TestParts:
    @pytest.mark.parametrize("with_rater", [False, True])
    @pytest.mark.parametrize("pool", [500, 5_000])
    def test_a_part_has_the_pairs_of_its_raters_and_items(self, with_rater, pool):
        ratings = ratings_of(30, 4, seed=5)
        design = Design.of(ratings, text_pairs(), equal, pool=pool)
        assert design.pairs.complete == (pool == 5_000)
        rows = np.flatnonzero(ratings.item % 3 > 0)
        selected = design.part(rows, 1, with_rater=with_rater)
        rater_pairs = {pair for pair in combinations(range(4), 2) if (1 in pair) == with_rater}
        expected_pairs = [
            (a, b)
            for a, b in zip(ratings.comparisons.left_rows, ratings.comparisons.right_rows, strict=True)
            if ratings.item[a] % 3 and tuple(sorted(ratings.rater[[a, b]].tolist())) in rater_pairs
        ]
        comparisons = selected.ratings.comparisons
        row_pairs = list(zip(rows[comparisons.left_rows], rows[comparisons.right_rows], strict=True))
        assert sorted(row_pairs) == sorted(expected_pairs)
        answers = [tuple(ratings.answer[[a, b]]) for a, b in row_pairs]
        sides = (comparisons.left_rows, comparisons.right_rows)
        assert list(zip(*(selected.ratings.answer[rows_of_side] for rows_of_side in sides), strict=True)) == answers
        cells = {pair: items for pair, items in cells_of(ratings.restricted(rows)).items() if pair in rater_pairs}
        inside = {}
        for items in cells.values():
            for i, (a, _) in items.items():
                for j, (_, b) in items.items():
                    if i != j:
                        inside[frozenset((int(rows[a]), int(rows[b])))] = len(items)
        pairs = [frozenset(pair) for pair in np.stack([design.pairs.first, design.pairs.second], axis=1).tolist()]
        members = [index for index, pair in enumerate(pairs) if pair in inside]
        first, second = selected.pairs.first, selected.pairs.second
        assert [frozenset(p) for p in zip(rows[first].tolist(), rows[second].tolist(), strict=True)] == [
            pairs[index] for index in members
        ]
        weight = np.array([1 / inside[pairs[index]] ** 2 / design.pairs.density[index] for index in members])
        total = np.mean([1 - 1 / len(items) for items in cells.values()])
        assert selected.pairs.cohen_weights == pytest.approx(weight / weight.sum() * total)
        assert selected.pooled_weight is selected.pairs.cohen_weights
        assert selected.pairs.density.tolist() == design.pairs.density[members].tolist()
        assert (
            selected.different.stratum.tolist()
            == design.different.stratum[np.isin(design.different.texts.owner, members)].tolist()
        )


class TestFrames:
    def table(self, n=40):
        rng = np.random.default_rng(0)
        return AnnotationTable.from_answers(
            Answer(f"{item:02d}", rater, (f"c{rng.integers(6)} {'xyzuvw'[rng.integers(6)]}",))
            for item in range(n)
            for rater in ("ann", "bob")
        )

    def test_id_shows_whether_its_pair_is_of_one_item(self):
        table = self.table()
        frames = Frames(AnswerScorer(table, PairScorer(softirr.measure("indel"), table.texts)), 0)
        assert frames.prefix == "0-d238d7c0", "sheets of earlier releases"
        for frame, member in list(frames.design.draws())[:60]:
            assert is_of_item(frames.unit(frame, member).id) is (frame == 0)

    def test_order_of_text_pairs_has_no_ties(self):
        table = AnnotationTable.from_answers(answers(sets=True))
        rank = Frames(AnswerScorer(table, PairScorer(softirr.measure("indel"), table.texts)), 0).design.same.rank
        assert len(np.unique(rank)) == len(rank)

    def test_units_are_distinct_and_their_sides_are_random(self):
        table = self.table()
        frames = Frames(AnswerScorer(table, PairScorer(softirr.measure("indel"), table.texts)), 0)
        units = list(frames.units())
        pairs = {frozenset((unit.text_a, unit.text_b)) for unit in units}
        assert len(pairs) == len(units) == len({unit.id for unit in units})
        assert 0.4 < np.mean([unit.text_a < unit.text_b for unit in units]) < 0.6
        assert seed_of([Judgments("me", {(unit.id, ONLY): "" for unit in units})], 5) == 0 and seed_of([], 5) == 5
        assert seed_of([Judgments("me", {("-3-abcdef01-0123456789ab", ONLY): ""})]) == -3
        for malformed_id in ("3-abcdef01", "x-abcdef01-0123456789ab"):
            with pytest.raises(InputError, match="not a unit"):
                seed_of([Judgments("me", {(malformed_id, ONLY): ""})])

    def test_judgments_that_cannot_tell_change_nothing(self):
        table = self.table()
        sheet = draw_sheet(table, "indel", judgments=5)
        unsure = Judgments("me", {(unit.id, ONLY): "can't tell" for unit in sheet.units})
        report, without_judgments = apply(table, "indel", [unsure]), softirr.agreement(table, "indel")
        for name in ("krippendorff_alpha", "observed_agreement"):
            assert report.coefficients[name].value == pytest.approx(
                without_judgments.coefficients[name].value, abs=1e-12
            )
            assert not report.coefficients[name].judgments
        assert any("5 pairs were judged as can't tell" in warning for warning in report.warnings)
