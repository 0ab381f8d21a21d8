"""The pairs from which judged ones are drawn: their weights, the strata, and the order of drawing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable, Answer
from softirr.answers.ratings import Ratings
from softirr.audit.workflow import ONLY, Judgments, apply, draw_sheet
from softirr.errors import InputError
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.evidence.design import Design, Frame, chance_stratum
from softirr.statistics.evidence.sampling_frames import Frames, is_of_item, seed_of
from softirr.statistics.evidence.text_pairs import TextPairs, count_once
from tests.statistics.evidence.concepts import answers

CONCEPTS = 7


def ratings_of(n_items, raters=3, *, seed=0, weights=False):
    """Ratings of single texts, some missing; text k names concept k % 7."""
    rng = np.random.default_rng(seed)
    cells = [(i, r) for i in range(n_items) for r in range(raters) if raters == 2 or rng.random() < 0.8]
    item, rater = np.array(cells).T
    answer = rng.integers(0, 5 * CONCEPTS, len(cells))
    item_weights = rng.choice([1.0, 2.0, 4.0], n_items) if weights else None
    return Ratings(item, rater, answer, n_items, raters, 5 * CONCEPTS, weights=item_weights)


def uneven_ratings(n_items, *, weights=False):
    """The third rater answers few items, which weigh most."""
    rng = np.random.default_rng(5)
    cells = [(i, r) for i in range(n_items) for r in range(3) if (i % 4 == 0 if r == 2 else rng.random() < 0.9)]
    item, rater = np.array(cells).T
    answer = np.where(rater == 2, rng.integers(0, 2, len(cells)), rng.integers(0, 5 * CONCEPTS, len(cells)))
    item_weights = np.where(np.arange(n_items) % 4 == 0, 5.0, rng.choice([1.0, 2.0], n_items)) if weights else None
    return Ratings(item, rater, answer, n_items, 3, 5 * CONCEPTS, weights=item_weights)


def equal(left_texts, right_texts):
    return (left_texts % CONCEPTS == right_texts % CONCEPTS).astype(float)


def text_pairs(score=equal):
    n = 5 * CONCEPTS
    return lambda k, j: TextPairs.of(k, j, np.ones(n, dtype=np.int64), np.arange(n), score)


def cells_of(ratings):
    """Rows of the items that each pair of raters shares, by item."""
    row = {(i, r): k for k, (i, r) in enumerate(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True))}
    result = {}
    for r, s in combinations(range(ratings.n_raters), 2):
        items = [i for i in range(ratings.n_items) if (i, r) in row and (i, s) in row]
        if len(items) > 1:
            result[r, s] = {i: (row[i, r], row[i, s]) for i in items}
    return result


def chance_by_loops(ratings):
    """Agreement of different items: the mean over pairs of raters, and of all answers; and the weights of both."""
    w, answer = ratings.weight, ratings.answer
    cohen, cohen_mass = [], []
    for items in cells_of(ratings).values():
        mass = sum(w[i] for i in items) ** 2
        weighted_pairs = [
            (w[i] * w[j] / mass, equal(answer[a], answer[b]))
            for i, (a, _) in items.items()
            for j, (_, b) in items.items()
            if i != j
        ]
        cohen.append(sum(share * same for share, same in weighted_pairs))
        cohen_mass.append(sum(share for share, _ in weighted_pairs))
    rows = [k for k in range(len(ratings.item)) if ratings.per_item[ratings.item[k]] > 1]
    mass = sum(w[ratings.item[k]] for k in rows) ** 2
    weighted_pairs = [
        (w[ratings.item[a]] * w[ratings.item[b]] / mass, equal(answer[a], answer[b]))
        for a in rows
        for b in rows
        if ratings.item[a] != ratings.item[b]
    ]
    pooled = sum(share * same for share, same in weighted_pairs), sum(share for share, _ in weighted_pairs)
    return (np.mean(cohen), np.mean(cohen_mass)), pooled


class TestPool:
    @pytest.mark.parametrize("weights", [False, True])
    @pytest.mark.parametrize("raters", [2, 3])
    def test_few_pairs_are_taken_all_and_give_chance_exactly(self, raters, weights):
        ratings = ratings_of(20, raters, weights=weights)
        design = Design.of(ratings, text_pairs(), equal, pool=2_000)
        assert design.complete
        same = design.different.texts.equivalence(design.different.texts.p)
        for weight, (agreement, mass) in zip(
            (design.cohen_weight, design.pooled_weight), chance_by_loops(ratings), strict=True
        ):
            assert (weight @ same, weight.sum()) == pytest.approx((agreement, mass), abs=1e-12)

    @pytest.mark.parametrize("weights", [False, True])
    @pytest.mark.parametrize("raters", [2, 3])
    def test_a_sample_gives_it_without_bias(self, raters, weights):
        ratings = ratings_of(60, raters, seed=1, weights=weights)
        expected = chance_by_loops(ratings)
        errors = []
        for seed in range(12):
            design = Design.of(ratings, text_pairs(), equal, pool=1_000, seed=seed)
            assert not design.complete and len(design.density) == 1_000
            same = design.different.texts.equivalence(design.different.texts.p)
            row = []
            for weight, (agreement, mass) in zip((design.cohen_weight, design.pooled_weight), expected, strict=True):
                assert weight.sum() == pytest.approx(mass, abs=1e-12)
                row.append(weight @ same - agreement)
            errors.append(row)
        spread = np.std(errors, axis=0)
        assert (np.abs(np.mean(errors, axis=0)) < 3.5 * spread / np.sqrt(12)).all()
        assert (spread < 0.03).all()

    def test_the_density_is_the_probability_in_one_draw(self):
        """Half of the pairs are drawn within a pair of raters, half among all answers."""
        ratings = ratings_of(60, 3, seed=2)
        design = Design.of(ratings, text_pairs(), equal, pool=901)
        first, second = design.rows
        assert (ratings.item[first] != ratings.item[second]).all()
        cells = cells_of(ratings)
        ordered = {
            (items[i][0], items[j][1]): len(items) for items in cells.values() for i in items for j in items if i != j
        }
        assert all(pair in ordered for pair in zip(first[:450].tolist(), second[:450].tolist(), strict=True))
        rows = np.flatnonzero(ratings.per_item[ratings.item] > 1)
        n_ordered = len(rows) * (len(rows) - 1) - int(
            np.sum(ratings.per_item[ratings.per_item > 1] * (ratings.per_item[ratings.per_item > 1] - 1))
        )
        for a, b, density in zip(first.tolist(), second.tolist(), design.density, strict=True):
            shared = ordered.get((a, b)) or ordered.get((b, a))
            within_raters = 1 / (len(cells) * shared * (shared - 1)) if shared else 0.0
            assert density == pytest.approx(450 / 901 * within_raters + 451 / 901 * 2 / n_ordered)

    def test_as_many_pairs_are_drawn_as_wanted_where_most_are_of_one_item(self):
        ratings = Ratings(np.repeat([0, 1], 5), np.tile(np.arange(5), 2), np.arange(10), 2, 5, 35)
        sizes = [
            len(Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=1, seed=seed).density) for seed in range(30)
        ]
        assert set(sizes) == {9}

    def test_raters_who_share_one_item_only_have_pairs_among_all_answers(self):
        ratings = Ratings(np.arange(20) // 2, np.arange(20), np.arange(20), 10, 20, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=30, all_up_to=1)
        assert design.density.tolist() == [1 / 180] * 30 and not design.cohen_weight.any()
        assert design.pooled_weight.sum() == pytest.approx(1 - 1 / 10)

    def test_few_pairs_are_all_taken(self):
        ratings = Ratings(np.repeat([0, 1], 5), np.tile(np.arange(5), 2), np.arange(10), 2, 5, 35)
        assert Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=25).complete
        assert not Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=24).complete

    def test_weights_are_shares_where_each_of_two_rater_pairs_has_two_items(self):
        ratings = Ratings(np.arange(8) // 2, np.array([0, 1, 0, 1, 0, 2, 0, 2]), np.arange(8), 4, 3, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=100)
        assert design.complete and design.cohen_weight.sum() == pytest.approx(1 / 2)

    @pytest.mark.parametrize("weights", [False, True])
    def test_sampled_pair_weighs_its_share_of_chance_agreement(self, weights):
        """Each rater pair counts once, however many items it shares and however heavy they are."""
        ratings = uneven_ratings(60, weights=weights)
        design = Design.of(ratings, text_pairs(), equal, pool=900)
        first, second = design.rows
        ordered, w = {}, ratings.weight
        for items in cells_of(ratings).values():
            mass = sum(w[i] for i in items) ** 2
            ordered |= {
                frozenset((items[i][0], items[j][1])): w[i] * w[j] / mass for i in items for j in items if i != j
            }
        share = [ordered.get(frozenset(pair), 0.0) for pair in zip(first.tolist(), second.tolist(), strict=True)]
        count = w[ratings.item[first]] * w[ratings.item[second]]
        for weight, added in ((design.cohen_weight, np.array(share)), (design.pooled_weight, count)):
            assert weight / weight.sum() == pytest.approx(
                added / design.density / np.sum(added / design.density), rel=1e-9
            )

    def test_one_item_has_no_pairs_of_different_items(self):
        ratings = Ratings(np.zeros(3, dtype=np.int64), np.arange(3), np.array([1, 2, 9]), 1, 3, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=100)
        assert len(design.density) == 0 and not design.complete
        assert sorted(design.draws()) == [(0, 0), (0, 1), (0, 2)]


class TestStrata:
    def frames(self, seed=3):
        rng = np.random.default_rng(seed)
        p = rng.random((5 * CONCEPTS, 5 * CONCEPTS)) ** 2
        p = (p + p.T) / 2

        def score(a, b):
            return p[a, b]

        return ratings_of(40, 3, seed=seed), Design.of(
            ratings_of(40, 3, seed=seed), text_pairs(score), score, pool=3_000, seed=seed
        )

    def test_pairs_of_an_item_are_in_quarters_and_uncertain_ones_are_drawn_more_often(self):
        ratings, design = self.frames()
        frame = design.same
        sizes = np.bincount(frame.stratum)
        assert len(sizes) == 4 and sizes.max() - sizes.min() <= 1
        tops = [frame.texts.p[frame.stratum == h].max() for h in range(3)]
        assert all(top < frame.texts.p[frame.stratum == h + 1].min() for h, top in enumerate(tops))
        mean = [frame.texts.p[frame.stratum == h].mean() for h in range(4)]
        rate = np.array([n * (np.sqrt(m * (1 - m)) + 0.4) for n, m in zip(sizes, mean, strict=True)])
        total = float(frame.texts.weights(ratings.pair_weights).sum())
        assert frame.rate == pytest.approx(rate / rate.sum() * total / 2)

    def test_pairs_of_different_items_are_drawn_by_their_share_of_the_variance(self):
        _, design = self.frames()
        frame = design.different
        stratum_weights = [design.pooled_weight[frame.texts.owner[frame.stratum == h]].sum() for h in range(3)]
        spread = np.array([0.02, 0.07, 0.25])
        assert frame.rate == pytest.approx(np.array(stratum_weights) / design.pooled_weight.sum() * spread / 2)
        assert chance_stratum(np.array([0.0, 0.4999, 0.5, 0.8999, 0.9, 1.0])).tolist() == [0, 0, 1, 1, 2, 2]

    def test_the_order_of_drawing(self):
        """Always the stratum furthest below its share; a tenth for pairs of different items after twenty draws."""
        _, design = self.frames()
        frames = (design.same, design.different)
        queues = [(f, h) for f in (0, 1) for h in range(len(frames[f].rate))]
        first = {queue: float(frames[queue[0]].rate[queue[1]]) for queue in queues}
        total, chance = sum(first.values()), sum(rate for queue, rate in first.items() if queue[0] == 1)
        assert chance < 0.1 * total
        spread = (0.02, 0.07, 0.25)
        later = {
            q: rate + ((0.1 * total - chance) * spread[q[1]] / sum(spread) if q[0] else 0.0)
            for q, rate in first.items()
        }
        members = {
            (f, h): sorted(
                np.flatnonzero(frames[f].stratum == h).tolist(), key=lambda position: frames[f].rank[position]
            )
            for f, h in queues
        }
        n_drawn = dict.fromkeys(queues, 0)
        for number, (frame, member) in enumerate(design.draws()):
            rates = first if number < 20 else later
            best = max(
                (q for q in queues if n_drawn[q] < len(members[q])), key=lambda q: rates[q] / (2 * n_drawn[q] + 1)
            )
            assert (frame, member) == (best[0], members[best][n_drawn[best]])
            n_drawn[best] += 1
        assert n_drawn == {queue: len(positions) for queue, positions in members.items()}

    def test_an_empty_frame_has_no_strata(self):
        texts = text_pairs()(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
        frame = Frame.same_items(np.zeros(1), np.zeros(1), texts, np.zeros(0), 0.0)
        assert frame.rate.shape == frame.stratum.shape == (0,) and frame.queues == []


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
        assert (
            without_truth.known.tolist() == pytest.approx([0.4, 0.0, 1.0, 1.0])
            and without_truth.settled.tolist() == [0] * 4
        )
        assert without_truth.owner.tolist() == [0, 0] and without_truth.share.tolist() == pytest.approx([0.4, 0.4])
        assert without_truth.p.tolist() == pytest.approx([0.2, 0.3])
        with_truth = TextPairs.of(first, second, sizes, texts, score, truth)
        assert with_truth.known.tolist() == pytest.approx([0.8, 0.0, 1.0, 1.0]) and with_truth.settled.tolist() == [
            2,
            0,
            0,
            0,
        ]
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
        assert design.complete == (pool == 5_000)
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
        assert list(zip(selected.same.first, selected.same.second, strict=True)) == answers
        cells = {pair: items for pair, items in cells_of(ratings.restricted(rows)).items() if pair in rater_pairs}
        inside = {}
        for items in cells.values():
            for i, (a, _) in items.items():
                for j, (_, b) in items.items():
                    if i != j:
                        inside[frozenset((int(rows[a]), int(rows[b])))] = len(items)
        pairs = [frozenset(pair) for pair in zip(*(rows_of_side.tolist() for rows_of_side in design.rows), strict=True)]
        members = [index for index, pair in enumerate(pairs) if pair in inside]
        first, second = selected.rows
        assert [frozenset(p) for p in zip(rows[first].tolist(), rows[second].tolist(), strict=True)] == [
            pairs[index] for index in members
        ]
        weight = np.array([1 / inside[pairs[index]] ** 2 / design.density[index] for index in members])
        total = np.mean([1 - 1 / len(items) for items in cells.values()])
        assert selected.cohen_weight == pytest.approx(weight / weight.sum() * total)
        assert (selected.pooled_weight == selected.cohen_weight).all()
        assert selected.density.tolist() == design.density[members].tolist()
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
        frames = Frames(table, PairScorer(softirr.measure("indel"), table.texts), 0, "optimal")
        assert frames.prefix == "0-d238d7c0", "sheets of earlier releases"
        for frame, member in list(frames.design.draws())[:60]:
            assert is_of_item(frames.unit(frame, member).id) is (frame == 0)

    def test_order_of_text_pairs_has_no_ties(self):
        table = AnnotationTable.from_answers(answers(sets=True))
        rank = Frames(table, PairScorer(softirr.measure("indel"), table.texts), 0, "optimal").design.same.rank
        assert len(np.unique(rank)) == len(rank)

    def test_units_are_distinct_and_their_sides_are_random(self):
        table = self.table()
        frames = Frames(table, PairScorer(softirr.measure("indel"), table.texts), 0, "optimal")
        units = list(frames.units())
        pairs = {frozenset((unit.text_a, unit.text_b)) for unit in units}
        assert len(pairs) == len(units) == len({unit.id for unit in units})
        assert 0.4 < np.mean([unit.text_a < unit.text_b for unit in units]) < 0.6
        assert seed_of({unit.id: "" for unit in units}) == 0 and seed_of({}) == 0
        assert seed_of({"-3-abcdef01-0123456789ab": "sheet"}) == -3
        for malformed_id in ("3-abcdef01", "x-abcdef01-0123456789ab"):
            with pytest.raises(InputError, match="not a unit"):
                seed_of({malformed_id: "sheet"})

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
