"""The pairs of texts of a table after all evidence: known, judged, or with the calibrated P of the measure."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums
from softirr.statistics.evidence.design import Design, chance_stratum
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.posterior import Curve, Scores, logit, posterior_curve
from softirr.statistics.evidence.record import Record
from softirr.statistics.evidence.text_pairs import TextPairs, count_once

SHRINKAGE = 20.0
"""Judgments at which half of the difference between judgments and calibration counts."""


class Fit:
    """The pairs of texts of a table after all evidence.

    Parameters
    ----------
    design : Design
        Pairs of texts of the table, in strata by the measure's P.
    record : Record
        Prior knowledge of the measure, before any judgment.
    judged : Judged
        Judgments; pairs that are no longer in the table inform the calibration only.

    Attributes
    ----------
    curve : Curve or None
        The calibration of pairs of the same item; None if the truth of all of them is known.
    same, different : shape (E,) and (F,)
        Probability that each pair of texts of the same item, and of different items, means the same.
    """

    def __init__(self, design: Design, record: Record, judged: Judged) -> None:
        self.design, self.record, self.judged = design, record, judged
        same, different = design.same.texts, design.different.texts
        self._same_at = judged.place(same.left_texts, same.right_texts)
        self._different_at = judged.place(different.left_texts, different.right_texts)
        self.open_same, self.open_different = self._same_at < 0, self._different_at < 0
        weights, chance_weights = same.weights(design.ratings.pair_weights), different.weights(design.pooled_weight)
        self.scores = Scores(same.p, weights, different.p, chance_weights)
        self.curve = self._calibration() if len(same.p) and weights.sum() > 0 else None
        self.shares, self.share_variances = self._chance_shares()
        self.same, self.residuals = self._fitted_same()
        self.different = np.where(
            self.open_different, self.shares[design.different.stratum], self._truth(different, self._different_at)
        )

    @cached_property
    def first_members(self) -> tuple[Ints, Ints]:
        """Judgments of pairs of the same item, and the first pair of texts of each."""
        members = np.flatnonzero(~self.open_same)
        numbers, first = np.unique(self._same_at[members], return_index=True)
        return numbers, members[first]

    @cached_property
    def equivalence(self) -> tuple[Floats, Floats]:
        """Equivalence of the pairs of answers to the same item, and to different items."""
        return self.design.same.texts.equivalence(self.same), self.design.different.texts.equivalence(self.different)

    def _truth(self, texts: TextPairs, judgment_index: Ints) -> Floats:
        """T of judged pairs; 0 if not judged, or if one of the two texts already matches another text."""
        if not len(self.judged.same):
            return np.zeros(len(judgment_index))
        same = np.where(judgment_index >= 0, self.judged.same[judgment_index], 0.0)
        return count_once(texts.owner, texts.left_texts, texts.right_texts, same)

    @cached_property
    def _same_truth(self) -> Floats:
        return self._truth(self.design.same.texts, self._same_at)

    def _calibration(self) -> Curve:
        same = self.design.same.texts
        numbers, first = self.first_members
        owner = same.owner[first]
        item = self.design.ratings.comparisons.item[owner]
        pairs = np.unique(np.stack([item, owner]), axis=1)
        answers = np.bincount(pairs[0], minlength=self.design.ratings.n_items) if len(first) else np.zeros(1)
        former_p, former_same = self.judged.former.part(of_item=True)
        return posterior_curve(
            self.scores,
            self.record,
            logit(np.concatenate([same.p[first], former_p])),
            np.concatenate([self.judged.same[numbers], former_same]),
            np.concatenate([answers[item].astype(np.float64), np.ones(len(former_p))]),
        )

    def _chance_shares(self) -> tuple[Floats, Floats]:
        """Share of pairs of different items that mean the same in each stratum of P, and its variance."""
        apart = np.ones(len(self.judged.keys), dtype=bool)
        apart[self._same_at[~self.open_same]] = False
        former_p, former_same = self.judged.former.part(of_item=False)
        stratum = chance_stratum(np.concatenate([self.judged.p[apart], former_p]))
        same = np.concatenate([self.judged.same[apart], former_same])
        a, b = np.array(self.record.chance).T
        a, b = a + sums(stratum, same, len(a)), b + sums(stratum, 1 - same, len(b))
        return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))

    @cached_property
    def _means(self) -> Floats:
        """Posterior mean of each pair of texts of the same item."""
        assert self.curve is not None
        bin_of_pair, centers = self.scores.bins
        return self.curve.mean(centers)[bin_of_pair]

    def _fitted_same(self) -> tuple[Floats, Floats]:
        """Calibrated T of each pair of texts of one item, and the mean of T minus it in each stratum, shrunk."""
        frame = self.design.same
        fitted = self._same_truth
        residuals: Floats = np.zeros(max(len(frame.rate), 1))
        if self.curve is None:
            return fitted, residuals
        numbers, first = self.first_members
        if len(first):
            n, counts = len(first), np.bincount(frame.stratum[first], minlength=len(residuals))
            off = sums(frame.stratum[first], self.judged.same[numbers] - self._means[first], len(residuals))
            residuals = np.divide(off, counts, out=residuals, where=counts > 0) * n / (n + SHRINKAGE)
        corrected = np.clip(self._means + residuals[frame.stratum], 0, 1)
        return np.where(self.open_same, corrected, fitted), residuals

    @cached_property
    def settled(self) -> Floats:
        """The part of the equivalence that is certain, for each pair of answers to the same item."""
        texts = self.design.same.texts
        of_open = sums(texts.owner, texts.share * self._same_truth, len(texts.known_equivalence))
        return texts.known_equivalence + of_open

    @cached_property
    def residual_variance(self) -> float:
        """Variance of the mean difference between judgments and calibration; 0 below two judgments."""
        numbers, first = self.first_members
        n = len(first)
        if n < 2:
            return 0.0
        off = self.judged.same[numbers] - self._means[first]
        return max(float(np.var(off, ddof=1)), 1 / (3 * n)) / n
