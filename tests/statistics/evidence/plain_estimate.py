"""The estimator of all evidence by loops over pairs of answers, for small tables: what tests compare the fast one with.

Only the posterior of the calibration comes from the package; :mod:`tests.statistics.evidence.test_posterior`
tests it separately.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, permutations
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
    """A pair of answers: the decided share of its equivalence, the measure's value, and its open pairs of texts."""

    items: tuple
    raters: tuple
    decided_share: float
    n_decided: int
    by_measure: float
    texts: list = field(default_factory=list)


class PlainEstimate:
    """All results of the estimator for a table.

    Parameters
    ----------
    answers : dict
        Texts of each (item, rater).
    p : callable
        P of two texts.
    record : Record
        Reliability of the measure on other data.
    judged : dict
        For frozensets of two texts: 1 if they were judged the same, 0 if different, 0.5 if in between.
    decided : dict
        For frozensets of two texts: whether a stage forces them to be the same.
    weight : dict
        Weights of items; the others weigh 1.
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
            (i, r, s): self.pair(i, r, i, s)
            for i, raters_of_item in self.by_item.items()
            for r, s in combinations(raters_of_item, 2)
        }
        rows = [(item, rater) for item, raters_of_item in self.by_item.items() for rater in raters_of_item]
        self.different = {(a, b): self.pair(*a, *b) for a, b in combinations(rows, 2) if a[0] != b[0]}
        self.mass = sum(self.w[item] * len(raters_of_item) for item, raters_of_item in self.by_item.items())
        self.calibrate()

    def pair(self, i, r, j, s):
        first, second = self.answers[i, r], self.answers[j, s]
        match = {(a, b) for a in first for b in second if a == b or self.decided.get(frozenset((a, b)))}
        n_decided = sum(a != b and frozenset((a, b)) in self.decided for a in first for b in second)
        pair = Pair((i, j), (r, s), 2 * len(match) / (len(first) + len(second)), n_decided, self.matched(first, second))
        for a in first:
            for b in second:
                if any(a == x or b == y for x, y in match) or frozenset((a, b)) in self.decided:
                    continue
                pair.texts.append((frozenset((a, b)), 2 / (len(first) + len(second)), self.p(a, b)))
        return pair

    def matched(self, first, second):
        """The measure's equivalence of two answers: the best of all ways to match their texts."""
        shorter, longer = sorted((first, second), key=len)
        best = max(sum(map(self.probability, shorter, order)) for order in permutations(longer, len(shorter)))
        return 2 * best / (len(first) + len(second))

    def probability(self, a, b):
        return 1.0 if a == b else float(self.decided.get(frozenset((a, b)), self.p(a, b)))

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
        levels = sorted({int(np.searchsorted(edges, value)) for value in p})
        self.stratum = {row[1]: levels.index(int(np.searchsorted(edges, row[3]))) for row in rows}
        self.strata = [self.stratum[row[1]] for row in rows]
        weights = np.array([self.observed_weight(row[0]) * row[2] for row in rows])
        apart = [
            (text, share * self.pooled_weight(pair))
            for pair in self.different.values()
            for *text, share in ((texts, text_p, share) for texts, share, text_p in pair.texts)
        ]
        self.first = {}
        for row in rows:
            if row[1] in self.judged:
                self.first.setdefault(row[1], row)
        answers_of_item = {}
        for row in self.first.values():
            answers_of_item.setdefault(row[0][0], set()).add(row[0])
        judged = [(logit(row[3]), self.judged[row[1]], len(answers_of_item[row[0][0]])) for row in self.first.values()]
        columns = np.array(judged, dtype=float).reshape(-1, 3).T
        scores = Scores(p, weights, np.array([text[1] for text, _ in apart]), np.array([weight for _, weight in apart]))
        self.curve = posterior_curve(scores, self.record, *columns)
        mean = {row[1]: float(self.curve.weight @ self.on_grid(row[3])) for row in rows}
        self.n = len(self.first)
        self.residual = [self.residual_of(h, mean) for h in range(len(levels))]
        self.fitted = {
            text: self.judged[text]
            if text in self.judged
            else min(max(mean[text] + self.residual[self.stratum[text]], 0), 1)
            for text in mean
        }
        beta = [list(counts) for counts in self.record.chance]
        for text, same in self.judged.items():
            if text not in self.first:
                h = sum(self.p(*text) >= cut for cut in CUTS)
                beta[h][0] += same
                beta[h][1] += 1 - same
        self.shares = [stats.beta.mean(*counts) for counts in beta]

    def residual_of(self, h, mean):
        """Shrunken mean difference of judgments and curve in a stratum."""
        differences = [self.judged[text] - mean[text] for text in self.first if self.stratum[text] == h]
        return np.mean(differences) * self.n / (self.n + 20) if differences else 0.0

    def on_grid(self, p):
        return expit(self.curve.intercept + self.curve.slope * logit(p))

    def same_fit(self, key):
        """Fitted equivalence of a pair of answers to one item."""
        pair = self.same[key]
        return min(max(pair.decided_share + sum(share * self.fitted[text] for text, share, _ in pair.texts), 0), 1)

    def same_by_p(self, key):
        pair = self.same[key]
        return min(max(pair.decided_share + sum(share * p for _, share, p in pair.texts), 0), 1)

    def text_apart(self, text, p):
        return self.judged[text] if text in self.judged else self.shares[sum(p >= cut for cut in CUTS)]

    def ratio(self, weights):
        """Weighted equivalence of pairs of answers to different items, relative to the measure's."""
        fitted = by_measure = 0.0
        for key, weight in weights.items():
            pair = self.different[key]
            fitted += weight * min(pair.decided_share + sum(s * self.text_apart(t, p) for t, s, p in pair.texts), 1)
            by_measure += weight * pair.by_measure
        return fitted / by_measure

    def cells(self):
        """Items that each pair of raters shares, if these are two or more."""
        shared_items = {
            (r, s): [i for i, raters_of_item in self.by_item.items() if r in raters_of_item and s in raters_of_item]
            for r, s in combinations(self.raters, 2)
        }
        return {pair: items for pair, items in shared_items.items() if len(items) > 1}

    def cohen_ratio(self):
        cells = self.cells()
        weights = dict.fromkeys(self.different, 0.0)
        for (r, s), items in cells.items():
            mass = sum(self.w[i] for i in items)
            for i in items:
                for j in items:
                    if i != j:
                        a, b = (i, r), (j, s)
                        weights[(a, b) if a < b else (b, a)] += self.w[i] * self.w[j] / mass**2
        return self.ratio(weights)

    def pooled_ratio(self):
        return self.ratio({key: self.pooled_weight(pair) for key, pair in self.different.items()})

    def coefficients(self, of_pair, by_chance):
        """Every coefficient of the table, with the equivalence that `of_pair` gives to answers to one item.

        `by_chance` gives the measure's agreement of answers to different items: of each pair of raters, and pooled.
        """
        means = {
            i: np.mean([of_pair((i, r, s)) for r, s in combinations(raters_of_item, 2)])
            for i, raters_of_item in self.by_item.items()
        }
        observed = np.average(list(means.values()), weights=[self.w[i] for i in means])
        by_answers = np.average(list(means.values()), weights=[self.w[i] * len(self.by_item[i]) for i in means])
        same = sum(2 * (self.w[k[0]] / self.mass) ** 2 * of_pair(k) for k in self.same)
        itself = sum(len(raters_of_item) * (self.w[i] / self.mass) ** 2 for i, raters_of_item in self.by_item.items())
        pooled = itself + same + self.pooled_ratio() * by_chance["pooled"]
        different_answers = (self.mass * pooled - 1) / (self.mass - 1)
        kappas = [self.kappa(cell, of_pair, by_chance)[1] for cell in self.cells()]
        return {
            "observed_agreement": observed,
            "cohen_kappa": np.mean(kappas),
            "fleiss_kappa": (observed - pooled) / (1 - pooled),
            "krippendorff_alpha": (by_answers - different_answers) / (1 - different_answers),
        }, {"fleiss": pooled, "krippendorff": different_answers}

    def kappa(self, cell, of_pair, by_chance):
        """Agreement by chance and kappa of two raters."""
        items = self.cells()[cell]
        share = {i: self.w[i] / sum(self.w[j] for j in items) for i in items}
        observed = sum(weight * of_pair((i, *cell)) for i, weight in share.items())
        expected = (
            sum(weight**2 * of_pair((i, *cell)) for i, weight in share.items()) + self.cohen_ratio() * by_chance[cell]
        )
        return expected, (observed - expected) / (1 - expected)

    def by_judgments(self, key):
        """Equivalence of a pair of answers if each pair of texts has the mean of the judged ones of its stratum."""
        judged = [(self.stratum[text], self.judged[text]) for text in self.first]
        has_two_in_each = min(sum(h == stratum for stratum, _ in judged) for h in range(len(self.residual))) > 1
        pair = self.same[key]
        total = pair.decided_share
        for text, share, _ in pair.texts:
            total += share * np.mean([same for h, same in judged if not has_two_in_each or h == self.stratum[text]])
        return total
