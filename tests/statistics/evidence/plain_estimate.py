"""The estimator of all evidence by loops over pairs of answers, for small tables: what tests compare the fast one with.

Only the posterior of the calibration comes from the package; :mod:`tests.statistics.evidence.test_posterior` tests it on its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np
from scipy import stats
from scipy.special import expit

from softirr.statistics.evidence.posterior import Scores, posterior_curve

CUTS = (0.5, 0.9)


def logit(p):
    bounded = min(max(p, 1e-3), 1 - 1e-3)
    return log(bounded / (1 - bounded))


@dataclass
class Pair:
    """A pair of answers: what is known of its equivalence, and its open pairs of texts with their share."""

    items: tuple
    raters: tuple
    known: float
    n_decided: int
    texts: list = field(default_factory=list)


class PlainEstimate:
    """Everything that the estimator says of a table.

    Parameters
    ----------
    answers : dict of (item, rater) to tuple of texts
    p : callable
        P of two texts.
    record : Record
    judged : dict of frozenset of texts to (same, weight)
    decided : dict of frozenset of texts to bool
    weight : dict of item to float
    """

    def __init__(self, answers, p, record, judged, decided, weight):
        self.answers, self.p, self.record, self.judged, self.decided = answers, p, record, judged, decided
        by_item = {}
        for item, rater in sorted(answers):
            by_item.setdefault(item, []).append(rater)
        self.by_item = {item: raters for item, raters in by_item.items() if len(raters) > 1}
        self.w = {item: weight.get(item, 1.0) for item in self.by_item}
        self.raters = sorted({rater for _, rater in answers})
        self.same = {
            (i, r, s): self.pair(i, r, i, s) for i, own in self.by_item.items() for r, s in combinations(own, 2)
        }
        rows = [(item, rater) for item, own in self.by_item.items() for rater in own]
        self.different = {(a, b): self.pair(*a, *b) for a, b in combinations(rows, 2) if a[0] != b[0]}
        self.mass = sum(self.w[item] * len(own) for item, own in self.by_item.items())
        self.calibrate()

    def pair(self, i, r, j, s):
        one, other = self.answers[i, r], self.answers[j, s]
        match = {(a, b) for a in one for b in other if a == b or self.decided.get(frozenset((a, b)))}
        n_decided = sum(a != b and frozenset((a, b)) in self.decided for a in one for b in other)
        pair = Pair((i, j), (r, s), 2 * len(match) / (len(one) + len(other)), n_decided)
        for a in one:
            for b in other:
                if any(a == x or b == y for x, y in match) or frozenset((a, b)) in self.decided:
                    continue
                pair.texts.append((frozenset((a, b)), 2 / (len(one) + len(other)), self.p(a, b)))
        return pair

    def observed_weight(self, key):
        n = len(self.by_item[key[0]])
        return self.w[key[0]] / sum(self.w.values()) / (n * (n - 1) / 2)

    def pooled_weight(self, pair):
        i, j = pair.items
        return 2 * self.w[i] * self.w[j] / self.mass**2

    def calibrate(self):
        """The posterior, the difference in each stratum, and the share of pairs of different items in each stratum."""
        rows = [(key, *text) for key, pair in self.same.items() for text in pair.texts]
        p = np.array([row[3] for row in rows])
        edges = np.unique(np.quantile(p, (0.25, 0.5, 0.75)))
        places = sorted({int(np.searchsorted(edges, one)) for one in p})
        self.stratum = {row[1]: places.index(int(np.searchsorted(edges, row[3]))) for row in rows}
        self.strata = [self.stratum[row[1]] for row in rows]
        own = np.array([self.observed_weight(row[0]) * row[2] for row in rows])
        apart = [
            (text, share * self.pooled_weight(pair))
            for pair in self.different.values()
            for *text, share in ((texts, one, share) for texts, share, one in pair.texts)
        ]
        self.first = {}
        for row in rows:
            if row[1] in self.judged:
                self.first.setdefault(row[1], row)
        answers_of_item = {}
        for row in self.first.values():
            answers_of_item.setdefault(row[0][0], set()).add(row[0])
        judged = [(logit(row[3]), *self.judged[row[1]], len(answers_of_item[row[0][0]])) for row in self.first.values()]
        columns = np.array(judged, dtype=float).reshape(-1, 4).T
        scores = Scores(p, own, np.array([text[1] for text, _ in apart]), np.array([weight for _, weight in apart]))
        self.curve = posterior_curve(scores, self.record, *columns)
        mean = {row[1]: float(self.curve.weight @ self.on_grid(row[3])) for row in rows}
        self.n = len(self.first)
        self.residual = [0.0] * len(places)
        for h in range(len(places)):
            here = [
                (self.judged[text][1], self.judged[text][0] - mean[text])
                for text in self.first
                if self.stratum[text] == h
            ]
            if here:
                value = sum(weight * off for weight, off in here) / sum(weight for weight, _ in here)
                self.residual[h] = value * self.n / (self.n + 20)
        off = [self.judged[text][0] - mean[text] for text in self.first]
        self.residual_variance = 0.0
        if self.n > 1:
            self.residual_variance = max(float(np.var(off, ddof=1)), 1 / (3 * self.n)) / self.n
        self.fitted = {
            text: self.judged[text][0]
            if text in self.judged
            else min(max(mean[text] + self.residual[self.stratum[text]], 0), 1)
            for text in mean
        }
        beta = [list(one) for one in self.record.chance]
        for text, (same, _) in self.judged.items():
            if text not in self.first:
                h = sum(self.p(*text) >= cut for cut in CUTS)
                beta[h][0] += same
                beta[h][1] += 1 - same
        self.shares = [stats.beta.mean(*one) for one in beta]
        self.share_variances = [stats.beta.var(*one) for one in beta]

    def on_grid(self, p):
        return expit(self.curve.intercept + self.curve.slope * logit(p))

    def same_fit(self, key):
        """Fitted equivalence of a pair of answers to one item."""
        pair = self.same[key]
        return min(max(pair.known + sum(share * self.fitted[text] for text, share, _ in pair.texts), 0), 1)

    def same_by_p(self, key):
        pair = self.same[key]
        return min(max(pair.known + sum(share * p for _, share, p in pair.texts), 0), 1)

    def text_apart(self, text, p):
        return self.judged[text][0] if text in self.judged else self.shares[sum(p >= cut for cut in CUTS)]

    def apart(self, weights):
        """Weight, agreement, variance and agreement by P of weighted pairs of answers to different items."""
        agreement = by_p = 0.0
        own = [0.0] * 3
        for key, weight in weights.items():
            pair = self.different[key]
            agreement += weight * min(pair.known + sum(s * self.text_apart(t, p) for t, s, p in pair.texts), 1)
            by_p += weight * min(pair.known + sum(share * p for _, share, p in pair.texts), 1)
            for text, share, p in pair.texts:
                if text not in self.judged:
                    own[sum(p >= cut for cut in CUTS)] += weight * share
        variance = sum(one**2 * var for one, var in zip(own, self.share_variances, strict=True))
        return sum(weights.values()), agreement, variance, by_p

    def cells(self):
        """Items that each pair of raters shares, where these are two or more."""
        both = {
            (r, s): [i for i, own in self.by_item.items() if r in own and s in own]
            for r, s in combinations(self.raters, 2)
        }
        return {pair: items for pair, items in both.items() if len(items) > 1}

    def cohen(self, measure_chance, pairs):
        """D, chance weights and apart of the mean kappa of some pairs of raters; B of each pair of raters.

        `measure_chance` gives the measure's agreement of different items for each pair of raters.
        """
        cells = self.cells()
        weights = dict.fromkeys(self.different, 0.0)
        for (r, s), items in cells.items():
            mass = sum(self.w[i] for i in items)
            for i in items:
                for j in items:
                    if i != j:
                        a, b = (i, r), (j, s)
                        weights[(a, b) if a < b else (b, a)] += self.w[i] * self.w[j] / mass**2 / len(cells)
        weight, agreement, variance, by_p = self.apart(weights)
        squares = {
            cell: {i: (self.w[i] / sum(self.w[j] for j in items)) ** 2 for i in items} for cell, items in cells.items()
        }
        relative_weight = {cell: 1 - sum(own.values()) for cell, own in squares.items()}
        relative_agreement = {cell: max(measure_chance[cell], 0.0) for cell in cells}
        for relative in (relative_weight, relative_agreement):
            mean = np.mean(list(relative.values()))
            relative |= {cell: value / mean for cell, value in relative.items()}
        by_chance = {
            cell: sum(own * (1 - self.same_fit((i, *cell))) for i, own in squares[cell].items())
            + weight * relative_weight[cell]
            - agreement * relative_agreement[cell]
            for cell in cells
        }
        pairs = [cell for cell in pairs if cell in cells]
        expected = np.mean([by_chance[cell] for cell in pairs])
        disagreement, chance = {}, {}
        for cell in pairs:
            mass = sum(self.w[i] for i in cells[cell])
            for i in cells[cell]:
                disagreement[(i, *cell)] = expected / by_chance[cell] / len(pairs) * self.w[i] / mass
                chance[(i, *cell)] = squares[cell][i] / len(pairs)
        more = np.mean([relative_weight[cell] for cell in pairs])
        like = np.mean([relative_agreement[cell] for cell in pairs])
        return disagreement, chance, (weight * more, agreement * like, variance * like**2, by_p * like), by_chance

    def targets(self, measure_chance):
        """D, chance weights and apart of each coefficient of the table."""
        own = {key: self.observed_weight(key) for key in self.same}
        apart = self.apart({key: self.pooled_weight(pair) for key, pair in self.different.items()})
        same = {key: 2 * self.w[key[0]] ** 2 / self.mass**2 for key in self.same}
        by_answers = {}
        for key in self.same:
            n = len(self.by_item[key[0]])
            by_answers[key] = n * self.w[key[0]] / self.mass / (n * (n - 1) / 2)
        scale = self.mass / (self.mass - 1)
        scaled = (apart[0] * scale, apart[1] * scale, apart[2] * scale**2, apart[3] * scale)
        return {
            "observed_agreement": (own, None, None),
            "cohen_kappa": self.cohen(measure_chance, self.cells())[:3],
            "fleiss_kappa": (own, same, apart),
            "krippendorff_alpha": (by_answers, {key: scale * one for key, one in same.items()}, scaled),
        }

    def value(self, target, of_pair):
        """``1 - D / B`` with the equivalence that `of_pair` gives to pairs of answers to one item."""
        disagreement, chance, apart = target
        by_chance = 1.0
        if chance is not None:
            agreement = apart[3] if of_pair == self.same_by_p else apart[1]
            by_chance = sum(own * (1 - of_pair(key)) for key, own in chance.items()) + apart[0] - agreement
        return 1 - sum(own * (1 - of_pair(key)) for key, own in disagreement.items()) / by_chance

    def weighted_on_grid(self, weights):
        """Weighted agreement of pairs of answers to one item at each point of the grid."""
        settled = open_weight = 0.0
        total = np.zeros(len(self.curve.weight))
        for key, weight in weights.items():
            settled += weight * self.same[key].known
            for text, share, p in self.same[key].texts:
                if text in self.judged:
                    settled += weight * share * self.judged[text][0]
                else:
                    open_weight += weight * share
                    total += weight * share * (self.on_grid(p) + self.residual[self.stratum[text]])
        return np.clip(settled + total, settled, settled + open_weight)

    def points(self, target, error, floor):
        """Values of the coefficient (points of the grid by points of a normal error), its weights, and the error."""
        disagreement, chance, apart = target
        d = sum(disagreement.values()) - self.weighted_on_grid(disagreement)
        b, variance = np.ones(len(d)), 0.0
        if chance is not None:
            b = sum(chance.values()) - self.weighted_on_grid(chance) + apart[0] - apart[1]
            variance = apart[2]
        after = self.curve.weight
        by_curve = after @ (d - after @ d) ** 2
        waiting = {}
        for key, weight in disagreement.items():
            for text, share, _ in self.same[key].texts:
                if text not in self.judged:
                    waiting[text] = waiting.get(text, 0.0) + weight * share
        unexplained = sum(own**2 * self.fitted[text] * (1 - self.fitted[text]) for text, own in waiting.items())
        by_design = sum(waiting.values()) ** 2 * self.residual_variance
        unexplained += max(by_design - by_curve, 0) * self.n / (self.n + 20)
        spread = np.sqrt(error**2 + (unexplained + (d / b) ** 2 * variance) / b**2)
        z = np.linspace(-2.5, 2.5, 11)
        normal = stats.norm.pdf(z) / stats.norm.pdf(z).sum()
        return np.clip((1 - d / b)[:, None] + spread[:, None] * z, floor, 1), after[:, None] * normal, normal

    def likely(self, points, weights):
        """Without the points of the calibration that have a billionth of the posterior together."""
        order = np.argsort(self.curve.weight)
        kept = order[np.cumsum(self.curve.weight[order]) > 1e-9]
        return points[kept], weights[kept]

    def known_share(self):
        n_decided = sum(pair.n_decided for pair in self.same.values())
        return np.sqrt(n_decided / (n_decided + sum(len(pair.texts) for pair in self.same.values())))

    def any_time(self, points, normal, floor):
        """Values whose density after the judgments is at least 5% of that before, in steps of 0.005."""
        place = np.rint((points - floor) / 0.005).astype(int)
        after, before = {}, {}
        for density, weight in ((after, self.curve.weight), (before, self.curve.prior)):
            for row, own in zip(place.tolist(), weight.tolist(), strict=True):
                for step, share in zip(row, normal.tolist(), strict=True):
                    density[step] = density.get(step, 0.0) + own * share
        held = [step for step, own in before.items() if own > 0 and after[step] >= 0.05 * own]
        return floor + 0.005 * min(held), floor + 0.005 * max(held)

    def by_judgments(self, target, error, floor):
        """Value, standard error and interval from the judged pairs of one item alone."""
        disagreement, chance, apart = target
        judged = [(self.stratum[text], self.judged[text][0]) for text in self.first]
        k = len(self.residual)
        if min(sum(h == own for own, _ in judged) for h in range(k)) < 2:
            judged, strata, k = [(0, same) for _, same in judged], [0] * len(self.strata), 1
        else:
            strata = self.strata
        rows = [(disagreement.get(key, 0.0) * share) for key, pair in self.same.items() for _, share, _ in pair.texts]
        d = sum(own * (1 - self.same[key].known) for key, own in disagreement.items())
        variance = 0.0
        for h in range(k):
            here = [same for own, same in judged if own == h]
            weight = sum(row for row, own in zip(rows, strata, strict=True) if own == h)
            n, size = len(here), strata.count(h)
            d -= weight * np.mean(here)
            variance += weight**2 * max(np.var(here, ddof=1), 1 / (3 * n)) / n * (1 - n / size)
        b = 1.0
        if chance is not None:
            b = sum(own * (1 - self.same_fit(key)) for key, own in chance.items()) + apart[0] - apart[1]
            variance += (d / b) ** 2 * apart[2]
        value = min(max(1 - d / b, floor), 1)
        spread = np.sqrt(variance / b**2 + error**2)
        reach = stats.t.ppf(0.975, max(len(judged) - k, 1)) * spread
        return value, spread, (max(value - reach, floor), min(value + reach, 1))


def quantile(points, weights, level):
    """Weighted quantile, linear between the middles of the points' masses."""
    order = np.argsort(points.ravel(), kind="stable")
    x, mass = points.ravel()[order], weights.ravel()[order]
    return float(np.interp(level * mass.sum(), np.cumsum(mass) - mass / 2, x))
