"""The pairs from which judged ones are drawn: their weights, the strata, and the order of drawing."""

from __future__ import annotations

import numpy as np
import pytest

from softirr.answers.ratings import Ratings
from softirr.statistics.evidence.design import Design, Frame, chance_stratum
from tests.statistics.evidence.drawn_ratings import CONCEPTS, cells_of, equal, ratings_of, text_pairs


def uneven_ratings(n_items, *, weights=False):
    """The third rater answers few items, which weigh most."""
    rng = np.random.default_rng(5)
    cells = [(i, r) for i in range(n_items) for r in range(3) if (i % 4 == 0 if r == 2 else rng.random() < 0.9)]
    item, rater = np.array(cells).T
    answer = np.where(rater == 2, rng.integers(0, 2, len(cells)), rng.integers(0, 5 * CONCEPTS, len(cells)))
    item_weights = np.where(np.arange(n_items) % 4 == 0, 5.0, rng.choice([1.0, 2.0], n_items)) if weights else None
    return Ratings(item, rater, answer, n_items, 3, 5 * CONCEPTS, weights=item_weights)


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
        assert design.pairs.complete
        same = design.different.texts.equivalence(design.different.texts.p)
        for weight, (agreement, mass) in zip(
            (design.pairs.cohen_weights, design.pooled_weight), chance_by_loops(ratings), strict=True
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
            assert not design.pairs.complete and len(design.pairs.density) == 1_000
            same = design.different.texts.equivalence(design.different.texts.p)
            row = []
            for weight, (agreement, mass) in zip(
                (design.pairs.cohen_weights, design.pooled_weight), expected, strict=True
            ):
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
        first, second = design.pairs.first, design.pairs.second
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
        for a, b, density in zip(first.tolist(), second.tolist(), design.pairs.density, strict=True):
            shared = ordered.get((a, b)) or ordered.get((b, a))
            within_raters = 1 / (len(cells) * shared * (shared - 1)) if shared else 0.0
            assert density == pytest.approx(450 / 901 * within_raters + 451 / 901 * 2 / n_ordered)

    def test_as_many_pairs_are_drawn_as_wanted_where_most_are_of_one_item(self):
        ratings = Ratings(np.repeat([0, 1], 5), np.tile(np.arange(5), 2), np.arange(10), 2, 5, 35)
        sizes = [
            len(Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=1, seed=seed).pairs.density)
            for seed in range(30)
        ]
        assert set(sizes) == {9}

    def test_raters_who_share_one_item_only_have_pairs_among_all_answers(self):
        ratings = Ratings(np.arange(20) // 2, np.arange(20), np.arange(20), 10, 20, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=30, all_up_to=1)
        assert design.pairs.density.tolist() == [1 / 180] * 30 and not design.pairs.cohen_weights.any()
        assert design.pooled_weight.sum() == pytest.approx(1 - 1 / 10)

    def test_few_pairs_are_all_taken(self):
        ratings = Ratings(np.repeat([0, 1], 5), np.tile(np.arange(5), 2), np.arange(10), 2, 5, 35)
        assert Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=25).pairs.complete
        assert not Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=24).pairs.complete

    def test_weights_are_shares_where_each_of_two_rater_pairs_has_two_items(self):
        ratings = Ratings(np.arange(8) // 2, np.array([0, 1, 0, 1, 0, 2, 0, 2]), np.arange(8), 4, 3, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=9, all_up_to=100)
        assert design.pairs.complete and design.pairs.cohen_weights.sum() == pytest.approx(1 / 2)

    @pytest.mark.parametrize("weights", [False, True])
    def test_sampled_pair_weighs_its_share_of_chance_agreement(self, weights):
        """Each rater pair counts once, however many items it shares and however heavy they are."""
        ratings = uneven_ratings(60, weights=weights)
        design = Design.of(ratings, text_pairs(), equal, pool=900)
        first, second = design.pairs.first, design.pairs.second
        ordered, w = {}, ratings.weight
        for items in cells_of(ratings).values():
            mass = sum(w[i] for i in items) ** 2
            ordered |= {
                frozenset((items[i][0], items[j][1])): w[i] * w[j] / mass for i in items for j in items if i != j
            }
        share = [ordered.get(frozenset(pair), 0.0) for pair in zip(first.tolist(), second.tolist(), strict=True)]
        count = w[ratings.item[first]] * w[ratings.item[second]]
        for weight, added in ((design.pairs.cohen_weights, np.array(share)), (design.pooled_weight, count)):
            assert weight / weight.sum() == pytest.approx(
                added / design.pairs.density / np.sum(added / design.pairs.density), rel=1e-9
            )

    def test_one_item_has_no_pairs_of_different_items(self):
        ratings = Ratings(np.zeros(3, dtype=np.int64), np.arange(3), np.array([1, 2, 9]), 1, 3, 35)
        design = Design.of(ratings, text_pairs(), equal, pool=100)
        assert len(design.pairs.density) == 0 and not design.pairs.complete
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
        frame = Frame.same_items(texts, np.zeros(0), 0.0)
        assert frame.rate.shape == frame.stratum.shape == (0,) and frame.queues == []
