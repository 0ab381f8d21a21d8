"""The pairs of answers from which judged ones are drawn: two frames, their strata, and the order of drawing.

*Same*: every pair of answers to one item. *Different*: a large random sample of pairs of answers to different items, drawn half for Cohen's
chance agreement (two raters' answers to the items they share), half for the pooled one. Pairs whose equivalence is known (identical answers,
an answer and an empty one) are in no stratum and are never judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from softirr.tables.ratings import Floats, Ints, Ratings

LEAST_CHANCE, MOST_CHANCE = 0.1, 0.3
"""Share of the judgements that goes to different-item pairs: more where agreement by chance varies more."""
_CHANCE = 0.2
"""Agreement by chance where identical answers don't tell it."""
SAME_CUTS = (0.25, 0.5, 0.75)
DIFFERENT_CUTS = (0.6, 0.9)
"""Quantiles of P that part the strata of each frame: few strata, so that each has some judged pairs."""
_LEAST = 2
"""Judged pairs of each stratum before any gets more."""
_FLAT = 0.4
"""Added to the standard deviation that P claims: how little P is trusted when judgements are shared out."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Pairs of answers from which judged ones are drawn.

    Attributes
    ----------
    first, second : shape (M,)
        Distinct answers.
    p : shape (M,)
        Their equivalence: the measure's, or the true one where it is known.
    stratum : shape (M,)
        By P, ascending; -1 where the true equivalence is known.
    rank : shape (M,)
        Random order in which pairs of a stratum are drawn; does not depend on the measure.
    rate : shape (K,)
        Share of the judgements that each stratum gets.
    step : float
        Mean square, over the pairs in strata, of what one text matched otherwise changes: 1 for single texts, less for sets.
    """

    first: Ints
    second: Ints
    p: Floats
    stratum: Ints
    rank: Floats
    rate: Floats
    step: float = 1.0

    @classmethod
    def of(
        cls,
        first: Ints,
        second: Ints,
        p: Floats,
        known: Floats,
        rank: Floats,
        cuts: tuple[float, ...],
        *,
        tilt: bool,
        step: Floats | None = None,
    ) -> Frame:
        """Strata at the quantiles of P; ties stay together.

        Parameters
        ----------
        first, second, p, rank : shape (M,)
        known : shape (M,)
            True equivalence, nan where it is not known.
        cuts
            Quantiles.
        tilt : bool
            Rare high P get more than their share, as the square root of the stratum's size; else nearly proportional.
        step : shape (M,), optional
            What one text matched otherwise changes of each pair's equivalence; 1 by default.
        """
        stratum = np.full(len(p), -1, dtype=np.int64)
        asked = np.flatnonzero(np.isnan(known))
        p = np.where(np.isnan(known), p, known)
        if not len(asked):
            return cls(first, second, p, stratum, rank, np.zeros(0))
        edges = np.unique(np.quantile(p[asked], cuts))
        _, place = np.unique(np.searchsorted(edges, p[asked], side="left"), return_inverse=True)
        stratum[asked] = place
        size = np.bincount(place)
        mean = np.bincount(place, weights=p[asked]) / size
        rate = np.sqrt(size) if tilt else size * (np.sqrt(mean * (1 - mean)) + _FLAT)
        square = 1.0 if step is None else float(np.mean(step[asked] ** 2))
        return cls(first, second, p, stratum, rank, rate / rate.sum(), square)

    @cached_property
    def queues(self) -> list[Ints]:
        """Members of each stratum in the order in which they are drawn."""
        return [
            mine[np.argsort(self.rank[mine], kind="stable")]
            for mine in (np.flatnonzero(self.stratum == h) for h in range(len(self.rate)))
        ]


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
        About how high agreement by chance is, from identical answers alone: how often they are identical by chance, over how often on one item.
    """

    ratings: Ratings
    same: Frame
    different: Frame
    cohen_weight: Floats
    pooled_weight: Floats
    chance: float

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        score: Callable[[Ints, Ints], Floats],
        known: Callable[[Ints, Ints], Floats],
        *,
        pool: int,
        seed: int = 0,
        sizes: Ints | None = None,
    ) -> Design:
        """Frames of a table.

        Parameters
        ----------
        ratings : Ratings
            With at least one item that has two answers.
        score
            The measure: equivalence of answer k[i] with answer l[i].
        known
            The true equivalence where it is known without judging, else nan.
        pool : int
            Pairs of the different-item frame.
        seed : int
        sizes : shape (V,), optional
            Texts of each answer; one by default.
        """
        comparisons = ratings.comparisons
        draw_pool, draw_same, draw_different = np.random.default_rng(seed).spawn(3)
        frames = []
        rows, cohen, pooled = _pool(ratings, pool, draw_pool)
        for (a, b), rng, cuts, tilt in (
            ((comparisons.left, comparisons.right), draw_same, SAME_CUTS, False),
            (rows, draw_different, DIFFERENT_CUTS, True),
        ):
            first, second = ratings.answer[a], ratings.answer[b]
            true = known(first, second)
            p = np.zeros(len(first))
            asked = np.flatnonzero(np.isnan(true))
            p[asked] = score(first[asked], second[asked])
            step = None if sizes is None else 2 / np.maximum(sizes[first] + sizes[second], 1)
            frames.append(Frame.of(first, second, p, true, rng.random(len(first)), cuts, tilt=tilt, step=step))
        return cls(ratings, frames[0], frames[1], cohen, pooled, _chance_guess(frames[0], frames[1], pooled))

    @property
    def chance_share(self) -> float:
        """Share of the judgements that goes to different-item pairs (Neyman's, were half the same-item pairs equivalent and kappa 0.5)."""
        spread = float(np.sqrt(self.chance * (1 - self.chance)))
        return float(np.clip(spread / (spread + 0.9), LEAST_CHANCE, MOST_CHANCE))

    def draws(self) -> Iterator[tuple[int, int]]:
        """(frame, member) in the order of drawing: 0 is ``same``, 1 ``different``. Every beginning of it is a valid sample.

        First two of each stratum, then always the stratum that lags most behind its share (Sainte-Laguë: no stratum loses by a larger sample).
        """
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
        """The unordered pair of answers of a draw: what is judged."""
        chosen = self.different if frame else self.same
        a, b = int(chosen.first[member]), int(chosen.second[member])
        return (a, b) if a < b else (b, a)


def _pool(ratings: Ratings, size: int, rng: np.random.Generator) -> tuple[tuple[Ints, Ints], Floats, Floats]:
    """Random pairs of rows of different items, and their weights in both expected agreements."""
    comparisons = ratings.comparisons
    rows = ratings.comparable
    n = len(rows)
    per_item = ratings.per_item[ratings.comparable_items]
    ordered_pairs = float(n * (n - 1) - np.sum(per_item * (per_item - 1)))
    shared = comparisons.shared.astype(np.float64)
    usable = np.flatnonzero(comparisons.shared >= 2)
    nothing = np.zeros(0, dtype=np.int64)
    if ordered_pairs <= 0:
        return (nothing, nothing), np.zeros(0), np.zeros(0)
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
    cohen_part = 1 / cells[cell]  # 0 where the pair belongs to no rater pair
    density = half / size * cohen_part + (1 - half / size) * 2 / ordered_pairs
    weight = np.append(np.where(comparisons.shared >= 2, 1 / (max(m, 1) * shared**2), 0.0), 0.0)[cell]
    cohen = _scaled(weight / density, float(np.mean(1 - 1 / shared[usable])) if m else 0.0)
    pooled = _scaled(1 / density, ordered_pairs / n**2)
    return (first, second), cohen, pooled


def _chance_guess(same: Frame, different: Frame, weights: Floats) -> float:
    """Agreement by chance, supposing that equivalent answers are as often identical on different items as on one; at most 0.5."""
    identical = same.first == same.second
    if int(identical.sum()) < 5 or not len(weights):
        return _CHANCE
    by_chance = float(weights @ (different.first == different.second)) / float(weights.sum())
    return min((by_chance + 1 / len(weights)) / float(identical.mean()), 0.5)


def _scaled(weights: Floats, total: float) -> Floats:
    found = float(weights.sum())
    return weights * (total / found) if found > 0 else weights


def _cells(ratings: Ratings, first: Ints, second: Ints) -> Ints:
    """For each pair of rows, the rater pair whose shared items both belong to, else the number of rater pairs."""
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
