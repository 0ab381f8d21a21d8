"""The pairs of texts from which judged ones are drawn: two frames, their strata, and the order of drawing.

*Same*: every pair of answers to one item. *Different*: a large random sample of pairs of answers to different items, half of it drawn for
Cohen's chance agreement (two raters' answers to the items they share), half for the pooled one. Judges judge pairs of texts, one of
each answer. The texts of one answer differ in meaning, so each has at most one equivalent in the other answer, and the true equivalence of
two answers is a sum over pairs of texts. Texts that occur in both answers match each other: no pair with one of them is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from softirr.tables.ratings import Comparisons, Floats, Ints, Ratings, sums

__all__ = ["Design", "Frame", "RatingsOfPairs", "TextPairs"]

LEAST_CHANCE, MOST_CHANCE = 0.1, 0.3
"""Limits of the share of judgements for different-item pairs, which grows with the variance of agreement by chance."""
_CHANCE = 0.2
"""Fallback for agreement by chance when identical texts cannot estimate it."""
SAME_CUTS = (0.25, 0.5, 0.75)
DIFFERENT_CUTS = (0.6, 0.9)
"""Quantiles of P that separate the strata of each frame: few strata, so that each has some judged pairs."""
_LEAST = 2
"""Pairs drawn from each stratum before any stratum gets more."""
_FLAT = 0.4
"""Added to the standard deviation implied by P when judgements are allocated, because P may be wrong."""


@dataclass(frozen=True, eq=False)
class TextPairs:
    """The E pairs of texts that could match in M pairs of answers.

    The true equivalence of pair i of answers is ``known[i]`` plus the sum of ``share`` over its pairs of equivalent texts.

    Attributes
    ----------
    known : shape (M,)
        Equivalence that needs no judgement: from texts that occur in both answers, and of two empty answers.
    owner : shape (E,)
        Pair of answers that each pair of texts belongs to.
    left, right : shape (E,)
        The texts as numbers; equal numbers mean equal texts.
    share : shape (E,)
        2 / (m + n) for answers of m and n texts.
    p : shape (E,)
        The measure's P.
    """

    known: Floats
    owner: Ints
    left: Ints
    right: Ints
    share: Floats
    p: Floats

    @classmethod
    def of(
        cls, first: Ints, second: Ints, sizes: Ints, texts: Ints, score: Callable[[Ints, Ints], Floats]
    ) -> TextPairs:
        """Make all pairs of texts of pairs of answers, except those with a text that occurs in both answers.

        Parameters
        ----------
        first, second : shape (M,)
            Answers.
        sizes : shape (V,)
            Number of texts of each answer.
        texts : shape (sum of sizes,)
            The concatenated texts of the answers.
        score : callable
            The measure's P of texts left[i] and right[i].
        """
        start = np.cumsum(sizes) - sizes
        m, n = sizes[first], sizes[second]
        area = m * n
        owner = np.repeat(np.arange(len(first)), area)
        within = np.arange(int(area.sum())) - np.repeat(np.cumsum(area) - area, area)
        row, col = within // np.maximum(n[owner], 1), within % np.maximum(n[owner], 1)
        left, right = texts[start[first[owner]] + row], texts[start[second[owner]] + col]
        identical = left == right
        row_at, col_at = (np.cumsum(m) - m)[owner] + row, (np.cumsum(n) - n)[owner] + col
        row_taken, col_taken = np.zeros(int(m.sum()), dtype=bool), np.zeros(int(n.sum()), dtype=bool)
        row_taken[row_at[identical]] = True
        col_taken[col_at[identical]] = True
        both = np.bincount(owner[identical], minlength=len(first))
        known = np.where(m + n > 0, 2 * both / np.maximum(m + n, 1), 1.0)
        kept = ~row_taken[row_at] & ~col_taken[col_at]
        owner, left, right = owner[kept], left[kept], right[kept]
        share = 2 / (m + n)[owner] if len(owner) else np.zeros(0)
        p = np.asarray(score(left, right), dtype=np.float64) if len(owner) else np.zeros(0)
        return cls(known, owner, left, right, share, p)

    def weights(self, of_answers: Floats) -> Floats:
        """Weight of each pair of texts in a weighted sum over pairs of answers, shape (E,)."""
        return np.asarray(of_answers[self.owner] * self.share)

    def part(self, kept: Ints) -> tuple[TextPairs, Ints]:
        """The pairs of texts of some pairs of answers, in their new order, and which of the E pairs of texts these are."""
        place = np.full(len(self.known), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        texts = np.flatnonzero(place[self.owner] >= 0)
        of = (self.left[texts], self.right[texts], self.share[texts], self.p[texts])
        return TextPairs(self.known[kept], place[self.owner[texts]], *of), texts

    def equivalence(self, of_texts: Floats) -> Floats:
        """Equivalence of the pairs of answers from that of the pairs of texts, shape (M,)."""
        return np.asarray(np.clip(self.known + sums(self.owner, self.share * of_texts, len(self.known)), 0, 1))


@dataclass(frozen=True, eq=False)
class Frame:
    """Pairs of texts from which judged ones are drawn.

    Attributes
    ----------
    first, second : shape (M,)
        Distinct answers.
    p : shape (M,)
        Their equivalence according to the measure.
    texts : TextPairs
        The pairs of texts of these pairs of answers.
    stratum : shape (E,)
        Stratum of each pair of texts, ascending with P.
    rank : shape (E,)
        Random order in which pairs of a stratum are drawn; does not depend on the measure.
    rate : shape (K,)
        Share of the judgements that each stratum gets.
    """

    first: Ints
    second: Ints
    p: Floats
    texts: TextPairs
    stratum: Ints
    rank: Floats
    rate: Floats

    @classmethod
    def of(
        cls,
        first: Ints,
        second: Ints,
        p: Floats,
        texts: TextPairs,
        rank: Floats,
        cuts: tuple[float, ...],
        *,
        tilt: bool,
    ) -> Frame:
        """Make strata separated at the quantiles of P; ties stay in one stratum.

        Parameters
        ----------
        first, second, p : shape (M,)
        texts : TextPairs
        rank : shape (E,)
        cuts
            Quantiles.
        tilt : bool
            Oversample rare high-P strata, in proportion to the square root of their size; else nearly in proportion to size.
        """
        if not len(rank):
            return cls(first, second, p, texts, np.zeros(0, dtype=np.int64), rank, np.zeros(0))
        edges = np.unique(np.quantile(texts.p, cuts))
        _, stratum = np.unique(np.searchsorted(edges, texts.p, side="left"), return_inverse=True)
        size = np.bincount(stratum)
        mean = np.bincount(stratum, weights=texts.p) / size
        rate = np.sqrt(size) if tilt else size * (np.sqrt(mean * (1 - mean)) + _FLAT)
        return cls(first, second, p, texts, stratum.astype(np.int64), rank, rate / rate.sum())

    def part(self, kept: Ints) -> tuple[Frame, Ints]:
        """Some pairs of answers, in a new order, and which pairs of texts belong to them."""
        pairs, texts = self.texts.part(kept)
        labels, stratum = np.unique(self.stratum[texts], return_inverse=True)
        rest = (stratum.astype(np.int64), self.rank[texts], self.rate[labels])
        return Frame(self.first[kept], self.second[kept], self.p[kept], pairs, *rest), texts

    @cached_property
    def queues(self) -> list[Ints]:
        """Members of each stratum in the order in which they are drawn."""
        return [
            mine[np.argsort(self.rank[mine], kind="stable")]
            for mine in (np.flatnonzero(self.stratum == h) for h in range(len(self.rate)))
        ]


@dataclass(frozen=True, eq=False)
class RatingsOfPairs(Ratings):
    """Ratings of which only some pairs of raters are compared.

    Attributes
    ----------
    of_rater : int
    with_rater : bool
        Whether the pairs with this rater are compared, or those without.
    """

    of_rater: int
    with_rater: bool

    @cached_property
    def comparisons(self) -> Comparisons:
        """The pairs of answers to one item by these pairs of raters."""
        every = Ratings(self.item, self.rater, self.answer, self.n_items, self.n_raters, self.n_answers).comparisons
        wanted = (every.rater_pairs == self.of_rater).any(axis=1) == self.with_rater
        kept = np.flatnonzero(wanted[every.rater_pair])
        number = np.cumsum(wanted) - 1
        return Comparisons(
            every.left[kept],
            every.right[kept],
            every.item[kept],
            number[every.rater_pair[kept]],
            every.rater_pairs[wanted],
            every.shared[wanted],
        )


@dataclass(frozen=True, eq=False)
class Design:
    """Both frames of a project, and the order in which their pairs are drawn.

    Attributes
    ----------
    ratings : Ratings
    same : Frame
        In the order of ``ratings.comparisons``.
    different : Frame
    cohen_weight, pooled_weight : shape (M,)
        Weight of each pair of ``different`` in the mean over rater pairs of ``p_r' S p_s`` and in ``π' S π``.
    chance : float
        Rough agreement by chance, from identical texts: their share among different-item pairs over their share among same-item pairs.
    rows : two arrays of shape (M,)
        Rows of the ratings of the pairs of ``different``.
    density : shape (M,)
        Probability of each of these pairs in a single draw.
    order : tuple of (int, int), optional
        What :meth:`draws` gives, for a part of a design.
    """

    ratings: Ratings
    same: Frame
    different: Frame
    cohen_weight: Floats
    pooled_weight: Floats
    chance: float
    rows: tuple[Ints, Ints]
    density: Floats
    order: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        score: Callable[[Ints, Ints], Floats],
        text_pairs: Callable[[Ints, Ints], TextPairs],
        *,
        pool: int,
        seed: int = 0,
    ) -> Design:
        """Make the frames of a table.

        Parameters
        ----------
        ratings : Ratings
            Needs at least one item with two answers.
        score
            The measure: equivalence of answer k[i] with answer l[i].
        text_pairs
            The pairs of texts that could match in answers k[i] and l[i].
        pool : int
            Number of pairs of answers in the different-item frame.
        seed : int
        """
        comparisons = ratings.comparisons
        draw_pool, draw_same, draw_different = np.random.default_rng(seed).spawn(3)
        frames = []
        rows, density, cohen, pooled = _pool(ratings, pool, draw_pool)
        for (a, b), rng, cuts, tilt in (
            ((comparisons.left, comparisons.right), draw_same, SAME_CUTS, False),
            (rows, draw_different, DIFFERENT_CUTS, True),
        ):
            first, second = ratings.answer[a], ratings.answer[b]
            texts = text_pairs(first, second)
            frames.append(Frame.of(first, second, score(first, second), texts, _ranks(texts, rng), cuts, tilt=tilt))
        chance = _chance_guess(frames[0], frames[1], pooled)
        return cls(ratings, frames[0], frames[1], cohen, pooled, chance, rows, density)

    def part(self, rows: Ints, rater: int, *, with_rater: bool, n_draws: int) -> Design:
        """The frames of some pairs of raters on some items, with those of the first ``n_draws`` draws that belong to them.

        Within a stratum the pairs are drawn at random, so those that belong to a part are a random sample of the stratum's part.

        Parameters
        ----------
        rows : shape (n,)
            Rows of the ratings that count, ascending.
        rater : int
        with_rater : bool
            Pairs of this rater with others, or of the others among themselves.
        n_draws : int

        Returns
        -------
        Design
        """
        some = self.ratings.restricted(rows)
        ratings = RatingsOfPairs(
            some.item, some.rater, some.answer, some.n_items, some.n_raters, some.n_answers, rater, with_rater
        )
        n, whole, own = np.int64(len(self.ratings.item)), self.ratings.comparisons, ratings.comparisons
        keys = whole.left * n + whole.right
        by_key = np.argsort(keys)
        same_at = by_key[np.searchsorted(keys[by_key], rows[own.left] * n + rows[own.right])]
        place = np.full(int(n), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        first, second = place[self.rows[0]], place[self.rows[1]]
        there = np.flatnonzero((first >= 0) & (second >= 0))
        cell = _cells(ratings, first[there], second[there]) if len(there) else there
        usable = own.shared >= 2
        inside = np.append(usable, False)[cell]
        different_at, cell = there[inside], cell[inside]
        density = self.density[different_at]
        shared = own.shared.astype(np.float64)
        weight = _scaled(
            1 / (shared[cell] ** 2 * density), float(np.mean(1 - 1 / shared[usable])) if usable.any() else 0.0
        )
        frames = []
        numbers = []
        for frame, kept in ((self.same, same_at), (self.different, different_at)):
            part, texts = frame.part(kept)
            frames.append(part)
            numbers.append({member: number for number, member in enumerate(texts.tolist())})
        drawn = (one for _, one in zip(range(n_draws), self.draws(), strict=False))
        order = tuple((frame, numbers[frame][member]) for frame, member in drawn if member in numbers[frame])
        return replace(
            self,
            ratings=ratings,
            same=frames[0],
            different=frames[1],
            cohen_weight=weight,
            pooled_weight=weight,
            rows=(first[different_at], second[different_at]),
            density=density,
            order=order,
        )

    @property
    def chance_share(self) -> float:
        """Share of judgements for different-item pairs: Neyman's for kappa 0.5 and half of the same-item pairs equivalent."""
        spread = float(np.sqrt(self.chance * (1 - self.chance)))
        return float(np.clip(spread / (spread + 0.9), LEAST_CHANCE, MOST_CHANCE))

    def draws(self) -> Iterator[tuple[int, int]]:
        """(frame, member) in the order of drawing: 0 is ``same``, 1 ``different``. Every prefix is a valid sample.

        The first pairs are two of each stratum; each further pair is of the stratum furthest below its share (Sainte-Laguë's method, in
        which a larger sample never takes a pair away from a stratum).
        """
        if self.order is not None:
            yield from self.order
            return
        drawn, rest = self._drawn
        for place in count():
            while place >= len(drawn):
                one = next(rest, None)
                if one is None:
                    return
                drawn.append(one)
            yield drawn[place]

    @cached_property
    def _drawn(self) -> tuple[list[tuple[int, int]], Iterator[tuple[int, int]]]:
        return [], self._draw()

    def _draw(self) -> Iterator[tuple[int, int]]:
        queues = [(0, queue) for queue in self.same.queues] + [(1, queue) for queue in self.different.queues]
        share = np.concatenate([(1 - self.chance_share) * self.same.rate, self.chance_share * self.different.rate])
        size = np.array([len(queue) for _, queue in queues], dtype=np.int64)
        drawn = np.zeros(len(queues), dtype=np.int64)
        for least in range(1, _LEAST + 1):
            for h in np.flatnonzero(size >= least).tolist():
                yield queues[h][0], int(queues[h][1][drawn[h]])
                drawn[h] += 1
        while (left := drawn < size).any():
            h = int(np.argmax(np.where(left, share / (2 * drawn + 1), -1.0)))
            yield queues[h][0], int(queues[h][1][drawn[h]])
            drawn[h] += 1

    def key(self, frame: int, member: int) -> tuple[int, int]:
        """The unordered pair of texts of a draw."""
        texts = (self.different if frame else self.same).texts
        a, b = int(texts.left[member]), int(texts.right[member])
        return (a, b) if a < b else (b, a)


def _pool(ratings: Ratings, size: int, rng: np.random.Generator) -> tuple[tuple[Ints, Ints], Floats, Floats, Floats]:
    """Random pairs of rows of different items, their probability in one draw, and their weights in both expected agreements."""
    comparisons = ratings.comparisons
    rows = ratings.comparable
    n = len(rows)
    per_item = ratings.per_item[ratings.comparable_items]
    ordered_pairs = float(n * (n - 1) - np.sum(per_item * (per_item - 1)))
    shared = comparisons.shared.astype(np.float64)
    usable = np.flatnonzero(comparisons.shared >= 2)
    nothing = np.zeros(0, dtype=np.int64)
    if ordered_pairs <= 0:
        return (nothing, nothing), np.zeros(0), np.zeros(0), np.zeros(0)
    m = len(usable)
    half = size // 2 if m else 0
    order = np.argsort(comparisons.rater_pair, kind="stable")
    start = np.cumsum(comparisons.shared) - comparisons.shared
    q = usable[rng.integers(0, max(m, 1), half)] if half else nothing
    i = rng.integers(0, comparisons.shared[q]) if half else nothing
    j = (i + rng.integers(1, comparisons.shared[q])) % comparisons.shared[q] if half else nothing
    first, second = comparisons.left[order[start[q] + i]], comparisons.right[order[start[q] + j]]
    others: list[tuple[Ints, Ints]] = []
    missing = size - half
    while missing > 0:
        a, b = rows[rng.integers(0, n, 2 * missing)], rows[rng.integers(0, n, 2 * missing)]
        fits = np.flatnonzero(ratings.item[a] != ratings.item[b])[:missing]
        others.append((a[fits], b[fits]))
        missing -= len(fits)
    first = np.concatenate([first, *(a for a, _ in others)])
    second = np.concatenate([second, *(b for _, b in others)])
    cell = _cells(ratings, first, second)
    cells = np.append(np.where(comparisons.shared >= 2, m * shared * (shared - 1), np.inf), np.inf)
    cohen_part = 1 / cells[cell]  # 0 where the pair belongs to no pair of raters
    density = half / size * cohen_part + (1 - half / size) * 2 / ordered_pairs
    weight = np.append(np.where(comparisons.shared >= 2, 1 / (max(m, 1) * shared**2), 0.0), 0.0)[cell]
    cohen = _scaled(weight / density, float(np.mean(1 - 1 / shared[usable])) if m else 0.0)
    pooled = _scaled(1 / density, ordered_pairs / n**2)
    return (first, second), density, cohen, pooled


def _ranks(texts: TextPairs, rng: np.random.Generator) -> Floats:
    """A random number for each pair of texts.

    The first pair of texts takes the number of its pair of answers, so that the order of answers with one text is the same for any measure.
    """
    rank = rng.random(len(texts.known))[texts.owner]
    later = np.flatnonzero(texts.owner[1:] == texts.owner[:-1]) + 1
    rank[later] = rng.random(len(later))
    return np.asarray(rank)


def _chance_guess(same: Frame, different: Frame, weights: Floats) -> float:
    """Agreement by chance, assuming that equivalent texts are identical equally often across items and within them; at most 0.5."""
    identical = same.texts.known
    if int((identical > 0).sum()) < 5 or not len(weights):
        return _CHANCE
    by_chance = float(weights @ different.texts.known) / float(weights.sum())
    return min((by_chance + 1 / len(weights)) / float(identical.mean()), 0.5)


def _scaled(weights: Floats, total: float) -> Floats:
    found = float(weights.sum())
    return weights * (total / found) if found > 0 else weights


def _cells(ratings: Ratings, first: Ints, second: Ints) -> Ints:
    """For each pair of rows, the rater pair whose shared items both belong to, or the number of rater pairs."""
    comparisons = ratings.comparisons
    m = len(comparisons.rater_pairs)
    code = comparisons.rater_pairs[:, 0] * np.int64(ratings.n_raters) + comparisons.rater_pairs[:, 1]
    r, s = ratings.rater[first], ratings.rater[second]
    wanted = np.minimum(r, s) * np.int64(ratings.n_raters) + np.maximum(r, s)
    place = np.minimum(np.searchsorted(code, wanted), m - 1)
    answered = np.sort(ratings.item * np.int64(ratings.n_raters) + ratings.rater)

    def has(item: Ints, rater: Ints) -> np.ndarray:
        key = item * np.int64(ratings.n_raters) + rater
        return answered[np.minimum(np.searchsorted(answered, key), len(answered) - 1)] == key

    both = (code[place] == wanted) & has(ratings.item[first], s) & has(ratings.item[second], r)
    return np.where(both, place, m)
