"""The pairs of texts from which judged ones are drawn: two frames, their strata, and the order of drawing.

*Same*: every pair of answers to one item. *Different*: a large random sample of pairs of answers to different items,
half of it drawn for Cohen's chance agreement (two raters' answers to the items they share), half for the pooled one.
Judges judge pairs of texts, one of each answer. The texts of one answer differ in meaning, so each has at most one
equivalent in the other answer, and the true equivalence of two answers is a sum over pairs of texts. Texts that occur
in both answers match each other: no pair with one of them is judged. Where an answer contains two texts of one meaning
nevertheless, each text counts in one pair (:func:`softirr.statistics.evidence.text_pairs.count_once`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints, Pooling, Ratings, sums
from softirr.statistics.chance.different_pairs import DifferentPairs, RatingsOfPairs
from softirr.statistics.evidence.text_pairs import TextPairs

LEAST_CHANCE = 0.1
"""Minimum share of judgments for pairs of different items, after the first ones."""
SAME_CUTS = (0.25, 0.5, 0.75)
"""Quantiles of P that separate the strata of pairs of the same item: few strata, so that each has some judged pairs."""
CHANCE_CUTS = (0.5, 0.9)
"""Values of P that separate the strata of pairs of different items; nearly all same pairs are in the highest."""
_CHANCE_SPREAD = np.array([0.02, 0.07, 0.25])
"""Standard deviation of the share of equivalent pairs in each of them over benchmark populations: for allocation."""
_SAME_FIRST = 20
"""Pairs of the same item that are drawn before any pair of different items, unless many of the latter have a high P."""
_FLAT = 0.4
"""Added to the standard deviation implied by P when judgments are allocated, because P may be wrong."""


def chance_stratum(p: Floats) -> Ints:
    """Stratum of pairs of different items by their P, shape (n,): 0, 1 or 2, separated at ``CHANCE_CUTS``."""
    return np.searchsorted(CHANCE_CUTS, p, side="right").astype(np.int64)


@dataclass(frozen=True, eq=False)
class Frame:
    """Pairs of texts from which judged ones are drawn.

    Attributes
    ----------
    texts : TextPairs
        The pairs of texts of some pairs of answers.
    stratum : shape (E,)
        Stratum of each pair of texts, ascending with P.
    rank : shape (E,)
        Random order in which pairs of a stratum are drawn; does not depend on the measure.
    rate : shape (K,)
        Share of the judgments that each stratum gets.
    """

    texts: TextPairs
    stratum: Ints
    rank: Floats
    rate: Floats

    @classmethod
    def same_items(cls, texts: TextPairs, rank: Floats, total: float) -> Frame:
        """Pairs of the same item, in strata of equal size by P, drawn nearly in proportion to their size.

        Parameters
        ----------
        texts : TextPairs
            Pairs of texts that could match in these pairs of answers.
        rank : shape (E,)
        total : float
            Sum of the weights of the pairs of texts in observed agreement.
        """
        if not len(rank):
            return cls(texts, np.zeros(0, dtype=np.int64), rank, np.zeros(0))
        edges = np.unique(np.quantile(texts.p, SAME_CUTS))
        _, stratum = np.unique(np.searchsorted(edges, texts.p, side="left"), return_inverse=True)
        size = np.bincount(stratum)
        mean = np.bincount(stratum, weights=texts.p) / size
        rate = size * (np.sqrt(mean * (1 - mean)) + _FLAT)
        return cls(texts, stratum.astype(np.int64), rank, rate / rate.sum() * total / 2)

    @classmethod
    def different_items(cls, texts: TextPairs, rank: Floats, weights: Floats) -> Frame:
        """Pairs of different items, in strata by P.

        Each stratum is drawn in proportion to its contribution to the variance of agreement by chance.

        Parameters
        ----------
        texts : TextPairs
            Pairs of texts that could match in these pairs of answers.
        rank : shape (E,)
        weights : shape (M,)
            Weight of each pair of answers in agreement by chance.
        """
        stratum = chance_stratum(texts.p)
        stratum_share = sums(stratum, texts.weights(weights), len(_CHANCE_SPREAD)) / max(float(weights.sum()), 1e-300)
        return cls(texts, stratum, rank, stratum_share * _CHANCE_SPREAD / 2)

    def part(self, members: Ints) -> Frame:
        """Some pairs of answers, in a new order."""
        pairs, texts = self.texts.part(members)
        return Frame(pairs, self.stratum[texts], self.rank[texts], self.rate)

    @cached_property
    def queues(self) -> list[Ints]:
        """Members of each stratum in the order in which they are drawn."""
        strata = (np.flatnonzero(self.stratum == h) for h in range(len(self.rate)))
        return [members[np.argsort(self.rank[members], kind="stable")] for members in strata]


@dataclass(frozen=True, eq=False)
class Design:
    """Both frames of a project, and the order in which their pairs are drawn.

    Attributes
    ----------
    ratings : Ratings
        Ratings of the table, or of some pairs of raters on some items.
    same : Frame
        In the order of ``ratings.comparisons``.
    different : Frame
        A random sample of the pairs of answers to different items, or all of them.
    pairs : DifferentPairs
        The pairs of answers of ``different``, as rows of the ratings.
    pooled_weight : shape (M,)
        Weight of each of these pairs in ``π' S π``.
    by_measure : shape (M,)
        The measure's equivalence of each of these pairs of answers, from its own matching of their texts.
    """

    ratings: Ratings
    same: Frame
    different: Frame
    pairs: DifferentPairs
    pooled_weight: Floats
    by_measure: Floats

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        text_pairs: Callable[[Ints, Ints], TextPairs],
        equivalence: Callable[[Ints, Ints], Floats],
        *,
        pool: int,
        all_up_to: int = 0,
        seed: int = 0,
    ) -> Design:
        """Make the frames of a table.

        Parameters
        ----------
        ratings : Ratings
            Needs at least one item with two answers.
        text_pairs
            The pairs of texts that could match in answers k[i] and l[i].
        equivalence
            The measure's equivalence of answers k[i] and l[i].
        pool : int
            Number of pairs of answers in the different-item frame.
        all_up_to : int
            Number of pairs of answers to different items up to which all are taken; at least ``pool``.
        seed : int
            Seed of the random pairs of different items, and of the order in which pairs are drawn.
        """
        comparisons = ratings.comparisons
        draw_pool, draw_same, draw_different = np.random.default_rng(seed).spawn(3)
        pooling = Pooling.of(ratings)
        if DifferentPairs.count_ordered(ratings, pooling) <= 2 * max(pool, all_up_to):
            pairs = DifferentPairs.all(ratings, pooling)
        else:
            pairs = DifferentPairs.sample(ratings, pooling, pool, draw_pool)
        pooled = pairs.pooled_weights(pooling)
        first, second = ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows]
        texts = text_pairs(first, second)
        total = float(texts.weights(ratings.pair_weights).sum())
        same = Frame.same_items(texts, _ranks(texts, draw_same), total)
        first, second = ratings.answer[pairs.first], ratings.answer[pairs.second]
        texts = text_pairs(first, second)
        different = Frame.different_items(texts, _ranks(texts, draw_different), pooled)
        return cls(ratings, same, different, pairs, pooled, equivalence(first, second))

    def part(self, rows: Ints, rater: int, *, with_rater: bool) -> Design:
        """The frames of some pairs of raters on some items.

        Within a stratum the pairs are drawn at random, so those that belong to a part are a random sample of the
        stratum's part.

        Parameters
        ----------
        rows : shape (n,)
            Rows of the ratings that count, ascending.
        rater : int
            Index of a rater.
        with_rater : bool
            Pairs of this rater with others, or pairs of the others.
        """
        some = self.ratings.restricted(rows)
        sizes = some.n_items, some.n_raters, some.n_answers
        ratings = RatingsOfPairs(some.item, some.rater, some.answer, *sizes, rater, with_rater)
        part_row = np.full(len(self.ratings.item), -1, dtype=np.int64)
        part_row[rows] = np.arange(len(rows))
        comparisons = self.ratings.comparisons
        sides = np.stack([comparisons.left_rows, comparisons.right_rows])
        of_rater = (self.ratings.rater[sides] == rater).any(axis=0)
        same_at = np.flatnonzero((part_row[sides] >= 0).all(axis=0) & (of_rater == with_rater))
        first, second, density = part_row[self.pairs.first], part_row[self.pairs.second], self.pairs.density
        inside = np.flatnonzero((first >= 0) & (second >= 0))
        within = DifferentPairs(ratings, first[inside], second[inside], density[inside])
        different_at = inside[np.append(ratings.comparisons.shared >= 2, False)[within.rater_pair]]
        pairs = DifferentPairs(ratings, first[different_at], second[different_at], density[different_at])
        return replace(
            self,
            ratings=ratings,
            same=self.same.part(same_at),
            different=self.different.part(different_at),
            pairs=pairs,
            pooled_weight=pairs.cohen_weights,
            by_measure=self.by_measure[different_at],
        )

    def draws(self) -> Iterator[tuple[int, int]]:
        """(frame, member) in the order of drawing: 0 is ``same``, 1 ``different``. Every prefix is a valid sample.

        The first pairs are of the same item. Each further pair is of the stratum furthest below its share
        (Sainte-Laguë's method, in which a larger sample never takes a pair away from a stratum); pairs of different
        items get at least a tenth.
        """
        queues = [(0, queue) for queue in self.same.queues] + [(1, queue) for queue in self.different.queues]
        size = np.array([len(queue) for _, queue in queues], dtype=np.int64)
        planned = np.concatenate([self.same.rate, self.different.rate])
        later, of_chance = planned.copy(), slice(len(self.same.rate), None)
        lacking = LEAST_CHANCE * float(planned.sum()) - float(planned[of_chance].sum())
        if len(self.different.rate) and lacking > 0:
            later[of_chance] += lacking * _CHANCE_SPREAD / _CHANCE_SPREAD.sum()
        n_drawn = np.zeros(len(queues), dtype=np.int64)
        while (is_open := n_drawn < size).any():
            share = planned if int(n_drawn.sum()) < _SAME_FIRST else later
            h = int(np.argmax(np.where(is_open, share / (2 * n_drawn + 1), -1.0)))
            yield queues[h][0], int(queues[h][1][n_drawn[h]])
            n_drawn[h] += 1

    def key(self, frame: int, member: int) -> tuple[int, int]:
        """The unordered pair of texts of a draw."""
        texts = (self.different if frame else self.same).texts
        a, b = int(texts.left_texts[member]), int(texts.right_texts[member])
        return (a, b) if a < b else (b, a)


def _ranks(texts: TextPairs, rng: np.random.Generator) -> Floats:
    """A random number for each pair of texts.

    The first pair of texts takes the number of its pair of answers, so that the order of answers with one text is the
    same for any measure.
    """
    rank = rng.random(len(texts.known_equivalence))[texts.owner]
    later = np.flatnonzero(texts.owner[1:] == texts.owner[:-1]) + 1
    rank[later] = rng.random(len(later))
    return np.asarray(rank)
